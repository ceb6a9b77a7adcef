// The commands below db, on databases that hold what an earlier version measured.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "autotune/database/database.h"
#include "tests/cli_runner.h"
#include "tests/database_examples.h"
#include "tests/source_files.h"

namespace normforge {
namespace {

using nlohmann::json;
using testing::IsSubstring;

class CliDatabaseTest : public CliTest {
protected:
    CliDatabaseTest() {
        SqliteConnection(folder / "a.db", SqliteConnection::Mode::read_write)
            .execute(read_source("tests/data/tuning_schema_2.sql"));
        Database database = Database::open(folder / "b.db");
        for (const SessionState state : {SessionState::done, SessionState::aborted}) {
            const int64_t session = database.begin_session(example_key(), 1, "quick");
            Trial trial = example_trial(0);
            trial.message = "a \"quoted\", long\nmessage";
            database.add_trial(session, trial);
            database.end_session(session, state, 0.01);
        }
    }

    std::string done(const std::string &line) {
        const Outcome outcome = run(line);
        EXPECT_EQ(outcome.status, 0) << line << ": " << outcome.errors;
        return outcome.output;
    }
};

TEST_F(CliDatabaseTest, ExportOfAnImportIsByteForByteTheExport) {
    for (const std::string file : {"a", "b"}) {
        done("db export {}/" + file + ".db --out {}/" + file + ".json");
        EXPECT_EQ(done("db export {}/" + file + ".db"), folder.read(file + ".json"));
        done("db import {}/" + file + ".json --db {}/new/" + file + ".db");
        EXPECT_EQ(done("db export {}/new/" + file + ".db"), folder.read(file + ".json"));
        EXPECT_EQ(done("db show --json {}/new/" + file + ".db"), done("db show --json {}/" + file + ".db"));
    }
}

TEST_F(CliDatabaseTest, ImportAddsToWhatIsThere) {
    done("db export {}/a.db --out {}/a.json");
    EXPECT_EQ(done("db import {}/a.json --db {}/b.db"), "4 sessions, 4 of them new or more complete\n");
    EXPECT_EQ(done("db import {}/a.json --db {}/b.db"), "4 sessions, 0 of them new or more complete\n");
    EXPECT_EQ(run_json("db show {}/b.db").size(), 6u);
}

TEST_F(CliDatabaseTest, ExportOfWhatIsBestDecidesTheSame) {
    done("db export --best {}/a.db --out {}/best.json");
    done("db import {}/best.json --db {}/best.db");
    EXPECT_EQ(done("db best --json {}/best.db"), done("db best --json {}/a.db"));
    EXPECT_LT(folder.read("best.json").size(), done("db export {}/a.db").size() / 4);
}

TEST_F(CliDatabaseTest, CsvHasALineForEachTrial) {
    const std::string csv = done("db export {}/a.db --format csv");
    EXPECT_EQ(std::ranges::count(csv, '\n'), 113);
    EXPECT_TRUE(csv.starts_with("session,started,state,")) << csv.substr(0, 100);
    const std::string quoted = done("db export {}/b.db --format csv");
    EXPECT_PRED_FORMAT2(IsSubstring, ",\"a \"\"quoted\"\", long\nmessage\",2,", quoted);
    // The middle of 330.1 / 340.2 and 335.3 / 345.7.
    EXPECT_PRED_FORMAT2(IsSubstring, "," + json((330.1 / 340.2 + 335.3 / 345.7) / 2).dump() + ",", quoted);
}

TEST_F(CliDatabaseTest, ImportMergeAndPruneAsJsonTellTheSame) {
    done("db export {}/a.db --out {}/a.json");
    EXPECT_EQ(run_json("db import {}/a.json --db {}/c.db"), json::parse(R"([{"sessions": 4, "changed": 4}])"));
    const json merged = run_json("db merge {}/all.db {}/a.db {}/b.db");
    const json best = run_json("db best {}/all.db");
    ASSERT_EQ(merged.size(), best.size());
    for (size_t index = 0; index < best.size(); index++) {
        for (const char *field : {"op", "hidden", "hardware", "target", "noise", "choices"}) {
            EXPECT_EQ(merged[index][field], best[index][field]) << field;
        }
    }
    const json pruned = run_json("db prune {}/b.db");
    ASSERT_EQ(pruned.size(), 1u);
    EXPECT_EQ(pruned[0]["hidden"], 4096);
    EXPECT_NE(pruned[0]["reason"], "");
    EXPECT_EQ(run_json("db prune {}/b.db"), json::array());
}

TEST_F(CliDatabaseTest, MergeDoesNotDependOnOrderOrRepetition) {
    done("db merge {}/ab.db {}/a.db {}/b.db");
    done("db merge {}/ba.db {}/b.db {}/a.db {}/b.db");
    done("db merge {}/again.db {}/ab.db {}/ba.db {}/a.db");
    const std::string merged = done("db export {}/ab.db");
    EXPECT_EQ(done("db export {}/ba.db"), merged);
    EXPECT_EQ(done("db export {}/again.db"), merged);
    EXPECT_EQ(run_json("db show {}/ab.db").size(), 6u);
    done("db merge {}/alone.db {}/a.db");
    EXPECT_EQ(done("db export {}/alone.db"), done("db export {}/a.db"));
}

TEST_F(CliDatabaseTest, MergeReplacesAFileOnlyIfItIsAmongThem) {
    const std::string before = folder.read("b.db");
    const Outcome outcome = run("db merge {}/b.db {}/a.db");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_PRED_FORMAT2(IsSubstring, "b.db exists already; name it among the files", outcome.errors);
    EXPECT_EQ(folder.read("b.db"), before);
    done("db merge {}/b.db {}/a.db {}/b.db");
    EXPECT_EQ(run_json("db show {}/b.db").size(), 6u);
}

TEST_F(CliDatabaseTest, MergeThatFailsLeavesNothing) {
    folder.write("text.db", "This is no database.");
    EXPECT_EQ(run("db merge {}/new/ab.db {}/a.db {}/text.db").status, 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

TEST_F(CliDatabaseTest, PruneRemovesWhatItSays) {
    const std::string before = folder.read("b.db");
    const std::string best = done("db best --json {}/b.db");
    EXPECT_PRED_FORMAT2(IsSubstring, ": aborted\nwould remove 1 session\n", done("db prune {}/b.db --dry-run"));
    EXPECT_EQ(folder.read("b.db"), before);
    EXPECT_PRED_FORMAT2(IsSubstring, ": aborted\nremoved 1 session\n", done("db prune {}/b.db"));
    EXPECT_EQ(run_json("db show {}/b.db").size(), 1u);
    EXPECT_EQ(done("db best --json {}/b.db"), best);
    EXPECT_EQ(done("db prune {}/b.db"), "removed 0 sessions\n");
}

TEST_F(CliDatabaseTest, ExplainTellsTheStepThatBuildTakes) {
    for (const std::string database : {" {}/a.db", " --db {}/a.db"}) {
        const json explained = run_json("db explain --op rms_norm --hidden 1,8" + database);
        ASSERT_EQ(explained.size(), 2u);
        for (const json &kernel : explained) {
            EXPECT_GE(kernel["steps"].size(), 7u) << "a step may have several entries";
            int taken = 0;
            for (const json &step : kernel["steps"]) {
                taken += step["taken"] == true;
                EXPECT_TRUE(step["taken"] == false || step["step"] == kernel["step"]);
            }
            EXPECT_EQ(taken, 1);
            const std::string built = done("build --op rms_norm --hidden " + kernel["hidden"].dump() +
                                           " --name n --out {}/out --db {}/a.db");
            EXPECT_PRED_FORMAT2(IsSubstring, "  " + kernel["source"].get<std::string>() + "\n", built);
        }
        EXPECT_EQ(explained[1]["step"], "heuristic");
    }
    EXPECT_PRED_FORMAT2(IsSubstring, "  taken    heuristic ", done("db explain --op rms_norm --hidden 8 {}/a.db"));
}

// All that a.db has is of files from before machine code had a hash of its own.
TEST_F(CliDatabaseTest, VerifyTellsWhatIsFreshStaleAndDead) {
    done("tune --op rms_norm --hidden 4 --rows 1 --quiet --db {}/c.db");
    EXPECT_TRUE(done("db verify {}/c.db").starts_with("fresh  op=rms_norm,dtype=f32,hidden=4\n"));
    const auto state_after = [&](const std::string &sql) -> json {
        SqliteConnection(folder / "c.db", SqliteConnection::Mode::read_write).execute(sql);
        const Outcome outcome = run("db verify --json {}/c.db");
        const json verified = json::parse(outcome.output);
        EXPECT_EQ(outcome.status, verified[0]["state"] == "fresh" ? 0 : 1) << outcome.errors;
        return verified[0];
    };
    EXPECT_EQ(state_after("UPDATE artifact SET object_hash = ''")["reason"], "the same code, under other names");
    const json stale = state_after("UPDATE artifact SET code_hash = ''");
    EXPECT_EQ(stale["state"], "stale");
    EXPECT_PRED_FORMAT2(IsSubstring, "other code for sums=", stale["reason"].get<std::string>());
    const json dead = state_after("UPDATE candidate SET knobs = replace(knobs, 'sums=plain', 'sums=none')");
    EXPECT_EQ(dead["state"], "dead");
    EXPECT_PRED_FORMAT2(IsSubstring, "knob sums: 'none' is none of", dead["reason"].get<std::string>());
    EXPECT_PRED_FORMAT2(IsSubstring, "c.db: 0 stale and 1 dead; tune their problems again",
                        run("db verify {}/c.db").errors);
}

TEST_F(CliDatabaseTest, ShowAndBestAreTables) {
    const std::string shown = done("db show {}/b.db");
    EXPECT_TRUE(
        shown.starts_with("started                   state    effort  source    trials  failed  best   problem "))
        << shown;
    EXPECT_EQ(std::ranges::count(shown, '\n'), 3);
    EXPECT_PRED_FORMAT2(IsSubstring, "  ok      2        0.970  vector=16,unroll=0 ",
                        done("db show --trials {}/b.db"));
    EXPECT_PRED_FORMAT2(IsSubstring, "\n  rows  best ", done("db best {}/b.db"));
}

TEST_F(CliDatabaseTest, QuietCommandsDoTheSameAndTellNothing) {
    done("db export {}/a.db --out {}/a.json");
    for (const char *line :
         {"db import {}/a.json --db {}/b.db", "db merge {}/all.db {}/a.db {}/b.db", "db prune {}/b.db --dry-run",
          "db prune {}/b.db", "report {}/b.db --html {}/b.html"}) {
        const Outcome outcome = run(std::string(line) + " --quiet");
        EXPECT_EQ(outcome.status, 0) << line;
        EXPECT_EQ(outcome.output + outcome.errors, "") << line;
    }
    EXPECT_EQ(run_json("db show {}/all.db").size(), 6u);
    EXPECT_EQ(run_json("db show {}/b.db").size(), 4u);
    EXPECT_TRUE(std::filesystem::exists(folder / "b.html"));
    EXPECT_EQ(run_json("db prune {}/all.db --quiet").size(), 2u);
}

TEST_F(CliDatabaseTest, LooksIntoTheDefaultDatabase) {
    environment["NORMFORGE_DB"] = "{}/b.db";
    for (const std::string command : {"db show", "db best", "db verify", "db export", "db prune --dry-run"}) {
        const Outcome named = run(command + " {}/b.db");
        const Outcome standard = run(command);
        EXPECT_EQ(standard.status, named.status) << command;
        EXPECT_EQ(standard.output, named.output);
        EXPECT_NE(standard.output, "");
    }
    done("report --html {}/b.html");
    EXPECT_TRUE(std::filesystem::exists(folder / "b.html"));
}

// On another machine than the one it was tuned on at a lower step, or not at all where that has other vectors.
TEST_F(CliDatabaseTest, ShippedSchedulesAreLookedUp) {
    const json explained = run_json("db explain --op layer_norm --hidden 4096");
    int shipped = 0;
    for (const json &step : explained[0]["steps"]) {
        shipped += step["shipped"] == true;
    }
    EXPECT_GE(shipped, 1) << explained;  // as a default of the architecture, and as tuned on a CPU that has been
    const Outcome built = run("build --op layer_norm --hidden 4096 --name n --out {}/out --untuned");
    EXPECT_PRED_FORMAT2(IsSubstring, "heuristic: no database is used", built.output);
}

}  // namespace
}  // namespace normforge
