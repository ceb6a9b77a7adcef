#include "schedules/knobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "runtime/user_error.h"

namespace normforge {
namespace {

// Every combination of legal values.
std::vector<Knobs> all_knobs() {
    std::vector<Knobs> all = {Knobs{}};
    for (const Knob &knob : knob_table()) {
        std::vector<Knobs> extended;
        for (const Knobs &knobs : all) {
            for (const KnobValue &value : knob.values) {
                extended.push_back(knobs);
                extended.back().*knob.member = value.value;
            }
        }
        all = extended;
    }
    return all;
}

std::string item(const Knob &knob, const std::string &value) {
    return std::string(knob.name) + "=" + value;
}

// The items of a legal text, one for each knob of the table.
std::vector<std::string> items() {
    std::vector<std::string> result;
    for (const Knob &knob : knob_table()) {
        result.push_back(item(knob, knob_text(knob, knob.values.back().value)));
    }
    return result;
}

std::string joined(const std::vector<std::string> &items) {
    std::string text;
    for (const std::string &each : items) {
        text += (text.empty() ? "" : ",") + each;
    }
    return text;
}

// The message of the UserError that the text causes; empty if it is legal.
std::string refusal(const std::string &text) {
    try {
        parse_knobs(text);
        return "";
    } catch (const UserError &error) {
        return error.what();
    }
}

TEST(Knobs, TextGivesEveryCombinationAgain) {
    for (const Knobs &knobs : all_knobs()) {
        ASSERT_EQ(parse_knobs(to_text(knobs)), knobs) << to_text(knobs);
    }
}

TEST(Knobs, TextHasEveryKnobInTheTablesOrder) {
    Knobs knobs{};
    for (const Knob &knob : knob_table()) {
        knobs.*knob.member = knob.values.back().value;
    }
    EXPECT_EQ(to_text(knobs), joined(items()));
}

// Databases hold these texts: a renamed knob or value must be a decision, not an accident.
TEST(Knobs, TextIsWhatDatabasesHold) {
    EXPECT_EQ(to_text(Knobs{kRowPivot, kDescending, 16, 4, 2, 0, kStreaming, 8, kShared}),
              "sums=row_pivot,writing=descending,vector=16,accumulators=4,unroll=2,prefetch=0,stores=streaming,"
              "block=8,weights=shared");
}

TEST(Knobs, OrderOfTheItemsDoesNotMatter) {
    std::vector<std::string> shuffled = items();
    const Knobs expected = parse_knobs(joined(shuffled));
    std::mt19937 random(1);
    for (int round = 0; round < 20; round++) {
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        ASSERT_EQ(parse_knobs(joined(shuffled)), expected) << joined(shuffled);
    }
}

TEST(Knobs, EveryMemberBelongsToOneKnob) {
    for (const Knob &knob : knob_table()) {
        EXPECT_EQ(std::ranges::count(knob_table(), knob.member, &Knob::member), 1) << knob.name;
        EXPECT_EQ(std::ranges::count(knob_table(), std::string(knob.name), &Knob::name), 1) << knob.name;
        EXPECT_STRNE(knob.help, "") << knob.name;
    }
    EXPECT_EQ(sizeof(Knobs), kKnobCount * sizeof(int));
}

class EachKnob : public testing::TestWithParam<size_t> {
protected:
    const Knob &knob = knob_table()[GetParam()];
};

// As the text of a database from before the knob: nothing stands for it.
TEST_P(EachKnob, MissingIsAnError) {
    std::vector<std::string> without = items();
    without.erase(without.begin() + GetParam());
    EXPECT_NE(refusal(joined(without)).find(knob.name), std::string::npos) << refusal(joined(without));
}

TEST_P(EachKnob, RepeatedIsAnError) {
    std::vector<std::string> twice = items();
    twice.push_back(twice[GetParam()]);
    EXPECT_NE(refusal(joined(twice)).find(std::string(knob.name) + " is given twice"), std::string::npos)
        << refusal(joined(twice));
}

TEST_P(EachKnob, IllegalValueIsAnErrorThatNamesTheLegalOnes) {
    const std::string legal = knob_text(knob, knob.values.back().value);
    for (const std::string &value : {std::string("sideways"), std::string("-1"), std::string("3"), std::string(""),
                                     legal + " ", "0" + legal}) {
        std::vector<std::string> changed = items();
        changed[GetParam()] = item(knob, value);
        const std::string message = refusal(joined(changed));
        EXPECT_NE(message.find(knob.name), std::string::npos) << message;
        EXPECT_NE(message.find("'" + value + "'"), std::string::npos) << message;
        for (const KnobValue &allowed : knob.values) {
            EXPECT_NE(message.find(knob_text(knob, allowed.value)), std::string::npos) << message;
        }
    }
}

TEST_P(EachKnob, NameWithoutValueIsAnError) {
    std::vector<std::string> changed = items();
    changed[GetParam()] = knob.name;
    EXPECT_NE(refusal(joined(changed)).find(knob.name), std::string::npos) << joined(changed);
}

INSTANTIATE_TEST_SUITE_P(All, EachKnob, testing::Range<size_t>(0, kKnobCount),
                         [](const auto &test) { return std::string(knob_table()[test.param].name); });

TEST(Knobs, UnknownNameIsAnErrorThatNamesTheKnownOnes) {
    std::vector<std::string> more = items();
    more.push_back("colour=8");
    const std::string message = refusal(joined(more));
    EXPECT_NE(message.find("'colour'"), std::string::npos) << message;
    for (const Knob &knob : knob_table()) {
        EXPECT_NE(message.find(knob.name), std::string::npos) << message;
    }
}

TEST(Knobs, MalformedTextIsAnError) {
    const std::string legal = joined(items());
    for (const std::string &text : {std::string(), "," + legal, legal + ",", legal + ",,", legal + ";",
                                    std::string("schedule"), " " + legal}) {
        EXPECT_NE(refusal(text), "") << "'" << text << "'";
    }
}

TEST(Arithmetic, IsOfSumsAndLanesAlone) {
    const Knobs knobs = parse_knobs("sums=row_pivot,writing=ascending,vector=8,accumulators=4,unroll=2,prefetch=0,"
                                    "stores=cached,block=1,weights=per_row");
    EXPECT_EQ(arithmetic_text(knobs), "row_pivot over 32 lanes");
    for (const Knob &knob : knob_table()) {
        Knobs other = knobs;
        other.*knob.member =
            knob.values.front().value == knobs.*knob.member ? knob.values.back().value : knob.values.front().value;
        const bool decides = other.sums != knobs.sums || other.lanes() != knobs.lanes();
        EXPECT_EQ(arithmetic_text(other) != arithmetic_text(knobs), decides) << knob.name;
    }
}

}  // namespace
}  // namespace normforge
