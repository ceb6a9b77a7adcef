#include "autotune/search/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>

#include "tests/timed_trials.h"

namespace normforge {
namespace {

const std::string kReference = "reference";

// As "rows:knobs rows:knobs".
std::string text_of(const Selection &selection) {
    std::string text;
    for (const Choice &choice : selection.choices) {
        text += (text.empty() ? "" : " ") + std::to_string(choice.rows) + ":" + choice.knobs;
    }
    return text;
}

struct Case {
    const char *name;
    std::vector<Trial> trials;
    std::string choices;
    std::string digest;
};

void PrintTo(const Case &c, std::ostream *out) {
    *out << c.name;
}

// Ratios whose median is the first and whose uncertainty is about that share of it.
std::vector<double> noisy(double ratio, double noise) {
    std::vector<double> ratios;
    for (int sample = 0; sample < 9; sample++) {
        ratios.push_back(ratio * (1 + (sample % 3 - 1) * noise / 0.988));
    }
    return ratios;
}

class SelectionTest : public testing::TestWithParam<Case> {};

TEST_P(SelectionTest, ChoosesTheBest) {
    const Selection selection = select_best(GetParam().trials, kReference);
    EXPECT_EQ(text_of(selection), GetParam().choices);
    EXPECT_EQ(selection.output_digest, GetParam().digest);
    EXPECT_EQ(selection.complete(), !GetParam().choices.empty());
}

TEST_P(SelectionTest, DoesNotDependOnTheTrialsOrder) {
    std::vector<Trial> trials = GetParam().trials;
    for (uint64_t seed = 0; seed < 20; seed++) {
        std::mt19937_64 random(seed);
        std::shuffle(trials.begin(), trials.end(), random);
        const Selection selection = select_best(trials, kReference);
        EXPECT_EQ(text_of(selection), GetParam().choices);
        EXPECT_EQ(selection.output_digest, GetParam().digest);
    }
}

using T = TimedTrial;

const std::vector<double> kEven = {1, 1, 1};

INSTANTIATE_TEST_SUITE_P(
    OneNumberOfRows, SelectionTest,
    testing::Values(
        Case{"no_trials", {}, "", ""},
        Case{"the_reference_alone", {T{.knobs = kReference, .ratios = kEven}}, "1:reference", "d"},
        Case{"the_fastest",
             {T{.knobs = kReference, .ratios = kEven}, T{.knobs = "a", .ratios = {0.9, 0.9, 0.9}},
              T{.knobs = "b", .ratios = {0.8, 0.8, 0.8}}, T{.knobs = "c", .ratios = {0.85, 0.85, 0.85}}},
             "1:b",
             "d"},
        Case{"the_median_counts",
             {T{.knobs = kReference, .ratios = kEven}, T{.knobs = "a", .ratios = {0.1, 0.9, 2}},
              T{.knobs = "b", .ratios = {0.8, 0.8, 9}}},
             "1:b",
             "d"},
        Case{"without_the_reference",
             {T{.knobs = "a", .ratios = {0.9, 0.9, 0.9}}, T{.knobs = "b", .ratios = {0.8, 0.8, 0.8}}},
             "1:b",
             "d"},
        Case{"the_smaller_code_of_equals",
             {T{.knobs = "a", .ratios = {0.8, 0.8}, .code_bytes = 900},
              T{.knobs = "b", .ratios = {0.8, 0.8}, .code_bytes = 800},
              T{.knobs = "c", .ratios = {0.8, 0.8}, .code_bytes = 900}},
             "1:b",
             "d"},
        Case{"the_first_text_of_equals_in_code_too",
             {T{.knobs = "b", .ratios = {0.8, 0.8}}, T{.knobs = "a", .ratios = {0.8, 0.8}},
              T{.knobs = "c", .ratios = {0.8, 0.8}}},
             "1:a",
             "d"},
        Case{"the_smaller_code_within_the_noise",
             {T{.knobs = kReference, .ratios = noisy(1, 0.03)}, T{.knobs = "a", .ratios = noisy(0.8, 0)},
              T{.knobs = "b", .ratios = noisy(0.82, 0), .code_bytes = 900},
              T{.knobs = "c", .ratios = noisy(0.83, 0), .code_bytes = 800}},
             "1:b",
             "d"},
        Case{"few_samples_do_not_win",
             {T{.knobs = kReference, .ratios = kEven}, T{.knobs = "a", .ratios = {0.5, 0.5}},
              T{.knobs = "b", .ratios = {0.9, 0.9, 0.9}}},
             "1:b",
             "d"},
        Case{"none_has_samples", {T{.knobs = kReference}, T{.knobs = "a"}}, "", ""},
        Case{"failed_trials_are_ignored",
             {T{.knobs = kReference, .ratios = kEven},
              T{.knobs = "a", .ratios = {0.1, 0.1, 0.1, 0.1}, .status = TrialStatus::crash},
              T{.knobs = "b", .ratios = {0.1, 0.1, 0.1}, .status = TrialStatus::wrong},
              T{.knobs = "c", .ratios = {0.1, 0.1, 0.1}, .status = TrialStatus::timeout},
              T{.knobs = "d", .status = TrialStatus::compile_error}},
             "1:reference",
             "d"},
        Case{"all_failed", {T{.knobs = "a", .ratios = kEven, .status = TrialStatus::wrong}}, "", ""},
        Case{"digests_are_rivals",
             {T{.knobs = kReference, .digest = "d1", .ratios = kEven},
              T{.knobs = "a", .digest = "d2", .ratios = {0.9, 0.9, 0.9}},
              T{.knobs = "b", .digest = "d3", .ratios = {0.95, 0.95, 0.95}}},
             "1:a",
             "d2"}),
    [](const auto &c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    SeveralNumbersOfRows, SelectionTest,
    testing::Values(
        Case{"each_rows_has_its_own_knobs",
             {T{.knobs = kReference, .rows = 512, .ratios = kEven},
              T{.knobs = kReference, .rows = 1, .ratios = kEven},
              T{.knobs = "a", .rows = 512, .ratios = {0.9, 0.9, 0.9}},
              T{.knobs = "a", .rows = 1, .ratios = {0.5, 0.5, 0.5}},
              T{.knobs = "b", .rows = 512, .ratios = {0.8, 0.8, 0.8}},
              T{.knobs = "b", .rows = 1, .ratios = {0.6, 0.6, 0.6}}},
             "1:a 512:b",
             "d"},
        // d1 is the best at one row, d2 by the geometric mean of both: 0.6 * 0.6 < 0.5 * 0.9.
        Case{"all_rows_get_the_same_bits",
             {T{.knobs = "a", .rows = 1, .digest = "d1", .ratios = {0.5, 0.5}},
              T{.knobs = "a", .rows = 512, .digest = "d1", .ratios = {0.9, 0.9}},
              T{.knobs = "b", .rows = 1, .digest = "d2", .ratios = {0.6, 0.6}},
              T{.knobs = "b", .rows = 512, .digest = "d2", .ratios = {0.6, 0.6}}},
             "1:b 512:b",
             "d2"},
        // 0.5 * 0.9 < 0.7 * 0.69, though the sum is greater.
        Case{"the_mean_is_geometric",
             {T{.knobs = "a", .rows = 1, .digest = "d1", .ratios = {0.5, 0.5}},
              T{.knobs = "a", .rows = 512, .digest = "d1", .ratios = {0.9, 0.9}},
              T{.knobs = "b", .rows = 1, .digest = "d2", .ratios = {0.7, 0.7}},
              T{.knobs = "b", .rows = 512, .digest = "d2", .ratios = {0.69, 0.69}}},
             "1:a 512:a",
             "d1"},
        Case{"a_digest_serves_all_or_none",
             {T{.knobs = "a", .rows = 1, .digest = "d1", .ratios = {0.9, 0.9}},
              T{.knobs = "a", .rows = 512, .digest = "d1", .ratios = {0.9, 0.9}},
              T{.knobs = "b", .rows = 1, .digest = "d2", .ratios = {0.1, 0.1}},
              T{.knobs = "b", .rows = 512, .digest = "d2", .ratios = {0.1, 0.1}, .status = TrialStatus::crash}},
             "1:a 512:a",
             "d1"},
        Case{"nothing_serves_all",
             {T{.knobs = "a", .rows = 1, .digest = "d1", .ratios = {0.9, 0.9}},
              T{.knobs = "b", .rows = 512, .digest = "d2", .ratios = {0.9, 0.9}}},
             "",
             ""},
        Case{"samples_are_counted_for_each_rows",
             {T{.knobs = kReference, .rows = 1, .ratios = kEven},
              T{.knobs = kReference, .rows = 512, .ratios = {1, 1}},
              T{.knobs = "a", .rows = 1, .ratios = {0.5, 0.5}},
              T{.knobs = "a", .rows = 512, .ratios = {0.5, 0.5}}},
             "1:reference 512:a",
             "d"}),
    [](const auto &c) { return std::string(c.param.name); });

struct Gain {
    double ratio;
    double noise;
    bool wins;
};

// Whether a candidate with this ratio replaces the reference, by its other properties.
class ReferenceTest : public testing::TestWithParam<std::tuple<Gain, const char *, int64_t>> {};

TEST_P(ReferenceTest, StaysUnlessBeatenByMoreThanTheNoiseAndOnePercent) {
    const auto &[gain, digest, code_bytes] = GetParam();
    const std::vector<Trial> trials = {
        T{.knobs = "candidate", .digest = digest, .ratios = noisy(gain.ratio, 0), .code_bytes = code_bytes},
        T{.knobs = kReference, .ratios = noisy(1, gain.noise)}};
    const Selection selection = select_best(trials, kReference);
    EXPECT_NEAR(selection.noise, gain.noise, 0.001);
    EXPECT_EQ(text_of(selection), gain.wins ? "1:candidate" : "1:reference")
        << gain.ratio << " with noise " << gain.noise;
}

std::string name_of_case(const testing::TestParamInfo<ReferenceTest::ParamType> &info) {
    const auto &[gain, digest, code_bytes] = info.param;
    const auto thousandths = [](double part) { return std::to_string(std::lround(1000 * part)); };
    return "ratio_" + thousandths(gain.ratio) + "_noise_" + thousandths(gain.noise) + "_digest_" + digest +
           "_bytes_" + std::to_string(code_bytes);
}

INSTANTIATE_TEST_SUITE_P(GainDigestCode, ReferenceTest,
                         testing::Combine(testing::Values(Gain{1.2, 0, false}, Gain{0.995, 0, false},
                                                          Gain{0.98, 0, true}, Gain{0.994, 0.005, false},
                                                          Gain{0.985, 0.005, true}, Gain{0.985, 0.03, false},
                                                          Gain{0.999, 0.03, false}, Gain{0.96, 0.03, true}),
                                          testing::Values("d", "other"), testing::Values(500, 1000, 2000)),
                         name_of_case);

TEST(Selection, TellsTheTimesOfTheChosen) {
    Trial trial = T{.knobs = "a", .ratios = {0.5, 0.5, 0.5}};
    trial.samples[0].ns = 20, trial.samples[0].reference_ns = 100;  // 0.2
    trial.samples[1].ns = 60, trial.samples[1].reference_ns = 80;   // 0.75
    trial.samples[2].ns = 50, trial.samples[2].reference_ns = 50;   // 1
    const Selection selection = select_best({trial}, kReference);
    ASSERT_EQ(selection.choices.size(), 1u);
    EXPECT_EQ(selection.choices[0].ratio, 0.75);
    EXPECT_EQ(selection.choices[0].nanoseconds, 50);
    EXPECT_EQ(selection.choices[0].reference_nanoseconds, 80);
}

TEST(Selection, NoiseIsTheReferencesLargest) {
    const std::vector<Trial> trials = {T{.knobs = kReference, .rows = 1, .ratios = noisy(1, 0.04)},
                                       T{.knobs = kReference, .rows = 4, .ratios = noisy(1, 0.02)},
                                       T{.knobs = "a", .rows = 4, .ratios = noisy(1, 0.2)}};
    EXPECT_NEAR(select_best(trials, kReference).noise, 0.04, 0.001);
}

// What is uncertain at one number of rows says nothing of another.
TEST(Selection, NoiseIsThatOfTheRows) {
    const std::vector<Trial> trials = {T{.knobs = kReference, .rows = 1, .ratios = noisy(1, 0.005)},
                                       T{.knobs = "a", .rows = 1, .ratios = noisy(0.95, 0.005)},
                                       T{.knobs = kReference, .rows = 64, .ratios = noisy(1, 0.2)},
                                       T{.knobs = "a", .rows = 64, .ratios = noisy(0.95, 0.2)}};
    const Selection selection = select_best(trials, kReference);
    ASSERT_EQ(selection.choices.size(), 2u);
    EXPECT_EQ(selection.choices[0].knobs, "a");
    EXPECT_EQ(selection.choices[1].knobs, kReference);
    EXPECT_NEAR(selection.noise, 0.2, 0.001);
}

}  // namespace
}  // namespace normforge
