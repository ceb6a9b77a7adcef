#include "schedules/schedule_cpu.h"

#include <algorithm>

namespace normforge {

using namespace Halide;

namespace {

// Vectors along the lanes, all of them unrolled.
void vectorize_lanes(Stage stage, const Var &l, int lanes, int vector) {
    int width = std::min(lanes, vector);
    if (width > 1) {
        Var part("part");
        stage.split(l, l, part, width).vectorize(part);
    }
    if (lanes > width) {
        stage.unroll(l);
    }
}

void schedule_run(LaneRun &run, const NormVars &vars, const Knobs &knobs, const LoopLevel &level) {
    const Var &l = vars.l;
    if (run.pivot.defined()) {
        run.pivot.compute_at(level).store_in(MemoryType::Stack);
        vectorize_lanes(run.pivot, l, knobs.lanes(), knobs.vector);
    }
    run.lanes.compute_at(level).store_in(MemoryType::Stack);
    vectorize_lanes(run.lanes, l, knobs.lanes(), knobs.vector);
    run.lanes.update(0).reorder(l, run.step);
    vectorize_lanes(run.lanes.update(0), l, knobs.lanes(), knobs.vector);
    if (run.tail_lanes > 0) {
        RVar part("part");
        run.lanes.update(1).split(run.tail, run.tail, part, knobs.vector, TailStrategy::Predicate).vectorize(part);
    }
    int width = knobs.lanes();
    for (Func &sums : run.tree) {
        sums.compute_at(level).store_in(MemoryType::Stack);
        vectorize_lanes(sums, l, width, knobs.vector);
        width /= 2;
    }
}

}  // namespace

void schedule_cpu(NormStages &stages, const NormProblem &problem, const Knobs &knobs, const ImageParam &x) {
    const auto &[i, r, l, c] = stages.vars;
    Func &y = stages.y;
    LoopLevel row(y, r);
    for (RowPass &pass : stages.passes) {
        pass.total.compute_at(row).store_in(MemoryType::Stack);
        if (pass.reference.defined()) {
            pass.reference.compute_at(row).store_in(MemoryType::Stack);
        }
        schedule_run(pass.last, stages.vars, knobs, row);
        if (pass.chunk.lanes.defined()) {
            schedule_run(pass.chunk, stages.vars, knobs, LoopLevel(pass.total, pass.chunk_index));
        }
    }
    for (Func &value : stages.row_values) {
        value.compute_at(row).store_in(MemoryType::Stack);
    }

    Var vector_index("vector_index"), part("part"), step("step");
    int hidden = static_cast<int>(problem.hidden);
    y.bound(i, 0, hidden);
    y.split(i, vector_index, part, knobs.vector, TailStrategy::Predicate).vectorize(part);
    y.split(vector_index, step, vector_index, knobs.unroll, TailStrategy::GuardWithIf).unroll(vector_index);
    if (knobs.prefetch > 0) {
        y.prefetch(x, step, r, knobs.prefetch, PrefetchBoundStrategy::NonFaulting);
    }
}

}  // namespace normforge
