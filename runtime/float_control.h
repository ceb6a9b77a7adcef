#pragma once

#include <cstdint>

namespace normforge {

// How the calling thread computes: the rounding mode, what becomes of subnormal numbers, which exceptions are
// masked. Of a CPU that is not known here, nothing.
using FloatControl = uint64_t;

#if defined(__x86_64__)

inline FloatControl float_control() {
    constexpr uint32_t kRaised = 0x3f;  // exceptions that were raised, which is no control
    uint32_t mxcsr = 0;
    asm volatile("stmxcsr %0" : "=m"(mxcsr));
    return mxcsr & ~kRaised;
}

inline void set_float_control(FloatControl control) {
    const auto mxcsr = static_cast<uint32_t>(control);
    asm volatile("ldmxcsr %0" : : "m"(mxcsr));
}

#elif defined(__aarch64__)

inline FloatControl float_control() {
    FloatControl fpcr = 0;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

inline void set_float_control(FloatControl control) {
    asm volatile("msr fpcr, %0" : : "r"(control));
}

#else

inline FloatControl float_control() {
    return 0;
}

inline void set_float_control(FloatControl) {}

#endif

// Computes as another thread does while it lives.
class BorrowedFloatControl {
public:
    explicit BorrowedFloatControl(FloatControl control) : own_(float_control()), borrowed_(control) {
        if (own_ != borrowed_) {
            set_float_control(borrowed_);
        }
    }
    ~BorrowedFloatControl() {
        if (own_ != borrowed_) {
            set_float_control(own_);
        }
    }
    BorrowedFloatControl(const BorrowedFloatControl &) = delete;
    BorrowedFloatControl &operator=(const BorrowedFloatControl &) = delete;

private:
    FloatControl own_;
    FloatControl borrowed_;
};

}  // namespace normforge
