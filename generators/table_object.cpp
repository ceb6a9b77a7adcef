#include "generators/table_object.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "generators/machine_code.h"
#include "runtime/kernel_table.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace normforge {

namespace {

// An ELF file does not tell its operating system, but the table depends on none.
llvm::Triple triple_of(const std::string &object) {
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
    if (!file) {
        llvm::reportFatalInternalError(file.takeError());
    }
    if (!(*file)->isLittleEndian() || (*file)->getBytesInAddress() != sizeof(void *)) {
        llvm::reportFatalInternalError("the table's layout is that of 64-bit little-endian machines");
    }
    return (*file)->makeTriple();
}

// kernel_table.h's structs, each copied from one that is filled in here, so that their layout and all their fields
// are the compiler's. Only pointers are put in their place by name.
class TableBuilder {
public:
    explicit TableBuilder(llvm::Module &module) : module_(module), context_(module.getContext()) {}

    llvm::Constant *library(const std::vector<TableKernel> &kernels,
                            const std::vector<TableCudaEntry> &cuda_entries) {
        const nf_library value = {.kernel_count = std::ssize(kernels),
                                  .kernels = nullptr,
                                  .cuda_count = std::ssize(cuda_entries),
                                  .cuda_entries = nullptr};
        const auto kernel_of = [this](const TableKernel &each) { return kernel(each); };
        const auto cuda_entry_of = [this](const TableCudaEntry &each) { return cuda_entry(each); };
        return variable(copy(value, {{offsetof(nf_library, kernels), array(kernels, kernel_of, "kernels")},
                                     {offsetof(nf_library, cuda_entries),
                                      array(cuda_entries, cuda_entry_of, "cuda_entries")}}),
                        "library");
    }

private:
    struct Pointer {
        size_t offset;
        llvm::Constant *target;
    };

    llvm::Constant *kernel(const TableKernel &kernel) {
        const nf_kernel value = {.problem = kernel.problem,
                                 .cpu_features = kernel.cpu_features,
                                 .target = nullptr,
                                 .variant_count = std::ssize(kernel.variants),
                                 .variants = nullptr};
        return copy(value, {{offsetof(nf_kernel, target), text(kernel.target)},
                            {offsetof(nf_kernel, variants),
                             array(
                                 kernel.variants, [this](const TableVariant &each) { return variant(each); },
                                 "variants")}});
    }

    llvm::Constant *cuda_entry(const TableCudaEntry &entry) {
        const nf_cuda_entry value = {.problem = entry.problem,
                                     .target = nullptr,
                                     .knobs = nullptr,
                                     .source = nullptr,
                                     .code_count = std::ssize(entry.codes),
                                     .codes = nullptr,
                                     .sums = nullptr};
        const auto code_of = [this](const TableCudaCode &each) { return cuda_code(each); };
        return copy(value, {{offsetof(nf_cuda_entry, target), text(entry.target)},
                            {offsetof(nf_cuda_entry, knobs), text(entry.knobs)},
                            {offsetof(nf_cuda_entry, source), text(entry.source)},
                            {offsetof(nf_cuda_entry, codes), array(entry.codes, code_of, "cuda_codes")},
                            {offsetof(nf_cuda_entry, sums), array(entry.sums, code_of, "cuda_sums")}});
    }

    llvm::Constant *cuda_code(const TableCudaCode &code) {
        const nf_cuda_code value = {.image = nullptr,
                                    .symbol = nullptr,
                                    .parameter_count = std::ssize(code.parameters),
                                    .parameters = nullptr,
                                    .alignment = code.alignment,
                                    .rows_of_block = code.rows_of_block,
                                    .threads_x = code.threads_x,
                                    .threads_y = code.threads_y,
                                    .shared_bytes = code.shared_bytes,
                                    .cubin_count = std::ssize(code.cubins),
                                    .cubins = nullptr};
        const auto cubin_of = [this](const TableCubin &each) { return cubin(each); };
        const auto parameter_of = [this](const nf_cuda_parameter &each) { return copy(each, {}); };
        return copy(value,
                    {{offsetof(nf_cuda_code, image), text(code.image)},
                     {offsetof(nf_cuda_code, symbol), text(code.symbol)},
                     {offsetof(nf_cuda_code, parameters), array(code.parameters, parameter_of, "cuda_parameters")},
                     {offsetof(nf_cuda_code, cubins), array(code.cubins, cubin_of, "cubins")}});
    }

    llvm::Constant *cubin(const TableCubin &cubin) {
        const nf_cuda_cubin value = {.capability = cubin.capability, .image = nullptr};
        return copy(value,
                    {{offsetof(nf_cuda_cubin, image),
                      variable(llvm::ConstantDataArray::getString(context_, cubin.bytes, false), "cubin")}});
    }

    llvm::Constant *variant(const TableVariant &variant) {
        const nf_variant value = {.entry = nullptr,
                                  .min_rows = variant.min_rows,
                                  .symbol = nullptr,
                                  .knobs = nullptr,
                                  .source = nullptr};
        return copy(value, {{offsetof(nf_variant, entry), entry(variant.symbol)},
                            {offsetof(nf_variant, symbol), text(variant.symbol)},
                            {offsetof(nf_variant, knobs), text(variant.knobs)},
                            {offsetof(nf_variant, source), text(variant.source)}});
    }

    // The struct's bytes, with the pointers, which are given by rising offset, in place of its own.
    template <typename Struct>
    llvm::Constant *copy(const Struct &value, const std::vector<Pointer> &pointers) {
        static_assert(std::has_unique_object_representations_v<Struct>, "padding has no fixed bytes");
        const llvm::StringRef bytes(reinterpret_cast<const char *>(&value), sizeof value);
        std::vector<llvm::Constant *> parts;
        size_t done = 0;
        for (const Pointer &pointer : pointers) {
            parts.push_back(
                llvm::ConstantDataArray::getString(context_, bytes.slice(done, pointer.offset), false));
            parts.push_back(pointer.target);
            done = pointer.offset + sizeof(void *);
        }
        parts.push_back(llvm::ConstantDataArray::getString(context_, bytes.substr(done), false));
        return llvm::ConstantStruct::getAnon(context_, parts, /*Packed=*/true);
    }

    // Their structs, which are of one type, so that these follow each other as in an array.
    template <typename Element, typename StructOf>
    llvm::Constant *array(const std::vector<Element> &elements, const StructOf &struct_of, const char *name) {
        if (elements.empty()) {
            return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context_));
        }
        std::vector<llvm::Constant *> structs;
        for (const Element &element : elements) {
            structs.push_back(struct_of(element));
        }
        return variable(
            llvm::ConstantArray::get(llvm::ArrayType::get(structs.front()->getType(), structs.size()), structs),
            name);
    }

    llvm::Constant *entry(const std::string &symbol) {
        llvm::Function *function = module_.getFunction(symbol);
        if (!function) {
            auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_),
                                                 {llvm::PointerType::getUnqual(context_)}, false);
            function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
            function->setVisibility(llvm::GlobalValue::HiddenVisibility);
        }
        return function;
    }

    llvm::Constant *text(const std::string &text) {
        llvm::GlobalVariable *result = variable(llvm::ConstantDataArray::getString(context_, text), "text");
        result->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);  // equal texts may be merged
        result->setAlignment(llvm::Align(1));
        return result;
    }

    llvm::GlobalVariable *variable(llvm::Constant *value, const char *name) {
        auto *result = new llvm::GlobalVariable(  // which the module owns
            module_, value->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, value, name);
        result->setAlignment(llvm::Align(alignof(nf_kernel)));
        return result;
    }

    llvm::Module &module_;
    llvm::LLVMContext &context_;
};

void add_accessor(llvm::Module &module, const std::string &library_name, llvm::Constant *table) {
    llvm::IRBuilder<> builder(module.getContext());
    llvm::Function *accessor =
        llvm::Function::Create(llvm::FunctionType::get(builder.getPtrTy(), false), llvm::Function::ExternalLinkage,
                               library_name + "_library", module);
    accessor->setDoesNotThrow();
    builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", accessor));
    builder.CreateRet(table);
}

// What the runtime relies on unchecked.
void check(const std::vector<TableKernel> &kernels, const std::vector<TableCudaEntry> &cuda_entries) {
    bool valid = !kernels.empty() || !cuda_entries.empty();
    for (const TableKernel &kernel : kernels) {
        const auto &variants = kernel.variants;
        valid =
            valid && !variants.empty() && variants.front().min_rows == 0 &&
            std::ranges::adjacent_find(variants, std::greater_equal(), &TableVariant::min_rows) == variants.end();
    }
    for (const TableCudaEntry &entry : cuda_entries) {
        const auto &codes = entry.codes;
        valid = valid && !codes.empty() && codes.size() <= static_cast<size_t>(kMostCudaCodes) &&
                codes.back().alignment == 1 && entry.sums.size() <= 1 &&
                std::ranges::adjacent_find(codes, std::less_equal(), &TableCudaCode::alignment) == codes.end();
    }
    if (!valid) {
        llvm::reportFatalInternalError(
            "a table needs kernels, and each of them variants that begin at 0 rows and rise, or codes by falling "
            "alignment down to 1");
    }
}

}  // namespace

std::string table_object(const std::string &library_name, const std::vector<TableKernel> &kernels,
                         const std::vector<TableCudaEntry> &cuda_entries, const std::string &machine_object) {
    check(kernels, cuda_entries);
    llvm::LLVMContext context;
    llvm::Module module(library_name, context);
    module.setTargetTriple(triple_of(machine_object));
    add_accessor(module, library_name, TableBuilder(module).library(kernels, cuda_entries));
    if (llvm::verifyModule(module, &llvm::errs())) {
        llvm::reportFatalInternalError("the table is malformed");
    }
    return machine_code(module, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace normforge
