#pragma once

#include <cstddef>
#include <cstdint>
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
    visit("dtype", problem.dtype);
    visit("weight", problem.weight);
    visit("bias", problem.bias);
    visit("hidden", problem.hidden);
}

template <typename Value>
struct NamedValue {
    const char *name;
    Value value;
};

inline constexpr NamedValue<nf_op> kOps[] = {{"layer_norm", NF_LAYER_NORM}, {"rms_norm", NF_RMS_NORM}};
inline constexpr NamedValue<nf_dtype> kDTypes[] = {{"f32", NF_F32}, {"none", NF_NONE}};

// NF_SUCCESS if every field is legal by itself and with the others.
nf_status check_problem(const NormProblem &problem);

bool same_problem(const NormProblem &a, const NormProblem &b);

// layer_norm has weight and bias, rms_norm a weight, all of the type of x: what models use most.
NormProblem default_problem(nf_op op, int64_t hidden);

// One field's text, both ways. parse_field throws UserError naming the field, the text and what is allowed.
std::string field_text(nf_op op);
std::string field_text(nf_dtype dtype);
std::string field_text(int64_t number);
void parse_field(std::string_view field, std::string_view text, nf_op &op);
void parse_field(std::string_view field, std::string_view text, nf_dtype &dtype);
void parse_field(std::string_view field, std::string_view text, int64_t &number);

// The legal names of an enumerated field, for messages and help: "layer_norm, rms_norm".
std::string allowed_ops();
std::string allowed_dtypes();

// "op=layer_norm,dtype=f32,weight=f32,bias=f32,hidden=4096"; parse_problem(to_text(p)) equals p.
// parse_problem throws UserError for an unknown, repeated or missing field and for an illegal problem.
std::string to_text(const NormProblem &problem);
NormProblem parse_problem(std::string_view text);

// A C identifier that differs between any two problems: "layer_norm_dtype_f32_weight_f32_bias_f32_hidden_4096".
std::string symbol_name(const NormProblem &problem);

// Bytes of one value; 0 for NF_NONE.
constexpr size_t element_size(nf_dtype dtype) {
    switch (dtype) {
    case NF_NONE:
        return 0;
    case NF_F32:
        return sizeof(float);
    }
    return 0;
}

// Bytes that one row must move at the least: x read and y written once. Weight and bias stay in cache.
int64_t row_bytes(const NormProblem &problem);

}  // namespace normforge
