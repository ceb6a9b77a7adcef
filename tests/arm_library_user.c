/* Runs a kernel of the library norms on one thread and on two, and prints the target that it was compiled for.
 * arm_library_test has it compiled for ARM by the C compiler alone. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "norms.h"

enum { kRows = 64, kHidden = 1000 };

static float x[kRows][kHidden], y[kRows][kHidden], y_of_threads[kRows][kHidden];

static int fail(const char *what, nf_status status) {
    fprintf(stderr, "%s: %s\n", what, nf_status_message(status));
    return 1;
}

/* One task after the other, as threads whose SVE registers have 128 bits. */
static void run_with_short_registers(void *context, int64_t count, void (*task)(void *, int64_t), void *argument,
                                     int64_t task_bytes) {
    (void)context;
    (void)task_bytes;
    const int length = prctl(PR_SVE_GET_VL);
    prctl(PR_SVE_SET_VL, 16);
    for (int64_t i = 0; i < count; i++) {
        task(argument, i);
    }
    prctl(PR_SVE_SET_VL, length & PR_SVE_VL_LEN_MASK);
}

int main(void) {
    const nf_problem problem = {.op = NF_RMS_NORM, .dtype = NF_F32, .output = NF_F32, .hidden = kHidden};
    const nf_kernel *kernel;
    nf_description description;
    nf_status status = nf_find(norms_library(), &problem, &kernel);
    if (status == NF_SUCCESS) {
        status = nf_describe(kernel, kRows, &description);
    }
    if (status != NF_SUCCESS) {
        return fail("finding", status);
    }
    /* With values of 1 and -1 and this epsilon, the norm divides by exactly 2. */
    for (int row = 0; row < kRows; row++) {
        for (int i = 0; i < kHidden; i++) {
            x[row][i] = (row + i) % 2 ? -1.0f : 1.0f;
        }
    }
    nf_arguments arguments = {.rows = kRows,
                              .epsilon = 3,
                              .x = {.data = x, .row_stride = kHidden},
                              .y = {.data = y, .row_stride = kHidden}};
    if ((status = nf_run(kernel, &arguments)) != NF_SUCCESS) {
        return fail("running", status);
    }
    nf_pool *pool;
    arguments.y.data = y_of_threads;
    if ((status = nf_pool_create(2, &pool)) != NF_SUCCESS) {
        return fail("making a pool", status);
    }
    status = nf_run_on(kernel, &arguments, nf_pool_threads(pool));
    nf_pool_destroy(pool);
    if (status != NF_SUCCESS || memcmp(y, y_of_threads, sizeof y) != 0) {
        return fail("running on two threads", status);
    }
    const nf_threads short_threads = {.parallel_for = run_with_short_registers, .count = 2};
    const int is_longer = strstr(description.target, "vector_bits_256") != NULL;
    status = nf_run_on(kernel, &arguments, &short_threads);
    if (status != (is_longer ? NF_ERROR_CPU_LACKS_FEATURES : NF_SUCCESS)) {
        return fail("running on threads with shorter registers", status);
    }
    for (int row = 0; row < kRows; row++) {
        for (int i = 0; i < kHidden; i++) {
            if (y[row][i] != x[row][i] / 2) {
                fprintf(stderr, "row %d, value %d is %g\n", row, i, y[row][i]);
                return 1;
            }
        }
    }
    puts(description.target);
    return 0;
}
