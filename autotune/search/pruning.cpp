#include "autotune/search/pruning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "autotune/search/any_kernel.h"
#include "autotune/search/decision.h"
#include "runtime/user_error.h"
#include "schedules/target.h"

namespace normforge {

namespace {

bool is_superseded(const StoredSession &session, const StoredSession &by) {
    return are_of_one_key(session, by) && session.state == SessionState::done && session.ended < by.ended &&
           !(session.toolchain == by.toolchain && session.generator == by.generator);
}

// The schedules of an untuned library, which expected losses are told from; none for a target of another Halide.
std::vector<std::string> untuned_knobs(const StoredSession &session) {
    std::vector<std::string> knobs;
    try {
        for (const UntunedKernel &kernel : untuned_kernels(session.problem, kernel_target(session.target))) {
            knobs.push_back(knobs_text(kernel.spec));
        }
    } catch (const UserError &) {
        return {};
    }
    return knobs;
}

}  // namespace

std::vector<PrunableSession> prunable_sessions(const Database &database) {
    const std::vector<Decision> best = best_decisions(database);
    std::vector<PrunableSession> prunable;
    for (const StoredSession &session : database.sessions()) {
        const auto newer = std::ranges::find_if(
            best, [&](const Decision &decision) { return is_superseded(session, decision.session); });
        if (session.state == SessionState::aborted) {
            prunable.push_back({session, "aborted"});
        } else if (newer != best.end()) {
            prunable.push_back(
                {session, fmt::format("superseded by the session of {} with {}", newer->session.started,
                                      newer->session.toolchain == session.toolchain ? "newer generators"
                                                                                    : "another toolchain")});
        }
    }
    return prunable;
}

Evidence deciding_evidence(Database &database) {
    const Evidence all = database.evidence();
    Evidence deciding;
    for (const auto &[session, trials, selection] : best_decisions(database)) {
        std::set<std::pair<std::string, int64_t>> needed;
        for (const Choice &choice : selection.choices) {
            needed.emplace(choice.knobs, choice.rows);
            for (const std::string &knobs : untuned_knobs(session)) {
                needed.emplace(knobs, choice.rows);
            }
        }
        SessionEvidence evidence = all.at(session.uuid);
        for (auto &[knobs, artifact] : evidence.artifacts) {
            std::erase_if(artifact.trials, [&, &own = knobs](const auto &trial) {
                return own != session.reference && !needed.contains({own, trial.first});
            });
        }
        std::erase_if(evidence.artifacts, [](const auto &entry) { return entry.second.trials.empty(); });
        deciding.emplace(session.uuid, std::move(evidence));
    }
    return deciding;
}

}  // namespace normforge
