/* normforge C API: find a generated LayerNorm or RMSNorm kernel and run it on raw pointers.
 *
 * layer_norm (Ba, Kiros, Hinton 2016, arXiv:1607.06450):
 *     y = (h - mean(h)) / sqrt(var(h) + epsilon) * weight + bias, var the population variance
 * rms_norm (Zhang, Sennrich 2019, arXiv:1910.07467):
 *     y = h / sqrt(mean(h^2) + epsilon) * weight + bias
 * each over the last axis of rows x hidden values, where h is x, or x + residual.
 *
 * No call throws, aborts, allocates, locks or keeps state, so all of them may run on any thread. Those of pools,
 * nf_cuda_load and nf_cuda_unload are the exception, and say what they do. */
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

/* Forward computes y from x; backward the gradients of x, residual, weight and bias from the gradient of y. */
typedef enum nf_pass NF_ANY_NUMBER { NF_FORWARD = 0, NF_BACKWARD = 1 } nf_pass;

/* NF_NONE marks an absent operand or step: no weight is a weight of ones, no bias a bias of zeros.
 * NF_F8E4M3 is the finite-only form of Micikevicius et al. 2022 (arXiv:2209.05433): largest value 448, no
 * infinity. */
typedef enum nf_dtype NF_ANY_NUMBER {
    NF_NONE = 0,
    NF_F32 = 1,
    NF_F16 = 2,
    NF_BF16 = 3,
    NF_I8 = 4,
    NF_F8E4M3 = 5
} nf_dtype;

/* What is added to a weight, in f32: one where models store weight - 1, as Gemma does. */
typedef enum nf_weight_offset NF_ANY_NUMBER { NF_OFFSET_ZERO = 0, NF_OFFSET_ONE = 1 } nf_weight_offset;

/* Values are divided by sqrt(var + epsilon), or by sqrt(var) + epsilon. */
typedef enum nf_epsilon_place NF_ANY_NUMBER { NF_IN_ROOT = 0, NF_ON_DEVIATION = 1 } nf_epsilon_place;

/* What a quantised output is divided by: one scale that the caller gives, or for each row the one with which its
 * largest magnitude becomes the type's largest value. */
typedef enum nf_scale NF_ANY_NUMBER { NF_SCALE_NONE = 0, NF_SCALE_STATIC = 1, NF_SCALE_PER_ROW = 2 } nf_scale;

typedef enum nf_flag NF_ANY_NUMBER { NF_NO = 0, NF_YES = 1 } nf_flag;

/* What a kernel computes. A kernel serves exactly one problem, any number of rows. Arithmetic is f32 or wider, and
 * where no field asks for more, values are rounded once, to their output's type. Zero is a field's usual value,
 * but op, dtype, output and hidden must be given. A backward problem is the forward one whose gradients it
 * computes. */
typedef struct nf_problem {
    nf_op op;
    nf_pass pass;
    nf_dtype dtype;  /* of x and its gradient: NF_F32, NF_F16 or NF_BF16 */
    nf_dtype output; /* of y and its gradient: as dtype; of a forward pass also NF_I8 or NF_F8E4M3 */
    nf_dtype weight; /* NF_NONE or a type as dtype, of the weight and its gradient */
    nf_dtype bias;   /* NF_NONE or a type as dtype, of the bias and its gradient */
    nf_weight_offset weight_offset; /* needs a weight */
    nf_epsilon_place epsilon_place;
    nf_dtype normalised; /* NF_NONE, or the type that values are rounded to before the weight: NF_F16 or NF_BF16 */
    nf_dtype residual;   /* NF_NONE or a type as dtype; with one, h = x + residual, added in f32 */
    nf_dtype sum;        /* NF_NONE, or the type as dtype in which h is stored; needs a residual */
    nf_dtype statistics; /* NF_NONE, or the type that h is rounded to before all else: NF_F16 or NF_BF16; needs a
                            residual, and is the stored sum's type if there is one */
    nf_flag saved_statistics; /* NF_YES: forward stores each row's mean and rstd, which backward reads and needs */
    nf_scale scale;           /* NF_SCALE_NONE exactly where output is a float type */
    nf_dtype unquantised; /* NF_NONE, or the type that values are rounded to before they are quantised: NF_F16 or
                             NF_BF16 */
    nf_flag portable;     /* NF_YES: the same bits on every CPU, whatever its instructions; slower on some */
    int64_t hidden;       /* values in a row, 1 to NF_MAX_HIDDEN */
} nf_problem;

#define NF_MAX_HIDDEN INT64_C(33554432)

/* Rows of values. Strides are in values: from a row to the next of its group, and from a group to the next. The
 * values of a row are contiguous. The stride of a single row or of a single group is not looked at. */
typedef struct nf_input {
    const void *data;
    int64_t row_stride;   /* 0 or more; 0 reads one row again and again */
    int64_t group_stride; /* 0 or more */
} nf_input;

/* The same, written. No two rows may share a value: both strides are hidden or more, and the longer one leaves
 * room for all that the shorter one reaches. That is, group_stride is at least (rows - 1) * row_stride + hidden,
 * or row_stride at least (groups - 1) * group_stride + hidden. */
typedef struct nf_output {
    void *data;
    int64_t row_stride;
    int64_t group_stride;
} nf_output;

/* What one call works on. Only the operands that the kernel's problem has are looked at:
 *     forward   reads x, residual, weight, bias, epsilon and, with a static scale, scale;
 *               writes y, sum, mean, rstd and, with scales per row, scales
 *     backward  reads x or, where the forward pass stored one, sum instead of x and residual; weight, mean, rstd,
 *               dy and dsum (if sum is stored: the gradient that flows into it from elsewhere);
 *               writes dx, dresidual, dweight, dbias; uses workspace
 * A value of row r of group g counts as row g * rows + r of mean, rstd and scales, which have no gaps.
 *
 * Pointers are aligned to their values, no more. Rows that are written may share memory with rows that are read
 * only exactly: the same pointer, strides and size of a value, so y may be x and sum may be residual. What is
 * written shares no memory with anything else that is read, nor with anything that is written.
 *
 * Where the bytes of two operands from first row to last meet, they count as shared unless the strides, in bytes,
 * are equal and keep the rows apart, as those of the query and the key in one buffer do, or one operand is a
 * single run of values that fits between the other's rows. */
typedef struct nf_arguments {
    int64_t rows;   /* of each group */
    int64_t groups; /* of rows, such as the tokens of which rows are the heads; 0 counts as 1 */
    float epsilon;  /* finite, not negative */
    float scale;    /* finite, normal, above 0: y holds the value divided by it */
    nf_input x;
    nf_input residual;
    const void *weight; /* hidden values */
    const void *bias;   /* hidden values */
    nf_output y;
    nf_output sum; /* read by backward */
    float *mean;   /* of h; layer_norm only */
    float *rstd;   /* what h - mean is multiplied by: 1 / sqrt(var + epsilon), or 1 / (sqrt(var) + epsilon) */
    float *scales;
    nf_input dy;
    nf_input dsum;
    nf_output dx;        /* the gradient of x, which is that of h */
    nf_output dresidual; /* the same in the type of residual */
    void *dweight;       /* hidden values of weight's type; f32 sums over all rows, rounded once, in an order that
                            depends on rows, groups and the problem alone while row strides are below 2^25 */
    void *dbias;
    void *workspace; /* nf_workspace_bytes (or _on, or nf_cuda_), aligned to 4 bytes, apart from all else */
} nf_arguments;

typedef enum nf_status NF_ANY_NUMBER {
    NF_SUCCESS = 0,
    NF_ERROR_NULL_ARGUMENT, /* the library, problem, kernel, arguments, parallel_for or result pointer */
    NF_ERROR_UNKNOWN_OP,
    NF_ERROR_UNKNOWN_DTYPE,
    NF_ERROR_UNKNOWN_OPTION, /* pass, weight_offset, epsilon_place, saved_statistics, scale or portable */
    NF_ERROR_BAD_HIDDEN,
    NF_ERROR_OFFSET_WITHOUT_WEIGHT,
    NF_ERROR_SUM_WITHOUT_RESIDUAL,
    NF_ERROR_BAD_STATISTICS,
    NF_ERROR_BAD_SCALE_KIND,
    NF_ERROR_BAD_UNQUANTISED,
    NF_ERROR_BAD_BACKWARD,
    NF_ERROR_NO_KERNEL,
    NF_ERROR_CPU_LACKS_FEATURES,
    NF_ERROR_NEGATIVE_ROWS, /* or groups */
    /* of an operand that nf_operand_at_fault names */
    NF_ERROR_NULL_OPERAND,
    NF_ERROR_MISALIGNED,
    NF_ERROR_BAD_STRIDE,
    NF_ERROR_TOO_LARGE,
    NF_ERROR_OVERLAP,
    NF_ERROR_BAD_EPSILON,
    NF_ERROR_BAD_SCALE,
    /* of nf_fold_axes */
    NF_ERROR_BAD_AXES,
    NF_ERROR_NOT_FOLDABLE,
    /* of threads */
    NF_ERROR_BAD_THREADS,
    NF_ERROR_NO_THREADS,
    NF_ERROR_SHORT_WORKSPACE,
    /* of CUDA */
    NF_ERROR_NO_CUDA,
    NF_ERROR_CUDA_TOO_OLD,
    NF_ERROR_NO_CUDA_CONTEXT,
    NF_ERROR_CUDA_LOAD,
    NF_ERROR_CUDA_LAUNCH
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
 * NF_ERROR_CPU_LACKS_FEATURES: it was, but only for CPUs with instructions that this one lacks. On ARM also where
 * the calling thread's SVE registers have another length; nf_run looks again, for a thread can change it. */
nf_status nf_find(const nf_library *library, const nf_problem *problem, const nf_kernel **kernel);

/* Runs all rows of all groups. Everything is checked before the first value is written; with an error, nothing
 * is. No rows are a success whatever the other arguments, but that backward checks dweight and dbias then and sets
 * them to zero. The bits of a row depend on neither the number of rows nor the row's place among them. */
nf_status nf_run(const nf_kernel *kernel, const nf_arguments *arguments);

/* The field of nf_arguments for which nf_run returns an error with these arguments, such as "residual", or null
 * where there is none. Of two operands that overlap it is one that is written. */
const char *nf_operand_at_fault(const nf_kernel *kernel, const nf_arguments *arguments);

/* The bytes of workspace that a call with that many rows in that many groups needs; 0 if none, and for what
 * nf_run refuses. Backward sums dweight and dbias there; it grows with the logarithm of the rows. */
int64_t nf_workspace_bytes(const nf_kernel *kernel, int64_t rows, int64_t groups);

/* A loop over tasks on several threads: calls task(argument, index) once for each index from 0 to tasks - 1, in
 * any order, on any threads, and returns when all calls have returned. A task reads and writes about task_bytes,
 * which tells a loop whether it is worth it to wake threads up. */
typedef void (*nf_parallel_for)(void *context, int64_t tasks, void (*task)(void *argument, int64_t index),
                                void *argument, int64_t task_bytes);

/* Threads to run on: the caller's own, by such a loop, or a pool's. */
typedef struct nf_threads {
    nf_parallel_for parallel_for;
    void *context; /* its first argument */
    int64_t count; /* of tasks that may run at once; those beyond NF_MAX_THREADS are of no use */
} nf_threads;

#define NF_MAX_THREADS INT64_C(1024)

/* The least task_bytes. Rows of less than two tasks run on the calling thread. */
#define NF_TASK_BYTES INT64_C(32768)

/* As nf_run, bit for bit, with the rows of all groups shared evenly over at most threads->count tasks. No threads,
 * or a count of 1 or less, is nf_run. Everything is checked before the first task runs. Tasks compute with the
 * calling thread's rounding mode and flags of subnormal numbers. On ARM a task leaves its rows alone where its
 * thread has SVE registers of another length, and the call returns NF_ERROR_CPU_LACKS_FEATURES. */
nf_status nf_run_on(const nf_kernel *kernel, const nf_arguments *arguments, const nf_threads *threads);

/* nf_workspace_bytes for nf_run_on with threads of that count: each task has partial sums of its own. Where only
 * what this is beyond nf_workspace_bytes is not free for use, nf_run_on returns NF_ERROR_SHORT_WORKSPACE. */
int64_t nf_workspace_bytes_on(const nf_kernel *kernel, int64_t rows, int64_t groups, int64_t threads);

/* Threads that wait for nf_run_on to give them rows. */
typedef struct nf_pool nf_pool;

/* Allocates a pool for that many threads, 0 to NF_MAX_THREADS, and starts all of them but one, which is the thread
 * that will call nf_run_on. 0 threads are as many as this process can keep busy, by its affinity and by the quotas
 * of its control groups. The threads block all signals but those of faults. On an error *pool is set to null.
 * NF_ERROR_BAD_THREADS: threads is negative or too large.
 * NF_ERROR_NO_THREADS: the system refused memory or a thread. */
nf_status nf_pool_create(int64_t threads, nf_pool **pool);

/* Ends the pool's threads, waits for them and frees the pool. No call may be running on it. Null is no pool. */
void nf_pool_destroy(nf_pool *pool);

/* The pool's threads, for nf_run_on, while the pool lives; null, which is no threads, for a null pool.
 *
 * Any thread may use them at any time, and a pool serves one call at a time. A call that meets another one, that
 * one of its own tasks makes, or that runs in the child of a fork, where the threads are not, runs all of its
 * tasks on the calling thread. */
const nf_threads *nf_pool_threads(const nf_pool *pool);

/* Rows, groups, hidden size and strides for tensors of one shape and own strides, in values, whose last
 * normalised_axes axes are normalised together: PyTorch's normalized_shape, the axes from ONNX's axis on.
 * Neighbours among the other axes become one wherever one stride reaches both in every tensor, and two may be
 * left. Row r of group g is row g * rows + r in the order of the axes, so mean, rstd and scales are contiguous
 * tensors of the other axes' shape. Axes of extent 1 have no stride to speak of. */
typedef struct nf_folded_axes {
    int64_t hidden; /* the product of the normalised axes */
    int64_t rows;
    int64_t groups;
} nf_folded_axes;

typedef struct nf_folded_strides {
    int64_t row_stride;
    int64_t group_stride;
} nf_folded_strides;

/* strides[t] are the `axes` strides of tensor t, and folded_strides[t] is set to its result. One pair of rows and
 * groups serves all tensors. An extent of 0 among the other axes gives 0 rows, and no stride is looked at. With an
 * error nothing is set.
 * NF_ERROR_BAD_AXES: axes is not 1 to 64, normalised_axes not 1 to axes, tensors or an extent negative, or the
 * number of rows more than an int64_t holds.
 * NF_ERROR_BAD_HIDDEN: the product of the normalised axes is not 1 to NF_MAX_HIDDEN.
 * NF_ERROR_NOT_FOLDABLE: the normalised axes of a tensor are not contiguous, or the others need more than two
 * strides. */
nf_status nf_fold_axes(int axes, const int64_t *shape, int normalised_axes, int tensors,
                       const int64_t *const *strides, nf_folded_axes *folded, nf_folded_strides *folded_strides);

/* How a kernel was made. The texts live as long as the library is loaded. */
typedef struct nf_description {
    nf_problem problem;
    const char *symbol; /* of the code that runs for the asked number of rows */
    const char *target; /* the Halide target it was compiled for */
    const char *knobs;  /* its schedule */
    const char *source; /* where the schedule came from: "tuned: ...", another step of docs/database.md's, or
                           "heuristic..." */
} nf_description;

nf_status nf_describe(const nf_kernel *kernel, int64_t rows, nf_description *description);

/* The kernels of a library, for listing: index from 0 to nf_kernel_count - 1, null outside it. */
int64_t nf_kernel_count(const nf_library *library);
const nf_kernel *nf_kernel_at(const nf_library *library, int64_t index);

/* A library's CUDA kernels, loaded into one context, and one of them. */
typedef struct nf_cuda nf_cuda;
typedef struct nf_cuda_kernel nf_cuda_kernel;

/* Opens the CUDA driver, libcuda.so.1, and loads the library's CUDA kernels into the calling thread's current
 * context, which compiles them if the driver has not kept them from the last time. It allocates, and may take
 * seconds: no later call loads anything. A process without a driver can use the library's kernels for CPUs all the
 * same. Machine code in the library that fits the device is taken, else PTX. On an error *cuda is set to null.
 * NF_ERROR_NO_KERNEL: the library has no CUDA kernels.
 * NF_ERROR_NO_CUDA: there is no driver, or it finds no device.
 * NF_ERROR_CUDA_TOO_OLD: the device is older than compute capability 8.0, or the driver than CUDA 11.
 * NF_ERROR_NO_CUDA_CONTEXT: the thread has no current context.
 * NF_ERROR_CUDA_LOAD: the driver refused a kernel or lacks its compiler for PTX, libnvidia-ptxjitcompiler.so.1, or
 * memory ran out. */
nf_status nf_cuda_load(const nf_library *library, nf_cuda **cuda);

/* Unloads and frees them. Their context must be current, and none of their kernels may be running or be part of a
 * graph that will run. Null is allowed. */
void nf_cuda_unload(nf_cuda *cuda);

/* Sets *kernel to the kernel for the problem, which lives as long as cuda does; on an error to null. */
nf_status nf_cuda_find(const nf_cuda *cuda, const nf_problem *problem, const nf_cuda_kernel **kernel);

/* As nf_run, but of operands on the device, and on the stream, a CUstream or cudaStream_t, of which null is the
 * default one: the rows are written when the stream gets there. The kernel's context must be current. What the
 * arguments point to is not looked at before. A call makes no other call of the driver than launches, so that a
 * stream which is being captured gets them as part of its graph: one launch, or where there are groups, one for
 * each group (for each row, where rows are fewer and none of mean, rstd and scales is written); rows that reach
 * over 2^31 values take several. Backward with a weight or bias has one more at the end.
 *
 * The bits of a row depend on the problem, the schedule, the driver and device, and on whether addresses and
 * strides of all operands are multiples of 16 bytes. Those that are are the fastest. NF_ERROR_CUDA_LAUNCH: the
 * driver refused a launch; rows may then have been written. */
nf_status nf_cuda_run(const nf_cuda_kernel *kernel, const nf_arguments *arguments, void *stream);

/* As nf_workspace_bytes, for nf_cuda_run. Backward's partial sums of dweight and dbias are there, one for each 4
 * to 64 rows, in memory of the device. */
int64_t nf_cuda_workspace_bytes(const nf_cuda_kernel *kernel, int64_t rows, int64_t groups);

/* As nf_operand_at_fault, nf_describe, nf_kernel_count and nf_kernel_at. */
const char *nf_cuda_operand_at_fault(const nf_cuda_kernel *kernel, const nf_arguments *arguments);
nf_status nf_cuda_describe(const nf_cuda_kernel *kernel, nf_description *description);
int64_t nf_cuda_kernel_count(const nf_cuda *cuda);
const nf_cuda_kernel *nf_cuda_kernel_at(const nf_cuda *cuda, int64_t index);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
