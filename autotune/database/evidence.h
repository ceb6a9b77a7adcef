#pragma once

#include <map>
#include <string>
#include <vector>

#include "autotune/base/trial.h"
#include "autotune/database/sqlite.h"
#include "autotune/database/table_row.h"

namespace normforge {

// What a tuning database holds, apart from the file: no row ids, everything under the name by which it is the same
// in all files. Each kind has its table's columns, but references and what is named beside them, in the table's
// order.

struct TrialEvidence {
    std::vector<Column> columns;
    std::vector<Sample> samples;  // by block

    bool operator==(const TrialEvidence &) const = default;
};

struct ArtifactEvidence {
    std::vector<Column> columns;
    std::map<int64_t, TrialEvidence> trials;  // by number of rows

    bool operator==(const ArtifactEvidence &) const = default;
};

struct SessionEvidence {
    std::string problem;  // to_text's
    std::vector<Column> hardware;
    std::vector<Column> toolchain;
    std::vector<Column> generator;
    SqliteValue reference;  // knobs, or null
    std::vector<Column> columns;
    std::map<std::string, ArtifactEvidence> artifacts;  // by knobs

    bool operator==(const SessionEvidence &) const = default;
};

using Evidence = std::map<std::string, SessionEvidence>;  // by uuid

// All that a or b holds. Commutative, associative and idempotent, also for sessions that both hold in different
// states: of two versions of a thing, the one that has ended later, has failed or has more samples is taken, else
// the one that is greater as text.
Evidence join(Evidence a, const Evidence &b);

Evidence read_evidence(const SqliteConnection &connection);

// Adds what the file lacks; how many sessions were new or changed. To be called in a transaction.
int64_t add_evidence(SqliteConnection &connection, const Evidence &evidence);

// The columns that evidence of a table's rows has, for hardware, toolchain, generator, session, artifact or trial.
struct EvidenceColumn {
    std::string name;
    std::string type;  // SQL's: TEXT, INTEGER or REAL
    bool may_be_null;
};
std::vector<EvidenceColumn> evidence_columns(const SqliteConnection &connection, const std::string &table);

}  // namespace normforge
