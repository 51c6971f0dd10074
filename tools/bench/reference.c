/* The yardstick of the kernel benchmark: G² by a plain loop over the rows.
 *
 * Columns are runs of bytes. A test counts the table of x, y and the given columns, then sums n·ln(n) from a table
 * over cells, margins and strata. Many tests are carried out in one call, so that calling costs nothing. */

#include <stdint.h>
#include <string.h>

#define MOST_DIMS 16

static double g_square(const uint8_t *codes, int64_t rows, const int64_t *cards, const int64_t *columns, int64_t dims,
                const double *terms, int64_t *cells, int64_t *dof)
{
    const uint8_t *column[MOST_DIMS];
    int64_t stride[MOST_DIMS], size = 1;
    for (int64_t d = 0; d < dims; d++) {
        column[d] = codes + columns[d] * rows;
        stride[d] = size;
        size *= cards[columns[d]];
    }
    memset(cells, 0, (size_t)size * sizeof *cells);
    for (int64_t r = 0; r < rows; r++) {
        int64_t cell = column[0][r];
        for (int64_t d = 1; d < dims; d++)
            cell += stride[d] * column[d][r];
        cells[cell]++;
    }
    int64_t card_x = cards[columns[0]], card_y = cards[columns[1]];
    double sum = 0.0;
    *dof = 0;
    for (int64_t start = 0; start < size; start += card_x * card_y) {
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

void g_squares(const uint8_t *codes, int64_t rows, const int64_t *cards, const int64_t *tests, int64_t count,
               int64_t dims, const double *terms, int64_t *cells, double *statistics, int64_t *dofs)
{
    for (int64_t t = 0; t < count; t++)
        statistics[t] = g_square(codes, rows, cards, tests + t * dims, dims, terms, cells, dofs + t);
}
