#include "runtime/normforge.h"

namespace normforge {

namespace {

constexpr int kMaxAxes = 64;

struct Tensors {
    const int64_t *shape;
    int count;
    const int64_t *const *strides;
};

nf_status check_axes(int axes, int normalised_axes, const Tensors &tensors) {
    if (axes < 1 || axes > kMaxAxes || normalised_axes < 1 || normalised_axes > axes || tensors.count < 0) {
        return NF_ERROR_BAD_AXES;
    }
    if (!tensors.shape || (tensors.count > 0 && !tensors.strides)) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    for (int tensor = 0; tensor < tensors.count; tensor++) {
        if (!tensors.strides[tensor]) {
            return NF_ERROR_NULL_ARGUMENT;
        }
    }
    for (int axis = 0; axis < axes; axis++) {
        if (tensors.shape[axis] < 0) {
            return NF_ERROR_BAD_AXES;
        }
    }
    return NF_SUCCESS;
}

// The product of the extents of the axes from first to before end, or -1 if no int64_t holds it.
int64_t count_places(const int64_t *shape, int first, int end) {
    int64_t places = 1;
    bool fits = true;
    for (int axis = first; axis < end; axis++) {
        if (shape[axis] == 0) {
            return 0;
        }
        fits = fits && !__builtin_mul_overflow(places, shape[axis], &places);
    }
    return fits ? places : -1;
}

// The normalised axes are those from `first` on.
bool are_contiguous(const Tensors &tensors, int first, int axes) {
    for (int tensor = 0; tensor < tensors.count; tensor++) {
        int64_t behind = 1;
        for (int axis = axes - 1; axis >= first; axis--) {
            if (tensors.shape[axis] != 1 && tensors.strides[tensor][axis] != behind) {
                return false;
            }
            behind *= tensors.shape[axis];
        }
    }
    return true;
}

// Whether the last place of the inner axis and the next one of the outer axis are one inner stride apart, for all.
bool are_one_axis(const Tensors &tensors, int outer, int inner) {
    for (int tensor = 0; tensor < tensors.count; tensor++) {
        const int64_t *strides = tensors.strides[tensor];
        int64_t reach = 0;
        if (__builtin_mul_overflow(tensors.shape[inner], strides[inner], &reach) || strides[outer] != reach) {
            return false;
        }
    }
    return true;
}

// Up to two axes that reach what some others reached, from the innermost on.
struct FewAxes {
    int count = 0;
    int64_t extent[2] = {1, 1};
    int last[2];  // of the axes that went into this one: its stride is theirs
};

// False if two are not enough.
bool fold_leading(const Tensors &tensors, int leading, FewAxes &few) {
    int inner = -1;
    for (int axis = leading - 1; axis >= 0; axis--) {
        if (tensors.shape[axis] == 1) {
            continue;
        }
        if (inner < 0 || !are_one_axis(tensors, axis, inner)) {
            if (few.count == 2) {
                return false;
            }
            few.last[few.count++] = axis;
        }
        few.extent[few.count - 1] *= tensors.shape[axis];
        inner = axis;
    }
    return true;
}

}  // namespace

}  // namespace normforge

using namespace normforge;

nf_status nf_fold_axes(int axes, const int64_t *shape, int normalised_axes, int tensors,
                       const int64_t *const *strides, nf_folded_axes *folded, nf_folded_strides *folded_strides) {
    const Tensors all{shape, tensors, strides};
    if (nf_status status = check_axes(axes, normalised_axes, all)) {
        return status;
    }
    if (!folded || (tensors > 0 && !folded_strides)) {
        return NF_ERROR_NULL_ARGUMENT;
    }
    const int leading = axes - normalised_axes;
    const int64_t hidden = count_places(shape, leading, axes);
    if (hidden < 1 || hidden > NF_MAX_HIDDEN) {
        return NF_ERROR_BAD_HIDDEN;
    }
    const int64_t rows = count_places(shape, 0, leading);
    if (rows < 0) {
        return NF_ERROR_BAD_AXES;
    }
    FewAxes few;
    if (rows > 0 && (!are_contiguous(all, leading, axes) || !fold_leading(all, leading, few))) {
        return NF_ERROR_NOT_FOLDABLE;
    }
    *folded = {.hidden = hidden, .rows = rows == 0 ? 0 : few.extent[0], .groups = few.extent[1]};
    for (int tensor = 0; tensor < tensors; tensor++) {
        folded_strides[tensor] = {
            .row_stride = few.count > 0 ? strides[tensor][few.last[0]] : hidden,
            .group_stride = few.count > 1 ? strides[tensor][few.last[1]] : 0,
        };
    }
    return NF_SUCCESS;
}
