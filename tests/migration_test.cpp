// Files of earlier versions: what they hold stays, in the tables of today.

#include "autotune/database/migrations.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/database_examples.h"
#include "tests/source_files.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

using Mode = SqliteConnection::Mode;
using Rows = std::vector<std::vector<SqliteValue>>;

Rows query(const std::string &file, const std::string &sql, int columns) {
    const SqliteConnection connection(file, Mode::read_only);
    SqliteStatement statement(connection, sql);
    Rows rows;
    while (statement.step()) {
        std::vector<SqliteValue> &row = rows.emplace_back();
        for (int column = 0; column < columns; column++) {
            row.push_back(statement.value(column));
        }
    }
    return rows;
}

// tests/data/tuning_schema_2.sql was written by the normforge that had schema 2: two sessions of one problem, one
// of another, and one that ended early; a trial failed while it was timed.
class MigrationTest : public testing::Test {
protected:
    MigrationTest() { edit(read_source("tests/data/tuning_schema_2.sql")); }

    void edit(const std::string &sql) {
        SqliteConnection connection(file_, Mode::read_write);
        connection.execute("PRAGMA foreign_keys = OFF");
        connection.execute(sql);
    }

    TemporaryFolder folder_;
    const std::string file_ = folder_ / "tuning.db";
};

constexpr int kTrialColumns = 32;
constexpr const char *kTrialFields =
    "signature, model_name, stepping, features, l3_bytes, usable_cores, halide, llvm, normforge, op, "
    "problem.dtype,"
    " problem.hidden, target, seed, effort, started, ended, state, noise_floor, trial.id, rows, knobs, status, "
    "message,"
    " object_hash, output_digest, error_ratio, code_bytes, compile_ms, created, session.id, problem.portable "
    "FROM session JOIN hardware ON hardware.id = hardware JOIN toolchain ON toolchain.id = toolchain"
    " JOIN problem ON problem.id = problem ";
constexpr int kSampleColumns = 6;
constexpr const char *kSamples =
    "SELECT trial, block, position, calls, ns, reference_ns FROM sample ORDER BY 1, 2";

TEST_F(MigrationTest, KeepsEverySessionTrialAndSample) {
    const Rows trials_before =
        query(file_,
              std::string("SELECT ") + kTrialFields +
                  "LEFT JOIN trial ON trial.session = session.id ORDER BY session.id, trial.id",
              kTrialColumns);
    const Rows samples_before = query(file_, kSamples, kSampleColumns);
    ASSERT_EQ(trials_before.size(), 113u);
    ASSERT_EQ(samples_before.size(), 716u);
    Database::open(file_);
    EXPECT_EQ(query(file_,
                    std::string("SELECT ") + kTrialFields +
                        "LEFT JOIN artifact ON artifact.session = session.id"
                        " LEFT JOIN candidate ON candidate.id = artifact.candidate"
                        " LEFT JOIN trial ON trial.artifact = artifact.id ORDER BY session.id, trial.id",
                    kTrialColumns),
              trials_before);
    EXPECT_EQ(query(file_, kSamples, kSampleColumns), samples_before);
    EXPECT_EQ(query(file_, "SELECT integrity_check FROM pragma_integrity_check", 1), Rows{{std::string("ok")}});
    EXPECT_EQ(query(file_, "SELECT * FROM pragma_foreign_key_check", 1), Rows());
}

TEST_F(MigrationTest, KnowsTheReferenceByItsTrialsAndNoGenerator) {
    const std::vector<StoredSession> sessions = Database::open(file_).sessions();
    ASSERT_EQ(sessions.size(), 4u);
    EXPECT_TRUE(sessions[0].reference.starts_with("sums=plain,writing=ascending,")) << sessions[0].reference;
    EXPECT_TRUE(sessions[1].reference.starts_with("sums=two_pass,")) << sessions[1].reference;
    EXPECT_EQ(sessions[2].reference, sessions[0].reference);
    EXPECT_EQ(sessions[3].reference, "") << "it has no trials";
    EXPECT_EQ(sessions[3].state, SessionState::aborted);
    EXPECT_EQ(sessions[0].generator, GeneratorVersion());
    EXPECT_EQ(sessions[0].source, TimeSource::measured);
}

TEST_F(MigrationTest, CopiesOfAFileKeepTheSameSessions) {
    edit("INSERT INTO session SELECT id + 4, hardware, toolchain, problem, target, seed, effort, started, ended, "
         "state,"
         " noise_floor FROM session");  // which differ in nothing but the order
    const std::string copy = folder_ / "copy.db";
    std::filesystem::copy_file(file_, copy);
    std::set<std::string> uuids, uuids_of_copy;
    for (const StoredSession &session : Database::open(file_).sessions()) {
        uuids.insert(session.uuid);
    }
    for (const StoredSession &session : Database::open(copy).sessions()) {
        uuids_of_copy.insert(session.uuid);
    }
    EXPECT_EQ(uuids.size(), 8u);
    EXPECT_EQ(uuids, uuids_of_copy);
}

TEST_F(MigrationTest, ReadingLeavesTheFileAlone) {
    const std::string before = folder_.read("tuning.db");
    {
        const Database database = Database::open_read_only(file_);
        EXPECT_EQ(database.sessions().size(), 4u);
        EXPECT_EQ(database.trials(database.sessions().front().id).size(), 56u);
    }
    EXPECT_EQ(folder_.read("tuning.db"), before);
}

TEST_F(MigrationTest, GivesTheTablesOfANewFile) {
    const std::string fresh = folder_ / "fresh.db";
    Database::open(file_);
    Database::open(fresh);
    const std::string tables = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name";
    EXPECT_EQ(query(file_, tables, 4), query(fresh, tables, 4));
    EXPECT_EQ(query(file_, "PRAGMA user_version", 1), Rows{{schema_version()}});
}

TEST_F(MigrationTest, SessionsGoOnInTheFile) {
    Database database = Database::open(file_);
    const int64_t session = database.begin_session(example_key(), 1, "quick");
    database.add_trial(session, example_trial(1));
    EXPECT_EQ(database.sessions().size(), 5u);
    EXPECT_EQ(database.trials(session).size(), 1u);
}

TEST_F(MigrationTest, ProblemHasAColumnForEachField) {
    std::string expected = "id";
    NormProblem problem{};
    visit_fields(problem, [&](const char *name, auto &) { expected += std::string(",") + name; });
    Database::open(file_);
    const SqliteConnection connection(file_, Mode::read_only);
    EXPECT_EQ(connection.query_text("SELECT group_concat(name) FROM pragma_table_info('problem')"), expected);
}

// The fields that a problem had in version 1, and no others. What else it meant then is what default_problem says.
TEST_F(MigrationTest, ProblemsOfVersion1AreForwardOnesOfF32) {
    std::string sql = "PRAGMA user_version = 1; DROP INDEX problem_fields;";
    NormProblem problem{};
    visit_fields(problem, [&](const std::string &name, auto &) {
        if (name != "op" && name != "dtype" && name != "weight" && name != "bias" && name != "hidden") {
            sql += "ALTER TABLE problem DROP COLUMN " + name + ";";
        }
    });
    edit(sql);
    const std::vector<StoredSession> sessions = Database::open(file_).sessions();
    ASSERT_EQ(sessions.size(), 4u);
    EXPECT_EQ(to_text(sessions[0].problem), "op=rms_norm,dtype=f32,hidden=1");
}

}  // namespace
}  // namespace normforge
