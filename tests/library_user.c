/* A program that uses generated libraries: it runs all of their kernels. library_writer_test compiles it by the C
 * compiler alone, against the library norms, and with WITH_MORE against the library more as well. */
#include <stdio.h>
#include <stdlib.h>

#include "norms.h"
#ifdef WITH_MORE
#include "more.h"
#endif

/* With values of 1 and -1 in turn and this epsilon, each norm divides by exactly 2. A layer_norm's row must be
 * even, so that its mean is 0. */
static const float kEpsilon = 3;

static float x_value(int64_t index) {
    return index % 2 ? -1.0f : 1.0f;
}

static float *new_floats(int64_t count) {
    float *values = malloc((size_t)count * sizeof *values);
    if (!values) {
        exit(2);
    }
    return values;
}

/* The number of wrong values. */
static int run(const nf_kernel *kernel, const nf_problem *problem, int64_t rows) {
    const int64_t hidden = problem->hidden;
    float *x = new_floats(rows * hidden), *y = new_floats(rows * hidden);
    float *weight = new_floats(hidden), *bias = new_floats(hidden);
    for (int64_t i = 0; i < hidden; i++) {
        weight[i] = (float)(i + 1);
        bias[i] = problem->bias == NF_NONE ? 0 : (float)-i;
    }
    for (int64_t i = 0; i < rows * hidden; i++) {
        x[i] = x_value(i);
    }
    const nf_arguments arguments = {.rows = rows,
                                    .epsilon = kEpsilon,
                                    .x = {.data = x, .row_stride = hidden},
                                    .weight = weight,
                                    .bias = bias,
                                    .y = {.data = y, .row_stride = hidden}};
    const nf_status status = nf_run(kernel, &arguments);
    int wrong = status != NF_SUCCESS;
    for (int64_t i = 0; status == NF_SUCCESS && i < rows * hidden; i++) {
        const float error = y[i] - (x[i] / 2 * weight[i % hidden] + bias[i % hidden]);
        wrong += !(error < 1e-3f && error > -1e-3f);
    }
    if (wrong) {
        fprintf(stderr, "%d wrong values in %d rows of %d: %s\n", wrong, (int)rows, (int)hidden,
                nf_status_message(status));
    }
    free(x);
    free(y);
    free(weight);
    free(bias);
    return wrong;
}

static int run_all(const nf_library *library) {
    int wrong = nf_kernel_count(library) < 1;
    for (int64_t index = 0; index < nf_kernel_count(library); index++) {
        nf_description description;
        const nf_kernel *kernel;
        wrong += nf_describe(nf_kernel_at(library, index), 1, &description) != NF_SUCCESS ||
                 nf_find(library, &description.problem, &kernel) != NF_SUCCESS;
        if (!wrong) {
            wrong += run(kernel, &description.problem, 1) + run(kernel, &description.problem, 9);
        }
    }
    return wrong;
}

int main(void) {
    int wrong = run_all(norms_library());
#ifdef WITH_MORE
    wrong += run_all(more_library());
#endif
    return wrong != 0;
}
