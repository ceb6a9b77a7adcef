/* One layer of a residual stream in training: the forward pass stores the sum and each row's statistics, the
 * backward pass makes the gradients of x, of the stream, of weight and of bias from them.
 *
 *     normforge build --op layer_norm --pass forward,backward --residual f32 --sum f32 \
 *         --saved-statistics yes --hidden 384 --name training --out .
 *     cc training.c libtraining.a
 */
#include <stdio.h>
#include <stdlib.h>

#include "training.h"

enum { kRows = 100, kHidden = 384 };

static float x[kRows][kHidden], residual[kRows][kHidden], weight[kHidden], bias[kHidden];
static float y[kRows][kHidden], sum[kRows][kHidden], mean[kRows], rstd[kRows];
static float dy[kRows][kHidden], dsum[kRows][kHidden];
static float dx[kRows][kHidden], dresidual[kRows][kHidden], dweight[kHidden], dbias[kHidden];

/* The two passes are the same problem but for the field pass. */
static nf_status find(nf_pass pass, const nf_kernel **kernel) {
    const nf_problem problem = {.op = NF_LAYER_NORM,
                                .pass = pass,
                                .dtype = NF_F32,
                                .output = NF_F32,
                                .weight = NF_F32,
                                .bias = NF_F32,
                                .residual = NF_F32,
                                .sum = NF_F32,
                                .saved_statistics = NF_YES,
                                .hidden = kHidden};
    return nf_find(training_library(), &problem, kernel);
}

static nf_status forward(void) {
    const nf_kernel *kernel;
    const nf_status status = find(NF_FORWARD, &kernel);
    const nf_arguments arguments = {.rows = kRows,
                                    .epsilon = 1e-5f,
                                    .x = {.data = x, .row_stride = kHidden},
                                    .residual = {.data = residual, .row_stride = kHidden},
                                    .weight = weight,
                                    .bias = bias,
                                    .y = {.data = y, .row_stride = kHidden},
                                    .sum = {.data = sum, .row_stride = kHidden},
                                    .mean = mean,
                                    .rstd = rstd};
    return status == NF_SUCCESS ? nf_run(kernel, &arguments) : status;
}

/* Reads the stored sum, so neither x nor residual is needed any more. dsum is what comes down the stream from the
 * layers above. */
static nf_status backward(void) {
    const nf_kernel *kernel;
    nf_status status = find(NF_BACKWARD, &kernel);
    if (status != NF_SUCCESS) {
        return status;
    }
    void *workspace = malloc((size_t)nf_workspace_bytes(kernel, kRows, 1));
    const nf_arguments arguments = {.rows = kRows,
                                    .sum = {.data = sum, .row_stride = kHidden},
                                    .weight = weight,
                                    .mean = mean,
                                    .rstd = rstd,
                                    .dy = {.data = dy, .row_stride = kHidden},
                                    .dsum = {.data = dsum, .row_stride = kHidden},
                                    .dx = {.data = dx, .row_stride = kHidden},
                                    .dresidual = {.data = dresidual, .row_stride = kHidden},
                                    .dweight = dweight,
                                    .dbias = dbias,
                                    .workspace = workspace};
    status = nf_run(kernel, &arguments);
    free(workspace);
    return status;
}

static void fill(void) {
    for (int i = 0; i < kHidden; i++) {
        weight[i] = 1.0f + (float)(i % 5);
        bias[i] = (float)i;
        for (int row = 0; row < kRows; row++) {
            x[row][i] = (float)((i * 7 + row) % 11);
            residual[row][i] = (float)(i % 13) * 0.5f;
            dy[row][i] = (float)((i + row) % 3 - 1);
            dsum[row][i] = 0.25f;
        }
    }
}

/* The bias's gradient is the sum of dy. A norm does not see what is added to all values of a row, so its gradient
 * adds up to zero there, and dsum is what is left. Each of the values is right to about 1e-6. */
static int count_mistakes(void) {
    int mistakes = 0;
    for (int i = 0; i < kHidden; i++) {
        float total = 0;
        for (int row = 0; row < kRows; row++) {
            total += dy[row][i];
            mistakes += dx[row][i] != dresidual[row][i];
        }
        mistakes += dbias[i] != total;
    }
    for (int row = 0; row < kRows; row++) {
        double rest = 0;
        for (int i = 0; i < kHidden; i++) {
            rest += dx[row][i] - dsum[row][i];
        }
        mistakes += !(rest < 1e-6 * kHidden && rest > -1e-6 * kHidden);
    }
    return mistakes;
}

int main(void) {
    fill();
    nf_status status = forward();
    if (status == NF_SUCCESS) {
        status = backward();
    }
    if (status != NF_SUCCESS) {
        fprintf(stderr, "%s\n", nf_status_message(status));
        return 1;
    }
    const int mistakes = count_mistakes();
    printf("dx[0][0] %g, dweight[0] %g, dbias[0] %g, %d mistakes\n", dx[0][0], dweight[0], dbias[0], mistakes);
    return mistakes != 0;
}
