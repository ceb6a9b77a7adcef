#include "schedules/schedule_gpu_sums.h"

namespace normforge {

using namespace Halide;

void schedule_gpu_sums(SumStages &stages, GpuForm form) {
    const LoopLevel thread(stages.of_part, stages.l);
    stages.of_thread.compute_at(thread).update(0).reorder(stages.slice, stages.l, stages.p);
    stages.of_part.compute_at(stages.sums, stages.block);
    stages.total.compute_at(stages.sums, stages.value);
    Stage writing = stages.sums.update(0);
    // Each value is written once.
    writing.allow_race_conditions().reorder(stages.value, stages.block);
    if (form == GpuForm::serial) {
        return;
    }
    stages.of_thread.store_in(MemoryType::Register);
    stages.of_part.gpu_threads(stages.l, stages.p).store_in(MemoryType::GPUShared);
    stages.total.store_in(MemoryType::Register);
    writing.gpu_blocks(stages.block).gpu_threads(stages.value);
}

}  // namespace normforge
