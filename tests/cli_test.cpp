// The program as a user runs it, where nothing goes wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "autotune/database/sqlite.h"
#include "runtime/norm_problem.h"
#include "tests/cli_runner.h"
#include "tests/source_files.h"

namespace normforge {
namespace {

using nlohmann::json;
using testing::IsSubstring;

// Problems of few schedules are tuned in a second.
constexpr const char *kSmall = "--op rms_norm --hidden 4 --rows 1 ";

std::string first_line(const std::string &text) {
    return text.substr(0, text.find('\n'));
}

TEST_F(CliTest, TuneTellsWhatTheDatabaseHolds) {
    const json tuned =
        run_json("tune --op rms_norm --hidden 64 --rows 1 --effort quick --seed 7 --db {}/new/t.db");
    ASSERT_EQ(tuned.size(), 1u);
    EXPECT_EQ(tuned[0]["op"], "rms_norm");
    EXPECT_EQ(tuned[0]["hidden"], 64);
    EXPECT_GT(tuned[0]["seconds"], 0);
    ASSERT_EQ(tuned[0]["choices"].size(), 1u);
    EXPECT_EQ(tuned[0]["choices"][0]["rows"], 1);
    EXPECT_GT(tuned[0]["choices"][0]["ns"], 0);

    const json best = run_json("db best {}/new/t.db");
    ASSERT_EQ(best.size(), 1u);
    for (const char *field : {"op", "dtype", "hidden", "target", "hardware", "noise", "choices"}) {
        EXPECT_EQ(best[0][field], tuned[0][field]) << field;
    }
    const json shown = run_json("db show {}/new/t.db");
    ASSERT_EQ(shown.size(), 1u);
    EXPECT_EQ(shown[0]["state"], "done");
    EXPECT_EQ(shown[0]["seed"], 7);
    EXPECT_EQ(shown[0]["effort"], "quick");
    EXPECT_EQ(shown[0]["trials"].size(), tuned[0]["trials"]["ok"]);
    std::set<std::string> timed;  // equal machine code is timed once
    for (const json &trial : shown[0]["trials"]) {
        if (timed.insert(trial["code_hash"]).second) {
            EXPECT_GE(trial["samples"].size(), 3u) << trial["knobs"];
        } else {
            EXPECT_EQ(trial["samples"].size(), 0u) << trial["knobs"];
        }
    }
}

TEST_F(CliTest, TuneShowsProgressInPlainLinesOnStandardError) {
    const Outcome outcome = run(std::string("tune ") + kSmall);
    EXPECT_EQ(outcome.status, 0);
    for (const char *part : {"hidden=4 (1 of 1)\n", "compiling and checking: 0/", "timing: 0/"}) {
        EXPECT_PRED_FORMAT2(IsSubstring, part, outcome.errors);
    }
    EXPECT_EQ(outcome.errors.find('\x1b'), std::string::npos);
    EXPECT_TRUE(outcome.output.starts_with("op=rms_norm,")) << outcome.output;
    EXPECT_EQ(run(std::string("tune --quiet --json ") + kSmall).errors, "");
}

TEST_F(CliTest, WhatIsTunedIsUsedAndNotTunedAgain) {
    const std::string knobs = run_json(std::string("tune ") + kSmall)[0]["choices"][0]["knobs"];
    const Outcome again = run(std::string("tune --if-missing --json ") + kSmall);
    EXPECT_EQ(json::parse(again.output), json::array());
    EXPECT_PRED_FORMAT2(IsSubstring, "hidden=4: already tuned: ", again.errors);
    EXPECT_EQ(run_json("db show {}/default.db").size(), 1u);

    const Outcome inspected = run(std::string("inspect ") + kSmall);
    EXPECT_EQ(first_line(inspected.output), knobs);
    EXPECT_PRED_FORMAT2(IsSubstring, "# tuned: ", inspected.output);
    EXPECT_PRED_FORMAT2(IsSubstring,
                        "  tuned: ", run("build --op rms_norm --hidden 4 --name norms --out {}/out").output);
    EXPECT_PRED_FORMAT2(IsSubstring, "tuned: ", run_json(std::string("bench ") + kSmall)[0]["source"]);
}

TEST_F(CliTest, WhatIsMissingIsTunedInADatabaseOfAnOlderSchema) {
    SqliteConnection(folder / "default.db", SqliteConnection::Mode::read_write)
        .execute(read_source("tests/data/tuning_schema_2.sql"));
    EXPECT_EQ(run_json("db show {}/default.db").size(), 4u);
    for (const int expected : {1, 0}) {
        const Outcome tuned = run(std::string("tune --if-missing --quiet --json ") + kSmall);
        EXPECT_EQ(tuned.status, 0) << tuned.errors;
        EXPECT_EQ(json::parse(tuned.output).size(), expected);
    }
    EXPECT_EQ(run_json("db show {}/default.db").size(), 5u);
}

TEST_F(CliTest, WhatIsListedTwiceIsTunedOnce) {
    const json tuned = run_json("tune --op rms_norm,rms_norm --op rms_norm --hidden 1,4,1 --rows 1,1");
    ASSERT_EQ(tuned.size(), 2u);
    EXPECT_EQ(tuned[0]["hidden"], 1);
    EXPECT_EQ(tuned[1]["hidden"], 4);
    EXPECT_EQ(tuned[1]["choices"].size(), 1u);
}

TEST_F(CliTest, ManifestIsTunedAndBuilt) {
    folder.write("norms.json", R"({"defaults": {"op": "rms_norm", "rows": [1, 2]},
                                   "problems": [{"hidden": [1, 4]}, {"hidden": 4, "dtype": "bf16"}]})");
    const json tuned = run_json("tune --quiet --rows 3 --manifest {}/norms.json");
    ASSERT_EQ(tuned.size(), 3u);
    EXPECT_EQ(tuned[0]["choices"][1]["rows"], 2);
    EXPECT_EQ(tuned[1]["hidden"], 4);
    EXPECT_EQ(tuned[2]["dtype"], "bf16");
    const Outcome built = run("build --manifest {}/norms.json --name norms --out {}/out");
    EXPECT_EQ(built.status, 0) << built.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, "  op=rms_norm,dtype=bf16,hidden=4  ", built.output);
    EXPECT_EQ(run_json("tune --if-missing --quiet --manifest {}/norms.json"), json::array());
    EXPECT_EQ(run_json("bench --rows 3 --manifest {}/norms.json").size(), 6u);
}

// So many rows that no memory holds them.
constexpr const char *kOneImpossible =
    R"({"defaults": {"op": "rms_norm", "rows": 1},
        "problems": [{"hidden": 33554432, "rows": 33554432}, {"hidden": 4}]})";

TEST_F(CliTest, AProblemThatFailsDoesNotKeepOthersFromBeingTuned) {
    folder.write("norms.json", kOneImpossible);
    const Outcome outcome = run("tune --manifest {}/norms.json");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_PRED_FORMAT2(IsSubstring, "\nnormforge: 1 of 2 problems failed\n", outcome.errors);
    // Columns are as wide as the times in them.
    EXPECT_TRUE(std::regex_search(outcome.output, std::regex("hidden=33554432 +- +- +failed: ")))
        << outcome.output;
    EXPECT_EQ(run_json("db best {}/default.db").size(), 1u);

    const Outcome as_json = run("tune --quiet --json --manifest {}/norms.json");
    EXPECT_EQ(as_json.status, 1);
    const json results = json::parse(as_json.output);
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]["hidden"], 33554432);
    EXPECT_NE(results[0]["failure"], "");
    EXPECT_FALSE(results[1].contains("failure"));
}

TEST_F(CliTest, ShardsTuneEveryProblemOnce) {
    folder.write("norms.json",
                 R"({"problems": [{"op": ["rms_norm", "layer_norm"], "hidden": [1, 2], "rows": 1}]})");
    std::set<std::string> tuned;
    for (const char *shard : {"1/3", "2/3", "3/3"}) {
        for (const json &each : run_json(std::string("tune --quiet --manifest {}/norms.json --shard ") + shard)) {
            EXPECT_TRUE(tuned.insert(each["op"].dump() + each["hidden"].dump()).second) << each;
        }
    }
    EXPECT_EQ(tuned.size(), 4u);
}

TEST_F(CliTest, SchemaOfManifestsIsPrinted) {
    EXPECT_EQ(run("schema").output, read_source("docs/manifest.schema.json"));
}

struct Place {
    const char *name;
    std::map<std::string, std::string> environment;
    const char *option;
    const char *file;
};

class DatabasePlaceTest : public CliTest, public testing::WithParamInterface<Place> {};

INSTANTIATE_TEST_SUITE_P(
    All, DatabasePlaceTest,
    testing::Values(Place{"Option", {{"NORMFORGE_DB", "{}/v.db"}}, " --db {}/o.db", "o.db"},
                    Place{"Variable", {{"NORMFORGE_DB", "{}/v.db"}, {"XDG_DATA_HOME", "{}/xdg"}}, "", "v.db"},
                    Place{
                        "DataHome", {{"XDG_DATA_HOME", "{}/xdg"}, {"HOME", "{}"}}, "", "xdg/normforge/tuning.db"},
                    Place{"Home", {{"HOME", "{}"}}, "", ".local/share/normforge/tuning.db"}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(DatabasePlaceTest, IsWhereTuneWritesAndBuildReads) {
    environment = GetParam().environment;
    EXPECT_EQ(run(std::string("tune ") + kSmall + GetParam().option).status, 0);
    EXPECT_TRUE(std::filesystem::is_regular_file(folder / GetParam().file));
    const Outcome built =
        run(std::string("build --op rms_norm --hidden 4 --name norms --out {}/out") + GetParam().option);
    EXPECT_PRED_FORMAT2(IsSubstring, "  tuned: ", built.output);
}

TEST_F(CliTest, QuietCommandsTellNothing) {
    for (const char *line :
         {"build --op rms_norm --hidden 8 --name norms --out {}/out",
          "bench --json --op rms_norm --hidden 8 --rows 1", "db explain --json --op rms_norm --hidden 8"}) {
        const Outcome outcome = run(std::string(line) + " --quiet");
        EXPECT_EQ(outcome.status, 0);
        EXPECT_EQ(outcome.errors, "") << line;
        EXPECT_TRUE(outcome.output.empty() || outcome.output.starts_with("[")) << outcome.output;
    }
    const Outcome inspected = run("inspect --quiet --op rms_norm --hidden 8");
    EXPECT_EQ(inspected.errors, "");
    EXPECT_TRUE(inspected.output.starts_with("sums=")) << inspected.output;
}

class InspectTest : public CliTest, public testing::WithParamInterface<const char *> {};

INSTANTIATE_TEST_SUITE_P(Form, InspectTest, testing::Values("stmt", "asm", "bitcode"),
                         [](const auto &test) { return std::string(test.param); });

TEST_P(InspectTest, PrintsTheKernelOfTheGivenKnobs) {
    const std::string problem = "inspect --op layer_norm --hidden 64 ";
    const std::string knobs = first_line(run(problem).output);
    const std::string form = std::string(" --emit ") + GetParam();
    const Outcome outcome = run(problem + form);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, "nf_" + symbol_name(default_problem(NF_LAYER_NORM, 64)), outcome.output);
    EXPECT_EQ(run(problem + form + " --knobs " + knobs).output, outcome.output);

    std::string others = knobs;
    others.replace(others.find("unroll=") + std::string("unroll=").size(), 1, "2");
    ASSERT_NE(others, knobs) << "choose another unroll here";
    EXPECT_NE(run(problem + form + " --knobs " + others).output, outcome.output);
}

TEST_F(CliTest, InspectPrintsPtxWithItsKnobs) {
    const std::string command = "inspect --op layer_norm --hidden 4096 --emit ptx";
    const Outcome outcome = run(command + " --untuned");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    const std::string problem = "nf_" + symbol_name(default_problem(NF_LAYER_NORM, 4096));
    EXPECT_PRED_FORMAT2(IsSubstring, ".visible .entry " + problem, outcome.output);
    const std::string knobs = "sums=two_pass,access=16,warps=8,rows=1,place=shared_memory";
    EXPECT_PRED_FORMAT2(IsSubstring, "// " + knobs + "\n", run(command + " --knobs " + knobs).output);
}

TEST_F(CliTest, InspectRanksAGpusSchedules) {
    const Outcome outcome =
        run("inspect --op layer_norm --hidden 4096 --emit ranking --rows 512 --device rtx4090");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, "place=shared_memory (heuristic)\n", outcome.output);
    EXPECT_PRED_FORMAT2(IsSubstring, "# by the static model of rtx4090 at 512 rows, not measured", outcome.output);
    EXPECT_EQ(outcome.output.find("partial sums"), std::string::npos);
    const Outcome backward = run(
        "inspect --op rms_norm --pass backward --saved-statistics yes --hidden 4096 --emit ranking --device h200");
    EXPECT_PRED_FORMAT2(IsSubstring, "us are for adding up partial sums of gradients\n", backward.output);
}

TEST_F(CliTest, BenchNeedsNoDatabase) {
    const Outcome outcome = run("bench --op rms_norm --hidden 64 --rows 1,2 --json");
    EXPECT_PRED_FORMAT2(IsSubstring, "there is no tuning database '" + (folder / "default.db").string() + "' yet",
                        outcome.errors);
    const json timed = json::parse(outcome.output);
    ASSERT_EQ(timed.size(), 2u);
    EXPECT_EQ(timed[1]["rows"], 2);
    for (const char *field : {"ns_per_row", "gb_per_s", "heuristic_ns_per_row", "copy_gb_per_s"}) {
        EXPECT_GT(timed[1][field], 0) << field;
    }
    EXPECT_PRED_FORMAT2(IsSubstring, " GB/s", run("bench --op rms_norm --hidden 64 --rows 1").output);
}

TEST_F(CliTest, DoctorTellsOfTheMachine) {
    std::set<std::string> findings;
    for (const json &finding : run_json("doctor")) {
        findings.insert(finding["what"]);
    }
    for (const char *what : {"version", "machine", "target", "code generation", "database"}) {
        EXPECT_TRUE(findings.contains(what)) << what;
    }
}

TEST_F(CliTest, DoctorFailsWhereTheDatabaseIsNone) {
    folder.write("default.db", "text");
    const Outcome outcome = run("doctor");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_PRED_FORMAT2(IsSubstring, "file is not a database", outcome.output);
    EXPECT_PRED_FORMAT2(IsSubstring, "mended: database", outcome.errors);
}

TEST_F(CliTest, VersionNamesTheCompilers) {
    const std::string version = run("--version").output;
    EXPECT_TRUE(version.starts_with(std::string("normforge ") + nf_version() + " (Halide ")) << version;
    EXPECT_PRED_FORMAT2(IsSubstring, "LLVM ", version);
}

class HelpTest : public CliTest, public testing::WithParamInterface<const char *> {};

INSTANTIATE_TEST_SUITE_P(Command, HelpTest,
                         testing::Values("", "tune", "build", "db", "db show", "db best", "db verify",
                                         "db explain", "db export", "db import", "db merge", "db prune", "inspect",
                                         "bench", "doctor", "report", "schema", "completion"));

TEST_P(HelpTest, FitsATerminal) {
    const Outcome outcome = run(std::string(GetParam()) + " --help");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.errors, "");
    std::istringstream lines(outcome.output);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 80u) << line;
    }
}

TEST_F(CliTest, InspectHelpListsEveryKnob) {
    const std::string help = run("inspect --help").output;
    std::istringstream knobs(first_line(run("inspect --op rms_norm --hidden 64").output));
    int count = 0;
    for (std::string knob; std::getline(knobs, knob, ','); count++) {
        EXPECT_PRED_FORMAT2(IsSubstring, " " + knob.substr(0, knob.find('=') + 1), help);
    }
    EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace normforge
