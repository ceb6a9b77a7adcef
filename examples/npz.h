#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace normforge {

struct NpzArray {
    std::vector<int64_t> shape;  // empty for a single number
    std::vector<double> values;  // in C order; f64 holds every f32 exactly

    std::vector<float> f32() const { return std::vector<float>(values.begin(), values.end()); }
};

// The arrays of a .npz file, as numpy.savez writes them: uncompressed, little-endian f32 or f64, C order.
class Npz {
public:
    // Throws std::runtime_error naming the file and what was wrong with it: missing, not a zip archive,
    // truncated, a compressed array, a type or layout other than the above.
    explicit Npz(const std::filesystem::path &file);

    // Throws std::runtime_error naming the file and the key if there is no such array.
    const NpzArray &at(const std::string &key) const;

    const std::map<std::string, NpzArray> &arrays() const { return arrays_; }

private:
    std::string file_;
    std::map<std::string, NpzArray> arrays_;
};

}  // namespace normforge
