#pragma once

#include <memory>
#include <string>

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace normforge {

// What compiles a module for the CPU that its functions name, position independent. For LLVM-facing files; the
// module must have a target triple.
std::unique_ptr<llvm::TargetMachine> code_machine(llvm::Module &module);

// The object file or assembly of a module, by that machine.
std::string machine_code(llvm::Module &module, llvm::CodeGenFileType type);

}  // namespace normforge
