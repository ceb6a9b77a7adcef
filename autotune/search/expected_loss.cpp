#include "autotune/search/expected_loss.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "runtime/user_error.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct RowsKnobs {
    int64_t min_rows;
    std::string knobs;
};

// What the step would give the problem if it were not tuned; empty where it has nothing.
std::vector<RowsKnobs> schedules_of(LadderStep step, const NormProblem &problem, const Halide::Target &target,
                                    const Ladder &ladder) {
    std::vector<RowsKnobs> schedules;
    if (step == LadderStep::heuristic) {
        for (const UntunedKernel &kernel : untuned_kernels(problem, target)) {
            schedules.push_back({kernel.min_rows, knobs_text(kernel.spec)});
        }
        return schedules;
    }
    for (const LadderEntry &entry : ladder.entries(step, problem, target)) {
        try {
            for (const MeasuredKernel &kernel :
                 transferred_kernels(measured_kernels(entry.decision), problem, target)) {
                schedules.push_back({kernel.min_rows, knobs_text(kernel.spec)});
            }
            return schedules;
        } catch (const UserError &) {
            continue;  // as the way down the ladder passes it over
        }
    }
    return schedules;
}

bool is_timed(const Trial &trial, int64_t rows) {
    return trial.rows == rows && trial.status == TrialStatus::ok && !trial.samples.empty();
}

// Whether these rows were asked for. Between such lie those of crossovers, where two schedules were timed at most.
bool is_searched(int64_t rows, const Decision &decision) {
    const std::vector<Choice> &choices = decision.selection.choices;
    const auto timed =
        std::ranges::count_if(decision.trials, [&](const Trial &trial) { return is_timed(trial, rows); });
    return rows == choices.front().rows || rows == choices.back().rows || timed > 2;
}

// The schedule's trial, or one of the same machine code, which is timed once; null where there is none.
const Trial *timed_trial(const std::string &knobs, int64_t rows, const Decision &decision) {
    const std::vector<Trial> &trials = decision.trials;
    const auto own = std::ranges::find_if(
        trials, [&](const Trial &trial) { return trial.knobs == knobs && trial.rows == rows; });
    if (own == trials.end() || own->status != TrialStatus::ok) {
        return nullptr;
    }
    const auto timed = std::ranges::find_if(trials, [&](const Trial &trial) {
        const bool is_alike = !trial.code_hash.empty() && trial.code_hash == own->code_hash;
        return is_timed(trial, rows) && (trial.knobs == knobs || is_alike);
    });
    return timed == trials.end() ? nullptr : &*timed;
}

// The schedules' times over the best's, at each number of rows that was searched; empty where one of them has
// none, since what is left would be no fair sample.
std::vector<double> ratios_to_best(const std::vector<RowsKnobs> &schedules, const Decision &decision) {
    std::vector<double> ratios;
    for (const Choice &choice : decision.selection.choices) {
        if (!is_searched(choice.rows, decision)) {
            continue;
        }
        const auto next = std::ranges::find_if(
            schedules, [&](const RowsKnobs &schedule) { return schedule.min_rows > choice.rows; });
        const Trial *trial =
            next == schedules.begin() ? nullptr : timed_trial(std::prev(next)->knobs, choice.rows, decision);
        if (trial == nullptr) {
            return {};
        }
        ratios.push_back(median_ratio(*trial) / choice.ratio);
    }
    return ratios;
}

double mean_logarithm(const std::vector<double> &ratios) {
    double sum = 0;
    for (const double ratio : ratios) {
        sum += std::log(ratio);
    }
    return sum / static_cast<double>(ratios.size());
}

// The user's decisions of measured sessions for the target, and the shipped ones of what the user did not tune.
std::vector<Decision> measured_decisions(const KnownDatabases &databases, const std::string &target) {
    std::vector<Decision> decisions;
    for (const Database *database : {databases.own, databases.shipped}) {
        if (database == nullptr) {
            continue;
        }
        for (Decision &decision : best_decisions(*database, [&](const StoredSession &session) {
                 return session.source == TimeSource::measured && session.target == target;
             })) {
            if (std::ranges::none_of(decisions, [&](const Decision &known) {
                    return are_of_one_key(known.session, decision.session);
                })) {
                decisions.push_back(std::move(decision));
            }
        }
    }
    return decisions;
}

struct ProblemLoss {
    NormProblem problem;
    bool is_elsewhere;
    std::vector<double> ratios;  // at least one
};

// Of what was measured elsewhere only the heuristic's: the other steps are of this hardware's ladder.
std::vector<ProblemLoss> losses_of(LadderStep step, const Halide::Target &target,
                                   const std::vector<Decision> &decisions, const Ladder &ladder,
                                   const std::string &hardware) {
    std::vector<ProblemLoss> losses;
    for (const Decision &decision : decisions) {
        const bool is_elsewhere = decision.session.hardware_signature != hardware;
        if (!is_elsewhere || step == LadderStep::heuristic) {
            const NormProblem &problem = decision.session.problem;
            std::vector<double> ratios = ratios_to_best(schedules_of(step, problem, target, ladder), decision);
            if (!ratios.empty()) {
                losses.push_back({problem, is_elsewhere, std::move(ratios)});
            }
        }
    }
    return losses;
}

std::optional<ExpectedLoss> expected_loss(const NormProblem &problem, const std::vector<ProblemLoss> &losses) {
    std::map<std::tuple<bool, bool, bool>, std::vector<const ProblemLoss *>> kinds;
    for (const ProblemLoss &loss : losses) {
        if (loss.problem.pass == problem.pass) {
            kinds[{loss.is_elsewhere, loss.problem.op != problem.op, loss.problem.dtype != problem.dtype}]
                .push_back(&loss);
        }
    }
    if (kinds.empty()) {
        return std::nullopt;
    }
    const std::vector<const ProblemLoss *> &nearest = kinds.begin()->second;
    ExpectedLoss expected{1, 0, std::ssize(nearest), nearest.front()->is_elsewhere};
    double sum = 0;
    for (const ProblemLoss *loss : nearest) {
        sum += mean_logarithm(loss->ratios);
        expected.worst_ratio = std::max(expected.worst_ratio, std::ranges::max(loss->ratios));
    }
    expected.ratio = std::exp(sum / static_cast<double>(expected.problems));
    return expected;
}

}  // namespace

std::vector<std::optional<ExpectedLoss>> expected_losses(const std::vector<ResolvedKernel> &kernels,
                                                         const KnownDatabases &databases, const Machine &machine) {
    const Ladder ladder(databases, machine);
    std::map<std::string, std::vector<Decision>> decisions;
    std::map<std::pair<std::string, LadderStep>, std::vector<ProblemLoss>> losses;
    std::vector<std::optional<ExpectedLoss>> expected;
    for (const ResolvedKernel &kernel : kernels) {
        if (kernel.step == LadderStep::tuned || kernel.step == LadderStep::nearest_rows) {
            expected.emplace_back();
            continue;
        }
        const std::string target = target_name(kernel.target);
        if (!decisions.contains(target)) {
            decisions[target] = measured_decisions(databases, target);
        }
        const auto [known, is_new] = losses.try_emplace({target, kernel.step});
        if (is_new) {
            known->second = losses_of(kernel.step, kernel.target, decisions[target], ladder,
                                      signature(machine.of(kernel.target)));
        }
        expected.push_back(expected_loss(kernel.problem, known->second));
    }
    return expected;
}

}  // namespace normforge
