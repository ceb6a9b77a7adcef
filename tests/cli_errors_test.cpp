// Mistakes of users: each gives one line that says what was wrong and what is allowed, and leaves no trace.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "autotune/database/database.h"
#include "autotune/database/schema.h"
#include "tests/cli_runner.h"

namespace normforge {
namespace {

using testing::IsSubstring;

struct BadLine {
    const char *name;
    const char *line;
    int status;
    const char *message;
};

constexpr BadLine kBadLines[] = {
    {"HiddenZero", "tune --op rms_norm --hidden 0", 2,
     "--hidden: hidden is '0'; allowed: a whole number from 1 to 33554432"},
    {"HiddenNegative", "build --op rms_norm --hidden -1 --name n --out {}", 2,
     "--hidden: hidden is '-1'; allowed: a whole number from 1 to 33554432"},
    {"HiddenNegativeAfterEquals", "bench --op rms_norm --hidden=-1", 2,
     "--hidden: hidden is '-1'; allowed: a whole number from 1 to 33554432"},
    {"HiddenNoNumber", "inspect --op rms_norm --hidden 8x", 2,
     "--hidden: hidden is '8x'; allowed: a whole number from 1 to 33554432"},
    {"HiddenTooLarge", "tune --op rms_norm --hidden 33554433", 2,
     "--hidden: hidden is '33554433'; allowed: a whole number from 1 to 33554432"},
    {"HiddenBeyondNumbers", "tune --op rms_norm --hidden 99999999999999999999", 2, "is '99999999999999999999'"},
    {"HiddenEmpty", "tune --op rms_norm --hidden ''", 2,
     "--hidden: hidden is ''; allowed: a whole number from 1 to 33554432"},
    {"HiddenEmptyInList", "tune --op rms_norm --hidden 8,,16", 2,
     "--hidden: hidden is ''; allowed: a whole number from 1 to 33554432"},
    {"HiddenSecond", "tune --op rms_norm --hidden 8 --hidden 0", 2,
     "--hidden: hidden is '0'; allowed: a whole number from 1 to 33554432"},
    {"HiddenWithoutValue", "tune --op rms_norm --hidden", 2,
     "--hidden needs a value; see 'normforge tune --help'"},
    {"HiddenMissing", "tune --op rms_norm", 2, "--hidden is required; see 'normforge tune --help'"},
    {"OpMissing", "bench --hidden 8", 2, "--op is required; see 'normforge bench --help'"},
    {"OpUnknown", "tune --op norm --hidden 8", 2, "--op: op is 'norm'; allowed: layer_norm, rms_norm"},
    {"DtypeUnknown", "tune --op rms_norm --hidden 8 --dtype f33", 2,
     "--dtype: dtype is 'f33'; allowed: f32, f16, bf16"},
    {"DtypeNone", "tune --op rms_norm --hidden 8 --dtype none", 2,
     "--dtype: dtype is 'none'; allowed: f32, f16, bf16"},
    {"WeightUnknown", "tune --op rms_norm --hidden 8 --weight f33", 2,
     "--weight: weight is 'f33'; allowed: f32, f16, bf16, none"},
    {"OptionWithDash", "tune --op rms_norm --hidden 8 --weight-offset 2", 2,
     "--weight-offset: weight_offset is '2'; allowed: 0, 1"},
    {"FieldsThatDoNotFit", "tune --op rms_norm --hidden 8 --output i8", 2,
     "op=rms_norm,dtype=f32,output=i8,hidden=8: the scale does not fit the output"},
    {"RowsZero", "tune --op rms_norm --hidden 8 --rows 1,0", 2,
     "--rows: rows is '0'; allowed: a whole number from 1 to 33554432"},
    {"EffortUnknown", "tune --op rms_norm --hidden 8 --effort huge", 2,
     "--effort: 'huge' is none of quick, normal, exhaustive"},
    {"SeedNegative", "tune --op rms_norm --hidden 8 --seed -1", 2,
     "--seed: seed is '-1'; allowed: a whole number from 0 to 9223372036854775807"},
    {"SeedTooLarge", "tune --op rms_norm --hidden 8 --seed 9223372036854775808", 2,
     "--seed: seed is '9223372036854775808'; allowed: a whole number from 0 to 9223372036854775807"},
    {"SeedNoNumber", "tune --op rms_norm --hidden 8 --seed x", 2,
     "--seed: seed is 'x'; allowed: a whole number from 0 to 9223372036854775807"},
    {"ShardBeyond", "tune --op rms_norm --hidden 8 --shard 3/2", 2,
     "--shard: shard is '3/2'; allowed: i/n, the i-th of n, from 1/n to n/n"},
    {"TargetUnknown", "tune --op rms_norm --hidden 8 --target z80", 2,
     "--target: unknown target 'z80'; allowed are host and"},
    {"TargetWithoutSchedules", "inspect --op rms_norm --hidden 8 --target riscv-64-linux", 2,
     "--target: target 'riscv-64-linux' has no"},
    {"TargetWithoutLength", "inspect --op rms_norm --hidden 8 --target arm-64-linux-sve2", 2,
     "--target: target 'arm-64-linux-sve2': sve and sve2 need the length"},
    {"TargetsOfTwoMachines",
     "build --op rms_norm --hidden 8 --untuned --name n --out {}/o --target x86-64-linux,arm-64-linux", 1,
     "library n cannot hold both x86-64-linux and arm-64-linux"},
    {"TargetOfAnotherMachine", "tune --op rms_norm --hidden 8 --db {}/t.db --target arm-64-linux", 1,
     "cannot be tuned here: this CPU lacks neon"},
    {"StaticWithoutCpu", "tune --op rms_norm --hidden 8 --static --db {}/t.db", 2, "--static needs the --cpu"},
    {"CpuWithoutStatic", "tune --op rms_norm --hidden 8 --cpu neoverse-n1 --db {}/t.db", 2,
     "--cpu is for --static"},
    {"DeviceWithoutStatic", "tune --op rms_norm --hidden 8 --device h100 --db {}/t.db", 2,
     "--device is for --static"},
    {"StaticForACpuAndAGpu", "tune --op rms_norm --hidden 8 --static --cpu znver4 --device h100 --db {}/t.db", 2,
     "--cpu excludes --device"},
    {"StaticForAGpuOfACpu", "tune --op rms_norm --hidden 8 --static --device h100 --target host --db {}/t.db", 2,
     "--device: h100 runs no kernels for x86-64-linux"},
    {"StaticForACpuOfAGpu", "tune --op rms_norm --hidden 8 --static --cpu znver4 --target cuda --db {}/t.db", 2,
     "--cpu: znver4 runs no kernels for cuda; give a --device"},
    {"StaticForAGpuOfNothing", "tune --op rms_norm --hidden 8 --portable yes --static --device h100 --db {}/t.db",
     1, "portable kernels are the CPU's"},
    {"LauncherOfAGpu", "tune --op rms_norm --hidden 8 --target cuda --launcher {exe}{args} --db {}/t.db", 2,
     "--launcher: GPUs are measured where normforge runs"},
    {"StaticWithBudget", "tune --op rms_norm --hidden 8 --static --cpu znver4 --budget 1s --db {}/t.db", 2,
     "--static excludes --budget"},
    {"LauncherWithResume", "tune --op rms_norm --hidden 8 --launcher {exe}{args} --resume --db {}/t.db", 2,
     "--launcher excludes --resume"},
    {"CpuWithoutCycles", "inspect --op rms_norm --hidden 8 --emit asm --cpu znver4", 2,
     "--cpu is for --emit cycles"},
    {"CpuUnknown", "tune --op rms_norm --hidden 8 --static --cpu z80 --db {}/t.db", 2,
     "--cpu: the static model has no CPU 'z80'; known are cortex-a72"},
    {"CpuOfAnotherTarget",
     "tune --op rms_norm --hidden 8 --static --cpu neoverse-n1 --target x86-64-linux-avx --db {}/t.db", 1,
     "cannot be ranked for neoverse-n1, which lacks avx"},
    {"RankingOfGradients",
     "tune --op rms_norm --pass backward --saved-statistics yes --hidden 8 --static --cpu znver4 --db {}/t.db", 1,
     "cannot be ranked by the static model of CPUs, which is for forward passes"},
    {"TargetSecond", "build --op rms_norm --hidden 8 --untuned --name n --out {}/o --target host,z80", 2,
     "--target: unknown target 'z80'"},
    {"FlagWithValue", "tune --op rms_norm --hidden 8 --json=1", 2,
     "--json takes no value; see 'normforge tune --help'"},
    {"OptionUnknown", "tune --op rms_norm --hidden 8 --bogus", 2,
     "unknown option '--bogus'; see 'normforge tune --help'"},
    {"OptionMistyped", "tune --op rms_norm --hidden 8 --efort=quick", 2,
     "unknown option '--efort=quick' (did you mean '--effort'?); see 'normforge tune --help'"},
    {"OptionUnknownBeforeRequired", "build --bogus", 2, "unknown option '--bogus'; see 'normforge build --help'"},
    {"OptionUnknownOfProgram", "--bogus", 2, "unknown option '--bogus'; see 'normforge --help'"},
    {"ArgumentUnexpected", "tune --op rms_norm --hidden 8 more", 2,
     "unexpected argument 'more'; see 'normforge tune --help'"},
    {"CommandUnknown", "tone", 2,
     "unknown command 'tone' (did you mean 'tune'?); allowed: tune, build, db, inspect, bench, doctor, report, "
     "schema, completion"},
    {"CommandSecond", "doctor tune", 2, "unexpected argument 'tune'; see 'normforge doctor --help'"},
    {"DbCommandUnknown", "db shaw {}/text", 2,
     "unknown command 'shaw' (did you mean 'show'?); allowed: show, best, verify, explain, export, import, merge, "
     "prune"},
    {"DbFileMissing", "db show", 1, "default.db': there is no such file"},
    {"HelpAsACommand", "help", 2, "completion; see 'normforge --help'"},
    {"NameMissing", "build --op rms_norm --hidden 8 --untuned --out {}", 2, "--name is required"},
    {"OutMissing", "build --op rms_norm --hidden 8 --untuned --name n", 2, "--out is required"},
    {"OutEmpty", "build --op rms_norm --hidden 8 --untuned --name n --out ''", 2,
     "--out: it is empty; allowed: a folder"},
    {"UntunedWithDatabase", "build --op rms_norm --hidden 8 --untuned --name n --out {}/o --db {}/text", 2,
     "excludes"},
    {"KnobUnknown", "inspect --op rms_norm --hidden 8 --knobs colour=red", 2,
     "--knobs: unknown knob 'colour'; known are sums"},
    {"KnobsEmpty", "inspect --op rms_norm --hidden 8 --knobs ''", 2, "--knobs: "},
    {"KnobsWithRows", "inspect --op rms_norm --hidden 8 --knobs vector=4 --rows 2", 2, "--knobs excludes --rows"},
    {"EmitUnknown", "inspect --op rms_norm --hidden 8 --emit c", 2,
     "--emit: 'c' is none of knobs, stmt, asm, cycles, bitcode, ptx"},
    {"PtxOfACpu", "inspect --op rms_norm --hidden 8 --emit ptx --target x86-64-linux", 2,
     "--emit: there is no ptx of kernels for x86-64-linux; allowed is --target cuda"},
    {"AssemblyOfAGpu", "inspect --op rms_norm --hidden 8 --emit asm --target cuda", 2,
     "--emit: there is no asm of kernels for cuda; allowed are knobs, stmt and ptx"},
    {"RankingOfKnobs", "inspect --op rms_norm --hidden 8 --emit ranking --knobs access=4", 2,
     "--emit: ranking is of all schedules and excludes --knobs"},
    {"RankingOfNothing", "inspect --op rms_norm --hidden 8 --portable yes --emit ranking", 1,
     "portable kernels are the CPU's"},
    {"InspectOfACpuWithDevice", "inspect --op rms_norm --hidden 8 --device h100", 2,
     "--device: it is for kernels of the --target cuda"},
    {"BuildOfACpuWithDevice", "build --op rms_norm --hidden 8 --device h100 --name n --out {}/o", 2,
     "--device: it is for kernels of the --target cuda"},
    {"BuildForAnUnknownDevice", "build --op rms_norm --hidden 8 --target cuda --device v100 --name n --out {}/o",
     2, "--device: the static model has no GPU 'v100'; known are a100"},
    {"PtxWithKnobsOfTheCpu", "inspect --op rms_norm --hidden 8 --emit ptx --knobs vector=4", 2,
     "--knobs: unknown knob 'vector'; known are sums, access, warps, rows, place"},
    {"PtxWithKnobsThatDoNotFit",
     "inspect --op rms_norm --hidden 8 --emit ptx --knobs sums=plain,access=4,warps=2,rows=1,place=shared_memory",
     2, "--knobs: warps have more threads"},
    {"InspectRowsNegative", "inspect --op rms_norm --hidden 8 --rows=-4", 2,
     "--rows: rows is '-4'; allowed: a whole number from 1 to 33554432"},
    {"InspectOfTwo", "inspect --op rms_norm --hidden 8,16", 2, "the options name 2 problems; allowed is one"},
    {"TuneTextAsDatabase", "tune --op rms_norm --hidden 8 --db {}/text", 1, "text': file is not a database"},
    {"BenchTextAsDatabase", "bench --op rms_norm --hidden 8 --db {}/text", 1, "text': file is not a database"},
    {"ShowText", "db show {}/text", 1, "text': file is not a database"},
    {"TuneNewerDatabase", "tune --op rms_norm --hidden 8 --db {}/newer.db", 1,
     "newer.db': written by a newer normforge (schema 1000;"},
    {"BuildNewerDatabase", "build --op rms_norm --hidden 8 --name n --out {}/o --db {}/newer.db", 1, "by a newer"},
    {"BestOfNewer", "db best {}/newer.db", 1, "written by a newer normforge"},
    {"ShowMissingDatabase", "db show {}/none.db", 1, "none.db': there is no such file"},
    {"BuildMissingDatabase", "build --op rms_norm --hidden 8 --name n --out {}/o --db {}/none.db", 1,
     "no such file"},
    {"BenchMissingDatabase", "bench --op rms_norm --hidden 8 --db {}/none.db", 1,
     "none.db': there is no such file"},
    {"DatabaseInFile", "tune --op rms_norm --hidden 8 --db {}/text/tuning.db", 1,
     "text/tuning.db': cannot make its folder"},
    {"DatabaseWithoutName", "tune --op rms_norm --hidden 8 --db ''", 1, "needs the name of a file"},
    {"OutInFile", "build --op rms_norm --hidden 8 --untuned --name n --out {}/text/o", 1,
     "text/o/libn.a: Not a directory"},
    {"ShowFolder", "db show {}", 1, "': it is a folder; give the file in it, or a new name"},
    {"ExportForm", "db export {}/text --format xml", 2, "--format: 'xml' is none of json, csv"},
    {"ExportOfText", "db export {}/text --out {}/o.json", 1, "text': file is not a database"},
    {"ExportOfBestAsCsv", "db export {}/text --format csv --best", 2, "--best: it is for --format json"},
    {"ExportInFile", "db export {}/empty.db --out {}/text/o.json", 1, "text/o.json: Not a directory"},
    {"ImportMissing", "db import {}/none.json --db {}/o.db", 1, "cannot read {}/none.json: No such file"},
    {"ImportFolder", "db import {} --db {}/o.db", 1, "cannot read {}: Is a directory"},
    {"ImportText", "db import {}/text --db {}/o.db", 1,
     "tuning export '{}/text': it is no JSON: parse error at line 1, "},
    {"ImportOther", "db import {}/other.json --db {}/o.db", 1, "other.json': 'format' is missing"},
    {"MergeMissing", "db merge {}/o.db {}/none.db", 1, "none.db': there is no such file"},
    {"MergeOfNone", "db merge {}/o.db", 2, "FILE is required; see 'normforge db merge --help'"},
    {"MergeToNone", "db merge '' {}/empty.db", 2, "OUT: it is empty; allowed: the name of a file"},
    {"PruneMissing", "db prune {}/none.db", 1, "none.db': there is no such file"},
    {"ManifestMissing", "tune --manifest {}/none.json", 1, "cannot read {}/none.json: No such file"},
    {"ManifestWithoutName", "build --manifest '' --name n --out {}/o", 1, "cannot read : No such file"},
    {"ManifestOfTune", "tune --manifest {}/other.json --db {}/o.db", 1,
     "{}/other.json:1:1: 'problems' is missing"},
    {"ManifestOfBuild", "build --manifest {}/other.json --untuned --name n --out {}/o", 1, "other.json:1:1: "},
    {"ManifestOfBench", "bench --manifest {}/other.json", 1, "other.json:1:1: 'problems' is missing"},
    {"ManifestOfExplain", "db explain --manifest {}/other.json", 1, "other.json:1:1: 'problems' is missing"},
    {"ManifestWithField", "tune --manifest {}/other.json --op rms_norm", 2, "--op excludes --manifest"},
    {"ManifestWithWrongRows", "tune --manifest {}/other.json --rows 0", 2, "--rows: rows is '0'"},
    {"ManifestOfOneProblem", "inspect --manifest {}/other.json", 2, "unknown option '--manifest'"},
    {"ReportMissing", "report {}/none.db --html {}/o.html", 1, "none.db': there is no such file"},
    {"ReportWithoutHtml", "report {}/empty.db", 2, "--html is required; see 'normforge report --help'"},
    {"ReportToNone", "report {}/empty.db --html ''", 2, "--html: it is empty; allowed: the name of a file"},
    {"ReportInFile", "report {}/empty.db --html {}/text/o.html", 1, "text/o.html: Not a directory"},
    {"LibraryName", "build --op rms_norm --hidden 8 --untuned --name my-norms --out {}/o", 1,
     "'my-norms' cannot name a library; allowed are letters"},
};

class BadLineTest : public CliTest, public testing::WithParamInterface<BadLine> {
protected:
    BadLineTest() {
        folder.write("text", "Not a database, though it is a file that is longer than the header of one would be. "
                             "A header has a hundred bytes.");
        folder.write("other.json", "{}");
        Database::open(folder / "empty.db");
        Database::open(folder / "newer.db");
        SqliteConnection(folder / "newer.db", SqliteConnection::Mode::read_write)
            .execute("PRAGMA user_version = 1000");
    }

    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> files;
        for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path())) {
            const std::string name = std::filesystem::relative(entry.path(), folder.path());
            files[name] = entry.is_regular_file() ? folder.read(name) : "";
        }
        return files;
    }
};

INSTANTIATE_TEST_SUITE_P(All, BadLineTest, testing::ValuesIn(kBadLines),
                         [](const auto &test) { return std::string(test.param.name); });

TEST_P(BadLineTest, GivesOneLineAndLeavesNothing) {
    const std::map<std::string, std::string> before = files();
    const Outcome outcome = run(GetParam().line);
    EXPECT_EQ(outcome.status, GetParam().status);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(outcome.errors.starts_with("normforge: ")) << outcome.errors;
    EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1) << outcome.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, in_folder(GetParam().message), outcome.errors);
    EXPECT_TRUE(files() == before);
}

TEST_F(CliTest, AnErrorWithALineBreakIsStillOneLine) {
    environment["NORMFORGE_DB"] = "/dev/null/a\nb.db";
    EXPECT_PRED_FORMAT2(IsSubstring, "'/dev/null/a b.db': cannot make its folder",
                        run("tune --op rms_norm --hidden 8").errors);
}

struct Incomplete {
    const char *name;
    const char *line;
    const char *usage;
    const char *commands;
};

class IncompleteLineTest : public CliTest, public testing::WithParamInterface<Incomplete> {};

INSTANTIATE_TEST_SUITE_P(
    All, IncompleteLineTest,
    testing::Values(Incomplete{"Program", "", "Usage: normforge COMMAND",
                               "allowed: tune, build, db, inspect, bench, doctor, report, schema, completion"},
                    Incomplete{"Db", "db", "Usage: normforge db COMMAND",
                               "allowed: show, best, verify, explain, export, import, merge, prune"}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(IncompleteLineTest, GivesTheHelpOnStandardError) {
    const Outcome outcome = run(GetParam().line);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(outcome.errors.starts_with(GetParam().usage)) << outcome.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, std::string("normforge: a command is required; ") + GetParam().commands,
                        outcome.errors);
}

// A target that is right but not here: no database comes of it.
TEST_F(CliTest, TuningForAnotherCpuFailsBeforeADatabaseIsMade) {
    const Outcome outcome = run("tune --op rms_norm --hidden 8 --target x86-64-linux-avx512_sapphirerapids");
    if (outcome.status == 0) {
        GTEST_SKIP() << "this CPU has every feature that a target can name";
    }
    EXPECT_EQ(outcome.status, 1);
    EXPECT_PRED_FORMAT2(IsSubstring, "this CPU lacks avx512_sapphirerapids", outcome.errors);
    EXPECT_FALSE(std::filesystem::exists(folder / "default.db"));
}

}  // namespace
}  // namespace normforge
