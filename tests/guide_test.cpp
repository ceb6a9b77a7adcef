// docs/guide.md: all its commands run, in their order, and print what it says, but for numbers, units and what
// "..." is for.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_files.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

struct Command {
    std::string line;
    std::vector<std::string> output;
};

// What stands between ```language and ```.
std::vector<std::string> blocks(const std::string &page, const std::string &language) {
    const std::regex block("\n```" + language + "\n([^`]*|[^`]*`[^`]+`[^`]*)```\n");
    std::vector<std::string> texts;
    for (std::sregex_iterator found(page.begin(), page.end(), block), end; found != end; ++found) {
        texts.push_back((*found)[1]);
    }
    return texts;
}

std::vector<Command> commands(const std::string &page) {
    std::vector<Command> all;
    for (const std::string &block : blocks(page, "console")) {
        std::istringstream lines(block);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("$ ")) {
                all.push_back({line.substr(2), {}});
            } else {
                all.back().output.push_back(line);
            }
        }
    }
    return all;
}

// Expected losses are told where every schedule that they follow from was timed; a disturbed trial makes them a
// dash.
std::string without_losses(const std::string &line) {
    return std::regex_replace(
        line, std::regex(R"(  (-|\d+ %, at worst \d+ % \(\d+ problems?( elsewhere)?\))(?=  ))"), "  LOSS");
}

std::string pattern(const std::string &line) {
    const std::string escaped =
        std::regex_replace(without_losses(line), std::regex(R"([\\^$|?*+(){}\[\]])"), R"(\$&)");
    const std::string any_rest = std::regex_replace(escaped, std::regex(R"(\.\.\.)"), "@");
    const std::string any_number =
        std::regex_replace(any_rest, std::regex(R"(\d+(\.\d+)?( (ns|us|ms|s)\b)?)"), "#");
    const std::string any_gap = std::regex_replace(any_number, std::regex(" +"), " +");
    const std::string rest = std::regex_replace(any_gap, std::regex("@"), ".*");
    return std::regex_replace(rest, std::regex("#"), R"(\d+(\.\d+)?( (ns|us|ms|s)\b)?)");
}

bool is_alike(const std::string &documented, const std::string &printed) {
    return std::regex_match(without_losses(printed), std::regex(pattern(documented)));
}

class Guide : public testing::Test {
protected:
    Guide() {
        const std::filesystem::path program = NORMFORGE_PROGRAM;
        setenv("PATH", (program.parent_path().string() + ":" + std::getenv("PATH")).c_str(), 1);
        setenv("HOME", (folder_ / "home").c_str(), 1);
        setenv("NORMFORGE_LOCK", (folder_ / "lock").c_str(), 1);
        unsetenv("NORMFORGE_DB");
        unsetenv("XDG_DATA_HOME");
        std::filesystem::create_symlink(NORMFORGE_SOURCE "/examples", folder_ / "examples");
    }

    std::vector<std::string> run(const std::string &command) {
        folder_.write("command.sh", "cd " + folder_.path().string() + "\n" + command + "\n");
        const std::string shell =
            "bash -eo pipefail " + (folder_ / "command.sh").string() + " >" + (folder_ / "out").string() + " 2>&1";
        EXPECT_EQ(std::system(shell.c_str()), 0) << command;
        std::vector<std::string> lines;
        std::istringstream text(folder_.read("out"));
        for (std::string line; std::getline(text, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    const TemporaryFolder folder_;
    const std::string page_ = read_source("docs/guide.md");
};

TEST_F(Guide, CommandsPrintWhatItSays) {
    const std::vector<std::string> manifests = blocks(page_, "json");
    ASSERT_EQ(manifests.size(), 1u);
    folder_.write("norms.json", manifests[0]);
    const std::vector<Command> all = commands(page_);
    ASSERT_GT(all.size(), 10u);
    for (const Command &command : all) {
        const std::vector<std::string> printed = run(command.line);
        auto from = printed.begin();
        for (const std::string &expected : command.output) {
            from = std::find_if(from, printed.end(),
                                [&](const std::string &each) { return is_alike(expected, each); });
            if (from == printed.end()) {
                ADD_FAILURE() << "$ " << command.line << "\nprints no line '" << expected << "' there, but\n"
                              << folder_.read("out");
                break;
            }
            ++from;
        }
    }
}

// The masks do not match everything.
TEST(GuideLines, MatchButForNumbersLossesAndWhatIsLeftOut) {
    EXPECT_TRUE(is_alike("  rows=1    3.4 us, 1x  sums=...", "  rows=64  931 ns, 1.2x  sums=plain"));
    EXPECT_FALSE(is_alike("  rows=1    3.4 us, 1x  sums=...", "  rows=64  931 ns, 1.2x  sum=plain"));
    EXPECT_TRUE(is_alike("a (b) [c] x86-64-linux", "a (b) [c] x86-64-linux"));
    EXPECT_FALSE(is_alike("wrote lib/norms.h", "wrote lib/norms.h and more"));
    EXPECT_TRUE(
        is_alike("  hidden=8  2 %, at worst 5 % (1 problem)  heuristic: ...", "  hidden=8  -  heuristic: no"));
    EXPECT_TRUE(is_alike("  hidden=8  -  tuned", "  hidden=8  0 %, at worst 0 % (12 problems elsewhere)  tuned"));
    EXPECT_FALSE(is_alike("  hidden=8  2 %, at worst 5 % (1 problem)  tuned", "  hidden=8  2 %, at worst  tuned"));
}

}  // namespace
}  // namespace normforge
