#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normforge {

// Machine code of CUDA devices from PTX, by ptxas, which the environment variable PTXAS names or which lies in the
// PATH. A compute capability is a number as in runtime/cuda_table.h, and in text "8.0".

std::string capability_text(int64_t capability);

// Throws UserError for a text that is none, or of a device that kernels are not for.
int64_t parse_capability(std::string_view text);

// What libraries have beside PTX by default: of 8.0, 9.0 and 10.0 those that the ptxas of this machine assembles
// for; none without one.
std::vector<int64_t> usual_cubins();

// An ELF file. Equal arguments give equal bytes by one ptxas. Throws UserError where there is none, and where it
// fails.
std::string cubin(const std::string &ptx, int64_t capability);

}  // namespace normforge
