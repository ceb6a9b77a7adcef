#include "autotune/search/generator_version.h"

#include SOURCE_HASHES  // which the build writes

namespace normforge {

GeneratorVersion current_generator() {
    return {kAlgorithmHash, kSpaceHash};
}

}  // namespace normforge
