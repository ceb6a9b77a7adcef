#include "generators/gpu_reduction.h"

#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

GpuReduction::GpuReduction(GpuStages &stages, const ThreadValues &values)
    : stages_(stages), values_(values), warps_(values.threads / kWarpThreads) {
    stages_.sections.emplace_back();
}

Expr GpuReduction::place(const Expr &v, const Expr &c) const {
    Expr vector = c * values_.threads + thread();
    if (values_.tail_vectors > 0) {
        vector = min(vector, values_.hidden / values_.vector - 1);
    }
    return vector * values_.vector + v;
}

Expr GpuReduction::thread() const {
    return stages_.vars.w * kWarpThreads + stages_.vars.l;
}

int GpuReduction::equal_count() const {
    return values_.tail_vectors == 0 ? values_.full_chunks * values_.vector : 0;
}

Expr GpuReduction::count() const {
    const auto of_chunks = [this](int chunks) { return Expr(static_cast<float>(chunks * values_.vector)); };
    if (values_.tail_vectors == 0) {
        return of_chunks(values_.full_chunks);
    }
    return select(thread() < values_.tail_vectors, of_chunks(values_.full_chunks + 1),
                  of_chunks(values_.full_chunks));
}

Func GpuReduction::add(const std::string &name, const Values &values) {
    Func f(name);
    f(stages_.vars.l, stages_.vars.w, stages_.vars.r) = Tuple(values);
    section().values.push_back({f, {}});
    return f;
}

Func GpuReduction::known(const std::string &name, const std::function<Values()> &values) {
    const size_t present = stages_.sections.size();
    if (const auto found = known_.find(name); found != known_.end() && found->second.first == present) {
        return found->second.second;
    }
    Func f = add(name, values());
    known_[name] = {present, f};
    return f;
}

Func GpuReduction::over_values(const std::string &name, const Terms &terms, const Combine &combine) {
    const auto &[v, c, l, w, r] = stages_.vars;
    Values zeros = terms(0, 0);
    for (Expr &zero : zeros) {
        zero = cast(zero.type(), 0);
    }
    Func f = add(name, zeros);
    ThreadValue &added = section().values.back();
    if (values_.full_chunks > 0) {
        RDom k(0, values_.vector, 0, values_.full_chunks, name + "_place");
        f(l, w, r) = Tuple(combine(elements(f(l, w, r)), terms(k.x, k.y)));
        added.updates.push_back({k.x, k.y, values_.full_chunks});
    }
    if (values_.tail_vectors > 0) {
        RDom k(0, values_.vector, name + "_tail");
        k.where(thread() < values_.tail_vectors);
        f(l, w, r) = Tuple(combine(elements(f(l, w, r)), terms(k.x, values_.full_chunks)));
        added.updates.push_back({k.x, RVar(), 0});
    }
    return f;
}

// Afterwards every lane has the values of all `lanes` that begin at it, in turn.
Func GpuReduction::merge_lanes(const std::string &name, Func f, const Merge &merge, int lanes, int threads) {
    const auto &[v, c, l, w, r] = stages_.vars;
    for (int distance = lanes / 2; distance >= 1; distance /= 2) {
        const Values other = elements(f((l + distance) % kWarpThreads, w, r));
        f = add(name + "_" + std::to_string(distance), merge(elements(f(l, w, r)), other, threads));
        threads *= 2;
    }
    return f;
}

void GpuReduction::merge(const std::string &name, const Func &of_thread, const Merge &merge) {
    const auto &[v, c, l, w, r] = stages_.vars;
    Total total{
        merge, stages_.sections.size(), merge_lanes(name + "_lanes", of_thread, merge, kWarpThreads, 1), {}};
    if (warps_ > 1) {
        total.of_warp = Func(name + "_of_warp");
        total.of_warp(l, w, r) = Tuple(elements(total.known(l, w, r)));
        section().total = total.of_warp;
        stages_.sections.emplace_back();
    }
    totals_[name] = total;
}

GpuReduction::Values GpuReduction::total(const std::string &name) {
    const auto &[v, c, l, w, r] = stages_.vars;
    Total &total = totals_.at(name);
    if (total.section != stages_.sections.size()) {
        // A lane begins with one of the warps, and has what the same lane there has, beside which it lies.
        Func warp = add(name + "_of_warps", elements(total.of_warp(l, l % warps_, r)));
        total.known = merge_lanes(name + "_warps", warp, total.merge, warps_, kWarpThreads);
        total.section = stages_.sections.size();
    }
    return elements(total.known(l, w, r));
}

}  // namespace normforge
