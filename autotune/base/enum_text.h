#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "autotune/base/trial.h"
#include "runtime/norm_problem.h"
#include "runtime/user_error.h"

namespace normforge {

// The enumerations that are stored and shown by name.

enum class SessionState {
    running,  // also of a session whose process was killed
    done,
    aborted,
};

inline constexpr NamedValue<SessionState> kSessionStates[] = {
    {"running", SessionState::running},
    {"done", SessionState::done},
    {"aborted", SessionState::aborted},
};

// Where a session's times come from.
enum class TimeSource {
    measured,
    simulated,  // by a static model: samples hold cycles of the CPU, or a GPU's nanoseconds, and nothing ran
};

inline constexpr NamedValue<TimeSource> kTimeSources[] = {
    {"measured", TimeSource::measured},
    {"static", TimeSource::simulated},
};

inline constexpr NamedValue<TrialStatus> kTrialStatuses[] = {
    {"ok", TrialStatus::ok},       {"compile_error", TrialStatus::compile_error},
    {"crash", TrialStatus::crash}, {"timeout", TrialStatus::timeout},
    {"wrong", TrialStatus::wrong},
};

// Aborts for a value that its table lacks.
template <typename Value, size_t count>
std::string name_of(const NamedValue<Value> (&table)[count], Value value) {
    const auto *found = std::ranges::find(table, value, &NamedValue<Value>::value);
    if (found == std::end(table)) {
        std::fprintf(stderr, "normforge: an enumeration's value %d has no name\n", static_cast<int>(value));
        std::abort();
    }
    return found->name;
}

// Every name of the table, each between the given quotes: "'ok', 'crash'".
template <typename Value, size_t count>
std::string names_of(const NamedValue<Value> (&table)[count], const std::string &quote = "") {
    std::string names;
    for (const NamedValue<Value> &entry : table) {
        names += (names.empty() ? "" : ", ") + quote + entry.name + quote;
    }
    return names;
}

// Throws UserError with the names that are allowed.
template <typename Value, size_t count>
Value value_named(const NamedValue<Value> (&table)[count], std::string_view name) {
    const auto *found = std::ranges::find(
        table, name, [](const NamedValue<Value> &entry) { return std::string_view(entry.name); });
    if (found == std::end(table)) {
        throw UserError("'" + std::string(name) + "' is none of " + names_of(table));
    }
    return found->value;
}

}  // namespace normforge
