/* A table in the forms that the kernels count from: codes, and bit rows for columns of few levels.
 *
 * A table may have weighted rows. Then each line stands for as many rows as its weight says, and there are no bit rows.
 * Without weights, lines are rows. */
#ifndef APSL_TABLE_H
#define APSL_TABLE_H

#include "counts/codes.h"

typedef struct {
    i64 card;
    i64 span;      /* the cardinality, plus one for missing values, which have the last code */
    i64 first_bit; /* its first bit row, or -1 for a column without; the last code of the span has no bit row */
    i64 *totals;   /* in how many rows each code stands */
    bool is_varied; /* whether at least two levels occur */
} column_t;

typedef struct {
    codes_t codes;
    const i64 *weights; /* of the lines, or NULL */
    i64 rows;           /* the sum of the weights */
    i64 count;          /* of the columns */
    i64 words;          /* in a bit row */
    i64 bit_rows;       /* the last one stands for any code */
    i64 widest;         /* the largest span */
    column_t *columns;
    uint64_t *bits;
    i64 *totals;
} table_t;

static inline i64 lines_of(const table_t *table) { return table->codes.rows; }

static inline const uint64_t *bit_row(const table_t *table, i64 row) { return table->bits + table->words * row; }

/* Return a table whose columns are yet to be packed, or NULL without memory; codes and weights must outlive it. */
EXPORT table_t *apsl_table_open(const void *codes, int32_t bytes, i64 lines, i64 count, const i64 *cards,
                                const uint8_t *incomplete, const i64 *weights, i64 rows);

/* Fill the bit rows and totals of the columns from low to high; return the first whose codes exceed its span, or -1.
 * Threads may pack different columns at once. */
EXPORT i64 apsl_table_pack(table_t *table, i64 low, i64 high);

/* Free a table; NULL is allowed. */
EXPORT void apsl_table_close(table_t *table);

#endif
