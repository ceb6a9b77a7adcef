#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
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
    std::set<std::string> expected;
    for (int number = 0; number < kTrials; ++number) {
        expected.insert(example_trial(number).knobs);
    }
    for (const StoredSession &session : sessions) {
        const std::vector<Trial> trials = database.trials(session.id);
        ASSERT_EQ(trials.size(), static_cast<size_t>(kTrials));
        std::set<std::string> knobs;
        for (const Trial &trial : trials) {
            knobs.insert(trial.knobs);
            EXPECT_EQ(trial.samples.size(), 2u);
        }
        EXPECT_EQ(knobs, expected);
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

// What a worker had committed when it was killed, by its session's seed.
struct Committed {
    int64_t seed;
    int64_t trials;
};

// Starts workers one after the other, each of which begins a session and adds trials until it is killed at a
// random moment, and tells what they had committed.
void kill_again_and_again(const std::string &file, int supervisor, int kills, int report) {
    std::mt19937 random(static_cast<unsigned>(supervisor));
    for (int round = 0; round < kills; ++round) {
        const int64_t seed = supervisor * kills + round;
        int marks[2];
        if (pipe(marks) != 0) {
            throw std::runtime_error("no pipe");
        }
        const pid_t worker = start([&] {
            Database database = Database::open(file);
            const int64_t session = database.begin_session(example_key(), seed, "quick");
            for (int number = 0; write(marks[1], "+", 1) == 1; ++number) {
                database.add_trial(session, example_trial(number));
            }
        });
        close(marks[1]);
        usleep(std::uniform_int_distribution<useconds_t>(0, 40'000)(random));
        kill(worker, SIGKILL);
        wait_for(worker);
        int64_t seen = -1;  // the first mark is of the session, or -1 if that was not begun
        for (char mark; read(marks[0], &mark, 1) == 1;) {
            ++seen;
        }
        close(marks[0]);
        const Committed committed{seed, seen};
        if (write(report, &committed, sizeof committed) != sizeof committed) {
            throw std::runtime_error("no report");
        }
    }
}

TEST(DatabaseProcesses, KilledAgainAndAgainLoseNothing) {
    constexpr int kSupervisors = 8;
    constexpr int kKills = 50;
    const TemporaryFolder folder;
    const std::string file = folder / "tuning.db";
    int report[2];
    ASSERT_EQ(pipe(report), 0);
    std::vector<pid_t> supervisors;
    for (int supervisor = 0; supervisor < kSupervisors; ++supervisor) {
        supervisors.push_back(start([&] { kill_again_and_again(file, supervisor, kKills, report[1]); }));
    }
    close(report[1]);
    std::map<int64_t, int64_t> committed;
    for (Committed each; read(report[0], &each, sizeof each) == sizeof each;) {
        committed[each.seed] = each.trials;
    }
    close(report[0]);
    for (pid_t supervisor : supervisors) {
        EXPECT_EQ(wait_for(supervisor), 0);
    }
    ASSERT_EQ(committed.size(), static_cast<size_t>(kSupervisors * kKills));

    expect_sound(file);
    const Database database = Database::open(file);
    int64_t found = 0;
    for (const StoredSession &session : database.sessions()) {
        const std::vector<Trial> trials = database.trials(session.id);
        const int64_t told = committed.at(session.seed);
        EXPECT_GE(std::ssize(trials), told) << "committed trials are lost";
        EXPECT_LE(std::ssize(trials), std::max<int64_t>(told, 0) + 1);
        for (const Trial &trial : trials) {
            EXPECT_EQ(trial.samples.size(), 2u);
        }
        found += std::ssize(trials);
        committed.erase(session.seed);
    }
    for (const auto &[seed, trials] : committed) {
        EXPECT_LT(trials, 0) << "a session that was begun is lost";
    }
    EXPECT_GT(found, 100) << "the workers hardly had time";
}

}  // namespace
}  // namespace normforge
