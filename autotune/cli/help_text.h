#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace normforge {

// A command's help, for CLI11 as a formatter: in lines of at most 80 characters, with line breaks in descriptions
// kept. `name` is the command with those it belongs to, "normforge db show".
std::string help_text(const CLI::App *command, std::string name, CLI::AppFormatMode);

}  // namespace normforge
