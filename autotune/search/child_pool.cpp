#include "autotune/search/child_pool.h"

#include <poll.h>

#include <algorithm>
#include <list>

#include "autotune/measure/patient_clock.h"
#include "runtime/usable_cores.h"

namespace normforge {

namespace {

using std::chrono::nanoseconds;

struct Job {
    size_t index;
    nanoseconds started;
    nanoseconds deadline;  // of the next message
    ChildProcess child;
    ChildResult result;
};

// Reads what there is to read. Whether the job has ended.
bool advance(Job &job, const ChildPool &pool, nanoseconds now) {
    std::vector<std::string> &messages = job.result.messages;
    if (messages.empty()) {
        job.result.milliseconds = std::chrono::duration<double, std::milli>(now - job.started).count();
    }
    // A message may bring the next one with it, which poll does not tell.
    while (std::optional<std::string> message = job.child.read_sent()) {
        messages.push_back(std::move(*message));
        if (messages.size() == pool.limits.size()) {
            break;
        }
        job.deadline = now + pool.limits[messages.size()];
    }
    if (messages.size() < pool.limits.size() && job.child.outcome() == ChildProcess::Outcome::running) {
        if (now < job.deadline) {
            return false;
        }
        job.child.give_up(pool.limits[messages.size()]);
    }
    job.result.outcome = job.child.outcome();
    job.result.reason = job.child.reason();
    return true;
}

void wait_for_any(const std::list<Job> &jobs, nanoseconds now) {
    std::vector<pollfd> waiting;
    nanoseconds longest = PatientClock::kLongestStep;
    for (const Job &job : jobs) {
        waiting.push_back({job.child.descriptor(), POLLIN, 0});
        longest = std::clamp(job.deadline - now, nanoseconds(0), longest);
    }
    poll(waiting.data(), waiting.size(),
         static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(longest).count()));
}

}  // namespace

void run(const ChildPool &pool, const std::function<void(size_t job, ChildResult)> &done) {
    if (pool.jobs == 0) {
        return;
    }
    const auto workers = static_cast<size_t>(usable_cores());
    MachineLock lock(MachineLock::Use::computing, pool.tell);
    PatientClock clock;
    std::list<Job> jobs;
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
            const nanoseconds now = clock.now();
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
        wait_for_any(jobs, clock.now());
        for (auto job = jobs.begin(); job != jobs.end();) {
            if (advance(*job, pool, clock.now())) {
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
