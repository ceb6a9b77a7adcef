#pragma once

#include <memory>
#include <vector>

#include "autotune/measure/cuda_device.h"
#include "runtime/norm_problem.h"

namespace normforge {

// A call's operands once more, on the device: memory that operands share there too, and every operand that shares
// none with another begins at a multiple of 256 bytes. The workspace has so many bytes.
class DeviceCall {
public:
    DeviceCall(const CudaDevice &device, const NormProblem &problem, const nf_arguments &host,
               int64_t workspace_bytes);

    const nf_arguments &arguments() const { return arguments_; }

    // Brings back all the memory of what the call writes, gaps between rows included.
    void bring_back() const;

private:
    struct Block {
        char *begin;
        char *end;
        bool is_written;
        std::unique_ptr<DeviceMemory> copy;
    };

    const CudaDevice &device_;
    nf_arguments arguments_;
    std::vector<Block> blocks_;
    const DeviceMemory workspace_;
};

}  // namespace normforge
