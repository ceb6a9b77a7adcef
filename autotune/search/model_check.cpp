#include "autotune/search/model_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "autotune/base/robust_stats.h"
#include "autotune/model/rank_correlation.h"
#include "autotune/search/simulate_all.h"
#include "runtime/user_error.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

constexpr size_t kMostProblems = 10;
constexpr size_t kLeastSchedules = 12;
constexpr size_t kLeastSamples = 3;  // before the tuner drops any

// Schedules that were timed for one problem and number of rows.
struct Group {
    int64_t rows;
    std::vector<KernelSpec> specs;
    std::vector<double> ratios;
};

// The static model's prefetches and streaming stores are guesses, and beyond the caches they decide.
bool is_in_cache(const NormProblem &problem, int64_t rows, const KnownCpu &cpu) {
    return rows * row_bytes(problem) <= cpu.l2_bytes / 2;
}

std::vector<Group> groups_of(const Database &database, const StoredSession &session, const KnownCpu &cpu) {
    std::map<int64_t, Group> groups;
    for (const Trial &trial : database.trials(session.id)) {
        if (trial.status != TrialStatus::ok || trial.samples.size() < kLeastSamples ||
            !is_in_cache(session.problem, trial.rows, cpu)) {
            continue;
        }
        try {
            const KernelSpec spec{session.problem, parse_knobs(trial.knobs), kernel_target(session.target)};
            if (check(spec.problem, spec.knobs, spec.target).empty()) {
                Group &group = groups[trial.rows];
                group.rows = trial.rows;
                group.specs.push_back(spec);
                group.ratios.push_back(median_ratio(trial));
            }
        } catch (const UserError &) {
            // Of another set of knobs or targets.
        }
    }
    std::vector<Group> result;
    for (auto &[rows, group] : groups) {
        if (group.specs.size() >= kLeastSchedules) {
            result.push_back(std::move(group));
        }
    }
    return result;
}

const KnownCpu *host_cpu_if_known() {
    try {
        return &known_host_cpu();
    } catch (const UserError &) {
        return nullptr;
    }
}

std::vector<Group> measured_groups(const KnownDatabases &databases, const KnownCpu &cpu) {
    const std::string own_signature = signature(detect_hardware());
    std::vector<Group> groups;
    std::set<std::string> problems;
    for (const Database *database : {databases.own, databases.shipped}) {
        std::vector<StoredSession> sessions = database ? database->sessions() : std::vector<StoredSession>();
        std::ranges::reverse(sessions);
        for (const StoredSession &session : sessions) {
            const bool counts = session.source == TimeSource::measured && session.state == SessionState::done &&
                                session.hardware_signature == own_signature &&
                                session.problem.pass == NF_FORWARD && problems.size() < kMostProblems &&
                                !problems.contains(to_text(session.problem));
            for (Group &group : counts ? groups_of(*database, session, cpu) : std::vector<Group>()) {
                problems.insert(to_text(session.problem));
                groups.push_back(std::move(group));
            }
        }
    }
    return groups;
}

double correlation(const Group &group, const KnownCpu &cpu, Progress &progress) {
    std::vector<double> cycles;
    std::vector<double> ratios;
    const auto tell = [&](const std::string &what) { progress.say(what); };
    simulate_all(group.specs, cpu, {group.rows}, tell, [&](size_t index, const SimulatedKernel &simulated) {
        if (!simulated.cycles.empty()) {
            cycles.push_back(simulated.cycles.front());
            ratios.push_back(group.ratios[index]);
        }
        progress.advance();
    });
    return rank_correlation(cycles, ratios);
}

}  // namespace

std::optional<ModelCheck> check_model(const KnownDatabases &databases, Progress &progress) {
    const KnownCpu *cpu = host_cpu_if_known();
    const std::vector<Group> groups = cpu ? measured_groups(databases, *cpu) : std::vector<Group>();
    ModelCheck check{};
    for (const Group &group : groups) {
        check.trials += group.specs.size();
    }
    progress.stage("checking the model", check.trials);
    std::vector<double> correlations;
    for (const Group &group : groups) {
        if (const double value = correlation(group, *cpu, progress); !std::isnan(value)) {
            correlations.push_back(value);
        }
    }
    if (correlations.empty()) {
        return std::nullopt;
    }
    check.groups = correlations.size();
    check.median = median(correlations);
    check.least = *std::ranges::min_element(correlations);
    return check;
}

}  // namespace normforge
