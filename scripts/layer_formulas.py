"""Norm layers of well-known projects, in f64, each as its own project's code computes it, with that code's
roundings in between; not normforge's formula with options. `layer` gives epsilon, scale and type; what a function
returns are outputs of nf_arguments. docs/layers.md describes the layers."""

import math

import numpy as np

from layer_vectors import mean_square, rounded, row_mean, sum_over_rows, variance


def torch_layer_norm(layer, roundings, x, weight=1.0, bias=0.0):
    """Half types are computed in f32 and rounded at the end."""
    y = (x - row_mean(x)) / np.sqrt(variance(x) + layer.epsilon) * weight + bias
    return {"y": y if layer.dtype == "f32" else roundings(y, layer.dtype)}


def torch_rms_norm(layer, roundings, x, weight):
    y = x / np.sqrt(mean_square(x) + layer.epsilon) * weight
    return {"y": y if layer.dtype == "f32" else roundings(y, layer.dtype)}


def keras_layer_normalization(layer, roundings, x, weight=1.0, bias=0.0):
    inverse = 1 / np.sqrt(variance(x) + layer.epsilon) * weight
    return {"y": x * inverse + (bias - row_mean(x) * inverse)}


def post_norm(layer, roundings, x, residual, weight, bias):
    h = rounded(x + residual, "f32")
    return {"y": weight * ((h - row_mean(h)) / np.sqrt(variance(h) + layer.epsilon)) + bias}


def pre_norm(layer, roundings, x, residual, weight, bias):
    """The block before ends with the addition; its sum goes on as the next residual."""
    h = rounded(x + residual, "f32")
    return {"sum": h, "y": weight * ((h - row_mean(h)) / np.sqrt(variance(h) + layer.epsilon)) + bias}


def llama_rms_norm(layer, roundings, x, weight):
    normalised = roundings(x / np.sqrt(mean_square(x) + layer.epsilon), layer.dtype)
    return {"y": roundings(weight * normalised, layer.dtype, exact=True)}


def llama_add_rms_norm(layer, roundings, x, residual, weight):
    hidden_states = rounded(residual + x, layer.dtype)
    normalised = roundings(hidden_states / np.sqrt(mean_square(hidden_states) + layer.epsilon), layer.dtype)
    return {"sum": hidden_states, "y": roundings(weight * normalised, layer.dtype, exact=True)}


def gemma_rms_norm(layer, roundings, x, weight):
    return {"y": roundings(x / np.sqrt(mean_square(x) + layer.epsilon) * (1.0 + weight), layer.dtype)}


def annotated_transformer(layer, roundings, x, weight, bias):
    """torch.std divides by hidden - 1, and so is ratio times the population's deviation. The layer's own scale and
    epsilon are ratio times those of the problem."""
    ratio = math.sqrt(layer.hidden / (layer.hidden - 1))
    deviations = x - row_mean(x)
    unbiased = np.sqrt(row_mean(deviations * deviations) * layer.hidden / (layer.hidden - 1))
    return {"y": (ratio * weight) * deviations / (unbiased + ratio * layer.epsilon) + bias}


def onnx_layer_normalization(layer, roundings, x, weight, bias):
    inverse_deviation = 1 / np.sqrt(variance(x) + layer.epsilon)
    return {"y": (x - row_mean(x)) * inverse_deviation * weight + bias,
            "mean": row_mean(x).reshape(-1), "rstd": inverse_deviation.reshape(-1)}


def skip_layer_normalization(layer, roundings, x, residual, weight, bias):
    total = rounded(x + residual, "f32")
    return {"sum": total, **onnx_layer_normalization(layer, roundings, total, weight, bias)}


def skip_simplified_layer_normalization(layer, roundings, x, residual, weight):
    total = rounded(x + residual, "f32")
    return {"sum": total, "y": total / np.sqrt(mean_square(total) + layer.epsilon) * weight}


def vllm_product(layer, roundings, values, sum_of_squares_of, weight):
    """((scalar_t)(x * rstd)) * weight, the product rounded to scalar_t too."""
    rstd = 1 / np.sqrt(mean_square(sum_of_squares_of) + layer.epsilon)
    return roundings(roundings(values * rstd, layer.dtype) * weight, layer.dtype, exact=True)


def vllm_fused_add_rms_norm(layer, roundings, x, residual, weight):
    total = rounded(x + residual, layer.dtype)
    return {"sum": total, "y": vllm_product(layer, roundings, total, total, weight)}


def per_token(layer, roundings, product, dtype):
    largest = np.max(np.abs(product), axis=-1, keepdims=True)
    scales = largest / (127.0 if dtype == "i8" else 448.0)
    return {"y": roundings(product / rounded(scales, "f32"), dtype), "scales": scales.reshape(-1)}


def vllm_dynamic_int8(layer, roundings, x, weight):
    return per_token(layer, roundings, vllm_product(layer, roundings, x, x, weight), "i8")


def vllm_dynamic_fp8_add(layer, roundings, x, residual, weight):
    """The statistics are those of the f32 sum, though its stored form is rounded."""
    total = rounded(x + residual, "f32")
    quantised = per_token(layer, roundings, vllm_product(layer, roundings, total, total, weight), "f8e4m3")
    return {"sum": rounded(total, layer.dtype), **quantised}


def vllm_static_fp8(layer, roundings, x, weight):
    product = vllm_product(layer, roundings, x, x, weight)
    return {"y": roundings(product / layer.scale, "f8e4m3", exact=True)}


def fused_static_fp8(layer, roundings, x):
    return {"y": roundings(x / np.sqrt(mean_square(x) + layer.epsilon) / layer.scale, "f8e4m3")}


def unfused_static_fp8(layer, roundings, x):
    norm = roundings(x / np.sqrt(mean_square(x) + layer.epsilon), "bf16")
    return {"y": roundings(norm / layer.scale, "f8e4m3", exact=True)}


# Backward: rstd is the saved f32 value.


def saved_rstd(layer, second_moment):
    return rounded(1 / np.sqrt(second_moment + layer.epsilon), "f32")


def torch_layer_norm_backward(layer, roundings, x, dy, weight):
    mean, rstd = row_mean(x), saved_rstd(layer, variance(x))
    normalised = (x - mean) * rstd
    scaled = dy * weight
    dx = (scaled - row_mean(scaled) - normalised * row_mean(scaled * normalised)) * rstd
    return {"mean": rounded(mean, "f32").reshape(-1), "rstd": rstd.reshape(-1),
            "dx": dx if layer.dtype == "f32" else roundings(dx, layer.dtype),
            "dweight": sum_over_rows(dy * normalised), "dbias": sum_over_rows(dy)}


def torch_rms_norm_backward(layer, roundings, x, dy, weight):
    rstd = saved_rstd(layer, mean_square(x))
    normalised = x * rstd
    scaled = dy * weight
    return {"rstd": rstd.reshape(-1), "dx": (scaled - normalised * row_mean(scaled * normalised)) * rstd,
            "dweight": sum_over_rows(dy * normalised)}


def pre_norm_backward(layer, roundings, x, residual, dy, dsum, weight):
    """What the forward pass stored is read: the sum, not what was added."""
    h = rounded(x + residual, "f32")
    gradients = torch_layer_norm_backward(layer, roundings, h, dy, weight)
    dh = gradients["dx"] + dsum
    return {**gradients, "sum": h, "dx": dh, "dresidual": dh}
