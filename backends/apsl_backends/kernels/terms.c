#include "terms.h"

#include <stdlib.h>
#include <string.h>

#include "elementary.h"

/* A smaller weight makes no difference to any score that can be told from others. */
static const double SMALLEST_WEIGHT = 1e-280;
/* 2^(-937) is near the smallest weight. */
static const i64 LARGEST_LOG_PRIOR = 30000;

status_t terms_open(terms_t *terms, double ess, double scale)
{
    terms->ess = ess;
    terms->scale = scale;
    terms->share = 1.0;
    terms->priors = 0;
    terms->known = calloc((size_t)1 << TERM_BITS, sizeof *terms->known);
    terms->weights = calloc(KNOWN_WEIGHTS, sizeof *terms->weights);
    return terms->known && terms->weights ? DONE : NO_MEMORY;
}

void terms_close(terms_t *terms)
{
    free(terms->known);
    free(terms->weights);
}

void set_share(terms_t *terms, double share)
{
    if (share != terms->share)
        memset(terms->known, 0, sizeof *terms->known << TERM_BITS);
    terms->share = share;
}

static weight_t weight_of(double value)
{
    double weight = value > SMALLEST_WEIGHT ? value : SMALLEST_WEIGHT;
    return (weight_t){weight, log_gamma(weight)};
}

prior_t uniform_prior(terms_t *terms, double configurations)
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

prior_t empirical_prior(terms_t *terms, i64 log_prior)
{
    i64 steps = smaller(log_prior, LARGEST_LOG_PRIOR);
    bool is_known = steps < KNOWN_WEIGHTS && terms->weights[steps].weight > 0.0;
    weight_t weight = is_known ? terms->weights[steps]
                               : weight_of(terms->ess * power_of_two(-(double)steps / LOG_PRIOR_STEPS));
    if (steps < KNOWN_WEIGHTS)
        terms->weights[steps] = weight;
    return (prior_t){(uint64_t)log_prior, weight};
}

i64 new_term(terms_t *terms, prior_t prior, i64 count)
{
    double weight = prior.weight.weight + terms->share * (double)count;
    i64 term = nearest_integer((log_gamma(weight) - prior.weight.log_gamma) * terms->scale);
    if (count <= INT32_MAX) {
        uint64_t key = term_key(prior.number, count);
        *term_place(terms, key) = (term_t){key, term};
    }
    return term;
}
