/* A score of graphs over the nodes of a table: its rows, its prior, known terms, and working space; or its moments.
 *
 * Nodes are numbered. With rows, a node takes part once it has a column, and its families are counted. With moments, each
 * node has a block of columns, and its families have Gaussian scores. The codes and the weights of the rows and the
 * covariance matrix belong to the caller and must outlive their use. One call at a time may use a score. */
#ifndef APSL_SCORE_H
#define APSL_SCORE_H

#include "counts/codes.h"
#include "scores/families.h"
#include "counts/row_classes.h"
#include "scores/terms.h"

/* The levels of classes that scores of families need. */
enum { LEVELS = 3 };

struct set_figures;

typedef struct score {
    codes_t codes;
    i64 columns;            /* of the codes */
    const int32_t *weights; /* how many rows each row of codes represents; NULL if one */
    i64 total;              /* the sum of the weights */
    i64 nodes;
    i64 *places, *cards;    /* by node: its column, and its number of levels, 0 while it has no column; 1 with moments */
    int32_t **log_priors;   /* by node, of each level; NULL if the prior is uniform */
    bool empirical;
    i64 penalty;            /* of each parent, in units */
    terms_t terms;
    row_classes_t space;
    uint32_t *below;        /* the former class of each class that was refined last */
    int32_t *rests;         /* counts without one column */
    struct set_figures *sets; /* by the moments; NULL if rows are counted */
    families_t known;
    i64 counted;            /* how many families were counted */
    i64 tried, most_tries;  /* moves compared in a search, including the checks for cycles, and their limit */
} score_t;

/* Open a score of so many nodes without rows, or return NULL. ``scale`` is the number of units in a nat. */
EXPORT score_t *apsl_score_open(i64 nodes, double ess, double scale, i64 penalty, int32_t empirical);
EXPORT void apsl_score_close(score_t *score);

/* Estimate the bytes of the working space for so many rows. */
EXPORT i64 apsl_score_bytes(i64 rows, int32_t empirical);

/* Take rows; all nodes lose their columns, and known scores of families stay. */
EXPORT int32_t apsl_score_set_rows(score_t *score, const void *codes, int32_t bytes, i64 columns, i64 rows,
                                   const int32_t *weights, i64 total);

/* Count each row as a share of one, from 0 to 1, from now on. Known scores of families are forgotten if it is another. */
EXPORT void apsl_score_set_share(score_t *score, double share);

/* Give a node a column with so many levels; WRONG_INPUT if a number is out of range or a code is not below the card. */
EXPORT int32_t apsl_score_add_node(score_t *score, i64 node, i64 place, i64 card, const int32_t *log_priors);

/* Take the moments of a table instead of rows: node i is the i-th block of columns of a covariance matrix. The values are
 * those of set_figures_open, and find_flaw finds none. Known scores of families are forgotten. An edge with an end that is
 * bent, a byte of each node says whether, costs so many nats more. */
EXPORT int32_t apsl_score_set_moments(score_t *score, const double *matrix, const i64 *starts, double rows,
                                      double factor, double tolerance, i64 widest, const uint8_t *bent,
                                      double per_bent);

/* Add the moments of the means of groups to those of the rows inside them, which were taken before: as many blocks, with
 * other widths. The values are those of set_figures_open. */
EXPORT int32_t apsl_score_add_level(score_t *score, const double *matrix, const i64 *starts, double rows,
                                    double factor, double tolerance, i64 widest);

/* Ask the caller for the figure of every set from now on; moments were taken before. A node has no parents' figure then. */
EXPORT int32_t apsl_score_ask(score_t *score, i64 (*ask)(const i64 *numbers, i64 count));

/* Forget all scores of families: the rows are others than before. */
EXPORT void apsl_score_forget(score_t *score);

/* Set the limit of moves that a search compares, and begin to count them anew. */
EXPORT void apsl_score_allow(score_t *score, i64 most_tries);
EXPORT i64 apsl_score_tried(const score_t *score);
EXPORT i64 apsl_score_counted(const score_t *score);

/* Return whether a node has a column. */
static inline bool has_column(const score_t *score, i64 node)
{
    return node >= 0 && node < score->nodes && score->cards[node] > 0;
}

/* Make room for families of some nodes that have columns; false without memory. */
bool scores_reserve_families(score_t *score, const i64 *nodes, i64 count);

/* Return whether all nodes have columns. */
bool scores_have_columns(const score_t *score, const i64 *nodes, i64 count);

static inline column_t column_for(const score_t *score, i64 node)
{
    return (column_t){column_of(&score->codes, score->places[node]), score->codes.bytes, score->cards[node],
                      score->empirical ? score->log_priors[node] : NULL};
}

#endif
