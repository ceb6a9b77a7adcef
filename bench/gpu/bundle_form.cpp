#include "bench/gpu/bundle_form.h"

#include "generators/cuda_codes.h"

namespace normforge {

using nlohmann::json;

namespace {

json code_form(const TableCudaCode &code) {
    json parameters = json::array();
    for (const nf_cuda_parameter &parameter : code.parameters) {
        parameters.push_back({static_cast<int64_t>(parameter.source), parameter.operand});
    }
    return {{"image", code.image},
            {"symbol", code.symbol},
            {"parameters", parameters},
            {"alignment", code.alignment},
            {"threads_x", code.threads_x},
            {"threads_y", code.threads_y},
            {"shared_bytes", code.shared_bytes},
            {"rows_of_block", code.rows_of_block}};
}

}  // namespace

json bundle_form(const TableCudaEntry &entry) {
    json codes = json::array();
    for (const TableCudaCode &code : entry.codes) {
        codes.push_back(code_form(code));
    }
    json sums = json::array();
    for (const TableCudaCode &code : entry.sums) {
        sums.push_back(code_form(code));
    }
    return {{"problem", to_text(entry.problem)},
            {"knobs", entry.knobs},
            {"source", entry.source},
            {"codes", codes},
            {"sums", sums}};
}

json timed_form(const NormProblem &problem, const GpuKnobs &knobs, const std::string &source) {
    return bundle_form({problem,
                        kCudaTarget,
                        to_text(knobs),
                        source,
                        {cuda_code({problem, knobs, GpuAlignment::vector})},
                        cuda_sums(problem)});
}

}  // namespace normforge
