#include "examples/real_layers.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace normforge {

namespace {

const NpzArray &array_of_shape(const Npz &archive, const std::string &key, const std::vector<int64_t> &shape) {
    const NpzArray &array = archive.at(key);
    if (array.shape != shape) {
        throw std::runtime_error("array " + key + " does not have the shape that its layer's x asks for");
    }
    return array;
}

AlignedFloats tile(const NpzArray &array, int64_t rows, int64_t hidden) {
    const int64_t model_hidden = array.shape.back();
    const int64_t model_rows = static_cast<int64_t>(array.values.size()) / model_hidden;
    AlignedFloats tiled(static_cast<size_t>(rows * hidden));
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < hidden; ++i) {
            const int64_t model_row = (row + i / model_hidden) % model_rows;
            tiled[row * hidden + i] =
                static_cast<float>(array.values[model_row * model_hidden + i % model_hidden]);
        }
    }
    return tiled;
}

}  // namespace

nf_arguments RealLayer::arguments(int64_t rows, float *y) const {
    nf_arguments arguments{};
    arguments.rows = rows;
    arguments.epsilon = epsilon;
    arguments.x = {x.data(), hidden, 0};
    arguments.weight = weight.data();
    arguments.bias = bias.empty() ? nullptr : bias.data();
    arguments.y = {y, hidden, 0};
    return arguments;
}

std::vector<RealLayer> load_real_layers(const Npz &archive, const std::string &model, int64_t rows,
                                        int64_t hidden) {
    std::vector<RealLayer> layers;
    for (const auto &[key, x] : archive.arrays()) {
        if (!key.starts_with(model + "/") || !key.ends_with("/x")) {
            continue;
        }
        if (x.shape.size() != 2 || x.values.empty()) {
            throw std::runtime_error("array " + key + " does not hold rows");
        }
        const std::string prefix = key.substr(0, key.size() - 1);
        RealLayer layer;
        layer.hidden = hidden;
        layer.model_hidden = x.shape.back();
        layer.model_rows = std::min(rows, x.shape.front());
        layer.epsilon = static_cast<float>(array_of_shape(archive, prefix + "eps", {}).values.front());
        layer.x = tile(x, rows, hidden);
        layer.weight = tile(array_of_shape(archive, prefix + "weight", {layer.model_hidden}), 1, hidden);
        if (archive.arrays().contains(prefix + "bias")) {
            layer.bias = tile(array_of_shape(archive, prefix + "bias", {layer.model_hidden}), 1, hidden);
        }
        layers.push_back(std::move(layer));
    }
    if (layers.empty()) {
        throw std::runtime_error("the archive has no layer of " + model);
    }
    return layers;
}

}  // namespace normforge
