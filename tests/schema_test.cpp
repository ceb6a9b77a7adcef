#include "autotune/database/schema.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <ostream>

#include "autotune/database/file_system.h"
#include "tests/database_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

using Mode = SqliteConnection::Mode;

constexpr const char *kFile = "tuning.db";

class SchemaTest : public testing::Test {
protected:
    void make_database() {
        Database database = Database::open(file_);
        database.add_trial(database.begin_session(example_key(), 1, "quick"), example_trial(1));
    }

    TemporaryFolder folder_;
    const std::string file_ = folder_ / kFile;
};

std::string message_of(const std::function<void()> &action) {
    try {
        action();
    } catch (const DatabaseError &error) {
        return error.what();
    }
    return "no error";
}

struct BadFile {
    const char *name;
    void (*make)(const TemporaryFolder &folder);  // from a good database
    const char *message;
};

void PrintTo(const BadFile &file, std::ostream *out) {
    *out << file.name;
}

class BadFileTest : public SchemaTest, public testing::WithParamInterface<BadFile> {};

TEST_P(BadFileTest, IsRefusedAndLeftAlone) {
    make_database();
    GetParam().make(folder_);
    const std::string before = folder_.read(kFile);
    const std::string expected = "tuning database '" + file_ + "': " + GetParam().message;
    EXPECT_EQ(message_of([&] { Database::open(file_); }), expected);
    EXPECT_EQ(folder_.read(kFile), before);
    EXPECT_EQ(message_of([&] { Database::open_read_only(file_); }), expected);
    EXPECT_EQ(folder_.read(kFile), before);
}

void cut(const TemporaryFolder &folder, size_t bytes) {
    folder.write(kFile, folder.read(kFile).substr(0, bytes));
}

void run_sql(const TemporaryFolder &folder, const char *sql) {
    SqliteConnection connection(folder / kFile, Mode::read_write);
    connection.set_checkpoint_on_close(false);
    connection.execute(sql);
}

constexpr const char *kNewer =
    "written by a newer normforge (schema 99; this one knows up to 2); update normforge or "
    "give another file";
constexpr const char *kForeign = "belongs to another application; give another file";

INSTANTIATE_TEST_SUITE_P(
    All, BadFileTest,
    testing::Values(
        BadFile{"Text", [](const auto &folder) { folder.write(kFile, "op,hidden\nlayer_norm,4096\n"); },
                "file is not a database"},
        BadFile{"CutInTheHeader", [](const auto &folder) { cut(folder, 50); }, "database disk image is malformed"},
        BadFile{"CutInAPage", [](const auto &folder) { cut(folder, 5000); }, "database disk image is malformed"},
        BadFile{"OtherApplication", [](const auto &folder) { run_sql(folder, "PRAGMA application_id = 1"); },
                kForeign},
        BadFile{"NoApplication", [](const auto &folder) { run_sql(folder, "PRAGMA application_id = 0"); },
                kForeign},
        BadFile{"Newer", [](const auto &folder) { run_sql(folder, "PRAGMA user_version = 99"); }, kNewer},
        // As a newer version leaves it that was killed: what makes it newer is in the log only.
        BadFile{"NewerInItsLog",
                [](const auto &folder) { run_sql(folder, "PRAGMA journal_mode = WAL; PRAGMA user_version = 99"); },
                kNewer}),
    [](const auto &file) { return std::string(file.param.name); });

TEST_F(SchemaTest, EmptyFileIsAFreshDatabase) {
    folder_.write(kFile, "");
    EXPECT_EQ(message_of([&] { Database::open_read_only(file_); }),
              "tuning database '" + file_ +
                  "': an older or empty file (schema 0, now 2); tune with it once to bring it up to date");
    EXPECT_EQ(folder_.read(kFile), "");
    make_database();
    EXPECT_EQ(Database::open_read_only(file_).sessions().size(), 1u);
}

TEST_F(SchemaTest, MissingFileIsNotReadAndNotMade) {
    EXPECT_EQ(message_of([&] { Database::open_read_only(file_); }),
              "tuning database '" + file_ + "': there is no such file");
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    EXPECT_THROW(Database::open(""), UserError);
    EXPECT_THROW(Database::open(folder_.path()), DatabaseError);
}

TEST_F(SchemaTest, FileSaysWhatItIs) {
    make_database();
    const SqliteConnection connection(file_, Mode::read_only);
    EXPECT_EQ(connection.query_integer("PRAGMA application_id"), kApplicationId);
    EXPECT_EQ(connection.query_integer("PRAGMA user_version"), schema_version());
    EXPECT_EQ(connection.query_integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main'"
                                       " AND NOT strict AND name NOT LIKE 'sqlite_%'"),
              0);
}

TEST_F(SchemaTest, ProblemHasAColumnForEachField) {
    make_database();
    std::string expected = "id";
    NormProblem problem{};
    visit_fields(problem, [&](const char *name, auto &) { expected += std::string(",") + name; });
    const SqliteConnection connection(file_, Mode::read_only);
    EXPECT_EQ(connection.query_text("SELECT group_concat(name) FROM pragma_table_info('problem')"), expected);
}

// As if bias were a field that came later, and this a file from before.
TEST_F(SchemaTest, OlderFileGetsWhatItLacksAndKeepsItsRows) {
    make_database();
    run_sql(folder_, "PRAGMA user_version = 0; DROP INDEX problem_fields; ALTER TABLE problem DROP COLUMN bias;"
                     "DROP TABLE sample; DROP TABLE trial; DROP TABLE session; DROP TABLE toolchain;"
                     "DROP TABLE hardware");
    EXPECT_EQ(message_of([&] { Database::open_read_only(file_); }),
              "tuning database '" + file_ +
                  "': an older or empty file (schema 0, now 2); tune with it once to bring "
                  "it up to date");
    make_database();
    const SqliteConnection connection(file_, Mode::read_only);
    EXPECT_EQ(connection.query_integer("PRAGMA user_version"), schema_version());
    EXPECT_EQ(connection.query_text("SELECT group_concat(hidden || bias) FROM problem"), "4096f32");
    EXPECT_EQ(Database::open_read_only(file_).sessions().size(), 1u);
}

// The fields that a problem had in version 1, and no others. What else it meant then is what default_problem says.
TEST_F(SchemaTest, ProblemsOfVersion1AreForwardOnesOfF32) {
    make_database();
    std::string sql = "PRAGMA user_version = 1; DROP INDEX problem_fields;";
    NormProblem problem{};
    visit_fields(problem, [&](const std::string &name, auto &) {
        if (name != "op" && name != "dtype" && name != "weight" && name != "bias" && name != "hidden") {
            sql += "ALTER TABLE problem DROP COLUMN " + name + ";";
        }
    });
    run_sql(folder_, sql.c_str());
    const std::vector<StoredSession> sessions = Database::open(file_).sessions();
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_TRUE(same_problem(sessions[0].problem, example_key().problem));
}

TEST_F(SchemaTest, JournalSuitsTheFileSystem) {
    for (const bool on_network : {false, true}) {
        SqliteConnection connection(file_, Mode::read_write);
        open_schema(connection, on_network);
        EXPECT_EQ(connection.query_text("PRAGMA journal_mode"), on_network ? "delete" : "wal");
        EXPECT_EQ(connection.query_integer("PRAGMA synchronous"), on_network ? 2 : 1);
        EXPECT_EQ(connection.query_integer("PRAGMA foreign_keys"), 1);
    }
    EXPECT_TRUE(is_network_file_system(NFS_SUPER_MAGIC));
    EXPECT_FALSE(is_network_file_system(EXT4_SUPER_MAGIC));
    EXPECT_FALSE(is_network_file_system(file_system_type("/proc")));
}

TEST_F(SchemaTest, FileAtRestIsOneFile) {
    make_database();
    const std::string before = folder_.read(kFile);
    EXPECT_EQ(Database::open_read_only(file_).sessions().size(), 1u);
    EXPECT_EQ(folder_.read(kFile), before);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

// In a process of its own, since the permissions of root are not to be had back.
TEST_F(SchemaTest, ReadsInAFolderWithoutWritePermission) {
    make_database();
    chmod(folder_.path().c_str(), 0555);
    chmod(file_.c_str(), 0444);
    const auto read_as_other_user = [&] {
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(2);
        }
        const bool reads = Database::open_read_only(file_).sessions().size() == 1;
        const std::string refusal = message_of([&] { Database::open(file_); });
        _exit(reads && refusal.ends_with("no permission to write the file") ? 0 : 1);
    };
    EXPECT_EXIT(read_as_other_user(), testing::ExitedWithCode(0), "");
    chmod(folder_.path().c_str(), 0755);
}

}  // namespace
}  // namespace normforge
