#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "autotune/base/enum_text.h"
#include "autotune/database/evidence_json.h"
#include "autotune/database/schema.h"

namespace normforge {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kFirstSchema = 3;  // that texts are of

// A part of the text that knows where it is.
class Place {
public:
    // The whole text.
    Place(const Json &json, const std::string &name) : json_(json), path_(name), separator_(": ") {}

    [[noreturn]] void fail(const std::string &what) const { throw UserError(fmt::format("{}: {}", path_, what)); }

    Place operator[](const std::string &name) const {
        if (!json_.is_object()) {
            fail("it is no object");
        }
        const auto found = json_.find(name);
        if (found == json_.end()) {
            fail(fmt::format("'{}' is missing", name));
        }
        return {*found, path_ + separator_ + name, "."};
    }

    std::vector<Place> elements() const {
        if (!json_.is_array()) {
            fail("it is no array");
        }
        std::vector<Place> places;
        for (const Json &element : json_) {
            places.push_back({element, fmt::format("{}[{}]", path_, places.size()), "."});
        }
        return places;
    }

    std::string text() const {
        if (json_.is_object() && json_.size() == 1 && json_.contains("hex")) {
            return bytes((*this)["hex"].text());
        }
        if (!json_.is_string()) {
            fail("it is no text");
        }
        return json_.get<std::string>();
    }

    int64_t integer() const {
        if (!json_.is_number_integer() || (json_.is_number_unsigned() && json_.get<uint64_t>() > INT64_MAX)) {
            fail("it is no whole number of 64 bits");
        }
        return json_.get<int64_t>();
    }

    int small_integer() const {
        const int64_t value = integer();
        if (value != static_cast<int>(value)) {
            fail("it is no whole number of 32 bits");
        }
        return static_cast<int>(value);
    }

    double real() const {
        if (json_ == "inf" || json_ == "-inf") {
            return json_ == "inf" ? std::numeric_limits<double>::infinity()
                                  : -std::numeric_limits<double>::infinity();
        }
        if (!json_.is_number()) {
            fail("it is no number");
        }
        return json_.get<double>();
    }

    // Of a number that must be above 0.
    template <typename Number>
    Number positive(Number value) const {
        if (!(value > 0)) {
            fail("it is not above 0");
        }
        return value;
    }

    bool is_null() const { return json_.is_null(); }

    SqliteValue value(const EvidenceColumn &column) const {
        if (column.may_be_null && is_null()) {
            return {};
        }
        if (column.type == "INTEGER") {
            return integer();
        }
        return column.type == "REAL" ? SqliteValue(real()) : SqliteValue(text());
    }

    // What the action throws names this place.
    template <typename Action>
    auto checked(Action &&action) const {
        try {
            return action();
        } catch (const UserError &error) {
            fail(error.what());
        }
    }

private:
    Place(const Json &json, const std::string &path, const char *separator)
        : json_(json), path_(path), separator_(separator) {}

    std::string bytes(const std::string &digits) const {
        std::string result;
        for (size_t at = 0; at < digits.size(); at += 2) {
            const std::string pair = digits.substr(at, 2);
            if (pair.size() != 2 || pair.find_first_not_of("0123456789abcdef") != std::string::npos) {
                fail("hex is not made of pairs of 0 to 9 and a to f");
            }
            result += static_cast<char>(std::stoi(pair, nullptr, 16));
        }
        return result;
    }

    const Json &json_;
    const std::string path_;
    const char *separator_;  // between it and the name of a member
};

class Parser {
public:
    explicit Parser(const SqliteConnection &schema) {
        for (const char *table : {"hardware", "toolchain", "generator", "session", "artifact", "trial"}) {
            columns_[table] = evidence_columns(schema, table);
        }
    }

    SessionEvidence session(const Place &place) const {
        SessionEvidence session;
        session.problem =
            place["problem"].checked([&] { return to_text(parse_problem(place["problem"].text())); });
        session.hardware = columns(place["hardware"], "hardware");
        session.toolchain = columns(place["toolchain"], "toolchain");
        session.generator = columns(place["generator"], "generator");
        session.reference = place["reference"].value({"reference", "TEXT", true});
        session.columns = columns(place, "session");
        const Place state = place["state"];
        const SessionState parsed = state.checked([&] { return value_named(kSessionStates, state.text()); });
        if ((parsed == SessionState::running) != place["ended"].is_null()) {
            state.fail("a session has ended where it is not running");
        }
        for (const Place &artifact : place["artifacts"].elements()) {
            if (!session.artifacts.emplace(artifact["knobs"].text(), this->artifact(artifact)).second) {
                artifact["knobs"].fail("another artifact of the session has the same");
            }
        }
        return session;
    }

private:
    std::vector<Column> columns(const Place &place, const std::string &table) const {
        std::vector<Column> columns;
        for (const EvidenceColumn &column : columns_.at(table)) {
            columns.push_back({column.name, place[column.name].value(column)});
        }
        return columns;
    }

    ArtifactEvidence artifact(const Place &place) const {
        ArtifactEvidence artifact{columns(place, "artifact"), {}};
        for (const Place &trial : place["trials"].elements()) {
            const int64_t rows = trial["rows"].positive(trial["rows"].integer());
            if (!artifact.trials.emplace(rows, this->trial(trial)).second) {
                trial["rows"].fail("another trial of the artifact has the same");
            }
        }
        return artifact;
    }

    TrialEvidence trial(const Place &place) const {
        TrialEvidence trial{columns(place, "trial"), {}};
        place["status"].checked([&] { return value_named(kTrialStatuses, place["status"].text()); });
        for (const Place &sample : place["samples"].elements()) {
            const std::vector<Place> fields = sample.elements();
            if (fields.size() != 5) {
                sample.fail("a sample has 5 numbers");
            }
            trial.samples.push_back({.block = fields[0].small_integer(),
                                     .position = fields[1].small_integer(),
                                     .calls = fields[2].positive(fields[2].integer()),
                                     .ns = fields[3].positive(fields[3].real()),
                                     .reference_ns = fields[4].positive(fields[4].real())});
        }
        std::ranges::sort(trial.samples, {}, &Sample::block);
        if (std::ranges::adjacent_find(trial.samples, {}, &Sample::block) != trial.samples.end()) {
            place["samples"].fail("two are of one block");
        }
        return trial;
    }

    std::map<std::string, std::vector<EvidenceColumn>> columns_;  // by table
};

}  // namespace

Evidence from_json(const std::string &text, const std::string &name) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::parse_error &error) {
        const std::string message = error.what();  // "[json.exception...] parse error at line 3, column 4: ..."
        throw UserError(fmt::format("{}: it is no JSON: {}", name, message.substr(message.find("] ") + 2)));
    }
    const Place place(json, name);
    if (place["format"].text() != kEvidenceFormat) {
        place["format"].fail(fmt::format("it is not '{}'", kEvidenceFormat));
    }
    const int64_t schema = place["schema"].integer();
    if (schema < kFirstSchema || schema > schema_version()) {
        place["schema"].fail(
            fmt::format("it is {}, and this normforge reads {} to {}", schema, kFirstSchema, schema_version()));
    }
    SqliteConnection tables = empty_database(schema);
    const Parser parser(tables);
    Evidence evidence;
    for (const Place &session : place["sessions"].elements()) {
        if (!evidence.emplace(session["uuid"].text(), parser.session(session)).second) {
            session["uuid"].fail("another session has the same");
        }
    }
    if (schema < schema_version()) {
        add_evidence(tables, evidence);
        migrate(tables, schema_version());
        evidence = read_evidence(tables);
    }
    return evidence;
}

}  // namespace normforge
