#include "autotune/database/evidence.h"

#include <gtest/gtest.h>

#include "autotune/database/evidence_json.h"
#include "tests/database_examples.h"
#include "tests/evidence_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

class EvidenceProperties : public testing::TestWithParam<int> {
protected:
    EvidenceProperties() {
        RandomEvidence random(GetParam());
        for (Evidence &each : evidence_) {
            each = random.evidence();
        }
    }

    Evidence evidence_[3];
};

INSTANTIATE_TEST_SUITE_P(Seed, EvidenceProperties, testing::Range(0, 100));

TEST_P(EvidenceProperties, JoinIsCommutativeAssociativeAndIdempotent) {
    const auto &[a, b, c] = evidence_;
    EXPECT_TRUE(join(a, b) == join(b, a));
    EXPECT_TRUE(join(join(a, b), c) == join(a, join(b, c)));
    EXPECT_TRUE(join(a, a) == a);
    EXPECT_TRUE(join(join(a, b), b) == join(a, b));
    EXPECT_TRUE(join(a, {}) == a);
}

TEST_P(EvidenceProperties, JsonComesBackAsItWas) {
    for (const Evidence &each : evidence_) {
        const std::string text = to_json(each);
        const Evidence parsed = from_json(text, "text");
        EXPECT_TRUE(parsed == each) << text;
        EXPECT_EQ(to_json(parsed), text);
    }
}

TEST_P(EvidenceProperties, DatabaseHoldsTheJoinOfWhatWasAdded) {
    const TemporaryFolder folder;
    Database database = Database::open(folder / "tuning.db");
    Evidence expected;
    for (const Evidence &each : evidence_) {
        database.add(each);
        expected = join(expected, each);
        EXPECT_TRUE(database.evidence() == expected);
    }
    EXPECT_EQ(database.add(expected), 0) << "nothing is new";
    EXPECT_TRUE(database.evidence() == expected);
}

// A copy that was taken while a session ran joins with what became of it.
TEST(Evidence, OfASessionAtTwoTimesIsThatOfTheLater) {
    const TemporaryFolder folder;
    Database database = Database::open(folder / "tuning.db");
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    const int64_t trial = database.add_trial(session, example_trial(1));
    const Evidence early = database.evidence();
    database.add_samples(trial, {{.block = 9, .position = 0, .calls = 8, .ns = 1.5, .reference_ns = 2.5}});
    database.add_trial(session, example_trial(2));
    database.fail_trial(trial, TrialStatus::crash, "killed");
    database.end_session(session, SessionState::done, 0.01);
    const Evidence late = database.evidence();
    EXPECT_FALSE(early == late);
    EXPECT_TRUE(join(early, late) == late);
    EXPECT_TRUE(join(late, early) == late);
}

TEST(Evidence, IsAddedWholeOrNotAtAll) {
    const TemporaryFolder folder;
    Database database = Database::open(folder / "tuning.db");
    database.add_trial(database.begin_session(example_key(), 1, "quick"), example_trial(1));
    const Evidence before = database.evidence();
    Evidence more = {{"a", before.begin()->second}, {"b", before.begin()->second}};
    more.at("b").artifacts.begin()->second.trials.begin()->second.samples.front().ns = 0;
    EXPECT_THROW(database.add(more), DatabaseError);
    EXPECT_TRUE(database.evidence() == before);
}

TEST(Evidence, OfRemovedSessionsIsGoneWithAllThatOnlyTheyHad) {
    const TemporaryFolder folder;
    const std::string file = folder / "tuning.db";
    Database database = Database::open(file);
    database.add_trial(database.begin_session(example_key(), 1, "quick"), example_trial(1));
    const Evidence kept = database.evidence();
    SessionKey key = example_key();
    key.problem.hidden = 8;
    key.hardware.stepping = 9;
    key.toolchain.llvm = "24";
    key.generator.space = "2";
    key.reference = example_knobs(3);
    const int64_t session = database.begin_session(key, 1, "quick");
    database.add_trial(session, example_trial(2));
    database.remove({session});
    EXPECT_TRUE(database.evidence() == kept);
    const SqliteConnection connection(file, SqliteConnection::Mode::read_only);
    for (const std::string table :
         {"session", "hardware", "toolchain", "generator", "problem", "artifact", "trial"}) {
        EXPECT_EQ(connection.query_integer("SELECT count(*) FROM " + table), 1) << table;
    }
    EXPECT_EQ(connection.query_integer("SELECT count(*) FROM candidate"), 2) << "the reference and the trial's";
    EXPECT_EQ(connection.query_integer("SELECT count(*) FROM sample"), 2);
}

struct BadText {
    const char *name;
    const char *part;  // of a good text
    const char *replacement;
    const char *message;
};

class BadTextTest : public testing::TestWithParam<BadText> {};

INSTANTIATE_TEST_SUITE_P(
    All, BadTextTest,
    testing::Values(
        BadText{"Syntax",
                "\"toolchain\":", "toolchain:", "text: it is no JSON: parse error at line 5, column 2: "},
        BadText{"Cut", "]}\n", "", "text: it is no JSON: parse error at line "},
        BadText{"OtherFormat", "normforge tuning", "other", "text: format: it is not 'normforge tuning database'"},
        BadText{"Newer", "\"schema\":4", "\"schema\":99",
                "text: schema: it is 99, and this normforge reads 3 to 4"},
        BadText{"Missing", "\"l2_bytes\"", "\"l9_bytes\"", "text: sessions[0].hardware: 'l2_bytes' is missing"},
        BadText{"NoText", "\"halide\":\"21.0.0\"", "\"halide\":21",
                "text: sessions[0].toolchain.halide: it is no text"},
        BadText{"NoNumber", "\"stepping\":1", "\"stepping\":1.5",
                "text: sessions[0].hardware.stepping: it is no whole number of 64 bits"},
        BadText{"Null", "\"seed\":1", "\"seed\":null", "text: sessions[0].seed: it is no whole number"},
        BadText{"Problem", "op=layer_norm", "op=norm", "text: sessions[0].problem: op is 'norm'; allowed"},
        BadText{"State", "\"state\":\"done\"", "\"state\":\"well\"",
                "text: sessions[0].state: 'well' is none of running, done, aborted"},
        BadText{"StateWithoutEnd", "\"state\":\"done\"", "\"state\":\"running\"",
                "text: sessions[0].state: a session has ended where it is not running"},
        BadText{"Status", "\"status\":\"ok\"", "\"status\":\"well\"",
                "text: sessions[0].artifacts[0].trials[0].status: 'well' is none of ok"},
        BadText{"Rows", "\"rows\":2", "\"rows\":0",
                "text: sessions[0].artifacts[0].trials[0].rows: it is not above 0"},
        BadText{"Time", "[0,2,64,", "[0,2,0,", "trials[0].samples[0][2]: it is not above 0"},
        BadText{"ShortSample", "[0,2,64,", "[0,64,", "trials[0].samples[0]: a sample has 5 numbers"},
        BadText{"SameBlock", "[3,1,32,", "[0,1,32,", "trials[0].samples: two are of one block"},
        BadText{"NoHex", "\"message 1\"", "{\"hex\":\"f\"}", "trials[0].message: hex is not made of pairs"}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(BadTextTest, IsRefusedWithThePlaceAndTheReason) {
    const TemporaryFolder folder;
    Database database = Database::open(folder / "tuning.db");
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    database.add_trial(session, example_trial(1));
    database.end_session(session, SessionState::done, 0.01);
    std::string text = to_json(database.evidence());
    const size_t at = text.find(GetParam().part);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, std::string(GetParam().part).size(), GetParam().replacement);
    try {
        from_json(text, "text");
        FAIL() << "accepted";
    } catch (const UserError &error) {
        EXPECT_PRED_FORMAT2(testing::IsSubstring, GetParam().message, error.what());
    }
}

}  // namespace
}  // namespace normforge
