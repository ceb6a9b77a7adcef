#include "autotune/search/survivors.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/timed_trials.h"

namespace normforge {
namespace {

using T = TimedTrial;
using Places = std::vector<size_t>;

const std::string kReference = "reference";
constexpr size_t kAll = SIZE_MAX;

// Two numbers of rows. By the geometric mean of their best, the digests rank d2 (0.42), d1 (0.45), d3 (0.72).
const std::vector<Trial> kField = {
    T{.knobs = "a", .rows = 1, .digest = "d1", .ratios = {0.7}},          // 0
    T{.knobs = "b", .rows = 1, .digest = "d1", .ratios = {0.5}},          // 1
    T{.knobs = "c", .rows = 1, .digest = "d2", .ratios = {0.6}},          // 2
    T{.knobs = "d", .rows = 1, .digest = "d2", .ratios = {0.65}},         // 3
    T{.knobs = kReference, .rows = 1, .digest = "d3", .ratios = {0.9}},   // 4
    T{.knobs = "a", .rows = 64, .digest = "d1", .ratios = {0.9}},         // 5
    T{.knobs = "b", .rows = 64, .digest = "d1", .ratios = {0.95}},        // 6
    T{.knobs = "c", .rows = 64, .digest = "d2", .ratios = {0.8}},         // 7
    T{.knobs = "d", .rows = 64, .digest = "d2", .ratios = {0.7}},         // 8
    T{.knobs = kReference, .rows = 64, .digest = "d3", .ratios = {0.8}},  // 9
};

TEST(Survivors, AllGoOnUnlessLimited) {
    EXPECT_EQ(survivors(kField, kAll, kAll, kReference), (Places{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Survivors, AreTheFastestOfEachDigestForEachNumberOfRows) {
    EXPECT_EQ(survivors(kField, kAll, 1, kReference), (Places{1, 2, 4, 5, 8, 9}));
}

TEST(Survivors, AreOfTheBestDigestsAndTheReference) {
    EXPECT_EQ(survivors(kField, 1, kAll, kReference), (Places{2, 3, 4, 7, 8, 9}));
    EXPECT_EQ(survivors(kField, 2, kAll, kReference), (Places{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(survivors(kField, 1, 1, kReference), (Places{2, 4, 8, 9}));
    EXPECT_EQ(survivors(kField, 0, 1, kReference), (Places{4, 9}));
}

TEST(Survivors, RankByTheMedian) {
    const std::vector<Trial> trials = {T{.knobs = "a", .ratios = {0.1, 0.9, 0.9}},
                                       T{.knobs = "b", .ratios = {0.8, 0.8, 9}}};
    EXPECT_EQ(survivors(trials, 1, 1, kReference), Places{1});
}

TEST(Survivors, AreNeverFailedOnes) {
    std::vector<Trial> trials = kField;
    trials[1].status = TrialStatus::crash;
    trials[9].status = TrialStatus::timeout;
    EXPECT_EQ(survivors(trials, kAll, 1, kReference), (Places{0, 2, 4, 5, 8}));
}

// Its few samples may flatter it.
TEST(Survivors, OneThatWasDroppedBeforeStaysOut) {
    std::vector<Trial> trials = kField;
    for (size_t place : {0, 2, 3, 4}) {
        trials[place].samples.push_back(trials[place].samples[0]);
    }
    EXPECT_EQ(survivors(trials, kAll, kAll, kReference), (Places{0, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(survivors(trials, 1, 1, kReference), (Places{2, 4, 8, 9}));
}

TEST(Survivors, DigestThatCannotServeAllRowsIsOut) {
    std::vector<Trial> trials = kField;
    trials[7].status = trials[8].status = TrialStatus::wrong;
    EXPECT_EQ(survivors(trials, 2, kAll, kReference), (Places{0, 1, 4, 5, 6, 9}));
}

TEST(Survivors, AllGoOnBeforeAnyIsTimed) {
    std::vector<Trial> trials = kField;
    for (Trial &trial : trials) {
        trial.samples.clear();
    }
    trials[3].status = TrialStatus::compile_error;
    EXPECT_EQ(survivors(trials, kAll, kAll, kReference), (Places{0, 1, 2, 4, 5, 6, 7, 8, 9}));
}

TEST(Survivors, OfNoneAreNone) {
    EXPECT_EQ(survivors({}, kAll, kAll, kReference), Places{});
}

}  // namespace
}  // namespace normforge
