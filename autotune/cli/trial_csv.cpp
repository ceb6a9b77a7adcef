#include "autotune/cli/trial_csv.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace normforge {

namespace {

using Row = std::vector<std::pair<std::string, std::string>>;  // column and text

std::string quoted(const std::string &text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return result + "\"";
}

Row row_of(const StoredSession &session, const Trial &trial) {
    Row row = {{"session", session.uuid},
               {"started", session.started},
               {"state", name_of(kSessionStates, session.state)},
               {"effort", session.effort},
               {"source", name_of(kTimeSources, session.source)},
               {"hardware", session.hardware_signature},
               {"model_name", session.hardware.model_name},
               {"halide", session.toolchain.halide},
               {"llvm", session.toolchain.llvm},
               {"normforge", session.toolchain.normforge},
               {"target", session.target}};
    visit_fields(session.problem, [&](const char *name, const auto &field) {
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(field)>>) {
            row.emplace_back(name, field_text(field));
        } else {
            row.emplace_back(name, fmt::format("{}", field));
        }
    });
    const auto if_sampled = [&](double value) {
        return trial.samples.empty() ? std::string() : fmt::format("{}", value);
    };
    row.insert(row.end(), {{"rows", fmt::format("{}", trial.rows)},
                           {"knobs", trial.knobs},
                           {"is_reference", trial.knobs == session.reference ? "yes" : "no"},
                           {"status", name_of(kTrialStatuses, trial.status)},
                           {"message", trial.message},
                           {"samples", fmt::format("{}", trial.samples.size())},
                           {"ratio", if_sampled(median_ratio(trial))},
                           {"ns", if_sampled(median_of(trial, &Sample::ns))},
                           {"reference_ns", if_sampled(median_of(trial, &Sample::reference_ns))},
                           {"error_ratio", fmt::format("{}", trial.error_ratio)},
                           {"code_bytes", fmt::format("{}", trial.code_bytes)},
                           {"compile_ms", fmt::format("{}", trial.compile_ms)},
                           {"object_hash", trial.object_hash},
                           {"code_hash", trial.code_hash}});
    return row;
}

std::string line(const Row &row, std::string Row::value_type::*part) {
    std::string text;
    for (const auto &cell : row) {
        text += (&cell == &row.front() ? "" : ",") + quoted(cell.*part);
    }
    return text + "\r\n";
}

}  // namespace

std::string trial_csv(const Database &database) {
    StoredSession any_session{};
    any_session.problem = default_problem(NF_LAYER_NORM, 1);
    std::string text = line(row_of(any_session, {}), &Row::value_type::first);
    for (const StoredSession &session : database.sessions()) {
        for (const Trial &trial : database.trials(session.id)) {
            text += line(row_of(session, trial), &Row::value_type::second);
        }
    }
    return text;
}

}  // namespace normforge
