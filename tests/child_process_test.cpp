#include "autotune/measure/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "autotune/measure/patient_clock.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

using namespace std::chrono_literals;
using Outcome = ChildProcess::Outcome;
using Send = ChildProcess::Send;

// For children that answer at once.
constexpr std::chrono::milliseconds kPatience = 60s;

[[noreturn]] void hang() {
    for (;;) {
        pause();
    }
}

void expect_no_child() {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child or a zombie is left";
    EXPECT_EQ(errno, ECHILD);
}

void expect_end(ChildProcess &child, std::chrono::milliseconds limit, Outcome outcome, const std::string &reason) {
    EXPECT_EQ(child.outcome(), Outcome::running);
    EXPECT_EQ(child.read(limit), std::nullopt);
    EXPECT_EQ(child.outcome(), outcome);
    EXPECT_EQ(child.reason(), reason);
    EXPECT_EQ(child.read(limit), std::nullopt) << "an ended child said more";
    expect_no_child();
}

std::string megabyte() {
    std::string text(1 << 20, '\0');
    for (size_t i = 0; i < text.size(); i++) {
        text[i] = static_cast<char>(i * i >> 3);
    }
    return text;
}

TEST(ChildProcess, MessagesArriveWholeAndInOrder) {
    const std::vector<std::string> messages = {"first", "", megabyte(), std::string("\0\n", 2), "last"};
    ChildProcess child([&](const Send &send) {
        for (const std::string &message : messages) {
            send(message);
        }
    });
    for (const std::string &message : messages) {
        EXPECT_TRUE(child.read(kPatience) == message) << message.size() << " bytes";
    }
    expect_end(child, kPatience, Outcome::finished, "");
}

TEST(ChildProcess, WorkSeesTheParentsValuesAndChangesOnlyItsOwn) {
    int value = 1;
    ChildProcess child([&](const Send &send) { send(std::to_string(++value)); });
    EXPECT_EQ(child.read(kPatience), "2");
    EXPECT_EQ(value, 1);
}

struct Death {
    const char *name;
    void (*work)();
    const char *reason;
};

// As the system does it: a sanitizer has handlers of its own.
template <int number>
void die() {
    signal(number, SIG_DFL);
    raise(number);
}

// SIGTERM and SIGINT end a child, even where the parent catches them.
class DeathTest : public testing::TestWithParam<Death> {
protected:
    void SetUp() override {
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
    }
};

TEST_P(DeathTest, IsTheReason) {
    ChildProcess child([](const Send &) { GetParam().work(); });
    expect_end(child, kPatience, Outcome::crashed, GetParam().reason);
}

TEST_P(DeathTest, LosesNoMessageSentBefore) {
    ChildProcess child([](const Send &send) {
        send("alive");
        send(megabyte());
        GetParam().work();
    });
    EXPECT_EQ(child.read(kPatience), "alive");
    EXPECT_TRUE(child.read(kPatience) == megabyte());
    expect_end(child, kPatience, Outcome::crashed, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    By, DeathTest,
    testing::Values(Death{"segmentation_fault", die<SIGSEGV>, "killed by SIGSEGV"},
                    Death{"abort", die<SIGABRT>, "killed by SIGABRT"},
                    Death{"arithmetic", die<SIGFPE>, "killed by SIGFPE"},
                    Death{"illegal_instruction", die<SIGILL>, "killed by SIGILL"},
                    Death{"terminate", [] { raise(SIGTERM); }, "killed by SIGTERM"},
                    Death{"interrupt", [] { raise(SIGINT); }, "killed by SIGINT"},
                    Death{"exception", [] { throw std::runtime_error("no\nluck"); }, "no\nluck"},
                    Death{"exception_without_text", [] { throw std::runtime_error(""); }, "exited with 1"},
                    Death{"exit_code", [] { _exit(42); }, "exited with 42"}),
    [](const auto &death) { return std::string(death.param.name); });

TEST(ChildProcess, OnePastItsLimitIsKilled) {
    ChildProcess child([](const Send &) { hang(); });
    expect_end(child, 50ms, Outcome::timed_out, "no answer within 50 ms");
}

// The parent may be late itself.
TEST(ChildProcess, AnAnswerThatIsThereIsReadAlsoPastTheLimit) {
    ChildProcess child([](const Send &send) { send("in time"); });
    pollfd waiting{child.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&waiting, 1, -1), 1);
    EXPECT_EQ(child.read(0ms), "in time");
}

TEST(ChildProcess, TimeInWhichTheParentDoesNotLookIsLeftOutOfLimits) {
    PatientClock clock;
    std::this_thread::sleep_for(PatientClock::kLongestStep + 100ms);
    EXPECT_EQ(clock.now(), PatientClock::kLongestStep);
}

TEST(ChildProcess, OneThatRefusesSignalsIsKilledToo) {
    ChildProcess child([](const Send &send) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, nullptr);
        send("deaf");
        for (volatile bool spinning = true; spinning;) {
        }
    });
    EXPECT_EQ(child.read(kPatience), "deaf");
    expect_end(child, 50ms, Outcome::timed_out, "no answer within 50 ms");
}

#ifndef __SANITIZE_ADDRESS__
// Which is no memory yet: GPUs' drivers take far more addresses than they use.
TEST(ChildProcess, AddressesAreLimitedUnlessItIsSaidOtherwise) {
    const auto has_addresses = [](ChildProcess::Memory memory) {
        ChildProcess child(
            [](const Send &send) {
                constexpr size_t kBytes = size_t{64} << 30;
                void *addresses =
                    mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
                send(addresses == MAP_FAILED ? "no" : "yes");
            },
            memory);
        return child.read(kPatience);
    };
    EXPECT_EQ(has_addresses(ChildProcess::Memory::limited), "no");
    EXPECT_EQ(has_addresses(ChildProcess::Memory::unlimited), "yes");
}

TEST(ChildProcess, OneThatWantsAllMemoryFails) {
    ChildProcess child([](const Send &send) {
        send("begin");
        for (;;) {
            char *const block = new char[size_t{1} << 30];
            send(std::to_string(block[12345]));
        }
    });
    int blocks = -1;
    while (child.read(kPatience)) {
        blocks++;
    }
    EXPECT_GE(blocks, 3);
    EXPECT_LE(blocks, 4);
    EXPECT_EQ(child.outcome(), Outcome::crashed);
    EXPECT_EQ(child.reason(), "std::bad_alloc");
}
#endif

// What a child has started ends with it.
TEST(ChildProcess, IsKilledWithItsOwnChildren) {
    pid_t grandchild = 0;
    {
        ChildProcess child([](const Send &send) {
            const pid_t pid = fork();
            if (pid == 0) {
                hang();
            }
            send(std::to_string(pid));
            hang();
        });
        grandchild = std::stoi(child.read(kPatience).value());
    }
    while (kill(grandchild, 0) == 0) {
        usleep(1000);  // until whoever inherited it has noticed
    }
}

TEST(ChildProcess, DescriptorTellsWhenToRead) {
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    ChildProcess child([&](const Send &send) {
        char byte;
        EXPECT_EQ(read(gate[0], &byte, 1), 1);
        send("now");
        hang();
    });
    pollfd waiting{child.descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&waiting, 1, 50), 0);
    ASSERT_EQ(write(gate[1], "+", 1), 1);
    EXPECT_EQ(poll(&waiting, 1, 60000), 1);
    EXPECT_EQ(child.read(kPatience), "now");
    close(gate[0]);
    close(gate[1]);
}

TEST(ChildProcess, DestructorKillsARunningChild) {
    pid_t pid = 0;
    {
        ChildProcess child([](const Send &send) {
            send(std::to_string(getpid()));
            hang();
        });
        pid = std::stoi(child.read(kPatience).value());
        EXPECT_EQ(kill(pid, 0), 0);
    }
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
    expect_no_child();
}

TEST(ChildProcess, MovingHandsTheChildOver) {
    int sent[2];
    ASSERT_EQ(pipe(sent), 0);
    auto first = std::make_unique<ChildProcess>([&](const Send &send) {
        send("a");
        send("b");
        close(sent[1]);
        hang();
    });
    close(sent[1]);
    char byte;
    ASSERT_EQ(read(sent[0], &byte, 1), 0);  // now both messages come with one read
    close(sent[0]);
    EXPECT_EQ(first->read(kPatience), "a");
    ChildProcess second(std::move(*first));
    first.reset();
    EXPECT_EQ(second.read(kPatience), "b");
    expect_end(second, 50ms, Outcome::timed_out, "no answer within 50 ms");
}

// A child has a copy of what the parent has buffered but not yet written.
TEST(ChildProcess, BufferedOutputIsWrittenOnceAndByTheParent) {
    const TemporaryFolder folder;
    std::FILE *file = std::fopen((folder / "output").c_str(), "w");
    std::fputs("parent's", file);
    ChildProcess flushing([&](const Send &) { std::fflush(file); });
    expect_end(flushing, kPatience, Outcome::finished, "");
    ChildProcess writing([&](const Send &) { std::fputs("child's", file); });
    expect_end(writing, kPatience, Outcome::finished, "");
    std::fclose(file);
    EXPECT_EQ(folder.read("output"), "parent's");
}

}  // namespace
}  // namespace normforge
