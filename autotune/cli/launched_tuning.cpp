#include "autotune/cli/launched_tuning.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/shipped_database.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/library/measuring_program.h"
#include "autotune/measure/machine_report.h"
#include "autotune/search/compiled_trial.h"
#include "autotune/search/seeds.h"
#include "autotune/search/strategy.h"
#include "autotune/search/tuner.h"
#include "schedules/target.h"

namespace normforge {

namespace {

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "normforge-XXXXXX").string();
        if (!mkdtemp(pattern.data())) {
            throw UserError("cannot make a folder like " + pattern);
        }
        path_ = pattern;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

// Each kernel's trial, of no number of rows yet; those that were compiled come as variants of the program too.
struct Batch {
    LibraryKernel kernel;
    std::vector<Trial> trials;
    std::vector<size_t> places;  // of each variant among the trials
};

Batch compiled_batch(const TuneRequest &request, Progress &progress) {
    const std::vector<KernelSpec> specs =
        first_candidates(request.problem, request.target, request.effort, request.seed, request.known);
    Batch batch{{request.problem, request.target, {}}, std::vector<Trial>(specs.size()), {}};
    std::vector<std::string> objects(specs.size());
    progress.stage("compiling", specs.size());
    compile_all(specs, [&](size_t index, CompiledKernel compiled) {
        batch.trials[index] = compiled_trial(specs[index], compiled);
        objects[index] = std::move(compiled.object);
        progress.advance();
    });
    for (size_t index = 0; index < specs.size(); index++) {
        if (batch.trials[index].status == TrialStatus::ok) {
            batch.kernel.variants.push_back({specs[index].knobs, static_cast<int64_t>(batch.places.size()),
                                             batch.trials[index].knobs, std::move(objects[index])});
            batch.places.push_back(index);
        }
    }
    if (batch.places.empty() || batch.places.front() != 0) {
        throw_unusable_reference(request.problem, batch.trials.front());
    }
    return batch;
}

void replace(std::string &text, const std::string &name, const std::string &value) {
    for (size_t place = text.find(name); place != std::string::npos; place = text.find(name, place)) {
        text.replace(place, name.size(), value);
        place += value.size();
    }
}

// What the command prints.
std::string launched(std::string command, const std::filesystem::path &program, const std::vector<int64_t> &rows) {
    std::string path = program.string();
    replace(path, "'", "'\\''");
    replace(command, "{exe}", "'" + path + "'");
    replace(command, "{args}", fmt::format("{}", fmt::join(rows, " ")));
    std::fflush(nullptr);
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) {
        throw UserError("cannot run the launcher: " + command);
    }
    std::string output;
    char bytes[4096];
    while (const size_t count = std::fread(bytes, 1, sizeof bytes, pipe)) {
        output.append(bytes, count);
    }
    if (const int status = pclose(pipe); status != 0) {
        throw UserError(fmt::format("the launcher failed with status {}: {}",
                                    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), command));
    }
    return output;
}

MachineReport measured(const Batch &batch, const TuneRequest &request, const std::string &launcher,
                       Progress &progress) {
    progress.stage("measuring by the launcher", 1);
    const TemporaryDirectory folder;
    const std::filesystem::path program = folder.path() / "measure";
    link_measuring_program(batch.kernel, program);
    MachineReport report = parse_report(launched(launcher, program, request.rows), batch.places.size());
    progress.advance();
    return report;
}

TuneReport stored(const Batch &batch, const MachineReport &machine, const TuneRequest &request,
                  Database &database) {
    std::vector<Trial> trials = batch.trials;
    std::vector<const ReportedKernel *> reported(trials.size());
    for (size_t variant = 0; variant < batch.places.size(); variant++) {
        Trial &trial = trials[batch.places[variant]];
        const ReportedKernel &kernel = machine.kernels[variant];
        reported[batch.places[variant]] = &kernel;
        trial.status = kernel.status;
        trial.message = kernel.message;
        trial.error_ratio = kernel.error_ratio;
        trial.output_digest =
            output_digest(kernel.output_digest,
                          KernelSpec{request.problem, batch.kernel.variants[variant].knobs, request.target});
    }
    const int64_t session =
        begin_session(request, session_key(request, machine.hardware, trials.front().knobs), database);
    TuneReport result{};
    std::vector<Trial> all;
    for (size_t place = 0; place < trials.size(); place++) {
        for (const int64_t rows : request.rows) {
            Trial &trial = all.emplace_back(trials[place]);
            trial.rows = rows;
            if (reported[place]) {
                for (const ReportedSample &sample : reported[place]->samples) {
                    if (sample.rows == rows) {
                        trial.samples.push_back(sample.sample);
                    }
                }
            }
            database.add_trial(session, trial);
            result.trials[trial.status]++;
        }
    }
    result.selection = select_best(all, trials.front().knobs);
    database.end_session(session, SessionState::done,
                         machine.emulation.empty() ? std::optional(result.selection.noise) : std::nullopt);
    return result;
}

void print_text(const NormProblem &problem, const TuneReport &report, const MachineReport &machine) {
    print("{}\n  on {}\n", to_text(problem), signature(machine.hardware));
    print_choices(report.selection);
    if (!machine.emulation.empty()) {
        print("  no times, since it is emulated: {}\n", machine.emulation);
    }
    print("  trials: {}, {}\n", count_text(report.trials), time_text(report.seconds * 1e9));
    flush_output();  // the next problem takes a while
}

Json report_json(const TuneRequest &request, const TuneReport &report, const MachineReport &machine) {
    Json json = json_of(request.problem);
    json["target"] = target_name(request.target);
    json["hardware"] = signature(machine.hardware);
    json["emulation"] = machine.emulation;
    json["seconds"] = report.seconds;
    for (const auto &[status, count] : report.trials) {
        json["trials"][name_of(kTrialStatuses, status)] = count;
    }
    json.update(json_of(report.selection));
    return json;
}

}  // namespace

LaunchedTuning::LaunchedTuning(CLI::App &command) : command_(command) {
    add_value(
        command, "--launcher", "COMMAND", launcher_,
        "Measure on another machine: a shell command that runs a program there, {exe} being its path here and "
        "{args} its arguments");
}

bool LaunchedTuning::is_asked_for() const {
    if (command_.count("--launcher") == 0) {
        return false;
    }
    for (const char *other : {"--static", "--cpu", "--device", "--if-missing", "--resume", "--budget"}) {
        if (command_.count(other) > 0) {
            throw UsageError(fmt::format("--launcher excludes {}", other));
        }
    }
    if (launcher_.find("{exe}") == std::string::npos || launcher_.find("{args}") == std::string::npos) {
        throw UsageError("--launcher needs {exe} and {args} in its command, such as 'qemu-aarch64 {exe} {args}'");
    }
    return true;
}

void LaunchedTuning::run(const TuneCommand &request) const {
    using Clock = std::chrono::steady_clock;
    const Halide::Target target = request.target.target();
    if (is_cuda(target)) {
        throw UsageError("--launcher: GPUs are measured where normforge runs; allowed are targets of CPUs");
    }
    Database database = Database::open(request.database);
    Json results = Json::array();
    for (const auto &[problem, rows] : request.problems) {
        const TuneRequest own{
            problem,      target,
            rows,         request.effort,
            request.seed, tuning_seeds({.own = &database, .shipped = &shipped_database()}, problem, target)};
        const Clock::time_point started = Clock::now();
        TuneReport report{};
        MachineReport machine{};
        {
            Progress progress(progress_mode(request.quiet));
            const Batch batch = compiled_batch(own, progress);
            machine = measured(batch, own, launcher_, progress);
            report = stored(batch, machine, own, database);
        }
        if (machine.emulation.empty() && !report.selection.complete()) {
            throw std::runtime_error(
                "nothing was decided for " + to_text(problem) +
                ": the heuristic's kernel is unusable there: " + machine.kernels.front().message);
        }
        report.seconds = std::chrono::duration<double>(Clock::now() - started).count();
        results.push_back(report_json(own, report, machine));
        if (!request.json) {
            print_text(problem, report, machine);
        }
    }
    if (request.json) {
        print_json(results);
    }
}

}  // namespace normforge
