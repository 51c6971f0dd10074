/* ln Γ(a + n) - ln Γ(a) in whole units, for the priors and counts of a score.
 *
 * Terms are kept in a table of 2^TERM_BITS places by a hash of prior and count; a new one may replace an old one.
 * Weights of log priors and of uniform priors are tabled beside them. */
#include "scores/terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"

/* A smaller weight makes no difference to any score that can be told from others. */
static const double SMALLEST_WEIGHT = 1e-280;
/* 2^(-937) is near the smallest weight. */
static const i64 LARGEST_LOG_PRIOR = 30000;

status_t scores_terms_open(terms_t *terms, double ess, double scale)
{
    terms->ess = ess;
    terms->scale = scale;
    terms->share = 1.0;
    terms->priors = 0;
    terms->known = calloc((size_t)1 << TERM_BITS, sizeof *terms->known);
    terms->weights = calloc(KNOWN_WEIGHTS, sizeof *terms->weights);
    return terms->known && terms->weights ? DONE : NO_MEMORY;
}

void scores_terms_close(terms_t *terms)
{
    free(terms->known);
    free(terms->weights);
}

void scores_set_share(terms_t *terms, double share)
{
    if (share != terms->share)
        memset(terms->known, 0, sizeof *terms->known << TERM_BITS);
    terms->share = share;
}

static weight_t weight_of(double value)
{
    double weight = value > SMALLEST_WEIGHT ? value : SMALLEST_WEIGHT;
    return (weight_t){weight, base_log_gamma(weight)};
}

prior_t scores_uniform_prior(terms_t *terms, double configurations)
{
    i64 at = 0;
    while (at < terms->priors && terms->configurations[at] != configurations)
        at++;
    if (at == KNOWN_PRIORS) {
        at = terms->priors = 0;
        memset(terms->known, 0, sizeof *terms->known << TERM_BITS);
    }
    if (at == terms->priors) {
        terms->configurations[at] = configurations;
        terms->uniform[at] = weight_of(terms->ess / configurations);
        terms->priors++;
    }
    return (prior_t){(uint64_t)at, terms->uniform[at]};
}

prior_t scores_empirical_prior(terms_t *terms, i64 log_prior)
{
    i64 steps = smaller(log_prior, LARGEST_LOG_PRIOR);
    bool is_known = steps < KNOWN_WEIGHTS && terms->weights[steps].weight > 0.0;
    weight_t weight = is_known ? terms->weights[steps]
                               : weight_of(terms->ess * base_power_of_two(-(double)steps / LOG_PRIOR_STEPS));
    if (steps < KNOWN_WEIGHTS)
        terms->weights[steps] = weight;
    return (prior_t){(uint64_t)log_prior, weight};
}

i64 scores_new_term(terms_t *terms, prior_t prior, i64 count)
{
    double weight = prior.weight.weight + terms->share * (double)count;
    i64 term = base_nearest_integer((base_log_gamma(weight) - prior.weight.log_gamma) * terms->scale);
    if (count <= INT32_MAX) {
        uint64_t key = term_key(prior.number, count);
        *term_place(terms, key) = (term_t){key, term};
    }
    return term;
}
