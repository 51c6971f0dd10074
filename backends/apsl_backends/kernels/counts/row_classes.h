/* Classes of rows: rows with the same configuration of some columns have the same class.
 *
 * A class is a number in mixed radix while there are few, otherwise a label of the configurations that occur. So memory
 * is limited to a few numbers per row, however many configurations are possible. Classes are refined column by column,
 * and several levels of refinement are kept. With an empirical prior each class has a log prior, the sum over its
 * columns. */
#ifndef APSL_ROW_CLASSES_H
#define APSL_ROW_CLASSES_H

#include "counts/codes.h"

typedef struct {
    i64 rows, levels;
    uint32_t *classes; /* of each row, level after level */
    int32_t *cells;    /* the log priors of the classes, level after level; NULL if the prior is uniform */
    int32_t *counts;   /* of classes, or labels while rows are labelled */
    i64 most_classes;  /* that can be counted */
    uint64_t *keys;    /* a hash table of configurations */
    int32_t *labels;
    uint64_t slots;
} row_classes_t;

/* A column: its codes, its number of levels, and their log priors (NULL if the prior is uniform). */
typedef struct {
    const void *codes;
    int bytes;
    i64 card;
    const int32_t *log_priors;
} column_t;

/* All zero bytes are a valid state before; what was allocated is freed by close, also after a failure. */
status_t counts_row_classes_open(row_classes_t *space, i64 rows, i64 levels, bool empirical);
void counts_row_classes_close(row_classes_t *space);

/* Return how many classes of so many rows can be counted. */
i64 counts_most_classes_for(i64 rows);

/* Estimate the bytes of such a space. */
i64 counts_row_classes_bytes(i64 rows, i64 levels, bool empirical);

/* Return the classes of the rows at a level. */
static inline uint32_t *classes_at(const row_classes_t *space, i64 level)
{
    return space->classes + level * space->rows;
}

/* Return the log priors of the classes at a level, or NULL. */
static inline int32_t *cells_at(const row_classes_t *space, i64 level)
{
    return space->cells ? space->cells + level * space->most_classes : NULL;
}

/* Put all rows into class 0 at a level. */
void counts_join_all(row_classes_t *space, i64 level);

/* Refine ``span`` classes at one level by a column, to another level; return an upper bound of their number. It is never
 * more than can be counted. */
i64 counts_refine(row_classes_t *space, i64 from, i64 span, const column_t *column, i64 to);

/* Do the same, and label the classes that occur in the order of the rows, so that the number is exact. Without a column
 * (NULL) the classes stay the same. Write the former class of each new one to ``below``, unless that is NULL. */
i64 counts_label(row_classes_t *space, i64 from, i64 span, const column_t *column, i64 to, uint32_t *below);

/* Count the rows of the classes at a level, each as often as its weight says (NULL: once). */
void counts_count_classes(row_classes_t *space, i64 level, i64 span, const int32_t *weights);

/* Count the rows of the classes refined by a column: class k with code c has the place k + c * span. There must be
 * enough space for all. */
void counts_count_refined(row_classes_t *space, i64 level, i64 span, const column_t *column, const int32_t *weights);

#endif
