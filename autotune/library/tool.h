#pragma once

#include <string>
#include <vector>

namespace normforge {

// Programs that others have made, such as compilers.

// The words of an environment variable that names one, which may hold options after the program, as it does for
// make; or the usual one.
std::vector<std::string> tool_words(const char *variable, const std::string &usual);

// Runs a tool to its end. Its own messages go to standard error. Throws UserError, with the task, such as "link
// it", and what it was needed for, where there is none, and where it fails.
void run_tool(const std::vector<std::string> &command, const std::string &task, const std::string &needs);

// Whether there is such a tool, and it does that without an error. It prints nothing.
bool tool_succeeds(const std::vector<std::string> &command);

}  // namespace normforge
