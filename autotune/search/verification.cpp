#include "autotune/search/verification.h"

#include "autotune/search/compile_cache.h"
#include "autotune/search/measured_kernel.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

void judge(VerifiedEntry &entry, const std::vector<MeasuredKernel> &kernels, const CompileCache &compiled) {
    const auto lower_to = [&](EntryState state, const std::string &reason) {
        if (state >= entry.state) {
            entry = {entry.session, state, reason};
        }
    };
    for (const MeasuredKernel &kernel : kernels) {
        const CompiledKernel &result = compiled[kernel.spec];
        if (result.status != TrialStatus::ok) {
            lower_to(EntryState::dead, "it no longer compiles: " + result.message);
            continue;
        }
        switch (compare(kernel, result.object)) {
        case CodeState::same_object:
            break;
        case CodeState::same_code:
            lower_to(EntryState::fresh, "the same code, under other names");
            break;
        case CodeState::other_code:
            lower_to(EntryState::stale, "other code for " + knobs_text(kernel.spec));
            break;
        }
    }
}

}  // namespace

std::vector<VerifiedEntry> verify_entries(const Database &database) {
    std::vector<VerifiedEntry> entries;
    std::vector<std::vector<MeasuredKernel>> kernels;
    std::vector<AnyKernelSpec> specs;
    for (const Decision &decision : best_decisions(database)) {
        VerifiedEntry &entry = entries.emplace_back(VerifiedEntry{decision.session, EntryState::fresh, ""});
        std::vector<MeasuredKernel> &own = kernels.emplace_back();
        try {
            own = measured_kernels(decision);
        } catch (const UserError &error) {
            entry.state = EntryState::dead;
            entry.reason = error.what();
        }
        for (const MeasuredKernel &kernel : own) {
            specs.push_back(kernel.spec);
        }
    }
    CompileCache compiled;
    compiled.compile(specs);
    for (size_t index = 0; index < entries.size(); index++) {
        judge(entries[index], kernels[index], compiled);
    }
    return entries;
}

}  // namespace normforge
