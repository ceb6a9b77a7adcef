#include "generators/bfloat_rounding.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "generators/bfloat_stores.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace normforge {

namespace {

constexpr uint32_t kExponent = 0x7f800000;
constexpr uint16_t kMagnitude = 0x7fff;
constexpr uint32_t kSmallestNormal = 0x00800000;
constexpr uint16_t kSmallestNormalCode = 0x0080;

class Rounder {
public:
    explicit Rounder(llvm::Instruction *before) : builder_(before) {}

    // What the instruction gives: zeros where values are subnormal.
    llvm::Value *flushed_codes(const std::vector<llvm::Value *> &values) {
        const bool is_wide = lane_count(*values[0]) == 16;
        llvm::Value *codes;
        if (values.size() == 2) {
            codes = builder_.CreateIntrinsic(is_wide ? llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512
                                                     : llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_256,
                                             {values[1], values[0]});
        } else {
            codes = builder_.CreateIntrinsic(is_wide ? llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512
                                                     : llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_256,
                                             {values[0]});
        }
        return builder_.CreateBitCast(codes,
                                      llvm::FixedVectorType::get(builder_.getInt16Ty(), lane_count(*codes)));
    }

    // The nearest codes. The numbers below the smallest normal one are as far apart as those from there to the
    // next power of two, so a distance from zero rounds as the same distance from the smallest normal number does.
    llvm::Value *nearest_codes(const std::vector<llvm::Value *> &values) {
        std::vector<llvm::Value *> normals;
        std::vector<llvm::Value *> moved;
        for (llvm::Value *value : values) {
            auto *type = llvm::FixedVectorType::get(builder_.getInt32Ty(), lane_count(*value));
            llvm::Value *bits = builder_.CreateBitCast(value, type);
            moved.push_back(builder_.CreateIsNull(builder_.CreateAnd(bits, kExponent)));
            llvm::Value *normal =
                builder_.CreateSelect(moved.back(), builder_.CreateOr(bits, kSmallestNormal), bits);
            normals.push_back(builder_.CreateBitCast(normal, value->getType()));
        }
        llvm::Value *codes = flushed_codes(normals);
        llvm::Value *by = llvm::ConstantInt::get(codes->getType(), kSmallestNormalCode);
        return builder_.CreateSelect(moved.size() == 1 ? moved[0] : llvm::concatenateVectors(builder_, moved),
                                     builder_.CreateSub(codes, by), codes);
    }

    // Whether any of these codes, of one type, is a zero. A test of each vector is shorter than one of their
    // minimum.
    llvm::Value *has_zero(const std::vector<llvm::Value *> &all_codes) {
        llvm::Value *any = nullptr;
        for (llvm::Value *codes : all_codes) {
            llvm::Value *zeros = builder_.CreateIsNull(builder_.CreateAnd(codes, kMagnitude));
            any = any ? builder_.CreateOr(any, zeros) : zeros;
        }
        return builder_.CreateOrReduce(any);
    }

    // Of codes one after the other: the first half's and the second half's by turns.
    llvm::Value *interleaved(llvm::Value *codes) {
        return builder_.CreateShuffleVector(codes, llvm::createInterleaveMask(lane_count(*codes) / 2, 2));
    }

private:
    llvm::IRBuilder<> builder_;
};

// Replaces roundings of one block and one type, in their order, and stores them all behind the branch. They may
// move down past loads: see join_narrow_stores.
void replace(const std::vector<BfloatStore> &roundings) {
    llvm::StoreInst *last = roundings.back().store;
    std::vector<llvm::Value *> codes;
    Rounder rounder(last);
    for (const BfloatStore &rounding : roundings) {
        codes.push_back(rounder.flushed_codes(rounding.values));
    }
    llvm::Value *has_zero = rounder.has_zero(codes);
    llvm::BasicBlock *before = last->getParent();
    llvm::Instruction *end_of_branch = llvm::SplitBlockAndInsertIfThen(
        has_zero, last, false, llvm::MDBuilder(last->getContext()).createUnlikelyBranchWeights());
    Rounder careful(end_of_branch);
    for (size_t index = 0; index < roundings.size(); index++) {
        llvm::StoreInst *store = roundings[index].store;
        llvm::Value *nearest = careful.nearest_codes(roundings[index].values);
        llvm::BasicBlock *after = last->getParent();
        llvm::PHINode *either = llvm::PHINode::Create(nearest->getType(), 2, "", after->begin());
        either->addIncoming(codes[index], before);
        either->addIncoming(nearest, end_of_branch->getParent());
        if (store != last) {
            store->moveBefore(last->getIterator());
        }
        store->setOperand(0, roundings[index].in_pairs ? Rounder(store).interleaved(either) : either);
    }
}

}  // namespace

void round_by_bfloat_instructions(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::map<std::pair<llvm::BasicBlock *, llvm::Type *>, std::vector<BfloatStore>> groups;
        std::vector<std::pair<llvm::BasicBlock *, llvm::Type *>> order;  // addresses are in none
        for (llvm::Instruction &instruction : llvm::instructions(function)) {
            if (std::optional<BfloatStore> rounding = bfloat_store(instruction)) {
                const std::pair key(instruction.getParent(), rounding->store->getValueOperand()->getType());
                std::vector<BfloatStore> &group = groups[key];
                if (group.empty()) {
                    order.push_back(key);
                }
                group.push_back(*rounding);
            }
        }
        for (const auto &key : order) {
            replace(groups.at(key));
        }
    }
}

}  // namespace normforge
