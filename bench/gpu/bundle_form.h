#pragma once

#include "generators/table_object.h"
#include "nlohmann/json.hpp"
#include "schedules/gpu_knobs.h"

namespace normforge {

// A kernel as BundledKernel reads it.
nlohmann::json bundle_form(const TableCudaEntry &entry);

// A schedule to be timed. Operands then are aligned, so the code for vectors is enough.
nlohmann::json timed_form(const NormProblem &problem, const GpuKnobs &knobs, const std::string &source);

}  // namespace normforge
