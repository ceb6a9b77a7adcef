// Where the norms of a transformer block go, before its two parts (GPT-2, Llama) and after them (BERT), and what a
// kernel with a residual saves: x + residual is added, stored and normalised in one walk over the rows.
//
//     normforge build --op layer_norm,rms_norm --hidden 384 --name norms --out .
//     normforge build --op layer_norm --residual f32 --sum none,f32 --hidden 384 --name residual_norms --out .
//     c++ -std=c++20 transformer_block.cpp libnorms.a libresidual_norms.a
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

#include "norms.h"
#include "residual_norms.h"

namespace {

constexpr int64_t kTokens = 16, kHidden = 384;
constexpr float kEpsilon = 1e-5f;

using Rows = std::vector<float>;  // kTokens rows of kHidden values

struct Affine {
    Rows weight, bias;  // one row each
};

// y = norm(x + residual). Either may be null: residual where there is none, sum where it is not wanted.
using Norm = std::function<void(const Affine &, const Rows &x, const Rows *residual, Rows &y, Rows *sum)>;

void require(nf_status status) {
    if (status != NF_SUCCESS) {
        throw std::runtime_error(nf_status_message(status));
    }
}

const nf_kernel *find(const nf_library *library, nf_dtype residual, nf_dtype sum) {
    nf_problem problem{};
    problem.op = NF_LAYER_NORM;
    problem.dtype = problem.output = problem.weight = problem.bias = NF_F32;
    problem.residual = residual;
    problem.sum = sum;
    problem.hidden = kHidden;
    const nf_kernel *kernel = nullptr;
    require(nf_find(library, &problem, &kernel));
    return kernel;
}

// Finding a kernel once and keeping it is all the state there is.
Norm kernels() {
    const nf_kernel *plain = find(norms_library(), NF_NONE, NF_NONE);
    const nf_kernel *added = find(residual_norms_library(), NF_F32, NF_NONE);
    const nf_kernel *stored = find(residual_norms_library(), NF_F32, NF_F32);
    return [=](const Affine &affine, const Rows &x, const Rows *residual, Rows &y, Rows *sum) {
        nf_arguments arguments{};
        arguments.rows = kTokens;
        arguments.epsilon = kEpsilon;
        arguments.x = {x.data(), kHidden, 0};
        arguments.weight = affine.weight.data();
        arguments.bias = affine.bias.data();
        arguments.y = {y.data(), kHidden, 0};
        if (residual) {
            arguments.residual = {residual->data(), kHidden, 0};
        }
        if (sum) {
            arguments.sum = {sum->data(), kHidden, 0};
        }
        require(nf_run(!residual ? plain : sum ? stored : added, &arguments));
    };
}

void norm_in_f64(const Affine &affine, const Rows &x, const Rows *residual, Rows &y, Rows *sum) {
    for (int64_t row = 0; row < kTokens; row++) {
        const auto at = [&](int64_t i) { return row * kHidden + i; };
        std::vector<double> h(kHidden);
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < kHidden; i++) {
            h[i] = residual ? x[at(i)] + (*residual)[at(i)] : x[at(i)];
            mean += h[i] / kHidden;
        }
        for (double value : h) {
            variance += (value - mean) * (value - mean) / kHidden;
        }
        for (int64_t i = 0; i < kHidden; i++) {
            y[at(i)] = static_cast<float>((h[i] - mean) / std::sqrt(variance + kEpsilon) * affine.weight[i] +
                                          affine.bias[i]);
            if (sum) {
                (*sum)[at(i)] = static_cast<float>(h[i]);
            }
        }
    }
}

// Stand-ins for the block's two parts, which take x's rows and give as many.
Rows attention(const Rows &x) {
    Rows result(x.size());
    for (int64_t i = 0; i < kHidden; i++) {
        float total = 0;
        for (int64_t token = 0; token < kTokens; token++) {
            total += x[token * kHidden + i];
            result[token * kHidden + i] = total / static_cast<float>(token + 1);  // of the tokens so far
        }
    }
    return result;
}

Rows feed_forward(const Rows &x) {
    Rows result(x.size());
    for (size_t at = 0; at < x.size(); at++) {
        result[at] = std::max(x[at], 0.0f) * 0.5f;
    }
    return result;
}

// The stream of residuals goes on, not normalised. What a part gives is added to it by the norm before the next
// part, and the last part's by the next block's first norm: with n blocks, 2 n - 1 of the 2 n norms add as well.
Rows blocks_with_norms_before(const Norm &norm, const Affine &first, const Affine &second, Rows stream,
                              int blocks) {
    Rows y(stream.size()), part;
    for (int block = 0; block < blocks; block++) {
        // In place: the sum replaces the stream that it was made of.
        norm(first, stream, block > 0 ? &part : nullptr, y, block > 0 ? &stream : nullptr);
        part = attention(y);
        norm(second, stream, &part, y, &stream);
        part = feed_forward(y);
    }
    std::ranges::transform(stream, part, stream.begin(), std::plus());
    return stream;
}

// The stream itself is normalised, so no sum is stored.
Rows blocks_with_norms_after(const Norm &norm, const Affine &first, const Affine &second, Rows stream,
                             int blocks) {
    for (int block = 0; block < blocks; block++) {
        norm(first, attention(stream), &stream, stream, nullptr);
        norm(second, feed_forward(stream), &stream, stream, nullptr);
    }
    return stream;
}

Rows pattern(int64_t rows, int period, float scale, float start) {
    Rows values(rows * kHidden);
    for (size_t at = 0; at < values.size(); at++) {
        values[at] = start + scale * static_cast<float>(at * 7 % period);
    }
    return values;
}

float largest_difference(const Rows &a, const Rows &b) {
    float largest = 0;
    for (size_t at = 0; at < a.size(); at++) {
        largest = std::max(largest, std::abs(a[at] - b[at]));
    }
    return largest;
}

}  // namespace

int main() try {
    constexpr int kBlocks = 4;
    const Rows x = pattern(kTokens, 101, 0.02f, -1);
    const Affine first{pattern(1, 13, 0.1f, 0.5f), pattern(1, 17, 0.01f, 0)};
    const Affine second{pattern(1, 11, 0.1f, 0.5f), pattern(1, 19, 0.01f, 0)};
    const float before = largest_difference(blocks_with_norms_before(kernels(), first, second, x, kBlocks),
                                            blocks_with_norms_before(norm_in_f64, first, second, x, kBlocks));
    const float after = largest_difference(blocks_with_norms_after(kernels(), first, second, x, kBlocks),
                                           blocks_with_norms_after(norm_in_f64, first, second, x, kBlocks));
    std::printf("%d blocks, largest difference from norms in f64: %g with norms before, %g after\n", kBlocks,
                static_cast<double>(before), static_cast<double>(after));
    // Values are about 1, and each norm may be wrong in the last place of an f32, which the next ones carry on.
    return before < 1e-4f && after < 1e-4f ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
