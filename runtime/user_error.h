#pragma once

#include <stdexcept>

namespace normforge {

// A mistake in what a user gave: the message says what was wrong and what is allowed.
// For the tools only; the C API returns an nf_status instead.
class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace normforge
