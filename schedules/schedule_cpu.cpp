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

class CpuSchedule {
public:
    CpuSchedule(NormStages &stages, const NormProblem &problem, const Knobs &knobs,
                const std::vector<ImageParam> &streams)
        : stages_(stages), knobs_(knobs), streams_(streams), hidden_(static_cast<int>(problem.hidden)),
          writes_in_pairs_(stages.pairs.written), in_blocks_(knobs.block > 1),
          in_slices_(stages.slice_values.defined()),
          group_(in_slices_ ? stages.slice_values : stages.rows, in_blocks_ ? block_ : stages.vars.r) {}

    void arrange() {
        for (RowPass &pass : stages_.passes) {
            arrange_pass(pass);
        }
        for (Func &value : stages_.row_values) {
            keep_for_group(value);
            if (in_blocks_) {
                value.vectorize(stages_.vars.r, knobs_.block, TailStrategy::RoundUp);
                for (int update = 0; update < value.num_update_definitions(); update++) {
                    value.update(update).unscheduled();  // of rare rows, one by one
                }
            }
        }
        for (RareSums &sums : stages_.rare_sums) {
            keep_rare_sums(sums);
            vectorize_lanes(sums.lanes.update(0), stages_.vars.l, sums.extent, knobs_.vector);
            if (sums.step) {
                sums.lanes.update(1).reorder(stages_.vars.l, *sums.step);
                vectorize_lanes(sums.lanes.update(1), stages_.vars.l, sums.extent, knobs_.vector);
            }
            for (int rest = sums.step ? 2 : 1; rest < sums.lanes.num_update_definitions(); rest++) {
                sums.lanes.update(rest).unscheduled();
            }
        }
        for (Func &value : stages_.block_values) {
            value.compute_at(group_).store_in(MemoryType::Stack);
            value.update(0).atomic().vectorize(value.rvars(0)[0]);
        }
        if (in_slices_) {
            stages_.slice_values.compute_root()
                .store_in(MemoryType::Stack)
                .bound_storage(stages_.vars.r, stages_.slice_rows);
        }
        if (knobs_.writing == kDescending) {
            arrange_descending_rows();
        } else {
            arrange_rows();
        }
        if (stages_.saved.defined()) {
            stages_.saved.compute_with(stages_.rows, stages_.vars.r);
        }
    }

private:
    // What a row shares, for each row of a block. It takes more memory than any lanes do: Halide gives memory that
    // is no longer used to the next Func that it is large enough for, and LLVM then keeps neither in registers.
    void keep_for_group(Func &f) {
        f.compute_at(group_).store_in(MemoryType::Stack);
        int values = std::max(knobs_.block, knobs_.lanes() + 1);
        if (in_blocks_ && !stages_.rare_sums.empty()) {
            values = std::max(values, kept_rare_rows() * stages_.rare_sums[0].extent + 1);
        }
        f.bound_storage(stages_.vars.r, values);
        if (in_blocks_) {
            f.bound_extent(stages_.vars.r, knobs_.block);
        }
    }

    // Of a block for all its rows: so there is one branch around the loop over them, and not one in each trip.
    void keep_rare_sums(RareSums &sums) {
        if (in_blocks_) {
            sums.lanes.compute_at(group_).store_in(MemoryType::Stack);
            sums.lanes.bound_storage(stages_.vars.r, kept_rare_rows()).bound_extent(stages_.vars.r, knobs_.block);
        } else {
            keep_for_row(sums.lanes, stages_.vars, LoopLevel(sums.of, sums.once));
        }
    }

    // More memory than the lanes of a row take, as in keep_for_group().
    int kept_rare_rows() const { return std::max(knobs_.block, knobs_.lanes() / stages_.rare_sums[0].extent + 1); }

    void arrange_pass(RowPass &pass) {
        LoopLevel row = group_;
        if (in_blocks_) {
            keep_for_group(pass.total);
            row = LoopLevel(pass.total, stages_.vars.r);
        }
        for (Func *f : {&pass.sums, &pass.pivot}) {
            if (f->defined()) {
                keep_for_row(*f, stages_.vars, row);
            }
        }
        if (pass.chunk.lanes.defined()) {
            arrange_run(pass.chunk, LoopLevel(pass.sums, pass.chunk_index));
            row = LoopLevel(pass.sums, stages_.vars.r);
        }
        arrange_run(pass.last, row);
    }

    void arrange_run(LaneRun &run, const LoopLevel &level) {
        const Var &l = stages_.vars.l;
        const int lanes = run.extent;
        keep_for_row(run.lanes, stages_.vars, level);
        vectorize_lanes(run.lanes, l, lanes, knobs_.vector);
        run.lanes.update(0).reorder(l, run.step);
        vectorize_lanes(run.lanes.update(0), l, lanes, knobs_.vector);
        if (run.tail_extent > 0) {
            RVar part("part");
            Stage tail = run.lanes.update(1);
            tail.split(run.tail, run.tail, part, knobs_.vector, TailStrategy::Predicate).vectorize(part);
        }
        int width = lanes;
        for (Func &sums : run.tree) {
            keep_for_row(sums, stages_.vars, level);
            vectorize_lanes(sums, l, width, knobs_.vector);
            width = std::max(width / 2, 1);
        }
    }

    // That are written one after the other, by one vector or, in pairs, by two.
    int vector_values() const { return writes_in_pairs_ ? 2 * knobs_.vector : knobs_.vector; }

    void arrange_rows() {
        const auto &[i, r, l, c] = stages_.vars;
        stages_.rows.bound(i, 0, hidden_);
        Stage writing = in_slices_ ? stages_.rows.update(0) : Stage(stages_.rows);
        Var vector_index("vector_index"), part("part"), step("step"), of_pair("of_pair");
        writing.split(i, vector_index, part, vector_values(), TailStrategy::Predicate);
        if (writes_in_pairs_) {
            writing.split(part, part, of_pair, 2).reorder(part, of_pair).unroll(of_pair);
        }
        writing.vectorize(part);
        writing
            .split(vector_index, step, vector_index, knobs_.vector * knobs_.unroll / vector_values(),
                   TailStrategy::GuardWithIf)
            .unroll(vector_index);
        if (in_blocks_) {
            writing.split(r, block_, row_, knobs_.block, TailStrategy::GuardWithIf);
        }
        if (in_slices_) {
            // All rows for some vectors of places, whose sums stay in registers.
            writing.reorder(vector_index, r, step);
        }
        if (knobs_.weights == kShared) {
            writing.reorder(vector_index, row_, step, block_).unroll(row_);
            prefetch(writing, step, block_);
        } else {
            prefetch(writing, vector_index, r);
        }
    }

    void arrange_descending_rows() {
        const WrittenRow &written = stages_.written;
        Stage writing = stages_.rows.update(0);
        stages_.rows.bound(stages_.vars.i, 0, hidden_);
        // No two values of the row are written to one place.
        writing.allow_race_conditions();
        writing.vectorize(written.lane).unroll(written.of_pair).unroll(written.vector_index);
        prefetch(writing, written.vector_index, stages_.vars.r);
    }

    void prefetch(Stage writing, const VarOrRVar &at, const Var &row) {
        for (const ImageParam &stream : streams_) {
            if (knobs_.prefetch > 0) {
                // Only rows that exist. What lies behind the last one would drive out the row and its weight: a
                // tuned kernel took 1.3 of the time of one without prefetching in a program, for one row of 4096
                // values.
                writing.prefetch(stream, at, row, knobs_.prefetch, PrefetchBoundStrategy::GuardWithIf);
            }
        }
    }

    NormStages &stages_;
    const Knobs &knobs_;
    const std::vector<ImageParam> &streams_;
    const int hidden_;
    const Var block_{"block"}, row_{"row"};
    const bool writes_in_pairs_;
    const bool in_blocks_;
    const bool in_slices_;
    const LoopLevel group_;  // a row, or a block of rows
};

}  // namespace

void schedule_cpu(NormStages &stages, const NormProblem &problem, const Knobs &knobs,
                  const std::vector<ImageParam> &streams) {
    CpuSchedule(stages, problem, knobs, streams).arrange();
}

}  // namespace normforge
