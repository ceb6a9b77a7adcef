#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "autotune/database/sqlite.h"
#include "runtime/norm_problem.h"

namespace normforge {

struct Column {
    std::string name;
    SqliteValue value;

    bool operator==(const Column &) const = default;
};

// One text a column, in which every {} is the column's name, joined: column_list(row, "{} = ?", " AND ").
std::string column_list(const std::vector<Column> &row, std::string_view form, std::string_view separator);

void bind_row(SqliteStatement &statement, const std::vector<Column> &row);

// The id of the table's row with these values, which is inserted if it is new. They must be all of the table's
// columns but id, and unique together.
int64_t find_or_insert(SqliteConnection &connection, const std::string &table, const std::vector<Column> &row);

// One column for each of the problem's fields, by the field's name: text for an enumeration, else an integer.
std::vector<Column> problem_row(const NormProblem &problem);

// The inverse, from consecutive columns of a result.
NormProblem read_problem(const SqliteStatement &statement, int first_column);

}  // namespace normforge
