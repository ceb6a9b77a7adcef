#include "generators/bfloat_truncation.h"

#include "generators/bfloat_stores.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAArch64.h"

namespace normforge {

namespace {

// What the codes are rounded from, where they may be those of two vectors side by side; else null.
llvm::Value *rounded_values(llvm::IRBuilder<> &builder, llvm::Value *codes) {
    auto *joined = llvm::dyn_cast<llvm::ShuffleVectorInst>(codes);
    if (!joined || !joined->isConcat()) {
        return rounded_to_bfloat(codes);
    }
    llvm::Value *first = rounded_to_bfloat(joined->getOperand(0));
    llvm::Value *second = rounded_to_bfloat(joined->getOperand(1));
    if (!first || !second) {
        return nullptr;
    }
    return llvm::concatenateVectors(builder, {first, second});
}

// The instruction leaves each code in the lower half of its number's place, and zeros in the upper one.
llvm::Value *scalable_codes(llvm::IRBuilder<> &builder, llvm::Value *values) {
    const auto scalable = [](llvm::Type *value, unsigned count) {
        return llvm::ScalableVectorType::get(value, count);
    };
    llvm::Type *floats = scalable(builder.getFloatTy(), 4);
    llvm::Type *bfloats = scalable(builder.getBFloatTy(), 8);
    llvm::Type *integers = scalable(builder.getInt32Ty(), 4);
    llvm::Value *wide = builder.CreateInsertVector(floats, llvm::PoisonValue::get(floats), values, uint64_t{0});
    llvm::Value *codes =
        builder.CreateIntrinsic(llvm::Intrinsic::aarch64_sve_fcvt_bf16f32_v2, {},
                                {llvm::PoisonValue::get(bfloats),
                                 llvm::Constant::getAllOnesValue(scalable(builder.getInt1Ty(), 4)), wide});
    return builder.CreateExtractVector(values->getType()->getWithNewType(builder.getInt32Ty()),
                                       builder.CreateBitCast(codes, integers), uint64_t{0});
}

}  // namespace

void truncate_to_bfloats(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
            auto *cut = llvm::dyn_cast<llvm::TruncInst>(&instruction);
            if (!cut || !cut->getType()->getScalarType()->isIntegerTy(16)) {
                continue;
            }
            llvm::IRBuilder<> builder(cut);
            llvm::Value *values = rounded_values(builder, cut->getOperand(0));
            if (!values) {
                continue;
            }
            llvm::Type *type = values->getType()->getWithNewType(builder.getBFloatTy());
            cut->replaceAllUsesWith(builder.CreateBitCast(builder.CreateFPTrunc(values, type), cut->getType()));
            cut->eraseFromParent();
        }
    }
}

void round_in_scalable_vectors(llvm::Module &module, int register_bits) {
    for (llvm::Function &function : module) {
        for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
            llvm::Value *values = rounded_to_bfloat(&instruction);
            if (!values || !llvm::isa<llvm::FixedVectorType>(values->getType()) ||
                values->getType()->getPrimitiveSizeInBits() > static_cast<uint64_t>(register_bits)) {
                continue;
            }
            llvm::IRBuilder<> builder(&instruction);
            instruction.replaceAllUsesWith(scalable_codes(builder, values));
            instruction.eraseFromParent();
        }
    }
}

}  // namespace normforge
