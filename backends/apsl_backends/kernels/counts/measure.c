/* A measure: the statistic, its level, and n·ln(n) in whole units for each count.
 *
 * Terms are tabled up to MOST_TERMS counts and computed beyond. They are integers, so their sums do not depend on the
 * order of cells, rows or threads. */
#include "counts/measure.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 1 << 20 };

measure_t *apsl_measure_open(int32_t kind, i64 rows, double scale, double alpha, const double *thresholds,
                             int32_t full_dof, double rows_per_cell, int32_t method)
{
    measure_t *measure = calloc(1, sizeof *measure);
    if (!measure)
        return NULL;
    *measure = (measure_t){.kind = (kind_t)kind,
                           .method = (method_t)method,
                           .full_dof = full_dof != 0,
                           .alpha = alpha,
                           .rows_per_cell = rows_per_cell,
                           .scale = scale,
                           .term_count = smaller(rows + 1, MOST_TERMS),
                           .all_terms = rows + 1 <= MOST_TERMS};
    memcpy(measure->thresholds, thresholds, sizeof measure->thresholds);
    measure->terms = malloc((size_t)measure->term_count * sizeof *measure->terms);
    if (!measure->terms) {
        apsl_measure_close(measure);
        return NULL;
    }
    measure->terms[0] = 0;
    for (i64 count = 1; count < measure->term_count; count++)
        measure->terms[count] = in_units((double)count * base_natural_log((double)count) * scale);
    return measure;
}

void apsl_measure_close(measure_t *measure)
{
    if (measure)
        free(measure->terms);
    free(measure);
}
