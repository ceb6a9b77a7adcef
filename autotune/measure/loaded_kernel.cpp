#include "autotune/measure/loaded_kernel.h"

#include <stdexcept>

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

namespace normforge {

namespace {

template <typename Value>
Value value_of(llvm::Expected<Value> result) {
    if (!result) {
        throw std::runtime_error("loading a kernel: " + llvm::toString(result.takeError()));
    }
    return std::move(*result);
}

}  // namespace

struct LoadedKernel::Loader {
    std::unique_ptr<llvm::orc::LLJIT> jit;
};

LoadedKernel::LoadedKernel(const NormProblem &problem, const std::string &object, const std::string &symbol)
    : object_(object), symbol_(symbol), loader_(std::make_unique<Loader>()) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    loader_->jit = value_of(llvm::orc::LLJITBuilder().create());
    if (llvm::Error error = loader_->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, symbol))) {
        throw std::runtime_error("loading a kernel: " + llvm::toString(std::move(error)));
    }
    const auto entry = value_of(loader_->jit->lookup(symbol)).toPtr<SingleKernel::Entry>();
    kernel_ = std::make_unique<const SingleKernel>(problem, entry);
}

std::unique_ptr<LoadedKernel> LoadedKernel::loaded_again() const {
    return std::make_unique<LoadedKernel>(kernel().problem, object_, symbol_);
}

LoadedKernel::~LoadedKernel() = default;
LoadedKernel::LoadedKernel(LoadedKernel &&) noexcept = default;

}  // namespace normforge
