#include "generators/bfloat_stores.h"

#include <cstdint>

#include "llvm/IR/PatternMatch.h"

namespace normforge {

namespace {

using namespace llvm::PatternMatch;

constexpr uint32_t kUpperHalf = 0xffff0000;

// The numbers whose bf16 codes the upper halves of these words are, by the formula in value_types; else null.
llvm::Value *rounded_words(llvm::Value *words) {
    llvm::Value *bits = nullptr;
    llvm::Value *value = nullptr;
    llvm::Value *added = nullptr;
    llvm::CmpPredicate predicate;
    const auto added_unless_nan =
        m_Select(m_FCmp(predicate, m_Value(value), m_AnyZeroFP()), m_Zero(), m_Value(added));
    const bool is_rounded =
        match(words, m_c_Add(added_unless_nan, m_Value(bits))) && predicate == llvm::CmpInst::FCMP_UNO &&
        match(bits, m_BitCast(m_Specific(value))) &&
        match(added, m_Add(m_And(m_LShr(m_Specific(bits), m_SpecificInt(16)), m_One()), m_SpecificInt(0x7fff)));
    return is_rounded ? value : nullptr;
}

llvm::Value *rounded_vector(llvm::Value *words) {
    llvm::Value *value = rounded_words(words);
    return value && llvm::isa<llvm::FixedVectorType>(value->getType()) ? value : nullptr;
}

// What is stored, as words whose upper halves are the codes.
BfloatStore stored_words(llvm::StoreInst *store) {
    llvm::Value *first = nullptr;
    llvm::Value *second = nullptr;
    const auto upper_half = [](const auto &words) { return m_LShr(words, m_SpecificInt(16)); };
    if (match(store->getValueOperand(),
              m_BitCast(m_Or(upper_half(m_Value(first)), m_And(m_Value(second), m_SpecificInt(kUpperHalf)))))) {
        return {store, {first, second}, true};
    }
    if (match(store->getValueOperand(), m_Trunc(upper_half(m_Value(first))))) {
        return {store, {first}, false};
    }
    auto *narrowed = llvm::dyn_cast<llvm::TruncInst>(store->getValueOperand());
    auto *joined = narrowed ? llvm::dyn_cast<llvm::ShuffleVectorInst>(narrowed->getOperand(0)) : nullptr;
    if (joined && joined->isConcat() && match(joined->getOperand(0), upper_half(m_Value(first))) &&
        match(joined->getOperand(1), upper_half(m_Value(second)))) {
        return {store, {first, second}, false};
    }
    return {store, {}, false};
}

}  // namespace

llvm::Value *rounded_to_bfloat(llvm::Value *codes) {
    llvm::Value *words = nullptr;
    return match(codes, m_LShr(m_Value(words), m_SpecificInt(16))) ? rounded_words(words) : nullptr;
}

std::optional<BfloatStore> bfloat_store(llvm::Instruction &instruction) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->getValueOperand()->getType()->getScalarType()->isIntegerTy(16)) {
        return std::nullopt;
    }
    BfloatStore found = stored_words(store);
    for (llvm::Value *&value : found.values) {
        value = rounded_vector(value);
        if (!value || (lane_count(*value) != 8 && lane_count(*value) != 16)) {
            return std::nullopt;
        }
    }
    return found.values.empty() ? std::nullopt : std::optional(found);
}

unsigned lane_count(const llvm::Value &vector) {
    return llvm::cast<llvm::FixedVectorType>(vector.getType())->getNumElements();
}

}  // namespace normforge
