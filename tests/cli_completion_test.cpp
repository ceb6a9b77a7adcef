// What bash completes, by the script that the program prints.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "runtime/norm_problem.h"
#include "tests/cli_runner.h"

namespace normforge {
namespace {

class CompletionTest : public CliTest {
protected:
    CompletionTest() { folder.write("script", run("completion").output); }

    // What bash offers at the end of the line, in the words that it takes the line apart into.
    std::string offers(const std::string &line) const {
        folder.write("test", "cd " + folder.path().string() + "\nsource ./script\nCOMP_WORDS=(" + line +
                                 ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                 "_normforge\necho \"${COMPREPLY[*]}\" > offers\n");
        EXPECT_EQ(std::system(fmt::format("bash '{}'", (folder / "test").string()).c_str()), 0);
        std::string words = folder.read("offers");
        words.pop_back();  // the line's end
        return words;
    }
};

struct Completion {
    const char *name;
    const char *line;
    const char *offers;
};

class CompletedLineTest : public CompletionTest, public testing::WithParamInterface<Completion> {};

INSTANTIATE_TEST_SUITE_P(
    All, CompletedLineTest,
    testing::Values(Completion{"Command", "normforge tu", "tune"},
                    Completion{"SecondCommand", "normforge db sh", "show"},
                    Completion{"Option", "normforge tune --dty", "--dtype"},
                    Completion{"OptionOfSecondCommand", "normforge db show --js", "--json"},
                    Completion{"Value", "normforge tune --op la", "layer_norm"},
                    Completion{"ValueInList", "normforge build --op layer_norm,r", "layer_norm,rms_norm"},
                    Completion{"ValueBehindEquals", "normforge tune --op = r", "rms_norm"},
                    Completion{"ValueNotBegun", "normforge tune --op =", "layer_norm rms_norm"},
                    Completion{"ValueOfOtherOptions", "normforge tune --op rms_norm --effort qu", "quick"},
                    Completion{"ValueInFrontOfMoreHelp", "normforge inspect --emit a", "asm"},
                    Completion{"NumbersHaveNone", "normforge tune --hidden 1", ""},
                    Completion{"File", "normforge tune --manifest scr", "script"},
                    Completion{"FileAsArgument", "normforge db show scr", "script"},
                    Completion{"NoCommandAnyMore", "normforge tune tun", ""}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(CompletedLineTest, HasTheOffers) {
    EXPECT_EQ(offers(GetParam().line), GetParam().offers);
}

TEST_F(CompletionTest, OffersEveryValueOfEveryField) {
    const NormProblem any{};
    visit_fields(any, [&](std::string field, const auto &value) {
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
            const std::string allowed = std::regex_replace(allowed_values(field), std::regex(","), "");
            std::ranges::replace(field, '_', '-');
            EXPECT_EQ(offers("normforge tune --" + field + " ''"), allowed) << field;
        }
    });
}

}  // namespace
}  // namespace normforge
