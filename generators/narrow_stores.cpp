#include "generators/narrow_stores.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace normforge {

namespace {

// The cut integers that a store writes, or null.
llvm::TruncInst *stored_cut(llvm::StoreInst &store) {
    return llvm::dyn_cast<llvm::TruncInst>(store.getValueOperand());
}

int64_t bytes(const llvm::Type *type) {
    return static_cast<int64_t>(type->getPrimitiveSizeInBits().getFixedValue() / 8);
}

std::vector<llvm::StoreInst *> narrow_stores(llvm::BasicBlock &block, unsigned least_bits) {
    std::vector<llvm::StoreInst *> stores;
    for (llvm::Instruction &instruction : block) {
        auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        if (store && store->isSimple() && stored_cut(*store) &&
            llvm::isa<llvm::FixedVectorType>(stored_cut(*store)->getType()) &&
            stored_cut(*store)->getType()->getScalarSizeInBits() >= least_bits) {
            stores.push_back(store);
        }
    }
    return stores;
}

// Both as one store, where the second one stands.
llvm::StoreInst *join(llvm::StoreInst *first, llvm::StoreInst *second) {
    llvm::IRBuilder<> builder(second);
    llvm::TruncInst *cuts[] = {stored_cut(*first), stored_cut(*second)};
    auto *type = llvm::cast<llvm::FixedVectorType>(cuts[0]->getType());
    llvm::Value *both = llvm::concatenateVectors(builder, {cuts[0]->getOperand(0), cuts[1]->getOperand(0)});
    llvm::Value *cut = builder.CreateTrunc(both, llvm::FixedVectorType::getDoubleElementsVectorType(type));
    llvm::StoreInst *joined = builder.CreateAlignedStore(cut, first->getPointerOperand(), first->getAlign());
    joined->copyMetadata(*first);
    first->eraseFromParent();
    second->eraseFromParent();
    for (llvm::TruncInst *old : cuts) {
        if (old->use_empty()) {
            old->eraseFromParent();
        }
    }
    return joined;
}

void join_in_block(llvm::BasicBlock &block, unsigned least_bits) {
    using Place = std::pair<llvm::Value *, int64_t>;  // a distance from an address
    const llvm::DataLayout &layout = block.getModule()->getDataLayout();
    struct Run {
        llvm::StoreInst *store;
        int64_t full_bytes;  // of one of the vectors that were cut
    };
    std::map<Place, Run> run_ending_at;
    for (llvm::StoreInst *store : narrow_stores(block, least_bits)) {
        llvm::APInt distance(layout.getPointerSizeInBits(), 0);
        llvm::Value *address =
            store->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, distance, true);
        Place begin(address, distance.getSExtValue());
        const Place end(address, begin.second + bytes(stored_cut(*store)->getType()));
        Run run{store, bytes(stored_cut(*store)->getSrcTy())};
        for (auto before = run_ending_at.find(begin); before != run_ending_at.end();
             before = run_ending_at.find(begin)) {
            const auto [first, full_bytes] = before->second;
            llvm::Type *type = stored_cut(*run.store)->getType();
            if (stored_cut(*first)->getType() != type || full_bytes != run.full_bytes ||
                2 * bytes(type) > full_bytes) {
                break;
            }
            run_ending_at.erase(before);
            begin.second -= bytes(type);
            run.store = join(first, run.store);
        }
        run_ending_at.insert_or_assign(end, run);
    }
}

}  // namespace

void join_narrow_stores(llvm::Module &module, unsigned least_bits) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            join_in_block(block, least_bits);
        }
    }
}

}  // namespace normforge
