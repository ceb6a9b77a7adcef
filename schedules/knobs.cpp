#include "schedules/knobs.h"

#include <array>

namespace normforge {

std::span<const Knob, kKnobCount> knob_table() {
    static const std::array<Knob, kKnobCount> table = {{
        {"sums",
         &Knobs::sums,
         {{kRowPivot, "row_pivot"}, {kTwoPass, "two_pass"}, {kPlain, "plain"}},
         "how the sums of a row are taken"},
        {"writing",
         &Knobs::writing,
         {{kAscending, "ascending"}, {kDescending, "descending"}},
         "which way the values of a row are written"},
        {"vector", &Knobs::vector, numbers({4, 8, 16}), "values per vector"},
        {"accumulators", &Knobs::accumulators, numbers({1, 2, 4, 8}), "vectors of partial sums"},
        {"unroll", &Knobs::unroll, numbers({1, 2, 4, 8}), "vectors per step of the normalising loop"},
        {"prefetch", &Knobs::prefetch, numbers({0, 1, 2, 4}), "rows ahead whose input is prefetched, 0 for none"},
        {"stores",
         &Knobs::stores,
         {{kCached, "cached"}, {kStreaming, "streaming"}},
         "whether written rows go into the caches or past them"},
        {"block", &Knobs::block, numbers({1, 2, 4, 8, 16}), "rows whose statistics are computed together"},
        {"weights",
         &Knobs::weights,
         {{kPerRow, "per_row"}, {kShared, "shared"}},
         "whether each row of a block loads weight and bias or all share a load"},
    }};
    return table;
}

std::string arithmetic_text(const Knobs &knobs) {
    const Knob &sums = knob_table()[0];
    return knob_text(sums, knobs.*sums.member) + " over " + std::to_string(knobs.lanes()) + " lanes";
}

std::string to_text(const Knobs &knobs) {
    return knobs_text<Knobs>(knob_table(), knobs);
}

Knobs parse_knobs(std::string_view text) {
    return parsed_knobs<Knobs>(knob_table(), text);
}

}  // namespace normforge
