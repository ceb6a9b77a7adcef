/* Normalises the query and the key heads of a few tokens, in place in the array that one matrix product has left:
 * for each token its queries, then its keys, then its values.
 *
 *     normforge build --op rms_norm --dtype bf16 --normalised bf16 --hidden 128 --name qk --out .
 *     cc qk_norm.c libqk.a
 */
#include <stdint.h>
#include <stdio.h>

#include "qk.h"

enum { kTokens = 3, kQueryHeads = 8, kKeyHeads = 2, kHeadSize = 128 };
enum { kTokenSize = (kQueryHeads + 2 * kKeyHeads) * kHeadSize }; /* as many value heads as key heads */

/* Numbers in bf16, the upper half of an f32. */
enum { kHalf = 0x3f00, kOne = 0x3f80, kTwo = 0x4000, kMinus = 0x8000 };

static uint16_t qkv[kTokens * kTokenSize], query_weight[kHeadSize], key_weight[kHeadSize];

/* Rows are a token's heads, groups the tokens. y lies exactly where x lies. */
static nf_status normalise_heads(const nf_kernel *kernel, uint16_t *heads, int64_t count, const uint16_t *weight) {
    const nf_arguments arguments = {
        .rows = count,
        .groups = kTokens,
        .epsilon = 1e-6f,
        .x = {.data = heads, .row_stride = kHeadSize, .group_stride = kTokenSize},
        .weight = weight,
        .y = {.data = heads, .row_stride = kHeadSize, .group_stride = kTokenSize},
    };
    return nf_run(kernel, &arguments);
}

static nf_status normalise(void) {
    const nf_problem problem = {.op = NF_RMS_NORM,
                                .dtype = NF_BF16,
                                .output = NF_BF16,
                                .weight = NF_BF16,
                                .normalised = NF_BF16,
                                .hidden = kHeadSize};
    const nf_kernel *kernel;
    nf_status status = nf_find(qk_library(), &problem, &kernel);
    if (status == NF_SUCCESS) {
        status = normalise_heads(kernel, qkv, kQueryHeads, query_weight);
    }
    if (status == NF_SUCCESS) {
        status = normalise_heads(kernel, qkv + kQueryHeads * kHeadSize, kKeyHeads, key_weight);
    }
    return status;
}

/* 1 and -1 in turn are their own norm, but for the weight. */
static int expected(int place) {
    const int head = place % kTokenSize / kHeadSize;
    const int magnitude = head < kQueryHeads ? kTwo : head < kQueryHeads + kKeyHeads ? kHalf : kOne;
    return place % 2 ? kMinus | magnitude : magnitude;
}

int main(void) {
    for (int i = 0; i < kHeadSize; i++) {
        query_weight[i] = kTwo;
        key_weight[i] = kHalf;
    }
    for (int i = 0; i < kTokens * kTokenSize; i++) {
        qkv[i] = i % 2 ? kMinus | kOne : kOne;
    }
    const nf_status status = normalise();
    if (status != NF_SUCCESS) {
        fprintf(stderr, "%s\n", nf_status_message(status));
        return 1;
    }
    int wrong = 0;
    for (int i = 0; i < kTokens * kTokenSize; i++) {
        wrong += qkv[i] != expected(i);
    }
    printf("%d values, %d wrong\n", kTokens * kTokenSize, wrong);
    return wrong != 0;
}
