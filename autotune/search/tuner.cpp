#include "autotune/search/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "autotune/measure/timing.h"
#include "autotune/search/detect_gpu.h"
#include "autotune/search/device_tuning.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/tuning_run.h"
#include "generators/codegen.h"
#include "runtime/cpu_features.h"
#include "runtime/user_error.h"
#include "schedules/gpu_space.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;

SessionKey own_key(const TuneRequest &request) {
    if (is_cuda(request.target)) {
        return session_key(request, detect_gpu(), to_text(gpu_heuristic(request.problem)));
    }
    return session_key(request, detect_hardware(), to_text(heuristic(request.problem, request.target)));
}

// Those of this request, on hardware like this and by the tools of today; the latest first.
std::vector<StoredSession> own_sessions(const TuneRequest &request, const SessionKey &key,
                                        const Database &database) {
    std::vector<StoredSession> sessions = database.sessions();
    std::erase_if(sessions, [&](const StoredSession &session) {
        return !same_problem(session.problem, key.problem) ||
               session.hardware_signature != signature(key.hardware) || session.toolchain != key.toolchain ||
               session.generator != key.generator || session.target != key.target ||
               session.reference != key.reference || session.source != key.source ||
               session.seed != static_cast<int64_t>(request.seed) ||
               session.effort != name_of(kEfforts, request.effort);
    });
    std::ranges::reverse(sessions);
    return sessions;
}

// One that did not come to its end and that no living process works on.
std::optional<int64_t> resumed_session(const TuneRequest &request, const SessionKey &key, Database &database) {
    for (const StoredSession &session : own_sessions(request, key, database)) {
        if (database.resume_session(session)) {
            return session.id;
        }
    }
    return std::nullopt;
}

}  // namespace

TuneReport tune(const TuneRequest &request, Database &database, Progress &progress) {
    require_runnable(request.target);
    for (int64_t rows : request.rows) {
        require_memory_for(request.problem, rows);
    }
    const Clock::time_point started = Clock::now();
    const SessionKey key = own_key(request);
    std::optional<int64_t> session = request.resume ? resumed_session(request, key, database) : std::nullopt;
    if (!session) {
        session = begin_session(request, key, database);
    }
    try {
        TuneReport report = is_cuda(request.target)
                                ? run_device_session(request, key.hardware, *session, database, progress)
                                : run_session(request, *session, database, progress);
        database.end_session(*session, SessionState::done, report.selection.noise, report.cut);
        report.hardware = signature(key.hardware);
        report.seconds = std::chrono::duration<double>(Clock::now() - started).count();
        return report;
    } catch (...) {
        database.end_session(*session, SessionState::aborted, std::nullopt);
        throw;
    }
}

bool is_done(const TuneRequest &request, const Database &database) {
    const auto has_all_rows = [&](const StoredSession &session) {
        const std::vector<Trial> trials = database.trials(session.id);
        return std::ranges::all_of(request.rows, [&](int64_t rows) {
            return std::ranges::find(trials, rows, &Trial::rows) != trials.end();
        });
    };
    return std::ranges::any_of(
        own_sessions(request, own_key(request), database), [&](const StoredSession &session) {
            return session.state == SessionState::done && session.cut.empty() && has_all_rows(session);
        });
}

void require_runnable(const Halide::Target &target) {
    if (is_cuda(target)) {
        detect_gpu();
        return;
    }
    const uint64_t missing = needed_cpu_features(target) & ~cpu_features();
    if (missing != 0) {
        throw UserError("target " + target_name(target) + " cannot be tuned here: this CPU lacks " +
                        feature_names(missing));
    }
}

SessionKey session_key(const TuneRequest &request, const Hardware &hardware, const std::string &reference,
                       TimeSource source) {
    return {request.problem, hardware, current_toolchain(), current_generator(), target_name(request.target),
            reference,       source};
}

int64_t begin_session(const TuneRequest &request, const SessionKey &key, Database &database) {
    return database.begin_session(key, static_cast<int64_t>(request.seed),
                                  std::string(name_of(kEfforts, request.effort)));
}

void throw_unusable_reference(const NormProblem &problem, const Trial &trial) {
    throw std::runtime_error("the heuristic's kernel for " + to_text(problem) + " is unusable: " + trial.message);
}

Toolchain current_toolchain() {
    return {fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH),
            llvm_version(), nf_version()};
}

}  // namespace normforge
