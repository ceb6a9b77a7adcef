#include "generators/codegen.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "HalideRuntime.h"
#include "generators/arm_machine.h"
#include "generators/bfloat_pairs.h"
#include "generators/bfloat_rounding.h"
#include "generators/bfloat_shuffles.h"
#include "generators/bfloat_word_sums.h"
#include "generators/contraction.h"
#include "generators/cycle_model.h"
#include "generators/function_features.h"
#include "generators/idle_loops.h"
#include "generators/loop_choices.h"
#include "generators/machine_code.h"
#include "generators/memory_hints.h"
#include "generators/narrow_stores.h"
#include "generators/scratch_stores.h"
#include "generators/store_order.h"
#include "runtime/normforge.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace normforge {

namespace {

[[noreturn]] void broken(const std::string &what) {
    std::fprintf(stderr, "normforge: internal error in code generation: %s\n", what.c_str());
    std::abort();
}

// What a kernel adds to, row after row.
bool is_sum_over_rows(const Operand &operand) {
    return operand.id == OperandId::dweight || operand.id == OperandId::dbias;
}

// Writes the entry's body: each buffer operand becomes a halide_buffer_t on the stack. Inlining dissolves them.
class EntryBuilder {
public:
    EntryBuilder(llvm::Module &module, const LoweredKernel &kernel, const std::string &symbol)
        : kernel_(kernel), context_(module.getContext()), builder_(context_) {
        llvm::Type *pointer = llvm::PointerType::getUnqual(context_);
        entry_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), {pointer}, false),
                                        llvm::Function::ExternalLinkage, symbol, module);
        builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", entry_));
        arguments_ = entry_->getArg(0);
    }

    void call(llvm::Function *lowered) {
        std::vector<llvm::Value *> values;
        bool has_counts = !kernel_.has_slices;
        for (const Operand &operand : kernel_.parameters) {
            if (!has_counts && is_gradient(operand)) {
                values.insert(values.end(), {builder_.getInt32(1), builder_.getInt32(0)});
                has_counts = true;
            }
            values.push_back(parameter(operand));
        }
        if (values.size() != lowered->arg_size()) {
            broken("Halide's function takes other parameters than its generator declared");
        }
        builder_.CreateCall(lowered, values);
        builder_.CreateRetVoid();
        entry_->setAttributes(
            lowered->getAttributes().removeAttributesAtIndex(context_, llvm::AttributeList::ReturnIndex));
        for (unsigned index = 0; index < lowered->arg_size(); index++) {
            entry_->setAttributes(entry_->getAttributes().removeAttributesAtIndex(
                context_, llvm::AttributeList::FirstArgIndex + index));
        }
    }

private:
    llvm::Value *field(size_t offset, llvm::Type *type) {
        return builder_.CreateLoad(type, builder_.CreateConstGEP1_64(builder_.getInt8Ty(), arguments_, offset));
    }

    llvm::Value *pointer_field(size_t offset) { return field(offset, builder_.getPtrTy()); }
    llvm::Value *int32_field(size_t offset) {
        return builder_.CreateTrunc(field(offset, builder_.getInt64Ty()), builder_.getInt32Ty());
    }

    struct Dimension {
        llvm::Value *extent;
        llvm::Value *stride;
    };

    llvm::Value *parameter(const Operand &operand) {
        switch (operand.shape) {
        case OperandShape::rows: {
            // Of inputs; outputs have the same layout.
            const Dimension of_rows{rows(), int32_field(operand.offset + offsetof(nf_input, row_stride))};
            return buffer(pointer_field(operand.offset + offsetof(nf_input, data)),
                          with_slice(operand, {hidden(), of_rows}));
        }
        case OperandShape::row_values:
            if (kernel_.has_spread_row_values) {
                return buffer(pointer_field(operand.offset),
                              {{hidden().extent, builder_.getInt32(0)}, {rows(), builder_.getInt32(1)}});
            }
            return buffer(pointer_field(operand.offset), {{rows(), builder_.getInt32(1)}});
        case OperandShape::vector:
            if (is_sum_over_rows(operand)) {
                return buffer(pointer_field(operand.offset),
                              with_slice(operand, {hidden(), {rows(), builder_.getInt32(0)}}));
            }
            return buffer(pointer_field(operand.offset), {hidden()});
        case OperandShape::number:
            return field(operand.offset, builder_.getFloatTy());
        }
        broken("unknown operand");
    }

    // The only slice has the stride of a row.
    std::vector<Dimension> with_slice(const Operand &operand, std::vector<Dimension> dimensions) {
        if (kernel_.has_slices && is_gradient(operand)) {
            dimensions.push_back({builder_.getInt32(1), dimensions.back().stride});
        }
        return dimensions;
    }

    Dimension hidden() { return {builder_.getInt32(static_cast<uint32_t>(kernel_.hidden)), builder_.getInt32(1)}; }
    llvm::Value *rows() { return int32_field(offsetof(nf_arguments, rows)); }

    llvm::Value *buffer(llvm::Value *host, const std::vector<Dimension> &dimensions) {
        llvm::Value *dims = zeroed(sizeof(halide_dimension_t) * dimensions.size());
        for (size_t d = 0; d < dimensions.size(); d++) {
            size_t base = d * sizeof(halide_dimension_t);
            store(dims, base + offsetof(halide_dimension_t, extent), dimensions[d].extent);
            store(dims, base + offsetof(halide_dimension_t, stride), dimensions[d].stride);
        }
        llvm::Value *result = zeroed(sizeof(halide_buffer_t));
        store(result, offsetof(halide_buffer_t, host), host);
        store(result, offsetof(halide_buffer_t, dimensions),
              builder_.getInt32(static_cast<uint32_t>(dimensions.size())));
        store(result, offsetof(halide_buffer_t, dim), dims);
        return result;
    }

    llvm::Value *zeroed(size_t bytes) {
        llvm::AllocaInst *memory = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes));
        memory->setAlignment(llvm::Align(8));
        builder_.CreateMemSet(memory, builder_.getInt8(0), bytes, llvm::MaybeAlign(8));
        return memory;
    }

    void store(llvm::Value *memory, size_t offset, llvm::Value *value) {
        builder_.CreateStore(value, builder_.CreateConstGEP1_64(builder_.getInt8Ty(), memory, offset));
    }

    const LoweredKernel &kernel_;
    llvm::LLVMContext &context_;
    llvm::IRBuilder<> builder_;
    llvm::Function *entry_;
    llvm::Value *arguments_;
};

// Halide's own optimisation has run; this only melts its function into the entry.
void inline_into_entry(llvm::Module &module) {
    llvm::PassBuilder passes;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(graphs);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, graphs, modules);
    llvm::FunctionPassManager function_passes;
    function_passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    function_passes.addPass(llvm::EarlyCSEPass(true));
    function_passes.addPass(llvm::DSEPass());
    llvm::ModulePassManager module_passes;
    module_passes.addPass(llvm::AlwaysInlinerPass());
    module_passes.addPass(llvm::GlobalDCEPass());
    module_passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(function_passes)));
    module_passes.run(module, modules);
}

void convert_narrow_values(llvm::Module &module, const NarrowingMeans &means) {
    store_bfloat_pairs(module);
    // Where stores cut integers, joining pays only for what is then packed in another way.
    join_narrow_stores(module, means.stores_narrowed ? 16 : 8);
    if (means.sums_word_pairs) {
        round_pairs_by_word_sums(module);
    }
    if (means.rounds_bfloats) {
        round_by_bfloat_instructions(module);
    } else if (means.permutes_words) {
        pack_bfloats_by_permutation(module);
    }
    widen_bfloats(module, 4);
    if (means.permutes_words_at_once) {
        widen_bfloats(module, 16);
    }
    if (means.shuffles_bytes) {
        widen_bfloats(module, 8);
    }
    // AVX512-FP16's rounding to f16 cannot store what it gives; F16C's can, which is an operation less: 0.91 to
    // 0.94 of the time of 1024 and 4096 values (Intel Xeon).
    for (llvm::Function &function : module) {
        add_feature(function, "-avx512fp16");
    }
}

// Where the pointers of operands lie in the entry's argument.
template <typename IsMeant>
std::vector<size_t> pointer_offsets(const LoweredKernel &kernel, const IsMeant &is_meant) {
    static_assert(offsetof(nf_output, data) == 0);
    std::vector<size_t> offsets;
    for (const Operand &operand : kernel.parameters) {
        if (is_meant(operand)) {
            offsets.push_back(operand.offset);
        }
    }
    return offsets;
}

bool is_rows(const Operand &operand) {
    return operand.shape == OperandShape::rows;
}

// The module that code is generated from.
std::unique_ptr<llvm::Module> entry_module(llvm::LLVMContext &context, const LoweredKernel &kernel,
                                           const std::string &symbol) {
    llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(kernel.bitcode, symbol), context);
    if (!parsed) {
        broken(llvm::toString(parsed.takeError()));
    }
    llvm::Module &module = **parsed;
    module.setModuleIdentifier(symbol);
    module.setSourceFileName(symbol);
    llvm::Function *lowered = module.getFunction(kernel.function);
    if (!lowered) {
        broken("the bitcode lacks " + kernel.function);
    }
    EntryBuilder(module, kernel, symbol).call(lowered);
    for (llvm::Function &function : module) {
        if (!function.isDeclaration() && function.getName() != symbol) {
            function.setLinkage(llvm::GlobalValue::InternalLinkage);
            function.setComdat(nullptr);
            function.removeFnAttr(llvm::Attribute::NoInline);
            function.addFnAttr(llvm::Attribute::AlwaysInline);
        }
    }
    if (kernel.arm) {
        compile_for(module, *kernel.arm);
    }
    store_whole_scratch_vectors(module);
    inline_into_entry(module);
    if (!kernel.has_slices) {
        skip_idle_loops(*module.getFunction(symbol));
        separate_loop_choices(*module.getFunction(symbol));
    }
    if (const std::vector<size_t> sums = pointer_offsets(kernel, is_sum_over_rows); !sums.empty()) {
        align_to_values(*module.getFunction(symbol), sums);
    }
    if (kernel.contracted) {
        contract_products(module);
    }
    if (kernel.arm) {
        convert_by_arm(module, *kernel.arm);
    } else {
        convert_narrow_values(module, kernel.narrowing);
        if (kernel.gathers_stores) {
            gather_stores_of_rows(*module.getFunction(symbol), pointer_offsets(kernel, is_rows));
        }
    }
    prefetch_to_second_cache(*module.getFunction(symbol));
    if (!kernel.streamed.empty() && kernel.arm) {
        hint_streamed_stores(*module.getFunction(symbol), kernel.streamed);
    } else if (!kernel.streamed.empty()) {
        stream_stores(*module.getFunction(symbol), kernel.streamed);
    }
    // Who compiled each piece of Halide's runtime: noise in the assembly.
    if (llvm::NamedMDNode *identities = module.getNamedMetadata("llvm.ident")) {
        module.eraseNamedMetadata(identities);
    }
    if (llvm::verifyModule(module, &llvm::errs())) {
        broken("the entry of " + symbol + " is malformed");
    }
    return std::move(*parsed);
}

}  // namespace

std::string generate_code(const LoweredKernel &kernel, const std::string &symbol, CodegenForm form) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> module = entry_module(context, kernel, symbol);
    switch (form) {
    case CodegenForm::object:
        return machine_code(*module, llvm::CodeGenFileType::ObjectFile);
    case CodegenForm::assembly:
        return machine_code(*module, llvm::CodeGenFileType::AssemblyFile);
    case CodegenForm::bitcode:
        break;
    }
    llvm::SmallString<0> bitcode;
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
    return std::string(bitcode);
}

std::vector<KernelCycles> simulate_code(const LoweredKernel &kernel, const std::string &symbol,
                                        const CpuPipeline &cpu, const std::vector<int64_t> &rows_of_pass,
                                        const std::function<void(const std::string &object)> &compiled) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> module = entry_module(context, kernel, symbol);
    // Compiling changes a module, and a copy's code may differ from the code of what it is a copy of: the object
    // is that of generate_code only if the module itself is compiled.
    const std::unique_ptr<llvm::Module> simulated = llvm::CloneModule(*module);
    if (compiled) {
        compiled(machine_code(*module, llvm::CodeGenFileType::ObjectFile));
    }
    return simulate_entry(*simulated, symbol, cpu, rows_of_pass);
}

std::string llvm_version() {
    return LLVM_VERSION_STRING;
}

std::string host_cpu() {
    return llvm::sys::getHostCPUName().str();
}

}  // namespace normforge
