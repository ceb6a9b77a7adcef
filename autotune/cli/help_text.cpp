#include "autotune/cli/help_text.h"

#include <sstream>
#include <vector>

namespace normforge {

namespace {

constexpr size_t kWidth = 80;
constexpr size_t kTextColumn = 20;

// The text in lines that begin at the column, where the output stands already.
void append_wrapped(std::string &output, const std::string &text, size_t column) {
    std::istringstream lines(text);
    std::string line;
    for (bool first = true; std::getline(lines, line); first = false) {
        output += first ? "" : "\n" + std::string(column, ' ');
        std::istringstream words(line);
        std::string word;
        for (size_t at = column; words >> word;) {
            const bool starts_line = at == column;
            if (!starts_line && at + 1 + word.size() > kWidth) {
                output += "\n" + std::string(column, ' ') + word;
                at = column + word.size();
            } else {
                output += (starts_line ? "" : " ") + word;
                at += (starts_line ? 0 : 1) + word.size();
            }
        }
    }
    output += "\n";
}

void append_entry(std::string &output, const std::string &label, const std::string &text) {
    std::string start = "  " + label;
    start += start.size() + 2 > kTextColumn ? "\n" + std::string(kTextColumn, ' ')
                                            : std::string(kTextColumn - start.size(), ' ');
    output += start;
    append_wrapped(output, text, kTextColumn);
}

std::string value_name(const CLI::Option &option) {
    return option.get_expected_max() == 0 ? "" : " " + option.get_type_name();
}

std::string label_of(const CLI::Option &option) {
    if (option.get_positional()) {
        return option.get_type_name();
    }
    const std::string names = option.get_name(false, true);
    const size_t comma = names.find(',');
    return comma == std::string::npos ? names + value_name(option)
                                      : names.substr(0, comma) + ", " + names.substr(comma + 1);
}

std::string text_of(const CLI::Option &option) {
    const std::string &standard = option.get_default_str();
    return option.get_description() + (standard.empty() ? "" : " (default " + standard + ")") +
           (option.get_required() && !option.get_positional() ? " (required)" : "");
}

std::string usage(const CLI::App &command, const std::string &name) {
    std::string text = name;
    for (const CLI::Option *option : command.get_options()) {
        if (option->get_required()) {
            text += " " + label_of(*option);
        } else if (option->get_positional()) {
            text += " [" + label_of(*option) + "]";
        }
    }
    text += command.get_subcommands({}).empty() ? " [OPTION]..." : " COMMAND";
    const std::string heading = "Usage: ";
    std::string output = heading;
    append_wrapped(output, text, heading.size());
    return output;
}

}  // namespace

std::string help_text(const CLI::App *command, std::string name, CLI::AppFormatMode) {
    std::string output = usage(*command, name) + "\n";
    append_wrapped(output, command->get_description(), 0);
    if (const std::vector<const CLI::App *> commands = command->get_subcommands({}); !commands.empty()) {
        output += "\nCommands:\n";
        for (const CLI::App *each : commands) {
            append_entry(output, each->get_name(), each->get_description());
        }
    }
    std::string group;
    for (const std::string &next : command->get_groups()) {
        output += "\n" + next + ":\n";
        for (const CLI::Option *option : command->get_options()) {
            if (option->get_group() == next) {
                append_entry(output, label_of(*option), text_of(*option));
            }
        }
    }
    if (const std::string footer = command->get_footer(); !footer.empty()) {
        output += "\n" + footer + "\n";
    }
    return output;
}

}  // namespace normforge
