#include "generators/function_features.h"

#include <string>

namespace normforge {

void add_feature(llvm::Function &function, const char *feature) {
    constexpr const char *kFeatures = "target-features";
    const std::string features = function.getFnAttribute(kFeatures).getValueAsString().str();
    if (features.find(feature) == std::string::npos) {
        function.addFnAttr(kFeatures, (features.empty() ? "" : features + ",") + feature);
    }
}

}  // namespace normforge
