/* Sums of products of the columns of a panel, in tiles that fit the vector registers.
 *
 * A tile is TALL columns by up to WIDE vectors; each of its sums is made row after row by one accumulator. So wider
 * vectors make more sums at once but no sum in another order, and all processors give the same bits. Each panel's sums
 * are added to the total with the error of the addition. */
#include "moments/panel_products.h"

#include <stdlib.h>

/* A tile is TALL by some vectors, as many as there are registers for. */
#if defined(__AVX512F__)
enum { LANES = 8, TALL = 8, WIDE = 3 };
#elif defined(__AVX__)
enum { LANES = 4, TALL = 4, WIDE = 2 };
#else
enum { LANES = 2, TALL = 4, WIDE = 2 };
#endif

/* Rows of panels begin at any double. */
typedef double vector_t __attribute__((vector_size(LANES * 8), aligned(8), may_alias));

i64 moments_panel_stride(i64 columns) { return (columns + 7) / 8 * 8; }

double *moments_new_panel(i64 columns) { return calloc((size_t)(PANEL_ROWS * moments_panel_stride(columns)),
                                                       sizeof(double)); }

/* Write the sums of the products of TALL columns with `wide` vectors of columns. */
ALWAYS_INLINE void multiply_tile(const double *tall, const double *broad, i64 stride, i64 rows, int wide,
                                 double out[TALL][WIDE * LANES])
{
    vector_t sums[TALL][WIDE];
    for (int i = 0; i < TALL; i++)
        for (int j = 0; j < wide; j++)
            sums[i][j] = (vector_t){0.0};
    for (i64 row = 0; row < rows; row++) {
        vector_t values[WIDE];
        for (int j = 0; j < wide; j++)
            values[j] = *(const vector_t *)(broad + j * LANES);
        for (int i = 0; i < TALL; i++)
            for (int j = 0; j < wide; j++)
                sums[i][j] += tall[i] * values[j];
        tall += stride;
        broad += stride;
    }
    for (int i = 0; i < TALL; i++)
        for (int j = 0; j < wide; j++)
            *(vector_t *)(out[i] + j * LANES) = sums[i][j];
}

bool moments_add_products(products_t *products, const double *panel, i64 rows, i64 first, flag_t *stop)
{
    i64 columns = products->columns, stride = moments_panel_stride(columns);
    for (i64 top = 0; top < first; top += TALL) {
        if (stop && is_stopped(stop, 0))
            return false;
        i64 bottom = smaller(top + TALL, first), step;
        for (i64 left = top / LANES * LANES; left < columns; left += step) {
            double tile[TALL][WIDE * LANES];
            i64 vectors = (columns - left + LANES - 1) / LANES;
            if (vectors >= WIDE)
                multiply_tile(panel + top, panel + left, stride, rows, WIDE, tile);
            else if (vectors == 2)
                multiply_tile(panel + top, panel + left, stride, rows, 2, tile);
            else
                multiply_tile(panel + top, panel + left, stride, rows, 1, tile);
            step = smaller(vectors, WIDE) * LANES;
            i64 right = smaller(left + step, columns);
            for (i64 i = top; i < bottom; i++) {
                double *sums = products->sums + i * columns, *errors = products->errors + i * columns;
                for (i64 j = larger(left, i); j < right; j++)
                    add_exactly(sums + j, errors + j, tile[i - top][j - left]);
            }
        }
    }
    return true;
}
