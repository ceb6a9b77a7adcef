#include "autotune/search/ladder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "runtime/user_error.h"
#include "schedules/target.h"

namespace normforge {

namespace {

bool is_same_but_hidden(const NormProblem &a, NormProblem b) {
    b.hidden = a.hidden;
    return same_problem(a, b);
}

// A tail of a row takes another path than whole vectors, and vectors have up to 64 values a step.
int64_t divisibility(int64_t hidden) {
    return std::gcd(hidden, int64_t{64});
}

double distance(const NormProblem &a, const NormProblem &b) {
    return std::abs(std::log2(static_cast<double>(a.hidden) / static_cast<double>(b.hidden)));
}

bool are_family(const Hardware &a, const Hardware &b) {
    return a.arch == b.arch && a.vendor == b.vendor && a.family == b.family && a.l1d_bytes == b.l1d_bytes &&
           a.l2_bytes == b.l2_bytes;
}

// None of GPUs, whose code is for all of them.
std::optional<uint64_t> features_of_target(const Halide::Target &target) {
    return is_cuda(target) ? std::nullopt : std::optional(needed_cpu_features(target));
}

std::optional<uint64_t> features_of_target(const std::string &target) {
    try {
        return features_of_target(kernel_target(target));
    } catch (const UserError &) {
        return std::nullopt;  // of a Halide that knew more
    }
}

bool needs_the_same(const std::string &stored, const Halide::Target &target) {
    const std::optional<uint64_t> features = features_of_target(target);
    return features ? features_of_target(stored) == features : stored == target_name(target);
}

int shared_features(const std::string &stored, const Halide::Target &target) {
    return std::popcount(features_of_target(stored).value_or(0) & features_of_target(target).value_or(0));
}

std::string architecture(const Halide::Target &target) {
    return is_cuda(target) ? kGpuArch : is_arm(target) ? "arm" : "x86";
}

// Of sessions in which no trial passed for some numbers of rows: what they say without these.
std::vector<Decision> partial_decisions(const Database &database, const std::vector<StoredSession> &sessions) {
    std::vector<Decision> decisions;
    for (const StoredSession &session : sessions) {
        std::vector<Trial> trials = database.trials(session.id);
        std::set<int64_t> passed;
        for (const Trial &trial : trials) {
            if (trial.status == TrialStatus::ok && !trial.samples.empty()) {
                passed.insert(trial.rows);
            }
        }
        const size_t erased =
            std::erase_if(trials, [&](const Trial &trial) { return !passed.contains(trial.rows); });
        Selection selection = select_best(trials, session.reference);
        if (erased > 0 && selection.complete()) {
            decisions.push_back({session, std::move(trials), std::move(selection)});
        }
    }
    return decisions;
}

// Sessions of one problem, hardware and target together, in the order of the first of each.
std::vector<std::vector<StoredSession>> groups_by_key(const std::vector<StoredSession> &sessions) {
    std::vector<std::vector<StoredSession>> groups;
    for (const StoredSession &session : sessions) {
        const auto own = std::ranges::find_if(groups, [&](const std::vector<StoredSession> &group) {
            return are_of_one_key(session, group.front());
        });
        if (own == groups.end()) {
            groups.push_back({session});
        } else {
            own->push_back(session);
        }
    }
    return groups;
}

}  // namespace

const Hardware &Machine::of(const Halide::Target &target) const {
    return is_cuda(target) ? gpu : cpu;
}

Ladder::Ladder(const KnownDatabases &databases, const Machine &machine) : machine_(machine) {
    for (const Database *database : {databases.own, databases.shipped}) {
        if (database) {
            Source &source = sources_.emplace_back(Source{database, database == databases.shipped, {}});
            source.sessions = database->sessions();
            std::erase_if(source.sessions,
                          [](const StoredSession &session) { return session.state != SessionState::done; });
        }
    }
}

bool Ladder::is_of_step(const StoredSession &session, LadderStep step, const NormProblem &problem,
                        const Halide::Target &target) const {
    const std::string target_text = target_name(target);
    const Hardware &hardware = machine_.of(target);
    const std::string own_signature = signature(hardware);
    const bool is_same = same_problem(session.problem, problem);
    const bool is_own = is_same && session.hardware_signature == own_signature && session.target == target_text;
    switch (step) {
    case LadderStep::tuned:
    case LadderStep::nearest_rows:
        return is_own;
    case LadderStep::nearest_hidden:
        return session.hardware_signature == own_signature && session.target == target_text && !is_same &&
               is_same_but_hidden(session.problem, problem) &&
               divisibility(session.problem.hidden) == divisibility(problem.hidden) &&
               distance(session.problem, problem) <= 1;
    case LadderStep::hardware_family:
        return is_same && session.target == target_text && session.hardware_signature != own_signature &&
               are_family(session.hardware, hardware);
    case LadderStep::instruction_set:
        return is_same && !is_own && needs_the_same(session.target, target);
    case LadderStep::shipped_default:
        return is_same && session.hardware.arch == architecture(target) && !needs_the_same(session.target, target);
    case LadderStep::heuristic:
        return false;
    }
    return false;
}

std::vector<LadderEntry> Ladder::entries(LadderStep step, const NormProblem &problem,
                                         const Halide::Target &target) const {
    std::vector<LadderEntry> entries;
    for (const Source &source : sources_) {
        if (step == LadderStep::shipped_default && !source.is_shipped) {
            continue;
        }
        std::vector<StoredSession> sessions;
        std::ranges::copy_if(source.sessions, std::back_inserter(sessions), [&](const StoredSession &session) {
            return is_of_step(session, step, problem, target);
        });
        // Of equally near ones the latest.
        std::ranges::sort(sessions, std::greater(), [&](const StoredSession &session) {
            return std::tuple(-distance(session.problem, problem), shared_features(session.target, target),
                              session.ended, session.uuid);
        });
        for (const std::vector<StoredSession> &group : groups_by_key(sessions)) {
            for (Decision &decision : step == LadderStep::nearest_rows ? partial_decisions(*source.database, group)
                                                                       : decide(*source.database, group)) {
                entries.push_back({std::move(decision), source.is_shipped});
            }
        }
    }
    std::ranges::stable_partition(
        entries, [](const LadderEntry &entry) { return entry.decision.session.source == TimeSource::measured; });
    return entries;
}

std::string Ladder::reason_for_none(LadderStep step, const NormProblem &problem,
                                    const Halide::Target &target) const {
    if (sources_.empty()) {
        return "no database is used";
    }
    const bool was_tuned = std::ranges::any_of(sources_, [&](const Source &source) {
        return std::ranges::any_of(source.sessions, [&](const StoredSession &session) {
            return is_of_step(session, LadderStep::tuned, problem, target);
        });
    });
    if (step == LadderStep::nearest_rows && was_tuned) {
        return "no session has schedules that passed for some numbers of rows only";
    }
    if (step == LadderStep::tuned || step == LadderStep::nearest_rows) {
        return was_tuned ? "no schedule passed tuning for all numbers of rows"
                         : "not tuned for this hardware and target";
    }
    return "nothing was tuned there";
}

std::string step_text(LadderStep step, bool is_shipped) {
    return name_of(kLadderSteps, step) + (is_shipped && step != LadderStep::shipped_default ? ", shipped" : "");
}

std::vector<MeasuredKernel> transferred_kernels(const std::vector<MeasuredKernel> &own, const NormProblem &problem,
                                                const Halide::Target &target) {
    const AnyKernelSpec &first = own.front().spec;
    const double scale = static_cast<double>(row_bytes(problem_of(first))) /
                         static_cast<double>(row_bytes(problem));  // so that as many bytes are at work
    std::vector<MeasuredKernel> result;
    for (MeasuredKernel kernel : own) {
        const AnyKernelSpec spec = kernel_spec(problem, knobs_text(kernel.spec), target);
        if (arithmetic_text(spec) != arithmetic_text(first)) {
            throw UserError("its schedules sum in several orders, which gave equal bits only there");
        }
        kernel.spec = spec;
        kernel.min_rows = static_cast<int64_t>(std::llround(static_cast<double>(kernel.min_rows) * scale));
        if (result.empty() || kernel.min_rows > result.back().min_rows) {
            result.push_back(kernel);
        }
    }
    return result;
}

}  // namespace normforge
