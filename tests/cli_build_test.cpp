// normforge build as a user runs it.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "tests/cli_runner.h"

namespace normforge {
namespace {

using nlohmann::json;
using testing::IsSubstring;

std::set<std::string> names_in(const std::filesystem::path &folder) {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        names.insert(entry.path().filename());
    }
    return names;
}

TEST_F(CliTest, DryRunOfBuildTellsTheSourcesAndWritesNothing) {
    const std::string build = "build --op rms_norm --hidden 4 --untuned --name norms --out {}/out";
    const Outcome dry = run(build + " --dry-run --depfile {}/norms.d");
    EXPECT_EQ(dry.status, 0) << dry.errors;
    EXPECT_EQ(names_in(folder / ""), std::set<std::string>());
    EXPECT_EQ(run(build).output.find(dry.output), 0u) << dry.output;
}

TEST_F(CliTest, BuildPrintsATableForEachTarget) {
    const Outcome dry = run("build --op rms_norm --hidden 4,64 --untuned --target x86-64-linux,cuda --cubins none "
                            "--name norms --out . "
                            "--dry-run");
    const std::string table = "  problem                          expected loss  schedules\n"
                              "  op=rms_norm,dtype=f32,hidden=4   -              heuristic: no database is used\n"
                              "  op=rms_norm,dtype=f32,hidden=64  -              heuristic: no database is used\n";
    EXPECT_EQ(dry.output, "for cuda, as PTX alone:\n" + table + "for x86-64-linux:\n" + table);
}

TEST_F(CliTest, BuildWritesWhatTheLibraryDependsOn) {
    ASSERT_EQ(run("tune --quiet --op rms_norm --hidden 4 --rows 1 --db {}/a$b.db").status, 0);
    const std::string build = "build --op rms_norm --hidden 4 --name norms --out {}/out --depfile {}/norms.d";
    const std::string start = (folder / "out/libnorms.a").string() + ":";
    ASSERT_EQ(run(build + " --db {}/a$b.db").status, 0);
    EXPECT_EQ(folder.read("norms.d"), start + " " + (folder / "a$$b.db").string() + "\n");
    ASSERT_EQ(run(build + " --untuned").status, 0);
    EXPECT_EQ(folder.read("norms.d"), start + "\n");
    std::ofstream(folder / "norms.json") << R"({"problems": [{"op": "rms_norm", "hidden": 4}]})";
    ASSERT_EQ(
        run("build --untuned --manifest {}/norms.json --name norms --out {}/out --depfile {}/norms.d").status, 0);
    EXPECT_EQ(folder.read("norms.d"), start + " " + (folder / "norms.json").string() + "\n");
}

TEST_F(CliTest, BuildTellsTheExpectedLossWithoutTuning) {
    ASSERT_EQ(run("tune --quiet --op rms_norm --hidden 4 --rows 1 --db {}/t.db").status, 0);
    const std::string build =
        "build --db {}/t.db --op rms_norm --hidden 4,1000 --name norms --out {}/out --dry-run";
    const json built = run_json(build);
    EXPECT_EQ(built[0]["expected_loss"], json());
    EXPECT_EQ(built[1]["step"], "heuristic");
    const json &loss = built[1]["expected_loss"];
    EXPECT_GE(loss["problems"], 1);
    EXPECT_GE(loss["worst_ratio"], loss["ratio"]);
    EXPECT_EQ(loss["elsewhere"], false);
    const std::string percent = std::to_string(std::max(0L, std::lround((loss["ratio"].get<double>() - 1) * 100)));
    const std::string table = run(build).output;
    EXPECT_PRED_FORMAT2(IsSubstring, ",hidden=1000  " + percent + " %, at worst ", table);
    EXPECT_TRUE(std::regex_search(table, std::regex(",hidden=4 +tuned: "))) << table;
}

struct Library {
    const char *name;
    const char *options;
    std::set<std::string> files;
    const char *source;
};

class BuildTest : public CliTest, public testing::WithParamInterface<Library> {};

INSTANTIATE_TEST_SUITE_P(
    All, BuildTest,
    testing::Values(Library{"WithoutDatabase", "", {"libnorms.a", "norms.h"}, "heuristic: "},
                    Library{"Untuned", " --untuned", {"libnorms.a", "norms.h"}, "heuristic: "},
                    Library{"Shared", " --untuned --shared", {"libnorms.so", "norms.h"}, "heuristic: "},
                    Library{"TwoTargets",
                            " --untuned --target x86-64-linux-avx2-fma-f16c,x86-64-linux,x86-64-linux",
                            {"libnorms.a", "norms.h"},
                            "for x86-64-linux:\n"}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(BuildTest, WritesALibraryAndItsHeader) {
    const Outcome outcome =
        run(std::string("build --op layer_norm,rms_norm --hidden 8,24 --name norms --out {}/new/out") +
            GetParam().options);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, GetParam().source, outcome.output);
    EXPECT_EQ(names_in(folder / "new/out"), GetParam().files);
    EXPECT_PRED_FORMAT2(IsSubstring, "norms_library(void)", folder.read("new/out/norms.h"));
    EXPECT_FALSE(std::filesystem::exists(folder / "default.db"));
}

// Found for the device that it was ranked for, and for others as a guess.
TEST_F(CliTest, BuildTakesTheSchedulesOfADevice) {
    const std::string problem = " --op rms_norm --hidden 1000 --normalised f16";  // nothing is shipped for it
    const json ranked = run_json("tune --static --device b200 --rows 1,4096 --quiet --db {}/t.db" + problem);
    const std::string knobs = ranked[0]["choices"][0]["knobs"];
    EXPECT_EQ(ranked[0]["source"], "static");
    const std::string build = "build --db {}/t.db --target cuda --name norms --out {}/out --quiet" + problem;
    const json built = run_json(build + " --device b200");
    EXPECT_EQ(built[0]["step"], "tuned");
    EXPECT_PRED_FORMAT2(IsSubstring, "simulated, not measured", std::string(built[0]["source"]));
    EXPECT_PRED_FORMAT2(IsSubstring, knobs, folder.read("out/norms.h"));
    EXPECT_EQ(run_json(build + " --dry-run")[0]["step"], "instruction set");
    EXPECT_EQ(run_json("db explain --db {}/t.db --target cuda --device b200" + problem)[0]["step"], "tuned");
    EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "cycles", run("db best {}/t.db").output);
}

TEST_F(CliTest, BuildTellsAsJsonWhatItWrote) {
    const json built = run_json("build --quiet --op rms_norm --hidden 8,24 --name norms --out {}/out");
    ASSERT_EQ(built.size(), 2u);
    EXPECT_EQ(built[1]["hidden"], 24);
    EXPECT_EQ(built[1]["step"], "heuristic");
    EXPECT_EQ(built[1]["library"], (folder / "out/libnorms.a").string());
}

// With what stands in the assembler's place, and without one.
TEST_F(CliTest, BuildTellsWhatCodeCudaKernelsHave) {
    const std::string build = "build --op rms_norm --hidden 8 --target cuda --name norms --out {}/out";
    folder.write("ptxas", "#!/bin/sh\ncp \"$4\" \"$3\"\n");
    std::filesystem::permissions(folder / "ptxas", std::filesystem::perms::owner_all);
    environment["PTXAS"] = "{}/ptxas";
    EXPECT_PRED_FORMAT2(IsSubstring, "as PTX, and as machine code for compute capability 8.0, 9.0, 10.0:\n",
                        run(build).output);
    EXPECT_PRED_FORMAT2(IsSubstring, "as PTX alone:\n", run(build + " --cubins none").output);
    EXPECT_EQ(run_json(build + " --quiet --cubins 12.0,8.9")[0]["cubins"], (json{"8.9", "12.0"}));
    environment["PTXAS"] = "{}/missing";
    EXPECT_PRED_FORMAT2(IsSubstring, "as PTX alone:\n", run(build).output);
    EXPECT_PRED_FORMAT2(IsSubstring, "machine code for CUDA devices needs ptxas",
                        run(build + " --cubins 9.0").errors);
    EXPECT_PRED_FORMAT2(IsSubstring, "'7.5' is no compute capability", run(build + " --cubins 7.5").errors);
    EXPECT_EQ(run("build --op rms_norm --hidden 8 --untuned --cubins 9.0 --name norms --out {}/out").status, 2);
}

}  // namespace
}  // namespace normforge
