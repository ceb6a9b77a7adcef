#pragma once

namespace normforge {

// What usual layers leave out: odd and extreme sizes, and the options that change the arithmetic.
inline constexpr const char *kUnusualGpuProblems[] = {
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

// The same of gradients.
inline constexpr const char *kUnusualGpuGradients[] = {
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=1",
    "op=rms_norm,pass=backward,dtype=f32,bias=f32,saved_statistics=yes,hidden=33",
    "op=layer_norm,pass=backward,dtype=bf16,epsilon_place=on_deviation,saved_statistics=yes,hidden=1023",
    "op=rms_norm,pass=backward,dtype=f16,weight_offset=1,normalised=f16,saved_statistics=yes,hidden=77",
    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=32768",
    "op=layer_norm,pass=backward,dtype=f16,residual=f16,sum=f16,saved_statistics=yes,hidden=768",
    "op=rms_norm,pass=backward,dtype=bf16,residual=f32,sum=f32,saved_statistics=yes,hidden=4096",
    "op=rms_norm,pass=backward,dtype=f32,weight=none,saved_statistics=yes,hidden=1024",
    "op=layer_norm,pass=backward,dtype=bf16,weight=f32,bias=f32,saved_statistics=yes,hidden=2048",
    "op=rms_norm,pass=backward,dtype=f32,residual=bf16,epsilon_place=on_deviation,saved_statistics=yes,hidden="
    "2560",
};

}  // namespace normforge
