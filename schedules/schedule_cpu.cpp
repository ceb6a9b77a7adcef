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

// Scratch of one row, on the stack. Fused loops hide from Halide that it is of one.
void keep_for_row(Func &f, const NormVars &vars, const LoopLevel &level) {
    f.compute_at(level).store_in(MemoryType::Stack).bound_storage(vars.r, 1);
}

void schedule_run(LaneRun &run, const NormVars &vars, const Knobs &knobs, const LoopLevel &level) {
    const Var &l = vars.l;
    if (run.pivot.defined()) {
        keep_for_row(run.pivot, vars, level);
        vectorize_lanes(run.pivot, l, knobs.lanes(), knobs.vector);
    }
    keep_for_row(run.lanes, vars, level);
    vectorize_lanes(run.lanes, l, knobs.lanes(), knobs.vector);
    run.lanes.update(0).reorder(l, run.step);
    vectorize_lanes(run.lanes.update(0), l, knobs.lanes(), knobs.vector);
    if (run.tail_lanes > 0) {
        RVar part("part");
        run.lanes.update(1).split(run.tail, run.tail, part, knobs.vector, TailStrategy::Predicate).vectorize(part);
    }
    int width = knobs.lanes();
    for (Func &sums : run.tree) {
        keep_for_row(sums, vars, level);
        vectorize_lanes(sums, l, width, knobs.vector);
        width /= 2;
    }
}

void schedule_rows(NormStages &stages, int hidden, const Knobs &knobs, const std::vector<ImageParam> &streams) {
    const auto &[i, r, l, c] = stages.vars;
    Func &rows = stages.rows;
    rows.bound(i, 0, hidden);
    const auto prefetch = [&](Stage writing, const VarOrRVar &step) {
        for (const ImageParam &stream : streams) {
            if (knobs.prefetch > 0) {
                // Only rows that exist. What lies behind the last one would drive out the row and its weight: a
                // tuned kernel took 1.3 of the time of one without prefetching in a program, for one row of 4096
                // values.
                writing.prefetch(stream, step, r, knobs.prefetch, PrefetchBoundStrategy::GuardWithIf);
            }
        }
    };
    if (knobs.writing == kDescending) {
        RVar part("part");
        Stage writing = rows.update(0);
        // No two values of the row are written to one place.
        writing.allow_race_conditions();
        writing.split(stages.written_value, stages.written_value, part, knobs.vector).vectorize(part);
        writing.unroll(stages.written_value);
        prefetch(writing, stages.written_step);
        return;
    }
    Var vector_index("vector_index"), part("part"), step("step");
    rows.split(i, vector_index, part, knobs.vector, TailStrategy::Predicate).vectorize(part);
    rows.split(vector_index, step, vector_index, knobs.unroll, TailStrategy::GuardWithIf).unroll(vector_index);
    prefetch(rows, step);
}

// Sums over rows: some vectors of places at a time, in registers, all rows for each.
void schedule_vector(NormStages &stages, int hidden, const Knobs &knobs) {
    const Var &i = stages.vars.i;
    const int width = knobs.vector * knobs.unroll;
    Var step("step"), place("place");
    stages.vector.bound(i, 0, hidden);
    stages.vector.split(i, step, place, width, TailStrategy::Predicate).vectorize(place);
    Func &sums = stages.slice_sums;
    sums.compute_at(stages.vector, step).store_in(MemoryType::Stack).bound_storage(i, width);
    const auto unroll_vectors = [&](Stage stage, bool over_rows) {
        Var all("all"), part("part");
        stage.split(i, i, part, knobs.vector, TailStrategy::Predicate).vectorize(part);
        stage.split(i, all, i, knobs.unroll, TailStrategy::GuardWithIf).unroll(i);
        if (over_rows) {
            stage.reorder(part, i, stages.slice_row, all);
        }
    };
    unroll_vectors(sums, false);
    unroll_vectors(sums.update(0), true);
}

}  // namespace

void schedule_cpu(NormStages &stages, const NormProblem &problem, const Knobs &knobs,
                  const std::vector<ImageParam> &streams) {
    const int hidden = static_cast<int>(problem.hidden);
    const bool in_slices = stages.slice_values.defined();
    const LoopLevel row(in_slices ? stages.slice_values : stages.rows, stages.vars.r);
    for (RowPass &pass : stages.passes) {
        keep_for_row(pass.total, stages.vars, row);
        if (pass.reference.defined()) {
            keep_for_row(pass.reference, stages.vars, row);
        }
        schedule_run(pass.last, stages.vars, knobs, row);
        if (pass.chunk.lanes.defined()) {
            schedule_run(pass.chunk, stages.vars, knobs, LoopLevel(pass.total, pass.chunk_index));
        }
    }
    for (Func &value : stages.row_values) {
        keep_for_row(value, stages.vars, row);
    }
    if (in_slices) {
        stages.slice_values.compute_root()
            .store_in(MemoryType::Stack)
            .bound_storage(stages.vars.r, stages.slice_rows);
    }
    if (stages.vector.defined()) {
        schedule_vector(stages, hidden, knobs);
    }
    schedule_rows(stages, hidden, knobs, streams);
    if (stages.saved.defined()) {
        stages.saved.compute_with(stages.rows, stages.vars.r);
    }
}

}  // namespace normforge
