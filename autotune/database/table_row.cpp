#include "autotune/database/table_row.h"

#include <fmt/format.h>

#include <type_traits>

namespace normforge {

std::string column_list(const std::vector<Column> &row, std::string_view form, std::string_view separator) {
    std::vector<std::string> texts;
    for (const Column &column : row) {
        texts.push_back(fmt::format(fmt::runtime(form), column.name));
    }
    return fmt::format("{}", fmt::join(texts, separator));
}

void bind_row(SqliteStatement &statement, const std::vector<Column> &row) {
    for (const Column &column : row) {
        statement.bind_value(column.value);
    }
}

int64_t find_or_insert(SqliteConnection &connection, const std::string &table, const std::vector<Column> &row) {
    SqliteStatement insert(connection, fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING", table,
                                                   column_list(row, "{}", ", "), column_list(row, "?", ", ")));
    bind_row(insert, row);
    insert.run();
    SqliteStatement find(connection,
                         fmt::format("SELECT id FROM {} WHERE {}", table, column_list(row, "{} = ?", " AND ")));
    bind_row(find, row);
    if (!find.step()) {
        throw DatabaseError(connection.path(),
                            fmt::format("the table {} has another row in this one's place", table));
    }
    return find.integer(0);
}

std::vector<Column> problem_row(const NormProblem &problem) {
    std::vector<Column> row;
    visit_fields(problem, [&](const char *name, const auto &value) {
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
            row.push_back({name, field_text(value)});
        } else {
            row.push_back({name, int64_t{value}});
        }
    });
    return row;
}

NormProblem read_problem(const SqliteStatement &statement, int first_column) {
    NormProblem problem{};
    int column = first_column;
    visit_fields(problem,
                 [&](const char *name, auto &value) { parse_field(name, statement.text(column++), value); });
    return problem;
}

}  // namespace normforge
