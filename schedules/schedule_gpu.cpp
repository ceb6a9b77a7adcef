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
                bool on_device)
        : stages_(stages), gpu_(gpu), knobs_(knobs), dealt_(thread_values(problem, knobs)), on_device_(on_device) {
    }

    void arrange() {
        arrange_rows();
        for (GpuSection &section : gpu_.sections) {
            if (section.total.defined()) {
                section.total.compute_at(stages_.rows, gpu_.vars.r);
                on_lanes(section.total);
                on_warps(section.total);
                store(section.total, MemoryType::GPUShared);
            }
            const LoopLevel thread =
                section.total.defined() ? LoopLevel(section.total, gpu_.vars.w) : warp_level();
            for (ThreadValue &value : section.values) {
                arrange_value(value, thread);
            }
        }
        arrange_row();
    }

private:
    // The loop around the lanes that write a row.
    LoopLevel warp_level() {
        return knobs_.warps > 1 ? LoopLevel(stages_.rows, gpu_.writing.warp) : LoopLevel(stages_.rows, row_);
    }

    template <typename StageOrFunc>
    void on_lanes(StageOrFunc &&stage) {
        if (on_device_) {
            stage.gpu_lanes(gpu_.vars.l);
        }
    }

    void on_warps(Func &f) {
        if (on_device_) {
            f.gpu_threads(gpu_.vars.w);
        }
    }

    void store(Func &f, MemoryType type) { f.store_in(on_device_ ? type : MemoryType::Stack); }

    void arrange_value(ThreadValue &value, const LoopLevel &thread) {
        value.f.compute_at(thread);
        on_lanes(value.f);
        store(value.f, MemoryType::Register);
        for (size_t index = 0; index < value.updates.size(); index++) {
            const ThreadUpdate &update = value.updates[index];
            Stage stage = value.f.update(static_cast<int>(index));
            if (update.chunks > 0) {
                stage.reorder(update.value, update.chunk, gpu_.vars.l).unroll(update.value);
                unroll_chunks(stage, update.chunk, update.chunks);
            } else {
                stage.reorder(update.value, gpu_.vars.l).unroll(update.value);
            }
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
        const Var &r = gpu_.vars.r;
        Stage writing = stages_.rows.update(0);
        // No two values of the rows are written to one place; a row's own is the same from every thread.
        writing.allow_race_conditions();
        if (knobs_.warps == 1) {
            writing.split(r, block_, row_, knobs_.rows, TailStrategy::GuardWithIf);
            writing.reorder(value, chunk, lane, warp, row_, block_);
        } else {
            writing.reorder(value, chunk, lane, warp, r);
        }
        writing.vectorize(value);
        unroll_chunks(writing, chunk, dealt_.chunks());
        if (!on_device_) {
            return;
        }
        if (knobs_.warps == 1) {
            writing.gpu_blocks(block_).gpu_threads(row_).gpu_lanes(lane);
        } else {
            writing.gpu_blocks(r).gpu_threads(warp).gpu_lanes(lane);
        }
    }

    void arrange_row() {
        // A serial kernel keeps on its stack what Halide puts there; inlined, the values are the same.
        const int bytes = dealt_.vector * dealt_.chunks() * dealt_.threads * 4;
        if (knobs_.place == kReadTwice || (!on_device_ && bytes > kMostStackBytes)) {
            return;
        }
        const auto &[v, c, l, w, r] = gpu_.vars;
        Func &row = gpu_.row;
        row.reorder(v, c, l, w).vectorize(v);
        Stage stage = row;
        unroll_chunks(stage, c, dealt_.chunks());
        on_lanes(row);
        if (knobs_.place == kRegisters) {
            row.compute_at(warp_level());
            store(row, MemoryType::Register);
        } else {
            row.compute_at(stages_.rows, r);
            on_warps(row);
            store(row, MemoryType::GPUShared);
        }
    }

    NormStages &stages_;
    GpuStages &gpu_;
    const GpuKnobs &knobs_;
    const ThreadValues dealt_;
    const bool on_device_;
    const Var block_{"block"}, row_{"row_of_block"};
};

}  // namespace

void schedule_gpu(NormStages &stages, GpuStages &gpu, const NormProblem &problem, const GpuKnobs &knobs,
                  bool on_device) {
    GpuSchedule(stages, gpu, problem, knobs, on_device).arrange();
}

}  // namespace normforge
