#include "autotune/cli/text_table.h"

#include <algorithm>

namespace normforge {

std::string text_table(const std::vector<std::vector<std::string>> &rows, const std::string &start) {
    std::vector<size_t> widths;
    for (const std::vector<std::string> &row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (size_t column = 0; column < row.size(); column++) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    std::string text;
    for (const std::vector<std::string> &row : rows) {
        std::string line = start;
        for (size_t column = 0; column < row.size(); column++) {
            line += row[column] + std::string(widths[column] + 2 - row[column].size(), ' ');
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace normforge
