#include "generators/contraction.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace normforge {

namespace {

// The product that an operand is and that nothing else uses, or null.
llvm::BinaryOperator *lone_product(llvm::Value *operand) {
    auto *product = llvm::dyn_cast<llvm::BinaryOperator>(operand);
    return product && product->getOpcode() == llvm::Instruction::FMul && product->hasOneUse() ? product : nullptr;
}

void contract(llvm::BinaryOperator &sum) {
    const bool subtracts = sum.getOpcode() == llvm::Instruction::FSub;
    const bool second = lone_product(sum.getOperand(1)) != nullptr;
    llvm::BinaryOperator *product = lone_product(sum.getOperand(second ? 1 : 0));
    if (!product) {
        return;
    }
    llvm::IRBuilder<> builder(&sum);
    llvm::Value *factor = product->getOperand(0);
    llvm::Value *addend = sum.getOperand(second ? 0 : 1);
    if (subtracts) {
        (second ? factor : addend) = builder.CreateFNeg(second ? factor : addend);
    }
    sum.replaceAllUsesWith(
        builder.CreateIntrinsic(llvm::Intrinsic::fma, {sum.getType()}, {factor, product->getOperand(1), addend}));
    sum.eraseFromParent();
    product->eraseFromParent();
}

}  // namespace

void contract_products(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::BinaryOperator *> sums;
        for (llvm::Instruction &instruction : llvm::instructions(function)) {
            if (instruction.getOpcode() == llvm::Instruction::FAdd ||
                instruction.getOpcode() == llvm::Instruction::FSub) {
                sums.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
            }
        }
        for (llvm::BinaryOperator *sum : sums) {
            contract(*sum);
        }
    }
}

}  // namespace normforge
