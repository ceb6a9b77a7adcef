#pragma once

#include <string>

namespace normforge {

// Why times of this machine would say nothing of its CPU: an emulator runs this program. Empty where no sign of
// one is found.
//
// Of ARM: an emulator of user programs answers for the CPU, but shows the files of the system that it runs on.
// There Linux keeps MIDR_EL1, by which a core tells what it is: on ARM it is what the program reads itself, by an
// instruction that Linux lets programs use; under an emulator it is another core's, or there is no such file. An
// emulator of a whole machine is told where it calls its CPU none of anybody's, as qemu's "max" does. Of x86:
// qemu's own CPUs name it in a leaf of cpuid.
std::string emulation_sign();

}  // namespace normforge
