#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "runtime/norm_problem.h"

// Values of every type, exactly, without a library or an instruction for them: for the oracle, for tools and for
// tests. Kernels convert by themselves, and the runtime by round_values, which is tested against these.
//
// Floats are encoded and decoded on the bits of an f64, so neither the rounding mode nor flushing of subnormals
// that a program has set changes them.

namespace normforge {

// A binary float: sign, biased exponent, stored_bits of the significand. A biased exponent of zero marks
// subnormals, whose exponent is that of one.
struct FloatFormat {
    int stored_bits;
    int bias;
    uint32_t sign;           // the code of minus zero
    uint32_t largest_code;   // of the largest finite value
    uint32_t overflow_code;  // of what is beyond it: infinity, or the largest value again
    uint32_t quiet_nan;      // codes of NaNs have all these bits set, and some have more
};

constexpr FloatFormat float_format(nf_dtype type) {
    switch (type) {
    case NF_F32:
        return {23, 127, 0x80000000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
    case NF_F16:
        return {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00};
    case NF_BF16:
        return {7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0};
    case NF_F8E4M3:
        return {3, 7, 0x80, 0x7e, 0x7e, 0x7f};
    case NF_I8:
    case NF_NONE:
        break;
    }
    __builtin_trap();
}

constexpr uint64_t kF64Sign = uint64_t{1} << 63;
constexpr uint64_t kF64Infinity = uint64_t{0x7ff} << 52;
constexpr int kF64StoredBits = 52;
constexpr int kF64Bias = 1023;

constexpr double decode_float(const FloatFormat &format, uint32_t code) {
    const uint64_t sign = code & format.sign ? kF64Sign : 0;
    const uint64_t magnitude = code & ~format.sign;
    const int shift = kF64StoredBits - format.stored_bits;
    uint64_t bits = magnitude << shift;
    if (magnitude > format.largest_code) {
        bits |= kF64Infinity;
    } else if (magnitude >> format.stored_bits) {
        bits += static_cast<uint64_t>(kF64Bias - format.bias) << kF64StoredBits;
    } else {
        const auto unit_exponent = static_cast<uint64_t>(kF64Bias + 1 - format.bias - format.stored_bits);
        const double unit = std::bit_cast<double>(unit_exponent << kF64StoredBits);
        bits = std::bit_cast<uint64_t>(static_cast<double>(magnitude) * unit);
    }
    return std::bit_cast<double>(sign | bits);
}

constexpr uint32_t encode_float(const FloatFormat &format, double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const uint32_t sign = bits & kF64Sign ? format.sign : 0;
    const uint64_t magnitude = bits & ~kF64Sign;
    const uint64_t stored = magnitude & ((uint64_t{1} << kF64StoredBits) - 1);
    int shift = kF64StoredBits - format.stored_bits;
    if (magnitude > kF64Infinity) {
        return sign | format.quiet_nan | static_cast<uint32_t>(stored >> shift);
    }
    const int exponent = static_cast<int>(magnitude >> kF64StoredBits) - kF64Bias + format.bias;
    uint64_t significand = stored;
    if (exponent >= 1) {
        significand |= static_cast<uint64_t>(exponent) << kF64StoredBits;
    } else {
        // A subnormal of an f64 lies so far below every other type that the bit which it lacks changes nothing.
        significand |= uint64_t{1} << kF64StoredBits;
        constexpr int kShiftToZero = kF64StoredBits + 2;
        shift = exponent > shift - kShiftToZero ? shift + 1 - exponent : kShiftToZero;
    }
    // A carry out of the significand is the next exponent's first value, as it should be.
    const uint64_t last_bit = (significand >> shift) & 1;
    const uint64_t code = (significand + (uint64_t{1} << (shift - 1)) - 1 + last_bit) >> shift;
    return sign | (code > format.largest_code ? format.overflow_code : static_cast<uint32_t>(code));
}

constexpr int8_t encode_i8(double value) {
    if (!(value > -128)) {
        return value <= -128 ? -128 : 0;
    }
    if (value >= 127) {
        return 127;
    }
    const int whole = static_cast<int>(value);
    const double rest = value - whole;
    const double distance = rest < 0 ? -rest : rest;
    const bool away = distance > 0.5 || (distance == 0.5 && whole % 2 != 0);
    return static_cast<int8_t>(away ? whole + (rest < 0 ? -1 : 1) : whole);
}

// The largest finite value of the type.
constexpr double largest_value(nf_dtype type) {
    if (type == NF_I8) {
        return 127;
    }
    const FloatFormat format = float_format(type);
    return decode_float(format, format.largest_code);
}

// The value nearest to a number, ties to the one whose last bit is zero. Floats beyond the largest by half a unit
// or more become infinite, as IEEE 754 has it; i8 and f8e4m3 saturate. A NaN stays one, but is 0 in i8.
constexpr double round_to(nf_dtype type, double value) {
    if (type == NF_I8) {
        return encode_i8(value);
    }
    const FloatFormat format = float_format(type);
    return decode_float(format, encode_float(format, value));
}

// values[index] of an array of the type. Storing rounds as round_to does.
inline double load_value(const void *values, nf_dtype type, int64_t index) {
    const auto element = [&]<typename Code>(Code code) {
        std::memcpy(&code, static_cast<const char *>(values) + index * int64_t{sizeof(Code)}, sizeof(Code));
        return code;
    };
    switch (type) {
    case NF_F32:
        return decode_float(float_format(NF_F32), element(uint32_t{}));
    case NF_F16:
        return decode_float(float_format(NF_F16), element(uint16_t{}));
    case NF_BF16:
        return decode_float(float_format(NF_BF16), element(uint16_t{}));
    case NF_F8E4M3:
        return decode_float(float_format(NF_F8E4M3), element(uint8_t{}));
    case NF_I8:
        return element(int8_t{});
    case NF_NONE:
        break;
    }
    __builtin_trap();
}

inline void store_value(void *values, nf_dtype type, int64_t index, double value) {
    const auto set_element = [&]<typename Code>(Code code) {
        std::memcpy(static_cast<char *>(values) + index * int64_t{sizeof(Code)}, &code, sizeof(Code));
    };
    switch (type) {
    case NF_F32:
        return set_element(encode_float(float_format(NF_F32), value));
    case NF_F16:
        return set_element(static_cast<uint16_t>(encode_float(float_format(NF_F16), value)));
    case NF_BF16:
        return set_element(static_cast<uint16_t>(encode_float(float_format(NF_BF16), value)));
    case NF_F8E4M3:
        return set_element(static_cast<uint8_t>(encode_float(float_format(NF_F8E4M3), value)));
    case NF_I8:
        return set_element(encode_i8(value));
    case NF_NONE:
        break;
    }
    __builtin_trap();
}

}  // namespace normforge
