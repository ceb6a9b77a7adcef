#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
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
        "The schedule: every knob once, with commas between; by default the one that build would use. The knobs:";
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
    explicit InspectOptions(CLI::App &command)
        : problem(command, ProblemOptions::Count::one), target(command), db(command),
          knobs_option(add_value(command, "--knobs", "KNOBS", knobs, knobs_help())) {
        knobs_option
            ->excludes(add_value(command, "--rows", "NUMBER", rows,
                                 "Number of rows whose schedule to take from the database"))
            ->excludes(command.get_option("--db"));
        add_value(command, "--emit", "FORM", form, "What to print: " + names_of(kInspectForms));
    }

    ProblemOptions problem;
    TargetOption target;
    DatabaseOption db;
    std::string knobs;
    CLI::Option *knobs_option;
    std::string rows = "1";
    std::string form = "knobs";
};

struct Schedule {
    Knobs knobs;
    std::string source;
};

Schedule given_schedule(const NormProblem &problem, const std::string &text, const Halide::Target &target) {
    return parse_option("--knobs", [&]() -> Schedule {
        const Knobs knobs = parse_knobs(text);
        if (const std::string reason = check(problem, knobs, target); !reason.empty()) {
            throw UserError(reason);
        }
        return {knobs, "given"};
    });
}

Schedule known_schedule(const NormProblem &problem, const InspectOptions &options, const Halide::Target &target) {
    const int64_t rows = parse_count("--rows", options.rows);
    const std::optional<Database> database = options.db.open_read_only();
    const ResolvedKernel kernel = resolve({problem}, {target}, known_databases(database)).front();
    return {variant_for(kernel, rows).spec.knobs, kernel.source};
}

void inspect(const InspectOptions &options) {
    const InspectForm form = parse_option("--emit", [&] { return value_named(kInspectForms, options.form); });
    const NormProblem problem = options.problem.only_problem();
    const Halide::Target target = options.target.target();
    const Schedule schedule = options.knobs_option->count() == 0 ? known_schedule(problem, options, target)
                                                                 : given_schedule(problem, options.knobs, target);
    const KernelSpec spec{problem, schedule.knobs, target};
    switch (form) {
    case InspectForm::knobs:
        return print("{}\n# {}\n", to_text(schedule.knobs), schedule.source);
    case InspectForm::stmt:
        return write_output(emit(spec, EmitForm::stmt));
    case InspectForm::assembly:
        return write_output(emit(spec, EmitForm::assembly));
    case InspectForm::bitcode:
        if (isatty(STDOUT_FILENO)) {
            throw UsageError("--emit: bitcode is binary data; allowed is to send it to a file or a pipe");
        }
        return write_output(emit(spec, EmitForm::bitcode));
    }
}

}  // namespace

void add_inspect_command(CLI::App &program, Run &run) {
    CLI::App &command =
        *program.add_subcommand("inspect", "Print a kernel: its knobs, Halide statement, assembly or bitcode");
    command.footer("Examples:\n"
                   "  normforge inspect --op rms_norm --hidden 4096 --rows 512\n"
                   "  normforge inspect --op layer_norm --hidden 384 --emit asm");
    auto options = std::make_shared<InspectOptions>(command);
    command.callback([options, &run] { run = [options] { inspect(*options); }; });
}

}  // namespace normforge
