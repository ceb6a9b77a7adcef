#include "runtime/norm_problem.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/named_texts.h"
#include "runtime/operands.h"
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

template <typename Value>
std::string name_of(Value value) {
    for (const NamedValue<Value> &candidate : known_values(value)) {
        if (candidate.value == value) {
            return candidate.name;
        }
    }
    // Whoever takes a problem from outside checks it first.
    std::fprintf(stderr, "normforge: a problem with the unknown value %d was not checked\n", value);
    std::abort();
}

template <typename Value>
std::string legal_names(std::string_view field, Value example) {
    std::string names;
    for (const NamedValue<Value> &candidate : known_values(example)) {
        if (is_legal_value(field, candidate.value)) {
            append(names, ", ", candidate.name);
        }
    }
    return names;
}

// The one number of a problem is hidden, so its range is the range of every number.
std::string legal_names(std::string_view, int64_t) {
    return "a whole number from 1 to " + std::to_string(NF_MAX_HIDDEN);
}

bool find_value(std::string_view, std::string_view text, int64_t &number) {
    int64_t parsed = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, parsed);
    if (error != std::errc() || stop != end || parsed < 1 || parsed > NF_MAX_HIDDEN) {
        return false;
    }
    number = parsed;
    return true;
}

template <typename Value>
bool find_value(std::string_view field, std::string_view text, Value &value) {
    for (const NamedValue<Value> &candidate : known_values(value)) {
        if (candidate.name == text && is_legal_value(field, candidate.value)) {
            value = candidate.value;
            return true;
        }
    }
    return false;
}

std::string all_fields() {
    std::string names;
    NormProblem problem{};
    visit_fields(problem, [&](const char *name, auto &) { append(names, ", ", name); });
    return names;
}

[[noreturn]] void refuse_problem(std::string_view text, const std::string &reason) {
    throw UserError("problem " + quoted(text) + ": " + reason + "; known, once each: " + all_fields() +
                    ", of which op, dtype and hidden are needed");
}

// Those that every text shows; the others have defaults that follow from them.
bool is_key(std::string_view field) {
    return field == "op" || field == "dtype" || field == "hidden";
}

// Sets the fields of the names for which is_chosen.
template <typename IsChosen>
void set_fields(NormProblem &problem, const std::vector<NamedText> &fields, IsChosen &&is_chosen) {
    visit_fields(problem, [&](std::string_view name, auto &field) {
        const NamedText *given = find_named(fields, name);
        if (given && is_chosen(name)) {
            parse_field(name, given->value, field);
        }
    });
}

// Visits the fields that a text of the problem shows.
template <typename Visitor>
void visit_shown_fields(const NormProblem &problem, Visitor &&visit) {
    NormProblem usual = default_problem(problem.op, problem.hidden, problem.dtype);
    std::vector<std::string> usual_texts;
    visit_fields(usual, [&](std::string_view, const auto &field) { usual_texts.push_back(field_text(field)); });
    size_t index = 0;
    visit_fields(problem, [&](std::string_view name, const auto &field) {
        const std::string text = field_text(field);
        if (is_key(name) || text != usual_texts[index]) {
            visit(name, text);
        }
        index++;
    });
}

}  // namespace

NormProblem default_problem(nf_op op, int64_t hidden, nf_dtype dtype) {
    NormProblem problem{};
    problem.op = op;
    problem.dtype = dtype;
    problem.output = dtype;
    problem.weight = dtype;
    problem.bias = op == NF_LAYER_NORM ? dtype : NF_NONE;
    problem.hidden = hidden;
    return problem;
}

template <typename Value>
std::string field_text(Value value) {
    return name_of(value);
}

template <>
std::string field_text(int64_t number) {
    return std::to_string(number);
}

template <typename Value>
void parse_field(std::string_view field, std::string_view text, Value &value) {
    if (!find_value(field, text, value)) {
        throw UserError(std::string(field) + " is " + quoted(text) + "; allowed: " + legal_names(field, value));
    }
}

#define NORMFORGE_FIELD_TYPE(Type)                                                                                \
    template std::string field_text(Type);                                                                        \
    template void parse_field(std::string_view, std::string_view, Type &)
NORMFORGE_FIELD_TYPE(nf_op);
NORMFORGE_FIELD_TYPE(nf_pass);
NORMFORGE_FIELD_TYPE(nf_dtype);
NORMFORGE_FIELD_TYPE(nf_weight_offset);
NORMFORGE_FIELD_TYPE(nf_epsilon_place);
NORMFORGE_FIELD_TYPE(nf_scale);
NORMFORGE_FIELD_TYPE(nf_flag);
template void parse_field(std::string_view, std::string_view, int64_t &);

std::string allowed_values(std::string_view field) {
    std::string allowed;
    NormProblem problem{};
    visit_fields(problem, [&](std::string_view name, auto &value) {
        if (name == field) {
            allowed = legal_names(field, value);
        }
    });
    return allowed;
}

std::string to_text(const NormProblem &problem) {
    std::string text;
    visit_shown_fields(problem, [&](std::string_view name, const std::string &value) {
        append(text, ",", std::string(name) + "=" + value);
    });
    return text;
}

NormProblem parse_problem(std::string_view text) {
    const std::vector<NamedText> fields =
        split_named_texts(text, [&](const std::string &reason) { refuse_problem(text, reason); });
    NormProblem problem{};
    visit_fields(problem, [&](std::string_view name, auto &) {
        if (is_key(name) && !find_named(fields, name)) {
            refuse_problem(text, "field " + quoted(name) + " is missing");
        }
    });
    for (const NamedText &field : fields) {
        if (allowed_values(field.name).empty()) {
            refuse_problem(text, "field " + quoted(field.name) + " is unknown");
        }
    }
    set_fields(problem, fields, is_key);
    problem = default_problem(problem.op, problem.hidden, problem.dtype);
    set_fields(problem, fields, [](std::string_view name) { return !is_key(name); });
    if (nf_status status = check_problem(problem)) {
        throw UserError("problem " + quoted(text) + ": " + nf_status_message(status));
    }
    return problem;
}

std::string symbol_name(const NormProblem &problem) {
    std::string symbol;
    visit_shown_fields(problem, [&](std::string_view name, const std::string &value) {
        if (name != "op") {
            append(symbol, "_", name);
        }
        append(symbol, "_", value);
    });
    return symbol;
}

}  // namespace normforge
