#include "bench/gpu/kernel_bundle.h"

#include "schedules/gpu_knobs.h"

namespace normforge {

BundledKernel::BundledKernel(const nlohmann::json &kernel)
    : knobs_(kernel.at("knobs").get<std::string>()), source_(kernel.at("source").get<std::string>()) {
    for (const nlohmann::json &code : kernel.at("codes")) {
        codes_.push_back(read_code(code));
    }
    for (const nlohmann::json &code : kernel.at("sums")) {
        sums_.push_back(read_code(code));
    }
    entry_ = {parse_problem(kernel.at("problem").get<std::string>()),
              kCudaTarget,
              knobs_.c_str(),
              source_.c_str(),
              std::ssize(codes_),
              codes_.data(),
              sums_.empty() ? nullptr : sums_.data()};
    library_.cuda_count = 1;
    library_.cuda_entries = &entry_;
}

nf_cuda_code BundledKernel::read_code(const nlohmann::json &code) {
    const std::string &image = texts_.emplace_back(code.at("image").get<std::string>());
    const std::string &symbol = texts_.emplace_back(code.at("symbol").get<std::string>());
    std::vector<nf_cuda_parameter> &parameters = parameters_.emplace_back();
    for (const nlohmann::json &parameter : code.at("parameters")) {
        parameters.push_back(
            {static_cast<nf_cuda_source>(parameter.at(0).get<int64_t>()), parameter.at(1).get<int64_t>()});
    }
    const auto number = [&](const char *name) { return code.at(name).get<int64_t>(); };
    return {.image = image.c_str(),
            .symbol = symbol.c_str(),
            .parameter_count = std::ssize(parameters),
            .parameters = parameters.data(),
            .alignment = number("alignment"),
            .rows_of_block = number("rows_of_block"),
            .threads_x = number("threads_x"),
            .threads_y = number("threads_y"),
            .shared_bytes = number("shared_bytes"),
            .cubin_count = 0,
            .cubins = nullptr};
}

}  // namespace normforge
