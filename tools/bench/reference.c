/* The yardstick of the benchmarks of wide tables: G² by a plain loop over the rows.
 *
 * Columns are runs of bytes. A test counts the table of x, y and the given columns row by row, then sums n·ln(n)
 * from a table over cells, margins and strata. Many tests are carried out in one call, so that calling costs nothing.
 * The cell of a row is found in one of two ways: column by column as a number of mixed radix (g_squares), or with the
 * stride of each column worked out beforehand (g_squares), which compilers turn into faster code. */

#include <stdint.h>
#include <string.h>

#define MOST_DIMS 16

typedef struct {
    const uint8_t *column[MOST_DIMS];
    int64_t card[MOST_DIMS], stride[MOST_DIMS], dims, size;
} test_t;

static test_t prepare(const uint8_t *codes, int64_t rows, const int64_t *cards, const int64_t *columns, int64_t dims)
{
    test_t test = {.dims = dims, .size = 1};
    for (int64_t d = 0; d < dims; d++) {
        test.column[d] = codes + columns[d] * rows;
        test.card[d] = cards[columns[d]];
        test.stride[d] = test.size;
        test.size *= test.card[d];
    }
    return test;
}

static void count(const test_t *test, int64_t rows, int64_t *cells)
{
    const test_t local = *test;
    for (int64_t r = 0; r < rows; r++) {
        int64_t cell = local.column[0][r];
        for (int64_t d = 1; d < local.dims; d++)
            cell += local.stride[d] * local.column[d][r];
        cells[cell]++;
    }
}

static double statistic(const test_t *test, const int64_t *cells, const double *terms, int64_t *dof)
{
    int64_t card_x = test->card[0], card_y = test->card[1];
    double sum = 0.0;
    *dof = 0;
    for (int64_t start = 0; start < test->size; start += card_x * card_y) {
        const int64_t *stratum = cells + start;
        int64_t total = 0, levels_x = 0, levels_y = 0;
        for (int64_t j = 0; j < card_y; j++) {
            int64_t margin = 0;
            for (int64_t i = 0; i < card_x; i++) {
                margin += stratum[i + card_x * j];
                sum += terms[stratum[i + card_x * j]];
            }
            sum -= terms[margin];
            levels_y += margin > 0;
            total += margin;
        }
        for (int64_t i = 0; i < card_x; i++) {
            int64_t margin = 0;
            for (int64_t j = 0; j < card_y; j++)
                margin += stratum[i + card_x * j];
            sum -= terms[margin];
            levels_x += margin > 0;
        }
        sum += terms[total];
        if (total > 0)
            *dof += (levels_x - 1) * (levels_y - 1);
    }
    return 2.0 * sum;
}

void g_squares(const uint8_t *codes, int64_t rows, const int64_t *cards, const int64_t *tests, int64_t number,
               int64_t dims, const double *terms, int64_t *cells, double *statistics, int64_t *dofs)
{
    for (int64_t t = 0; t < number; t++) {
        test_t test = prepare(codes, rows, cards, tests + t * dims, dims);
        memset(cells, 0, (size_t)test.size * sizeof *cells);
        count(&test, rows, cells);
        statistics[t] = statistic(&test, cells, terms, dofs + t);
    }
}
