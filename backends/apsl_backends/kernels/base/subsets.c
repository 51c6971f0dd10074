/* Subsets of a pool of n columns, in lexicographic order.
 *
 * A subset is an ascending array of positions. Binomials lie at n * sizes + k; sums that would overflow stop at
 * MOST_SUBSETS, so that a limit on tests can be compared with them. */
#include "base/subsets.h"

void base_fill_binomials(i64 *binomials, i64 pool, i64 sizes)
{
    for (i64 k = 0; k < sizes; k++)
        binomials[k] = k == 0;
    for (i64 n = 1; n <= pool; n++) {
        const i64 *before = binomials + (n - 1) * sizes;
        i64 *here = binomials + n * sizes;
        here[0] = 1;
        for (i64 k = 1; k < sizes; k++)
            here[k] = base_add_tests(before[k - 1], before[k]);
    }
}

i64 base_add_tests(i64 one, i64 other) { return one > MOST_SUBSETS - other ? MOST_SUBSETS : one + other; }

i64 base_number_without(const i64 *pick, i64 size, i64 left_out, i64 free, const i64 *binomials, i64 sizes)
{
    i64 k = size - 1, number = binomials[free * sizes + k] - 1;
    for (i64 i = 0; i < size; i++)
        if (i != left_out) {
            number -= binomials[(free - 1 - pick[i]) * sizes + k];
            k--;
        }
    return number;
}

i64 base_step_subset(i64 *pick, i64 size, i64 free)
{
    i64 i = size - 1;
    while (i >= 0 && pick[i] == free - size + i)
        i--;
    if (i >= 0) {
        pick[i]++;
        for (i64 later = i + 1; later < size; later++)
            pick[later] = pick[later - 1] + 1;
    }
    return i;
}

void base_add_to_sums(double value, double *sums, i64 most)
{
    for (i64 k = most; k > 0; k--)
        sums[k] += value * sums[k - 1];
}

void base_add_in_order(double value, double *ordered, i64 count, i64 most)
{
    i64 k = smaller(count, most - 1);
    if (k < 0 || (count >= most && ordered[most] <= value))
        return;
    for (; k > 0 && ordered[k] > value; k--)
        ordered[k + 1] = ordered[k];
    ordered[k + 1] = value;
}
