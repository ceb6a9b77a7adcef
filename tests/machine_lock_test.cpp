#include "autotune/base/machine_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "autotune/base/interruption.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

using Use = MachineLock::Use;

class MachineLockTest : public testing::Test {
protected:
    MachineLockTest() { setenv("NORMFORGE_LOCK", (folder_ / "lock").c_str(), 1); }
    ~MachineLockTest() override { unsetenv("NORMFORGE_LOCK"); }

    // Starts a process that adds lines to a file, of which wait_for sees how many there are.
    template <typename Work>
    pid_t start(const Work &work) const {
        const pid_t child = fork();
        if (child == 0) {
            work();
            _exit(0);
        }
        return child;
    }

    void log(const std::string &line) const { std::ofstream(folder_ / "log", std::ios::app) << line << std::endl; }

    std::vector<std::string> lines() const {
        std::ifstream file(folder_ / "log");
        std::vector<std::string> result;
        for (std::string line; std::getline(file, line);) {
            result.push_back(line);
        }
        return result;
    }

    void wait_for(size_t count) const {
        while (lines().size() < count) {
            usleep(1000);
        }
    }

    static int end_of(pid_t process) {
        int status = 0;
        waitpid(process, &status, 0);
        return status;
    }

    const TemporaryFolder folder_;
};

TEST_F(MachineLockTest, ManyComputeAtOnce) {
    const auto never = [](const std::string &what) { FAIL() << what; };
    const MachineLock first(Use::computing, never), second(Use::computing, never);
    EXPECT_FALSE(first.is_wanted());
    EXPECT_FALSE(second.is_wanted());
}

class ExclusionTest : public MachineLockTest, public testing::WithParamInterface<std::pair<Use, Use>> {};

TEST_P(ExclusionTest, SecondWaitsSaysSoAndIsSeen) {
    const auto [held, wanted] = GetParam();
    auto lock = std::make_unique<MachineLock>(held);
    const pid_t other = start([&, use = wanted] {
        const MachineLock waited(use, [&](const std::string &what) { log(what); });
        log("has it");
    });
    wait_for(1);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "waiting ", lines()[0]);
    while (!lock->is_wanted()) {
        usleep(1000);
    }
    usleep(20000);
    EXPECT_EQ(lines().size(), 1u) << "both have it";
    lock.reset();
    EXPECT_EQ(end_of(other), 0);
    EXPECT_EQ(lines().back(), "has it");
}

INSTANTIATE_TEST_SUITE_P(HeldAndWanted, ExclusionTest,
                         testing::Values(std::pair(Use::timing, Use::timing),
                                         std::pair(Use::timing, Use::computing),
                                         std::pair(Use::computing, Use::timing)));

// However soon a process asks again, the one that waited is next. Its waits are told now and then.
TEST_F(MachineLockTest, TwoTakeTurns) {
    auto gate = std::make_unique<MachineLock>(Use::timing);
    std::vector<pid_t> processes;
    for (const std::string name : {"a", "b"}) {
        processes.push_back(start([&] {
            MachineLock lock(Use::timing, [&](const std::string &) { log("waits"); });
            for (int turn = 0; turn < 20; turn++) {
                log(name);
                while (turn < 19 && !lock.is_wanted()) {  // in the last one the other may have ended
                    usleep(1000);
                }
                lock.renew();
            }
        }));
        wait_for(processes.size());
    }
    gate.reset();
    for (pid_t process : processes) {
        EXPECT_EQ(end_of(process), 0);
    }
    std::vector<std::string> turns = lines();
    EXPECT_LT(std::erase(turns, "waits"), 20u);  // of about 40
    ASSERT_EQ(turns.size(), 40u);
    for (size_t i = 1; i < turns.size(); i++) {
        EXPECT_NE(turns[i], turns[i - 1]) << "turn " << i;
    }
}

TEST_F(MachineLockTest, DeadHolderHoldsNothing) {
    const pid_t holder = start([&] {
        const MachineLock lock(Use::timing);
        log("has it");
        pause();
    });
    wait_for(1);
    kill(holder, SIGKILL);
    end_of(holder);
    const MachineLock lock(Use::timing, [](const std::string &what) { FAIL() << what; });
}

TEST_F(MachineLockTest, FilesAreForEveryUser) {
    const mode_t mask = umask(077);
    { const MachineLock lock(Use::timing); }
    umask(mask);
    for (const char *name : {"lock", "lock.queue"}) {
        struct stat status {};
        ASSERT_EQ(stat((folder_ / name).c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0666u) << name;
    }
}

TEST_F(MachineLockTest, WithoutAFileTheWorkGoesOn) {
    setenv("NORMFORGE_LOCK", (folder_ / "none" / "lock").c_str(), 1);
    std::string told;
    MachineLock lock(Use::timing, [&](const std::string &what) { told += what; });
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "none/lock, No such file or directory: other processes", told);
    EXPECT_FALSE(lock.is_wanted());
    lock.renew();
}

TEST_F(MachineLockTest, WaitIsInterrupted) {
    const MachineLock held(Use::timing);
    const pid_t other = start([&] {
        const InterruptionRequests requests;
        try {
            const MachineLock waited(Use::timing, [&](const std::string &what) { log(what); });
        } catch (const Interrupted &interrupted) {
            _exit(interrupted.signal);
        }
    });
    wait_for(1);
    while (!held.is_wanted()) {
        usleep(1000);
    }
    int status = 0;
    while (waitpid(other, &status, WNOHANG) == 0) {
        kill(other, SIGTERM);  // the first one may come before it waits
        usleep(50000);
    }
    EXPECT_TRUE(WIFEXITED(status) ? WEXITSTATUS(status) == SIGTERM : WTERMSIG(status) == SIGTERM) << status;
}

}  // namespace
}  // namespace normforge
