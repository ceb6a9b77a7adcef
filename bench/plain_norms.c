// The formulas as one would write them in C, for scripts/tabulate_arm.py: what a compiler makes of them. HIDDEN is
// the number of values of a row.
#include <math.h>

void layer_norm(const float *restrict x, const float *restrict weight, const float *restrict bias,
                float *restrict y, long rows, float epsilon) {
    for (long row = 0; row < rows; row++, x += HIDDEN, y += HIDDEN) {
        float sum = 0;
        for (int i = 0; i < HIDDEN; i++) {
            sum += x[i];
        }
        const float mean = sum / HIDDEN;
        float squares = 0;
        for (int i = 0; i < HIDDEN; i++) {
            squares += (x[i] - mean) * (x[i] - mean);
        }
        const float rstd = 1 / sqrtf(squares / HIDDEN + epsilon);
        for (int i = 0; i < HIDDEN; i++) {
            y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
        }
    }
}

void rms_norm(const float *restrict x, const float *restrict weight, float *restrict y, long rows, float epsilon) {
    for (long row = 0; row < rows; row++, x += HIDDEN, y += HIDDEN) {
        float squares = 0;
        for (int i = 0; i < HIDDEN; i++) {
            squares += x[i] * x[i];
        }
        const float rstd = 1 / sqrtf(squares / HIDDEN + epsilon);
        for (int i = 0; i < HIDDEN; i++) {
            y[i] = x[i] * rstd * weight[i];
        }
    }
}
