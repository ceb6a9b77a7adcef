#include "generators/value_types.h"

#include <cstdio>
#include <cstdlib>

namespace normforge {

using namespace Halide;

namespace {

constexpr int32_t kMagnitude = INT32_MAX;
constexpr int32_t kExponent = 0x7f800000;
constexpr int kFractionBits = 23;
constexpr int kBias = 127;

Expr bits_of(const Expr &value) {
    return reinterpret<int32_t>(value);
}

Expr float_of(const Expr &bits) {
    return reinterpret<float>(bits);
}

// A float type that is narrower than f32, with subnormals.
struct NarrowFloat {
    int fraction_bits;
    int bias;
    float limit;  // magnitudes above it get its code
    float nan;    // a NaN gets what would be the code of this number
};

// f16: five bits of exponent, ten of fraction. What would be the next number above the largest is its infinity.
constexpr NarrowFloat kF16{10, 15, 65536.0f, 98304.0f};
// f8e4m3: four bits of exponent, three of fraction. 448 is its largest number.
constexpr NarrowFloat kF8E4M3{3, 7, 448.0f, 480.0f};

// The code of the nearest number in the lowest bits, with zeros from there to bit 22. The sum with an anchor, a
// power of two whose last place is that of the narrow type at this magnitude, rounds to nearest, ties to even, and
// counts last places in its lowest bits. There the anchor already has the code of its binade, less the count
// there.
Expr magnitude_code(const Expr &value, const NarrowFloat &to) {
    const int dropped_bits = kFractionBits - to.fraction_bits;
    const int smallest_exponent = kBias + 1 - to.bias;  // of normal numbers, and of subnormal ones
    Expr finite = min(bits_of(value) & kMagnitude, bits_of(Expr(to.limit)));
    Expr magnitude = select(is_nan(value), bits_of(Expr(to.nan)), finite);
    Expr exponent = max(magnitude, smallest_exponent << kFractionBits) & kExponent;
    Expr anchor = exponent + (exponent >> dropped_bits) +
                  ((dropped_bits << kFractionBits) - (smallest_exponent << to.fraction_bits));
    return bits_of(float_of(magnitude) + float_of(anchor));
}

// Subnormals are multiples of 2^-24.
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
    return cast<uint16_t>(magnitude_code(value, kF16) | ((bits_of(value) >> 16) & 0x8000));
}

// bf16: the upper half of an f32. Of a NaN that arithmetic has made, which is a quiet one, it is a NaN too.
Expr f32_to_bf16(const Expr &value) {
    Expr bits = reinterpret<uint32_t>(value);
    Expr odd = (bits >> 16) & 1;
    return cast<uint16_t>((bits + select(is_nan(value), cast<uint32_t>(0), odd + 0x7fff)) >> 16);
}

Expr f32_to_f8e4m3(const Expr &value) {
    return cast<uint8_t>(magnitude_code(value, kF8E4M3) | ((bits_of(value) >> 24) & 0x80));
}

Expr f32_to_i8(const Expr &value) {
    Expr number = select_any(is_nan(value), 0.0f, value);
    Expr inside = clamp(number, -128.0f, 127.0f);
    const Expr anchor = 0x1.8p23f;  // between 2^23 and 2^24, f32's last place is 1; its own last bits are zeros
    return cast<int8_t>(bits_of(inside + anchor));
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
