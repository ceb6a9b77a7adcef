#include "autotune/database/evidence_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "autotune/database/migrations.h"

namespace normforge {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    if (std::isinf(value)) {
        return value > 0 ? "inf" : "-inf";
    }
    return value;
}

Json text(const std::string &value) {
    try {
        static_cast<void>(Json(value).dump());
        return value;
    } catch (const Json::type_error &) {  // no UTF-8
        std::string digits;
        for (const unsigned char byte : value) {
            digits += fmt::format("{:02x}", byte);
        }
        return {{"hex", digits}};
    }
}

Json json_of(const SqliteValue &value) {
    if (const auto *held = std::get_if<std::string>(&value)) {
        return text(*held);
    }
    if (const auto *held = std::get_if<double>(&value)) {
        return number(*held);
    }
    const auto *held = std::get_if<int64_t>(&value);
    return held ? Json(*held) : Json();
}

void append(Json &json, const std::vector<Column> &columns) {
    for (const Column &column : columns) {
        json[column.name] = json_of(column.value);
    }
}

Json json_of(const std::vector<Column> &columns) {
    Json json = Json::object();
    append(json, columns);
    return json;
}

// An object's members without the brace at the end, so that more can follow.
std::string open_object(const Json &json) {
    std::string members = json.dump();
    members.pop_back();
    return members;
}

std::string trial_line(int64_t rows, const TrialEvidence &trial) {
    Json json = {{"rows", rows}};
    append(json, trial.columns);
    json["samples"] = Json::array();
    for (const Sample &sample : trial.samples) {
        json["samples"].push_back(
            {sample.block, sample.position, sample.calls, number(sample.ns), number(sample.reference_ns)});
    }
    return json.dump();
}

// Each item on a line of its own, in brackets.
std::string lines(const std::vector<std::string> &items) {
    return items.empty() ? "[]" : fmt::format("[\n{}\n]", fmt::join(items, ",\n"));
}

std::string artifact_lines(const std::string &knobs, const ArtifactEvidence &artifact) {
    Json json = {{"knobs", text(knobs)}};
    append(json, artifact.columns);
    std::vector<std::string> trials;
    for (const auto &[rows, trial] : artifact.trials) {
        trials.push_back(trial_line(rows, trial));
    }
    return open_object(json) + ",\"trials\":" + lines(trials) + "}";
}

std::string session_lines(const std::string &uuid, const SessionEvidence &session) {
    Json json = {{"uuid", text(uuid)},
                 {"problem", session.problem},
                 {"hardware", json_of(session.hardware)},
                 {"toolchain", json_of(session.toolchain)},
                 {"generator", json_of(session.generator)},
                 {"reference", json_of(session.reference)}};
    append(json, session.columns);
    std::vector<std::string> members;
    for (const auto &[name, value] : json.items()) {
        members.push_back(Json(name).dump() + ":" + value.dump());
    }
    std::vector<std::string> artifacts;
    for (const auto &[knobs, artifact] : session.artifacts) {
        artifacts.push_back(artifact_lines(knobs, artifact));
    }
    return fmt::format("{{{},\n\"artifacts\":{}}}", fmt::join(members, ",\n"), lines(artifacts));
}

}  // namespace

std::string to_json(const Evidence &evidence) {
    std::vector<const Evidence::value_type *> sessions;
    for (const auto &session : evidence) {
        sessions.push_back(&session);
    }
    std::ranges::stable_sort(sessions, {}, [](const auto *session) { return session->second.problem; });
    std::vector<std::string> texts;
    for (const auto *session : sessions) {
        texts.push_back(session_lines(session->first, session->second));
    }
    return fmt::format("{{\"format\":\"{}\",\"schema\":{},\"sessions\":{}}}\n", kEvidenceFormat, schema_version(),
                       lines(texts));
}

}  // namespace normforge
