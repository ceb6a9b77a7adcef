#include "autotune/manifest/row_counts.h"

#include <algorithm>
#include <set>

namespace normforge {

int64_t cold_bytes(const Hardware &machine) {
    return std::max({kLeastColdBytes, kColdCaches * machine.l2_bytes, kColdCaches * machine.l3_bytes});
}

std::vector<int64_t> row_counts(const NormProblem &problem, const std::vector<std::string> &texts,
                                int64_t cold_bytes) {
    std::set<int64_t> rows;
    for (const std::string &text : texts) {
        int64_t number = std::max<int64_t>(1, cold_bytes / row_bytes(problem));
        if (text != kColdRows) {
            parse_field("rows", text, number);
        }
        rows.insert(number);
    }
    return {rows.begin(), rows.end()};
}

}  // namespace normforge
