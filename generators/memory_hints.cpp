#include "generators/memory_hints.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "generators/row_addresses.h"
#include "runtime/normforge.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace normforge {

namespace {

constexpr uint64_t kLeastBytes = 16;  // of the narrowest vector register

// A store of a whole vector of these rows.
struct StreamedStore {
    llvm::StoreInst *store;
    size_t rows;  // which
    uint64_t bytes;
};

std::vector<StreamedStore> streamed_stores(llvm::Function &entry, const std::vector<StreamedRows> &rows) {
    const llvm::DataLayout &layout = entry.getParent()->getDataLayout();
    std::vector<StreamedStore> result;
    for (llvm::Instruction &instruction : llvm::instructions(entry)) {
        auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        if (!store || !store->getValueOperand()->getType()->isVectorTy()) {
            continue;
        }
        const uint64_t bytes = layout.getTypeStoreSize(store->getValueOperand()->getType());
        const int64_t offset = offset_of_base(store->getPointerOperand(), entry) - offsetof(nf_output, data);
        for (size_t index = 0; index < rows.size() && bytes >= kLeastBytes; index++) {
            if (static_cast<int64_t>(rows[index].offset) == offset) {
                result.push_back({store, index, bytes});
            }
        }
    }
    return result;
}

void mark(llvm::StoreInst &store) {
    llvm::LLVMContext &context = store.getContext();
    store.setMetadata(llvm::LLVMContext::MD_nontemporal,
                      llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(
                                                     llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1))));
}

// Marks the stores. The widest of each operand's, in bytes.
std::vector<uint64_t> mark_stores(llvm::Function &entry, const std::vector<StreamedRows> &rows) {
    std::vector<uint64_t> widest(rows.size(), 1);
    for (const StreamedStore &streamed : streamed_stores(entry, rows)) {
        mark(*streamed.store);
        streamed.store->setAlignment(llvm::Align(streamed.bytes));
        widest[streamed.rows] = std::max(widest[streamed.rows], streamed.bytes);
    }
    return widest;
}

// Whether the second store begins where the first one ends.
bool is_behind(const llvm::StoreInst &second, const llvm::StoreInst &first, uint64_t bytes) {
    const llvm::DataLayout &layout = first.getModule()->getDataLayout();
    llvm::APInt first_offset(64, 0), second_offset(64, 0);
    const llvm::Value *first_base =
        first.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, first_offset, true);
    const llvm::Value *second_base =
        second.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, second_offset, true);
    return first_base == second_base && second_offset - first_offset == bytes &&
           first.getParent() == second.getParent() &&
           first.getValueOperand()->getType() == second.getValueOperand()->getType();
}

// Both as one, where the second one stands: down past loads, as in narrow_stores.h.
llvm::StoreInst *join(llvm::StoreInst *first, llvm::StoreInst *second) {
    llvm::IRBuilder<> builder(second);
    llvm::Value *both = llvm::concatenateVectors(builder, {first->getValueOperand(), second->getValueOperand()});
    llvm::StoreInst *joined = builder.CreateAlignedStore(both, first->getPointerOperand(), first->getAlign());
    first->eraseFromParent();
    second->eraseFromParent();
    return joined;
}

// Bits that are set where a row does not begin at a multiple of its widest store. A single row has no stride.
llvm::Value *misaligned_bits(llvm::IRBuilder<> &builder, llvm::Value *arguments,
                             const std::vector<StreamedRows> &rows, const std::vector<uint64_t> &widest) {
    llvm::Type *int64 = builder.getInt64Ty();
    const auto field = [&](size_t offset) {
        return builder.CreateLoad(int64, builder.CreateConstGEP1_64(builder.getInt8Ty(), arguments, offset));
    };
    llvm::Value *many = builder.CreateICmpSGT(field(offsetof(nf_arguments, rows)), builder.getInt64(1));
    llvm::Value *bits = builder.getInt64(0);
    for (size_t index = 0; index < rows.size(); index++) {
        llvm::Value *stride = builder.CreateMul(field(rows[index].offset + offsetof(nf_output, row_stride)),
                                                builder.getInt64(rows[index].value_bytes));
        llvm::Value *address = builder.CreateOr(field(rows[index].offset + offsetof(nf_output, data)),
                                                builder.CreateSelect(many, stride, builder.getInt64(0)));
        bits = builder.CreateOr(bits, builder.CreateAnd(address, widest[index] - 1));
    }
    return bits;
}

}  // namespace

void prefetch_to_second_cache(llvm::Function &entry) {
    constexpr unsigned kLocalityArgument = 2;
    constexpr uint64_t kSecondCache = 2;
    for (llvm::Instruction &instruction : llvm::instructions(entry)) {
        auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        if (call && call->getIntrinsicID() == llvm::Intrinsic::prefetch) {
            llvm::Type *type = call->getArgOperand(kLocalityArgument)->getType();
            call->setArgOperand(kLocalityArgument, llvm::ConstantInt::get(type, kSecondCache));
        }
    }
}

void align_to_values(llvm::Function &entry, const std::vector<size_t> &offsets) {
    const llvm::Align of_value(sizeof(float));
    const auto is_meant = [&](const llvm::Value *address) {
        const int64_t offset = offset_of_base(address, entry);
        return std::ranges::any_of(offsets, [&](size_t one) { return static_cast<int64_t>(one) == offset; });
    };
    const auto align_argument = [&](llvm::IntrinsicInst &call, unsigned index) {
        if (is_meant(call.getArgOperand(index))) {
            call.removeParamAttr(index, llvm::Attribute::Alignment);
            call.addParamAttr(index, llvm::Attribute::getWithAlignment(entry.getContext(), of_value));
        }
    };
    for (llvm::Instruction &instruction : llvm::instructions(entry)) {
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
            if (is_meant(load->getPointerOperand())) {
                load->setAlignment(of_value);
            }
        } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
            if (is_meant(store->getPointerOperand())) {
                store->setAlignment(of_value);
            }
        } else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
            if (call->getIntrinsicID() == llvm::Intrinsic::masked_load) {
                align_argument(*call, 0);
            } else if (call->getIntrinsicID() == llvm::Intrinsic::masked_store) {
                align_argument(*call, 1);
            }
        }
    }
}

void stream_stores(llvm::Function &entry, const std::vector<StreamedRows> &rows) {
    llvm::ValueToValueMapTy values;
    llvm::Function *cached = llvm::CloneFunction(&entry, values);
    cached->setName(entry.getName() + "_cached");
    cached->setLinkage(llvm::GlobalValue::InternalLinkage);
    cached->addFnAttr(llvm::Attribute::NoInline);

    const std::vector<uint64_t> widest = mark_stores(entry, rows);
    for (llvm::BasicBlock &block : entry) {
        if (auto *end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
            llvm::IRBuilder<>(end).CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
        }
    }

    llvm::LLVMContext &context = entry.getContext();
    llvm::BasicBlock *streaming = &entry.getEntryBlock();
    llvm::BasicBlock *first = llvm::BasicBlock::Create(context, "check_alignment", &entry, streaming);
    llvm::BasicBlock *fallback = llvm::BasicBlock::Create(context, "misaligned", &entry);
    // Only the first block's allocations are part of the frame.
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(*streaming)) {
        if (llvm::isa<llvm::AllocaInst>(instruction)) {
            instruction.moveBefore(*first, first->end());
        }
    }
    llvm::IRBuilder<> builder(fallback);
    builder.CreateCall(cached, {entry.getArg(0)})->setTailCall();
    builder.CreateRetVoid();
    builder.SetInsertPoint(first);
    llvm::Value *bits = misaligned_bits(builder, entry.getArg(0), rows, widest);
    builder.CreateCondBr(builder.CreateICmpEQ(bits, builder.getInt64(0)), streaming, fallback);
}

void hint_streamed_stores(llvm::Function &entry, const std::vector<StreamedRows> &rows) {
    constexpr uint64_t kPairedBytes = 16;  // of each of the two registers that one instruction stores
    const StreamedStore *previous = nullptr;
    const std::vector<StreamedStore> stores = streamed_stores(entry, rows);
    for (const StreamedStore &next : stores) {
        mark(*next.store);
        if (previous && previous->bytes == kPairedBytes &&
            is_behind(*next.store, *previous->store, kPairedBytes)) {
            mark(*join(previous->store, next.store));
            previous = nullptr;
        } else {
            previous = &next;
        }
    }
}

}  // namespace normforge
