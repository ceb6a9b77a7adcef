// docs/problems.md names every field and operand, and pages quote the examples as they are.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "runtime/operands.h"
#include "tests/source_files.h"

namespace normforge {
namespace {

// A block of C is from the example that was named last.
void expect_quoted_examples(const std::string &page) {
    const std::string text = read_source(page);
    const std::regex mention_or_block("`(examples/\\w+\\.c)`|```c\n([^`]*)```");
    std::string example;
    int blocks = 0;
    for (std::sregex_iterator found(text.begin(), text.end(), mention_or_block), end; found != end; ++found) {
        if ((*found)[1].matched) {
            example = (*found)[1];
            continue;
        }
        const std::string block = (*found)[2];
        EXPECT_NE(read_source(example).find(block), std::string::npos) << example << " lacks\n" << block;
        blocks++;
    }
    EXPECT_GT(blocks, 0) << page;
}

TEST(Pages, QuoteTheExamples) {
    for (const char *page : {"docs/cuda.md", "docs/guide.md", "docs/problems.md"}) {
        expect_quoted_examples(page);
    }
}

TEST(Readme, NamesEveryPage) {
    const std::string readme = read_source("README.md");
    for (const auto &page : std::filesystem::directory_iterator(NORMFORGE_SOURCE "/docs")) {
        if (page.path().extension() == ".md") {
            const std::string link = "(docs/" + page.path().filename().string() + ")";
            EXPECT_NE(readme.find(link), std::string::npos) << link;
        }
    }
}

class ProblemsPage : public testing::Test {
protected:
    const std::string page = read_source("docs/problems.md");
};

TEST_F(ProblemsPage, HasAHeadingForEveryField) {
    NormProblem problem{};
    visit_fields(problem, [&](const std::string &name, auto &) {
        const std::regex heading("\n### (\\w+, )*" + name + "(, \\w+)*\n");
        EXPECT_TRUE(std::regex_search(page, heading)) << name;
    });
}

TEST_F(ProblemsPage, HasALineForEveryOperand) {
    for (const Operand &operand : kOperands) {
        EXPECT_NE(page.find("\n| " + std::string(operand.name) + " | "), std::string::npos) << operand.name;
    }
}

// The one that the tests build.
TEST(CMakePages, QuoteTheConsumer) {
    const std::string consumer = "```cmake\n" + read_source("tests/package/consumer/CMakeLists.txt") + "```\n";
    for (const char *page : {"docs/cmake.md", "docs/guide.md"}) {
        EXPECT_NE(read_source(page).find(consumer), std::string::npos) << page;
    }
}

}  // namespace
}  // namespace normforge
