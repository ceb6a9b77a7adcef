/* A residual and its rms_norm on a GPU, in parts: one stream copies a part's rows to the device and results back
 * while another one normalises the part before, and events say what has to wait for what. Then the same again as a
 * CUDA graph. Without a driver or a device it says so and exits with status 77. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_driver.h"
#include "cuda_norms.h"

enum { kParts = 4, kRowsOfPart = 64, kHidden = 1024, kNoGpu = 77 };
enum { kRows = kParts * kRowsOfPart, kValues = kRows * kHidden, kValuesOfPart = kRowsOfPart * kHidden };

static const float kEpsilon = 1e-6f;

static CudaDriver cuda;

static void check(CUresult result, const char *call) {
    if (result != 0) {
        fprintf(stderr, "%s: the CUDA driver's error %d\n", call, result);
        exit(1);
    }
}

#define CHECK(call) check(cuda.call, #call)

static void check_status(nf_status status) {
    if (status != NF_SUCCESS) {
        fprintf(stderr, "%s\n", nf_status_message(status));
        exit(status == NF_ERROR_NO_CUDA ? kNoGpu : 1);
    }
}

/* Rows of the program, in memory from which copies can run beside it, or of the device. */
typedef struct Rows {
    float *x, *residual, *y, *sum;
} Rows;

typedef struct Work {
    Rows host, device;
    float *weight; /* of the device */
    const nf_cuda_kernel *kernel;
    CUstream copies, norms;
    CUevent uploaded[kParts], normalised[kParts];
} Work;

static float *host_values(size_t count) {
    void *memory;
    CHECK(cuMemAllocHost(&memory, count * sizeof(float)));
    return memory;
}

static float *device_values(size_t count) {
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, count * sizeof(float)));
    return (float *)(uintptr_t)memory;
}

static void upload(float *to, const float *from, size_t count, CUstream stream) {
    CHECK(cuMemcpyHtoDAsync((uintptr_t)to, from, count * sizeof(float), stream));
}

static void download(float *to, const float *from, size_t count, CUstream stream) {
    CHECK(cuMemcpyDtoHAsync(to, (uintptr_t)from, count * sizeof(float), stream));
}

/* Returns at once: the rows are written when the stream gets there. */
static void normalise(const Work *work, int part) {
    const size_t first = (size_t)part * kValuesOfPart;
    const nf_arguments arguments = {.rows = kRowsOfPart,
                                    .epsilon = kEpsilon,
                                    .x = {.data = work->device.x + first, .row_stride = kHidden},
                                    .residual = {.data = work->device.residual + first, .row_stride = kHidden},
                                    .weight = work->weight,
                                    .y = {.data = work->device.y + first, .row_stride = kHidden},
                                    .sum = {.data = work->device.sum + first, .row_stride = kHidden}};
    check_status(nf_cuda_run(work->kernel, &arguments, work->norms));
}

static void upload_part(const Work *work, int part) {
    const size_t first = (size_t)part * kValuesOfPart;
    upload(work->device.x + first, work->host.x + first, kValuesOfPart, work->copies);
    upload(work->device.residual + first, work->host.residual + first, kValuesOfPart, work->copies);
    CHECK(cuEventRecord(work->uploaded[part], work->copies));
}

static void download_part(const Work *work, int part) {
    const size_t first = (size_t)part * kValuesOfPart;
    CHECK(cuStreamWaitEvent(work->copies, work->normalised[part], 0));
    download(work->host.y + first, work->device.y + first, kValuesOfPart, work->copies);
    download(work->host.sum + first, work->device.sum + first, kValuesOfPart, work->copies);
}

/* Nothing waits on the CPU but the last line. */
static void run_on_two_streams(const Work *work) {
    upload_part(work, 0);
    for (int part = 0; part < kParts; part++) {
        CHECK(cuStreamWaitEvent(work->norms, work->uploaded[part], 0));
        normalise(work, part);
        CHECK(cuEventRecord(work->normalised[part], work->norms));
        if (part + 1 < kParts) {
            upload_part(work, part + 1);
        }
        download_part(work, part);
    }
    CHECK(cuStreamSynchronize(work->copies));
}

/* A run makes no call of the driver but launches, so a capture takes it as it is. A graph keeps addresses: new
 * rows come to the same ones. */
static CUgraphExec capture(const Work *work) {
    CUgraph graph;
    CUgraphExec executable;
    CHECK(cuStreamBeginCapture(work->norms, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int part = 0; part < kParts; part++) {
        normalise(work, part);
    }
    CHECK(cuStreamEndCapture(work->norms, &graph));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return executable;
}

static void run_graph(const Work *work, CUgraphExec graph) {
    upload(work->device.x, work->host.x, kValues, work->norms);
    upload(work->device.residual, work->host.residual, kValues, work->norms);
    CHECK(cuGraphLaunch(graph, work->norms));
    download(work->host.y, work->device.y, kValues, work->norms);
    download(work->host.sum, work->device.sum, kValues, work->norms);
    CHECK(cuStreamSynchronize(work->norms));
}

static float weight_at(int i) {
    return 1 + (float)i / kHidden;
}

/* Rows whose values all differ with the seed, and results that are none. */
static void fill(const Rows *rows, int seed) {
    for (int i = 0; i < kValues; i++) {
        rows->x[i] = (float)((i + i / kHidden) % 101 + seed) / 16;
        rows->residual[i] = (float)(i % 37 - 2 * seed) / 8;
        rows->y[i] = rows->sum[i] = NAN;
    }
}

/* How many values of y and of the sum are wrong. */
static int wrong_values(const Rows *rows) {
    int wrong = 0;
    for (int row = 0; row < kRows; row++) {
        const float *y = rows->y + row * kHidden, *sum = rows->sum + row * kHidden;
        double squares = 0;
        for (int i = 0; i < kHidden; i++) {
            const float expected = rows->x[row * kHidden + i] + rows->residual[row * kHidden + i];
            wrong += sum[i] != expected;
            squares += (double)expected * expected;
        }
        const double rstd = 1 / sqrt(squares / kHidden + kEpsilon);
        for (int i = 0; i < kHidden; i++) {
            const double expected = sum[i] * rstd * weight_at(i);
            /* The rounding of y, and those of 1024 squares, which threads sum in parts. */
            wrong += !(fabs(y[i] - expected) <= 0x1p-19 * fabs(expected));
        }
    }
    return wrong;
}

static Rows new_rows(float *(*values)(size_t count)) {
    return (Rows){.x = values(kValues), .residual = values(kValues), .y = values(kValues), .sum = values(kValues)};
}

static Work prepare(const nf_cuda_kernel *kernel) {
    static float weight[kHidden];
    Work work = {.kernel = kernel,
                 .host = new_rows(host_values),
                 .device = new_rows(device_values),
                 .weight = device_values(kHidden)};
    CHECK(cuStreamCreate(&work.copies, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&work.norms, CU_STREAM_NON_BLOCKING));
    for (int part = 0; part < kParts; part++) {
        CHECK(cuEventCreate(&work.uploaded[part], CU_EVENT_DISABLE_TIMING));
        CHECK(cuEventCreate(&work.normalised[part], CU_EVENT_DISABLE_TIMING));
    }
    for (int i = 0; i < kHidden; i++) {
        weight[i] = weight_at(i);
    }
    upload(work.weight, weight, kHidden, work.norms);
    CHECK(cuStreamSynchronize(work.norms));
    return work;
}

static void release(const Work *work) {
    float *const host[] = {work->host.x, work->host.residual, work->host.y, work->host.sum};
    float *const device[] = {work->device.x, work->device.residual, work->device.y, work->device.sum,
                             work->weight};
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) {
        CHECK(cuMemFreeHost(host[i]));
    }
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++) {
        CHECK(cuMemFree((uintptr_t)device[i]));
    }
    for (int part = 0; part < kParts; part++) {
        CHECK(cuEventDestroy(work->uploaded[part]));
        CHECK(cuEventDestroy(work->normalised[part]));
    }
    CHECK(cuStreamDestroy(work->copies));
    CHECK(cuStreamDestroy(work->norms));
}

int main(void) {
    const nf_problem problem = {.op = NF_RMS_NORM,
                                .dtype = NF_F32,
                                .output = NF_F32,
                                .weight = NF_F32,
                                .residual = NF_F32,
                                .sum = NF_F32,
                                .hidden = kHidden};
    nf_cuda *kernels;
    const nf_cuda_kernel *kernel;
    CUdevice device = 0;
    CUcontext context;
    const int has_device = open_cuda_driver(&cuda) && cuda.cuInit(0) == 0;
    if (has_device) {
        CHECK(cuDeviceGet(&device, 0));
        CHECK(cuDevicePrimaryCtxRetain(&context, device)); /* the one of cudaSetDevice(0) */
        CHECK(cuCtxSetCurrent(context));
    }
    check_status(nf_cuda_load(cuda_norms_library(), &kernels)); /* where there is none it says so */
    check_status(nf_cuda_find(kernels, &problem, &kernel));

    const Work work = prepare(kernel);
    fill(&work.host, 1);
    run_on_two_streams(&work);
    int wrong = wrong_values(&work.host);

    const CUgraphExec graph = capture(&work);
    for (int seed = 2; seed < 4; seed++) {
        fill(&work.host, seed);
        run_graph(&work, graph);
        wrong += wrong_values(&work.host);
    }
    printf("%d values thrice, %d wrong\n", kValues, wrong);

    CHECK(cuGraphExecDestroy(graph)); /* before what it runs */
    nf_cuda_unload(kernels);
    release(&work);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return wrong != 0;
}
