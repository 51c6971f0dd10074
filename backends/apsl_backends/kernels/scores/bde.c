/* BDeu, and BDe with an empirical prior, from the rows.
 *
 * Rows are divided by parents at one level of row_classes and by the node at the next; a further parent refines either.
 * Sums of terms are integers. */
#include "scores/bde.h"

#include <string.h>

i64 scores_sum_terms(score_t *score, const int32_t *counts, i64 span, i64 levels, double configurations,
                     const int32_t *cells,
                     const int32_t *log_priors)
{
    i64 total = 0;
    if (!cells) {
        prior_t prior = scores_uniform_prior(&score->terms, configurations);
        for (i64 cell = 0; cell < span * levels; cell++)
            if (counts[cell])
                total += uniform_term(&score->terms, &prior, counts[cell]);
        return total;
    }
    for (i64 level = 0; level < levels; level++, counts += span)
        for (i64 cell = 0; cell < span; cell++)
            if (counts[cell])
                total += empirical_term(&score->terms, cells[cell] + log_priors[level], counts[cell]);
    return total;
}

static const int32_t NO_LOG_PRIOR[] = {0};

/* Score the classes at a level as one joint column. */
static i64 score_classes(score_t *score, i64 level, i64 span, double configurations)
{
    counts_count_classes(&score->space, level, span, score->weights);
    return scores_sum_terms(score, score->space.counts, span, 1, configurations, cells_at(&score->space, level),
                            NO_LOG_PRIOR);
}

/* Compute the classes of the rows for all members except one. */
static built_t build(score_t *score, const i64 *members, i64 count, i64 but)
{
    built_t built = {0, 1, 1.0};
    counts_join_all(&score->space, built.level);
    for (i64 at = 0; at < count; at++)
        if (members[at] != but) {
            column_t column = column_for(score, members[at]);
            i64 next = (built.level + 1) % LEVELS;
            built.span = counts_refine(&score->space, built.level, built.span, &column, next);
            built.level = next;
            built.configurations *= (double)column.card;
        }
    return built;
}

/* Score the classes of what was built refined by a column. */
static i64 score_refined(score_t *score, const built_t *built, const column_t *column, double configurations, i64 to)
{
    i64 span = counts_refine(&score->space, built->level, built->span, column, to);
    return score_classes(score, to, span, configurations);
}

figures_t scores_find_figures(score_t *score, i64 node, const i64 *parents, i64 count, i64 but)
{
    built_t base = build(score, parents, count, but);
    column_t column = column_for(score, node);
    i64 span = base.span, card = column.card;
    if (span * card > score->space.most_classes) {
        i64 rest = score_classes(score, base.level, span, base.configurations), next = (base.level + 1) % LEVELS;
        return (figures_t){score_refined(score, &base, &column, base.configurations * (double)card, next), rest};
    }
    counts_count_refined(&score->space, base.level, span, &column, score->weights);
    int32_t *counts = score->space.counts;
    const int32_t *cells = cells_at(&score->space, base.level);
    i64 whole = scores_sum_terms(score, counts, span, card, base.configurations * (double)card, cells,
                                 column.log_priors);
    for (i64 code = 1; code < card; code++)
        for (i64 cell = 0; cell < span; cell++)
            counts[cell] += counts[cell + code * span];
    return (figures_t){whole, scores_sum_terms(score, counts, span, 1, base.configurations, cells, NO_LOG_PRIOR)};
}

/* Add up counts of refined classes by their former classes, for each code of a column. */
static void sum_below(const score_t *score, i64 family, i64 base, i64 levels)
{
    const int32_t *counts = score->space.counts;
    int32_t *rests = score->rests;
    memset(rests, 0, sizeof *rests * (size_t)(base * levels));
    for (i64 level = 0; level < levels; level++, counts += family, rests += base)
        for (i64 cell = 0; cell < family; cell++)
            rests[score->below[cell]] += counts[cell];
}

figures_t scores_find_wider_figures(score_t *score, const divided_t *rows, i64 other)
{
    const built_t *base = &rows->base, *family = &rows->family;
    column_t column = column_for(score, other);
    i64 levels = column.card, most = score->space.most_classes;
    double wider = base->configurations * (double)levels, widest = family->configurations * (double)levels;
    if (family->span * levels > most || base->span * levels > most) {
        i64 spare = LEVELS - base->level - family->level; /* the levels are 0, 1 and 2 */
        i64 rest = score_refined(score, base, &column, wider, spare);
        return (figures_t){score_refined(score, family, &column, widest, spare), rest};
    }
    counts_count_refined(&score->space, family->level, family->span, &column, score->weights);
    i64 whole = scores_sum_terms(score, score->space.counts, family->span, levels, widest,
                                 cells_at(&score->space, family->level), column.log_priors);
    sum_below(score, family->span, base->span, levels);
    return (figures_t){whole, scores_sum_terms(score, score->rests, base->span, levels, wider,
                                               cells_at(&score->space, base->level), column.log_priors)};
}

divided_t scores_divide(score_t *score, i64 node, const i64 *parents, i64 count)
{
    built_t base = build(score, parents, count, -1);
    if (base.span > score->space.rows / 8) {
        i64 next = (base.level + 1) % LEVELS;
        base.span = counts_label(&score->space, base.level, base.span, NULL, next, NULL);
        base.level = next;
    }
    column_t column = column_for(score, node);
    built_t family = {(base.level + 1) % LEVELS, 0, base.configurations * (double)column.card};
    family.span = counts_label(&score->space, base.level, base.span, &column, family.level, score->below);
    return (divided_t){base, family};
}

i64 apsl_score_counts(score_t *score, const i64 *counts, i64 size, double configurations)
{
    prior_t prior = scores_uniform_prior(&score->terms, configurations);
    i64 total = 0;
    for (i64 at = 0; at < size; at++)
        total += uniform_term(&score->terms, &prior, counts[at]);
    return total;
}
