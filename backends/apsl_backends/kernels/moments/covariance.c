/* Sums over a section of rows, sums of sections, and the covariance matrix from them.
 *
 * Sums and errors are square matrices with the constant 1 first. Sections must be added in the order of the rows for
 * the same bits everywhere. A variance within rounding of 0 becomes 0, with its covariances. */
#include "moments/covariance.h"

#include <stdlib.h>

/* The share of its mean square up to which a variance is taken for rounding. */
#define ROUNDING 1e-13

i64 moments_embedded_width(const embedded_t *embedded, const i64 *places, i64 count)
{
    i64 width = 0;
    for (i64 k = 0; k < count; k++)
        width += embedded->columns[places[k]].width;
    return width;
}

void moments_fill_places(const embedded_t *embedded, const i64 *places, i64 count, const i64 *listed, i64 low, i64 rows,
                         double *panel, i64 stride)
{
    for (i64 row = 0; row < rows; row++)
        panel[row * stride] = 1.0;
    i64 at = 1;
    for (i64 k = 0; k < count; k++) {
        const embedded_column_t *column = embedded->columns + places[k];
        moments_fill_panel(column, column->width, listed, low, rows, panel + at, stride);
        at += column->width;
    }
}

int32_t apsl_add_rows(const embedded_t *embedded, const i64 *places, i64 count, i64 low, i64 high, double *sums,
                      double *errors, int64_t *stop)
{
    i64 columns = 1 + moments_embedded_width(embedded, places, count), stride = moments_panel_stride(columns);
    double *panel = moments_new_panel(columns);
    if (!panel)
        return NO_MEMORY;
    products_t products = {sums, errors, columns};
    bool goes_on = true;
    for (i64 from = low; goes_on && from < high; from += PANEL_ROWS) {
        i64 rows = smaller(PANEL_ROWS, high - from);
        moments_fill_places(embedded, places, count, NULL, from, rows, panel, stride);
        goes_on = moments_add_products(&products, panel, rows, columns, stop);
    }
    free(panel);
    return goes_on ? DONE : STOPPED;
}

void apsl_add_sums(double *sums, double *errors, const double *others, const double *other_errors, i64 count)
{
    for (i64 k = 0; k < count; k++) {
        add_exactly(sums + k, errors + k, others[k]);
        errors[k] += other_errors[k];
    }
}

void apsl_covariance(const double *sums, const double *errors, i64 columns, double *out)
{
    i64 width = columns + 1;
    double rows = sums[0];
    for (i64 i = 0; i < columns; i++) {
        double mean = (sums[i + 1] + errors[i + 1]) / rows;
        for (i64 j = i; j < columns; j++) {
            i64 at = (i + 1) * width + j + 1;
            double square = (sums[at] + errors[at]) / rows;
            double covariance = square - mean * ((sums[j + 1] + errors[j + 1]) / rows);
            out[i * columns + j] = i == j && covariance <= ROUNDING * square ? 0.0 : covariance;
        }
    }
    for (i64 i = 0; i < columns; i++) {
        for (i64 j = 0; j < i; j++) {
            if (out[i * (columns + 1)] == 0.0 || out[j * (columns + 1)] == 0.0)
                out[j * columns + i] = 0.0;
            out[i * columns + j] = out[j * columns + i];
        }
    }
}
