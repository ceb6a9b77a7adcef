#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/named_texts.h"
#include "runtime/user_error.h"

namespace normforge {

// A struct of knobs, all int, is declared once, by a table of these: the knobs' text form, its parser, their legal
// values and help follow from it.

struct KnobValue {
    int value;
    const char *text;  // null for the number itself
};

template <typename Knobs>
struct KnobOf {
    const char *name;
    int Knobs::*member;
    std::vector<KnobValue> values;  // the legal ones, in the order of enumeration
    const char *help;
};

inline std::vector<KnobValue> numbers(std::initializer_list<int> values) {
    std::vector<KnobValue> result;
    for (int value : values) {
        result.push_back({value, nullptr});
    }
    return result;
}

inline std::string value_text(const KnobValue &value) {
    return value.text ? value.text : std::to_string(value.value);
}

// One knob's value as text, both ways. knob_value throws UserError naming the knob, the text and the legal values.
template <typename Knobs>
std::string knob_text(const KnobOf<Knobs> &knob, int value) {
    auto found = std::ranges::find(knob.values, value, &KnobValue::value);
    return found == knob.values.end() ? std::to_string(value) : value_text(*found);
}

template <typename Knobs>
int knob_value(const KnobOf<Knobs> &knob, std::string_view text) {
    std::string legal;
    for (const KnobValue &value : knob.values) {
        if (value_text(value) == text) {
            return value.value;
        }
        legal += (legal.empty() ? "" : ", ") + value_text(value);
    }
    throw UserError("knob " + std::string(knob.name) + ": '" + std::string(text) + "' is none of " + legal);
}

// "sums=lane_pivot,vector=16,...": every knob exactly once, in the table's order.
template <typename Knobs>
std::string knobs_text(std::span<const KnobOf<Knobs>> table, const Knobs &knobs) {
    std::string text;
    for (const KnobOf<Knobs> &knob : table) {
        text += text.empty() ? "" : ",";
        text.append(knob.name).append("=").append(knob_text(knob, knobs.*knob.member));
    }
    return text;
}

// The inverse, in any order. Throws UserError for a missing, unknown or repeated knob and for an illegal value:
// text of an older set of knobs is an error here, never a default.
template <typename Knobs>
Knobs parsed_knobs(std::span<const KnobOf<Knobs>> table, std::string_view text) {
    const std::vector<NamedText> parts =
        split_named_texts(text, [](const std::string &reason) { throw UserError("knobs: " + reason); });
    Knobs knobs{};
    for (const NamedText &part : parts) {
        const auto knob = std::ranges::find(table, part.name, &KnobOf<Knobs>::name);
        if (knob == table.end()) {
            std::string names;
            for (const KnobOf<Knobs> &known : table) {
                names += (names.empty() ? "" : ", ") + std::string(known.name);
            }
            throw UserError("unknown knob '" + std::string(part.name) + "'; known are " + names);
        }
        knobs.*knob->member = knob_value(*knob, part.value);
    }
    for (const KnobOf<Knobs> &knob : table) {
        if (!find_named(parts, knob.name)) {
            throw UserError("knob " + std::string(knob.name) + " is missing in '" + std::string(text) + "'");
        }
    }
    return knobs;
}

// Throws UserError where there is a reason why the knobs cannot serve the problem, both as text.
inline void require_fit(const std::string &knobs, const std::string &problem, const std::string &reason) {
    if (!reason.empty()) {
        throw UserError("knobs " + knobs + " do not fit " + problem + ": " + reason);
    }
}

// Every combination of legal values, the last knob's changing first.
template <typename Knobs>
std::vector<Knobs> all_knobs(std::span<const KnobOf<Knobs>> table) {
    std::vector<Knobs> all = {Knobs{}};
    for (const KnobOf<Knobs> &knob : table) {
        std::vector<Knobs> extended;
        for (const Knobs &knobs : all) {
            for (const KnobValue &value : knob.values) {
                extended.push_back(knobs);
                extended.back().*knob.member = value.value;
            }
        }
        all = std::move(extended);
    }
    return all;
}

}  // namespace normforge
