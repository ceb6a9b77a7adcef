#include "autotune/search/compile_pool.h"

#include <poll.h>

#include <chrono>
#include <list>

#include "autotune/measure/child_process.h"
#include "runtime/usable_cores.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;

// A kernel takes 30 to 150 ms.
constexpr std::chrono::seconds kCompileLimit{30};

struct Job {
    size_t index;
    Clock::time_point started;
    ChildProcess child;
};

CompiledKernel collect(Job &job, std::chrono::milliseconds limit) {
    std::optional<std::string> object = job.child.read(limit);
    const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - job.started).count();
    if (object) {
        return {TrialStatus::ok, *object, "", milliseconds};
    }
    const bool hung = job.child.outcome() == ChildProcess::Outcome::timed_out;
    return {hung ? TrialStatus::timeout : TrialStatus::compile_error, "", job.child.reason(), milliseconds};
}

}  // namespace

void compile_all(const std::vector<KernelSpec> &specs,
                 const std::function<void(size_t index, CompiledKernel)> &done) {
    const auto workers = static_cast<size_t>(usable_cores());
    std::list<Job> jobs;
    size_t next = 0;
    while (next < specs.size() || !jobs.empty()) {
        while (next < specs.size() && jobs.size() < workers) {
            const KernelSpec &spec = specs[next];
            jobs.push_back({next++, Clock::now(), ChildProcess([&spec](const ChildProcess::Send &send) {
                                send(emit(spec, EmitForm::object));
                            })});
        }
        std::vector<pollfd> waiting;
        for (const Job &job : jobs) {
            waiting.push_back({job.child.descriptor(), POLLIN, 0});
        }
        const auto longest =
            std::chrono::milliseconds(kCompileLimit) -
            std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - jobs.front().started);
        poll(waiting.data(), waiting.size(), static_cast<int>(std::max<int64_t>(0, longest.count())));
        size_t position = 0;
        for (auto job = jobs.begin(); job != jobs.end(); position++) {
            const bool late = Clock::now() - job->started >= kCompileLimit;
            if (waiting[position].revents == 0 && !late) {
                ++job;
                continue;
            }
            done(job->index, collect(*job, late ? std::chrono::milliseconds(0) : kCompileLimit));
            job = jobs.erase(job);
        }
    }
}

}  // namespace normforge
