#include "autotune/search/compile_cache.h"

#include <utility>

namespace normforge {

namespace {

std::string key(const AnyKernelSpec &spec) {
    return to_text(problem_of(spec)) + " " + knobs_text(spec) + " " + target_text(spec);
}

}  // namespace

void CompileCache::compile(const std::vector<AnyKernelSpec> &specs) {
    std::map<std::string, AnyKernelSpec> missing;
    for (const AnyKernelSpec &spec : specs) {
        if (!kernels_.contains(key(spec))) {
            missing.emplace(key(spec), spec);
        }
    }
    std::vector<std::string> keys;
    std::vector<AnyKernelSpec> to_compile;
    for (const auto &[name, spec] : missing) {
        keys.push_back(name);
        to_compile.push_back(spec);
    }
    compile_all(to_compile,
                [&](size_t index, CompiledKernel kernel) { kernels_.emplace(keys[index], std::move(kernel)); });
}

const CompiledKernel &CompileCache::operator[](const AnyKernelSpec &spec) const {
    return kernels_.at(key(spec));
}

}  // namespace normforge
