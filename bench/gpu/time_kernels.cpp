#include "bench/gpu/time_kernels.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "autotune/base/robust_stats.h"
#include "autotune/measure/test_rows.h"
#include "bench/gpu/loaded_bundle.h"
#include "bench/gpu/timed_rows.h"
#include "runtime/float_types.h"
#include "runtime/operand_fields.h"

namespace normforge {

namespace {

using nlohmann::json;

constexpr double kBlockSeconds = 2e-3;
constexpr int kFirstBlocks = 3;
constexpr int kBlocks = 21;
constexpr size_t kSurvivors = 4;
constexpr size_t kAlignment = 256;

// Ordinary values of a type, over and over.
std::vector<std::byte> pattern(nf_dtype type, size_t values) {
    constexpr uint64_t kSeed = 1;
    const std::vector<float> numbers = rounded_to(type, normal_values(values, 0, 1, kSeed));
    std::vector<std::byte> bytes(values * element_size(type));
    for (size_t index = 0; index < values; index++) {
        store_value(bytes.data(), type, static_cast<int64_t>(index), numbers[index]);
    }
    return bytes;
}

// A call of many rows without gaps, whose operands lie one behind the other.
class TimedCall {
public:
    TimedCall(const CudaDevice &device, const nf_cuda_kernel &kernel, const NormProblem &problem) {
        arguments_.rows = timed_rows(problem);
        const int64_t workspace_bytes = nf_cuda_workspace_bytes(&kernel, arguments_.rows, arguments_.groups);
        memory_.push_back(
            std::make_unique<DeviceMemory>(device, static_cast<size_t>(workspace_bytes) + kAlignment));
        arguments_.workspace = memory_.back()->data();
        arguments_.epsilon = 1e-5f;
        arguments_.scale = 0.05f;
        for (const Operand &operand : kOperands) {
            const nf_dtype type = operand_type(problem, operand);
            if (operand.shape == OperandShape::number || type == NF_NONE) {
                continue;
            }
            const int64_t values = (operand.shape == OperandShape::vector ? 1 : arguments_.rows) *
                                   (operand.shape == OperandShape::row_values ? 1 : problem.hidden);
            const size_t bytes = static_cast<size_t>(values) * element_size(type);
            memory_.push_back(std::make_unique<DeviceMemory>(device, bytes + kAlignment));
            char *data = memory_.back()->data();
            if (operand.shape == OperandShape::rows) {
                store_field(arguments_, operand, RowsField{data, problem.hidden, 0});
            } else {
                store_field(arguments_, operand, data);
            }
            if (!is_written(problem, operand)) {
                fill(device, data, bytes, pattern(type, static_cast<size_t>(problem.hidden) * 16));
            }
        }
    }

    const nf_arguments &arguments() const { return arguments_; }

private:
    static void fill(const CudaDevice &device, char *data, size_t bytes, const std::vector<std::byte> &pattern) {
        const size_t first = std::min(bytes, pattern.size());
        device.copy_to_device(data, pattern.data(), first);
        for (size_t done = first; done < bytes;) {
            const size_t next = std::min(done, bytes - done);
            device.copy_on_device(data + done, data, next);
            done += next;
        }
    }

    nf_arguments arguments_{};
    std::vector<std::unique_ptr<DeviceMemory>> memory_;
};

class Contender {
public:
    explicit Contender(const json &kernel) : source_(kernel.at("source").get<std::string>()), loaded_(kernel) {}

    void run(const nf_arguments &arguments) const {
        if (const nf_status status = nf_cuda_run(loaded_.kernel(), &arguments, nullptr)) {
            throw std::runtime_error(nf_status_message(status));
        }
    }

    const nf_cuda_kernel &kernel() const { return *loaded_.kernel(); }
    const NormProblem &problem() const { return loaded_.problem(); }
    double time() const { return median(seconds); }

    json result(const std::vector<double> &copy_seconds) const {
        json form = {{"knobs", loaded_.knobs()}, {"source", source_}, {"seconds", time()}};
        if (seconds.size() == copy_seconds.size()) {
            std::vector<double> ratios;
            for (size_t block = 0; block < seconds.size(); block++) {
                ratios.push_back(copy_seconds[block] / seconds[block]);
            }
            form["copy_ratio"] = median(ratios);
        }
        return form;
    }

    std::vector<double> seconds;  // of a call, of each block

private:
    std::string source_;
    LoadedBundle loaded_;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

template <typename Work>
double block_seconds(const CudaDevice &device, int calls, Work &&work) {
    return device.seconds([&] {
        for (int call = 0; call < calls; call++) {
            work();
        }
    }) / calls;
}

// Copies half of the bytes, since a copy reads and writes each.
class Copy {
public:
    Copy(const CudaDevice &device, int64_t bytes)
        : device_(device), bytes_(static_cast<size_t>(bytes) / 2), from_(device, bytes_), to_(device, bytes_) {}

    void run() const { device_.copy_on_device(to_.data(), from_.data(), bytes_); }

private:
    const CudaDevice &device_;
    size_t bytes_;
    DeviceMemory from_, to_;
};

std::vector<double> run_blocks(const CudaDevice &device, const TimedCall &call, const Copy &copy,
                               Contenders &contenders, int blocks) {
    const double once = block_seconds(device, 1, [&] { copy.run(); });
    const int calls = std::clamp(static_cast<int>(kBlockSeconds / std::max(once, 1e-7)), 2, 1000);
    std::vector<double> copy_seconds;
    for (std::unique_ptr<Contender> &contender : contenders) {
        contender->seconds.clear();
    }
    for (int block = 0; block < blocks; block++) {
        copy_seconds.push_back(block_seconds(device, calls, [&] { copy.run(); }));
        for (std::unique_ptr<Contender> &contender : contenders) {
            contender->seconds.push_back(block_seconds(device, calls, [&] { contender->run(call.arguments()); }));
        }
    }
    return copy_seconds;
}

void sort_by_time(Contenders &contenders) {
    std::ranges::stable_sort(contenders, {}, [](const auto &contender) { return contender->time(); });
}

}  // namespace

json time_kernels(const CudaDevice &device, const json &kernels) {
    Contenders contenders;
    for (const json &kernel : kernels) {
        contenders.push_back(std::make_unique<Contender>(kernel));
    }
    const NormProblem problem = contenders.front()->problem();
    const TimedCall call(device, contenders.front()->kernel(), problem);
    const int64_t bytes = call.arguments().rows * row_bytes(problem);
    const Copy copy(device, bytes);
    for (const auto &contender : contenders) {
        contender->run(call.arguments());
    }
    run_blocks(device, call, copy, contenders, kFirstBlocks);
    sort_by_time(contenders);
    Contenders fastest;
    for (size_t index = 0; index < contenders.size() && index < kSurvivors; index++) {
        fastest.push_back(std::move(contenders[index]));
    }
    contenders.erase(contenders.begin(), contenders.begin() + static_cast<std::ptrdiff_t>(fastest.size()));
    const std::vector<double> copy_seconds = run_blocks(device, call, copy, fastest, kBlocks);
    sort_by_time(fastest);

    json result = {{"problem", to_text(problem)},
                   {"rows", call.arguments().rows},
                   {"bytes", bytes},
                   {"copy_seconds", median(copy_seconds)},
                   {"schedules", json::array()}};
    for (const Contenders *each : {&fastest, &contenders}) {
        for (const auto &contender : *each) {
            result["schedules"].push_back(contender->result(copy_seconds));
        }
    }
    return result;
}

}  // namespace normforge
