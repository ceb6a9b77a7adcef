#pragma once

#include <random>
#include <string>

#include "autotune/base/enum_text.h"
#include "autotune/database/evidence.h"
#include "autotune/database/schema.h"

namespace normforge {

// Evidence made up at random, of few names and values, so that two pieces have much in common and disagree often.
class RandomEvidence {
public:
    explicit RandomEvidence(uint64_t seed) : random_(seed) {}

    Evidence evidence() {
        Evidence evidence;
        for (const char *uuid : {"a", "b", "c"}) {
            if (number(3) > 0) {
                evidence.emplace(uuid, session());
            }
        }
        return evidence;
    }

private:
    int number(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

    SqliteValue value(const EvidenceColumn &column) {
        if (column.may_be_null && number(3) == 0) {
            return {};
        }
        if (column.type == "INTEGER") {
            return int64_t{number(3)};
        }
        if (column.type == "REAL") {
            const double values[] = {0.1, 1.0 / 3, std::numeric_limits<double>::infinity(), 5e-324};
            return values[number(4)];
        }
        const char *texts[] = {"", "it's \"text\"\n", "\xc3\xa9", "\xff\x01"};
        return std::string(texts[number(4)]);
    }

    std::vector<Column> columns(const std::string &table) {
        std::vector<Column> columns;
        for (const EvidenceColumn &column : evidence_columns(schema_, table)) {
            columns.push_back({column.name, value(column)});
        }
        return columns;
    }

    static SqliteValue &at(std::vector<Column> &columns, const std::string &name) {
        return std::ranges::find(columns, name, &Column::name)->value;
    }

    SessionEvidence session() {
        const char *problems[] = {"op=layer_norm,dtype=f32,hidden=8", "op=rms_norm,dtype=bf16,hidden=4096"};
        SessionEvidence session{problems[number(2)],
                                columns("hardware"),
                                columns("toolchain"),
                                columns("generator"),
                                value({"", "TEXT", true}),
                                columns("session"),
                                {}};
        const bool has_ended = number(2) == 0;
        at(session.columns, "ended") = has_ended ? SqliteValue(std::to_string(number(3))) : SqliteValue();
        at(session.columns, "state") =
            name_of(kSessionStates, has_ended ? SessionState::done : SessionState::running);
        at(session.columns, "source") =
            name_of(kTimeSources, number(2) == 0 ? TimeSource::measured : TimeSource::simulated);
        for (const char *knobs : {"x", "y"}) {
            if (number(3) > 0) {
                session.artifacts.emplace(knobs, ArtifactEvidence{columns("artifact"), trials()});
            }
        }
        return session;
    }

    std::map<int64_t, TrialEvidence> trials() {
        std::map<int64_t, TrialEvidence> trials;
        for (const int64_t rows : {1, 64}) {
            if (number(3) > 0) {
                TrialEvidence &trial = trials[rows];
                trial.columns = columns("trial");
                at(trial.columns, "status") =
                    name_of(kTrialStatuses, number(3) > 0 ? TrialStatus::ok : TrialStatus::crash);
                for (int block = 0; block < number(4); block++) {
                    trial.samples.push_back({block, number(3), 1 + number(3), 0.5 + number(2), 1.0 / 3});
                }
            }
        }
        return trials;
    }

    std::mt19937_64 random_;
    SqliteConnection schema_ = empty_database(schema_version());
};

}  // namespace normforge
