#pragma once

#include <span>
#include <string>
#include <string_view>

namespace normforge {

// The name that was probably meant by another: the one that the fewest letters must be added, removed, changed or
// swapped with their neighbour for, the first of several. Empty where that is more than a third of them.
std::string nearest_name(std::string_view text, std::span<const std::string> names);

// " (did you mean 'hidden'?)", or nothing.
std::string suggestion(std::string_view text, std::span<const std::string> names);

}  // namespace normforge
