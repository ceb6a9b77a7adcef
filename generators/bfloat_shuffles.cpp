#include "generators/bfloat_shuffles.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace normforge {

namespace {

using namespace llvm::PatternMatch;

constexpr unsigned kLanesOfTwoHalves = 8;

llvm::Value *interleaved_with_zeros(llvm::IRBuilder<> &builder, llvm::Value *codes) {
    const int zero = static_cast<int>(llvm::cast<llvm::FixedVectorType>(codes->getType())->getNumElements());
    llvm::SmallVector<int> words;
    for (int lane = 0; lane < zero; lane++) {
        words.append({zero, lane});
    }
    return builder.CreateShuffleVector(codes, llvm::Constant::getNullValue(codes->getType()), words);
}

// The same, where a shuffle takes no words from one half of a register to the other: a load fills both halves with
// all codes first.
llvm::Value *interleaved_in_halves(llvm::IRBuilder<> &builder, llvm::Value *codes) {
    const int count = static_cast<int>(llvm::cast<llvm::FixedVectorType>(codes->getType())->getNumElements());
    const int zero = 2 * count;
    llvm::SmallVector<int> both;
    llvm::SmallVector<int> words;
    for (int place = 0; place < 2 * count; place++) {
        both.push_back(place % count);
    }
    for (int lane = 0; lane < count; lane++) {
        words.append({zero, lane < count / 2 ? lane : count + lane});
    }
    llvm::Value *twice = builder.CreateShuffleVector(codes, both);
    return builder.CreateShuffleVector(twice, llvm::Constant::getNullValue(twice->getType()), words);
}

}  // namespace

void pack_bfloats_by_permutation(llvm::Module &module) {
    const llvm::SmallVector<int> upper_words(llvm::createStrideMask(1, 2, 32));
    auto *words = llvm::FixedVectorType::get(llvm::Type::getInt16Ty(module.getContext()), 32);
    for (llvm::Function &function : module) {
        for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
            llvm::Value *parts[2];
            const auto upper = [](llvm::Value *&part) { return m_LShr(m_Value(part), m_SpecificInt(16)); };
            if (instruction.getType() != words ||
                !match(&instruction, m_Trunc(m_Shuffle(upper(parts[0]), upper(parts[1])))) ||
                !llvm::cast<llvm::ShuffleVectorInst>(instruction.getOperand(0))->isConcat()) {
                continue;
            }
            llvm::IRBuilder<> builder(&instruction);
            instruction.replaceAllUsesWith(builder.CreateShuffleVector(
                builder.CreateBitCast(parts[0], words), builder.CreateBitCast(parts[1], words), upper_words));
            instruction.eraseFromParent();
        }
    }
}

void widen_bfloats(llvm::Module &module, unsigned lanes) {
    auto *code = llvm::Type::getInt16Ty(module.getContext());
    auto *type = llvm::FixedVectorType::get(code, lanes);
    for (llvm::Function &function : module) {
        for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
            llvm::Value *codes = nullptr;
            if (!match(&instruction, m_Shl(m_ZExt(m_Value(codes)), m_SpecificInt(16))) ||
                codes->getType() != type || !llvm::isa<llvm::LoadInst>(codes)) {
                continue;
            }
            llvm::IRBuilder<> builder(&instruction);
            llvm::Value *words = lanes == kLanesOfTwoHalves ? interleaved_in_halves(builder, codes)
                                                            : interleaved_with_zeros(builder, codes);
            instruction.replaceAllUsesWith(builder.CreateBitCast(words, instruction.getType()));
            instruction.eraseFromParent();
        }
    }
}

}  // namespace normforge
