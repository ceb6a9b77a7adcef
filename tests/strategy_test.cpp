// The strategy on recorded measurements of whole spaces, without a clock and without the hardware.

#include "autotune/search/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/recorded_spaces.h"

namespace normforge {
namespace {

// What the strategy tried, in its order.
std::vector<Knobs> tried(const RecordedSpace &space, Effort effort, uint64_t seed) {
    Strategy strategy(candidates(space.problem, space.target, seed), effort, seed);
    std::vector<Knobs> all;
    for (std::vector<Knobs> batch = strategy.propose(); !batch.empty(); batch = strategy.propose()) {
        for (const Knobs &knobs : batch) {
            all.push_back(knobs);
            const auto found = space.ratios.find(to_text(knobs));
            strategy.tell(knobs, found == space.ratios.end() ? std::nullopt : std::optional(found->second));
        }
    }
    return all;
}

// The best that these allow for all numbers of rows together, of one arithmetic: the geometric mean of the ratios.
double best_of(const RecordedSpace &space, const std::vector<Knobs> &all) {
    std::map<std::string, std::vector<double>> best;
    for (const Knobs &knobs : all) {
        if (const auto found = space.ratios.find(to_text(knobs)); found != space.ratios.end()) {
            std::vector<double> &own = best.try_emplace(arithmetic_text(knobs), found->second).first->second;
            for (size_t rows = 0; rows < own.size(); rows++) {
                own[rows] = std::min(own[rows], found->second[rows]);
            }
        }
    }
    double least = INFINITY;
    for (const auto &[arithmetic, ratios] : best) {
        double sum = 0;
        for (double ratio : ratios) {
            sum += std::log(ratio);
        }
        least = std::min(least, std::exp(sum / static_cast<double>(ratios.size())));
    }
    return least;
}

class ReplayTest : public testing::TestWithParam<size_t> {
protected:
    const RecordedSpace space_ = recorded_spaces().at(GetParam());
    const std::vector<Knobs> all_ = candidates(space_.problem, space_.target, 1);
};

// The median over seeds: one seed's luck is not the strategy's.
TEST_P(ReplayTest, QuickEffortComesWithinThreePercentOfTheBest) {
    std::vector<double> regrets;
    for (uint64_t seed = 1; seed <= 15; seed++) {
        const std::vector<Knobs> some = tried(space_, Effort::quick, seed);
        EXPECT_LE(some.size(), 56u);
        regrets.push_back(best_of(space_, some) / best_of(space_, all_));
    }
    std::ranges::sort(regrets);
    RecordProperty("median_regret", std::to_string(regrets[7]));
    RecordProperty("worst_regret", std::to_string(regrets.back()));
    EXPECT_LE(regrets[7], 1.03) << to_text(space_.problem);
}

TEST_P(ReplayTest, NormalEffortIsNoWorse) {
    double quick = 0, normal = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        quick += std::log(best_of(space_, tried(space_, Effort::quick, seed)));
        normal += std::log(best_of(space_, tried(space_, Effort::normal, seed)));
    }
    EXPECT_LE(normal, quick + 1e-9);
}

TEST_P(ReplayTest, NothingIsTriedTwiceNorOutsideTheSpace) {
    for (const NamedValue<Effort> &effort : kEfforts) {
        const std::vector<Knobs> some = tried(space_, effort.value, 3);
        std::set<std::string> distinct;
        for (const Knobs &knobs : some) {
            EXPECT_TRUE(distinct.insert(to_text(knobs)).second) << to_text(knobs);
            EXPECT_NE(std::ranges::find(all_, knobs), all_.end()) << to_text(knobs);
        }
        EXPECT_EQ(to_text(some.at(0)), to_text(all_[0])) << "the reference is not first";
    }
    EXPECT_EQ(tried(space_, Effort::exhaustive, 3).size(), all_.size());
}

TEST_P(ReplayTest, SeedAndAnswersDecide) {
    EXPECT_EQ(tried(space_, Effort::quick, 2), tried(space_, Effort::quick, 2));
    if (all_.size() > 200) {
        EXPECT_NE(tried(space_, Effort::quick, 2), tried(space_, Effort::quick, 4));
    }
}

INSTANTIATE_TEST_SUITE_P(Space, ReplayTest, testing::Range<size_t>(0, recorded_spaces().size()));

TEST(Strategy, EndsWhereEverythingFails) {
    const RecordedSpace &space = recorded_spaces().at(0);
    Strategy strategy(candidates(space.problem, space.target, 1), Effort::quick, 1);
    size_t count = 0;
    for (std::vector<Knobs> batch = strategy.propose(); !batch.empty(); batch = strategy.propose()) {
        count += batch.size();
        for (const Knobs &knobs : batch) {
            strategy.tell(knobs, std::nullopt);
        }
    }
    EXPECT_GE(count, 24u);
    EXPECT_LE(count, 56u);
}

}  // namespace
}  // namespace normforge
