#pragma once

#include <string>

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"

namespace normforge {

// The object file or assembly of a module, for the CPU that its functions name, position independent. For
// LLVM-facing files; the module must have a target triple.
std::string machine_code(llvm::Module &module, llvm::CodeGenFileType type);

}  // namespace normforge
