#include "runtime/norm_problem.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/user_error.h"

namespace normforge {

namespace {

std::string quoted(std::string_view text) {
    return std::string("'").append(text) += "'";
}

void append(std::string &list, std::string_view separator, std::string_view item) {
    if (!list.empty()) {
        list += separator;
    }
    list += item;
}

template <typename Value, size_t count>
std::string all_names(const NamedValue<Value> (&known)[count]) {
    std::string names;
    for (const NamedValue<Value> &candidate : known) {
        append(names, ", ", candidate.name);
    }
    return names;
}

template <typename Value, size_t count>
std::string name_of(const NamedValue<Value> (&known)[count], Value value) {
    for (const NamedValue<Value> &candidate : known) {
        if (candidate.value == value) {
            return candidate.name;
        }
    }
    // Whoever takes a problem from outside checks it first.
    std::fprintf(stderr, "normforge: a problem with the unknown value %d was not checked\n", value);
    std::abort();
}

[[noreturn]] void refuse_field(std::string_view field, std::string_view text, const std::string &allowed) {
    throw UserError(std::string(field) + " is " + quoted(text) + "; allowed: " + allowed);
}

template <typename Value, size_t count>
Value value_of(const NamedValue<Value> (&known)[count], std::string_view field, std::string_view text) {
    for (const NamedValue<Value> &candidate : known) {
        if (candidate.name == text) {
            return candidate.value;
        }
    }
    refuse_field(field, text, all_names(known));
}

std::string all_fields() {
    std::string names;
    NormProblem problem{};
    visit_fields(problem, [&](const char *name, auto &) { append(names, ", ", name); });
    return names;
}

[[noreturn]] void refuse_problem(std::string_view text, const std::string &reason) {
    throw UserError("problem " + quoted(text) + ": " + reason + "; needed, once each: " + all_fields());
}

}  // namespace

NormProblem default_problem(nf_op op, int64_t hidden) {
    return {.op = op,
            .dtype = NF_F32,
            .weight = NF_F32,
            .bias = op == NF_LAYER_NORM ? NF_F32 : NF_NONE,
            .hidden = hidden};
}

std::string field_text(nf_op op) {
    return name_of(kOps, op);
}

std::string field_text(nf_dtype dtype) {
    return name_of(kDTypes, dtype);
}

std::string field_text(int64_t number) {
    return std::to_string(number);
}

void parse_field(std::string_view field, std::string_view text, nf_op &op) {
    op = value_of(kOps, field, text);
}

void parse_field(std::string_view field, std::string_view text, nf_dtype &dtype) {
    dtype = value_of(kDTypes, field, text);
}

// The one number of a problem is hidden, so its range is the range of every number.
void parse_field(std::string_view field, std::string_view text, int64_t &number) {
    int64_t parsed = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, parsed);
    if (error != std::errc() || stop != end || parsed < 1 || parsed > NF_MAX_HIDDEN) {
        refuse_field(field, text, "a whole number from 1 to " + std::to_string(NF_MAX_HIDDEN));
    }
    number = parsed;
}

std::string allowed_ops() {
    return all_names(kOps);
}

std::string allowed_dtypes() {
    return all_names(kDTypes);
}

std::string to_text(const NormProblem &problem) {
    std::string text;
    visit_fields(problem, [&](const char *name, const auto &field) {
        append(text, ",", std::string(name) + "=" + field_text(field));
    });
    return text;
}

NormProblem parse_problem(std::string_view text) {
    NormProblem problem{};
    std::vector<std::string_view> seen;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        begin = end + 1;

        const size_t equals = part.find('=');
        if (equals == std::string_view::npos) {
            refuse_problem(text, quoted(part) + " is not of the form field=value");
        }
        const std::string_view name = part.substr(0, equals);
        if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
            refuse_problem(text, "field " + quoted(name) + " is given twice");
        }
        bool known = false;
        visit_fields(problem, [&](std::string_view candidate, auto &field) {
            if (candidate == name) {
                parse_field(name, part.substr(equals + 1), field);
                known = true;
            }
        });
        if (!known) {
            refuse_problem(text, "field " + quoted(name) + " is unknown");
        }
        seen.push_back(name);
    }
    visit_fields(problem, [&](std::string_view name, auto &) {
        if (std::find(seen.begin(), seen.end(), name) == seen.end()) {
            refuse_problem(text, "field " + quoted(name) + " is missing");
        }
    });
    if (nf_status status = check_problem(problem)) {
        throw UserError("problem " + quoted(text) + ": " + nf_status_message(status));
    }
    return problem;
}

std::string symbol_name(const NormProblem &problem) {
    std::string symbol;
    visit_fields(problem, [&](std::string_view name, const auto &field) {
        if (name != "op") {
            append(symbol, "_", name);
        }
        append(symbol, "_", field_text(field));
    });
    return symbol;
}

int64_t row_bytes(const NormProblem &problem) {
    return 2 * problem.hidden * static_cast<int64_t>(element_size(problem.dtype));
}

}  // namespace normforge
