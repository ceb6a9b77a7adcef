#include "autotune/base/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

namespace normforge {
namespace {

using Mode = Progress::Mode;

// Where standard error goes for the time of a test: what is written to one end is read from the other.
struct Ends {
    int reading;
    int writing;
};

Ends open_pipe() {
    int ends[2];
    return pipe(ends) == 0 ? Ends{ends[0], ends[1]} : Ends{-1, -1};
}

Ends open_terminal() {
    Ends ends{-1, -1};
    openpty(&ends.reading, &ends.writing, nullptr, nullptr, nullptr);
    return ends;
}

std::string written(const Ends &ends, const std::function<void()> &work) {
    const int standard_error = dup(STDERR_FILENO);
    dup2(ends.writing, STDERR_FILENO);
    close(ends.writing);
    work();
    std::fflush(stderr);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    std::string text;
    char bytes[4096];
    for (ssize_t got; (got = read(ends.reading, bytes, sizeof bytes)) > 0;) {
        text.append(bytes, static_cast<size_t>(got));
    }
    close(ends.reading);
    return text;
}

// Longer than a terminal is left without news.
void wait_for_next_show() {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
}

TEST(Progress, IsPlainLinesInAPipe) {
    const std::string text = written(open_pipe(), [] {
        Progress progress(Mode::automatic);
        progress.stage("compiling", 3);
        progress.advance();
        progress.stage("timing", 7);
    });
    EXPECT_EQ(text, "compiling: 0/3\ntiming: 0/7\n");
}

TEST(Progress, ManyStepsAreFewLinesInAPipe) {
    const std::string text = written(open_pipe(), [] {
        Progress progress(Mode::automatic);
        progress.stage("timing", 1000);
        for (int step = 0; step < 1000; step++) {
            progress.advance("1.00x");
        }
    });
    EXPECT_LT(std::ranges::count(text, '\n'), 10) << text;
    EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos) << text;
}

TEST(Progress, IsOneLineRewrittenOnATerminal) {
    const std::string text = written(open_terminal(), [] {
        Progress progress(Mode::automatic);
        progress.stage("compiling", 3);
        wait_for_next_show();
        progress.advance();
        wait_for_next_show();
        progress.advance("1.25x the heuristic");
        progress.stage("timing", 7);
    });
    // Back to the start of the line, clear it, write it anew; in the end it is left clear.
    const std::string clear = "\r\x1b[K";
    EXPECT_TRUE(text.starts_with(clear + "compiling: 0/3" + clear + "compiling: 1/3, ")) << text;
    EXPECT_NE(text.find(clear + "compiling: 2/3, best so far 1.25x the heuristic, 0 s left" + clear),
              std::string::npos)
        << text;
    EXPECT_TRUE(text.ends_with(clear + "timing: 0/7" + clear)) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Progress, StageForgetsTheLastOne) {
    const std::string text = written(open_terminal(), [] {
        Progress progress(Mode::automatic);
        progress.stage("compiling", 3);
        progress.advance("nothing yet");
        progress.stage("timing", 7);
        wait_for_next_show();
        progress.advance();
    });
    EXPECT_NE(text.find("timing: 1/7, "), std::string::npos) << text;
    EXPECT_EQ(text.find("nothing yet", text.find("timing")), std::string::npos) << text;
}

TEST(Progress, TellsTheTimeLeft) {
    const std::string text = written(open_terminal(), [] {
        Progress progress(Mode::automatic);
        progress.stage("timing", 100001);
        wait_for_next_show();  // 0.15 s a step: at least 15000 s for the rest
        progress.advance();
    });
    const size_t number = text.find("1/100001, ");
    ASSERT_NE(number, std::string::npos) << text;
    EXPECT_GE(std::stoi(text.substr(number + 10)), 15000) << text;
    EXPECT_NE(text.find(" s left"), std::string::npos) << text;
}

class SilentTest : public testing::TestWithParam<Ends (*)()> {};

TEST_P(SilentTest, WritesNothing) {
    const std::string text = written(GetParam()(), [] {
        Progress progress(Mode::silent);
        progress.stage("compiling", 3);
        wait_for_next_show();
        progress.advance("1.25x");
    });
    EXPECT_EQ(text, "");
}

INSTANTIATE_TEST_SUITE_P(In, SilentTest, testing::Values(open_pipe, open_terminal),
                         [](const auto &open) { return open.param == open_pipe ? "pipe" : "terminal"; });

}  // namespace
}  // namespace normforge
