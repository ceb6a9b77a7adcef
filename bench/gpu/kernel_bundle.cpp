#include "bench/gpu/kernel_bundle.h"

#include "schedules/gpu_knobs.h"

namespace normforge {

BundledKernel::BundledKernel(const nlohmann::json &kernel)
    : knobs_(kernel.at("knobs").get<std::string>()), source_(kernel.at("source").get<std::string>()) {
    for (const nlohmann::json &code : kernel.at("codes")) {
        const std::string &image = texts_.emplace_back(code.at("image").get<std::string>());
        const std::string &symbol = texts_.emplace_back(code.at("symbol").get<std::string>());
        std::vector<nf_cuda_parameter> &parameters = parameters_.emplace_back();
        for (const nlohmann::json &parameter : code.at("parameters")) {
            parameters.push_back(
                {static_cast<nf_cuda_source>(parameter.at(0).get<int64_t>()), parameter.at(1).get<int64_t>()});
        }
        codes_.push_back({image.c_str(), symbol.c_str(), std::ssize(parameters), parameters.data(),
                          code.at("alignment").get<int64_t>(), code.at("rows_of_block").get<int64_t>(),
                          code.at("threads_x").get<int64_t>(), code.at("threads_y").get<int64_t>(),
                          code.at("shared_bytes").get<int64_t>()});
    }
    entry_ = {parse_problem(kernel.at("problem").get<std::string>()),
              kCudaTarget,
              knobs_.c_str(),
              source_.c_str(),
              std::ssize(codes_),
              codes_.data()};
    library_.cuda_count = 1;
    library_.cuda_entries = &entry_;
}

}  // namespace normforge
