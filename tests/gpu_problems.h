#pragma once

#include <string>
#include <vector>

#include "runtime/norm_problem.h"
#include "schedules/gpu_space.h"

namespace normforge {

// Problems whose GPU schedules are tested: sizes with and without whole chunks, for a warp and for many.
inline std::vector<NormProblem> gpu_problems() {
    std::vector<NormProblem> problems;
    for (const int64_t hidden : {32, 128, 256, 768, 1000, 1024, 4096, 5120, 8192, 16384}) {
        for (const nf_dtype dtype : {NF_F32, NF_F16, NF_BF16}) {
            for (const nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
                NormProblem problem = default_problem(op, hidden, dtype);
                problems.push_back(problem);
                problem.residual = dtype;
                problem.sum = dtype;
                problems.push_back(problem);
            }
        }
    }
    return problems;
}

// What those leave out.
inline constexpr const char *kOtherGpuProblems[] = {
    "op=layer_norm,dtype=f32,hidden=1",
    "op=layer_norm,dtype=f32,hidden=33",
    "op=layer_norm,dtype=bf16,hidden=1023,epsilon_place=on_deviation",
    "op=rms_norm,dtype=f16,hidden=77,weight_offset=1,normalised=f16",
    "op=layer_norm,dtype=f32,hidden=32768",
    "op=rms_norm,dtype=f32,hidden=65536",
    "op=layer_norm,dtype=f32,hidden=768,saved_statistics=yes",
    "op=layer_norm,dtype=f32,hidden=4096,epsilon_place=on_deviation,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,hidden=4096,residual=f32,sum=f32,saved_statistics=yes",
    "op=rms_norm,dtype=f32,output=i8,scale=static,unquantised=f16,hidden=1024",
    "op=layer_norm,dtype=bf16,output=f8e4m3,scale=per_row,hidden=5120",
    "op=layer_norm,dtype=f32,output=i8,scale=per_row,hidden=256",
};

// Some of a problem's schedules: `count` of them, spread over all.
inline std::vector<GpuKnobs> some_schedules(const NormProblem &problem, size_t count) {
    const std::vector<GpuKnobs> all = enumerate_gpu(problem);
    std::vector<GpuKnobs> some;
    for (size_t index = 0; index < all.size() && index < count; index++) {
        some.push_back(all[index * all.size() / std::min(count, all.size())]);
    }
    return some;
}

inline std::vector<NormProblem> other_gpu_problems() {
    std::vector<NormProblem> problems;
    for (const char *text : kOtherGpuProblems) {
        problems.push_back(parse_problem(text));
    }
    return problems;
}

}  // namespace normforge
