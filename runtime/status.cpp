#include "runtime/normforge.h"

// No default in the switch: the compiler then warns of a status without a text.
const char *nf_status_message(nf_status status) {
    switch (status) {
    case NF_SUCCESS:
        return "success";
    case NF_ERROR_NULL_ARGUMENT:
        return "the library, problem, kernel, arguments or result pointer is null; none of them may be";
    case NF_ERROR_UNKNOWN_OP:
        return "the op is unknown; allowed are the values of nf_op";
    case NF_ERROR_UNKNOWN_DTYPE:
        return "a type is unknown; allowed are the values of nf_dtype, NF_NONE only for weight and bias";
    case NF_ERROR_BAD_HIDDEN:
        return "hidden is out of range; allowed is 1 to NF_MAX_HIDDEN";
    case NF_ERROR_NO_KERNEL:
        return "the library was not built for this problem; allowed are the problems that nf_kernel_at lists";
    case NF_ERROR_CPU_LACKS_FEATURES:
        return "the library has this problem only for CPUs with instructions that this CPU or its operating "
               "system lacks; build it for a target with fewer features as well";
    case NF_ERROR_NEGATIVE_ROWS:
        return "rows is negative; allowed is 0 or more";
    case NF_ERROR_NULL_X:
        return "x is null; with rows above 0 it must point to the input";
    case NF_ERROR_NULL_Y:
        return "y is null; with rows above 0 it must point to the output";
    case NF_ERROR_NULL_WEIGHT:
        return "weight is null; the kernel's problem has a weight, so it must point to hidden values";
    case NF_ERROR_NULL_BIAS:
        return "bias is null; the kernel's problem has a bias, so it must point to hidden values";
    case NF_ERROR_SHORT_X_STRIDE:
        return "x_row_stride is shorter than a row; allowed is hidden or more";
    case NF_ERROR_SHORT_Y_STRIDE:
        return "y_row_stride is shorter than a row; allowed is hidden or more";
    case NF_ERROR_TOO_LARGE:
        return "the rows reach beyond the address space; rows times the stride in bytes must fit 63 bits";
    case NF_ERROR_OVERLAP:
        return "y overlaps x, weight or bias; y must be exactly x (same pointer and stride) or apart from all of "
               "them, and with different strides apart from first row to last";
    case NF_ERROR_BAD_EPSILON:
        return "epsilon is negative, infinite or not a number; allowed is 0 or any positive finite value";
    }
    return "this is no status; allowed are the values of nf_status";
}

const char *nf_version(void) {
    return NORMFORGE_VERSION;
}
