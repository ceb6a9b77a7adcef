// Ranking for a CPU that is not here, and what it is checked by.

#include "autotune/search/static_ranking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "autotune/database/sqlite.h"
#include "autotune/search/model_check.h"
#include "autotune/search/resolver.h"
#include "autotune/search/simulate_all.h"
#include "runtime/user_error.h"
#include "schedules/gpu_space.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

class StaticRanking : public testing::Test {
protected:
    TuneReport rank(const NormProblem &problem) {
        Progress progress(Progress::Mode::silent);
        return rank_statically({problem, kernel_target(cpu_.target), {1, 16}, Effort::quick, 1}, cpu_, database_,
                               progress);
    }

    const KnownCpu &cpu_ = known_cpu("neoverse-n1");
    const TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
};

TEST_F(StaticRanking, StoresASessionOfTheCpuThatSaysSo) {
    const TuneReport report = rank(default_problem(NF_RMS_NORM, 256));
    ASSERT_EQ(database_.sessions().size(), 1u);
    const StoredSession session = database_.sessions().front();
    EXPECT_EQ(session.source, TimeSource::simulated);
    EXPECT_EQ(session.state, SessionState::done);
    EXPECT_EQ(session.hardware, hardware_of(cpu_));
    EXPECT_EQ(report.trials.at(TrialStatus::ok), static_cast<int>(database_.trials(session.id).size()));
    ASSERT_EQ(report.selection.choices.size(), 2u);
    for (const Choice &choice : report.selection.choices) {
        EXPECT_LE(choice.ratio, 1) << choice.knobs;
        for (const Trial &trial : database_.trials(session.id)) {
            if (trial.rows == choice.rows && trial.output_digest == report.selection.output_digest) {
                EXPECT_LE(choice.ratio, median_ratio(trial) * (1 + kLeastGain)) << trial.knobs;
            }
        }
    }
}

TEST_F(StaticRanking, IsFoundByTheLadder) {
    const NormProblem problem = default_problem(NF_RMS_NORM, 256);
    rank(problem);
    const ResolvedKernel kernel = resolve({problem}, {kernel_target(cpu_.target)}, {.own = &database_}).front();
    EXPECT_EQ(kernel.step, LadderStep::instruction_set) << kernel.source;
    EXPECT_FALSE(kernel.is_measured);
}

TEST_F(StaticRanking, RefusesWhatTheModelDoesNotKnow) {
    NormProblem backward = default_problem(NF_RMS_NORM, 256);
    backward.pass = NF_BACKWARD;
    EXPECT_THROW(require_rankable(backward, kernel_target(cpu_.target), cpu_), UserError);
    const NormProblem forward = default_problem(NF_RMS_NORM, 256);
    EXPECT_THROW(require_rankable(forward, kernel_target("arm-64-linux-sve2-256"), cpu_), UserError);
    EXPECT_THROW(require_rankable(forward, kernel_target("x86-64-linux-sse41"), cpu_), UserError);
    EXPECT_NO_THROW(require_rankable(forward, kernel_target("arm-64-linux-neon"), cpu_));
}

class StaticGpuRanking : public testing::Test {
protected:
    StaticGpuRanking() {
        Progress progress(Progress::Mode::silent);
        report_ = rank_statically({problem_, kernel_target(kCudaTarget), {1, 512, 65536}, Effort::quick, 1},
                                  device_, database_, progress);
    }

    ResolvedKernel resolved(const char *device) {
        return resolve({problem_}, {kernel_target(kCudaTarget)}, {.own = &database_}, Steps::up_to_the_taken,
                       {.gpu = hardware_of(gpu_device(device))})
            .front();
    }

    const GpuDevice &device_ = gpu_device("b200");
    const NormProblem problem_ = parse_problem("op=rms_norm,dtype=bf16,hidden=4096");
    const TemporaryFolder folder_;
    const std::string file_ = folder_ / "tuning.db";
    Database database_ = Database::open(file_);
    TuneReport report_;
};

TEST_F(StaticGpuRanking, StoresASessionOfTheDeviceThatSaysSo) {
    ASSERT_EQ(database_.sessions().size(), 1u);
    const StoredSession session = database_.sessions().front();
    EXPECT_EQ(session.source, TimeSource::simulated);
    EXPECT_EQ(session.hardware, hardware_of(device_));
    EXPECT_EQ(session.target, kCudaTarget);
    EXPECT_EQ(session.reference, to_text(gpu_heuristic(problem_)));
    for (const Trial &trial : database_.trials(session.id)) {
        EXPECT_EQ(trial.status, TrialStatus::ok) << trial.message;
        EXPECT_FALSE(trial.code_hash.empty());
        const GpuEstimate expected = estimate(device_, problem_, parse_gpu_knobs(trial.knobs), trial.rows);
        EXPECT_DOUBLE_EQ(median_of(trial, &Sample::ns), expected.seconds() * 1e9);
    }
}

// The one that is best over all numbers of rows, of those that lose at none: in this problem not the heuristic's.
TEST_F(StaticGpuRanking, ChoosesOneScheduleForAllNumbersOfRows) {
    ASSERT_EQ(report_.selection.choices.size(), 3u);
    const std::string chosen = report_.selection.choices.front().knobs;
    EXPECT_NE(chosen, to_text(gpu_heuristic(problem_)));
    double product = 1;
    for (const Choice &choice : report_.selection.choices) {
        EXPECT_EQ(choice.knobs, chosen);
        EXPECT_LE(choice.ratio, 1 + kLeastGain);
        product *= choice.ratio;
    }
    for (const GpuKnobs &knobs : enumerate_gpu(problem_)) {
        double other = 1;
        bool loses = false;
        for (const Choice &choice : report_.selection.choices) {
            const double ns = 1e9 * estimate(device_, problem_, knobs, choice.rows).seconds();
            loses = loses || ns > choice.reference_nanoseconds * (1 + kLeastGain);
            other *= ns / choice.reference_nanoseconds;
        }
        EXPECT_TRUE(loses || product <= other * (1 + 1e-9)) << to_text(knobs);
    }
}

TEST_F(StaticGpuRanking, IsFoundByTheLadder) {
    const ResolvedKernel own = resolved(device_.name);
    EXPECT_EQ(own.step, LadderStep::tuned) << own.source;
    EXPECT_FALSE(own.is_measured);
    ASSERT_EQ(own.variants.size(), 1u);
    EXPECT_EQ(knobs_text(own.variants[0].spec), report_.selection.choices.front().knobs);
    EXPECT_EQ(kernel_code_hash(own.variants[0].spec, own.variants[0].object),
              kernel_code_hash(own.variants[0].spec, kernel_code(own.variants[0].spec)));
    EXPECT_EQ(resolved("rtx4090").step, LadderStep::instruction_set);
    // Nothing of a GPU is for a CPU.
    EXPECT_EQ(resolve({problem_}, {kernel_target("x86-64-linux")}, {.own = &database_}).front().step,
              LadderStep::heuristic);
}

// The model judged the schedule; measurements would have been of the code.
TEST_F(StaticGpuRanking, OutlivesOtherCode) {
    SqliteConnection(file_, SqliteConnection::Mode::read_write)
        .execute("UPDATE artifact SET object_hash = 'other', code_hash = 'other'");
    EXPECT_EQ(resolved(device_.name).step, LadderStep::tuned);
    SqliteConnection(file_, SqliteConnection::Mode::read_write).execute("UPDATE session SET source = 'measured'");
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "stale", resolved(device_.name).source);
}

TEST(GpuHardware, IsAnotherForEachDevice) {
    std::set<std::string> signatures;
    for (const GpuDevice &device : gpu_devices()) {
        signatures.insert(signature(hardware_of(device)));
    }
    EXPECT_EQ(signatures.size(), gpu_devices().size());
}

// A spec that cannot be simulated is that one's failure; each has the object of emit().
TEST(SimulateAll, HasObjectsAndFailures) {
    const NormProblem problem = default_problem(NF_RMS_NORM, 64);
    const Halide::Target neon = kernel_target("arm-64-linux-neon");
    const Halide::Target sve = kernel_target("arm-64-linux-sve2-256");
    std::vector<KernelSpec> specs(5, {problem, heuristic(problem, neon), neon});
    specs[1] = {problem, heuristic(problem, sve), sve};
    std::vector<std::string> objects(2);
    compile_all(std::vector<KernelSpec>{specs[0], specs[1]},
                [&](size_t index, const CompiledKernel &kernel) { objects[index] = kernel.object; });
    std::map<size_t, SimulatedKernel> results;
    simulate_all(specs, known_cpu("cortex-a72"), {1, 8}, {}, [&](size_t index, const SimulatedKernel &result) {
        EXPECT_TRUE(results.emplace(index, result).second);
    });
    ASSERT_EQ(results.size(), specs.size());
    for (const auto &[index, result] : results) {
        EXPECT_EQ(result.compiled.status, TrialStatus::ok) << result.compiled.message;
        EXPECT_EQ(result.compiled.object, objects[index == 1]);
        EXPECT_EQ(result.failure.empty(), index != 1) << result.failure;
        EXPECT_EQ(result.cycles, index == 1 ? std::vector<double>() : results[0].cycles);
    }
    EXPECT_EQ(results[0].cycles.size(), 2u);
}

// What is compiled meanwhile would disturb it.
TEST(SimulateAll, WaitsForWhoeverMeasures) {
    const TemporaryFolder folder;
    setenv("NORMFORGE_LOCK", (folder / "lock").c_str(), 1);
    const NormProblem problem = default_problem(NF_RMS_NORM, 64);
    const Halide::Target neon = kernel_target("arm-64-linux-neon");
    auto lock = std::make_unique<MachineLock>(MachineLock::Use::timing);
    int simulated = 0;
    std::thread other([&] {
        simulate_all({{problem, heuristic(problem, neon), neon}}, known_cpu("cortex-a72"), {1}, {},
                     [&](size_t, const SimulatedKernel &) { simulated++; });
    });
    while (!lock->is_wanted()) {
        std::this_thread::yield();
    }
    EXPECT_EQ(simulated, 0);
    lock.reset();
    other.join();
    EXPECT_EQ(simulated, 1);
    unsetenv("NORMFORGE_LOCK");
}

// Against times that are in the model's own order, and in the opposite one.
class ModelCheckTest : public testing::Test {
protected:
    // Of as many schedules as a check needs, and one session that was simulated, which does not count.
    std::optional<ModelCheck> check(double sign) {
        const KnownCpu &cpu = known_host_cpu();
        const NormProblem problem = default_problem(NF_RMS_NORM, 256);
        const Halide::Target target = kernel_target("host");
        std::vector<Knobs> all = enumerate(problem, target);
        std::vector<KernelSpec> specs;
        for (size_t index = 0; index < all.size() && specs.size() < 12; index += all.size() / 12) {
            specs.push_back({problem, all[index], target});
        }
        for (const TimeSource source : {TimeSource::measured, TimeSource::simulated}) {
            const int64_t session =
                database_.begin_session({problem, detect_hardware(), current_toolchain(), GeneratorVersion(),
                                         target_name(target), to_text(specs[0].knobs), source},
                                        1, "quick");
            simulate_all(specs, cpu, {1}, {}, [&](size_t index, const SimulatedKernel &result) {
                const double ratio =
                    std::exp((source == TimeSource::measured ? sign : -sign) * std::log(result.cycles.front()));
                database_.add_trial(
                    session,
                    TimedTrial{.knobs = to_text(specs[index].knobs), .rows = 1, .ratios = {ratio, ratio, ratio}});
            });
            database_.end_session(session, SessionState::done, 0);
        }
        Progress progress(Progress::Mode::silent);
        return check_model({.own = &database_}, progress);
    }

    void SetUp() override {
        try {
            known_host_cpu();
        } catch (const UserError &error) {
            GTEST_SKIP() << error.what();
        }
    }

    const TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
};

TEST_F(ModelCheckTest, IsOneInItsOwnOrder) {
    const std::optional<ModelCheck> result = check(1);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->groups, 1u);
    EXPECT_EQ(result->trials, 12u);
    EXPECT_DOUBLE_EQ(result->median, 1);
}

TEST_F(ModelCheckTest, IsMinusOneInTheOppositeOrder) {
    const std::optional<ModelCheck> result = check(-1);
    ASSERT_TRUE(result);
    EXPECT_DOUBLE_EQ(result->least, -1);
}

TEST_F(ModelCheckTest, IsNoneOfNothing) {
    Progress progress(Progress::Mode::silent);
    EXPECT_FALSE(check_model({.own = &database_}, progress));
    EXPECT_FALSE(check_model({}, progress));
}

}  // namespace
}  // namespace normforge
