#pragma once

#include <cstdint>

namespace normforge {

// What an x86 CPU says of itself: registers of CPUID by leaf, and XCR0.
struct X86Words {
    uint32_t leaf1_ecx = 0;
    uint32_t leaf7_ebx = 0;
    uint32_t leaf7_ecx = 0;
    uint32_t leaf7_edx = 0;
    uint32_t leaf7_subleaf1_eax = 0;
    uint32_t extended_ecx = 0;  // leaf 0x80000001
    uint32_t saved_state = 0;   // XCR0: the registers that the operating system keeps for a program

    bool operator==(const X86Words &) const = default;
};

// The bits of kX86Features that such a CPU has. A pure function: tests ask it of CPUs not at hand.
uint64_t x86_features(const X86Words &words);

}  // namespace normforge
