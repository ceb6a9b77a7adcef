// Tuning on a GPU, with a stub in the driver's place that makes its times up.

#include "autotune/search/device_tuning.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>

#include "autotune/base/interruption.h"
#include "autotune/search/detect_gpu.h"
#include "autotune/search/loaded_gpu_kernel.h"
#include "autotune/search/resolver.h"
#include "schedules/gpu_space.h"
#include "tests/serial_launch.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

const NormProblem kProblem = parse_problem("op=rms_norm,dtype=f32,hidden=3");

// By the names of its codes. Of rows of three values they are one code each, which moves a value at a time.
struct SerialKernel {
    GpuKnobs knobs;
    std::unique_ptr<SerialLaunch> launch;
};
std::map<std::string, SerialKernel> &serial_kernels() {
    static std::map<std::string, SerialKernel> kernels = [] {
        std::map<std::string, SerialKernel> result;
        for (const GpuKnobs &knobs : enumerate_gpu(kProblem)) {
            const GpuKernelSpec spec{kProblem, knobs, GpuAlignment::value};
            result[kernel_symbol(spec)] = {
                knobs, std::make_unique<SerialLaunch>(kProblem, knobs, emit_cuda(spec).launch.parameters)};
        }
        return result;
    }();
    return kernels;
}

class DeviceTuning : public testing::Test {
protected:
    DeviceTuning() {
        cuda_stub() = {};
        cuda_stub().run = run;
        serial_kernels();  // before any child is
    }

    static void run(const StubLaunch &launch) { serial_kernels().at(launch.symbol).launch->run(launch); }

    static const GpuKnobs &last_launched() {
        return serial_kernels().at(cuda_stub().launches.back().symbol).knobs;
    }

    TuneReport tuned(const std::function<void(TuneRequest &)> &change = [](TuneRequest &) {}) {
        Progress progress(Progress::Mode::silent);
        TuneRequest request{kProblem, kernel_target(kCudaTarget), rows_, Effort::exhaustive, 1};
        change(request);
        return tune(request, database_, progress);
    }

    std::map<std::string, Trial> trials_of(int64_t rows) const {
        std::map<std::string, Trial> trials;
        for (const Trial &trial : database_.trials(database_.sessions().front().id)) {
            if (trial.rows == rows) {
                trials.emplace(trial.knobs, trial);
            }
        }
        return trials;
    }

    // Schedules but the heuristic's.
    static std::vector<GpuKnobs> others() {
        std::vector<GpuKnobs> schedules = enumerate_gpu(kProblem);
        std::erase(schedules, gpu_heuristic(kProblem));
        return schedules;
    }

    const std::vector<int64_t> rows_ = {1, 300};
    const std::string heuristic_ = to_text(gpu_heuristic(kProblem));
    const TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
};

TEST_F(DeviceTuning, StoresWhatTheDeviceTold) {
    const TuneReport report = tuned();
    ASSERT_EQ(database_.sessions().size(), 1u);
    const StoredSession session = database_.sessions().front();
    EXPECT_EQ(session.source, TimeSource::measured);
    EXPECT_EQ(session.state, SessionState::done);
    EXPECT_EQ(session.hardware.arch, kGpuArch);
    EXPECT_EQ(session.hardware.model_name, "stub");
    EXPECT_EQ(session.hardware, detect_gpu());
    for (const int64_t rows : rows_) {
        const std::map<std::string, Trial> trials = trials_of(rows);
        EXPECT_EQ(trials.size(), enumerate_gpu(kProblem).size());
        for (const auto &[knobs, trial] : trials) {
            EXPECT_EQ(trial.status, TrialStatus::ok) << trial.message;
            EXPECT_LE(trial.error_ratio, 1);
            EXPECT_FALSE(trial.code_hash.empty());
        }
        // A millisecond for one call: all are as fast as the heuristic's, which stays.
        EXPECT_DOUBLE_EQ(median_of(trials.at(heuristic_), &Sample::ns), 1e6);
        EXPECT_DOUBLE_EQ(report.copy_nanoseconds.at(rows), 1e6);
    }
    ASSERT_EQ(report.selection.choices.size(), rows_.size());
    EXPECT_EQ(report.selection.choices.front().knobs, heuristic_);
}

// One takes half of the time, and another less still, but not for many rows.
TEST_F(DeviceTuning, ChoosesWhatIsFasterForAllNumbersOfRows) {
    const GpuKnobs faster = others().front();
    const GpuKnobs uneven = others().back();
    cuda_stub().milliseconds = [&] {
        const bool is_for_one_row = cuda_stub().launches.back().blocks == 1;
        return last_launched() == faster   ? 0.5f
               : last_launched() == uneven ? (is_for_one_row ? 0.1f : 2.0f)
                                           : 1.0f;
    };
    const TuneReport report = tuned();
    for (const Choice &choice : report.selection.choices) {
        EXPECT_EQ(choice.knobs, to_text(faster));
        EXPECT_DOUBLE_EQ(choice.ratio, 0.5);
    }
    const ResolvedKernel kernel = resolve({kProblem}, {kernel_target(kCudaTarget)}, {.own = &database_},
                                          Steps::up_to_the_taken, this_machine())
                                      .front();
    EXPECT_EQ(kernel.step, LadderStep::tuned) << kernel.source;
    EXPECT_TRUE(kernel.is_measured);
    EXPECT_EQ(knobs_text(kernel.variants.front().spec), to_text(faster));
}

TEST_F(DeviceTuning, KeepsWhatIsWrongOrCrashesAsTrials) {
    const GpuKnobs wrong = others().front();
    const GpuKnobs crashing = others().back();
    cuda_stub().run = [&](const StubLaunch &launch) {
        if (last_launched() == crashing) {
            abort();
        }
        if (!(last_launched() == wrong)) {
            run(launch);
        }
    };
    const TuneReport report = tuned();
    EXPECT_EQ(trials_of(1).at(to_text(wrong)).status, TrialStatus::wrong);
    EXPECT_EQ(trials_of(1).at(to_text(crashing)).status, TrialStatus::crash);
    EXPECT_TRUE(report.selection.complete());
}

// In the gate all is well; the second block's launch brings the process down.
TEST_F(DeviceTuning, GoesOnWithoutWhatCrashesWhileItIsTimed) {
    const GpuKnobs crashing = others().front();
    cuda_stub().milliseconds = [&] {
        if (last_launched() == crashing) {
            abort();
        }
        return 1.0f;
    };
    const TuneReport report = tuned();
    const Trial trial = trials_of(1).at(to_text(crashing));
    EXPECT_EQ(trial.status, TrialStatus::crash);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "while it was timed: ", trial.message);
    EXPECT_TRUE(report.selection.complete());
    EXPECT_EQ(trials_of(1).at(heuristic_).samples.size(), trials_of(300).at(heuristic_).samples.size());
}

TEST_F(DeviceTuning, EndsWhereTheHeuristicsKernelIsWrong) {
    cuda_stub().run = nullptr;
    EXPECT_THROW(tuned(), std::runtime_error);
    EXPECT_EQ(database_.sessions().front().state, SessionState::aborted);
}

// Schedules are compiled by the child alone that holds them to the gate.
TEST(GpuCode, IsTheSameByItsBytes) {
    const NormProblem problem =
        parse_problem("op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=256");
    const GpuCode compiled(problem, gpu_heuristic(problem));
    const GpuCode code(problem, compiled.bytes());
    EXPECT_EQ(code.bytes(), compiled.bytes());
    const nf_cuda_entry &expected = *compiled.library().cuda_entries;
    const nf_cuda_entry &own = *code.library().cuda_entries;
    ASSERT_EQ(own.code_count, 2);
    for (const auto &[a, b] : {std::pair{&own.codes[0], &expected.codes[0]},
                               {&own.codes[1], &expected.codes[1]},
                               {own.sums, expected.sums}}) {
        EXPECT_STREQ(a->image, b->image);
        EXPECT_STREQ(a->symbol, b->symbol);
        ASSERT_EQ(a->parameter_count, b->parameter_count);
        for (int64_t index = 0; index < a->parameter_count; index++) {
            EXPECT_EQ(a->parameters[index].source, b->parameters[index].source);
            EXPECT_EQ(a->parameters[index].operand, b->parameters[index].operand);
        }
        EXPECT_EQ(std::tuple(a->alignment, a->rows_of_block, a->threads_x, a->threads_y, a->shared_bytes),
                  std::tuple(b->alignment, b->rows_of_block, b->threads_x, b->threads_y, b->shared_bytes));
    }
}

// Of schedules whose code is another one's as well: each code is timed once.
TEST_F(DeviceTuning, TimesEqualCodeOnce) {
    tuned();
    std::map<std::string, std::string> timed;  // the knobs of each code
    size_t twins = 0;
    for (const auto &[knobs, trial] : trials_of(1)) {
        if (trial.samples.empty()) {
            twins++;
            EXPECT_PRED_FORMAT2(testing::IsSubstring, "timed as ", trial.message);
        } else {
            EXPECT_TRUE(timed.emplace(trial.code_hash, knobs).second || knobs == heuristic_) << knobs;
        }
    }
    EXPECT_EQ(timed.size() + twins, trials_of(1).size());
}

// The least budget is for a first batch with the heuristic's schedule, which then stays.
TEST_F(DeviceTuning, EndsWithItsBudget) {
    const TuneReport report =
        tuned([](TuneRequest &request) { request.deadline = std::chrono::steady_clock::now(); });
    EXPECT_EQ(report.cut, "the budget was used up");
    EXPECT_EQ(database_.sessions().front().state, SessionState::done);
    EXPECT_EQ(database_.sessions().front().cut, report.cut);
    ASSERT_EQ(report.selection.choices.size(), rows_.size());
    EXPECT_EQ(trials_of(1).at(heuristic_).samples.size(), 3u);
    EXPECT_LT(trials_of(1).size(), enumerate_gpu(kProblem).size());
}

// While the heuristic's schedule is timed for the second number of rows.
TEST_F(DeviceTuning, GoesOnWhereItWasInterrupted) {
    cuda_stub().milliseconds = [told = false]() mutable {
        if (cuda_stub().launches.back().blocks > 1 && !told) {
            told = true;
            kill(getppid(), SIGTERM);
        }
        return 1.0f;
    };
    {
        const InterruptionRequests interruptions;
        EXPECT_THROW(tuned(), Interrupted);
    }
    ASSERT_EQ(database_.sessions().size(), 1u);
    EXPECT_EQ(database_.sessions().front().state, SessionState::aborted);
    const std::map<std::string, Trial> before[] = {trials_of(1), trials_of(300)};
    EXPECT_FALSE(before[0].at(heuristic_).samples.empty());
    EXPECT_EQ(before[1].at(heuristic_).samples.size(), 1u);
    cuda_stub().milliseconds = [] { return 1.0f; };
    {
        const InterruptionRequests interruptions;  // none so far
        tuned([](TuneRequest &request) { request.resume = true; });
    }
    ASSERT_EQ(database_.sessions().size(), 1u);
    EXPECT_EQ(database_.sessions().front().state, SessionState::done);
    EXPECT_EQ(trials_of(1).size(), enumerate_gpu(kProblem).size());
    for (const int64_t rows : rows_) {
        const std::map<std::string, Trial> after = trials_of(rows);
        EXPECT_EQ(after.at(heuristic_).samples.size(), 21u);
        for (const auto &[knobs, trial] : before[rows == 300]) {
            EXPECT_EQ(after.at(knobs).compile_ms, trial.compile_ms) << "compiled again: " << knobs;
            ASSERT_GE(after.at(knobs).samples.size(), trial.samples.size());
            EXPECT_TRUE(std::equal(trial.samples.begin(), trial.samples.end(), after.at(knobs).samples.begin()));
        }
    }
}

TEST_F(DeviceTuning, SaysWhatTheDriverLacks) {
    cuda_stub().failing_call = "cuInit";
    EXPECT_THROW(tuned(), UserError);
    EXPECT_TRUE(database_.sessions().empty());
    cuda_stub() = {};
    cuda_stub().compute_capability = 7;
    EXPECT_THROW(tuned(), UserError);
}

}  // namespace
}  // namespace normforge
