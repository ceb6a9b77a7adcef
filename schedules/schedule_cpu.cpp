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

void schedule_writing(NormStages &stages, int hidden, const Knobs &knobs, const ImageParam &x) {
    const auto &[i, r, l, c] = stages.vars;
    Func &y = stages.y;
    y.bound(i, 0, hidden);
    if (knobs.writing == kDescending) {
        RVar part("part");
        Stage writing = y.update(0);
        // No two values of the row are written to one place.
        writing.allow_race_conditions();
        writing.split(stages.written_value, stages.written_value, part, knobs.vector).vectorize(part);
        writing.unroll(stages.written_value);
        if (knobs.prefetch > 0) {
            writing.prefetch(x, stages.written_step, r, knobs.prefetch, PrefetchBoundStrategy::NonFaulting);
        }
        return;
    }
    Var vector_index("vector_index"), part("part"), step("step");
    y.split(i, vector_index, part, knobs.vector, TailStrategy::Predicate).vectorize(part);
    y.split(vector_index, step, vector_index, knobs.unroll, TailStrategy::GuardWithIf).unroll(vector_index);
    if (knobs.prefetch > 0) {
        y.prefetch(x, step, r, knobs.prefetch, PrefetchBoundStrategy::NonFaulting);
    }
}

}  // namespace

void schedule_cpu(NormStages &stages, const NormProblem &problem, const Knobs &knobs, const ImageParam &x) {
    const LoopLevel row(stages.y, stages.vars.r);
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
    schedule_writing(stages, static_cast<int>(problem.hidden), knobs, x);
}

}  // namespace normforge
