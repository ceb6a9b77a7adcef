/* normforge C API: find a generated LayerNorm or RMSNorm kernel and run it on raw pointers.
 *
 * layer_norm (Ba, Kiros, Hinton 2016, arXiv:1607.06450):
 *     y = (x - mean(x)) / sqrt(var(x) + epsilon) * weight + bias, var the population variance
 * rms_norm (Zhang, Sennrich 2019, arXiv:1910.07467):
 *     y = x / sqrt(mean(x^2) + epsilon) * weight + bias
 * each over the last axis of rows x hidden values.
 *
 * No call throws, aborts, allocates, locks or keeps state, so all of them may run on any thread. */
#ifndef NORMFORGE_H
#define NORMFORGE_H

#include <stdint.h>

/* Seen from outside a shared library, whatever the flags it is built with. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A C program can store any number in an enum. With this C++ may as well, so the runtime can answer a wrong one
 * by an error. */
#ifdef __cplusplus
#define NF_ANY_NUMBER : int
#else
#define NF_ANY_NUMBER
#endif

typedef enum nf_op NF_ANY_NUMBER { NF_LAYER_NORM = 1, NF_RMS_NORM = 2 } nf_op;

/* NF_NONE marks an absent operand: no weight is a weight of ones, no bias a bias of zeros. */
typedef enum nf_dtype NF_ANY_NUMBER { NF_NONE = 0, NF_F32 = 1 } nf_dtype;

/* What a kernel computes. A kernel serves exactly one problem, any number of rows. */
typedef struct nf_problem {
    nf_op op;
    nf_dtype dtype;  /* of x and y */
    nf_dtype weight; /* NF_NONE or the type of the weight */
    nf_dtype bias;   /* NF_NONE or the type of the bias */
    int64_t hidden;  /* values in a row, 1 to NF_MAX_HIDDEN */
} nf_problem;

#define NF_MAX_HIDDEN INT64_C(33554432)

/* What one call works on. Strides are in elements, from one row to the next; values of a row are contiguous.
 * y may be exactly x (same pointer, same stride; of one row the pointer alone). Any other overlap of y with x,
 * weight or bias is refused. Rows of one buffer may interleave if x and y have equal strides; with different
 * strides the bytes from first row to last must be apart. weight and bias hold hidden values and are not read
 * when the problem has none. No alignment beyond the element's own is needed. */
typedef struct nf_arguments {
    int64_t rows;
    const void *x;
    int64_t x_row_stride;
    void *y;
    int64_t y_row_stride;
    const void *weight;
    const void *bias;
    float epsilon; /* finite, not negative; added to the variance or mean square, inside the root */
} nf_arguments;

typedef enum nf_status NF_ANY_NUMBER {
    NF_SUCCESS = 0,
    NF_ERROR_NULL_ARGUMENT, /* the library, problem, kernel, arguments or result pointer */
    NF_ERROR_UNKNOWN_OP,
    NF_ERROR_UNKNOWN_DTYPE,
    NF_ERROR_BAD_HIDDEN,
    NF_ERROR_NO_KERNEL,
    NF_ERROR_CPU_LACKS_FEATURES,
    NF_ERROR_NEGATIVE_ROWS,
    NF_ERROR_NULL_X,
    NF_ERROR_NULL_Y,
    NF_ERROR_NULL_WEIGHT,
    NF_ERROR_NULL_BIAS,
    NF_ERROR_SHORT_X_STRIDE,
    NF_ERROR_SHORT_Y_STRIDE,
    NF_ERROR_TOO_LARGE,
    NF_ERROR_OVERLAP,
    NF_ERROR_BAD_EPSILON
} nf_status;

/* What was wrong and what is allowed, one line of static text; also for a value that is no status. */
const char *nf_status_message(nf_status status);

/* The version of the runtime, "major.minor.patch". */
const char *nf_version(void);

/* A generated library's table of kernels; the generated header declares the function that returns it. */
typedef struct nf_library nf_library;
typedef struct nf_kernel nf_kernel;

/* Sets *kernel to the library's best kernel for the problem that this CPU can run; it lives as long as the
 * library is loaded. On an error *kernel is set to null.
 * NF_ERROR_NO_KERNEL: the library was not built for this problem.
 * NF_ERROR_CPU_LACKS_FEATURES: it was, but only for CPUs with instructions that this one lacks. */
nf_status nf_find(const nf_library *library, const nf_problem *problem, const nf_kernel **kernel);

/* Normalises arguments->rows rows. Everything is checked before the first value is written; with an error,
 * nothing is. Zero rows are a success whatever the pointers. A row's bits depend on neither the number of rows
 * nor the row's place among them. */
nf_status nf_run(const nf_kernel *kernel, const nf_arguments *arguments);

/* How a kernel was made. The texts live as long as the library is loaded. */
typedef struct nf_description {
    nf_problem problem;
    const char *symbol; /* of the code that runs for the asked number of rows */
    const char *target; /* the Halide target it was compiled for */
    const char *knobs;  /* its schedule */
    const char *source; /* where the schedule came from: "tuned: ..." or "heuristic" */
} nf_description;

nf_status nf_describe(const nf_kernel *kernel, int64_t rows, nf_description *description);

/* The kernels of a library, for listing: index from 0 to nf_kernel_count - 1, null outside it. */
int64_t nf_kernel_count(const nf_library *library);
const nf_kernel *nf_kernel_at(const nf_library *library, int64_t index);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
