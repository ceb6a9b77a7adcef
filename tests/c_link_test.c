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
    const nf_problem problem = {NF_LAYER_NORM, NF_F32, NF_F32, NF_F32, 384};
    const nf_arguments arguments = {0};
    const nf_kernel *kernel = NULL;
    nf_description description;

    EXPECT(strchr(nf_version(), '.') != NULL);
    EXPECT(strcmp(nf_status_message(NF_SUCCESS), nf_status_message(NF_ERROR_OVERLAP)) != 0);
    EXPECT(nf_kernel_count(NULL) == 0);
    EXPECT(nf_kernel_at(NULL, 0) == NULL);
    EXPECT(nf_find(NULL, &problem, &kernel) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_describe(kernel, 1, &description) == NF_ERROR_NULL_ARGUMENT);
    EXPECT(nf_run(kernel, &arguments) == NF_ERROR_NULL_ARGUMENT);
    return failures != 0;
}
