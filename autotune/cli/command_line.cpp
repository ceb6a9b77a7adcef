#include "autotune/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "autotune/base/nearest_name.h"
#include "autotune/cli/help_text.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/tuner.h"

namespace normforge {

namespace {

constexpr const char *kProgramFooter =
    R"(A LIST has commas between its values, or its option is repeated. A command takes
all combinations of its lists, each once; --manifest is for more than that.

Exit status: 0 done; 1 failed, with the reason on standard error; 2 a mistake on
the command line; 128 and a signal's number where that ended it.

Environment:
  NORMFORGE_DB      Default tuning database
  NORMFORGE_LOCK    File by which processes that measure on one machine exclude
                    each other; by default normforge.lock in /run/lock, /dev/shm
                    or /tmp
  XDG_DATA_HOME     Folder of the default tuning database, normforge/tuning.db,
                    where NORMFORGE_DB is not set; by default ~/.local/share
  CC                C compiler that links shared libraries; by default cc

'normforge COMMAND --help' tells more of a command.)";

std::string version_text() {
    const Toolchain tools = current_toolchain();
    return fmt::format("normforge {} (Halide {}, LLVM {})", tools.normforge, tools.halide, tools.llvm);
}

// Again for every command, after the others: the help lists options in the order of their making.
void add_help_option(CLI::App &command) {
    command.set_help_flag("-h,--help", "Show this help");
    for (CLI::App *each : command.get_subcommands({})) {
        add_help_option(*each);
    }
}

CLI::App &given_command(CLI::App &program) {
    CLI::App *command = &program;
    while (!command->get_subcommands().empty()) {
        command = command->get_subcommands().front();
    }
    return *command;
}

std::string full_name(const CLI::App &command) {
    return (command.get_parent() ? full_name(*command.get_parent()) + " " : "") + command.get_name();
}

std::vector<std::string> names_of_commands(const CLI::App &command) {
    std::vector<std::string> names;
    for (const CLI::App *each : command.get_subcommands({})) {
        names.push_back(each->get_name());
    }
    return names;
}

std::vector<std::string> names_of_options(const CLI::App &command) {
    std::vector<std::string> names;
    for (const CLI::Option *option : command.get_options()) {
        for (const std::string &name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::string see_help(const CLI::App &command) {
    return fmt::format("; see '{} --help'", full_name(command));
}

// In place of CLI11's words, which are not those of a user.
std::string explain(CLI::App &program, const CLI::ParseError &error) {
    const CLI::App &command = given_command(program);
    if (const std::vector<std::string> unknown = program.remaining(true); !unknown.empty()) {
        const std::string &text = unknown.front();
        const std::vector<std::string> commands = names_of_commands(command);
        if (text.starts_with('-')) {
            const std::string name = text.substr(0, text.find('='));
            return fmt::format("unknown option '{}'{}", text, suggestion(name, names_of_options(command))) +
                   see_help(command);
        }
        return commands.empty() ? fmt::format("unexpected argument '{}'", text) + see_help(command)
                                : fmt::format("unknown command '{}'{}; allowed: {}", text,
                                              suggestion(text, commands), fmt::join(commands, ", ")) +
                                      see_help(command);
    }
    if (dynamic_cast<const CLI::ArgumentMismatch *>(&error)) {
        // The message begins with the option, a flag there without its dashes.
        const std::string message = error.what();
        const std::string name = message.substr(0, message.find_first_of(": "));
        const CLI::Option *option = command.get_option(name.starts_with('-') ? name : "--" + name);
        return option->get_name() + (option->get_expected_max() == 0 ? " takes no value" : " needs a value") +
               see_help(command);
    }
    return error.what() + see_help(command);
}

}  // namespace

Run parse_command_line(int argc, char **argv) {
    const auto owner =
        std::make_shared<CLI::App>("Kernel compiler and autotuner for LayerNorm and RMSNorm", "normforge");
    CLI::App &program = *owner;
    program.formatter_fn(help_text);
    program.set_version_flag("--version", version_text(), "Show the version and those of Halide and LLVM");
    Run run;
    add_tune_command(program, run);
    add_build_command(program, run);
    add_db_command(program, run);
    add_inspect_command(program, run);
    add_bench_command(program, run);
    add_doctor_command(program, run);
    add_report_command(program, run);
    add_schema_command(program, run);
    add_completion_command(program, run);
    program.footer(kProgramFooter);  // after the commands, which would inherit it
    program.require_subcommand(0, 1);
    add_help_option(program);
    try {
        program.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
        return [text = program.help()] { write_output(text); };
    } catch (const CLI::CallForVersion &version) {
        return [text = std::string(version.what())] { print("{}\n", text); };
    } catch (const CLI::ParseError &error) {
        throw UsageError(explain(program, error));
    }
    const CLI::App &command = given_command(program);
    if (const std::vector<std::string> names = names_of_commands(command); !names.empty()) {
        std::fputs(program.help().c_str(), stderr);
        throw UsageError(fmt::format("a command is required; allowed: {}", fmt::join(names, ", ")));
    }
    return [owner, run] { run(); };  // which reads options that the program owns
}

}  // namespace normforge
