#include "generators/gpu_reduction.h"

#include "generators/row_reduction.h"

namespace normforge {

using namespace Halide;

namespace {

using Values = GpuReduction::Values;

Values sum_of(const Values &a, const Values &b) {
    Values result;
    for (size_t m = 0; m < a.size(); m++) {
        result.push_back(a[m] + b[m]);
    }
    return result;
}

Values maximum_of(const Values &a, const Values &b) {
    return {max(a[0], b[0])};
}

}  // namespace

GpuReduction::GpuReduction(const NormProblem &problem, const GpuKnobs &knobs, const NormValues &values,
                           GpuStages &stages)
    : norm_values_(values), stages_(stages), values_(thread_values(problem, knobs)),
      reads_vectors_(values_.vector > 1 && (knobs.place != kRegisters || has_weighted_gradients())),
      warps_(knobs.warps) {
    stages_.sections.emplace_back();
    const auto &[v, c, l, w, r] = stages_.vars;
    stages_.row = Func("row");
    Values held = norm_values_.addends(place(v, c), r);
    if (values_.are_sums) {
        held = {norm_values_.sum_of(held)};
    }
    if (norm_values_.has(OperandId::dy)) {
        held.push_back(norm_values_.stored_value(OperandId::dy, place(v, c), r));
    }
    stages_.row(v, c, l, w, r) = Tuple(held);
}

bool GpuReduction::has_weighted_gradients() const {
    return norm_values_.has(OperandId::dy) && norm_values_.has(OperandId::weight);
}

Expr GpuReduction::held(const Expr &v, const Expr &c) const {
    return value_of(stages_.row(v, c, stages_.vars.l, stages_.vars.w, stages_.vars.r), place(v, c)).h;
}

GpuValue GpuReduction::value_of(const FuncRef &held, const Expr &place) const {
    Values values = elements(held);
    if (has_weighted_gradients()) {
        values.push_back(norm_values_.stored_weight(place));
    }
    return value_of(values, place);
}

// The weight, as it is stored, is the last of what is held.
GpuValue GpuReduction::value_of(const Values &held, const Expr &place) const {
    GpuValue value;
    value.place = place;
    Values of_h = held;
    if (has_weighted_gradients()) {
        value.weight = norm_values_.weight_of(of_h.back());
        of_h.pop_back();
    }
    if (norm_values_.has(OperandId::dy)) {
        value.dy = norm_values_.load(OperandId::dy, of_h.back());
        of_h.pop_back();
    }
    value.h = values_.are_sums ? of_h[0] : norm_values_.sum_of(of_h);
    return value;
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
    Values zeros = terms({0.0f, 0.0f, 0.0f, 0});
    for (Expr &zero : zeros) {
        zero = cast(zero.type(), 0);
    }
    Func f = add(name, zeros);
    if (values_.full_chunks > 0) {
        update(f, terms, combine, 0, values_.full_chunks);
    }
    if (values_.tail_vectors > 0) {
        update(f, terms, combine, values_.full_chunks, 1);
    }
    return f;
}

// The last of the section's values takes what these chunks have.
void GpuReduction::update(Func f, const Terms &terms, const Combine &combine, int first_chunk, int chunks) {
    const auto &[v, c, l, w, r] = stages_.vars;
    RDom k(0, values_.vector, first_chunk, chunks, f.name() + "_place");
    if (first_chunk == values_.full_chunks) {
        k.where(thread() < values_.tail_vectors);
    }
    ThreadUpdate added{k.x, k.y, chunks, {}};
    GpuValue value = value_of(stages_.row(k.x, k.y, l, w, r), place(k.x, k.y));
    if (reads_vectors_) {
        added.vector = Func(f.name() + "_vector");
        Values held = elements(stages_.row(v, c, l, w, r));
        if (has_weighted_gradients()) {
            held.push_back(norm_values_.stored_weight(place(v, c)));
        }
        added.vector(v, c, l, w, r) = Tuple(held);
        value = value_of(elements(added.vector(k.x, k.y, l, w, r)), place(k.x, k.y));
    }
    f(l, w, r) = Tuple(combine(elements(f(l, w, r)), terms(value)));
    section().values.back().updates.push_back(added);
}

Func GpuReduction::sums(const std::string &name, const Terms &terms) {
    return over_values(name, terms, sum_of);
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

void GpuReduction::merge_sums(const std::string &name, const Func &of_thread) {
    merge(name, of_thread, [](const Values &a, const Values &b, int) { return sum_of(a, b); });
}

void GpuReduction::merge_largest_magnitude(const std::string &name, const Number &number) {
    const auto terms = [&](const GpuValue &value) {
        return Values{reinterpret<int32_t>(number(value)) & INT32_MAX};
    };
    merge(name, over_values(name + "_of_thread", terms, maximum_of),
          [](const Values &a, const Values &b, int) { return maximum_of(a, b); });
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
