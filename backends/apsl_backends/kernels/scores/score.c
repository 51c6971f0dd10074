/* Open a score, give it rows or moments, and bound its searches.
 *
 * It owns its working space, and keeps addresses of the caller's codes, weights and matrix. All numbers from outside
 * are checked here. One call at a time may use it. */
#include "scores/score.h"

#include <stdlib.h>
#include <string.h>

#include "counts/largest_code.h"
#include "scores/set_figures.h"

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
    if (!is_whole || scores_terms_open(&score->terms, ess, scale) != DONE) {
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
    scores_terms_close(&score->terms);
    counts_row_classes_close(&score->space);
    scores_families_close(&score->known);
    scores_set_figures_close(score->sets);
    free(score);
}

i64 apsl_score_bytes(i64 rows, int32_t empirical)
{
    i64 classes = counts_row_classes_bytes(rows, LEVELS, empirical != 0);
    return classes + 4 * rows + 4 * counts_most_classes_for(rows) + ((i64)sizeof(term_t) << TERM_BITS);
}

/* Make working space for a number of rows, unless it is there. */
static status_t reserve(score_t *score, i64 rows)
{
    if (score->rests && score->space.rows == rows)
        return DONE;
    counts_row_classes_close(&score->space);
    free(score->below);
    free(score->rests);
    score->rests = NULL;
    score->below = malloc(sizeof *score->below * (size_t)rows);
    status_t status = counts_row_classes_open(&score->space, rows, LEVELS, score->empirical);
    if (status == DONE)
        score->rests = malloc(sizeof *score->rests * (size_t)score->space.most_classes);
    return score->below && score->rests ? DONE : NO_MEMORY;
}

int32_t apsl_score_set_rows(score_t *score, const void *codes, int32_t bytes, i64 columns, i64 rows,
                            const int32_t *weights, i64 total)
{
    if (score->sets)
        scores_families_forget(&score->known);
    scores_set_figures_close(score->sets);
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
        scores_families_forget(&score->known);
    scores_set_share(&score->terms, share);
}

int32_t apsl_score_add_node(score_t *score, i64 node, i64 place, i64 card, const int32_t *log_priors)
{
    bool is_known = node >= 0 && node < score->nodes && place >= 0 && place < score->columns;
    if (score->sets || !score->rests || !is_known || card < 1 || card > UINT32_MAX ||
        counts_largest_code(&score->codes, place) >= card)
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
                               double tolerance, i64 widest, const uint8_t *bent, double per_bent)
{
    scores_set_figures_close(score->sets);
    scores_families_forget(&score->known);
    score->sets = scores_set_figures_open(matrix, starts, score->nodes, rows, factor, tolerance, score->terms.scale);
    for (i64 node = 0; node < score->nodes; node++)
        score->cards[node] = score->sets ? 1 : 0;
    for (i64 node = 0; score->sets && node < score->nodes; node++)
        score->sets->is_bent[node] = bent[node] != 0;
    if (score->sets) {
        score->sets->widest = widest;
        score->sets->per_bent = per_bent;
    }
    return score->sets ? DONE : NO_MEMORY;
}

int32_t apsl_score_add_level(score_t *score, const double *matrix, const i64 *starts, double rows, double factor,
                             double tolerance, i64 widest)
{
    if (!score->sets || score->sets->between)
        return WRONG_INPUT;
    set_figures_t *means = scores_set_figures_open(matrix, starts, score->nodes, rows, factor, tolerance,
                                                   score->terms.scale);
    if (!means)
        return NO_MEMORY;
    means->widest = widest;
    score->sets->between = means;
    score->sets->error += means->error;
    return DONE;
}

int32_t apsl_score_ask(score_t *score, asked_figure_t ask)
{
    if (!score->sets)
        return WRONG_INPUT;
    scores_families_forget(&score->known);
    score->sets->ask = ask;
    return DONE;
}

void apsl_score_forget(score_t *score) { scores_families_forget(&score->known); }

void apsl_score_allow(score_t *score, i64 most_tries)
{
    score->tried = 0;
    score->most_tries = most_tries;
}

i64 apsl_score_tried(const score_t *score) { return score->tried; }

i64 apsl_score_counted(const score_t *score) { return score->counted; }

bool scores_reserve_families(score_t *score, const i64 *nodes, i64 count)
{
    return !score->sets || scores_reserve_sets(score->sets, nodes, count);
}

bool scores_have_columns(const score_t *score, const i64 *nodes, i64 count)
{
    for (i64 at = 0; at < count; at++)
        if (!has_column(score, nodes[at]))
            return false;
    return true;
}
