/* Rows on several threads: on a pool of the runtime, and on threads that the program has already.
 *
 *     normforge build --op layer_norm,rms_norm --hidden 384 --name norms --out .
 *     cc threads.c libnorms.a
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "norms.h"

enum { kRows = 1000, kHidden = 384, kThreads = 3 };

static float x[kRows][kHidden], weight[kHidden], bias[kHidden];
static float y[kRows][kHidden], y_of_pool[kRows][kHidden], y_of_own[kRows][kHidden];

/* Stands for what the program has: here each thread is new and runs every kThreads-th task. */
typedef struct Worker {
    int64_t first, tasks;
    void (*task)(void *argument, int64_t index);
    void *argument;
} Worker;

static void *work(void *argument) {
    const Worker *worker = argument;
    for (int64_t index = worker->first; index < worker->tasks; index += kThreads) {
        worker->task(worker->argument, index);
    }
    return NULL;
}

/* What nf_run_on is given: calls task(argument, index) for each index below tasks and waits for all of them. */
static void run_on_own_threads(void *context, int64_t tasks, void (*task)(void *argument, int64_t index),
                               void *argument, int64_t task_bytes) {
    (void)context;    /* whatever nf_threads was given for it */
    (void)task_bytes; /* new threads are dear whatever the tasks */
    Worker workers[kThreads];
    pthread_t threads[kThreads];
    int started = 1;
    for (int i = 0; i < kThreads; i++) {
        workers[i] = (Worker){i, tasks, task, argument};
    }
    while (started < kThreads && pthread_create(&threads[started], NULL, work, &workers[started]) == 0) {
        started++;
    }
    work(&workers[0]);
    for (int i = started; i < kThreads; i++) {
        work(&workers[i]);
    }
    for (int i = 1; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
}

static nf_status normalise(const nf_kernel *kernel, void *output, const nf_threads *threads) {
    const nf_arguments arguments = {.rows = kRows,
                                    .epsilon = 1e-5f,
                                    .x = {.data = x, .row_stride = kHidden},
                                    .weight = weight,
                                    .bias = bias,
                                    .y = {.data = output, .row_stride = kHidden}};
    return nf_run_on(kernel, &arguments, threads);
}

static nf_status normalise_on_pool(const nf_kernel *kernel) {
    nf_pool *pool; /* once for a program */
    nf_status status = nf_pool_create(0, &pool);
    if (status == NF_SUCCESS) {
        status = normalise(kernel, y_of_pool, nf_pool_threads(pool));
    }
    nf_pool_destroy(pool);
    return status;
}

static nf_status normalise_all(void) {
    const nf_problem problem = {.op = NF_LAYER_NORM,
                                .dtype = NF_F32,
                                .output = NF_F32,
                                .weight = NF_F32,
                                .bias = NF_F32,
                                .hidden = kHidden};
    const nf_kernel *kernel;
    nf_status status = nf_find(norms_library(), &problem, &kernel);
    if (status == NF_SUCCESS) {
        status = normalise(kernel, y, NULL);
    }
    if (status == NF_SUCCESS) {
        status = normalise_on_pool(kernel);
    }
    if (status == NF_SUCCESS) {
        const nf_threads threads = {.parallel_for = run_on_own_threads, .count = kThreads};
        status = normalise(kernel, y_of_own, &threads);
    }
    return status;
}

int main(void) {
    for (int i = 0; i < kHidden; i++) {
        weight[i] = 2;
        bias[i] = (float)i;
        for (int row = 0; row < kRows; row++) {
            x[row][i] = (float)((i * 7 + row) % 11);
        }
    }
    const nf_status status = normalise_all();
    if (status != NF_SUCCESS) {
        fprintf(stderr, "%s\n", nf_status_message(status));
        return 1;
    }
    const int same = memcmp(y, y_of_pool, sizeof y) == 0 && memcmp(y, y_of_own, sizeof y) == 0;
    printf("y[0][0] %g, %s on threads\n", y[0][0], same ? "the same" : "another");
    return !same;
}
