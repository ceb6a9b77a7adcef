#include "autotune/base/nearest_name.h"

#include <algorithm>
#include <vector>

namespace normforge {

namespace {

// The optimal string alignment distance, by rows of its table.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before_last(b.size() + 1);
    std::vector<size_t> last(b.size() + 1);
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.size(); i++) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view text, std::span<const std::string> names) {
    std::string nearest;
    size_t least = std::max<size_t>(1, text.size() / 3) + 1;
    for (const std::string &name : names) {
        if (const size_t letters = distance(text, name); letters < least) {
            least = letters;
            nearest = name;
        }
    }
    return nearest;
}

std::string suggestion(std::string_view text, std::span<const std::string> names) {
    const std::string nearest = nearest_name(text, names);
    return nearest.empty() ? "" : " (did you mean '" + nearest + "'?)";
}

}  // namespace normforge
