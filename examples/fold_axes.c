/* Normalises tensors of more than two axes: a batch of sequences that are padded to a common length, of which the
 * output holds only the part in use. nf_fold_axes finds the rows, the groups and the strides.
 *
 *     normforge build --op layer_norm,rms_norm --hidden 384 --name norms --out .
 *     cc fold_axes.c libnorms.a
 */
#include <math.h>
#include <stdio.h>

#include "norms.h"

enum { kBatch = 4, kPadded = 20, kUsed = 16, kHidden = 384 };

static float x[kBatch][kPadded][kHidden], y[kBatch][kUsed][kHidden], weight[kHidden], bias[kHidden];

static nf_status normalise(void) {
    const int64_t shape[] = {kBatch, kUsed, kHidden};
    const int64_t x_strides[] = {kPadded * kHidden, kHidden, 1}; /* in values */
    const int64_t y_strides[] = {kUsed * kHidden, kHidden, 1};
    const int64_t *const strides[] = {x_strides, y_strides};
    nf_folded_axes folded;
    nf_folded_strides tensors[2];
    nf_status status = nf_fold_axes(3, shape, 1, 2, strides, &folded, tensors);
    if (status != NF_SUCCESS) {
        return status;
    }
    printf("%d groups of %d rows of %d values\n", (int)folded.groups, (int)folded.rows, (int)folded.hidden);

    const nf_problem problem = {.op = NF_LAYER_NORM,
                                .dtype = NF_F32,
                                .output = NF_F32,
                                .weight = NF_F32,
                                .bias = NF_F32,
                                .hidden = folded.hidden};
    const nf_kernel *kernel;
    status = nf_find(norms_library(), &problem, &kernel);
    const nf_arguments arguments = {
        .rows = folded.rows,
        .groups = folded.groups,
        .epsilon = 1e-5f,
        .x = {x, tensors[0].row_stride, tensors[0].group_stride},
        .weight = weight,
        .bias = bias,
        .y = {y, tensors[1].row_stride, tensors[1].group_stride},
    };
    return status == NF_SUCCESS ? nf_run(kernel, &arguments) : status;
}

/* Rows of equal values give the bias; the padding would give no number. */
int main(void) {
    for (int i = 0; i < kHidden; i++) {
        weight[i] = 2;
        bias[i] = (float)i;
        for (int row = 0; row < kBatch * kPadded; row++) {
            x[row / kPadded][row % kPadded][i] = row % kPadded < kUsed ? (float)row : NAN;
        }
    }
    const nf_status status = normalise();
    if (status != NF_SUCCESS) {
        fprintf(stderr, "%s\n", nf_status_message(status));
        return 1;
    }
    int wrong = 0;
    for (int i = 0; i < kBatch * kUsed * kHidden; i++) {
        wrong += (&y[0][0][0])[i] != bias[i % kHidden];
    }
    printf("%d wrong values\n", wrong);
    return wrong != 0;
}
