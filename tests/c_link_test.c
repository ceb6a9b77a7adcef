/* A C program that links the runtime by the C compiler alone: this would not link if an object of the runtime
 * needed the C++ library, and would not compile if normforge.h were not C. It calls every function, so the
 * linker takes every object. */
#include <stdio.h>
#include <string.h>

#include "runtime/normforge.h"

static int failures = 0;

static void expect(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "c_link_test: not so: %s\n", what);
        failures++;
    }
}

#define EXPECT(condition) expect(condition, #condition)

int main(void) {
    const nf_problem problem = {
        .op = NF_LAYER_NORM, .dtype = NF_F32, .output = NF_F32, .weight = NF_F32, .bias = NF_F32, .hidden = 384};
    const nf_arguments arguments = {0};
    const int64_t shape[] = {2, 3, 384};
    const int64_t strides[] = {3 * 384, 384, 1};
    const int64_t *const of_tensors[] = {strides};
    const nf_kernel *kernel = NULL;
    nf_description description;
    nf_pool *pool = NULL;
    nf_cuda *cuda = NULL;
    const nf_cuda_kernel *cuda_kernel = NULL;
    nf_folded_axes folded;
    nf_folded_strides folded_strides;

    EXPECT(strchr(nf_version(), '.') != NULL);
    EXPECT(strcmp(nf_status_message(NF_SUCCESS), nf_status_message(NF_ERROR_OVERLAP)) != 0);
    EXPECT(nf_kernel_count(NULL) == 0);
    EXPECT(nf_kernel_at(NULL, 0) == NULL);
    EXPECT(nf_find(NULL, &problem, &kernel) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_describe(kernel, 1, &description) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_run(kernel, &arguments) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_operand_at_fault(kernel, &arguments) == NULL);
    EXPECT(nf_workspace_bytes(kernel, 1, 1) == 0);
    EXPECT(nf_workspace_bytes_on(kernel, 1, 1, 2) == 0);
    EXPECT(nf_pool_create(2, &pool) == NF_SUCCESS);
    EXPECT(nf_pool_threads(pool)->count == 2);
    EXPECT(nf_run_on(kernel, &arguments, nf_pool_threads(pool)) == NF_ERROR_NULL_ARGUMENT);
    nf_pool_destroy(pool);
    EXPECT(nf_fold_axes(3, shape, 1, 1, of_tensors, &folded, &folded_strides) == NF_SUCCESS);
    EXPECT(folded.hidden == 384 && folded.rows == 6 && folded.groups == 1);
    EXPECT(folded_strides.row_stride == 384);
    EXPECT(nf_cuda_load(NULL, &cuda) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_cuda_find(cuda, &problem, &cuda_kernel) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_cuda_run(cuda_kernel, &arguments, NULL) == NF_ERROR_NULL_ARGUMENT);
    nf_cuda_unload(cuda);
    return failures != 0;
}
