#include <fmt/format.h>

#include <regex>
#include <string>
#include <vector>

#include "autotune/cli/commands.h"
#include "autotune/cli/standard_streams.h"

namespace normforge {

namespace {

constexpr const char *kScriptStart =
    R"(# Completion of normforge's command line for bash: source <(normforge completion)
_normforge() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' values='' each
    # bash takes --option=value apart.
    if [[ $word == = ]]; then
        word=''
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$command $each" in
)";

// Behind the commands' names, and before the values of the options of each.
constexpr const char *kScriptMiddle = R"(            command+=" $each" ;;
        esac
    done
    case "$command $previous" in
)";

constexpr const char *kScriptWords = R"(    esac
    if [[ $values == FILES ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $values == NONE ]]; then
        return
    elif [[ -n $values ]]; then
        # The last of a list with commas.
        local before=${word%"${word##*,}"}
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "${word##*,}")
        return
    fi
    case "$command" in
)";

constexpr const char *kScriptEnd = R"(    esac
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    if [[ $word != -* && ${#COMPREPLY[@]} == 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -F _normforge normforge
)";

// A command and those below it, by their names behind the program's: "" and " db show".
template <typename Visitor>
void visit_commands(const CLI::App &command, const std::string &path, Visitor &&visit) {
    visit(path, command);
    for (const CLI::App *each : command.get_subcommands({})) {
        visit_commands(*each, path + " " + each->get_name(), visit);
    }
}

std::vector<std::string> option_names(const CLI::App &command) {
    std::vector<std::string> names;
    for (const CLI::Option *option : command.get_options()) {
        for (const std::string &name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

// What an option's value may be: the words behind a colon that end its help, or its first part; else files, or
// nothing that is known.
std::string value_words(const CLI::Option &option) {
    static const std::regex kWords(R"([^:]*: ([a-z0-9_-]+(, [a-z0-9_-]+)+)(;[^:]*)?)");
    std::smatch match;
    if (const std::string &help = option.get_description(); std::regex_match(help, match, kWords)) {
        std::string words = match[1];
        std::erase(words, ',');
        return words;
    }
    const std::string type = option.get_type_name();
    return type == "FILE" || type == "FOLDER" ? "FILES" : "NONE";
}

std::string completion_script(const CLI::App &program) {
    std::string commands;
    std::string values;
    std::string words;
    visit_commands(program, "", [&](const std::string &path, const CLI::App &command) {
        if (!path.empty()) {
            commands += fmt::format("{}'{}'", commands.empty() ? "        " : " | ", path);
        }
        for (const CLI::Option *option : command.get_options()) {
            if (!option->get_positional() && option->get_expected_max() > 0) {
                values += fmt::format("    '{} --{}') values='{}' ;;\n", path, option->get_lnames().front(),
                                      value_words(*option));
            }
        }
        std::vector<std::string> next = option_names(command);
        for (const CLI::App *each : command.get_subcommands({})) {
            next.push_back(each->get_name());
        }
        words += fmt::format("    '{}') values='{}' ;;\n", path, fmt::join(next, " "));
    });
    return kScriptStart + commands + ")\n" + kScriptMiddle + values + kScriptWords + words + kScriptEnd;
}

}  // namespace

void add_completion_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand("completion", "Print what completes this command line in bash");
    command.footer("For this shell, and for all to come:\n"
                   "  source <(normforge completion)\n"
                   "  normforge completion > ~/.local/share/bash-completion/completions/normforge");
    command.callback([&program, &run] { run = [&program] { write_output(completion_script(program)); }; });
}

}  // namespace normforge
