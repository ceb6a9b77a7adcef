#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <sched.h>

#include "runtime/affinity.h"
#include "runtime/normforge.h"
#include "runtime/usable_cores.h"
#include "runtime/waiting.h"
#include "runtime/wake_budget.h"

namespace normforge {

namespace {

// What a worker is asked for. While it is nothing, the worker waits, and says so before it sleeps.
enum Request : uint32_t { kNothing, kAsleep, kShare, kEnd };

// A share of a loop is every count-th of its tasks. Worker w runs the share w, so that in one call after the other
// a thread has the same rows, and the caller of the loop share 0 and then all that have not been begun: it never
// waits for a worker to wake up.
struct Loop {
    void (*task)(void *argument, int64_t index);
    void *argument;
    int64_t tasks;
    int64_t shares;

    void run_share(int64_t index) const {
        for (; index < tasks; index += shares) {
            task(argument, index);
        }
    }
};

// In cache lines of its own, also where the CPU fetches them in pairs.
struct alignas(128) Worker {
    SharedWord request;
    int64_t share;
    pthread_t thread;
    nf_pool *pool;
    pid_t thread_id;  // for the caller from when the worker sleeps
};

// One word says of the shares that workers may have how many are not done, in its low bits, and above them how
// many were done while the caller could run as well. The caller sets the highest bit before it sleeps.
constexpr uint32_t kUnfinished = 0xffff;
constexpr uint32_t kOneBeside = kUnfinished + 1;
constexpr uint32_t kCallerSleeps = uint32_t{1} << 31;
// In ns: about as long as it takes until a thread that is woken runs (10 to 60 us under KVM).
constexpr int64_t kAwake = 50'000;
// A caller that sleeps is woken by a worker, and Linux may then move it to that worker's CPU, away from its own
// caches. So before that it only lets others have its CPU, such as the worker where there is no other one.
constexpr int64_t kYielding = 500'000;
static_assert(NF_MAX_THREADS < kCallerSleeps / kOneBeside);

}  // namespace

}  // namespace normforge

using namespace normforge;

struct nf_pool {
    nf_threads threads;
    int64_t worker_count;
    pid_t process;
    std::atomic<bool> in_use;
    std::atomic<int> caller_cpu;
    WakeBudget wake_budget;
    Loop loop;
    alignas(128) SharedWord shares;
    alignas(128) Worker *workers;
};

namespace normforge {

namespace {

bool take_share(Worker &worker) {
    uint32_t expected = kShare;
    return worker.request.compare_exchange_strong(expected, kNothing, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
}

// Where all other CPUs are busy, a worker that wakes up takes the place of the caller. It had better not stay.
bool runs_beside_caller(const nf_pool &pool) {
    return sched_getcpu() != pool.caller_cpu.load(std::memory_order_relaxed);
}

uint32_t wait_for_request(Worker &worker) {
    const nf_pool &pool = *worker.pool;
    SharedWord &request = worker.request;
    const auto is_request = [&] { return request.load(std::memory_order_acquire) != kNothing; };
    uint32_t expected = kNothing;
    if ((runs_beside_caller(pool) && comes_within(kAwake, is_request, pause_briefly)) ||
        !request.compare_exchange_strong(expected, kAsleep)) {
        return request.load(std::memory_order_acquire);
    }
    while (request.load(std::memory_order_acquire) == kAsleep) {
        sleep_while(request, kAsleep);
    }
    return request.load(std::memory_order_acquire);
}

void make_request(Worker &worker, Request request) {
    if (worker.request.exchange(request, std::memory_order_acq_rel) == kAsleep) {
        wake_all(worker.request);
    }
}

// Linux wakes a thread on the CPU of who wakes it where no other one is known to be idle, and under KVM it takes
// an idle CPU for one that the host lacks time for. The worker then waits for the caller to be done, and would do
// so again and again.
void ask_for_share(const nf_pool &pool, Worker &worker) {
    if (worker.request.load(std::memory_order_acquire) == kAsleep && pool.process == getpid()) {
        const WithoutCpu elsewhere(worker.thread_id, pool.caller_cpu.load(std::memory_order_relaxed));
        make_request(worker, kShare);
    } else {
        make_request(worker, kShare);
    }
}

void *run_worker(void *argument) {
    auto &worker = *static_cast<Worker *>(argument);
    nf_pool &pool = *worker.pool;
    worker.thread_id = static_cast<pid_t>(syscall(SYS_gettid));
    while (wait_for_request(worker) != kEnd) {
        if (take_share(worker)) {
            const uint32_t beside = runs_beside_caller(pool) ? kOneBeside : 0;
            pool.loop.run_share(worker.share);
            const uint32_t before = pool.shares.fetch_add(beside - 1, std::memory_order_acq_rel);
            if ((before & (kCallerSleeps | kUnfinished)) == (kCallerSleeps | 1)) {
                wake_all(pool.shares);
            }
        }
    }
    return nullptr;
}

// How many shares workers did beside the caller, once none is unfinished.
int64_t wait_for_workers(SharedWord &shares) {
    uint32_t value = 0;
    const auto are_finished = [&] {
        value = shares.load(std::memory_order_acquire);
        return (value & kUnfinished) == 0;
    };
    if (!comes_within(kAwake, are_finished, pause_briefly) &&
        !comes_within(kYielding, are_finished, sched_yield)) {
        shares.fetch_or(kCallerSleeps, std::memory_order_relaxed);
        while (!are_finished()) {
            sleep_while(shares, value);
        }
    }
    return (value & ~kCallerSleeps) / kOneBeside;
}

// As wait_for_workers.
int64_t run_loop(nf_pool &pool, const Loop &loop) {
    const int64_t workers = loop.shares - 1;
    pool.loop = loop;
    pool.caller_cpu.store(sched_getcpu(), std::memory_order_relaxed);
    pool.shares.store(static_cast<uint32_t>(workers), std::memory_order_relaxed);
    for (int64_t index = 0; index < workers; index++) {
        ask_for_share(pool, pool.workers[index]);
    }
    loop.run_share(0);
    for (int64_t index = workers - 1; index >= 0; index--) {
        if (take_share(pool.workers[index])) {
            loop.run_share(pool.workers[index].share);
            pool.shares.fetch_sub(1, std::memory_order_relaxed);
        }
    }
    return wait_for_workers(pool.shares);
}

int64_t awake_workers(const nf_pool &pool, int64_t wanted) {
    int64_t awake = 0;
    while (awake < wanted && pool.workers[awake].request.load(std::memory_order_relaxed) != kAsleep) {
        awake++;
    }
    return awake;
}

// The nf_parallel_for of pools.
void run_on_pool(void *context, int64_t tasks, void (*task)(void *argument, int64_t index), void *argument,
                 int64_t task_bytes) {
    auto &pool = *static_cast<nf_pool *>(context);
    int64_t shares = std::min(tasks, pool.threads.count);
    if (shares < 2 || pool.in_use.exchange(true, std::memory_order_acquire)) {
        Loop{task, argument, tasks, 1}.run_share(0);
        return;
    }
    const int64_t awake = awake_workers(pool, shares - 1);
    const int64_t bytes = tasks * task_bytes;
    if (awake < shares - 1 && !pool.wake_budget.is_worth_waking(bytes)) {
        shares = awake + 1;
    }
    pool.wake_budget.count_shared(run_loop(pool, {task, argument, tasks, shares}) * bytes / shares);
    pool.in_use.store(false, std::memory_order_release);
}

// An application's handlers of signals expect a thread of its own, but faults are of the thread that makes them.
bool start_worker(Worker &worker) {
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        sigdelset(&blocked, fault);
    }
    if (pthread_sigmask(SIG_SETMASK, &blocked, &before) != 0) {
        return false;
    }
    const bool started = pthread_create(&worker.thread, nullptr, run_worker, &worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace

}  // namespace normforge

nf_status nf_pool_create(int64_t threads, nf_pool **pool) {
    if (!pool) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    *pool = nullptr;
    if (threads < 0 || threads > NF_MAX_THREADS) {
        return NF_ERROR_BAD_THREADS;
    }
    const int64_t count = threads == 0 ? std::min(usable_cores(), NF_MAX_THREADS) : threads;
    const size_t bytes = sizeof(nf_pool) + static_cast<size_t>(count - 1) * sizeof(Worker);
    void *memory = std::aligned_alloc(alignof(nf_pool), bytes);
    if (!memory) {
        return NF_ERROR_NO_THREADS;
    }
    auto *created = new (memory) nf_pool{};
    created->threads = {run_on_pool, created, count};
    created->process = getpid();
    created->workers = reinterpret_cast<Worker *>(created + 1);
    for (int64_t index = 0; index < count - 1; index++) {
        auto *worker = new (&created->workers[index]) Worker{};
        worker->share = index + 1;
        worker->pool = created;
        if (!start_worker(*worker)) {
            nf_pool_destroy(created);
            return NF_ERROR_NO_THREADS;
        }
        created->worker_count++;
    }
    *pool = created;
    return NF_SUCCESS;
}

void nf_pool_destroy(nf_pool *pool) {
    if (!pool) {
        return;
    }
    for (int64_t index = 0; index < pool->worker_count; index++) {
        make_request(pool->workers[index], kEnd);
    }
    // The child of a fork has no threads to wait for.
    for (int64_t index = 0; index < pool->worker_count && pool->process == getpid(); index++) {
        pthread_join(pool->workers[index].thread, nullptr);
    }
    std::free(pool);
}

const nf_threads *nf_pool_threads(const nf_pool *pool) {
    return pool ? &pool->threads : nullptr;
}
