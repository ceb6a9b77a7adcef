/* One row, by one kernel.
 *
 *     normforge build --op layer_norm,rms_norm --hidden 384 --name norms --out .
 *     cc minimal.c libnorms.a
 */
#include <stdio.h>

#include "norms.h"

int main(void) {
    static float x[384], y[384], weight[384], bias[384];
    for (int i = 0; i < 384; ++i) {
        x[i] = (float)i;
        weight[i] = 1;
    }
    const nf_problem problem = {
        .op = NF_LAYER_NORM, .dtype = NF_F32, .output = NF_F32, .weight = NF_F32, .bias = NF_F32, .hidden = 384};
    const nf_arguments arguments = {.rows = 1,
                                    .epsilon = 1e-5f,
                                    .x = {.data = x, .row_stride = 384},
                                    .weight = weight,
                                    .bias = bias,
                                    .y = {.data = y, .row_stride = 384}};
    const nf_kernel *kernel;
    nf_status status = nf_find(norms_library(), &problem, &kernel);
    if (status == NF_SUCCESS) {
        status = nf_run(kernel, &arguments);
    }
    if (status != NF_SUCCESS) {
        fprintf(stderr, "%s\n", nf_status_message(status));
        return 1;
    }
    for (int i = 0; i < 384; ++i) {
        printf("%g\n", y[i]);
    }
    return 0;
}
