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
    "written by a newer normforge (schema 99; this one knows up to 4); update normforge or "
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
    EXPECT_TRUE(Database::open_read_only(file_).sessions().empty());
    EXPECT_EQ(folder_.read(kFile), "");
    make_database();
    EXPECT_EQ(Database::open_read_only(file_).sessions().size(), 1u);
}

TEST_F(SchemaTest, FolderIsRefusedAsOne) {
    const std::string expected =
        "tuning database '" + folder_.path().string() + "': it is a folder; give the file in it, or a new name";
    EXPECT_EQ(message_of([&] { Database::open(folder_.path()); }), expected);
    EXPECT_EQ(message_of([&] { Database::open_read_only(folder_.path()); }), expected);
}

TEST_F(SchemaTest, MissingFileIsNotReadAndNotMade) {
    EXPECT_EQ(message_of([&] { Database::open_read_only(file_); }),
              "tuning database '" + file_ + "': there is no such file");
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    EXPECT_THROW(Database::open(""), UserError);
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

// Whether a user without permission to write the file or its folder can do the action, in a process of its own,
// since the permissions of root are not to be had back.
void expect_of_reader(const TemporaryFolder &folder, const std::function<bool()> &action) {
    chmod(folder.path().c_str(), 0555);
    for (const auto &entry : std::filesystem::directory_iterator(folder.path())) {
        chmod(entry.path().c_str(), 0444);
    }
    const auto act_as_other_user = [&] {
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(2);
        }
        _exit(action() ? 0 : 1);
    };
    EXPECT_EXIT(act_as_other_user(), testing::ExitedWithCode(0), "");
    chmod(folder.path().c_str(), 0755);
}

TEST_F(SchemaTest, ReadsInAFolderWithoutWritePermission) {
    make_database();
    expect_of_reader(folder_, [&] {
        const std::string refusal = message_of([&] { Database::open(file_); });
        return Database::open_read_only(file_).sessions().size() == 1 &&
               refusal.ends_with("no permission to write the file");
    });
}

// As a program may leave it that was shipped with its file: SQLite alone says "unable to open database file".
TEST_F(SchemaTest, ReadsAFileThatWantsALogWhereNoneCanBeMade) {
    const std::string odd = folder_ / "a?b#c%20.db";
    make_database();
    SqliteConnection(file_, Mode::read_write).execute("PRAGMA journal_mode = WAL");
    std::filesystem::rename(file_, odd);
    const std::string before = folder_.read("a?b#c%20.db");
    expect_of_reader(folder_, [&] { return Database::open_read_only(odd).sessions().size() == 1; });
    EXPECT_EQ(folder_.read("a?b#c%20.db"), before);
}

TEST_F(SchemaTest, FileIsImmutableOnlyAtRest) {
    make_database();
    folder_.write("logged.db", "");
    folder_.write("logged.db-wal", "log");
    folder_.write("journaled.db", "");
    folder_.write("journaled.db-journal", "journal");
    EXPECT_FALSE(is_immutable(file_)) << "it may be written";
    expect_of_reader(folder_, [&] {
        return is_immutable(file_) && !is_immutable(folder_ / "logged.db") &&
               !is_immutable(folder_ / "journaled.db");
    });
}

}  // namespace
}  // namespace normforge
