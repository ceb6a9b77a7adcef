#include "generators/arm_machine.h"

#include "generators/bfloat_truncation.h"
#include "generators/narrow_stores.h"

namespace normforge {

namespace {

constexpr int kNeonBits = 128;

}  // namespace

void compile_for(llvm::Module &module, const ArmMachine &machine) {
    module.setTargetTriple(llvm::Triple("aarch64-unknown-linux-gnu"));
    const unsigned scale = static_cast<unsigned>(machine.vector_bits) / kNeonBits;
    for (llvm::Function &function : module) {
        function.addFnAttr("target-features", machine.features);
        function.addFnAttr("target-cpu", "generic");
        function.addFnAttr("tune-cpu", "generic");
        if (machine.features.find("sve") != std::string::npos) {
            function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(module.getContext(), scale, scale));
        }
    }
}

void convert_by_arm(llvm::Module &module, const ArmMachine &machine) {
    constexpr unsigned kBitsOfByte = 8;
    const bool is_wide = machine.vector_bits > kNeonBits;
    if (!is_wide) {
        join_narrow_stores(module, kBitsOfByte);  // SVE stores a vector cut to fewer bits
    }
    if (machine.rounds_bfloats && is_wide) {
        round_in_scalable_vectors(module, machine.vector_bits);
    } else if (machine.rounds_bfloats) {
        truncate_to_bfloats(module);
    }
}

}  // namespace normforge
