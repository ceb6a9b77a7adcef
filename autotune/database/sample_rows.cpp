#include "autotune/database/sample_rows.h"

namespace normforge {

void insert_samples(SqliteConnection &connection, int64_t trial, const std::vector<Sample> &samples) {
    SqliteStatement insert(connection, "INSERT INTO sample (trial, block, position, calls, ns, reference_ns)"
                                       " VALUES (?, ?, ?, ?, ?, ?)");
    for (const Sample &sample : samples) {
        insert.bind(trial)
            .bind(sample.block)
            .bind(sample.position)
            .bind(sample.calls)
            .bind(sample.ns)
            .bind(sample.reference_ns)
            .run();
    }
}

std::vector<Sample> read_samples(const SqliteConnection &connection, int64_t trial) {
    SqliteStatement select(connection,
                           "SELECT block, position, calls, ns, reference_ns FROM sample WHERE trial = ?"
                           " ORDER BY block");
    select.bind(trial);
    std::vector<Sample> samples;
    while (select.step()) {
        samples.push_back({.block = static_cast<int>(select.integer(0)),
                           .position = static_cast<int>(select.integer(1)),
                           .calls = select.integer(2),
                           .ns = select.real(3),
                           .reference_ns = select.real(4)});
    }
    return samples;
}

}  // namespace normforge
