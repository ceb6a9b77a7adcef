// Ranking for a CPU that is not here, and what it is checked by.

#include "autotune/search/static_ranking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "autotune/model/simulate_all.h"
#include "autotune/search/model_check.h"
#include "autotune/search/resolver.h"
#include "runtime/user_error.h"
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

// A spec that cannot be simulated is that one's failure.
TEST(SimulateAll, ComesInOrderWithFailures) {
    const NormProblem problem = default_problem(NF_RMS_NORM, 64);
    const Halide::Target neon = kernel_target("arm-64-linux-neon");
    const Halide::Target sve = kernel_target("arm-64-linux-sve2-256");
    std::vector<KernelSpec> specs(5, {problem, heuristic(problem, neon), neon});
    specs[1] = {problem, heuristic(problem, sve), sve};
    std::vector<SimulatedKernel> results;
    simulate_all(specs, known_cpu("cortex-a72"), {1, 8}, [&](size_t index, const SimulatedKernel &result) {
        EXPECT_EQ(index, results.size());
        results.push_back(result);
    });
    ASSERT_EQ(results.size(), specs.size());
    for (size_t index = 0; index < results.size(); index++) {
        EXPECT_EQ(results[index].failure.empty(), index != 1) << results[index].failure;
        EXPECT_EQ(results[index].cycles, index == 1 ? std::vector<double>() : results[0].cycles);
    }
    EXPECT_EQ(results[0].cycles.size(), 2u);
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
            simulate_all(specs, cpu, {1}, [&](size_t index, const SimulatedKernel &result) {
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
