#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/MC/MCInst.h"

namespace normforge {

// A function's machine code as a graph of blocks.
struct RecordedBlock {
    std::vector<llvm::MCInst> instructions;  // places in the program are 0
    std::vector<size_t> successors;
    int loop;  // the innermost one that it is in; -1 for none
};
struct RecordedLoop {
    int parent;  // -1 for none; else an earlier one
    size_t header;
    std::optional<int64_t> trips;  // where LLVM finds that they are a constant
};
struct RecordedCode {
    std::vector<RecordedBlock> blocks;  // the first one is the entry
    std::vector<RecordedLoop> loops;
};

// Compiles the module as machine_code() does, and keeps that of a function. For LLVM-facing files.
RecordedCode record_code(llvm::Module &module, const std::string &function);

}  // namespace normforge
