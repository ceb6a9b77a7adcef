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

SampleReader::SampleReader(const SqliteConnection &connection)
    : select_(connection, "SELECT block, position, calls, ns, reference_ns FROM sample WHERE trial = ?"
                          " ORDER BY block") {}

std::vector<Sample> SampleReader::read(int64_t trial) {
    select_.bind(trial);
    std::vector<Sample> samples;
    while (select_.step()) {
        samples.push_back({.block = static_cast<int>(select_.integer(0)),
                           .position = static_cast<int>(select_.integer(1)),
                           .calls = select_.integer(2),
                           .ns = select_.real(3),
                           .reference_ns = select_.real(4)});
    }
    select_.reset();
    return samples;
}

}  // namespace normforge
