#include "score.h"

#include <stdlib.h>
#include <string.h>

#include "set_figures.h"

score_t *apsl_score_open(i64 nodes, double ess, double scale, i64 penalty, int32_t empirical)
{
    score_t *score = calloc(1, sizeof *score);
    if (!score)
        return NULL;
    score->nodes = nodes;
    score->penalty = penalty;
    score->empirical = empirical != 0;
    score->places = calloc((size_t)nodes, sizeof *score->places);
    score->cards = calloc((size_t)nodes, sizeof *score->cards);
    score->log_priors = calloc((size_t)nodes, sizeof *score->log_priors);
    bool is_whole = score->places && score->cards && score->log_priors;
    if (!is_whole || terms_open(&score->terms, ess, scale) != DONE) {
        apsl_score_close(score);
        return NULL;
    }
    return score;
}

void apsl_score_close(score_t *score)
{
    for (i64 node = 0; score->log_priors && node < score->nodes; node++)
        free(score->log_priors[node]);
    free(score->log_priors);
    free(score->places);
    free(score->cards);
    free(score->below);
    free(score->rests);
    terms_close(&score->terms);
    row_classes_close(&score->space);
    families_close(&score->known);
    set_figures_close(score->sets);
    free(score);
}

i64 apsl_score_bytes(i64 rows, int32_t empirical)
{
    i64 classes = row_classes_bytes(rows, LEVELS, empirical != 0);
    return classes + 4 * rows + 4 * most_classes_for(rows) + ((i64)sizeof(term_t) << TERM_BITS);
}

/* Make working space for a number of rows, unless it is there. */
static status_t reserve(score_t *score, i64 rows)
{
    if (score->rests && score->space.rows == rows)
        return DONE;
    row_classes_close(&score->space);
    free(score->below);
    free(score->rests);
    score->rests = NULL;
    score->below = malloc(sizeof *score->below * (size_t)rows);
    status_t status = row_classes_open(&score->space, rows, LEVELS, score->empirical);
    if (status == DONE)
        score->rests = malloc(sizeof *score->rests * (size_t)score->space.most_classes);
    return score->below && score->rests ? DONE : NO_MEMORY;
}

int32_t apsl_score_set_rows(score_t *score, const void *codes, int32_t bytes, i64 columns, i64 rows,
                            const int32_t *weights, i64 total)
{
    if (score->sets)
        families_forget(&score->known);
    set_figures_close(score->sets);
    score->sets = NULL;
    memset(score->cards, 0, sizeof *score->cards * (size_t)score->nodes);
    score->codes = (codes_t){codes, rows, bytes};
    score->columns = columns;
    score->weights = weights;
    score->total = total;
    return (int32_t)reserve(score, rows);
}

void apsl_score_set_share(score_t *score, double share)
{
    if (share != score->terms.share)
        families_forget(&score->known);
    set_share(&score->terms, share);
}

ALWAYS_INLINE uint32_t largest_code(const void *column, int bytes, i64 rows)
{
    uint32_t most = 0;
    for (i64 row = 0; row < rows; row++) {
        uint32_t code = code_at(column, bytes, row);
        most = code > most ? code : most;
    }
    return most;
}

/* Return whether all codes of a column are below a number. */
static bool are_below(const codes_t *codes, i64 place, i64 card)
{
    const void *column = column_of(codes, place);
    switch (codes->bytes) {
    case 1: return largest_code(column, 1, codes->rows) < card;
    case 2: return largest_code(column, 2, codes->rows) < card;
    default: return largest_code(column, 4, codes->rows) < card;
    }
}

int32_t apsl_score_add_node(score_t *score, i64 node, i64 place, i64 card, const int32_t *log_priors)
{
    bool is_known = node >= 0 && node < score->nodes && place >= 0 && place < score->columns;
    if (score->sets || !score->rests || !is_known || card < 1 || card > UINT32_MAX || !are_below(&score->codes, place, card))
        return WRONG_INPUT;
    if (score->empirical) {
        size_t size = sizeof *log_priors * (size_t)card;
        int32_t *own = realloc(score->log_priors[node], size);
        if (!own)
            return NO_MEMORY;
        score->log_priors[node] = memcpy(own, log_priors, size);
    }
    score->places[node] = place;
    score->cards[node] = card;
    return DONE;
}

int32_t apsl_score_set_moments(score_t *score, const double *matrix, const i64 *starts, double rows, double factor,
                               double tolerance, i64 widest)
{
    set_figures_close(score->sets);
    families_forget(&score->known);
    score->sets = set_figures_open(matrix, starts, score->nodes, rows, factor, tolerance, score->terms.scale);
    if (score->sets)
        score->sets->widest = widest;
    for (i64 node = 0; node < score->nodes; node++)
        score->cards[node] = score->sets ? 1 : 0;
    return score->sets ? DONE : NO_MEMORY;
}

void apsl_score_forget(score_t *score) { families_forget(&score->known); }

void apsl_score_allow(score_t *score, i64 most_tries)
{
    score->tried = 0;
    score->most_tries = most_tries;
}

i64 apsl_score_tried(const score_t *score) { return score->tried; }

i64 apsl_score_counted(const score_t *score) { return score->counted; }

bool reserve_families(score_t *score, const i64 *nodes, i64 count)
{
    return !score->sets || reserve_sets(score->sets, nodes, count);
}

bool have_columns(const score_t *score, const i64 *nodes, i64 count)
{
    for (i64 at = 0; at < count; at++)
        if (!has_column(score, nodes[at]))
            return false;
    return true;
}
