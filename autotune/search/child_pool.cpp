#include "autotune/search/child_pool.h"

#include <poll.h>

#include <algorithm>
#include <list>

#include "runtime/usable_cores.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Job {
    size_t index;
    Clock::time_point started;
    Clock::time_point deadline;  // of the next message
    ChildProcess child;
    ChildResult result;
};

milliseconds time_left(const Job &job) {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(job.deadline - Clock::now()));
}

// Reads what there is to read. Whether the job has ended.
bool advance(Job &job, const ChildPool &pool) {
    std::optional<std::string> message = job.child.read(time_left(job));
    std::vector<std::string> &messages = job.result.messages;
    if (messages.empty()) {
        job.result.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - job.started).count();
    }
    if (message) {
        messages.push_back(std::move(*message));
        if (messages.size() < pool.limits.size()) {
            job.deadline = Clock::now() + pool.limits[messages.size()];
            return false;
        }
    }
    job.result.outcome = job.child.outcome();
    job.result.reason = job.child.reason();
    return true;
}

void wait_for_any(const std::list<Job> &jobs, std::vector<pollfd> &waiting) {
    waiting.clear();
    milliseconds longest = milliseconds::max();
    for (const Job &job : jobs) {
        waiting.push_back({job.child.descriptor(), POLLIN, 0});
        longest = std::min(longest, time_left(job));
    }
    poll(waiting.data(), waiting.size(), static_cast<int>(longest.count()));
}

}  // namespace

void run(const ChildPool &pool, const std::function<void(size_t job, ChildResult)> &done) {
    if (pool.jobs == 0) {
        return;
    }
    const auto workers = static_cast<size_t>(usable_cores());
    MachineLock lock(MachineLock::Use::computing, pool.tell);
    std::list<Job> jobs;
    std::vector<pollfd> waiting;
    bool stopped = false;
    for (size_t next = 0; next < pool.jobs || !jobs.empty();) {
        if (jobs.empty() && lock.is_wanted()) {
            lock.renew();
        }
        // Whoever waits for the machine waits for the jobs that run, and for no others.
        while (next < pool.jobs && jobs.size() < workers && (jobs.empty() || !lock.is_wanted())) {
            stopped = stopped || pool.stop();
            if (stopped) {
                next = pool.jobs;
                break;
            }
            const Clock::time_point now = Clock::now();
            jobs.push_back({next,
                            now,
                            now + pool.limits.front(),
                            ChildProcess([&pool, next](const ChildProcess::Send &send) { pool.work(next, send); },
                                         pool.memory),
                            {}});
            next++;
        }
        if (jobs.empty()) {
            return;
        }
        wait_for_any(jobs, waiting);
        size_t position = 0;
        for (auto job = jobs.begin(); job != jobs.end(); position++) {
            const bool is_due = waiting[position].revents != 0 || time_left(*job) == milliseconds(0);
            // A message may bring the next one with it, which poll does not tell.
            if (is_due && advance(*job, pool)) {
                ChildResult result = std::move(job->result);
                const size_t index = job->index;
                job = jobs.erase(job);
                done(index, std::move(result));
            } else {
                ++job;
            }
        }
    }
}

}  // namespace normforge
