// tune ends when it is asked to, by a signal, by a kill or by its budget, and goes on where it ended.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>

#include "autotune/database/database.h"
#include "tests/cli_runner.h"

namespace normforge {
namespace {

using testing::IsSubstring;

class CliTuneTest : public CliTest {
protected:
    // Of few schedules, which are compiled soon.
    static constexpr const char *kTune = "tune --op rms_norm --hidden 2 --rows 1,2 --db {}/tuning.db";

    std::vector<StoredSession> sessions() const {
        const std::string file = folder / "tuning.db";
        return std::filesystem::exists(file) ? Database::open_read_only(file).sessions()
                                             : std::vector<StoredSession>();
    }

    std::vector<Trial> trials(const StoredSession &session) const {
        return Database::open_read_only(folder / "tuning.db").trials(session.id);
    }

    // Starts to tune, and sends the signal when trials are stored.
    Outcome tune_until(int signal_number, const std::string &line) {
        const pid_t process = start(line, streams / "stdout", streams / "stderr");
        while (sessions().empty() || trials(sessions()[0]).empty()) {
            usleep(2000);
        }
        kill(process, signal_number);
        return wait(process);
    }

    // What was measured before the tuning was ended, in any sample of any trial, is in the session still.
    void expect_kept(const std::vector<Trial> &before) {
        std::map<std::pair<std::string, int64_t>, Trial> now;
        for (const Trial &trial : trials(sessions().at(0))) {
            EXPECT_TRUE(now.emplace(std::pair(trial.knobs, trial.rows), trial).second) << "twice";
        }
        EXPECT_FALSE(before.empty());
        for (const Trial &trial : before) {
            const Trial &own = now.at({trial.knobs, trial.rows});
            EXPECT_EQ(own.compile_ms, trial.compile_ms) << "compiled again";
            ASSERT_GE(own.samples.size(), trial.samples.size());
            EXPECT_TRUE(std::equal(trial.samples.begin(), trial.samples.end(), own.samples.begin()));
        }
    }
};

class InterruptionTest : public CliTuneTest, public testing::WithParamInterface<int> {};

TEST_P(InterruptionTest, AbortsTheSessionAndResumeGoesOn) {
    const Outcome ended = tune_until(GetParam(), kTune);
    EXPECT_EQ(ended.status, 128 + GetParam());
    EXPECT_PRED_FORMAT2(IsSubstring, "--resume goes on from here", ended.errors);
    ASSERT_EQ(sessions().size(), 1u);
    EXPECT_EQ(sessions()[0].state, SessionState::aborted);
    const std::vector<Trial> before = trials(sessions()[0]);
    const Outcome resumed = run(std::string(kTune) + " --resume");
    EXPECT_EQ(resumed.status, 0) << resumed.errors;
    ASSERT_EQ(sessions().size(), 1u);
    EXPECT_EQ(sessions()[0].state, SessionState::done);
    expect_kept(before);
}

INSTANTIATE_TEST_SUITE_P(By, InterruptionTest, testing::Values(SIGINT, SIGTERM));

TEST_F(CliTuneTest, ResumeTakesOverADeadProcessesSession) {
    EXPECT_EQ(tune_until(SIGKILL, kTune).status, 128 + SIGKILL);
    ASSERT_EQ(sessions().at(0).state, SessionState::running);
    const std::vector<Trial> before = trials(sessions()[0]);
    EXPECT_EQ(run(std::string(kTune) + " --resume").status, 0);
    ASSERT_EQ(sessions().size(), 1u);
    EXPECT_EQ(sessions()[0].state, SessionState::done);
    EXPECT_EQ(sessions()[0].process, "");
    expect_kept(before);
    const Outcome again = run(std::string(kTune) + " --resume");
    EXPECT_PRED_FORMAT2(IsSubstring, "skipped op=rms_norm,dtype=f32,hidden=2: done already", again.errors);
    EXPECT_EQ(sessions().size(), 1u);
}

TEST_F(CliTuneTest, ResumeTunesForRowsThatWereNotAskedForBefore) {
    ASSERT_EQ(run(kTune).status, 0);
    EXPECT_EQ(run("tune --op rms_norm --hidden 2 --rows 1,4 --resume --db {}/tuning.db").status, 0);
    EXPECT_EQ(sessions().size(), 2u);
}

TEST_F(CliTuneTest, ResumeLeavesALivingProcessesSessionAlone) {
    const pid_t process = start(kTune, streams / "first_stdout", streams / "first_stderr");
    while (sessions().empty()) {
        usleep(2000);
    }
    kill(process, SIGSTOP);
    environment["NORMFORGE_LOCK"] = "{}/other_lock";  // for the first one may hold the lock
    EXPECT_EQ(run(std::string(kTune) + " --resume --budget 1s").status, 0);
    EXPECT_EQ(sessions().size(), 2u);
    kill(process, SIGCONT);
    EXPECT_EQ(wait(process).status, 0);
}

TEST_F(CliTuneTest, BudgetCutsTheSearchAndSkipsTheRest) {
    const Outcome outcome =
        run("tune --op rms_norm --hidden 16,2,3 --rows 1 --effort exhaustive --budget 0.2 --db {}/tuning.db");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_PRED_FORMAT2(IsSubstring, "incomplete: the budget was used up", outcome.output);
    EXPECT_PRED_FORMAT2(IsSubstring, "skipped op=rms_norm,dtype=f32,hidden=3: the budget is used up",
                        outcome.errors);
    ASSERT_GE(sessions().size(), 1u);
    EXPECT_EQ(sessions()[0].state, SessionState::done);
    EXPECT_EQ(sessions()[0].cut, "the budget was used up");
}

TEST_F(CliTuneTest, BudgetIsATime) {
    for (const std::string budget : {"0", "-1s", "1d", "s", "1e9", "nan"}) {
        const Outcome outcome = run(kTune + (" --budget=" + budget));
        EXPECT_EQ(outcome.status, 2) << budget;
        EXPECT_PRED_FORMAT2(IsSubstring, "--budget: budget is '" + budget + "'; allowed: ", outcome.errors);
    }
}

}  // namespace
}  // namespace normforge
