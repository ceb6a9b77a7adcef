#include "autotune/measure/emulation.h"

#include <fmt/format.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sched.h>
#include <sys/auxv.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#endif

namespace normforge {

#if defined(__x86_64__)

std::string emulation_sign() {
    constexpr unsigned kHypervisorLeaf = 0x40000000;
    unsigned name[4] = {};
    __cpuid(kHypervisorLeaf, name[0], name[1], name[2], name[3]);
    const std::string text(reinterpret_cast<const char *>(name + 1), 3 * sizeof(unsigned));
    return text == "TCGTCGTCGTCG" ? "the CPU says that it is qemu's" : "";
}

#elif defined(__aarch64__)

namespace {

constexpr unsigned long kCpuIdCap = 1ul << 11;  // of AT_HWCAP: programs may read MIDR_EL1
constexpr const char *kMidrFile = "/sys/devices/system/cpu/cpu{}/regs/identification/midr_el1";

uint64_t own_midr() {
    uint64_t midr = 0;
    asm("mrs %0, midr_el1" : "=r"(midr));
    return midr;
}

}  // namespace

std::string emulation_sign() {
    if (!(getauxval(AT_HWCAP) & kCpuIdCap)) {
        return "the CPU does not tell what it is";
    }
    cpu_set_t own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &own)) {
            continue;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        const uint64_t midr = own_midr();
        sched_setaffinity(0, sizeof own, &own);
        std::string text;
        std::ifstream(fmt::format(kMidrFile, cpu)) >> text;
        if (text.empty()) {
            return "the system that runs this has no file of an ARM core's MIDR_EL1";
        }
        if (const uint64_t told = std::strtoull(text.c_str(), nullptr, 16); told != midr) {
            return fmt::format("the core's MIDR_EL1 is {:#x}, and the system's {:#x}", midr, told);
        }
        constexpr int kImplementerShift = 24;
        return midr >> kImplementerShift == 0 ? "the core is nobody's" : "";
    }
    return "";
}

#endif

}  // namespace normforge
