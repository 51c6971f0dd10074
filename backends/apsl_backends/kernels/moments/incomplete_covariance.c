/* The covariance matrix of rows with gaps, by expectation and maximisation.
 *
 * Rows come sorted by pattern of gaps. Patterns with many rows are reduced to sums of products once, within MOST_SUMS
 * doubles; other rows are completed in each iteration. Values are taken less the observed means. The caller's flag ends
 * the iterations. */
#include "moments/incomplete_covariance.h"

#include "moments/symmetric_inverse.h"

#include <stdlib.h>
#include <string.h>

/* The share of each variance that is added to it before the inverse is taken. */
#define RIDGE 1e-7
/* The sums of products of patterns may take so many doubles, 512 MB. */
#define MOST_SUMS ((size_t)1 << 26)

/* Rows in which the same embedded columns are missing, from low to high in the list. `sums` are those of products of a
 * constant and the observed columns, from which the means of the start are taken away; NULL for a pattern with few
 * rows. */
typedef struct {
    const i64 *observed, *missing;
    i64 seen, gone, low, high;
    double *sums;
} pattern_t;

/* All that an estimate needs. Values are taken less `shift`, the means of what is observed; `mean` is relative to it.
 * `second` has the sums of products of a constant and completed rows, less the mean, and `spread` that of the
 * conditional covariances. `places_in_sums` has for each pattern where its sums begin, or -1. */
typedef struct {
    const embedded_t *embedded;
    const i64 *places, *listed, *starts;
    const uint8_t *is_missing;
    i64 count, columns, patterns;
    flag_t *stop;
    i64 *places_in_sums, *observed, *missing;
    double *sums, *space, *panel;
    double *shift, *mean, *first, *matrix, *inverse, *spread, *slopes, *part, *other, *row;
    products_t second;
} estimate_t;

static void close_estimate(estimate_t *estimate)
{
    free(estimate->places_in_sums);
    free(estimate->observed);
    free(estimate->sums);
    free(estimate->space);
    free(estimate->panel);
}

/* Return a pattern; its columns are there until the next one is asked for. */
static pattern_t pattern_at(estimate_t *estimate, i64 number)
{
    pattern_t pattern = {estimate->observed, estimate->missing, 0, 0, estimate->starts[number],
                         estimate->starts[number + 1], NULL};
    i64 column = 0;
    for (i64 k = 0; k < estimate->count; k++) {
        bool is_gone = estimate->is_missing[number * estimate->count + k];
        for (i64 j = 0; j < estimate->embedded->columns[estimate->places[k]].width; j++, column++)
            if (is_gone)
                estimate->missing[pattern.gone++] = column;
            else
                estimate->observed[pattern.seen++] = column;
    }
    if (estimate->places_in_sums[number] >= 0)
        pattern.sums = estimate->sums + estimate->places_in_sums[number];
    return pattern;
}

/* Decide which patterns are reduced to sums: those with more than twice as many rows as columns. */
static bool make_patterns(estimate_t *estimate)
{
    size_t columns = (size_t)estimate->columns, total = 0;
    estimate->places_in_sums = malloc(((size_t)estimate->patterns + 1) * sizeof(i64));
    estimate->observed = malloc((2 * columns + 1) * sizeof(i64));
    if (!estimate->places_in_sums || !estimate->observed)
        return false;
    estimate->missing = estimate->observed + columns;
    for (i64 number = 0; number < estimate->patterns; number++) {
        estimate->places_in_sums[number] = -1;
        pattern_t pattern = pattern_at(estimate, number);
        size_t size = (size_t)((pattern.seen + 1) * (pattern.seen + 1));
        if (pattern.high - pattern.low > 2 * (pattern.seen + 1) && total + size <= MOST_SUMS) {
            estimate->places_in_sums[number] = (i64)total;
            total += size;
        }
    }
    estimate->sums = calloc(total + 1, sizeof *estimate->sums);
    return estimate->sums != NULL;
}

static bool make_space(estimate_t *estimate)
{
    size_t columns = (size_t)estimate->columns + 1, square = columns * columns;
    estimate->space = calloc(9 * square + 4 * columns, sizeof(double));
    estimate->panel = moments_new_panel((i64)columns);
    if (!estimate->space || !estimate->panel)
        return false;
    double **matrices[] = {&estimate->second.sums, &estimate->second.errors, &estimate->matrix, &estimate->inverse,
                           &estimate->spread,      &estimate->slopes,        &estimate->part,   &estimate->other};
    double **rows[] = {&estimate->shift, &estimate->mean, &estimate->first, &estimate->row};
    double *at = estimate->space;
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++, at += square)
        *matrices[k] = at;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++, at += columns)
        *rows[k] = at;
    estimate->second.columns = (i64)columns;
    return true;
}

/* Fill the panel with a constant and the values of some rows of a pattern less the shift; missing ones are 0. */
static void fill_pattern(estimate_t *estimate, const pattern_t *pattern, i64 from, i64 rows)
{
    i64 columns = estimate->columns, stride = moments_panel_stride(columns + 1);
    moments_fill_places(estimate->embedded, estimate->places, estimate->count, estimate->listed + from, 0, rows,
                        estimate->panel, stride);
    for (i64 row = 0; row < rows; row++) {
        double *values = estimate->panel + row * stride + 1;
        for (i64 j = 0; j < columns; j++)
            values[j] -= estimate->shift[j];
        for (i64 k = 0; k < pattern->gone; k++)
            values[pattern->missing[k]] = 0.0;
    }
}

/* Set the shift to the means of what is observed. */
static void find_means(estimate_t *estimate)
{
    i64 columns = estimate->columns, stride = moments_panel_stride(columns + 1);
    double *seen = estimate->part, *errors = estimate->other;
    for (i64 p = 0; p < estimate->patterns; p++) {
        const pattern_t found = pattern_at(estimate, p), *pattern = &found;
        for (i64 from = pattern->low; from < pattern->high; from += PANEL_ROWS) {
            i64 rows = smaller(PANEL_ROWS, pattern->high - from);
            moments_fill_places(estimate->embedded, estimate->places, estimate->count, estimate->listed + from, 0, rows,
                                estimate->panel, stride);
            for (i64 row = 0; row < rows; row++)
                for (i64 k = 0; k < pattern->seen; k++) {
                    i64 column = pattern->observed[k];
                    add_exactly(estimate->first + column, errors + column, estimate->panel[row * stride + 1 + column]);
                }
        }
        for (i64 k = 0; k < pattern->seen; k++)
            seen[pattern->observed[k]] += (double)(pattern->high - pattern->low);
    }
    for (i64 j = 0; j < columns; j++)
        estimate->shift[j] = (estimate->first[j] + errors[j]) / seen[j];
}

/* Make the first estimate: the covariance with means for what is missing, half way to its diagonal. On the way reduce
 * patterns to their sums. */
static bool start(estimate_t *estimate, i64 rows)
{
    i64 columns = estimate->columns, width = columns + 1;
    for (i64 p = 0; p < estimate->patterns; p++) {
        const pattern_t found = pattern_at(estimate, p), *pattern = &found;
        products_t *sums = &estimate->second, apart = {estimate->part, estimate->other, width};
        if (pattern->sums) {
            memset(apart.sums, 0, (size_t)(width * width) * sizeof(double));
            memset(apart.errors, 0, (size_t)(width * width) * sizeof(double));
            sums = &apart;
        }
        for (i64 from = pattern->low; from < pattern->high; from += PANEL_ROWS) {
            i64 part = smaller(PANEL_ROWS, pattern->high - from);
            fill_pattern(estimate, pattern, from, part);
            if (!moments_add_products(sums, estimate->panel, part, width, estimate->stop))
                return false;
        }
        if (!pattern->sums)
            continue;
        apsl_add_sums(estimate->second.sums, estimate->second.errors, apart.sums, apart.errors, width * width);
        i64 size = pattern->seen + 1;
        for (i64 i = 0; i < size; i++)
            for (i64 j = i; j < size; j++) {
                i64 at = (i ? pattern->observed[i - 1] + 1 : 0) * width + (j ? pattern->observed[j - 1] + 1 : 0);
                pattern->sums[i * size + j] = pattern->sums[j * size + i] = apart.sums[at] + apart.errors[at];
            }
    }
    for (i64 i = 0; i < columns; i++)
        for (i64 j = i; j < columns; j++) {
            i64 at = (i + 1) * width + j + 1;
            double covariance = (estimate->second.sums[at] + estimate->second.errors[at]) / (double)rows;
            estimate->matrix[i * columns + j] = estimate->matrix[j * columns + i] =
                i == j ? covariance : 0.5 * covariance;
        }
    return true;
}

/* Compute the conditional covariance of what a pattern misses, into the inverse of a part, and the slopes of its
 * regression on what is observed. */
static void regress(estimate_t *estimate, const pattern_t *pattern)
{
    i64 columns = estimate->columns, gone = pattern->gone, seen = pattern->seen;
    double *part = estimate->part, *slopes = estimate->slopes;
    for (i64 i = 0; i < gone; i++)
        for (i64 j = 0; j < gone; j++)
            part[i * gone + j] = estimate->inverse[pattern->missing[i] * columns + pattern->missing[j]];
    moments_invert(part, gone, estimate->row);
    memset(slopes, 0, (size_t)(gone * seen) * sizeof *slopes);
    for (i64 i = 0; i < gone; i++)
        for (i64 k = 0; k < gone; k++) {
            const double *inverse = estimate->inverse + pattern->missing[k] * columns;
            double share = part[i * gone + k];
            for (i64 j = 0; j < seen; j++)
                slopes[i * seen + j] -= share * inverse[pattern->observed[j]];
        }
    double rows = (double)(pattern->high - pattern->low);
    for (i64 i = 0; i < gone; i++)
        for (i64 j = 0; j < gone; j++)
            estimate->spread[pattern->missing[i] * columns + pattern->missing[j]] += rows * part[i * gone + j];
}

/* Add the completed rows of a pattern, one by one. */
static bool add_completed_rows(estimate_t *estimate, const pattern_t *pattern)
{
    i64 columns = estimate->columns, width = columns + 1, stride = moments_panel_stride(width), seen = pattern->seen;
    for (i64 from = pattern->low; from < pattern->high; from += PANEL_ROWS) {
        i64 part = smaller(PANEL_ROWS, pattern->high - from);
        fill_pattern(estimate, pattern, from, part);
        for (i64 row = 0; row < part; row++) {
            double *values = estimate->panel + row * stride + 1;
            for (i64 k = 0; k < seen; k++) {
                values[pattern->observed[k]] -= estimate->mean[pattern->observed[k]];
                estimate->row[k] = values[pattern->observed[k]];
            }
            for (i64 i = 0; i < pattern->gone; i++) {
                double sum = 0.0;
                for (i64 k = 0; k < seen; k++)
                    sum += estimate->slopes[i * seen + k] * estimate->row[k];
                values[pattern->missing[i]] = sum;
            }
        }
        if (!moments_add_products(&estimate->second, estimate->panel, part, width, estimate->stop))
            return false;
    }
    return true;
}

/* Add the sums of a pattern's completed rows. */
static void add_completed_sums(estimate_t *estimate, const pattern_t *pattern)
{
    i64 seen = pattern->seen, gone = pattern->gone, size = seen + 1, width = estimate->columns + 1;
    double rows = (double)(pattern->high - pattern->low);
    double *about = estimate->part, *across = estimate->other, *row = estimate->row, *sums = estimate->second.sums;
    double *errors = estimate->second.errors;
    const double *slopes = estimate->slopes, *mean = estimate->mean;
    for (i64 i = 0; i < seen; i++) { /* the sums of products about the mean */
        double here = mean[pattern->observed[i]];
        row[i] = pattern->sums[i + 1] - rows * here;
        for (i64 j = 0; j < seen; j++) {
            double there = mean[pattern->observed[j]];
            about[i * seen + j] = pattern->sums[(i + 1) * size + j + 1] - here * pattern->sums[j + 1] -
                                  there * pattern->sums[i + 1] + rows * here * there;
        }
    }
    memset(across, 0, (size_t)(gone * seen) * sizeof *across);
    for (i64 i = 0; i < gone; i++)
        for (i64 k = 0; k < seen; k++) {
            double slope = slopes[i * seen + k];
            for (i64 j = 0; j < seen; j++)
                across[i * seen + j] += slope * about[k * seen + j];
        }
    for (i64 i = 0; i < seen; i++) {
        i64 column = pattern->observed[i] + 1;
        add_exactly(sums + column, errors + column, row[i]);
        for (i64 j = i; j < seen; j++) {
            i64 at = column * width + pattern->observed[j] + 1;
            add_exactly(sums + at, errors + at, about[i * seen + j]);
        }
    }
    for (i64 i = 0; i < gone; i++) {
        i64 column = pattern->missing[i] + 1;
        double sum = 0.0;
        for (i64 k = 0; k < seen; k++)
            sum += slopes[i * seen + k] * row[k];
        add_exactly(sums + column, errors + column, sum);
        for (i64 j = 0; j < seen; j++) {
            i64 other = pattern->observed[j] + 1, at = smaller(column, other) * width + larger(column, other);
            add_exactly(sums + at, errors + at, across[i * seen + j]);
        }
        for (i64 j = i; j < gone; j++) {
            i64 at = column * width + pattern->missing[j] + 1;
            double product = 0.0;
            for (i64 k = 0; k < seen; k++)
                product += across[i * seen + k] * slopes[j * seen + k];
            add_exactly(sums + at, errors + at, product);
        }
    }
}

/* Replace the estimate by the next one; return the largest change, or -1 if the run was stopped. */
static double improve(estimate_t *estimate, i64 rows)
{
    i64 columns = estimate->columns, width = columns + 1;
    size_t square = (size_t)(columns * columns) * sizeof(double);
    memcpy(estimate->inverse, estimate->matrix, square);
    for (i64 j = 0; j < columns; j++)
        estimate->inverse[j * (columns + 1)] *= 1.0 + RIDGE;
    moments_invert(estimate->inverse, columns, estimate->row);
    memset(estimate->spread, 0, square);
    memset(estimate->second.sums, 0, (size_t)(width * width) * sizeof(double));
    memset(estimate->second.errors, 0, (size_t)(width * width) * sizeof(double));
    for (i64 p = 0; p < estimate->patterns; p++) {
        const pattern_t found = pattern_at(estimate, p), *pattern = &found;
        if (is_stopped(estimate->stop, 0))
            return -1.0;
        regress(estimate, pattern);
        if (pattern->sums)
            add_completed_sums(estimate, pattern);
        else if (!add_completed_rows(estimate, pattern))
            return -1.0;
    }
    for (i64 j = 0; j < columns; j++) {
        estimate->first[j] = (estimate->second.sums[j + 1] + estimate->second.errors[j + 1]) / (double)rows;
        estimate->mean[j] += estimate->first[j];
    }
    for (i64 j = 0; j < columns; j++) /* the standard deviations of before are squared */
        estimate->row[j] = estimate->matrix[j * (columns + 1)];
    double largest = 0.0;
    for (i64 i = 0; i < columns; i++)
        for (i64 j = i; j < columns; j++) {
            i64 at = (i + 1) * width + j + 1;
            double product = estimate->second.sums[at] + estimate->second.errors[at] + estimate->spread[i * columns + j];
            double covariance = product / (double)rows - estimate->first[i] * estimate->first[j];
            double change = covariance - estimate->matrix[i * columns + j], scale = estimate->row[i] * estimate->row[j];
            if (scale > 0.0 && change * change / scale > largest)
                largest = change * change / scale;
            estimate->matrix[i * columns + j] = estimate->matrix[j * columns + i] = covariance;
        }
    return largest;
}

int32_t apsl_incomplete_covariance(const embedded_t *embedded, const i64 *places, i64 count, const i64 *listed,
                                   const i64 *starts, const uint8_t *is_missing, i64 patterns, double tolerance,
                                   i64 most_iterations, double *out, i64 *iterations, int64_t *stop)
{
    estimate_t estimate = {.embedded = embedded, .places = places, .listed = listed, .count = count, .stop = stop};
    estimate.columns = moments_embedded_width(embedded, places, count);
    estimate.starts = starts;
    estimate.is_missing = is_missing;
    estimate.patterns = patterns;
    int32_t status = NO_MEMORY;
    *iterations = 0;
    if (make_patterns(&estimate) && make_space(&estimate)) {
        i64 rows = starts[patterns];
        find_means(&estimate);
        status = start(&estimate, rows) ? DONE : STOPPED;
        while (status == DONE && *iterations < most_iterations) {
            double change = improve(&estimate, rows);
            ++*iterations;
            if (change < 0.0)
                status = STOPPED;
            else if (change <= tolerance * tolerance)
                break;
        }
        memcpy(out, estimate.matrix, (size_t)(estimate.columns * estimate.columns) * sizeof *out);
    }
    close_estimate(&estimate);
    return status;
}
