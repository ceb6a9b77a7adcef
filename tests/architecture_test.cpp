// Folders depend one way. CMake's targets say so too, but one include path serves them all, so a header of any
// folder would be found from any other.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace normforge {
namespace {

// What the files of a folder may include beside the folder's own headers.
struct Rule {
    std::string folder;
    std::vector<std::string> folders;
    std::string outside;  // headers from outside the project: a regular expression
};

const std::string kStandard = R"([a-z_]+|stdint\.h|stdio\.h)";
const std::string kSystem = kStandard + R"(|(sys/|linux/)?[a-z]+\.h)";
const std::string kTools = kSystem + "|fmt/.*";

const std::vector<Rule> kRules = {
    // Of the system, what threads and opening a driver need.
    {"runtime",
     {},
     kStandard + R"(|(cpuid|dlfcn|immintrin|pthread|sched|unistd)\.h|linux/futex\.h|sys/(auxv|syscall)\.h)"},
    {"schedules", {"runtime"}, kStandard + R"(|Halide\.h)"},
    {"generators", {"runtime", "schedules"}, kSystem + R"(|Halide(Runtime)?\.h|llvm/.*)"},
    {"autotune/base", {"runtime"}, kTools + "|llvm/.*"},
    {"autotune/measure", {"runtime", "autotune/base"}, kTools + "|llvm/.*"},
    {"autotune/database", {"runtime", "autotune/base"}, kTools + R"(|sqlite3\.h|nlohmann/.*)"},
    {"autotune/manifest", {"runtime", "autotune/base"}, kTools + "|nlohmann/.*"},
    {"autotune/model",
     {"runtime", "schedules", "generators", "autotune/base", "autotune/measure", "autotune/database"},
     kTools + R"(|Halide\.h)"},
    {"autotune/search",
     {"runtime", "schedules", "generators", "autotune/base", "autotune/measure", "autotune/database",
      "autotune/model"},
     kTools + R"(|Halide\.h|nlohmann/.*)"},
    {"autotune/report",
     {"runtime", "autotune/base", "autotune/database", "autotune/search"},
     kTools + "|nlohmann/.*"},
    {"autotune/library", {"runtime", "schedules", "generators", "autotune/base"}, kTools + R"(|Halide\.h)"},
    {"autotune/cli",
     {"runtime", "schedules", "generators", "autotune/base", "autotune/measure", "autotune/database",
      "autotune/manifest", "autotune/model", "autotune/search", "autotune/library", "autotune/report"},
     kTools + R"(|Halide\.h|CLI/.*|nlohmann/.*)"},
    // Built against a generated library and its header alone.
    {"examples", {"runtime"}, kSystem + R"(|\w*norms\w*\.h)"},
    // Against a generated library, what it is measured beside and Halide's own schedules.
    {"bench/peers",
     {"runtime"},
     kSystem + R"(|peer_norms\.h|immintrin\.h|dnnl\.hpp|ggml(-cpu)?\.h|Halide(Runtime)?\.h|(ATen|c10|torch)/.*)"},
    // What runs on a machine with a GPU, and what makes the kernels for it.
    {"bench/gpu",
     {"runtime", "schedules", "generators", "autotune/base", "autotune/measure", "autotune/library"},
     kTools + R"(|nlohmann/.*)"},
    {"bench", {"runtime", "examples"}, kSystem + R"(|bench_norms\.h|benchmark/.*|dnnl\.hpp|nlohmann/.*)"},
    {"tests",
     {"runtime", "schedules", "generators", "autotune/base", "autotune/measure", "autotune/database",
      "autotune/manifest", "autotune/model", "autotune/search", "autotune/library", "autotune/report",
      "autotune/cli", "bench/gpu", "examples"},
     ".*"},
};

bool is_in(const std::string &path, const std::string &folder) {
    return path.starts_with(folder + "/");
}

bool is_source(const std::filesystem::path &path) {
    const std::string extension = path.extension();
    return extension == ".h" || extension == ".cpp" || extension == ".c";
}

// Paths below the root, with slashes, sorted; build folders and hidden ones left out.
std::vector<std::string> source_files(const std::filesystem::path &root) {
    std::vector<std::string> files;
    for (auto entry = std::filesystem::recursive_directory_iterator(root);
         entry != std::filesystem::recursive_directory_iterator(); ++entry) {
        const std::string name = entry->path().filename();
        if (name.starts_with('.') || (entry.depth() == 0 && name.starts_with("build"))) {
            entry.disable_recursion_pending();
        } else if (is_source(entry->path())) {
            files.push_back(entry->path().lexically_relative(root).generic_string());
        }
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> includes_of(const std::filesystem::path &file) {
    static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<std::string> names;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_search(line, match, kInclude)) {
            names.push_back(match[1]);
        }
    }
    return names;
}

// Whether the header is in one of the project's folders, or would be: none from outside begins like them.
bool is_of_project(const std::string &name) {
    const std::string top = name.substr(0, name.find('/') + 1);
    return !top.empty() &&
           std::ranges::any_of(kRules, [&](const Rule &rule) { return (rule.folder + "/").starts_with(top); });
}

bool allows(const Rule &rule, const std::string &name) {
    if (!is_of_project(name)) {
        return std::regex_match(name, std::regex(rule.outside));
    }
    return is_in(name, rule.folder) ||
           std::ranges::any_of(rule.folders, [&](const std::string &folder) { return is_in(name, folder); });
}

// One line for each include that breaks a rule and for each file in a folder that has none.
std::vector<std::string> violations(const std::filesystem::path &root) {
    std::vector<std::string> result;
    for (const std::string &file : source_files(root)) {
        const auto rule = std::ranges::find_if(kRules, [&](const Rule &each) { return is_in(file, each.folder); });
        if (rule == kRules.end()) {
            result.push_back(file + " lies in a folder without a rule");
            continue;
        }
        for (const std::string &name : includes_of(root / file)) {
            const bool beside = exists((root / file).parent_path() / name);
            if (!beside && !allows(*rule, name)) {
                result.push_back(file + " includes " + name);
            }
        }
    }
    return result;
}

TEST(Architecture, EveryIncludeIsAllowed) {
    ASSERT_GT(source_files(NORMFORGE_SOURCE).size(), 100u);
    EXPECT_EQ(violations(NORMFORGE_SOURCE), std::vector<std::string>());
}

struct Planted {
    const char *name;
    const char *file;
    const char *line;
    std::optional<std::string> violation;
};

class PlantedInclude : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInclude, IsFoundWhereItBreaksARule) {
    const TemporaryFolder folder;
    folder.write(GetParam().file, std::string("#pragma once\n") + GetParam().line + "\nint value;\n");
    std::vector<std::string> expected;
    if (GetParam().violation) {
        expected.push_back(GetParam().file + (" " + *GetParam().violation));
    }
    EXPECT_EQ(violations(folder.path()), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedInclude,
    testing::Values(
        Planted{"own_folder", "runtime/a.h", "#include \"runtime/b.h\"", {}},
        Planted{"standard", "runtime/a.cpp", "#include <type_traits>", {}},
        Planted{"cpuid", "runtime/a.cpp", "#include <cpuid.h>", {}},
        Planted{"runtime_upwards", "runtime/a.cpp", "#include \"schedules/b.h\"", "includes schedules/b.h"},
        Planted{"runtime_to_deep_folder", "runtime/a.cpp", "#include \"autotune/base/b.h\"",
                "includes autotune/base/b.h"},
        Planted{"runtime_to_halide", "runtime/a.h", "#include \"Halide.h\"", "includes Halide.h"},
        Planted{"runtime_to_llvm", "runtime/a.h", "#include \"llvm/IR/Module.h\"", "includes llvm/IR/Module.h"},
        Planted{"runtime_to_sqlite", "runtime/a.c", "#  include <sqlite3.h>", "includes sqlite3.h"},
        Planted{"runtime_to_fmt", "runtime/a.cpp", "#include <fmt/format.h>", "includes fmt/format.h"},
        Planted{"threads", "runtime/a.cpp", "#include <pthread.h>", {}},
        Planted{"runtime_to_system", "runtime/a.cpp", "#include <poll.h>", "includes poll.h"},
        Planted{"schedules_upwards", "schedules/a.cpp", "#include \"generators/b.h\"", "includes generators/b.h"},
        Planted{"schedules_to_llvm", "schedules/a.cpp", "#include \"llvm/IR/Module.h\"",
                "includes llvm/IR/Module.h"},
        Planted{"generators_downwards", "generators/a.cpp", "#include \"schedules/b.h\"", {}},
        Planted{"generators_upwards", "generators/a.cpp", "#include \"autotune/base/b.h\"",
                "includes autotune/base/b.h"},
        Planted{"base_upwards", "autotune/base/a.h", "#include \"autotune/measure/b.h\"",
                "includes autotune/measure/b.h"},
        Planted{"measure_to_database", "autotune/measure/a.h", "#include \"autotune/database/b.h\"",
                "includes autotune/database/b.h"},
        Planted{"search_to_library", "autotune/search/a.h", "#include \"autotune/library/b.h\"",
                "includes autotune/library/b.h"},
        Planted{"library_to_cli", "autotune/library/a.h", "#include \"autotune/cli/b.h\"",
                "includes autotune/cli/b.h"},
        Planted{"cli_downwards", "autotune/cli/a.cpp", "#include \"autotune/search/b.h\"", {}},
        Planted{"sqlite_outside_the_database", "autotune/search/a.cpp", "#include <sqlite3.h>",
                "includes sqlite3.h"},
        Planted{"product_to_tests", "autotune/cli/a.cpp", "#include \"tests/b.h\"", "includes tests/b.h"},
        Planted{"product_to_bench", "autotune/cli/a.cpp", "#include \"bench/b.h\"", "includes bench/b.h"},
        Planted{"tests_to_bench", "tests/a.cpp", "#include \"bench/b.h\"", "includes bench/b.h"},
        Planted{"new_folder", "helpers/a.cpp", "", "lies in a folder without a rule"},
        Planted{"autotune_itself", "autotune/a.cpp", "", "lies in a folder without a rule"}),
    [](const auto &test) { return std::string(test.param.name); });

}  // namespace
}  // namespace normforge
