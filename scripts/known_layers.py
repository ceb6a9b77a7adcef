#!/usr/bin/env python3
"""Writes tests/data/known_layers.npz and .txt: what norm layers of well-known projects make of small inputs.

Needs numpy and nothing else. The files depend on the scripts alone.
"""

import argparse
import io
import pathlib
import sys

import numpy as np

import layer_formulas as formulas
from layer_vectors import Layer


def known_layers():
    # In f8e4m3 144 and 120, or 128 and 120 where they are rounded to bf16 first: then the first is a tie.
    fp8_tie_in_bf16 = [1.0655, 0.929897666]
    yield Layer(
        "torch_layer_norm",
        "op=layer_norm,dtype=f32,hidden=64",
        1e-5, formulas.torch_layer_norm)
    yield Layer(
        "torch_layer_norm_no_affine",
        "op=layer_norm,dtype=f32,weight=none,bias=none,hidden=33",
        1e-5, formulas.torch_layer_norm)
    yield Layer(
        "torch_layer_norm_no_bias",
        "op=layer_norm,dtype=f32,bias=none,hidden=24",
        1e-5, formulas.torch_layer_norm)
    yield Layer(
        "torch_layer_norm_two_axes",
        "op=layer_norm,dtype=f32,hidden=40",
        1e-5, formulas.torch_layer_norm, rows=3)
    yield Layer(
        "torch_layer_norm_bfloat16",
        "op=layer_norm,dtype=bf16,hidden=48",
        1e-5, formulas.torch_layer_norm)
    yield Layer(
        "torch_rms_norm",
        "op=rms_norm,dtype=f32,hidden=96",
        2.0**-23, formulas.torch_rms_norm, rows=3)
    yield Layer(
        "torch_rms_norm_bfloat16",
        "op=rms_norm,dtype=bf16,hidden=64",
        2.0**-23, formulas.torch_rms_norm)
    yield Layer(
        "keras_layer_normalization",
        "op=layer_norm,dtype=f32,hidden=33",
        1e-3, formulas.keras_layer_normalization)
    yield Layer(
        "keras_layer_normalization_plain",
        "op=layer_norm,dtype=f32,weight=none,bias=none,hidden=32",
        1e-3, formulas.keras_layer_normalization)
    yield Layer(
        "keras_rms_normalization",
        "op=rms_norm,dtype=f32,hidden=48",
        1e-6, formulas.torch_rms_norm)
    yield Layer(
        "bert_post_norm",
        "op=layer_norm,dtype=f32,residual=f32,hidden=48",
        1e-12, formulas.post_norm, rows=3)
    yield Layer(
        "transformer_post_norm",
        "op=layer_norm,dtype=f32,residual=f32,hidden=64",
        1e-5, formulas.post_norm, rows=3)
    yield Layer(
        "gpt2_pre_norm",
        "op=layer_norm,dtype=f32,residual=f32,sum=f32,hidden=48",
        1e-5, formulas.pre_norm, rows=3)
    yield Layer(
        "gpt_neox_layer_norm",
        "op=layer_norm,dtype=f16,hidden=24",
        1e-5, formulas.torch_layer_norm)
    yield Layer(
        "annotated_transformer_layer_norm",
        "op=layer_norm,dtype=f32,epsilon_place=on_deviation,hidden=32",
        1e-6, formulas.annotated_transformer)
    yield Layer(
        "llama_rms_norm",
        "op=rms_norm,dtype=bf16,normalised=bf16,hidden=64",
        1e-6, formulas.llama_rms_norm)
    yield Layer(
        "llama_add_rms_norm",
        "op=rms_norm,dtype=bf16,normalised=bf16,residual=bf16,sum=bf16,statistics=bf16,hidden=33",
        1e-6, formulas.llama_add_rms_norm)
    yield Layer(
        "gemma_rms_norm",
        "op=rms_norm,dtype=bf16,weight_offset=1,hidden=64",
        1e-6, formulas.gemma_rms_norm)
    yield Layer(
        "t5_layer_norm",
        "op=rms_norm,dtype=f32,hidden=32",
        1e-6, formulas.torch_rms_norm)
    yield Layer(
        "t5_layer_norm_float16",
        "op=rms_norm,dtype=f16,normalised=f16,hidden=24",
        1e-6, formulas.llama_rms_norm)
    yield Layer(
        "qwen3_query_norm",
        "op=rms_norm,dtype=bf16,normalised=bf16,hidden=16",
        1e-6, formulas.llama_rms_norm, groups=3, heads_in_memory=8, in_place=("y=x",))
    yield Layer(
        "onnx_layer_normalization",
        "op=layer_norm,dtype=f32,saved_statistics=yes,hidden=24",
        1e-5, formulas.onnx_layer_normalization, rows=6)
    yield Layer(
        "onnx_rms_normalization",
        "op=rms_norm,dtype=f16,normalised=f16,hidden=32",
        1e-5, formulas.llama_rms_norm)
    yield Layer(
        "onnx_skip_layer_normalization",
        "op=layer_norm,dtype=f32,residual=f32,sum=f32,saved_statistics=yes,hidden=33",
        1e-12, formulas.skip_layer_normalization)
    yield Layer(
        "onnx_skip_simplified_layer_normalization",
        "op=rms_norm,dtype=f32,residual=f32,sum=f32,hidden=40",
        1e-12, formulas.skip_simplified_layer_normalization)
    yield Layer(
        "vllm_fused_add_rms_norm",
        "op=rms_norm,dtype=f16,normalised=f16,residual=f16,sum=f16,statistics=f16,hidden=32",
        1e-6, formulas.vllm_fused_add_rms_norm, in_place=("y=x", "sum=residual"))
    yield Layer(
        "vllm_rms_norm_static_fp8_quant",
        "op=rms_norm,dtype=bf16,output=f8e4m3,normalised=bf16,scale=static,unquantised=bf16,hidden=64",
        1e-6, formulas.vllm_static_fp8, scale=2.0**-6)
    yield Layer(
        "vllm_rms_norm_dynamic_per_token_quant_fp8",
        "op=rms_norm,dtype=bf16,output=f8e4m3,normalised=bf16,residual=bf16,sum=bf16,"
        "scale=per_row,unquantised=bf16,hidden=48",
        1e-6, formulas.vllm_dynamic_fp8_add, in_place=("sum=residual",))
    yield Layer(
        "vllm_rms_norm_dynamic_per_token_quant_int8",
        "op=rms_norm,dtype=bf16,output=i8,normalised=bf16,scale=per_row,unquantised=bf16,hidden=64",
        1e-6, formulas.vllm_dynamic_int8)
    yield Layer(
        "fused_static_fp8",
        "op=rms_norm,dtype=f32,output=f8e4m3,weight=none,scale=static,hidden=2",
        0.0, formulas.fused_static_fp8, rows=1, scale=2.0**-7, x=fp8_tie_in_bf16)
    yield Layer(
        "unfused_static_fp8",
        "op=rms_norm,dtype=f32,output=f8e4m3,weight=none,scale=static,unquantised=bf16,hidden=2",
        0.0, formulas.unfused_static_fp8, rows=1, scale=2.0**-7, x=fp8_tie_in_bf16)
    yield Layer(
        "torch_layer_norm_backward",
        "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=40",
        1e-5, formulas.torch_layer_norm_backward)
    yield Layer(
        "torch_layer_norm_backward_mixed",
        "op=layer_norm,pass=backward,dtype=bf16,weight=f32,bias=f32,saved_statistics=yes,hidden=33",
        1e-5, formulas.torch_layer_norm_backward, rows=5)
    yield Layer(
        "torch_rms_norm_backward",
        "op=rms_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=33",
        2.0**-23, formulas.torch_rms_norm_backward, rows=3)
    yield Layer(
        "gpt2_pre_norm_backward",
        "op=layer_norm,pass=backward,dtype=f32,residual=f32,sum=f32,saved_statistics=yes,hidden=32",
        1e-5, formulas.pre_norm_backward, rows=5)


def build_files():
    arrays, lines = {}, ["# " + "\t".join(["layer", "problem", "rows", "groups", "epsilon", "scale", "in place"])]
    for layer in known_layers():
        arrays.update(layer.arrays())
        lines.append(layer.line())
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    return {"known_layers.npz": archive.getvalue(), "known_layers.txt": ("\n".join(lines) + "\n").encode()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a file is out of date")
    check = parser.parse_args().check
    folder = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
    for name, contents in build_files().items():
        file = folder / name
        if not check:
            file.write_bytes(contents)
        elif not file.exists() or file.read_bytes() != contents:
            sys.exit(f"error: {file} is out of date; run scripts/known_layers.py")


if __name__ == "__main__":
    main()
