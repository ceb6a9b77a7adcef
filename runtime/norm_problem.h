#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/normforge.h"

namespace normforge {

// The tools' view of nf_problem. Everything that must name or compare the fields goes through visit_fields:
// the text form, the symbol name, command-line options, database columns and nf_find.
using NormProblem = nf_problem;

template <typename Problem, typename Visitor>
constexpr void visit_fields(Problem &problem, Visitor &&visit) {
    visit("op", problem.op);
    visit("pass", problem.pass);
    visit("dtype", problem.dtype);
    visit("output", problem.output);
    visit("weight", problem.weight);
    visit("bias", problem.bias);
    visit("weight_offset", problem.weight_offset);
    visit("epsilon_place", problem.epsilon_place);
    visit("normalised", problem.normalised);
    visit("residual", problem.residual);
    visit("sum", problem.sum);
    visit("statistics", problem.statistics);
    visit("saved_statistics", problem.saved_statistics);
    visit("scale", problem.scale);
    visit("unquantised", problem.unquantised);
    visit("portable", problem.portable);
    visit("hidden", problem.hidden);
}

// A value of an enumerated field and its text.
template <typename Value>
struct NamedValue {
    const char *name;
    Value value;
};

inline constexpr NamedValue<nf_op> kOps[] = {{"layer_norm", NF_LAYER_NORM}, {"rms_norm", NF_RMS_NORM}};
inline constexpr NamedValue<nf_pass> kPasses[] = {{"forward", NF_FORWARD}, {"backward", NF_BACKWARD}};
inline constexpr NamedValue<nf_dtype> kDTypes[] = {{"f32", NF_F32}, {"f16", NF_F16},       {"bf16", NF_BF16},
                                                   {"i8", NF_I8},   {"f8e4m3", NF_F8E4M3}, {"none", NF_NONE}};
inline constexpr NamedValue<nf_weight_offset> kWeightOffsets[] = {{"0", NF_OFFSET_ZERO}, {"1", NF_OFFSET_ONE}};
inline constexpr NamedValue<nf_epsilon_place> kEpsilonPlaces[] = {{"in_root", NF_IN_ROOT},
                                                                  {"on_deviation", NF_ON_DEVIATION}};
inline constexpr NamedValue<nf_scale> kScales[] = {
    {"none", NF_SCALE_NONE}, {"static", NF_SCALE_STATIC}, {"per_row", NF_SCALE_PER_ROW}};
inline constexpr NamedValue<nf_flag> kFlags[] = {{"no", NF_NO}, {"yes", NF_YES}};

// All values of a field's type, by an example.
constexpr std::span<const NamedValue<nf_op>> known_values(nf_op) {
    return kOps;
}
constexpr std::span<const NamedValue<nf_pass>> known_values(nf_pass) {
    return kPasses;
}
constexpr std::span<const NamedValue<nf_dtype>> known_values(nf_dtype) {
    return kDTypes;
}
constexpr std::span<const NamedValue<nf_weight_offset>> known_values(nf_weight_offset) {
    return kWeightOffsets;
}
constexpr std::span<const NamedValue<nf_epsilon_place>> known_values(nf_epsilon_place) {
    return kEpsilonPlaces;
}
constexpr std::span<const NamedValue<nf_scale>> known_values(nf_scale) {
    return kScales;
}
constexpr std::span<const NamedValue<nf_flag>> known_values(nf_flag) {
    return kFlags;
}

constexpr bool is_quantised(nf_dtype dtype) {
    return dtype == NF_I8 || dtype == NF_F8E4M3;
}

// Whether the field of that name may have the value, whatever the others are.
template <typename Value>
constexpr bool is_legal_value(std::string_view, Value) {
    return true;
}
constexpr bool is_legal_value(std::string_view field, nf_dtype value) {
    if (field == "dtype") {
        return value != NF_NONE && !is_quantised(value);
    }
    if (field == "output") {
        return value != NF_NONE;
    }
    // Roundings between the steps, none of which is one to f32.
    if (field == "normalised" || field == "statistics" || field == "unquantised") {
        return value != NF_F32 && !is_quantised(value);
    }
    return !is_quantised(value);
}

// NF_SUCCESS if every field is legal by itself and with the others.
nf_status check_problem(const NormProblem &problem);

bool same_problem(const NormProblem &a, const NormProblem &b);

// What models use most: layer_norm has weight and bias, rms_norm a weight; they and y are of the type of x.
NormProblem default_problem(nf_op op, int64_t hidden, nf_dtype dtype = NF_F32);

// One field's text, both ways. parse_field throws UserError naming the field, the text and what is allowed.
template <typename Value>
std::string field_text(Value value);
template <typename Value>
void parse_field(std::string_view field, std::string_view text, Value &value);

// What the field of that name may be, for messages and help: "layer_norm, rms_norm".
std::string allowed_values(std::string_view field);

// Op, type and hidden size, and the other fields where they are not default_problem's:
// "op=rms_norm,dtype=f32,bias=f32,hidden=4096". parse_problem(to_text(p)) equals p.
// parse_problem throws UserError for an unknown, repeated or missing field and for an illegal problem.
std::string to_text(const NormProblem &problem);
NormProblem parse_problem(std::string_view text);

// A C identifier that differs between any two problems, with the same fields: "rms_norm_dtype_f32_hidden_4096".
std::string symbol_name(const NormProblem &problem);

// Bytes of one value; 0 for NF_NONE.
constexpr size_t element_size(nf_dtype dtype) {
    switch (dtype) {
    case NF_NONE:
        return 0;
    case NF_F32:
        return 4;
    case NF_F16:
    case NF_BF16:
        return 2;
    case NF_I8:
    case NF_F8E4M3:
        return 1;
    }
    return 0;
}

// Whether what is normalised may hold numbers whose squares f32 does not: any but sums of f16.
constexpr bool has_wide_range(const NormProblem &problem) {
    return problem.dtype != NF_F16 || (problem.residual != NF_NONE && problem.residual != NF_F16);
}

// Bytes that one row must move at the least: what is read of each row and what is written of it, once. Operands
// that all rows share stay in cache.
int64_t row_bytes(const NormProblem &problem);

}  // namespace normforge
