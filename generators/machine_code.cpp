#include "generators/machine_code.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetOptions.h"

namespace normforge {

namespace {

// Of the machines that kernels are made for, which of those of this LLVM are the ones that are linked.
bool initialise_targets() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> code_machine(llvm::Module &module) {
    [[maybe_unused]] static const bool initialised =  // once, whatever the number of threads
        initialise_targets();
    std::string error;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), error);
    if (!target) {
        llvm::reportFatalInternalError(llvm::StringRef(error));
    }
    llvm::TargetOptions options;
    // No product is fused but those that contract_products() has chosen.
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    std::unique_ptr<llvm::TargetMachine> machine(
        target->createTargetMachine(module.getTargetTriple(), "", "", options, llvm::Reloc::PIC_, std::nullopt,
                                    llvm::CodeGenOptLevel::Aggressive));
    module.setDataLayout(machine->createDataLayout());
    return machine;
}

std::string machine_code(llvm::Module &module, llvm::CodeGenFileType type) {
    const std::unique_ptr<llvm::TargetMachine> machine = code_machine(module);
    llvm::SmallString<0> code;
    llvm::raw_svector_ostream stream(code);
    llvm::legacy::PassManager passes;
    machine->addPassesToEmitFile(passes, stream, nullptr, type);
    passes.run(module);
    return std::string(code);
}

}  // namespace normforge
