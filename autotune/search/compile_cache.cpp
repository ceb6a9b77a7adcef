#include "autotune/search/compile_cache.h"

#include <utility>

#include "schedules/target.h"

namespace normforge {

namespace {

std::string key(const KernelSpec &spec) {
    return to_text(spec.problem) + " " + to_text(spec.knobs) + " " + target_name(spec.target);
}

}  // namespace

void CompileCache::compile(const std::vector<KernelSpec> &specs) {
    std::map<std::string, KernelSpec> missing;
    for (const KernelSpec &spec : specs) {
        if (!kernels_.contains(key(spec))) {
            missing.emplace(key(spec), spec);
        }
    }
    std::vector<std::string> keys;
    std::vector<KernelSpec> to_compile;
    for (const auto &[name, spec] : missing) {
        keys.push_back(name);
        to_compile.push_back(spec);
    }
    compile_all(to_compile,
                [&](size_t index, CompiledKernel kernel) { kernels_.emplace(keys[index], std::move(kernel)); });
}

const CompiledKernel &CompileCache::operator[](const KernelSpec &spec) const {
    return kernels_.at(key(spec));
}

}  // namespace normforge
