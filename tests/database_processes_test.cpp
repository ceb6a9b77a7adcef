#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <vector>

#include "tests/database_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

// Forks before a database is open: SQLite's connections do not survive a fork.
pid_t start(const std::function<void()> &work) {
    const pid_t pid = fork();
    if (pid == 0) {
        try {
            work();
        } catch (const std::exception &error) {
            std::fprintf(stderr, "%s\n", error.what());
            _exit(1);
        }
        _exit(0);
    }
    return pid;
}

int wait_for(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

void expect_sound(const std::string &file) {
    const SqliteConnection connection(file, SqliteConnection::Mode::read_only);
    EXPECT_EQ(connection.query_text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(connection.query_integer("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

TEST(DatabaseProcesses, AllMayInsertAtOnce) {
    constexpr int kProcesses = 4;
    constexpr int kTrials = 50;
    const TemporaryFolder folder;
    const std::string file = folder / "new/tuning.db";

    std::vector<pid_t> processes;
    for (int process = 0; process < kProcesses; ++process) {
        processes.push_back(start([&] {
            Database database = Database::open(file);
            const int64_t session = database.begin_session(example_key(), process, "quick");
            for (int number = 0; number < kTrials; ++number) {
                database.add_trial(session, example_trial(number));
            }
            database.end_session(session, SessionState::done, 0.01);
        }));
    }
    for (pid_t process : processes) {
        EXPECT_EQ(wait_for(process), 0);
    }

    expect_sound(file);
    const Database database = Database::open_read_only(file);
    const auto sessions = database.sessions();
    EXPECT_EQ(sessions.size(), static_cast<size_t>(kProcesses));
    for (const StoredSession &session : sessions) {
        const std::vector<Trial> trials = database.trials(session.id);
        ASSERT_EQ(trials.size(), static_cast<size_t>(kTrials));
        std::set<std::string> knobs;
        for (const Trial &trial : trials) {
            knobs.insert(trial.knobs);
            EXPECT_EQ(trial.samples.size(), 2u);
        }
        EXPECT_EQ(knobs.size(), static_cast<size_t>(kTrials));
    }
}

class KilledProcess : public testing::TestWithParam<int> {};

TEST_P(KilledProcess, LosesNothingThatItCommitted) {
    const TemporaryFolder folder;
    const std::string file = folder / "tuning.db";
    int committed[2];
    ASSERT_EQ(pipe(committed), 0);

    const pid_t process = start([&] {
        Database database = Database::open(file);
        const int64_t session = database.begin_session(example_key(), 1, "quick");
        for (int number = 0;; ++number) {
            database.add_trial(session, example_trial(number));
            if (write(committed[1], "+", 1) != 1) {
                return;
            }
        }
    });
    close(committed[1]);
    char mark;
    int seen = 0;
    while (seen < GetParam() && read(committed[0], &mark, 1) == 1) {
        ++seen;
    }
    kill(process, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_for(process)));
    while (read(committed[0], &mark, 1) == 1) {
        ++seen;
    }
    close(committed[0]);
    EXPECT_GE(seen, GetParam());

    const auto expect_all = [&](const Database &database) {
        const StoredSession session = database.sessions().at(0);
        EXPECT_EQ(session.state, SessionState::running);
        const std::vector<Trial> trials = database.trials(session.id);
        EXPECT_GE(trials.size(), static_cast<size_t>(seen));
        EXPECT_LE(trials.size(), static_cast<size_t>(seen) + 1);
        for (const Trial &trial : trials) {
            EXPECT_EQ(trial.samples.size(), 2u);
        }
    };
    expect_all(Database::open_read_only(file));
    {
        Database database = Database::open(file);
        expect_all(database);
        const int64_t session = database.begin_session(example_key(), 2, "quick");
        database.add_trial(session, example_trial(1));
    }
    expect_sound(file);
    expect_all(Database::open_read_only(file));
}

INSTANTIATE_TEST_SUITE_P(After, KilledProcess, testing::Values(1, 7, 40));

}  // namespace
}  // namespace normforge
