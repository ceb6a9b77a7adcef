#pragma once

#include <ostream>
#include <thread>
#include <vector>

#include "runtime/normforge.h"

namespace normforge {

// Loops over tasks as callers may have them.
using Task = void (*)(void *argument, int64_t index);

inline void loop_in_order(void *, int64_t tasks, Task task, void *argument, int64_t) {
    for (int64_t index = 0; index < tasks; index++) {
        task(argument, index);
    }
}

inline void loop_reversed(void *, int64_t tasks, Task task, void *argument, int64_t) {
    for (int64_t index = tasks - 1; index >= 0; index--) {
        task(argument, index);
    }
}

inline void loop_on_new_threads(void *, int64_t tasks, Task task, void *argument, int64_t) {
    std::vector<std::jthread> threads;
    for (int64_t index = 0; index < tasks; index++) {
        threads.emplace_back(task, argument, index);
    }
}

struct LoopKind {
    const char *name;
    nf_parallel_for loop;
};
inline std::ostream &operator<<(std::ostream &stream, const LoopKind &kind) {
    return stream << kind.name;
}
inline constexpr LoopKind kSerialLoops[] = {{"in_order", loop_in_order}, {"reversed", loop_reversed}};
inline constexpr LoopKind kLoops[] = {
    {"in_order", loop_in_order}, {"reversed", loop_reversed}, {"new_threads", loop_on_new_threads}};

}  // namespace normforge
