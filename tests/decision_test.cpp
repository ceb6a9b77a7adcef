#include "autotune/search/decision.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/database_examples.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

constexpr const char *kReference = "a";

class DecisionTest : public testing::Test {
protected:
    static SessionKey key() {
        SessionKey key = example_key();
        key.reference = kReference;
        return key;
    }

    // A session in which schedule b took this part of the reference's time, later than those before; its uuid.
    std::string store(double ratio, const SessionKey &key,
                      std::optional<SessionState> state = SessionState::done) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // times are stored in milliseconds
        const int64_t id = database_.begin_session(key, 1, "quick");
        for (int64_t rows : {1, 64}) {
            database_.add_trial(id, TimedTrial{.knobs = kReference, .rows = rows, .ratios = {1, 1}});
            database_.add_trial(id, TimedTrial{.knobs = "b", .rows = rows, .ratios = {ratio, ratio}});
        }
        if (state) {
            database_.end_session(id, *state, 0);
        }
        return database_.sessions().back().uuid;
    }

    std::vector<std::string> decided() const {
        std::vector<std::string> uuids;
        for (const Decision &decision : decide(database_, database_.sessions())) {
            uuids.push_back(decision.session.uuid);
        }
        return uuids;
    }

    TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
};

using Uuids = std::vector<std::string>;

TEST_F(DecisionTest, EqualSessionsAreTakenLatestFirst) {
    EXPECT_EQ(decided(), Uuids());
    const std::string first = store(0.9, key());
    const std::string second = store(0.895, key());  // less than 1 % away
    const std::string third = store(0.9, key());
    EXPECT_EQ(decided(), Uuids({third, second, first}));
}

TEST_F(DecisionTest, ALaterSessionDoesNotUndoAFasterOne) {
    const std::string thorough = store(0.7, key());
    const std::string quick = store(0.8, key());
    EXPECT_EQ(decided(), Uuids({thorough, quick}));
    const std::string better = store(0.6, key());
    EXPECT_EQ(decided(), Uuids({better, thorough, quick}));
}

TEST_F(DecisionTest, TheEndDecidesWhichIsLatest) {
    const std::string first = store(0.9, key());
    store(0.9, key());
    SqliteConnection(folder_ / "tuning.db", SqliteConnection::Mode::read_write)
        .execute("UPDATE session SET ended = '2999' WHERE uuid = '" + first + "'");
    EXPECT_EQ(decided().front(), first);
}

// Not even a later one of the same key, that promises more.
TEST_F(DecisionTest, WhatWasSimulatedComesLast) {
    SessionKey simulated = key();
    simulated.source = TimeSource::simulated;
    const std::string first_simulated = store(0.2, simulated);
    const std::string measured = store(0.9, key());
    const std::string last_simulated = store(0.1, simulated);
    EXPECT_EQ(decided(), Uuids({measured, last_simulated, first_simulated}));
}

struct OtherKey {
    const char *name;
    void (*change)(SessionKey &);
};

class UnlikeSessions : public DecisionTest, public testing::WithParamInterface<OtherKey> {};

TEST_P(UnlikeSessions, AreNotComparedSoTheLatestCounts) {
    const std::string earlier = store(0.7, key());
    SessionKey other = key();
    GetParam().change(other);
    const std::string later = store(0.8, other);
    EXPECT_EQ(decided(), Uuids({later, earlier}));
}

INSTANTIATE_TEST_SUITE_P(
    All, UnlikeSessions,
    testing::Values(OtherKey{"halide", [](SessionKey &key) { key.toolchain.halide = "22.0.0"; }},
                    OtherKey{"algorithm", [](SessionKey &key) { key.generator.algorithm = "2"; }},
                    OtherKey{"space", [](SessionKey &key) { key.generator.space = "2"; }},
                    OtherKey{"reference", [](SessionKey &key) { key.reference = "b"; }}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_F(DecisionTest, OnlyWhatIsDoneAndPassedDecides) {
    store(0.5, key(), SessionState::aborted);
    store(0.5, key(), std::nullopt);
    const int64_t empty = database_.begin_session(key(), 1, "quick");
    database_.end_session(empty, SessionState::done, 0);
    EXPECT_EQ(decided(), Uuids());
}

class OtherKeyTest : public DecisionTest, public testing::WithParamInterface<OtherKey> {};

TEST_P(OtherKeyTest, HasADecisionOfItsOwn) {
    store(0.7, key());
    SessionKey other = key();
    GetParam().change(other);
    store(0.8, other);
    EXPECT_EQ(best_decisions(database_).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(All, OtherKeyTest,
                         testing::Values(OtherKey{"op", [](SessionKey &key) { key.problem.op = NF_RMS_NORM; }},
                                         OtherKey{"dtype", [](SessionKey &key) { key.problem.dtype = NF_BF16; }},
                                         OtherKey{"weight", [](SessionKey &key) { key.problem.weight = NF_NONE; }},
                                         OtherKey{"bias", [](SessionKey &key) { key.problem.bias = NF_NONE; }},
                                         OtherKey{"output", [](SessionKey &key) { key.problem.output = NF_F16; }},
                                         OtherKey{"portable",
                                                  [](SessionKey &key) { key.problem.portable = NF_YES; }},
                                         OtherKey{"hidden", [](SessionKey &key) { key.problem.hidden = 4095; }},
                                         OtherKey{"hardware", [](SessionKey &key) { key.hardware.l2_bytes *= 2; }},
                                         OtherKey{"target", [](SessionKey &key) { key.target = "arm-64-linux"; }}),
                         [](const auto &test) { return std::string(test.param.name); });

TEST_F(DecisionTest, OneKeyHasOneDecision) {
    store(0.7, key());
    const std::string latest = store(0.7, key());
    const std::vector<Decision> best = best_decisions(database_);
    ASSERT_EQ(best.size(), 1u);
    EXPECT_EQ(best[0].session.uuid, latest);
    EXPECT_EQ(best[0].selection.choices.size(), 2u);
    EXPECT_EQ(best[0].selection.choices[0].knobs, "b");
    EXPECT_EQ(best[0].trials.size(), 4u);
}

}  // namespace
}  // namespace normforge
