#include "autotune/database/evidence.h"

#include <algorithm>
#include <tuple>

#include "autotune/base/enum_text.h"

namespace normforge {

namespace {

const SqliteValue &value_of(const std::vector<Column> &columns, const std::string &name) {
    return std::ranges::find(columns, name, &Column::name)->value;
}

std::vector<SqliteValue> values_of(const std::vector<Column> &columns) {
    std::vector<SqliteValue> values;
    for (const Column &column : columns) {
        values.push_back(column.value);
    }
    return values;
}

// Total orders: what is greater is kept.
auto rank(const TrialEvidence &trial) {
    std::vector<std::tuple<int, int, int64_t, double, double>> samples;
    for (const Sample &sample : trial.samples) {
        samples.emplace_back(sample.block, sample.position, sample.calls, sample.ns, sample.reference_ns);
    }
    const bool is_ok = value_of(trial.columns, "status") == SqliteValue(name_of(kTrialStatuses, TrialStatus::ok));
    return std::tuple(!is_ok, samples.size(), values_of(trial.columns), samples);
}

auto rank(const SessionEvidence &session) {
    return std::tuple(value_of(session.columns, "ended"), values_of(session.columns), session.reference,
                      session.problem, values_of(session.hardware), values_of(session.toolchain),
                      values_of(session.generator));
}

void join_into(ArtifactEvidence &a, const ArtifactEvidence &b) {
    if (values_of(a.columns) < values_of(b.columns)) {
        a.columns = b.columns;
    }
    for (const auto &[rows, trial] : b.trials) {
        const auto [own, is_new] = a.trials.emplace(rows, trial);
        if (!is_new && rank(own->second) < rank(trial)) {
            own->second = trial;
        }
    }
}

void join_into(SessionEvidence &a, const SessionEvidence &b) {
    if (rank(a) < rank(b)) {
        std::map<std::string, ArtifactEvidence> artifacts = std::move(a.artifacts);
        a = b;
        a.artifacts = std::move(artifacts);
    }
    for (const auto &[knobs, artifact] : b.artifacts) {
        const auto [own, is_new] = a.artifacts.emplace(knobs, artifact);
        if (!is_new) {
            join_into(own->second, artifact);
        }
    }
}

}  // namespace

Evidence join(Evidence a, const Evidence &b) {
    for (const auto &[uuid, session] : b) {
        const auto [own, is_new] = a.emplace(uuid, session);
        if (!is_new) {
            join_into(own->second, session);
        }
    }
    return a;
}

}  // namespace normforge
