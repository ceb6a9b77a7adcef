#include "autotune/manifest/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/user_error.h"

namespace normforge {
namespace {

std::vector<ProblemRows> some_problems(int64_t count) {
    std::vector<ProblemRows> problems;
    for (int64_t hidden = 1; hidden <= count; hidden++) {
        problems.push_back({default_problem(NF_RMS_NORM, hidden), {hidden}});
    }
    return problems;
}

std::multiset<std::string> texts(const std::vector<ProblemRows> &problems) {
    std::multiset<std::string> texts;
    for (const ProblemRows &each : problems) {
        EXPECT_EQ(each.rows, std::vector<int64_t>{each.problem.hidden});
        texts.insert(to_text(each.problem));
    }
    return texts;
}

class Sharding : public testing::TestWithParam<int64_t> {};

INSTANTIATE_TEST_SUITE_P(Count, Sharding, testing::Values(1, 2, 7, 20, 30));

TEST_P(Sharding, DealsEveryProblemOnce) {
    const std::vector<ProblemRows> problems = some_problems(20);
    std::multiset<std::string> all;
    std::set<size_t> sizes;
    for (int64_t index = 1; index <= GetParam(); index++) {
        const std::vector<ProblemRows> part = problems_in({index, GetParam()}, problems);
        sizes.insert(part.size());
        all.merge(texts(part));
        EXPECT_TRUE(std::ranges::is_sorted(part, {}, [](const ProblemRows &each) { return each.problem.hidden; }));
    }
    EXPECT_EQ(all, texts(problems));
    EXPECT_LE(*sizes.rbegin() - *sizes.begin(), 1u);
}

TEST_P(Sharding, DoesNotDependOnTheOrder) {
    const std::vector<ProblemRows> problems = some_problems(20);
    std::vector<ProblemRows> reversed(problems.rbegin(), problems.rend());
    for (int64_t index = 1; index <= GetParam(); index++) {
        const Shard shard{index, GetParam()};
        EXPECT_EQ(texts(problems_in(shard, problems)), texts(problems_in(shard, reversed))) << index;
    }
}

// Machines of different versions must agree, so the deal is fixed.
TEST(Shard, IsTheSameInEveryVersion) {
    EXPECT_EQ(texts(problems_in({1, 4}, some_problems(8))),
              std::multiset<std::string>({"op=rms_norm,dtype=f32,hidden=5", "op=rms_norm,dtype=f32,hidden=8"}));
}

TEST(Shard, IsParsed) {
    const Shard shard = parse_shard("12/345");
    EXPECT_EQ(shard.index, 12);
    EXPECT_EQ(shard.count, 345);
}

class BadShard : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(All, BadShard,
                         testing::Values("", "/", "1", "1/", "/2", "0/2", "3/2", "-1/2", "1/2/3", "1 /2", "a/b",
                                         "1/99999999999999999999"));

TEST_P(BadShard, IsRefused) {
    try {
        parse_shard(GetParam());
        FAIL() << "nothing was thrown";
    } catch (const UserError &error) {
        EXPECT_EQ(error.what(),
                  std::string("shard is '") + GetParam() + "'; allowed: i/n, the i-th of n, from 1/n to n/n");
    }
}

}  // namespace
}  // namespace normforge
