/* Tests of embedded columns, each from the rows that are complete in its own columns.
 *
 * A bench holds sums, a covariance matrix, a panel and a decomposition, and grows with the widest test. Consecutive
 * tests of one x given nothing and without gaps share a pass over the rows. apsl_matrix_tests does the same from a
 * covariance matrix, without rows. */
#include "moments/row_tests.h"

#include "moments/comparison.h"

#include <stdlib.h>
#include <string.h>

/* The columns of a panel for several tests of the same x. */
enum { WORD = 64, SWEPT_COLUMNS = 128 };

/* Space for the tests of a call: sums with errors and the covariance matrix for `capacity` columns, besides the
 * constant, those of one pair of a sweep, a panel, what a comparison needs, the given places of a test in order, and
 * its rows. */
typedef struct {
    const embedded_t *embedded;
    flag_t *stop;
    double tolerance;
    i64 capacity, most_places;
    double *space, *sums, *errors, *pair_sums, *pair_errors, *matrix, *pivots, *squares, *square_errors, *panel;
    i64 *columns, *sorted, *starts, *listed;
    uint64_t *complete;
    decomposition_t decomposition;
} bench_t;

static void close_bench(bench_t *bench)
{
    free(bench->space);
    free(bench->panel);
    free(bench->columns);
    free(bench->sorted);
    free(bench->listed);
    free(bench->complete);
    moments_free_columns(&bench->decomposition);
}

static bool reserve_bench(bench_t *bench, i64 columns, i64 places)
{
    if (places > bench->most_places) {
        free(bench->sorted);
        bench->sorted = malloc((2 * (size_t)places + 1) * sizeof *bench->sorted);
        bench->most_places = bench->sorted ? places : 0;
        bench->starts = bench->sorted ? bench->sorted + places : NULL;
    }
    if (!bench->space || columns > bench->capacity) {
        size_t width = (size_t)columns + 1, square = width * width;
        free(bench->space);
        free(bench->panel);
        free(bench->columns);
        bench->space = malloc((5 * square + 3 * width) * sizeof *bench->space);
        bench->panel = moments_new_panel(columns + 1);
        bench->columns = malloc(width * sizeof *bench->columns);
        if (!bench->space || !bench->panel || !bench->columns)
            return false;
        bench->capacity = columns;
        bench->sums = bench->space;
        bench->errors = bench->sums + square;
        bench->pair_sums = bench->errors + square;
        bench->pair_errors = bench->pair_sums + square;
        bench->matrix = bench->pair_errors + square;
        bench->pivots = bench->matrix + square;
        bench->squares = bench->pivots + width;
        bench->square_errors = bench->squares + width;
    }
    return bench->sorted && moments_reserve_columns(&bench->decomposition, columns);
}

/* Compare two blocks of a matrix of some columns, given the first ones, which are those of blocks at `starts`. */
static comparison_t compare_given(bench_t *bench, i64 columns, i64 given, block_t x, block_t y)
{
    decomposition_t *decomposition = &bench->decomposition;
    decomposition->matrix = bench->matrix;
    decomposition->columns = columns;
    decomposition->tolerance = bench->tolerance;
    decomposition->rank = 0;
    for (i64 column = 0; column < given; column++)
        moments_add_column(decomposition, column);
    return moments_compare(decomposition, x, y, bench->starts, bench->columns, bench->pivots);
}

static void write_measures(double *measures, const comparison_t *compared)
{
    measures[LOG_RATIO] = compared->ratio;
    measures[INFLATION] = compared->levels.inflation;
    measures[JOINT_RATE] = compared->levels.joint;
    measures[PRODUCTS] = compared->levels.products;
}

/* Return the number of rows that are complete in some places, and list them; the list is NULL where all are. */
static i64 list_rows(bench_t *bench, const i64 *places, i64 count, const i64 **listed)
{
    const embedded_t *embedded = bench->embedded;
    i64 words = (embedded->rows + WORD - 1) / WORD, rows = 0;
    bool is_complete = true;
    for (i64 k = 0; k < count; k++) {
        const uint64_t *present = embedded->columns[places[k]].present;
        if (!present)
            continue;
        for (i64 word = 0; word < words; word++)
            bench->complete[word] = is_complete ? present[word] : bench->complete[word] & present[word];
        is_complete = false;
    }
    *listed = is_complete ? NULL : bench->listed;
    if (is_complete)
        return embedded->rows;
    for (i64 word = 0; word < words; word++)
        for (uint64_t bits = bench->complete[word]; bits; bits &= bits - 1)
            bench->listed[rows++] = word * WORD + lowest_bit(bits);
    return rows;
}

static void sort_places(i64 *sorted, const i64 *places, i64 count)
{
    for (i64 k = 0; k < count; k++) {
        i64 at = k;
        for (; at > 0 && sorted[at - 1] > places[k]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = places[k];
    }
}

/* Run one test. */
static int32_t run_test(bench_t *bench, const i64 *places, i64 count, double *measures, i64 *figures)
{
    const embedded_t *embedded = bench->embedded;
    const embedded_column_t *columns = embedded->columns;
    bool is_turned = places[0] > places[1];
    const embedded_column_t *low = columns + places[is_turned], *high = columns + places[!is_turned];
    i64 low_width = leading_width(low), high_width = leading_width(high);
    i64 given = moments_embedded_width(embedded, places + 2, count - 2), width = given + low_width + high_width;
    if (!reserve_bench(bench, width, count))
        return NO_MEMORY;
    sort_places(bench->sorted, places + 2, count - 2);
    bench->starts[0] = 0;
    for (i64 k = 0; k < count - 2; k++)
        bench->starts[k + 1] = bench->starts[k] + moments_embedded_width(embedded, bench->sorted + k, 1);
    const i64 *listed;
    i64 rows = list_rows(bench, places, count, &listed), stride = moments_panel_stride(width + 1);
    memset(bench->sums, 0, (size_t)((width + 1) * (width + 1)) * sizeof *bench->sums);
    memset(bench->errors, 0, (size_t)((width + 1) * (width + 1)) * sizeof *bench->errors);
    products_t products = {bench->sums, bench->errors, width + 1};
    for (i64 from = 0; from < rows; from += PANEL_ROWS) {
        i64 part = smaller(PANEL_ROWS, rows - from);
        const i64 *some = listed ? listed + from : NULL;
        double *panel = bench->panel;
        moments_fill_places(embedded, bench->sorted, count - 2, some, from, part, panel, stride);
        moments_fill_panel(low, low_width, some, from, part, panel + 1 + given, stride);
        moments_fill_panel(high, high_width, some, from, part, panel + 1 + given + low_width, stride);
        if (!moments_add_products(&products, panel, part, width + 1, bench->stop))
            return STOPPED;
    }
    write_measures(measures, &(comparison_t){0, 0, 0.0, NO_LEVEL_PAIRS});
    memset(figures, 0, ROW_TEST_FIELDS * sizeof *figures);
    figures[COMPLETE_ROWS] = rows;
    if (rows == 0)
        return DONE;
    apsl_covariance(bench->sums, bench->errors, width, bench->matrix);
    block_t first = {given, low_width, !low->numbers}, second = {given + low_width, high_width, !high->numbers};
    comparison_t compared = compare_given(bench, width, given, first, second);
    write_measures(measures, &compared);
    figures[is_turned ? Y_RANK : X_RANK] = compared.of_x;
    figures[is_turned ? X_RANK : Y_RANK] = compared.of_y;
    figures[GIVEN_RANK] = bench->decomposition.rank;
    return DONE;
}

/* Return how many tests from one on have the same x, nothing given, no missing values, and fit into one panel; the
 * number of their columns besides the constant is written. */
static i64 swept_tests(const embedded_t *embedded, const i64 *starts, const i64 *places, i64 test, i64 tests,
                       i64 *width)
{
    i64 x = places[starts[test]], swept = 0;
    *width = leading_width(embedded->columns + x);
    for (; test + swept < tests && !embedded->columns[x].present; swept++) {
        const i64 *asked = places + starts[test + swept];
        const embedded_column_t *y = embedded->columns + asked[1];
        i64 wider = *width + leading_width(y);
        if (starts[test + swept + 1] - starts[test + swept] != 2 || asked[0] != x || y->present ||
            wider > SWEPT_COLUMNS)
            break;
        *width = wider;
    }
    return swept;
}

/* Make the covariance matrix of x and one y from the sums of a sweep; y begins at a column. */
static void matrix_of_pair(bench_t *bench, i64 x_width, i64 at, const embedded_column_t *y, i64 columns, bool is_turned)
{
    double *sums = bench->pair_sums, *errors = bench->pair_errors;
    i64 y_width = leading_width(y);
    i64 width = 1 + x_width + y_width, first = is_turned ? 1 + y_width : 1, second = is_turned ? 1 : 1 + x_width;
    memset(sums, 0, (size_t)(width * width) * sizeof *sums);
    memset(errors, 0, (size_t)(width * width) * sizeof *errors);
    sums[0] = bench->sums[0];
    for (i64 i = 0; i <= x_width; i++) {
        i64 row = i == 0 ? 0 : first + i - 1;
        for (i64 j = larger(i, 1); j <= x_width; j++) {
            sums[row * width + first + j - 1] = bench->sums[i * columns + j];
            errors[row * width + first + j - 1] = bench->errors[i * columns + j];
        }
        for (i64 j = 0; j < y_width; j++) {
            bool is_below = i > 0 && is_turned;
            i64 to = is_below ? (second + j) * width + row : row * width + second + j;
            sums[to] = bench->sums[i * columns + at + j];
            errors[to] = bench->errors[i * columns + at + j];
        }
    }
    for (i64 j = 0; j < y_width; j++) {
        i64 to = (second + j) * (width + 1);
        sums[to] = y->numbers ? bench->squares[at + j] : bench->sums[at + j];
        errors[to] = y->numbers ? bench->square_errors[at + j] : bench->errors[at + j];
    }
    apsl_covariance(sums, errors, width - 1, bench->matrix);
}

/* Run tests of the same x given nothing: only sums with x and sums of squares are needed. */
static int32_t sweep(bench_t *bench, const i64 *starts, const i64 *places, i64 tests, i64 width, double *measures,
                     i64 *figures)
{
    const embedded_t *embedded = bench->embedded;
    i64 columns = width + 1, rows = embedded->rows, stride = moments_panel_stride(columns), x = places[starts[0]];
    i64 x_width = leading_width(embedded->columns + x);
    if (!reserve_bench(bench, larger(width, SWEPT_COLUMNS), 2))
        return NO_MEMORY;
    double *panel = bench->panel, squares[SWEPT_COLUMNS + 1];
    memset(bench->sums, 0, (size_t)(columns * (1 + x_width)) * sizeof *bench->sums);
    memset(bench->errors, 0, (size_t)(columns * (1 + x_width)) * sizeof *bench->errors);
    memset(bench->squares, 0, (size_t)columns * sizeof *bench->squares);
    memset(bench->square_errors, 0, (size_t)columns * sizeof *bench->square_errors);
    products_t products = {bench->sums, bench->errors, columns};
    for (i64 from = 0; from < rows; from += PANEL_ROWS) {
        i64 part = smaller(PANEL_ROWS, rows - from), at = 1 + x_width;
        moments_fill_places(embedded, NULL, 0, NULL, from, part, panel, stride);
        moments_fill_panel(embedded->columns + x, x_width, NULL, from, part, panel + 1, stride);
        for (i64 test = 0; test < tests; test++) {
            const embedded_column_t *y = embedded->columns + places[starts[test] + 1];
            moments_fill_panel(y, leading_width(y), NULL, from, part, panel + at, stride);
            at += leading_width(y);
        }
        if (!moments_add_products(&products, panel, part, 1 + x_width, bench->stop))
            return STOPPED;
        memset(squares, 0, sizeof squares);
        for (i64 row = 0; row < part; row++)
            for (i64 j = 0; j < columns; j++)
                squares[j] += panel[row * stride + j] * panel[row * stride + j];
        for (i64 j = 0; j < columns; j++)
            add_exactly(bench->squares + j, bench->square_errors + j, squares[j]);
    }
    i64 at = 1 + x_width;
    for (i64 test = 0; test < tests; test++) {
        i64 place = places[starts[test] + 1], *found = figures + test * ROW_TEST_FIELDS;
        const embedded_column_t *y = embedded->columns + place;
        i64 y_width = leading_width(y);
        bool is_turned = x > place;
        matrix_of_pair(bench, x_width, at, y, columns, is_turned);
        block_t of_x = {is_turned ? y_width : 0, x_width, !embedded->columns[x].numbers};
        block_t of_y = {is_turned ? 0 : x_width, y_width, !y->numbers};
        comparison_t compared = compare_given(bench, x_width + y_width, 0, of_x, of_y);
        write_measures(measures + test * ROW_TEST_MEASURES, &compared);
        found[X_RANK] = compared.of_x;
        found[Y_RANK] = compared.of_y;
        found[GIVEN_RANK] = 0;
        found[COMPLETE_ROWS] = rows;
        at += y_width;
    }
    return DONE;
}

int32_t apsl_row_tests(const embedded_t *embedded, const i64 *starts, const i64 *places, i64 tests, double tolerance,
                       double *measures, i64 *figures, int64_t *stop)
{
    size_t rows = (size_t)embedded->rows;
    bench_t bench = {.embedded = embedded, .stop = stop, .tolerance = tolerance};
    bench.listed = malloc((rows + 1) * sizeof *bench.listed);
    bench.complete = malloc((rows / WORD + 1) * sizeof *bench.complete);
    int32_t status = bench.listed && bench.complete ? DONE : NO_MEMORY;
    for (i64 test = 0; status == DONE && test < tests;) {
        i64 width = 0, swept = embedded->rows ? swept_tests(embedded, starts, places, test, tests, &width) : 0;
        if (is_stopped(stop, test))
            status = STOPPED;
        else if (swept > 1)
            status = sweep(&bench, starts + test, places, swept, width, measures + test * ROW_TEST_MEASURES,
                           figures + test * ROW_TEST_FIELDS);
        else
            status = run_test(&bench, places + starts[test], starts[test + 1] - starts[test],
                              measures + test * ROW_TEST_MEASURES, figures + test * ROW_TEST_FIELDS);
        test += larger(swept, 1);
    }
    close_bench(&bench);
    return status;
}

int32_t apsl_matrix_tests(const double *matrix, const i64 *blocks, const i64 *leading,
                          const int8_t *categories, i64 count, const i64 *starts, const i64 *places, i64 tests,
                          double tolerance, double *measures, i64 *figures)
{
    bench_t bench = {.tolerance = tolerance};
    int32_t status = DONE;
    for (i64 test = 0; status == DONE && test < tests; test++) {
        const i64 *asked = places + starts[test];
        i64 given = starts[test + 1] - starts[test] - 2, x = asked[0], y = asked[1], width = 0;
        for (i64 k = 0; k < given + 2; k++)
            width += blocks[asked[k] + 1] - blocks[asked[k]];
        if (!reserve_bench(&bench, width, given + 2)) {
            status = NO_MEMORY;
            break;
        }
        sort_places(bench.sorted, asked + 2, given);
        decomposition_t *decomposition = &bench.decomposition;
        decomposition->matrix = matrix;
        decomposition->columns = blocks[count];
        decomposition->tolerance = tolerance;
        decomposition->rank = 0;
        for (i64 k = 0; k < given; k++)
            for (i64 column = blocks[bench.sorted[k]]; column < blocks[bench.sorted[k] + 1]; column++)
                moments_add_column(decomposition, column);
        block_t of_x = {blocks[x], leading[x], categories[x] != 0}, of_y = {blocks[y], leading[y], categories[y] != 0};
        comparison_t compared = moments_compare(decomposition, of_x, of_y, blocks, bench.columns, bench.pivots);
        i64 *found = figures + test * ROW_TEST_FIELDS;
        write_measures(measures + test * ROW_TEST_MEASURES, &compared);
        found[X_RANK] = compared.of_x;
        found[Y_RANK] = compared.of_y;
        found[GIVEN_RANK] = decomposition->rank;
        found[COMPLETE_ROWS] = 0;
    }
    close_bench(&bench);
    return status;
}
