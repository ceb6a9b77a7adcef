#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/gpu_ranking.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/model/known_cpus.h"
#include "autotune/search/resolver.h"
#include "generators/emit.h"
#include "generators/gpu_emit.h"
#include "schedules/target.h"

namespace normforge {

namespace {

enum class InspectForm { knobs, stmt, assembly, cycles, bitcode, ptx, opencl, ranking };

constexpr NamedValue<InspectForm> kInspectForms[] = {
    {"knobs", InspectForm::knobs},   {"stmt", InspectForm::stmt},       {"asm", InspectForm::assembly},
    {"cycles", InspectForm::cycles}, {"bitcode", InspectForm::bitcode}, {"ptx", InspectForm::ptx},
    {"opencl", InspectForm::opencl}, {"ranking", InspectForm::ranking}};

constexpr InspectForm kFormsOfCpus[] = {InspectForm::assembly, InspectForm::cycles, InspectForm::bitcode};
constexpr InspectForm kFormsOfGpus[] = {InspectForm::ptx, InspectForm::opencl, InspectForm::ranking};

bool is_one_of(InspectForm form, std::span<const InspectForm> forms) {
    return std::ranges::find(forms, form) != forms.end();
}

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
           help_of<Knobs>(knob_table()) + "\nand for cuda:" + help_of<GpuKnobs>(gpu_knob_table());
}

struct InspectOptions {
    explicit InspectOptions(CLI::App &command)
        : problem(command, ProblemOptions::Count::one), target(command), device(command, kDeviceHelp), db(command),
          knobs_option(add_value(command, "--knobs", "KNOBS", knobs, knobs_help())) {
        knobs_option
            ->excludes(add_value(command, "--rows", "NUMBER", rows,
                                 "Number of rows whose schedule to take from the database, or to rank for"))
            ->excludes(command.get_option("--db"));
        add_flag(command, "--untuned", untuned, "Take the heuristic's schedule and no database")
            ->excludes(command.get_option("--db"))
            ->excludes(knobs_option);
        add_value(
            command, "--emit", "FORM", form,
            "What to print: " + names_of(kInspectForms) +
                "; cycles is what each loop takes on a CPU by the static model, which runs nothing; ptx is "
                "for CUDA devices from compute capability 8.0 on, opencl OpenCL C; ranking is what the static "
                "model makes of all schedules on a --device");
        add_value(command, "--cpu", "CPU", cpu, "The CPU of cycles, by default this machine's: " + cpu_names());
        add_flag(command, "--quiet", quiet, kQuietNoteHelp);
    }

    ProblemOptions problem;
    TargetOption target;
    DeviceOption device;
    DatabaseOption db;
    std::string knobs;
    CLI::Option *knobs_option;
    std::string rows = "1";
    bool untuned = false;
    std::string form = "knobs";
    std::string cpu;
    bool quiet = false;
};

Halide::Target target_of(const InspectOptions &options, InspectForm form) {
    const bool is_of_gpus = is_one_of(form, kFormsOfGpus);
    if (is_of_gpus && !options.target.is_given()) {
        return kernel_target(kCudaTarget);
    }
    const Halide::Target target = options.target.target();
    if (is_of_gpus && !is_cuda(target)) {
        throw UsageError(fmt::format("--emit: there is no {} of kernels for {}; allowed is --target {}",
                                     options.form, target_name(target), kCudaTarget));
    }
    if (is_one_of(form, kFormsOfCpus) && is_cuda(target)) {
        throw UsageError(fmt::format("--emit: there is no {} of kernels for {}; allowed are knobs, stmt and ptx",
                                     options.form, kCudaTarget));
    }
    return target;
}

struct Schedule {
    AnyKernelSpec spec;
    std::string source;
};

Schedule schedule_of(const NormProblem &problem, const InspectOptions &options, const Halide::Target &target) {
    const Machine machine = options.device.machine({target});
    if (options.knobs_option->count() > 0) {
        return parse_option("--knobs", [&] {
            return Schedule{kernel_spec(problem, options.knobs, target), "given"};
        });
    }
    const int64_t rows = parse_count("--rows", options.rows);
    const std::optional<Database> database =
        options.untuned ? std::nullopt : options.db.open_read_only(options.quiet);
    const KnownDatabases databases = options.untuned ? KnownDatabases() : known_databases(database);
    const ResolvedKernel kernel = resolve({problem}, {target}, databases, Steps::up_to_the_taken, machine).front();
    return {variant_for(kernel, rows).spec, kernel.source};
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

std::string ranking_text(const NormProblem &problem, const InspectOptions &options) {
    if (options.knobs_option->count() > 0) {
        throw UsageError("--emit: ranking is of all schedules and excludes --knobs");
    }
    const GpuDevice &device = options.device.is_given() ? options.device.device() : gpu_device(kUsualGpu);
    return gpu_ranking(device, problem, parse_count("--rows", options.rows));
}

std::string code_text(const KernelSpec &spec, InspectForm form, const InspectOptions &options) {
    switch (form) {
    case InspectForm::stmt:
        return emit(spec, EmitForm::stmt);
    case InspectForm::assembly:
        return emit(spec, EmitForm::assembly);
    case InspectForm::cycles:
        return cycles_text(spec, options);
    default:
        break;
    }
    if (isatty(STDOUT_FILENO)) {
        throw UsageError("--emit: bitcode is binary data; allowed is to send it to a file or a pipe");
    }
    return emit(spec, EmitForm::bitcode);
}

std::string code_text(const GpuKernelSpec &spec, InspectForm form, const InspectOptions &) {
    return form == InspectForm::stmt  ? emit_gpu_stmt(spec)
           : form == InspectForm::ptx ? emit_ptx(spec)
                                      : emit_opencl(spec);
}

void inspect(const InspectOptions &options) {
    const InspectForm form = parse_option("--emit", [&] { return value_named(kInspectForms, options.form); });
    if (form != InspectForm::cycles && !options.cpu.empty()) {
        throw UsageError("--cpu is for --emit cycles");
    }
    const NormProblem problem = options.problem.only_problem();
    const Halide::Target target = target_of(options, form);
    if (form == InspectForm::ranking) {
        return write_output(ranking_text(problem, options));
    }
    const Schedule schedule = schedule_of(problem, options, target);
    if (form == InspectForm::knobs) {
        return print("{}\n# {}\n", knobs_text(schedule.spec), schedule.source);
    }
    write_output(std::visit([&](const auto &spec) { return code_text(spec, form, options); }, schedule.spec));
}

}  // namespace

void add_inspect_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "inspect",
        "Print a kernel: its knobs, Halide statement, assembly, cycles, bitcode, PTX or OpenCL C; or how a "
        "static model ranks all of a GPU");
    command.footer("Examples:\n"
                   "  normforge inspect --op rms_norm --hidden 4096 --rows 512\n"
                   "  normforge inspect --op layer_norm --hidden 384 --emit asm\n"
                   "  normforge inspect --op layer_norm --hidden 4096 --target arm-64-linux-neon \\\n"
                   "      --emit cycles --cpu neoverse-n1\n"
                   "  normforge inspect --op rms_norm --hidden 4096 --dtype bf16 --emit ptx\n"
                   "  normforge inspect --op rms_norm --hidden 4096 --emit ranking --device h200");
    auto options = std::make_shared<InspectOptions>(command);
    command.callback([options, &run] { run = [options] { inspect(*options); }; });
}

}  // namespace normforge
