#include "autotune/library/tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "runtime/user_error.h"

namespace normforge {

namespace {

enum class Output { to_standard_error, nowhere };

// Runs the tool to its end and gives waitpid's status, or an error's number below 0. Its standard output goes to
// standard error, since ours may be read by a program.
int run(const std::vector<std::string> &command, Output output) {
    std::vector<char *> arguments;
    for (const std::string &word : command) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output == Output::nowhere) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t process = 0;
    const int error = posix_spawnp(&process, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return -error;
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(process, &status, 0)) < 0 && errno == EINTR) {
    }
    return ended < 0 ? -errno : status;
}

}  // namespace

std::vector<std::string> tool_words(const char *variable, const std::string &usual) {
    const char *chosen = std::getenv(variable);
    if (chosen && access(chosen, X_OK) == 0) {
        return {chosen};  // a path, which may have spaces
    }
    std::istringstream text(chosen ? chosen : "");
    std::vector<std::string> words;
    for (std::string word; text >> word;) {
        words.push_back(word);
    }
    return words.empty() ? std::vector<std::string>{usual} : words;
}

void run_tool(const std::vector<std::string> &command, const std::string &task, const std::string &needs) {
    const int status = run(command, Output::to_standard_error);
    if (status < 0) {
        throw UserError("cannot run '" + command.front() + "': " + std::generic_category().message(-status) +
                        "; " + needs);
    }
    if (status != 0) {
        throw UserError("'" + command.front() + "' could not " + task + "; " + needs);
    }
}

bool tool_succeeds(const std::vector<std::string> &command) {
    return run(command, Output::nowhere) == 0;
}

}  // namespace normforge
