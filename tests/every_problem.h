#pragma once

#include <iterator>
#include <string>
#include <vector>

namespace normforge {

// Every field of a problem, alone and with others.

// Of any hidden size.
inline constexpr const char *kForwardProblems[] = {
    "op=layer_norm,dtype=f16",
    "op=layer_norm,dtype=bf16",
    "op=rms_norm,dtype=f16",
    "op=rms_norm,dtype=bf16",
    "op=layer_norm,dtype=f32,output=bf16,weight=f16,bias=bf16",
    "op=rms_norm,dtype=bf16,output=f32,weight=f32,bias=f16",
    "op=layer_norm,dtype=f16,output=f32,weight=none,bias=f32",
    "op=rms_norm,dtype=f32,output=f16,weight=none",
    "op=rms_norm,dtype=bf16,weight_offset=1",
    "op=layer_norm,dtype=f32,weight=bf16,weight_offset=1",
    "op=layer_norm,dtype=f32,epsilon_place=on_deviation",
    "op=rms_norm,dtype=f16,epsilon_place=on_deviation",
    "op=rms_norm,dtype=bf16,normalised=bf16",
    "op=rms_norm,dtype=f32,output=f16,normalised=f16,bias=f32",
    "op=layer_norm,dtype=bf16,normalised=f16",
    "op=layer_norm,dtype=f32,residual=f32",
    "op=rms_norm,dtype=bf16,residual=f32,sum=f32",
    "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,statistics=bf16",
    "op=layer_norm,dtype=f16,residual=f16,sum=f16",
    "op=layer_norm,dtype=bf16,residual=bf16,statistics=bf16",
    "op=rms_norm,dtype=f32,residual=f16,sum=bf16",
    "op=layer_norm,dtype=f32,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,residual=bf16,sum=f32,saved_statistics=yes",
    "op=rms_norm,dtype=f32,output=i8,scale=static",
    "op=layer_norm,dtype=f32,output=i8,scale=per_row",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=static,unquantised=bf16",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row",
    "op=layer_norm,dtype=f16,output=f8e4m3,scale=per_row,unquantised=f16,saved_statistics=yes",
    "op=rms_norm,dtype=bf16,output=i8,residual=bf16,sum=bf16,scale=per_row,normalised=bf16,unquantised=bf16",
    "op=layer_norm,dtype=f32,portable=yes",
    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row,portable=yes",
};

inline constexpr const char *kBackwardProblems[] = {
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f32,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f16,saved_statistics=yes,bias=f32",
    "op=layer_norm,pass=backward,dtype=f16,output=f32,weight=bf16,bias=none,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,weight=none,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,weight_offset=1,normalised=bf16,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=f32,epsilon_place=on_deviation,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,residual=bf16,saved_statistics=yes",
    "op=rms_norm,pass=backward,dtype=bf16,residual=f32,sum=f32,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=bf16,residual=bf16,sum=bf16,statistics=bf16,saved_statistics=yes",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,portable=yes",
};

inline std::vector<std::string> all_problems() {
    std::vector<std::string> problems(std::begin(kForwardProblems), std::end(kForwardProblems));
    problems.insert(problems.end(), std::begin(kBackwardProblems), std::end(kBackwardProblems));
    return problems;
}

}  // namespace normforge
