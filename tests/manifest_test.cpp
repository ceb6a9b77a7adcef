// Manifests: what they mean, where their mistakes are, and that the published schema agrees.

#include "autotune/manifest/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "autotune/manifest/row_counts.h"
#include "runtime/user_error.h"
#include "tests/manifest_examples.h"
#include "tests/source_files.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

class ManifestTest : public testing::TestWithParam<ManifestExample> {};

INSTANTIATE_TEST_SUITE_P(All, ManifestTest, testing::ValuesIn(kManifestExamples),
                         [](const auto &test) { return std::string(test.param.name); });

TEST_P(ManifestTest, GivesItsProblemsOrThePlaceOfItsMistake) {
    std::vector<std::string> problems;
    std::string error;
    try {
        for (const auto &[problem, rows] :
             parse_manifest(GetParam().text, "norms.json", {"1", "512"}, kLeastColdBytes)) {
            problems.push_back(fmt::format("{} rows={}", to_text(problem), fmt::join(rows, ",")));
        }
    } catch (const UserError &thrown) {
        error = thrown.what();
    }
    EXPECT_EQ(problems, GetParam().problems) << error;
    if (*GetParam().error == '\0') {
        EXPECT_EQ(error, "");
    } else {
        EXPECT_TRUE(error.starts_with(std::string("norms.json") + GetParam().error)) << error;
    }
}

TEST(ColdRows, AreMoreThanTheLargestCacheHolds) {
    Hardware machine{};
    EXPECT_EQ(cold_bytes(machine), kLeastColdBytes);
    machine.l2_bytes = int64_t{126} << 20;
    EXPECT_EQ(cold_bytes(machine), int64_t{252} << 20);
    machine.l3_bytes = int64_t{480} << 20;
    EXPECT_EQ(cold_bytes(machine), int64_t{960} << 20);

    const NormProblem problem = default_problem(NF_RMS_NORM, 256);
    EXPECT_EQ(row_counts(problem, {"cold", "8"}, 1 << 20),
              (std::vector<int64_t>{8, (1 << 20) / row_bytes(problem)}));
    EXPECT_EQ(row_counts(problem, {"cold"}, 1), std::vector<int64_t>{1});
}

TEST(ManifestSchema, IsThePublishedOne) {
    EXPECT_EQ(read_source("docs/manifest.schema.json"), manifest_schema());
}

// The schema by someone else's implementation of schemas.
TEST(ManifestSchema, AgreesAboutTheExamples) {
    if (std::system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0) {
        GTEST_SKIP() << "python3-jsonschema is not installed";
    }
    const TemporaryFolder folder;
    folder.write("schema", manifest_schema());
    std::set<std::string> expected;
    for (const ManifestExample &example : kManifestExamples) {
        if (nlohmann::json::accept(example.text)) {
            folder.write(std::string(example.name) + ".json", example.text);
            if (example.fits_schema) {
                expected.insert(example.name);
            }
        }
    }
    folder.write("check.py", "import json, jsonschema, pathlib\n"
                             "schema = json.load(open('schema'))\n"
                             "jsonschema.Draft202012Validator.check_schema(schema)\n"
                             "validator = jsonschema.Draft202012Validator(schema)\n"
                             "fitting = [p.stem for p in sorted(pathlib.Path().glob('*.json'))\n"
                             "           if validator.is_valid(json.loads(p.read_text()))]\n"
                             "pathlib.Path('fitting').write_text('\\n'.join(fitting))\n");
    ASSERT_EQ(std::system(fmt::format("cd '{}' && /usr/bin/python3 check.py", folder.path().string()).c_str()), 0);
    std::set<std::string> fitting;
    std::istringstream lines(folder.read("fitting"));
    for (std::string line; std::getline(lines, line);) {
        fitting.insert(line);
    }
    EXPECT_EQ(fitting, expected);
}

}  // namespace
}  // namespace normforge
