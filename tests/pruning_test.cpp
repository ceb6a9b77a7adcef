#include "autotune/search/pruning.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "autotune/search/decision.h"
#include "tests/database_examples.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

class PruningTest : public testing::Test {
protected:
    int64_t store(const SessionKey &key, std::optional<SessionState> state = SessionState::done,
                  double ratio = 0.8) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // times are stored in milliseconds
        const int64_t id = database_.begin_session(key, 1, "quick");
        for (int64_t rows : {1, 64}) {
            for (const auto &[knobs, knobs_ratio] : {std::pair("a", 1.0),
                                                     {"b", rows == 1 ? 1.2 : ratio},
                                                     {"c", 1.1},
                                                     {"d", rows == 1 ? ratio : 1.2}}) {
                database_.add_trial(
                    id,
                    TimedTrial{.knobs = knobs, .rows = rows, .ratios = {knobs_ratio, knobs_ratio, knobs_ratio}});
            }
        }
        if (state) {
            database_.end_session(id, *state, 0);
        }
        return id;
    }

    std::vector<int64_t> prunable() const {
        std::vector<int64_t> ids;
        for (const PrunableSession &each : prunable_sessions(database_)) {
            ids.push_back(each.session.id);
        }
        return ids;
    }

    static SessionKey key() {
        SessionKey key = example_key();
        key.reference = "a";
        return key;
    }

    static SessionKey newer() {
        SessionKey newer = key();
        newer.toolchain.llvm = "24.0.0";
        return newer;
    }

    TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
};

using Ids = std::vector<int64_t>;

TEST_F(PruningTest, AbortedSessionsMayGo) {
    const int64_t aborted = store(key(), SessionState::aborted);
    store(key());
    store(key());
    store(key(), std::nullopt);
    EXPECT_EQ(prunable(), Ids({aborted}));
}

TEST_F(PruningTest, SessionsOfAnOlderToolchainMayGoOnceThereIsANewerOne) {
    const int64_t older = store(key());
    EXPECT_EQ(prunable(), Ids());
    SessionKey other = newer();
    other.problem.hidden = 8;
    store(other);
    EXPECT_EQ(prunable(), Ids()) << "the newer one is of another problem";
    store(newer(), std::nullopt);
    EXPECT_EQ(prunable(), Ids()) << "the newer one is not done";
    store(newer());
    EXPECT_EQ(prunable(), Ids({older}));
    SessionKey generators = newer();
    generators.generator.algorithm = "algorithm 2";
    store(generators);
    EXPECT_EQ(prunable().size(), 2u);
}

TEST_F(PruningTest, RemovingThemChangesNoDecision) {
    store(key(), SessionState::done, 0.5);
    store(newer(), SessionState::aborted);
    store(newer());
    const std::string best = best_decisions(database_).at(0).session.uuid;
    database_.remove(prunable());
    EXPECT_EQ(database_.sessions().size(), 1u);
    EXPECT_EQ(best_decisions(database_).at(0).session.uuid, best);
    EXPECT_EQ(prunable(), Ids());
}

TEST_F(PruningTest, DecidingEvidenceDecidesTheSame) {
    store(key(), SessionState::aborted);
    store(key());
    const Decision expected = best_decisions(database_).at(0);
    Database other = Database::open(folder_ / "deciding.db");
    other.add(deciding_evidence(database_));
    const Decision decision = best_decisions(other).at(0);
    EXPECT_EQ(decision.session.uuid, expected.session.uuid);
    EXPECT_EQ(decision.selection.noise, expected.selection.noise);
    ASSERT_EQ(decision.selection.choices.size(), 2u);
    EXPECT_EQ(decision.selection.choices[0].knobs, "d");
    EXPECT_EQ(decision.selection.choices[1].knobs, "b");
    EXPECT_EQ(decision.selection.choices[0].ratio, expected.selection.choices[0].ratio);
    EXPECT_EQ(decision.trials.size(), 4u) << "the reference twice, and a choice for each number of rows";
    EXPECT_EQ(other.sessions().size(), 1u);
    other.add(database_.evidence());
    EXPECT_TRUE(other.evidence() == database_.evidence()) << "the part joins with the whole";
}

}  // namespace
}  // namespace normforge
