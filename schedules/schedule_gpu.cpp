#include "schedules/schedule_gpu.h"

#include <algorithm>

namespace normforge {

using namespace Halide;

namespace {

// Of the loops over chunks, where registers do not hold the row: ptxas loads what comes later at once, and took
// 167 registers of 32 chunks.
constexpr int kMostUnrolledChunks = 8;
constexpr int kUnrolledPart = 4;

constexpr int kMostStackBytes = 16 << 10;

class GpuSchedule {
public:
    GpuSchedule(NormStages &stages, GpuStages &gpu, const NormProblem &problem, const GpuKnobs &knobs,
                GpuForm form)
        : stages_(stages), gpu_(gpu), knobs_(knobs), dealt_(thread_values(problem, knobs)),
          has_slices_(problem.pass == NF_BACKWARD), form_(form) {}

    void arrange() {
        arrange_rows();
        for (GpuSection &section : gpu_.sections) {
            if (section.total.defined()) {
                section.total.compute_at(block_level());
                on_lanes(section.total);
                on_warps(section.total);
                store(section.total, MemoryType::GPUShared);
            }
            const LoopLevel thread = form_ == GpuForm::barriers ? block_level()
                                     : section.total.defined()  ? LoopLevel(section.total, gpu_.vars.w)
                                                                : warp_level();
            for (ThreadValue &value : section.values) {
                arrange_value(value, thread);
            }
        }
        arrange_row();
    }

private:
    // The loop around the lanes that write a row.
    LoopLevel warp_level() {
        return knobs_.warps > 1 ? LoopLevel(stages_.rows, gpu_.writing.warp)
               : has_slices_    ? row_of_slice_level()
                                : LoopLevel(stages_.rows, row_);
    }

    // The loop over blocks, or in it that over the rows of their slices.
    LoopLevel block_level() {
        return has_slices_        ? row_of_slice_level()
               : knobs_.warps > 1 ? LoopLevel(stages_.rows, gpu_.vars.r)
                                  : LoopLevel(stages_.rows, block_);
    }

    LoopLevel row_of_slice_level() { return {stages_.rows, gpu_.slices.row}; }

    template <typename StageOrFunc>
    void on_lanes(StageOrFunc &&stage) {
        if (form_ == GpuForm::warps) {
            stage.gpu_lanes(gpu_.vars.l);
        }
    }

    template <typename StageOrFunc>
    void on_warps(StageOrFunc &&stage) {
        if (form_ == GpuForm::warps) {
            stage.gpu_threads(gpu_.vars.w);
        } else if (form_ == GpuForm::barriers) {
            on_block(stage);
        }
    }

    // All threads of a block, of one row or of several.
    template <typename StageOrFunc>
    void on_block(StageOrFunc &&stage) {
        if (knobs_.warps > 1) {
            stage.gpu_threads(gpu_.vars.l, gpu_.vars.w);
        } else {
            stage.gpu_threads(gpu_.vars.l, gpu_.vars.r);
        }
    }

    void store(Func &f, MemoryType type) { f.store_in(form_ == GpuForm::serial ? MemoryType::Stack : type); }

    void arrange_value(ThreadValue &value, const LoopLevel &thread) {
        value.f.compute_at(thread);
        on_value(value.f);
        store(value.f, form_ == GpuForm::barriers ? MemoryType::GPUShared : MemoryType::Register);
        for (size_t index = 0; index < value.updates.size(); index++) {
            const ThreadUpdate &update = value.updates[index];
            Stage stage = value.f.update(static_cast<int>(index));
            stage.reorder(update.value, update.chunk, gpu_.vars.l).unroll(update.value);
            unroll_chunks(stage, update.chunk, update.chunks);
            if (update.vector.defined()) {
                Func vector = update.vector;
                vector.compute_at(value.f, update.chunk).vectorize(gpu_.vars.v);
                store(vector, MemoryType::Register);
            }
            on_value(stage);
        }
    }

    // What each thread computes for itself; with barriers, for others to read.
    template <typename StageOrFunc>
    void on_value(StageOrFunc &&stage) {
        if (form_ == GpuForm::barriers) {
            on_block(stage);
        } else {
            on_lanes(stage);
        }
    }

    template <typename Dimension>
    void unroll_chunks(Stage &stage, const Dimension &chunk, int chunks) const {
        if (chunks <= kMostUnrolledChunks || knobs_.place == kRegisters) {
            stage.unroll(chunk);
        } else {
            stage.unroll(chunk, kUnrolledPart, TailStrategy::GuardWithIf);
        }
    }

    void arrange_rows() {
        const auto &[value, chunk, lane, warp] = gpu_.writing;
        const Var &r = has_slices_ ? gpu_.slices.slice : gpu_.vars.r;
        Stage writing = stages_.rows.update(0);
        // No two values of the rows are written to one place; a row's own is the same from every thread.
        writing.allow_race_conditions();
        std::vector<VarOrRVar> loops = {value, chunk, lane, warp};
        if (knobs_.warps == 1) {
            writing.split(r, block_, row_, knobs_.rows, TailStrategy::GuardWithIf);
            loops.insert(loops.end(), {row_, block_});
        } else {
            loops.emplace_back(r);
        }
        if (has_slices_) {
            // Around the threads of a block where these wait for one another.
            const bool is_outer = knobs_.warps == 1 && form_ != GpuForm::barriers;
            loops.insert(loops.end() - (is_outer ? 2 : 1), gpu_.slices.row);
        }
        writing.reorder(loops);
        writing.vectorize(value);
        unroll_chunks(writing, chunk, dealt_.chunks());
        if (form_ == GpuForm::serial) {
            return;
        }
        if (knobs_.warps == 1) {
            writing.gpu_blocks(block_).gpu_threads(row_);
        } else {
            writing.gpu_blocks(r).gpu_threads(warp);
        }
        if (form_ == GpuForm::warps) {
            writing.gpu_lanes(lane);
        } else {
            writing.gpu_threads(lane);
        }
    }

    void arrange_row() {
        // A serial kernel keeps on its stack what Halide puts there; inlined, the values are the same.
        const int bytes = dealt_.vector * dealt_.chunks() * dealt_.threads * 4;
        if (knobs_.place == kReadTwice || (form_ == GpuForm::serial && bytes > kMostStackBytes)) {
            return;
        }
        const auto &[v, c, l, w, r] = gpu_.vars;
        Func &row = gpu_.row;
        row.reorder(v, c, l, w).vectorize(v);
        Stage stage = row;
        unroll_chunks(stage, c, dealt_.chunks());
        on_lanes(row);
        if (knobs_.place == kRegisters && form_ != GpuForm::barriers) {
            row.compute_at(warp_level());
            store(row, MemoryType::Register);
        } else {
            row.compute_at(block_level());
            on_warps(row);
            store(row, MemoryType::GPUShared);
            // Vectors of neighbouring threads lie side by side, and so in different banks.
            row.reorder_storage(v, l, w, c, r);
        }
    }

    NormStages &stages_;
    GpuStages &gpu_;
    const GpuKnobs &knobs_;
    const ThreadValues dealt_;
    const bool has_slices_;
    const GpuForm form_;
    const Var block_{"block"}, row_{"row_of_block"};
};

}  // namespace

GpuForm gpu_form(const Target &target) {
    return !target.has_gpu_feature()            ? GpuForm::serial
           : target.has_feature(Target::OpenCL) ? GpuForm::barriers
                                                : GpuForm::warps;
}

void schedule_gpu(NormStages &stages, GpuStages &gpu, const NormProblem &problem, const GpuKnobs &knobs,
                  GpuForm form) {
    GpuSchedule(stages, gpu, problem, knobs, form).arrange();
}

}  // namespace normforge
