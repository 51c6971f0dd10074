/* HITON's elimination: candidates enter one by one, and each entry tests the members again.
 *
 * The outcome, the statistic and the given set of each candidate are rows of the caller's arrays. Searches for a member
 * that was tested before always include the newcomer, since the other sets are known not to separate. */
#include "tests/hiton_elimination.h"

#include <string.h>

#include "base/subsets.h"

/* Record the outcome of a search if it separates the candidate or is its weakest dependence so far. */
static void note_search(const tester_t *tester, const found_t *found, i64 fixed, outcome_t *outcome, double *statistic,
                        i64 *given)
{
    if (found->decision == UNRELIABLE)
        return;
    if (found->decision == DEPENDENT && outcome->state != UNRELIABLE &&
        !tests_is_weaker(found->statistic, found->dof, *statistic, outcome->dof, base_log_tail(*statistic,
                                                                                               outcome->dof)))
        return;
    *outcome = (outcome_t){found->decision, found->dof, found->rows, found->size + fixed};
    *statistic = found->statistic;
    const i64 *places = tester->places.data + PAIR;
    for (i64 i = 0; i < fixed; i++)
        given[i] = places[i];
    for (i64 i = 0; i < found->size; i++)
        given[fixed + i] = places[fixed + tester->search.chosen[i]];
}

int32_t apsl_eliminate(tester_t *tester, i64 x, const i64 *ranked, i64 count, i64 most, outcome_t *outcomes, i64 *given,
                       double *statistics, i64 *members, flag_t *stop, i64 *left, i64 *tests)
{
    *left = *tests = 0;
    if (!base_reserve_longs(&tester->places, count + PAIR + 1))
        return NO_MEMORY;
    i64 *places = tester->places.data, entered = 0;
    places[0] = x;
    for (i64 newcomer = 0; newcomer < count; newcomer++) {
        members[entered++] = newcomer;
        for (i64 turn = entered - 1; turn >= 0; turn--) { /* the newcomer, then those before it, the latest first */
            i64 candidate = members[turn], fixed = candidate != newcomer, free = 0;
            places[1] = ranked[candidate];
            places[2] = ranked[newcomer];
            for (i64 i = 0; i < entered; i++)
                if (i != turn && members[i] != newcomer)
                    places[PAIR + fixed + free++] = ranked[members[i]];
            i64 largest = smaller(free, most - fixed);
            if (largest >= 0 && fixed + free > 0) {
                found_t found;
                status_t status =
                    tests_search_separator(tester, places, PAIR + fixed + free, fixed, largest, stop, &found);
                *tests = base_add_tests(*tests, found.tests);
                if (status != DONE)
                    return (int32_t)status;
                if (is_stopped(stop, *tests))
                    return STOPPED;
                note_search(tester, &found, fixed, outcomes + candidate, statistics + candidate,
                            given + candidate * (most + 1));
            }
            if (outcomes[candidate].state == INDEPENDENT) {
                entered--;
                memmove(members + turn, members + turn + 1, (size_t)(entered - turn) * sizeof *members);
                if (candidate == newcomer)
                    break;
            }
        }
    }
    *left = entered;
    return DONE;
}
