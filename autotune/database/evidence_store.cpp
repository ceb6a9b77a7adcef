#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "autotune/database/evidence.h"
#include "autotune/database/sample_rows.h"

namespace normforge {

namespace {

// References to other tables, and the names under which evidence is kept.
constexpr const char *kElsewhere[] = {"id",      "uuid",      "hardware",  "toolchain", "generator",
                                      "problem", "reference", "candidate", "session",   "artifact"};

std::string names_of(const std::vector<EvidenceColumn> &columns) {
    std::vector<std::string> names;
    for (const EvidenceColumn &column : columns) {
        names.push_back(column.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

class Reader {
public:
    explicit Reader(const SqliteConnection &connection) : connection_(connection) {}

    SessionEvidence session(int64_t id) const {
        SqliteStatement select(connection_,
                               fmt::format("SELECT hardware, toolchain, generator, knobs, {}, {} FROM session"
                                           " JOIN problem ON problem.id = session.problem"
                                           " LEFT JOIN candidate ON candidate.id = session.reference"
                                           " WHERE session.id = ?",
                                           names_of(session_columns_),
                                           column_list(problem_columns_, "problem.{}", ", ")));
        select.bind(id).step();
        SessionEvidence session;
        session.hardware = fact("hardware", hardware_columns_, select.integer(0));
        session.toolchain = fact("toolchain", toolchain_columns_, select.integer(1));
        session.generator = fact("generator", generator_columns_, select.integer(2));
        session.reference = select.value(3);
        session.columns = row(select, session_columns_, 4);
        session.problem = to_text(read_problem(select, 4 + static_cast<int>(session_columns_.size())));
        session.artifacts = artifacts(id);
        return session;
    }

private:
    static std::vector<Column> row(const SqliteStatement &statement, const std::vector<EvidenceColumn> &columns,
                                   int first_column) {
        std::vector<Column> values;
        for (const EvidenceColumn &column : columns) {
            values.push_back({column.name, statement.value(first_column++)});
        }
        return values;
    }

    std::vector<Column> fact(const std::string &table, const std::vector<EvidenceColumn> &columns,
                             int64_t id) const {
        SqliteStatement select(connection_,
                               fmt::format("SELECT {} FROM {} WHERE id = ?", names_of(columns), table));
        select.bind(id).step();
        return row(select, columns, 0);
    }

    std::map<std::string, ArtifactEvidence> artifacts(int64_t session) const {
        SqliteStatement select(connection_,
                               fmt::format("SELECT artifact.id, knobs, {} FROM artifact JOIN candidate"
                                           " ON candidate.id = candidate WHERE session = ?",
                                           names_of(artifact_columns_)));
        SqliteStatement select_trials(connection_, fmt::format("SELECT id, rows, {} FROM trial WHERE artifact = ?",
                                                               names_of(trial_columns_)));
        SampleReader samples(connection_);
        std::map<std::string, ArtifactEvidence> artifacts;
        select.bind(session);
        while (select.step()) {
            ArtifactEvidence &artifact = artifacts[select.text(1)];
            artifact.columns = row(select, artifact_columns_, 2);
            select_trials.bind(select.integer(0));
            while (select_trials.step()) {
                TrialEvidence &trial = artifact.trials[select_trials.integer(1)];
                trial.columns = row(select_trials, trial_columns_, 2);
                trial.samples = samples.read(select_trials.integer(0));
            }
            select_trials.reset();
        }
        return artifacts;
    }

    const SqliteConnection &connection_;
    const std::vector<EvidenceColumn> hardware_columns_ = evidence_columns(connection_, "hardware");
    const std::vector<EvidenceColumn> toolchain_columns_ = evidence_columns(connection_, "toolchain");
    const std::vector<EvidenceColumn> generator_columns_ = evidence_columns(connection_, "generator");
    const std::vector<EvidenceColumn> session_columns_ = evidence_columns(connection_, "session");
    const std::vector<EvidenceColumn> artifact_columns_ = evidence_columns(connection_, "artifact");
    const std::vector<EvidenceColumn> trial_columns_ = evidence_columns(connection_, "trial");
    const std::vector<Column> problem_columns_ = problem_row(default_problem(NF_LAYER_NORM, 1));
};

int64_t insert(SqliteConnection &connection, const std::string &table, const std::vector<Column> &row) {
    SqliteStatement statement(connection, fmt::format("INSERT INTO {} ({}) VALUES ({})", table,
                                                      column_list(row, "{}", ", "), column_list(row, "?", ", ")));
    bind_row(statement, row);
    statement.run();
    return connection.last_insert_id();
}

void insert_session(SqliteConnection &connection, const std::string &uuid, const SessionEvidence &session) {
    const auto candidate = [&](const std::string &knobs) {
        return find_or_insert(connection, "candidate", {{"knobs", knobs}});
    };
    const auto *reference = std::get_if<std::string>(&session.reference);
    std::vector<Column> row = session.columns;
    row.push_back({"uuid", uuid});
    row.push_back({"hardware", find_or_insert(connection, "hardware", session.hardware)});
    row.push_back({"toolchain", find_or_insert(connection, "toolchain", session.toolchain)});
    row.push_back({"generator", find_or_insert(connection, "generator", session.generator)});
    row.push_back({"problem", find_or_insert(connection, "problem", problem_row(parse_problem(session.problem)))});
    row.push_back({"reference", reference ? SqliteValue(candidate(*reference)) : SqliteValue()});
    const int64_t id = insert(connection, "session", row);
    for (const auto &[knobs, artifact] : session.artifacts) {
        row = artifact.columns;
        row.push_back({"session", id});
        row.push_back({"candidate", candidate(knobs)});
        const int64_t artifact_id = insert(connection, "artifact", row);
        for (const auto &[rows, trial] : artifact.trials) {
            row = trial.columns;
            row.push_back({"artifact", artifact_id});
            row.push_back({"rows", rows});
            insert_samples(connection, insert(connection, "trial", row), trial.samples);
        }
    }
}

}  // namespace

std::vector<EvidenceColumn> evidence_columns(const SqliteConnection &connection, const std::string &table) {
    SqliteStatement select(connection, "SELECT name, type, \"notnull\" FROM pragma_table_info(?)");
    select.bind(table);
    std::vector<EvidenceColumn> columns;
    while (select.step()) {
        const std::string name = select.text(0);
        const bool is_key = table == "trial" && name == "rows";
        if (!is_key && std::ranges::find(kElsewhere, name) == std::end(kElsewhere)) {
            columns.push_back({name, select.text(1), select.integer(2) == 0});
        }
    }
    return columns;
}

Evidence read_evidence(const SqliteConnection &connection) {
    const Reader reader(connection);
    SqliteStatement select(connection, "SELECT uuid, id FROM session");
    Evidence evidence;
    while (select.step()) {
        evidence.emplace(select.text(0), reader.session(select.integer(1)));
    }
    return evidence;
}

int64_t add_evidence(SqliteConnection &connection, const Evidence &evidence) {
    const Reader reader(connection);
    SqliteStatement find(connection, "SELECT id FROM session WHERE uuid = ?");
    SqliteStatement remove(connection, "DELETE FROM session WHERE id = ?");
    int64_t changed = 0;
    for (const auto &[uuid, session] : evidence) {
        SessionEvidence result = session;
        if (find.bind(uuid).step()) {
            const int64_t id = find.integer(0);
            const SessionEvidence stored = reader.session(id);
            result = join({{uuid, stored}}, {{uuid, session}}).at(uuid);
            if (result == stored) {
                find.reset();
                continue;
            }
            remove.bind(id).run();
        }
        find.reset();
        insert_session(connection, uuid, result);
        changed++;
    }
    return changed;
}

}  // namespace normforge
