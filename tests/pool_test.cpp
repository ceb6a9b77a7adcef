#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/affinity.h"
#include "runtime/usable_cores.h"
#include "tests/parallel_loops.h"

namespace normforge {
namespace {

using PoolPointer = std::unique_ptr<nf_pool, void (*)(nf_pool *)>;

PoolPointer new_pool(int64_t threads) {
    nf_pool *pool = nullptr;
    EXPECT_EQ(nf_pool_create(threads, &pool), NF_SUCCESS);
    return {pool, nf_pool_destroy};
}

constexpr int64_t kWorthWaking = 1 << 30;  // bytes

void loop(const PoolPointer &pool, int64_t tasks, Task task, void *argument, int64_t task_bytes = kWorthWaking) {
    const nf_threads *threads = nf_pool_threads(pool.get());
    threads->parallel_for(threads->context, tasks, task, argument, task_bytes);
}

// How often each task ran.
using Counts = std::vector<std::atomic<int>>;

void count_task(void *counts, int64_t index) {
    static_cast<Counts *>(counts)->at(index)++;
}

void expect_all_ran(const Counts &counts, int times) {
    for (const std::atomic<int> &count : counts) {
        EXPECT_EQ(count, times);
    }
}

class Pool : public testing::TestWithParam<int64_t> {};

TEST_P(Pool, RunsEachTaskOnce) {
    const PoolPointer pool = new_pool(GetParam());
    for (const int64_t tasks : {0, 1, 2, 3, 7, 1000}) {
        for (const int64_t task_bytes : {int64_t{0}, int64_t{1} << 18, kWorthWaking}) {
            Counts counts(static_cast<size_t>(tasks));
            for (int time = 1; time <= 30; time++) {
                loop(pool, tasks, count_task, &counts, task_bytes);
                expect_all_ran(counts, time);
            }
        }
    }
}

TEST_P(Pool, RunsTasksAfterItsThreadsFellAsleep) {
    const PoolPointer pool = new_pool(GetParam());
    Counts counts(20);
    for (int time = 1; time <= 10; time++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        loop(pool, 20, count_task, &counts);
        expect_all_ran(counts, time);
    }
}

TEST_P(Pool, ServesSeveralCallersAtOnce) {
    const PoolPointer pool = new_pool(GetParam());
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; caller++) {
        callers.emplace_back([&] {
            Counts counts(10);
            for (int time = 1; time <= 300; time++) {
                loop(pool, 10, count_task, &counts);
                expect_all_ran(counts, time);
            }
        });
    }
}

struct Nested {
    const PoolPointer &pool;
    Counts &counts;
};

TEST_P(Pool, RunsLoopsOfItsOwnTasks) {
    const PoolPointer pool = new_pool(GetParam());
    Counts counts(10);
    Nested nested{pool, counts};
    loop(
        pool, 5,
        [](void *argument, int64_t) {
            const auto &[pool_of_task, counts_of_task] = *static_cast<Nested *>(argument);
            loop(pool_of_task, 10, count_task, &counts_of_task);
        },
        &nested);
    expect_all_ran(counts, 5);
}

// Children have none of the pool's threads.
TEST_P(Pool, RunsTasksInTheChildOfAFork) {
    const PoolPointer pool = new_pool(GetParam());
    for (const bool asleep : {false, true}) {
        if (asleep) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        Counts counts(10);
        loop(pool, 10, count_task, &counts);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            loop(pool, 10, count_task, &counts);
            nf_pool_destroy(pool.get());
            int wrong = 0;
            for (const std::atomic<int> &count : counts) {
                wrong += count != 2;
            }
            _exit(wrong);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    Counts counts(10);
    loop(pool, 10, count_task, &counts);
    expect_all_ran(counts, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Pool, testing::Values(1, 2, 3, 7, 50));

// Tasks that wait for each other, so that all must run at once; without that they give up after a long time.
struct Meeting {
    const int64_t expected;
    std::atomic<int64_t> present{0};
    std::atomic<int64_t> complete{0};
    std::atomic<int64_t> blocking_signals{0};
};

void meet(void *argument, int64_t index) {
    auto &meeting = *static_cast<Meeting *>(argument);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    meeting.blocking_signals += index > 0 && sigismember(&blocked, SIGUSR1) && !sigismember(&blocked, SIGSEGV);
    meeting.present++;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (meeting.present < meeting.expected && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    meeting.complete += meeting.present == meeting.expected;
}

TEST(PoolThreads, RunAtOnceAndBlockSignals) {
    const PoolPointer pool = new_pool(4);
    for (const int milliseconds : {0, 2, 0, 0}) {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        Meeting meeting{4};
        loop(pool, 4, meet, &meeting);
        EXPECT_EQ(meeting.complete, 4);
        EXPECT_EQ(meeting.blocking_signals, 3);
    }
}

// Where each of two tasks ran, while the other one did.
struct Places {
    std::atomic<int> present{0};
    int cpus[2] = {-1, -1};
};

void tell_place(void *argument, int64_t index) {
    auto &places = *static_cast<Places *>(argument);
    places.cpus[index] = sched_getcpu();
    places.present++;
    while (places.present < 2) {
    }
}

// Linux may wake a thread on its caller's CPU although another one is idle, as it does under KVM. It may move
// threads at any time, so most times are enough.
TEST(PoolThreads, ThatSleptWakeUpBesideTheirCaller) {
    if (CpuSet::of_thread(0).count() < 2) {
        GTEST_SKIP() << "this process may run on one CPU only";
    }
    const PoolPointer pool = new_pool(2);
    constexpr int kTimes = 20;
    int beside = 0;
    for (int time = 0; time < kTimes; time++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        Places places;
        loop(pool, 2, tell_place, &places);
        beside += places.cpus[0] != places.cpus[1];
    }
    EXPECT_GT(beside, kTimes / 2);
}

TEST(PoolThreads, AreAsManyAsAskedFor) {
    for (const int64_t count : {int64_t{1}, int64_t{2}, int64_t{100}, NF_MAX_THREADS}) {
        EXPECT_EQ(nf_pool_threads(new_pool(count).get())->count, count);
    }
    EXPECT_EQ(nf_pool_threads(new_pool(0).get())->count, std::min(usable_cores(), NF_MAX_THREADS));
}

TEST(PoolThreads, OfNoPoolAreNone) {
    EXPECT_EQ(nf_pool_threads(nullptr), nullptr);
    nf_pool_destroy(nullptr);
}

TEST(PoolCreation, RefusesWrongNumbers) {
    EXPECT_EQ(nf_pool_create(1, nullptr), NF_ERROR_NULL_ARGUMENT);
    for (const int64_t count : {int64_t{-1}, INT64_MIN, NF_MAX_THREADS + 1, INT64_MAX}) {
        const PoolPointer other = new_pool(1);
        nf_pool *pool = other.get();
        EXPECT_EQ(nf_pool_create(count, &pool), NF_ERROR_BAD_THREADS);
        EXPECT_EQ(pool, nullptr);
    }
}

}  // namespace
}  // namespace normforge
