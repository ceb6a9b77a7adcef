// bitcode_cycles FILE FUNCTION CPU: what a function of LLVM bitcode takes by the static model, in cycles for each
// further trip of its loop over rows. For scripts/tabulate_arm.py.

#include <cstdio>
#include <exception>

#include "autotune/model/known_cpus.h"
#include "generators/cycle_model.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: bitcode_cycles FILE FUNCTION CPU\n");
        return 2;
    }
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    const std::unique_ptr<llvm::Module> module = llvm::parseIRFile(argv[1], problem, context);
    if (!module || !module->getFunction(argv[2])) {
        std::fprintf(stderr, "bitcode_cycles: %s has no function %s: %s\n", argv[1], argv[2],
                     problem.getMessage().str().c_str());
        return 1;
    }
    try {
        const normforge::KnownCpu &cpu = normforge::known_cpu(argv[3]);
        std::printf("%.1f\n", normforge::simulate_entry(*module, argv[2], cpu.pipeline, 1).next_pass);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bitcode_cycles: %s\n", error.what());
        return 1;
    }
}
