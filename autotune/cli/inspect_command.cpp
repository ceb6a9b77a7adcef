#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/model/known_cpus.h"
#include "autotune/search/resolver.h"
#include "generators/emit.h"
#include "generators/gpu_emit.h"
#include "schedules/gpu_space.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

enum class InspectForm { knobs, stmt, assembly, cycles, bitcode, ptx, opencl };

constexpr NamedValue<InspectForm> kInspectForms[] = {
    {"knobs", InspectForm::knobs},   {"stmt", InspectForm::stmt},       {"asm", InspectForm::assembly},
    {"cycles", InspectForm::cycles}, {"bitcode", InspectForm::bitcode}, {"ptx", InspectForm::ptx},
    {"opencl", InspectForm::opencl}};

template <typename Knobs>
std::string help_of(std::span<const KnobOf<Knobs>> table) {
    std::string help;
    for (const KnobOf<Knobs> &knob : table) {
        std::string values;
        for (const KnobValue &value : knob.values) {
            values += (values.empty() ? "" : "|") + knob_text(knob, value.value);
        }
        help += fmt::format("\n{}={} ({})", knob.name, values, knob.help);
    }
    return help;
}

std::string knobs_help() {
    return "The schedule: every knob once, with commas between; by default the one that build would use. The "
           "knobs:" +
           help_of<Knobs>(knob_table()) + "\nand for ptx and opencl:" + help_of<GpuKnobs>(gpu_knob_table());
}

struct InspectOptions {
    explicit InspectOptions(CLI::App &command)
        : problem(command, ProblemOptions::Count::one), target(command), db(command),
          knobs_option(add_value(command, "--knobs", "KNOBS", knobs, knobs_help())), command_(command) {
        knobs_option
            ->excludes(add_value(command, "--rows", "NUMBER", rows,
                                 "Number of rows whose schedule to take from the database"))
            ->excludes(command.get_option("--db"));
        add_value(command, "--emit", "FORM", form,
                  "What to print: " + names_of(kInspectForms) +
                      "; cycles is what each loop takes on a CPU by the static model, which runs nothing; ptx is "
                      "for CUDA devices from compute capability 8.0 on, opencl OpenCL C");
        add_value(command, "--cpu", "CPU", cpu, "The CPU of cycles, by default this machine's: " + cpu_names());
    }

    ProblemOptions problem;
    TargetOption target;
    DatabaseOption db;
    std::string knobs;
    CLI::Option *knobs_option;
    std::string rows = "1";
    std::string form = "knobs";
    std::string cpu;

    // Whether an option is given that is about kernels for CPUs alone.
    bool asks_for_cpu() const {
        constexpr const char *kOptions[] = {"--target", "--rows", "--db"};
        return std::ranges::any_of(kOptions, [&](const char *name) { return command_.count(name) > 0; });
    }

private:
    const CLI::App &command_;
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

// A pass of the loop over rows takes a block of them.
std::string cycles_text(const KernelSpec &spec, const InspectOptions &options) {
    const KnownCpu &cpu =
        *parse_option("--cpu", [&] { return options.cpu.empty() ? &known_host_cpu() : &known_cpu(options.cpu); });
    if (is_arm(spec.target) != is_arm(kernel_target(cpu.target))) {
        throw UsageError(fmt::format("--cpu: {} runs no kernels for {}; give a --target such as {}", cpu.name,
                                     target_name(spec.target), cpu.target));
    }
    const KernelCycles cycles =
        parse_option("--cpu", [&] { return simulate(spec, cpu.pipeline, spec.knobs.block); });
    std::string text = fmt::format("{:>8} {:>12} {:>14}\n", "trips", "instructions", "cycles a trip");
    for (const LoopCycles &loop : cycles.loops) {
        text += fmt::format("{:>8} {:>12} {:>14.2f}\n", loop.trips, loop.instructions, loop.cycles);
    }
    const int block = spec.knobs.block;
    const auto values = static_cast<double>(block * spec.problem.hidden);
    return text + fmt::format("{}: {:.0f} cycles after others, {:.3f} a value; {:.0f} by {}\n"
                              "# simulated for {} with all operands in the first cache, not measured\n",
                              counted(block, "row"), cycles.next_pass, cycles.next_pass / values,
                              cycles.first_pass, block == 1 ? "itself" : "themselves", cpu.name);
}

std::string gpu_code(const NormProblem &problem, const InspectOptions &options, InspectForm form) {
    if (options.asks_for_cpu()) {
        throw UsageError("--emit " + options.form +
                         " excludes --target, --rows and --db, which are about kernels for CPUs");
    }
    const auto emitted = [&](const GpuKnobs &knobs) {
        return form == InspectForm::ptx ? emit_ptx({problem, knobs}) : emit_opencl({problem, knobs});
    };
    if (options.knobs_option->count() == 0) {
        return emitted(gpu_heuristic(problem));
    }
    return parse_option("--knobs", [&] {
        const GpuKnobs knobs = parse_gpu_knobs(options.knobs);
        if (const std::string reason = check(problem, knobs); !reason.empty()) {
            throw UserError(reason);
        }
        return emitted(knobs);
    });
}

void inspect(const InspectOptions &options) {
    const InspectForm form = parse_option("--emit", [&] { return value_named(kInspectForms, options.form); });
    if (form != InspectForm::cycles && !options.cpu.empty()) {
        throw UsageError("--cpu is for --emit cycles");
    }
    const NormProblem problem = options.problem.only_problem();
    if (form == InspectForm::ptx || form == InspectForm::opencl) {
        return write_output(gpu_code(problem, options, form));
    }
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
    case InspectForm::cycles:
        return write_output(cycles_text(spec, options));
    case InspectForm::bitcode:
        if (isatty(STDOUT_FILENO)) {
            throw UsageError("--emit: bitcode is binary data; allowed is to send it to a file or a pipe");
        }
        return write_output(emit(spec, EmitForm::bitcode));
    case InspectForm::ptx:
    case InspectForm::opencl:
        break;  // have been written
    }
}

}  // namespace

void add_inspect_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "inspect", "Print a kernel: its knobs, Halide statement, assembly, cycles, bitcode, PTX or OpenCL C");
    command.footer("Examples:\n"
                   "  normforge inspect --op rms_norm --hidden 4096 --rows 512\n"
                   "  normforge inspect --op layer_norm --hidden 384 --emit asm\n"
                   "  normforge inspect --op layer_norm --hidden 4096 --target arm-64-linux-neon \\\n"
                   "      --emit cycles --cpu neoverse-n1\n"
                   "  normforge inspect --op rms_norm --hidden 4096 --dtype bf16 --emit ptx");
    auto options = std::make_shared<InspectOptions>(command);
    command.callback([options, &run] { run = [options] { inspect(*options); }; });
}

}  // namespace normforge
