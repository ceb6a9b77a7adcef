#include "autotune/search/decision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace normforge {

namespace {

bool are_comparable(const StoredSession &a, const StoredSession &b) {
    return a.toolchain == b.toolchain && a.generator == b.generator && a.reference == b.reference;
}

// The geometric mean, over the numbers of rows of both, of a's ratio over b's; 1 without any.
double relative_time(const Selection &a, const Selection &b) {
    double sum = 0;
    int count = 0;
    for (const Choice &choice : a.choices) {
        const auto other = std::ranges::find(b.choices, choice.rows, &Choice::rows);
        if (other != b.choices.end()) {
            sum += std::log(choice.ratio / other->ratio);
            count++;
        }
    }
    return count == 0 ? 1 : std::exp(sum / count);
}

// Whether a, the earlier one, comes before b all the same.
bool is_preferred(const Decision &a, const Decision &b) {
    if (a.session.source != b.session.source) {
        return a.session.source == TimeSource::measured;
    }
    const double margin = std::max(kLeastGain, a.selection.noise + b.selection.noise);
    return are_comparable(a.session, b.session) && relative_time(a.selection, b.selection) < 1 - margin;
}

}  // namespace

bool are_of_one_key(const StoredSession &a, const StoredSession &b) {
    return same_problem(a.problem, b.problem) && a.hardware_signature == b.hardware_signature &&
           a.target == b.target;
}

std::vector<Decision> decide(const Database &database, const std::vector<StoredSession> &sessions) {
    std::vector<Decision> open;
    for (const StoredSession &session : sessions) {
        if (session.state == SessionState::done) {
            std::vector<Trial> trials = database.trials(session.id);
            Selection selection = select_best(trials, session.reference);
            if (selection.complete()) {
                open.push_back({session, std::move(trials), std::move(selection)});
            }
        }
    }
    std::ranges::sort(open, {}, [](const Decision &decision) {
        return std::tie(decision.session.ended, decision.session.uuid);
    });
    std::vector<Decision> ranked;
    while (!open.empty()) {
        auto best = open.begin();
        for (auto later = best + 1; later != open.end(); ++later) {
            best = is_preferred(*best, *later) ? best : later;
        }
        ranked.push_back(std::move(*best));
        open.erase(best);
    }
    return ranked;
}

std::vector<Decision> best_decisions(const Database &database, const SessionFilter &is_wanted) {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<StoredSession>> groups;
    for (const StoredSession &session : database.sessions()) {
        if (is_wanted(session)) {
            groups[{to_text(session.problem), session.hardware_signature, session.target}].push_back(session);
        }
    }
    std::vector<Decision> best;
    for (const auto &[key, sessions] : groups) {
        std::vector<Decision> decisions = decide(database, sessions);
        if (!decisions.empty()) {
            best.push_back(std::move(decisions.front()));
        }
    }
    return best;
}

}  // namespace normforge
