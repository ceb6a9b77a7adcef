#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

template <typename Value>
std::vector<Value> values_of(Value example) {
    std::vector<Value> values;
    for (const NamedValue<Value> &known : known_values(example)) {
        values.push_back(known.value);
    }
    return values;
}
inline std::vector<int64_t> values_of(int64_t) {
    return {1, 4096, NF_MAX_HIDDEN};
}

// The problem with each value of the field at that place in visit_fields.
inline std::vector<NormProblem> with_each_value(NormProblem problem, size_t field) {
    std::vector<NormProblem> problems;
    size_t index = 0;
    visit_fields(problem, [&](const char *, auto &value) {
        if (index++ == field) {
            for (const auto known : values_of(value)) {
                value = known;
                problems.push_back(problem);
            }
        }
    });
    return problems;
}

using FieldValues = std::vector<int64_t>;

inline FieldValues field_values(const NormProblem &problem) {
    FieldValues values;
    visit_fields(problem, [&](const char *, const auto &value) { values.push_back(value); });
    return values;
}

inline const size_t kFieldCount = field_values({}).size();

// The legal problems that differ in at most two fields from one of these.
inline const std::vector<NormProblem> &many_problems() {
    static const std::vector<NormProblem> all = [] {
        std::map<FieldValues, NormProblem> problems;
        for (const char *text :
             {"op=layer_norm,dtype=f32,hidden=8", "op=rms_norm,dtype=bf16,output=i8,scale=per_row,hidden=8",
              "op=rms_norm,dtype=f16,residual=f16,sum=bf16,statistics=bf16,hidden=8",
              "op=layer_norm,pass=backward,dtype=bf16,residual=bf16,saved_statistics=yes,hidden=8"}) {
            for (size_t first = 0; first < kFieldCount; first++) {
                for (const NormProblem &changed : with_each_value(parse_problem(text), first)) {
                    for (size_t second = first + 1; second < kFieldCount; second++) {
                        for (const NormProblem &problem : with_each_value(changed, second)) {
                            if (check_problem(problem) == NF_SUCCESS) {
                                problems.emplace(field_values(problem), problem);
                            }
                        }
                    }
                }
            }
        }
        std::vector<NormProblem> list;
        for (const auto &[values, problem] : problems) {
            list.push_back(problem);
        }
        return list;
    }();
    return all;
}

}  // namespace normforge
