#include "schedules/knobs.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/user_error.h"

namespace normforge {

namespace {

std::vector<KnobValue> numbers(std::initializer_list<int> values) {
    std::vector<KnobValue> result;
    for (int value : values) {
        result.push_back({value, nullptr});
    }
    return result;
}

std::string value_text(const KnobValue &value) {
    return value.text ? value.text : std::to_string(value.value);
}

std::string legal_values(const Knob &knob) {
    std::string result;
    for (const KnobValue &value : knob.values) {
        result += (result.empty() ? "" : ", ") + value_text(value);
    }
    return result;
}

}  // namespace

std::span<const Knob, kKnobCount> knob_table() {
    static const std::array<Knob, kKnobCount> table = {{
        {"sums",
         &Knobs::sums,
         {{kLanePivot, "lane_pivot"}, {kTwoPass, "two_pass"}, {kPlain, "plain"}},
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

std::string knob_text(const Knob &knob, int value) {
    auto found = std::ranges::find(knob.values, value, &KnobValue::value);
    return found == knob.values.end() ? std::to_string(value) : value_text(*found);
}

int knob_value(const Knob &knob, std::string_view text) {
    for (const KnobValue &value : knob.values) {
        if (value_text(value) == text) {
            return value.value;
        }
    }
    throw UserError("knob " + std::string(knob.name) + ": '" + std::string(text) + "' is none of " +
                    legal_values(knob));
}

std::string arithmetic_text(const Knobs &knobs) {
    const Knob &sums = knob_table()[0];
    return knob_text(sums, knobs.*sums.member) + " over " + std::to_string(knobs.lanes()) + " lanes";
}

std::string to_text(const Knobs &knobs) {
    std::string text;
    for (const Knob &knob : knob_table()) {
        text += text.empty() ? "" : ",";
        text.append(knob.name).append("=").append(knob_text(knob, knobs.*knob.member));
    }
    return text;
}

Knobs parse_knobs(std::string_view text) {
    Knobs knobs{};
    std::vector<std::string_view> seen;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view item = text.substr(begin, end - begin);
        begin = end + 1;
        std::string_view name = item.substr(0, item.find('='));
        auto knob = std::ranges::find(knob_table(), name, &Knob::name);
        if (knob == knob_table().end()) {
            std::string names;
            for (const Knob &known : knob_table()) {
                names += (names.empty() ? "" : ", ") + std::string(known.name);
            }
            throw UserError("unknown knob '" + std::string(name) + "'; known are " + names);
        }
        if (std::ranges::find(seen, name) != seen.end()) {
            throw UserError("knob " + std::string(name) + " is given twice");
        }
        seen.push_back(name);
        knobs.*knob->member = knob_value(*knob, item.substr(std::min(item.size(), name.size() + 1)));
    }
    for (const Knob &knob : knob_table()) {
        if (std::ranges::find(seen, std::string_view(knob.name)) == seen.end()) {
            throw UserError("knob " + std::string(knob.name) + " is missing in '" + std::string(text) + "'");
        }
    }
    return knobs;
}

}  // namespace normforge
