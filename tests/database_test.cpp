#include "autotune/database/database.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/database_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

using namespace std::string_literals;

void expect_equal(const Trial &actual, const Trial &expected) {
    EXPECT_EQ(actual.knobs, expected.knobs);
    EXPECT_EQ(actual.rows, expected.rows);
    EXPECT_EQ(actual.status, expected.status);
    EXPECT_EQ(actual.message, expected.message);
    EXPECT_EQ(actual.object_hash, expected.object_hash);
    EXPECT_EQ(actual.code_hash, expected.code_hash);
    EXPECT_EQ(actual.output_digest, expected.output_digest);
    EXPECT_EQ(actual.error_ratio, expected.error_ratio);
    EXPECT_EQ(actual.code_bytes, expected.code_bytes);
    EXPECT_EQ(actual.compile_ms, expected.compile_ms);
    ASSERT_EQ(actual.samples.size(), expected.samples.size());
    for (size_t i = 0; i < expected.samples.size(); ++i) {
        EXPECT_EQ(actual.samples[i].block, expected.samples[i].block);
        EXPECT_EQ(actual.samples[i].position, expected.samples[i].position);
        EXPECT_EQ(actual.samples[i].calls, expected.samples[i].calls);
        EXPECT_EQ(actual.samples[i].ns, expected.samples[i].ns);
        EXPECT_EQ(actual.samples[i].reference_ns, expected.samples[i].reference_ns);
    }
}

class DatabaseTest : public testing::Test {
protected:
    TemporaryFolder folder_;
    const std::string file_ = folder_ / "made/on/demand/tuning.db";
};

TEST_F(DatabaseTest, SessionComesBackFromTheFile) {
    SessionKey key = example_key();
    key.problem = parse_problem(
        "op=rms_norm,pass=backward,dtype=bf16,output=f32,weight=none,bias=f32,epsilon_place=on_deviation,"
        "normalised=bf16,residual=f16,sum=f16,statistics=f16,saved_statistics=yes,portable=yes,hidden=4095");
    key.source = TimeSource::simulated;
    const int64_t seed = std::numeric_limits<int64_t>::min();
    int64_t id;
    {
        Database database = Database::open(file_);
        id = database.begin_session(key, seed, "quick");
        const StoredSession running = database.sessions().at(0);
        EXPECT_EQ(running.state, SessionState::running);
        EXPECT_EQ(running.ended, "");
        EXPECT_FALSE(running.noise_floor);
        database.end_session(id, SessionState::done, 0.0125);
    }
    const auto sessions = Database::open_read_only(file_).sessions();
    ASSERT_EQ(sessions.size(), 1u);
    const StoredSession &session = sessions[0];
    EXPECT_EQ(session.id, id);
    EXPECT_EQ(to_text(session.problem), to_text(key.problem));
    EXPECT_EQ(session.hardware_signature, signature(key.hardware));
    EXPECT_EQ(session.hardware, key.hardware);
    EXPECT_EQ(session.toolchain, key.toolchain);
    EXPECT_EQ(session.generator, key.generator);
    EXPECT_EQ(session.reference, key.reference);
    EXPECT_EQ(session.uuid.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(session.uuid.size(), 32u);
    EXPECT_EQ(session.target, key.target);
    EXPECT_EQ(session.source, TimeSource::simulated);
    EXPECT_EQ(session.seed, seed);
    EXPECT_EQ(session.effort, "quick");
    EXPECT_EQ(session.state, SessionState::done);
    EXPECT_EQ(session.noise_floor, 0.0125);
    EXPECT_TRUE(session.started.starts_with("20") && session.started.ends_with("Z")) << session.started;
    EXPECT_LE(session.started, session.ended);
}

TEST_F(DatabaseTest, TrialsComeBackOldestFirst) {
    int64_t id;
    {
        Database database = Database::open(file_);
        id = database.begin_session(example_key(), 1, "quick");
        const int64_t other = database.begin_session(example_key(), 2, "quick");
        for (int number : {5, 3, 4}) {
            database.add_trial(id, example_trial(number));
            database.add_trial(other, example_trial(number + 10));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));  // times are stored in milliseconds
        }
    }
    const std::vector<Trial> trials = Database::open_read_only(file_).trials(id);
    ASSERT_EQ(trials.size(), 3u);
    expect_equal(trials[0], example_trial(5));
    expect_equal(trials[1], example_trial(3));
    expect_equal(trials[2], example_trial(4));
}

TEST_F(DatabaseTest, OneCompileServesTrialsOfAllRows) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial trial = example_trial(1);
    database.add_trial(session, trial);
    trial.rows = 100;
    database.add_trial(session, trial);
    const SqliteConnection connection(file_, SqliteConnection::Mode::read_only);
    EXPECT_EQ(connection.query_integer("SELECT count(*) FROM artifact"), 1);
    EXPECT_EQ(database.trials(session).size(), 2u);
    EXPECT_THROW(database.add_trial(session, trial), DatabaseError) << "the same knobs and rows";
    trial.rows = 101;
    trial.object_hash = "other";
    EXPECT_THROW(database.add_trial(session, trial), DatabaseError) << "the same knobs, another object";
}

TEST_F(DatabaseTest, SamplesAreAddedToTheirTrial) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial expected = example_trial(1);
    const int64_t trial = database.add_trial(session, expected);
    database.add_trial(session, example_trial(2));
    const std::vector<Sample> more = {{.block = 7, .position = 0, .calls = 8, .ns = 1.5, .reference_ns = 2.5},
                                      {.block = 9, .position = 4, .calls = 9, .ns = 3.5, .reference_ns = 4.5}};
    database.add_samples(trial, more);
    expected.samples.insert(expected.samples.end(), more.begin(), more.end());
    const std::vector<Trial> trials = database.trials(session);
    expect_equal(trials.at(0), expected);
    expect_equal(trials.at(1), example_trial(2));
}

TEST_F(DatabaseTest, StoredTrialMayFailLater) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial expected = example_trial(1);
    const int64_t trial = database.add_trial(session, expected);
    database.add_trial(session, example_trial(2));
    database.fail_trial(trial, TrialStatus::crash, "killed by SIGSEGV");
    EXPECT_THROW(database.fail_trial(trial + 2, TrialStatus::crash, ""), DatabaseError);
    expected.status = TrialStatus::crash;
    expected.message = "killed by SIGSEGV";
    const std::vector<Trial> trials = database.trials(session);
    expect_equal(trials.at(0), expected);
    expect_equal(trials.at(1), example_trial(2));
}

class StatusTest : public DatabaseTest, public testing::WithParamInterface<NamedValue<TrialStatus>> {};

TEST_P(StatusTest, IsStoredByName) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial trial = example_trial(1);
    trial.status = GetParam().value;
    database.add_trial(session, trial);
    EXPECT_EQ(database.trials(session).at(0).status, GetParam().value);
    const SqliteConnection connection(file_, SqliteConnection::Mode::read_only);
    EXPECT_EQ(connection.query_text("SELECT status FROM trial"), GetParam().name);
    EXPECT_EQ(name_of(kTrialStatuses, value_named(kTrialStatuses, GetParam().name)), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, StatusTest, testing::ValuesIn(kTrialStatuses),
                         [](const auto &status) { return std::string(status.param.name); });

TEST(EnumText, UnknownNameIsRefusedWithTheKnownOnes) {
    try {
        value_named(kTrialStatuses, "perfect");
        FAIL() << "accepted";
    } catch (const UserError &error) {
        EXPECT_STREQ(error.what(), "'perfect' is none of ok, compile_error, crash, timeout, wrong");
    }
}

TEST_F(DatabaseTest, TextsAreKeptByteByByte) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial trial = example_trial(1);
    trial.message = "it's \"wrong\"; DROP TABLE trial; -- \n\0 \xc3\xa9 \xff"s;
    trial.object_hash = "";
    database.add_trial(session, trial);
    expect_equal(database.trials(session).at(0), trial);
}

TEST_F(DatabaseTest, ErrorRatioMayBeNoNumber) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial trial = example_trial(1);
    for (double ratio : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        trial.error_ratio = ratio;
        trial.rows++;
        database.add_trial(session, trial);
    }
    const std::vector<Trial> trials = database.trials(session);
    EXPECT_TRUE(std::isnan(trials.at(0).error_ratio));
    EXPECT_TRUE(std::isinf(trials.at(1).error_ratio));
}

TEST_F(DatabaseTest, RefusedTrialLeavesNothingBehind) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    Trial trial = example_trial(1);
    trial.samples[1].ns = 0;  // the clock cannot have seen it
    EXPECT_THROW(database.add_trial(session, trial), DatabaseError);
    trial.samples[1] = {.block = 0, .position = 5, .calls = 6, .ns = 7, .reference_ns = 8};  // a second of block 0
    EXPECT_THROW(database.add_trial(session, trial), DatabaseError);
    EXPECT_TRUE(database.trials(session).empty());
    EXPECT_THROW(database.add_trial(session + 1, example_trial(1)), DatabaseError);
    EXPECT_THROW(database.add_samples(1, example_trial(1).samples), DatabaseError);
    EXPECT_NO_THROW(database.add_trial(session, example_trial(1)));
}

TEST_F(DatabaseTest, SessionEndsOnce) {
    Database database = Database::open(file_);
    const int64_t id = database.begin_session(example_key(), 1, "quick");
    database.end_session(id, SessionState::aborted, std::nullopt);
    EXPECT_EQ(database.sessions().at(0).state, SessionState::aborted);
    EXPECT_FALSE(database.sessions().at(0).noise_floor);
    EXPECT_THROW(database.end_session(id, SessionState::done, 0.01), DatabaseError);
    EXPECT_THROW(database.end_session(id + 1, SessionState::done, 0.01), DatabaseError);
}

TEST_F(DatabaseTest, EqualFactsAreStoredOnce) {
    {
        Database database = Database::open(file_);
        SessionKey key = example_key();
        database.begin_session(key, 1, "quick");
        database.begin_session(key, 1, "quick");
        key.hardware.usable_cores = 1;
        key.problem.hidden = 384;
        key.toolchain.llvm = "24.0.0";
        key.generator.space = "space 2";
        database.begin_session(key, 1, "quick");
    }
    const SqliteConnection connection(file_, SqliteConnection::Mode::read_only);
    for (const std::string table : {"hardware", "problem", "toolchain", "generator"}) {
        EXPECT_EQ(connection.query_integer("SELECT count(*) FROM " + table), 2) << table;
    }
}

}  // namespace
}  // namespace normforge
