// Standard streams that are closed, full or a terminal, and signals.

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>

#include <stdexcept>
#include <tuple>

#include "autotune/database/database.h"
#include "tests/cli_runner.h"

namespace normforge {
namespace {

using testing::IsSubstring;

// The other side of a terminal that the program's standard error is.
class Terminal {
public:
    Terminal() {
        if (openpty(&control_, &terminal_, nullptr, nullptr, nullptr) != 0) {
            throw std::runtime_error("no pseudo terminal");
        }
    }
    ~Terminal() {
        close(control_);
        close(terminal_);
    }
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;

    std::string path() const { return ttyname(terminal_); }

    // Reads until the text was there; more may be read with it.
    void read_until(const std::string &part) {
        while (text_.find(part) == std::string::npos) {
            if (!read_some(30'000)) {
                throw std::runtime_error("'" + part + "' does not come after: " + text_);
            }
        }
    }

    // All of it, once the program has ended.
    const std::string &text() {
        while (read_some(0)) {
        }
        return text_;
    }

private:
    bool read_some(int milliseconds) {
        pollfd waiting{control_, POLLIN, 0};
        char bytes[4096];
        const ssize_t count = poll(&waiting, 1, milliseconds) > 0 ? read(control_, bytes, sizeof bytes) : 0;
        text_.append(bytes, count > 0 ? static_cast<size_t>(count) : 0);
        return count > 0;
    }

    int control_ = -1;
    int terminal_ = -1;
    std::string text_;
};

struct BadOutput {
    const char *name;
    const char *file;
    const char *reason;
};

class BadOutputTest : public CliTest, public testing::WithParamInterface<std::tuple<BadOutput, const char *>> {};

INSTANTIATE_TEST_SUITE_P(
    All, BadOutputTest,
    testing::Combine(testing::Values(BadOutput{"Full", "/dev/full", "No space left on device"},
                                     BadOutput{"Closed", "", "Bad file descriptor"}),
                     testing::Values("--help", "--version", "doctor --json", "db best {}/tuning.db --json",
                                     "inspect --op rms_norm --hidden 64 --emit asm --db {}/tuning.db")),
    [](const auto &test) { return std::get<0>(test.param).name + std::to_string(test.index); });

TEST_P(BadOutputTest, IsAFailureThatIsTold) {
    Database::open(folder / "tuning.db");
    const auto &[bad, line] = GetParam();
    const Outcome outcome = wait(start(line, bad.file, streams / "stderr"));
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.errors, std::string("normforge: cannot write to standard output: ") + bad.reason + "\n");
}

class BadErrorsTest : public CliTest, public testing::WithParamInterface<const char *> {};

INSTANTIATE_TEST_SUITE_P(All, BadErrorsTest, testing::Values("/dev/full", ""));

TEST_P(BadErrorsTest, DoNotChangeTheStatus) {
    EXPECT_EQ(wait(start("bogus", streams / "stdout", GetParam())).status, 2);
    EXPECT_EQ(wait(start("db show {}/none.db", streams / "stdout", GetParam())).status, 1);
    const std::string tuning = "tune --op rms_norm --hidden 8 --rows 1 --db {}/tuning.db";
    EXPECT_EQ(wait(start(tuning, streams / "stdout", GetParam())).status, 0) << "progress that cannot be shown";
}

TEST_F(CliTest, AClosedPipeEndsTheProgramQuietly) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const std::string writing_end = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends[1]);
    signal(SIGPIPE, SIG_IGN);  // as whoever starts the program may have it
    const pid_t process = start("--help", writing_end, streams / "stderr");
    close(ends[0]);
    close(ends[1]);
    const Outcome outcome = wait(process);
    EXPECT_EQ(outcome.status, 128 + SIGPIPE);
    EXPECT_EQ(outcome.errors, "");
}

TEST_F(CliTest, ATerminalGetsOneLineThatIsRewritten) {
    Terminal terminal;
    const pid_t process = start("tune --op rms_norm --hidden 4 --rows 1", streams / "stdout", terminal.path());
    EXPECT_EQ(wait(process).status, 0);
    EXPECT_PRED_FORMAT2(IsSubstring, "\r\x1b[Kcompiling and checking: 0/", terminal.text());
    EXPECT_TRUE(terminal.text().ends_with("\r\x1b[K")) << terminal.text();
}

class SignalTest : public CliTest, public testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(All, SignalTest, testing::Values(SIGINT, SIGTERM));

TEST_P(SignalTest, EndsTuningWithACleanLineAndASoundDatabase) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the program's children, once orphans, can be waited for
    Terminal terminal;
    const pid_t process =
        start("tune --op rms_norm --hidden 4096 --effort exhaustive", streams / "stdout", terminal.path());
    terminal.read_until("compiling and checking: ");
    terminal.read_until(" s left");
    kill(process, GetParam());
    EXPECT_EQ(wait(process).status, 128 + GetParam());
    EXPECT_TRUE(terminal.text().ends_with("\r\x1b[K")) << terminal.text();
    while (waitpid(-1, nullptr, 0) > 0) {  // does not end where a child goes on
    }

    const nlohmann::json sessions = run_json("db show {}/default.db");
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_EQ(sessions[0]["state"], "aborted");
    EXPECT_EQ(run("tune --op rms_norm --hidden 1 --rows 1 --quiet").status, 0);
    EXPECT_EQ(run_json("db show {}/default.db").size(), 2u);
}

}  // namespace
}  // namespace normforge
