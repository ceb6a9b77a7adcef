#include "generators/bfloat_pairs.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace normforge {

using namespace llvm::PatternMatch;

namespace {

// Whether its lanes are the first one's and the second one's by turns.
bool interleaves(const llvm::ShuffleVectorInst &shuffle) {
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements();
    llvm::SmallVector<unsigned> starts;
    return llvm::ShuffleVectorInst::isInterleaveMask(shuffle.getShuffleMask(), 2, 2 * lanes, starts) &&
           starts[0] == 0 && starts[1] == lanes;
}

}  // namespace

void store_bfloat_pairs(llvm::Module &module) {
    constexpr uint32_t kUpperHalf = 0xffff0000;
    for (llvm::Function &function : module) {
        for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
            auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
            llvm::Value *interleaved = nullptr;
            if (!store ||
                !match(store->getValueOperand(), m_Trunc(m_LShr(m_Value(interleaved), m_SpecificInt(16)))) ||
                !store->getValueOperand()->getType()->getScalarType()->isIntegerTy(16)) {
                continue;
            }
            auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(interleaved);
            if (!shuffle || !interleaves(*shuffle)) {
                continue;
            }
            llvm::IRBuilder<> builder(store);
            llvm::Value *words = builder.CreateOr(builder.CreateLShr(shuffle->getOperand(0), 16),
                                                  builder.CreateAnd(shuffle->getOperand(1), kUpperHalf));
            store->setOperand(0, builder.CreateBitCast(words, store->getValueOperand()->getType()));
        }
    }
}

}  // namespace normforge
