#include "autotune/base/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace normforge {
namespace {

const std::vector<std::string> kNames = {"hidden", "output", "op", "pass", "normalised", "--json"};

struct Mistyped {
    const char *text;
    const char *nearest;
};

class NearestName : public testing::TestWithParam<Mistyped> {};

INSTANTIATE_TEST_SUITE_P(All, NearestName,
                         testing::Values(Mistyped{"hiden", "hidden"}, Mistyped{"hiddden", "hidden"},
                                         Mistyped{"hiddem", "hidden"}, Mistyped{"ihdden", "hidden"},
                                         Mistyped{"ihddne", "hidden"}, Mistyped{"ihddme", ""},
                                         Mistyped{"normalized", "normalised"}, Mistyped{"po", "op"},
                                         Mistyped{"opp", "op"}, Mistyped{"xy", ""}, Mistyped{"", ""},
                                         Mistyped{"--jsno", "--json"}, Mistyped{"colour", ""}));

TEST_P(NearestName, IsAFewLettersAway) {
    EXPECT_EQ(nearest_name(GetParam().text, kNames), GetParam().nearest);
}

TEST(Suggestion, IsNothingWhereNothingIsNear) {
    EXPECT_EQ(suggestion("hiden", kNames), " (did you mean 'hidden'?)");
    EXPECT_EQ(suggestion("colour", kNames), "");
}

}  // namespace
}  // namespace normforge
