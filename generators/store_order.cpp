#include "generators/store_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "generators/row_addresses.h"
#include "llvm/IR/Instructions.h"

namespace normforge {

namespace {

// What is stored waits in registers, half of which are left for all else.
size_t most_waiting(const llvm::StoreInst &store) {
    constexpr unsigned kBitsWhereThereAre32 = 512;
    const bool are_many = store.getValueOperand()->getType()->getPrimitiveSizeInBits() >= kBitsWhereThereAre32;
    return are_many ? 16 : 8;
}

struct RowStore {
    llvm::StoreInst *store;
    int64_t base;  // where its row's pointer lies
};

// Puts those of several rows where the last one is.
void gather(std::vector<RowStore> &stores) {
    if (std::ranges::adjacent_find(stores, std::ranges::not_equal_to(), &RowStore::base) != stores.end()) {
        llvm::Instruction *end = stores.back().store->getNextNode();
        std::ranges::stable_sort(stores, {}, &RowStore::base);
        for (const RowStore &each : stores) {
            each.store->moveBefore(end->getIterator());
        }
    }
    stores.clear();
}

}  // namespace

void gather_stores_of_rows(llvm::Function &entry, const std::vector<size_t> &rows) {
    for (llvm::BasicBlock &block : entry) {
        std::vector<RowStore> waiting;
        for (auto next = block.begin(); next != block.end();) {
            llvm::Instruction &instruction = *next++;
            auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
            const int64_t base = store && store->isSimple() && store->getValueOperand()->getType()->isVectorTy()
                                     ? offset_of_base(store->getPointerOperand(), entry)
                                     : -1;
            if (std::ranges::any_of(rows, [&](size_t row) { return static_cast<int64_t>(row) == base; })) {
                waiting.push_back({store, base});
                if (waiting.size() == most_waiting(*store)) {
                    gather(waiting);
                }
            } else if (instruction.isTerminator() || (!store && instruction.mayWriteToMemory())) {
                gather(waiting);
            }
        }
    }
}

}  // namespace normforge
