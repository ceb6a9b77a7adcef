#include "autotune/manifest/row_counts.h"

#include <algorithm>
#include <set>

namespace normforge {

std::vector<int64_t> row_counts(const NormProblem &problem, const std::vector<std::string> &texts) {
    std::set<int64_t> rows;
    for (const std::string &text : texts) {
        int64_t number = std::max<int64_t>(1, kColdBytes / row_bytes(problem));
        if (text != kColdRows) {
            parse_field("rows", text, number);
        }
        rows.insert(number);
    }
    return {rows.begin(), rows.end()};
}

}  // namespace normforge
