#pragma once

#include <functional>
#include <string>
#include <vector>

// A CUDA driver for tests, which has no device: it notes what it is asked for, and launches run what the test
// says. It is a shared library of the driver's name, so that the runtime finds it where a program is linked to it.

namespace normforge {

struct StubLaunch {
    std::string symbol;
    unsigned blocks;
    unsigned threads_x;
    unsigned threads_y;
    unsigned shared_bytes;
    void *stream;
    void **parameters;  // only during the launch
};

struct CudaStub {
    std::vector<std::string> calls;  // by name
    std::vector<StubLaunch> launches;
    std::string failing_call;  // that call fails
    int failure = 1;           // with this result
    bool has_context = true;
    int compute_capability = 9;
    int minor_capability = 0;
    int modules = 0;                   // that are loaded
    std::vector<const char *> images;  // that were
    const char *refused_image = nullptr;
    bool copies_on_device = true;  // or copies on the device do nothing
    std::function<void(const StubLaunch &)> run;
    // In place of run: gives what a launch does when its stream gets there.
    std::function<std::function<void()>(const StubLaunch &)> prepare;
    std::function<float()> milliseconds = [] { return 1.0f; };  // between any two events
};

CudaStub &cuda_stub();

}  // namespace normforge
