#include "autotune/search/expected_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "autotune/search/generator_version.h"
#include "autotune/search/pruning.h"
#include "autotune/search/tuner.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/database_examples.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

constexpr const char *kTarget = "x86-64-linux-avx2-f16c-fma";
constexpr int64_t kManyRows = 1 << 20;  // for which untuned libraries have another schedule than for one

// A session in which another schedule took the shares of the time of those that an untuned library has.
struct Tuned {
    NormProblem problem = default_problem(NF_RMS_NORM, 64);
    double best_of_one_row = 1;
    double best_of_many_rows = 1;
    Hardware hardware = example_hardware();
    const char *target = kTarget;
    TimeSource source = TimeSource::measured;
};

class ExpectedLossTest : public testing::Test {
protected:
    static std::string untuned_at(const NormProblem &problem, int64_t rows) {
        std::string knobs;
        for (const UntunedKernel &kernel : untuned_kernels(problem, kernel_target(kTarget))) {
            if (kernel.min_rows <= rows) {
                knobs = knobs_text(kernel.spec);
            }
        }
        return knobs;
    }

    int64_t begin(Database &database, const Tuned &tuned) {
        return database.begin_session({tuned.problem, tuned.hardware, current_toolchain(), current_generator(),
                                       tuned.target, untuned_at(tuned.problem, 1), tuned.source},
                                      1, "quick");
    }

    // The untuned schedule of many rows took twice the reference's time there.
    void store(Database &database, const Tuned &tuned) {
        const int64_t session = begin(database, tuned);
        add(session, database, untuned_at(tuned.problem, 1), 1, 1);
        add(session, database, "best", 1, tuned.best_of_one_row);
        add(session, database, untuned_at(tuned.problem, kManyRows), kManyRows, 2);
        add(session, database, "best", kManyRows, 2 * tuned.best_of_many_rows);
        database.end_session(session, SessionState::done, 0);
    }

    static void add(int64_t session, Database &database, const std::string &knobs, int64_t rows, double ratio,
                    const std::string &code = "") {
        Trial trial = TimedTrial{.knobs = knobs, .rows = rows, .ratios = {ratio, ratio, ratio}};
        trial.code_hash = code;
        if (ratio == 0) {
            trial.samples.clear();
        }
        database.add_trial(session, trial);
    }

    std::optional<ExpectedLoss> loss(LadderStep step = LadderStep::heuristic) {
        ResolvedKernel kernel{};
        kernel.problem = problem_;
        kernel.target = kernel_target(kTarget);
        kernel.step = step;
        return expected_losses({kernel}, {&own_, &shipped_}, {.cpu = example_hardware()}).at(0);
    }

    // Of a mean of 1.5 and so many problems, nothing else that is stored having that.
    void expect_only(int64_t problems, bool is_elsewhere = false) {
        const std::optional<ExpectedLoss> expected = loss();
        ASSERT_TRUE(expected);
        EXPECT_NEAR(expected->ratio, 1.5, 1e-9);
        EXPECT_EQ(expected->problems, problems);
        EXPECT_EQ(expected->is_elsewhere, is_elsewhere);
    }

    const TemporaryFolder folder_;
    Database own_ = Database::open(folder_ / "own.db");
    Database shipped_ = Database::open(folder_ / "shipped.db");
    NormProblem problem_ = default_problem(NF_RMS_NORM, 1000);
};

TEST_F(ExpectedLossTest, IsTheMeanOverProblemsAndTheWorstAtAnyNumberOfRows) {
    ASSERT_NE(untuned_at(problem_, 1), untuned_at(problem_, kManyRows));
    EXPECT_FALSE(loss());
    store(own_, {.best_of_one_row = 0.5, .best_of_many_rows = 0.5});
    store(own_, {.problem = default_problem(NF_RMS_NORM, 128), .best_of_many_rows = 0.25});
    const std::optional<ExpectedLoss> expected = loss();
    ASSERT_TRUE(expected);
    EXPECT_NEAR(expected->ratio, 2, 1e-9);  // of 2 and of sqrt(1 * 4)
    EXPECT_NEAR(expected->worst_ratio, 4, 1e-9);
    EXPECT_EQ(expected->problems, 2);
}

TEST_F(ExpectedLossTest, IsOfTheNearestKind) {
    const double share = 1 / 1.5;
    const Tuned tuned{.best_of_one_row = share, .best_of_many_rows = share};
    const auto stored = [&](auto change) {
        Tuned other = tuned;
        change(other);
        store(own_, other);
    };
    stored([](Tuned &other) {
        other.problem.pass = NF_BACKWARD;
        other.problem.saved_statistics = NF_YES;
    });
    stored([](Tuned &other) { other.target = "x86-64-linux"; });
    stored([](Tuned &other) { other.source = TimeSource::simulated; });
    EXPECT_FALSE(loss()) << "of another pass and target, and simulated";
    stored([](Tuned &other) { other.hardware.model++; });
    expect_only(1, true);
    stored([](Tuned &other) { other.problem = default_problem(NF_LAYER_NORM, 64); });
    expect_only(1);
    stored([](Tuned &other) { other.problem = default_problem(NF_RMS_NORM, 64, NF_F16); });
    expect_only(1);
    stored([](Tuned &other) { other.problem = default_problem(NF_RMS_NORM, 96); });
    stored([](Tuned &other) { other.problem = default_problem(NF_RMS_NORM, 128); });
    expect_only(2);
}

TEST_F(ExpectedLossTest, CountsAProblemOfBothDatabasesOnceByTheUsers) {
    store(shipped_, {.best_of_one_row = 0.1, .best_of_many_rows = 0.1});
    store(own_, {.best_of_one_row = 1 / 1.5, .best_of_many_rows = 1 / 1.5});
    expect_only(1);
}

TEST_F(ExpectedLossTest, IsKnownFromWhatDecidesAlone) {
    store(own_, {.best_of_one_row = 1 / 1.5, .best_of_many_rows = 1 / 1.5});
    shipped_.add(deciding_evidence(own_));
    own_.remove({own_.sessions().at(0).id});
    expect_only(1);
}

struct Timed {
    bool is_untuned;  // or another schedule
    int64_t rows;
    double ratio;  // 0 for none
    const char *code = "";
};

struct Session {
    const char *name;
    std::vector<Timed> trials;
    double ratio;  // that is expected, or 0 for none
};

class SearchedRowsTest : public ExpectedLossTest, public testing::WithParamInterface<Session> {};

INSTANTIATE_TEST_SUITE_P(
    All, SearchedRowsTest,
    testing::Values(
        Session{"All", {{true, 1, 1}, {false, 1, 0.5}, {true, kManyRows, 2}, {false, kManyRows, 0.25}}, 4},
        Session{"NotTimedForManyRows", {{true, 1, 1}, {false, 1, 0.5}, {false, kManyRows, 0.25}}, 0},
        Session{"TimedAsAnotherOfItsCode",
                {{true, 1, 1}, {false, 1, 0.5, "c"}, {true, kManyRows, 0, "c"}, {false, kManyRows, 0.5, "c"}},
                std::sqrt(2)},
        Session{"NoneOfItsCode",
                {{true, 1, 1}, {false, 1, 0.5, "d"}, {true, kManyRows, 0, "c"}, {false, kManyRows, 0.5, "d"}},
                0},
        Session{"Crossover",
                {{true, 1, 1}, {false, 1, 1}, {true, 4, 1}, {false, 4, 0.1}, {true, 8, 1}, {false, 8, 0.5}},
                std::sqrt(2)}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(SearchedRowsTest, AreWhatCounts) {
    const int64_t session = begin(own_, {});
    for (const Timed &timed : GetParam().trials) {
        add(session, own_, timed.is_untuned ? untuned_at(Tuned().problem, timed.rows) : "best", timed.rows,
            timed.ratio, timed.code);
    }
    own_.end_session(session, SessionState::done, 0);
    EXPECT_NEAR(loss() ? loss()->ratio : 0, GetParam().ratio, 1e-9);
}

// The best of 128 values takes twice the time of the best for 64. That of 64 is legal nowhere.
TEST_F(ExpectedLossTest, OfSchedulesOfAnotherSizeIsTheirs) {
    NormProblem longer = default_problem(NF_RMS_NORM, 128);
    Knobs changed = heuristic(longer, kernel_target(kTarget));
    changed.unroll = changed.unroll == 1 ? 2 : 1;
    const int64_t of_longer = begin(own_, {.problem = longer});
    add(of_longer, own_, untuned_at(longer, 1), 1, 1);
    add(of_longer, own_, to_text(changed), 1, 0.9);
    own_.end_session(of_longer, SessionState::done, 0);
    EXPECT_FALSE(loss(LadderStep::nearest_hidden));
    const int64_t session = begin(own_, {});
    for (const auto &[knobs, ratio] : std::map<std::string, double>{
             {untuned_at(Tuned().problem, 1), 1}, {to_text(changed), 0.8}, {"best", 0.4}}) {
        add(session, own_, knobs, 1, ratio);
    }
    own_.end_session(session, SessionState::done, 0);
    const std::optional<ExpectedLoss> expected = loss(LadderStep::nearest_hidden);
    ASSERT_TRUE(expected);
    EXPECT_NEAR(expected->ratio, 2, 1e-9);
    EXPECT_EQ(expected->problems, 1);
    EXPECT_FALSE(loss(LadderStep::hardware_family));
    EXPECT_FALSE(loss(LadderStep::tuned));
}

}  // namespace
}  // namespace normforge
