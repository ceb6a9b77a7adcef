#include "generators/bfloat_word_sums.h"

#include <cstdint>
#include <optional>

#include "generators/bfloat_stores.h"
#include "generators/function_features.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace normforge {

namespace {

constexpr uint32_t kLowestBitThatStays = 0x00010000;
constexpr uint32_t kBelowHalf = 0x7fff;
// Else LLVM makes some of them a multiplication and an addition.
constexpr const char *kWordSumsAreFast = "+fast-dpwssd";
constexpr uint32_t kUpperHalf = 0xffff0000;

// Words whose upper halves are the codes.
llvm::Value *rounded_words(llvm::IRBuilder<> &builder, llvm::Value *values) {
    const unsigned lanes = lane_count(*values);
    auto *words = llvm::FixedVectorType::get(builder.getInt32Ty(), lanes);
    auto *halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
    llvm::Value *bits = builder.CreateBitCast(values, words);
    llvm::Value *added = builder.CreateOr(builder.CreateAnd(bits, kLowestBitThatStays), kBelowHalf);
    return builder.CreateIntrinsic(
        lanes == 16 ? llvm::Intrinsic::x86_avx512_vpdpwssd_512 : llvm::Intrinsic::x86_avx512_vpdpwssd_256,
        {bits, builder.CreateBitCast(added, halves), llvm::ConstantInt::get(halves, 1)});
}

// The upper halves of the first words below those of the second ones. Written as a shift, a mask and an or, LLVM
// makes it one permutation of two vectors, which is two operations where a shuffle can run.
llvm::Value *joined(llvm::IRBuilder<> &builder, llvm::Value *first, llvm::Value *second) {
    constexpr uint8_t kFirstOrMaskedSecond = 0xf8;  // by the bits of the truth table
    return builder.CreateIntrinsic(lane_count(*first) == 16 ? llvm::Intrinsic::x86_avx512_pternlog_d_512
                                                            : llvm::Intrinsic::x86_avx512_pternlog_d_256,
                                   {builder.CreateLShr(first, 16), second,
                                    llvm::ConstantInt::get(second->getType(), kUpperHalf),
                                    builder.getInt32(kFirstOrMaskedSecond)});
}

}  // namespace

void round_pairs_by_word_sums(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::Instruction &instruction : llvm::instructions(function)) {
            const std::optional<BfloatStore> found = bfloat_store(instruction);
            if (!found || !found->in_pairs) {
                continue;
            }
            add_feature(function, kWordSumsAreFast);
            llvm::IRBuilder<> builder(found->store);
            llvm::Value *codes = joined(builder, rounded_words(builder, found->values[0]),
                                        rounded_words(builder, found->values[1]));
            found->store->setOperand(0, builder.CreateBitCast(codes, found->store->getValueOperand()->getType()));
        }
    }
}

}  // namespace normforge
