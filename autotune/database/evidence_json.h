#pragma once

#include <string>

#include "autotune/database/evidence.h"

namespace normforge {

// What the text's "format" is.
inline constexpr const char *kEvidenceFormat = "normforge tuning database";

// Evidence as a JSON text, in an order that depends on nothing but the evidence, a trial a line. Numbers come back
// as they were; an infinite one is "inf" or "-inf", none is null, and a text that is no UTF-8 is {"hex": "..."}.
std::string to_json(const Evidence &evidence);

// The inverse: to_json(from_json(text)) is the text where it is to_json's. One of an older schema goes through the
// same migrations as a file. Throws UserError that names the text so, the place and what is wrong.
Evidence from_json(const std::string &text, const std::string &name);

}  // namespace normforge
