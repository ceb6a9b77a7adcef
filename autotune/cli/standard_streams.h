#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace normforge {

// To be called before anything else. A closed pipe ends the program, as it does other filters, and a signal that
// ends it leaves no half line on the terminal.
void prepare_standard_streams();

// Standard output. Throws UserError where it cannot be written; some output is written only by flush_output().
void write_output(std::string_view bytes);
void flush_output();

template <typename... Values>
void print(fmt::format_string<Values...> format, Values &&...values) {
    write_output(fmt::format(format, std::forward<Values>(values)...));
}

// One line on standard error: "normforge: text". Failure to write is ignored: there is no one left to tell.
void note(std::string_view text);

}  // namespace normforge
