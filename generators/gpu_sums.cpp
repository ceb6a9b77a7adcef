#include "generators/gpu_sums.h"

#include <limits>

#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

namespace {

using Values = std::vector<Expr>;

// Sums with the errors that they have made: {sum, error} for each type.
Values with_added(const Values &sums, const Values &added) {
    Values result;
    for (size_t index = 0; index < sums.size(); index += 2) {
        Expr sum = sums[index] + added[index];
        Expr of_added = sum - sums[index];
        Expr error = (sums[index] - (sum - of_added)) + (added[index] - of_added);
        result.push_back(sum);
        result.push_back(sums[index + 1] + (error + added[index + 1]));
    }
    return result;
}

// A sum that is infinite has no error.
Expr exact(const Expr &sum, const Expr &error) {
    return sum + select_any(abs(error) < std::numeric_limits<float>::infinity(), error, 0.0f);
}

}  // namespace

SumStages define_gpu_sums(const Func &partial, const Expr &slices, int hidden, const std::vector<nf_dtype> &types,
                          const ValueConversion &conversion) {
    SumStages stages;
    const Var l = stages.l, p = stages.p, b = stages.b;
    const Values zeros(2 * types.size(), 0.0f);

    stages.of_thread = Func("of_thread");
    stages.of_thread(l, p, b) = Tuple(zeros);
    RDom t(0, (slices + kSumParts - 1) / kSumParts, "slice_of_part");
    Expr slice = t * kSumParts + p;
    t.where(slice < slices);
    Values added;
    for (size_t type = 0; type < types.size(); type++) {
        Expr value = min(b * kSumValues + l, hidden - 1) + static_cast<int>(type) * hidden;
        added.push_back(partial(value, slice));
        added.emplace_back(0.0f);
    }
    stages.of_thread(l, p, b) = Tuple(with_added(elements(stages.of_thread(l, p, b)), added));
    stages.slice = t.x;

    stages.of_part = Func("of_part");
    stages.of_part(l, p, b) = Tuple(elements(stages.of_thread(l, p, b)));

    stages.total = Func("total");
    stages.total(l, b) = Tuple(zeros);
    RDom part(0, kSumParts, "part");
    stages.total(l, b) = Tuple(with_added(elements(stages.total(l, b)), elements(stages.of_part(l, part, b))));

    RDom k(0, kSumValues, 0, (hidden - 1) / kSumValues + 1, "written");
    Expr i = k.y * kSumValues + k.x;
    k.where(i < hidden);
    Values nothing, outputs;
    const Values totals = elements(stages.total(k.x, k.y));
    for (size_t type = 0; type < types.size(); type++) {
        outputs.push_back(conversion.from_f32(exact(totals[2 * type], totals[2 * type + 1]), types[type]));
        nothing.push_back(undef(outputs.back().type()));
    }
    stages.sums = Func("sums");
    const Var value("i");
    stages.sums(value) = Tuple(nothing);
    stages.sums(i) = Tuple(outputs);
    stages.value = k.x;
    stages.block = k.y;
    return stages;
}

}  // namespace normforge
