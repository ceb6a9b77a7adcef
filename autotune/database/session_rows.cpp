#include "autotune/database/session_rows.h"

#include <fmt/format.h>

namespace normforge {

namespace {

std::string select_sessions() {
    return fmt::format(
        "SELECT session.id, uuid, target, knobs, seed, effort, state, started, ended, noise_floor, source,"
        " process, cut,"
        " halide, llvm, normforge, algorithm, space, signature, arch, vendor, model_name, family, model, stepping,"
        " features, l1d_bytes, l2_bytes, l3_bytes, line_bytes, usable_cores, {} "
        "FROM session JOIN hardware ON hardware.id = session.hardware"
        " JOIN toolchain ON toolchain.id = session.toolchain"
        " JOIN generator ON generator.id = session.generator"
        " JOIN problem ON problem.id = session.problem"
        " LEFT JOIN candidate ON candidate.id = session.reference ORDER BY started, uuid",
        column_list(problem_row(default_problem(NF_LAYER_NORM, 1)), "problem.{}", ", "));
}

// The current row of select_sessions.
StoredSession read_session(const SqliteStatement &row) {
    int column = 0;
    const auto integer = [&] { return row.integer(column++); };
    const auto text = [&] { return row.text(column++); };
    StoredSession session{};
    session.id = integer();
    session.uuid = text();
    session.target = text();
    session.reference = text();
    session.seed = integer();
    session.effort = text();
    session.state = value_named(kSessionStates, text());
    session.started = text();
    session.ended = text();
    if (!row.is_null(column)) {
        session.noise_floor = row.real(column);
    }
    column++;
    session.source = value_named(kTimeSources, text());
    session.process = text();
    session.cut = text();
    session.toolchain = {text(), text(), text()};
    session.generator = {text(), text()};
    session.hardware_signature = text();
    Hardware &hardware = session.hardware;
    hardware.arch = text();
    hardware.vendor = text();
    hardware.model_name = text();
    hardware.family = integer();
    hardware.model = integer();
    hardware.stepping = integer();
    hardware.features = known_features(text());
    hardware.l1d_bytes = integer();
    hardware.l2_bytes = integer();
    hardware.l3_bytes = integer();
    hardware.line_bytes = integer();
    hardware.usable_cores = integer();
    session.problem = read_problem(row, column);
    return session;
}

}  // namespace

std::vector<Column> hardware_row(const Hardware &hardware) {
    return {
        {"signature", signature(hardware)},
        {"arch", hardware.arch},
        {"vendor", hardware.vendor},
        {"model_name", hardware.model_name},
        {"family", hardware.family},
        {"model", hardware.model},
        {"stepping", hardware.stepping},
        {"features", feature_names(hardware.features)},
        {"l1d_bytes", hardware.l1d_bytes},
        {"l2_bytes", hardware.l2_bytes},
        {"l3_bytes", hardware.l3_bytes},
        {"line_bytes", hardware.line_bytes},
        {"usable_cores", hardware.usable_cores},
    };
}

std::vector<Column> toolchain_row(const Toolchain &toolchain) {
    return {{"halide", toolchain.halide}, {"llvm", toolchain.llvm}, {"normforge", toolchain.normforge}};
}

std::vector<Column> generator_row(const GeneratorVersion &generator) {
    return {{"algorithm", generator.algorithm}, {"space", generator.space}};
}

std::vector<StoredSession> read_sessions(const SqliteConnection &connection) {
    SqliteStatement select(connection, select_sessions());
    std::vector<StoredSession> sessions;
    while (select.step()) {
        sessions.push_back(read_session(select));
    }
    return sessions;
}

}  // namespace normforge
