#include "runtime/wake_budget.h"

#include <gtest/gtest.h>

namespace normforge {
namespace {

constexpr int64_t kLimit = WakeBudget::kLeastLimit;

// How many calls of so many bytes it takes to wake sleeping threads.
int calls_until_waking(WakeBudget &budget, int64_t bytes) {
    int calls = 1;
    while (!budget.is_worth_waking(bytes)) {
        calls++;
    }
    return calls;
}

TEST(WakeBudget, WakesForOneLargeCallAtOnce) {
    WakeBudget budget;
    EXPECT_EQ(calls_until_waking(budget, kLimit), 1);
}

TEST(WakeBudget, WakesForSmallCallsOnceTheyAreManyAndBeginsAnew) {
    WakeBudget budget;
    for (int time = 0; time < 3; time++) {
        EXPECT_EQ(calls_until_waking(budget, kLimit / 8), 8);
        budget.count_shared(WakeBudget::kCost);
    }
}

TEST(WakeBudget, WakesLessOftenWhereItIsInVain) {
    WakeBudget budget;
    EXPECT_EQ(calls_until_waking(budget, kLimit), 1);
    int expected = 1;
    for (int time = 0; time < 10; time++) {
        EXPECT_EQ(calls_until_waking(budget, kLimit), expected);
        expected = std::min(2 * expected, static_cast<int>(WakeBudget::kMostLimit / kLimit));
        budget.count_shared(WakeBudget::kCost - 1);
    }
    EXPECT_EQ(expected, 64);
    budget.count_shared(1);
    EXPECT_EQ(calls_until_waking(budget, kLimit), 64);
    EXPECT_EQ(calls_until_waking(budget, kLimit), 1) << "it was worth it the last time but one";
}

}  // namespace
}  // namespace normforge
