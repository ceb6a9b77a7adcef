#include "generators/value_types.h"

#include <cstdio>
#include <cstdlib>

namespace normforge {

using namespace Halide;

namespace {

constexpr int32_t kSign = INT32_MIN;
constexpr int32_t kInfinity = 0x7f800000;

Expr bits_of(const Expr &value) {
    return reinterpret<int32_t>(value);
}

Expr float_of(const Expr &bits) {
    return reinterpret<float>(bits);
}

Expr magnitude_bits(const Expr &value) {
    return bits_of(value) & Expr(~kSign);
}

// Non-negative bits without their last `dropped`, rounded to nearest, ties to even.
Expr drop_bits(const Expr &bits, int dropped) {
    return (bits + ((1 << (dropped - 1)) - 1) + ((bits >> dropped) & 1)) >> dropped;
}

// The magnitude as a multiple of the last place of `anchor`, a power of two above it: the sum rounds it.
Expr count_last_places(const Expr &magnitude, float anchor) {
    return bits_of(float_of(magnitude) + anchor) - bits_of(Expr(anchor));
}

// f16: five bits of exponent, ten of fraction. Its subnormals are multiples of 2^-24.
Expr f16_to_f32(const Expr &stored) {
    Expr magnitude = cast<int32_t>(stored) & 0x7fff;
    Expr normal = (magnitude << 13) + ((127 - 15) << 23);
    Expr not_finite = (magnitude << 13) + ((255 - 31) << 23);
    Expr subnormal = bits_of(cast<float>(magnitude) * Expr(0x1p-24f));
    Expr result = select(magnitude >= 0x7c00, not_finite, magnitude >= 0x0400, normal, subnormal);
    // As unsigned numbers: a shift into the sign of a signed one is an overflow, and LLVM drops what depends on
    // it.
    Expr sign = (cast<uint32_t>(stored) & 0x8000) << 16;
    return float_of(result | reinterpret<int32_t>(sign));
}

Expr f32_to_f16(const Expr &value) {
    Expr magnitude = magnitude_bits(value);
    Expr normal = drop_bits(magnitude, 13) - ((127 - 15) << 10);
    Expr result = select(magnitude > kInfinity, 0x7e00,                 // a NaN
                         magnitude >= bits_of(Expr(65536.0f)), 0x7c00,  // an infinity
                         magnitude >= bits_of(Expr(0x1p-14f)), normal,  // may round to infinity as well
                         count_last_places(magnitude, 0.5f));
    return cast<uint16_t>(result | ((bits_of(value) >> 16) & 0x8000));
}

// bf16: the upper half of an f32.
Expr f32_to_bf16(const Expr &value) {
    Expr bits = reinterpret<uint32_t>(value);
    Expr nearest = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return cast<uint16_t>(select(magnitude_bits(value) > kInfinity, (bits >> 16) | 0x40, nearest));
}

// f8e4m3: four bits of exponent, three of fraction. Its subnormals are multiples of 2^-9.
Expr f32_to_f8e4m3(const Expr &value) {
    Expr magnitude = magnitude_bits(value);
    Expr finite = min(magnitude, bits_of(Expr(448.0f)));
    Expr normal = drop_bits(finite, 20) - ((127 - 7) << 3);
    Expr result = select(magnitude > kInfinity, 0x7f, magnitude >= bits_of(Expr(0x1p-6f)), normal,
                         count_last_places(finite, 16384.0f));
    return cast<uint8_t>(result | ((bits_of(value) >> 24) & 0x80));
}

Expr f32_to_i8(const Expr &value) {
    Expr number = select_any(magnitude_bits(value) > kInfinity, 0.0f, value);
    Expr inside = clamp(number, -128.0f, 127.0f);
    const Expr anchor = 0x1.8p23f;  // between 2^23 and 2^24, f32's last place is 1
    return cast<int8_t>(bits_of(inside + anchor) - bits_of(anchor));
}

[[noreturn]] void refuse(nf_dtype dtype) {
    std::fprintf(stderr, "normforge: no kernel holds values of type %d here\n", dtype);
    std::abort();
}

}  // namespace

Expr select_any(const Expr &condition, const Expr &a, const Expr &b) {
    const Type bits = a.type().with_code(halide_type_int);
    return reinterpret(a.type(), select(condition, reinterpret(bits, a), reinterpret(bits, b)));
}

Type stored_type(nf_dtype dtype) {
    switch (dtype) {
    case NF_F32:
        return Float(32);
    case NF_F16:
    case NF_BF16:
        return UInt(16);
    case NF_I8:
        return Int(8);
    case NF_F8E4M3:
        return UInt(8);
    case NF_NONE:
        break;
    }
    refuse(dtype);
}

Expr ValueConversion::to_f32(const Expr &stored, nf_dtype dtype) const {
    switch (dtype) {
    case NF_F32:
        return stored;
    case NF_F16:
        return converts_f16_ ? cast<float>(reinterpret<float16_t>(stored)) : f16_to_f32(stored);
    case NF_BF16:
        return float_of(cast<uint32_t>(stored) << 16);
    default:
        refuse(dtype);
    }
}

Expr ValueConversion::from_f32(const Expr &value, nf_dtype dtype) const {
    switch (dtype) {
    case NF_F32:
        return value;
    case NF_F16:
        return converts_f16_ ? reinterpret<uint16_t>(cast<float16_t>(value)) : f32_to_f16(value);
    case NF_BF16:
        return f32_to_bf16(value);
    case NF_I8:
        return f32_to_i8(value);
    case NF_F8E4M3:
        return f32_to_f8e4m3(value);
    case NF_NONE:
        break;
    }
    refuse(dtype);
}

Expr ValueConversion::rounded(const Expr &value, nf_dtype dtype) const {
    return dtype == NF_NONE ? value : to_f32(from_f32(value, dtype), dtype);
}

}  // namespace normforge
