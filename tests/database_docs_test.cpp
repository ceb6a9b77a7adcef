// docs/database.md names every table and column, and its questions have answers.

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "autotune/database/database.h"
#include "autotune/database/migrations.h"
#include "tests/source_files.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

class DatabasePage : public testing::Test {
protected:
    DatabasePage() {
        const std::string file = folder_ / "tuning.db";
        connection_.emplace(file, SqliteConnection::Mode::read_write);
        connection_->execute(read_source("tests/data/tuning_schema_2.sql"));
        Database::open(file);
    }

    const std::string page_ = read_source("docs/database.md");
    TemporaryFolder folder_;
    std::optional<SqliteConnection> connection_;
};

TEST_F(DatabasePage, HasALineForEveryTableWithItsColumns) {
    SqliteStatement tables(*connection_, "SELECT name FROM sqlite_schema WHERE type = 'table'");
    while (tables.step()) {
        const std::string table = tables.text(0);
        const size_t line = page_.find("\n| `" + table + "` |");
        ASSERT_NE(line, std::string::npos) << table;
        const std::string text = page_.substr(line, page_.find('\n', line + 1) - line);
        SqliteStatement columns(*connection_, "SELECT name FROM pragma_table_info(?) WHERE name <> 'id'");
        columns.bind(table);
        while (table != "problem" && columns.step()) {
            EXPECT_NE(text.find("`" + columns.text(0) + "`"), std::string::npos)
                << table << "." << columns.text(0);
        }
    }
    EXPECT_NE(page_.find("today " + std::to_string(schema_version()) + "."), std::string::npos);
}

TEST_F(DatabasePage, AsksQuestionsThatHaveAnswers) {
    const std::regex block("```sql\n([^`]*)```");
    int questions = 0;
    for (std::sregex_iterator found(page_.begin(), page_.end(), block), end; found != end; ++found) {
        SqliteStatement question(*connection_, (*found)[1]);
        EXPECT_EQ(question.step(), questions > 0) << (*found)[1];  // the first makes a table
        questions++;
    }
    EXPECT_GT(questions, 4);
}

}  // namespace
}  // namespace normforge
