#pragma once

#include "generators/norm_algorithm.h"

namespace normforge {

// The operands of a problem as f32 values, and f32 values as what is stored: what both passes share.
class NormValues {
public:
    NormValues(const NormProblem &problem, const NormInputs &inputs, const ValueConversion &conversion);

    // (i, r): what is normalised. Of backward the stored sum, where there is one.
    const Halide::Func &h() const { return h_; }

    // h in two steps: the operands that it is the sum of, as they are stored, and their sum.
    std::vector<Halide::Expr> addends(const Halide::Expr &i, const Halide::Expr &r) const;
    Halide::Expr sum_of(const std::vector<Halide::Expr> &addends) const;

    bool has(OperandId id) const { return type(id) != NF_NONE; }
    nf_dtype type(OperandId id) const { return operand_type(problem_, operand(id)); }

    // One value of an operand that the problem has, also as it is stored.
    Halide::Expr value(OperandId id, const Halide::Expr &i, const Halide::Expr &r) const;
    Halide::Expr stored_value(OperandId id, const Halide::Expr &i, const Halide::Expr &r) const {
        return inputs_.funcs.at(id)(i, r);
    }
    Halide::Expr load(OperandId id, const Halide::Expr &stored) const;
    Halide::Expr row_value(OperandId id, const Halide::Expr &r) const;
    Halide::Expr number(OperandId id) const { return inputs_.numbers.at(id); }

    // What value i of a row is multiplied by and what is then added, of a problem that has them.
    Halide::Expr weight(const Halide::Expr &i) const;
    Halide::Expr stored_weight(const Halide::Expr &i) const { return inputs_.funcs.at(OperandId::weight)(i); }
    Halide::Expr weight_of(const Halide::Expr &stored) const;
    Halide::Expr bias(const Halide::Expr &i) const;

    // As the operand stores it.
    Halide::Expr stored(OperandId id, const Halide::Expr &value) const;
    Halide::Expr rounded(const Halide::Expr &value, nf_dtype dtype) const {
        return conversion_.rounded(value, dtype);
    }

    bool has_wide_range() const { return normforge::has_wide_range(problem_); }

private:
    const NormProblem &problem_;
    const NormInputs &inputs_;
    const ValueConversion &conversion_;
    Halide::Func h_;
};

// A Func of the row alone, computed for each row.
Halide::Func row_value(NormStages &stages, const std::string &name, const Halide::Expr &value);

// rows(i, r) = values(i, r), in the order of the knob `writing`.
void define_rows(NormStages &stages, const Halide::Func &values, int hidden, const Knobs &knobs);

}  // namespace normforge
