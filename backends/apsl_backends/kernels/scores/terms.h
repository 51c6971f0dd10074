/* The terms of a score: what one configuration of columns adds, by its prior weight and its count.
 *
 * A term is ln Γ(a + share·count) - ln Γ(a), rounded to an integer number of units; the share is that of a counted row
 * which was observed, 1 where no value was filled in. Units are far below any relevant
 * difference. Sums of integers do not depend on their order, so graphs with the same score tie exactly.
 *
 * With a uniform prior, a is the equivalent sample size divided by the number of configurations. With an empirical one
 * it is the product with 2^(-k / LOG_PRIOR_STEPS), where the integer k is the log prior of the configuration. */
#ifndef APSL_TERMS_H
#define APSL_TERMS_H

#include "base/common.h"

/* The steps of a log prior that halve a weight. */
enum { LOG_PRIOR_STEPS = 32 };
enum { TERM_BITS = 16, KNOWN_WEIGHTS = 2048, KNOWN_PRIORS = 256 };

typedef struct {
    uint64_t key; /* of prior and count, plus one; 0 where nothing is stored */
    i64 term;
} term_t;

/* The prior weight of a configuration, and its ln Γ. */
typedef struct {
    double weight, log_gamma; /* the weight is 0 where nothing is stored */
} weight_t;

/* Known terms. A new term may replace an older one, which is then computed again. */
typedef struct {
    double ess, scale, share;
    term_t *known;
    weight_t *weights;                   /* by log prior */
    double configurations[KNOWN_PRIORS]; /* of the uniform priors that have a number */
    weight_t uniform[KNOWN_PRIORS];
    i64 priors;
} terms_t;

/* The prior of some configurations: a number for the key of its terms, and the weight. */
typedef struct {
    uint64_t number;
    weight_t weight;
} prior_t;

/* Prepare terms for an equivalent sample size and a number of units in a nat; all zero bytes are a valid state before. */
status_t scores_terms_open(terms_t *terms, double ess, double scale);
void scores_terms_close(terms_t *terms);

/* Count each row as a share of one from now on. */
void scores_set_share(terms_t *terms, double share);

/* Return the uniform prior over a number of configurations; it is valid until the next call. */
prior_t scores_uniform_prior(terms_t *terms, double configurations);

/* Return the prior of a configuration with a log prior. */
prior_t scores_empirical_prior(terms_t *terms, i64 log_prior);

/* Compute a term and store it if its count is small enough for a key. */
i64 scores_new_term(terms_t *terms, prior_t prior, i64 count);

static inline uint64_t term_key(uint64_t prior, i64 count) { return (prior << 32 | (uint64_t)count) + 1; }

static inline term_t *term_place(const terms_t *terms, uint64_t key)
{
    uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
    return terms->known + ((mixed ^ mixed >> 27) >> (64 - TERM_BITS - 8) & ((1 << TERM_BITS) - 1));
}

/* Return the term of a configuration with a uniform prior. */
static inline i64 uniform_term(terms_t *terms, const prior_t *prior, i64 count)
{
    uint64_t key = term_key(prior->number, count);
    const term_t *place = term_place(terms, key);
    return place->key == key && count <= INT32_MAX ? place->term : scores_new_term(terms, *prior, count);
}

/* Return the term of a configuration with a log prior. */
static inline i64 empirical_term(terms_t *terms, i64 log_prior, i64 count)
{
    uint64_t key = term_key((uint64_t)log_prior, count);
    const term_t *place = term_place(terms, key);
    return place->key == key ? place->term : scores_new_term(terms, scores_empirical_prior(terms, log_prior), count);
}

#endif
