#include "runtime/normforge.h"

// No default in the switch: the compiler then warns of a status without a text.
const char *nf_status_message(nf_status status) {
    switch (status) {
    case NF_SUCCESS:
        return "success";
    case NF_ERROR_NULL_ARGUMENT:
        return "the library, problem, kernel, arguments, parallel_for or result pointer is null; none of them may "
               "be";
    case NF_ERROR_UNKNOWN_OP:
        return "the op is unknown; allowed are the values of nf_op";
    case NF_ERROR_UNKNOWN_DTYPE:
        return "a type is unknown or not one that its field may be; normforge.h says for each field which are "
               "allowed";
    case NF_ERROR_UNKNOWN_OPTION:
        return "pass, weight_offset, epsilon_place, saved_statistics, scale or portable is unknown; allowed are "
               "the values of their enumerations";
    case NF_ERROR_BAD_HIDDEN:
        return "hidden is out of range; allowed is 1 to NF_MAX_HIDDEN";
    case NF_ERROR_OFFSET_WITHOUT_WEIGHT:
        return "weight_offset is 1 but there is no weight; it must be 0 then";
    case NF_ERROR_SUM_WITHOUT_RESIDUAL:
        return "the sum is stored but there is no residual; sum must be none then";
    case NF_ERROR_BAD_STATISTICS:
        return "statistics rounds a sum that does not exist or is stored in another type; it must be none without "
               "a residual, and none or the type of a stored sum";
    case NF_ERROR_BAD_SCALE_KIND:
        return "the scale does not fit the output; it must be static or per_row for i8 and f8e4m3, and none for "
               "others";
    case NF_ERROR_BAD_UNQUANTISED:
        return "unquantised is given but the output is not quantised; it must be none then";
    case NF_ERROR_BAD_BACKWARD:
        return "a backward pass needs saved_statistics and an output that is not quantised";
    case NF_ERROR_NO_KERNEL:
        return "the library was not built for this problem; allowed are the problems that nf_kernel_at lists";
    case NF_ERROR_CPU_LACKS_FEATURES:
        return "the library has this problem only for CPUs with instructions that this CPU or its operating "
               "system lacks; build it for a target with fewer features as well";
    case NF_ERROR_NEGATIVE_ROWS:
        return "rows or groups is negative; allowed is 0 or more";
    case NF_ERROR_NULL_OPERAND:
        return "an operand of the kernel's problem is null; nf_operand_at_fault names it";
    case NF_ERROR_MISALIGNED:
        return "an operand is not aligned to its values; nf_operand_at_fault names it; allowed are addresses that "
               "are multiples of a value's bytes";
    case NF_ERROR_BAD_STRIDE:
        return "an operand's stride is negative, or rows that are written share values; nf_operand_at_fault names "
               "it; allowed for what is read is 0 or more, for what is written hidden or more and no shared value";
    case NF_ERROR_TOO_LARGE:
        return "an operand's rows reach beyond the address space; nf_operand_at_fault names it; its offsets in "
               "bytes must fit 63 bits";
    case NF_ERROR_OVERLAP:
        return "an operand that is written shares memory with another; nf_operand_at_fault names it; allowed is "
               "what normforge.h lists for nf_arguments, such as y being exactly x";
    case NF_ERROR_BAD_EPSILON:
        return "epsilon is negative, infinite or not a number; allowed is 0 or any positive finite value";
    case NF_ERROR_BAD_SCALE:
        return "scale is not a positive finite number; allowed is any normal value above 0";
    case NF_ERROR_BAD_AXES:
        return "the axes cannot be; allowed are 1 to 64 axes of extents from 0 on, of which 1 to all are "
               "normalised, with fewer than 2^63 rows, and 0 or more tensors";
    case NF_ERROR_NOT_FOLDABLE:
        return "a tensor does not fold into groups of rows; its normalised axes must be contiguous, and the "
               "others must be reached by two strides, the same axes for all tensors";
    case NF_ERROR_BAD_THREADS:
        return "the number of threads is out of range; allowed is 0 to NF_MAX_THREADS";
    case NF_ERROR_NO_THREADS:
        return "the system refused memory or a thread for the pool; it may allow fewer threads";
    case NF_ERROR_SHORT_WORKSPACE:
        return "the workspace that threads need reaches into another operand or beyond the address space; "
               "nf_workspace_bytes_on says how much they need";
    case NF_ERROR_NO_CUDA:
        return "there is no CUDA driver, libcuda.so.1, or it finds no device; kernels for CPUs run without one";
    case NF_ERROR_CUDA_TOO_OLD:
        return "the CUDA device or its driver is too old; allowed are compute capability 8.0 and CUDA 11 or newer";
    case NF_ERROR_NO_CUDA_CONTEXT:
        return "the calling thread has no current CUDA context; it must have one, such as cudaSetDevice makes";
    case NF_ERROR_CUDA_LOAD:
        return "the CUDA driver refused a kernel, lacks its compiler for PTX (libnvidia-ptxjitcompiler.so.1), or "
               "memory ran out";
    case NF_ERROR_CUDA_LAUNCH:
        return "the CUDA driver refused a launch; the context that the kernels were loaded into must be current, "
               "and the stream one of its own";
    }
    return "this is no status; allowed are the values of nf_status";
}

const char *nf_version(void) {
    return NORMFORGE_VERSION;
}
