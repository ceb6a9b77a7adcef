// Streams, events and graphs of the stub of CUDA's driver.

#include "tests/cuda_stub_streams.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "tests/cuda_stub.h"

namespace normforge {

namespace {

struct Event {
    int recorded = 0;
    int reached = 0;
};

struct Graph {
    std::vector<std::function<void()>> work;
};

struct Stream {
    std::deque<std::function<bool()>> work;  // false where it has to wait
    Graph *captured = nullptr;
};

// They live as long as the program. Addresses in a deque stay.
std::deque<Stream> &streams() {
    static std::deque<Stream> all;
    return all;
}

std::deque<Event> &events() {
    static std::deque<Event> all;
    return all;
}

std::deque<Graph> &graphs() {
    static std::deque<Graph> all;
    return all;
}

Stream *stub_stream(void *stream) {
    const auto found =
        std::ranges::find_if(streams(), [&](const Stream &candidate) { return &candidate == stream; });
    return found == streams().end() ? nullptr : &*found;
}

// Whether anything was done. The newest stream goes first, as far as it can.
bool work_on_streams() {
    for (auto stream = streams().rbegin(); stream != streams().rend(); ++stream) {
        bool any = false;
        while (!stream->work.empty() && stream->work.front()()) {
            stream->work.pop_front();
            any = true;
        }
        if (any) {
            return true;
        }
    }
    return false;
}

void wait_for(const Stream &stream) {
    while (!stream.work.empty()) {
        if (!work_on_streams()) {
            std::fputs("the stub's streams wait for each other\n", stderr);
            std::abort();
        }
    }
}

}  // namespace

void submit(void *stream, std::function<void()> work) {
    Stream *queue = stub_stream(stream);
    if (!queue) {
        work();
    } else if (queue->captured) {
        queue->captured->work.push_back(std::move(work));
    } else {
        queue->work.emplace_back([work = std::move(work)] {
            work();
            return true;
        });
    }
}

}  // namespace normforge

using namespace normforge;

extern "C" {

int cuStreamCreate(void **stream, unsigned) {
    *stream = &streams().emplace_back();
    return 0;
}

int cuStreamDestroy_v2(void *) {
    return 0;
}

int cuStreamSynchronize(void *stream) {
    if (const Stream *queue = stub_stream(stream)) {
        wait_for(*queue);
    }
    return 0;
}

int cuEventCreate(void **event, unsigned) {
    *event = &events().emplace_back();
    return 0;
}

int cuEventDestroy_v2(void *) {
    return 0;
}

int cuEventRecord(void *event, void *stream) {
    auto *recorded = static_cast<Event *>(event);
    submit(stream, [recorded, number = ++recorded->recorded] { recorded->reached = number; });
    return 0;
}

// For the last record before this call.
int cuStreamWaitEvent(void *stream, void *event, unsigned) {
    const auto *awaited = static_cast<const Event *>(event);
    if (Stream *queue = stub_stream(stream)) {
        queue->work.emplace_back([awaited, number = awaited->recorded] { return awaited->reached >= number; });
    }
    return 0;
}

int cuEventSynchronize(void *) {
    return 0;
}

int cuEventElapsedTime(float *milliseconds, void *, void *) {
    *milliseconds = cuda_stub().milliseconds();
    return 0;
}

int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
    submit(stream, [=] { std::memcpy(to, from, bytes); });
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
    submit(stream, [=] { std::memcpy(to, from, bytes); });
    return 0;
}

int cuStreamBeginCapture_v2(void *stream, int) {
    stub_stream(stream)->captured = &graphs().emplace_back();
    return 0;
}

int cuStreamEndCapture(void *stream, void **graph) {
    *graph = std::exchange(stub_stream(stream)->captured, nullptr);
    return 0;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
    *executable = graph;
    return 0;
}

int cuGraphLaunch(void *executable, void *stream) {
    for (const std::function<void()> &work : static_cast<const Graph *>(executable)->work) {
        submit(stream, work);
    }
    return 0;
}

int cuGraphExecDestroy(void *) {
    return 0;
}

int cuGraphDestroy(void *) {
    return 0;
}

}  // extern "C"
