#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/MC/MCInst.h"

namespace normforge {

// Machine code in the order in which it runs: pieces without loops, and loops of such.
struct CodeLoop;
struct CodePiece {
    std::vector<llvm::MCInst> instructions;  // places in the program are 0
    std::unique_ptr<CodeLoop> loop;          // where there is one, the piece has no instructions
};
struct CodeLoop {
    std::optional<int64_t> trips;  // where it is a constant
    std::vector<CodePiece> body;   // of one trip

    bool is_innermost() const;
};

// What a call of the function runs, compiled as machine_code() does. Where code branches, it goes the way of the
// usual rows, which is the shorter one: rare values, and rows beyond f32's range, have code of their own beside
// it. Loops whose trips are no constant, such as that over rows, are entered. For LLVM-facing files.
std::vector<CodePiece> usual_path(llvm::Module &module, const std::string &function);

}  // namespace normforge
