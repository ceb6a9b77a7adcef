#pragma once

#include "generators/table_object.h"
#include "nlohmann/json.hpp"

namespace normforge {

// A kernel as BundledKernel reads it.
nlohmann::json bundle_form(const TableCudaEntry &entry);

}  // namespace normforge
