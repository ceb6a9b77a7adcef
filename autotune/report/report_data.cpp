#include "autotune/report/report_data.h"

#include <algorithm>
#include <utility>

#include "autotune/report/session_data.h"
#include "autotune/search/decision.h"

namespace normforge {

namespace {

// The problem without its hidden size: what a line of the chart over hidden sizes is of.
std::string family_of(NormProblem problem) {
    problem.hidden = 1;
    const std::string text = to_text(problem);
    return text.substr(0, text.rfind(",hidden="));
}

ReportJson choice_data(const StoredSession &session, const Choice &choice, const CopySpeed &copy_speed) {
    const double bytes = static_cast<double>(row_bytes(session.problem) * choice.rows);
    const std::optional<double> copy = copy_speed(session, choice.rows);
    ReportJson data;
    data["rows"] = choice.rows;
    data["bytes"] = bytes;
    data["ns"] = choice.nanoseconds;
    data["heuristic_ns"] = choice.reference_nanoseconds;
    data["gain"] = 1 / choice.ratio;
    data["gb_per_s"] = bytes / choice.nanoseconds;
    data["heuristic_gb_per_s"] = bytes / choice.reference_nanoseconds;
    data["copy_gb_per_s"] = copy ? ReportJson(*copy) : ReportJson();
    data["knobs"] = choice.knobs;
    return data;
}

ReportJson decision_data(const Decision &decision, const CopySpeed &copy_speed) {
    const StoredSession &session = decision.session;
    ReportJson data;
    data["problem"] = to_text(session.problem);
    data["family"] = family_of(session.problem);
    data["hidden"] = session.problem.hidden;
    data["machine"] = session.hardware.model_name;
    data["signature"] = session.hardware_signature;
    data["target"] = session.target;
    data["l3_bytes"] = session.hardware.l3_bytes;
    data["noise"] = decision.selection.noise;
    data["choices"] = ReportJson::array();
    for (const Choice &choice : decision.selection.choices) {
        data["choices"].push_back(choice_data(session, choice, copy_speed));
    }
    return data;
}

}  // namespace

ReportJson report_data(const Database &database, const std::string &name, const CopySpeed &copy_speed) {
    ReportJson data;
    data["name"] = name;
    data["best"] = ReportJson::array();
    // Simulated cycles are no times.
    const auto is_measured = [](const StoredSession &session) { return session.source == TimeSource::measured; };
    std::vector<Decision> decisions = best_decisions(database);
    std::erase_if(decisions, [&](const Decision &decision) { return !is_measured(decision.session); });
    std::ranges::stable_sort(decisions, {}, [](const Decision &decision) {
        const NormProblem &problem = decision.session.problem;
        return std::pair(family_of(problem), problem.hidden);
    });
    for (const Decision &decision : decisions) {
        data["best"].push_back(decision_data(decision, copy_speed));
    }
    data["sessions"] = ReportJson::array();
    for (const StoredSession &session : database.sessions()) {
        if (is_measured(session)) {
            data["sessions"].push_back(session_data(session, database.trials(session.id)));
        }
    }
    return data;
}

}  // namespace normforge
