#include "autotune/search/searcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "schedules/row_schedules.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {
namespace {

std::vector<std::string> texts(const std::vector<Knobs> &all) {
    std::vector<std::string> result;
    for (const Knobs &knobs : all) {
        result.push_back(to_text(knobs));
    }
    return result;
}

std::set<std::string> set_of(const std::vector<std::string> &all) {
    return {all.begin(), all.end()};
}

class SearcherTest : public testing::TestWithParam<std::tuple<nf_op, int64_t, const char *>> {
protected:
    std::vector<std::string> order(uint64_t seed) const { return texts(candidates(problem_, target_, seed)); }

    const NormProblem problem_ = default_problem(std::get<0>(GetParam()), std::get<1>(GetParam()));
    const Halide::Target target_ = kernel_target(std::get<2>(GetParam()));
    const std::vector<std::string> space_ = texts(enumerate(problem_, target_));
};

TEST_P(SearcherTest, HeuristicIsFirst) {
    for (uint64_t seed : {0, 1, 2}) {
        EXPECT_EQ(order(seed).at(0), to_text(heuristic(problem_, target_)));
    }
}

// Before all but the heuristic's, and once.
TEST_P(SearcherTest, KnownSchedulesAreTriedEarly) {
    const std::vector<Knobs> all = enumerate(problem_, target_);
    const std::vector<Knobs> known = {all.back(), heuristic(problem_, target_), all[all.size() / 2]};
    const std::vector<std::string> tried = texts(candidates(problem_, target_, 1, known));
    const size_t heuristics = heuristic_for_rows(problem_, target_).size();
    EXPECT_EQ(tried.at(0), to_text(heuristic(problem_, target_)));
    for (const Knobs &knobs : known) {
        const auto place = std::ranges::find(tried, to_text(knobs)) - tried.begin();
        EXPECT_LT(place, std::ssize(known) + static_cast<std::ptrdiff_t>(heuristics)) << to_text(knobs);
    }
    EXPECT_EQ(set_of(tried).size(), tried.size());
}

TEST_P(SearcherTest, IsTheWholeSpaceOnce) {
    EXPECT_EQ(order(1).size(), space_.size());
    EXPECT_EQ(set_of(order(1)), set_of(space_));
}

TEST_P(SearcherTest, SeedMakesTheOrder) {
    EXPECT_EQ(order(7), order(7));
    EXPECT_NE(order(7), order(8));
}

TEST_P(SearcherTest, NeighboursAreAStepAway) {
    const Knobs knobs = heuristic(problem_, target_);
    for (const Knobs &near : neighbours(knobs)) {
        int changed = 0;
        for (const Knob &knob : knob_table()) {
            changed += near.*knob.member != knobs.*knob.member;
        }
        EXPECT_TRUE(changed <= 1 || (near.vector != knobs.vector && changed <= 3)) << to_text(near);
    }
}

std::string name_of_case(const testing::TestParamInfo<SearcherTest::ParamType> &info) {
    const auto &[op, hidden, target] = info.param;
    return field_text(op) + "_" + std::to_string(hidden) + "_target_" + std::to_string(info.index % 3);
}

INSTANTIATE_TEST_SUITE_P(
    OpHiddenTarget, SearcherTest,
    testing::Combine(testing::Values(NF_LAYER_NORM, NF_RMS_NORM), testing::Values(1, 7, 64, 4096),
                     testing::Values("x86-64-linux", "x86-64-linux-avx-avx2-f16c-fma-sse41", "host")),
    name_of_case);

}  // namespace
}  // namespace normforge
