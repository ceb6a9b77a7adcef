#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/options.h"
#include "autotune/search/resolver.h"
#include "generators/emit.h"
#include "schedules/space.h"

namespace normforge {

namespace {

enum class InspectForm { knobs, stmt, assembly, bitcode };

constexpr NamedValue<InspectForm> kInspectForms[] = {{"knobs", InspectForm::knobs},
                                                     {"stmt", InspectForm::stmt},
                                                     {"asm", InspectForm::assembly},
                                                     {"bitcode", InspectForm::bitcode}};

std::string knobs_help() {
    std::string help =
        "The schedule, such as vector=8,unroll=2,...; by default the one that build would use. All of: ";
    for (const Knob &knob : knob_table()) {
        std::string values;
        for (const KnobValue &value : knob.values) {
            values += (values.empty() ? "" : "|") + knob_text(knob, value.value);
        }
        help += fmt::format("\n{}={} ({})", knob.name, values, knob.help);
    }
    return help;
}

struct InspectOptions {
    explicit InspectOptions(CLI::App &command) : problem(command), target(command), db(command) {
        command.add_option("--knobs", knobs, knobs_help());
        command.add_option("--emit", form, "What to print: " + names_of(kInspectForms))->capture_default_str();
        command.add_option("--rows", rows, "Number of rows that the schedule is to serve")->capture_default_str();
    }

    ProblemOptions problem;
    TargetOption target;
    DatabaseOption db;
    std::string knobs;
    std::string form = "knobs";
    int64_t rows = 1;
};

struct Schedule {
    Knobs knobs;
    std::string source;
};

Schedule given_schedule(const NormProblem &problem, const std::string &text, const Halide::Target &target) {
    try {
        const Knobs knobs = parse_knobs(text);
        if (const std::string reason = check(problem, knobs, target); !reason.empty()) {
            throw UserError(reason);
        }
        return {knobs, "given"};
    } catch (const UserError &error) {
        throw UsageError(std::string("--knobs: ") + error.what());
    }
}

Schedule known_schedule(const NormProblem &problem, const InspectOptions &options, const Halide::Target &target) {
    const std::optional<Database> database = options.db.open_read_only();
    const ResolvedKernel kernel = resolve({problem}, {target}, database ? &*database : nullptr).front();
    return {variant_for(kernel, options.rows).spec.knobs, kernel.source};
}

void inspect(const InspectOptions &options) {
    InspectForm form{};
    try {
        form = value_named(kInspectForms, options.form);
    } catch (const UserError &error) {
        throw UsageError(std::string("--emit: ") + error.what());
    }
    const NormProblem problem = options.problem.only_problem();
    const Halide::Target target = options.target.only_target();
    const Schedule schedule = options.knobs.empty() ? known_schedule(problem, options, target)
                                                    : given_schedule(problem, options.knobs, target);
    const KernelSpec spec{problem, schedule.knobs, target};
    std::string output;
    switch (form) {
    case InspectForm::knobs:
        output = fmt::format("{}\n# {}\n", to_text(schedule.knobs), schedule.source);
        break;
    case InspectForm::stmt:
        output = emit(spec, EmitForm::stmt);
        break;
    case InspectForm::assembly:
        output = emit(spec, EmitForm::assembly);
        break;
    case InspectForm::bitcode:
        if (isatty(STDOUT_FILENO)) {
            throw UsageError("--emit bitcode writes binary data: send it to a file or a pipe");
        }
        output = emit(spec, EmitForm::bitcode);
        break;
    }
    if (std::fwrite(output.data(), 1, output.size(), stdout) != output.size() || std::fflush(stdout) != 0) {
        throw UserError("cannot write to standard output");
    }
}

}  // namespace

void add_inspect_command(CLI::App &program, Run &run) {
    CLI::App &command =
        *program.add_subcommand("inspect", "Print a kernel: its knobs, Halide statement or assembly");
    auto options = std::make_shared<InspectOptions>(command);
    command.callback([options, &run] { run = [options] { inspect(*options); }; });
}

}  // namespace normforge
