/* The parents of a node among those before it: add the best, remove the worst, repeat.
 *
 * The changes that may gain are kept by family in a hash table with a list of places, and both are emptied when they
 * are full. By moments the gains are estimates, and the best within the error are scored exactly. */
#include "search/parent_choice.h"

#include <stdlib.h>
#include <string.h>

#include "scores/set_figures.h"

/* The places of the table of known changes, of which at most half are filled, and the room of the list. */
enum { KNOWN_CHANGES = 1 << 15, LISTED_PLACES = 1 << 19 };
/* The removal of a parent if it was not asked for, or if none gains. */
enum { NOT_ASKED = -2, NO_REMOVAL = -1 };

status_t search_chooser_open(chooser_t *chooser, search_t *search)
{
    i64 width = search->width;
    chooser->search = search;
    chooser->before = calloc((size_t)larger(width, 1), sizeof *chooser->before);
    chooser->into = malloc((size_t)larger(width * width, 1));
    chooser->known = calloc(KNOWN_CHANGES, sizeof *chooser->known);
    chooser->room = larger(LISTED_PLACES, width);
    chooser->listed = malloc(sizeof *chooser->listed * (size_t)chooser->room);
    chooser->gains = malloc(sizeof *chooser->gains * (size_t)chooser->room);
    chooser->error = search->score->sets ? search->score->sets->error : 0;
    if (!chooser->before || !chooser->into || !chooser->known || !chooser->listed || !chooser->gains)
        return NO_MEMORY;
    for (i64 node = 0; node < width; node++)
        for (i64 other = 0; other < width; other++)
            chooser->into[node * width + other] = search->opened[other * width + node] != CLOSED && other != node;
    return DONE;
}

void search_chooser_close(chooser_t *chooser)
{
    free(chooser->before);
    free(chooser->into);
    free(chooser->known);
    free(chooser->listed);
    free(chooser->gains);
}

/* Score a node given places, of which one is left out and another one is added (-1: none). */
static i64 score_places(search_t *search, i64 node, const choice_t *choice, i64 without, i64 with)
{
    i64 numbers[MOST_PARENTS + 1], count = 0;
    for (i64 at = 0; at < choice->count; at++)
        if (choice->parents[at] != without)
            numbers[count++] = search->members[choice->parents[at]];
    if (with >= 0)
        count = scores_put(numbers, count, search->members[with]);
    search->score->tried++;
    return scores_family_score(search->score, search->members[node], numbers, count);
}

bool search_has_parent(const choice_t *choice, i64 place)
{
    bool found = false;
    for (i64 at = 0; at < choice->count; at++)
        found |= choice->parents[at] == place;
    return found;
}

static void add_parent(choice_t *choice, i64 place, i64 score)
{
    i64 at = choice->count++;
    for (; at && choice->parents[at - 1] > place; at--)
        choice->parents[at] = choice->parents[at - 1];
    choice->parents[at] = (int16_t)place;
    choice->score = score;
}

static void remove_parent(choice_t *choice, i64 place, i64 score)
{
    i64 kept = 0;
    for (i64 at = 0; at < choice->count; at++)
        if (choice->parents[at] != place)
            choice->parents[kept++] = choice->parents[at];
    choice->count = kept;
    choice->score = score;
}

/* Count in one batch the families with one parent more, or begin to compare them. */
static void count_ahead(chooser_t *chooser, i64 node, const choice_t *choice)
{
    search_t *search = chooser->search;
    const scratch_t *scratch = &search->scratch;
    i64 waiting = 0, width = search->width;
    for (i64 at = 0; at < choice->count; at++)
        scratch->base[at] = search->members[choice->parents[at]];
    if (search->score->sets) {
        scores_compare_parents(search->score->sets, search->members[node], scratch->base, choice->count);
        return;
    }
    for (i64 other = 0; other < width; other++)
        if (chooser->into[node * width + other] && !search_has_parent(choice, other))
            scratch->others[waiting++] = search->members[other];
    scores_score_ahead(search->score, search->members[node], scratch->base, choice->count, scratch->others, waiting,
                       &scratch->batch);
}

/* Return the gain of adding a place, within the error. */
static i64 gain_within_error(chooser_t *chooser, i64 node, const choice_t *choice, i64 other)
{
    search_t *search = chooser->search;
    set_figures_t *sets = search->score->sets;
    i64 gain;
    if (!sets || !scores_estimate_gain(sets, search->members[other], &gain))
        return score_places(search, node, choice, -1, other) - choice->score;
    search->score->tried++;
    return gain - search->score->penalty;
}

/* List the places whose addition may gain at the end of the list, from the best to the worst, and of equal ones the first;
 * return how many there are. */
static i64 list_additions(chooser_t *chooser, i64 node, const choice_t *choice)
{
    search_t *search = chooser->search;
    int16_t *listed = chooser->listed + chooser->used;
    i64 found = 0, *gains = chooser->gains + chooser->used;
    if (choice->count >= search->limit)
        return 0;
    count_ahead(chooser, node, choice);
    for (i64 other = 0; other < search->width; other++) {
        if (!chooser->into[node * search->width + other] || search_has_parent(choice, other))
            continue;
        i64 gain = gain_within_error(chooser, node, choice, other), at = found;
        if (gain + chooser->error <= 0)
            continue;
        for (; at && gains[at - 1] < gain; at--) {
            gains[at] = gains[at - 1];
            listed[at] = listed[at - 1];
        }
        gains[at] = gain;
        listed[at] = (int16_t)other;
        found++;
    }
    return found;
}

/* Find what can be gained by a change of a family; it is valid until the next call. */
static changes_t *find_changes(chooser_t *chooser, i64 node, const choice_t *choice)
{
    search_t *search = chooser->search;
    i64 numbers[MOST_PARENTS];
    for (i64 at = 0; at < choice->count; at++)
        numbers[at] = search->members[choice->parents[at]];
    score_key_t key = scores_key_of(search->members[node], numbers, choice->count);
    i64 place = place_of_key(key, KNOWN_CHANGES);
    while (chooser->known[place].key.words[0] && !is_same_key(chooser->known[place].key, key))
        place = (place + 1) % KNOWN_CHANGES;
    if (chooser->known[place].key.words[0])
        return chooser->known + place;
    if (chooser->filled >= KNOWN_CHANGES / 2 || chooser->used + search->width > chooser->room) {
        memset(chooser->known, 0, sizeof *chooser->known * KNOWN_CHANGES);
        chooser->filled = chooser->used = 0;
        place = place_of_key(key, KNOWN_CHANGES);
    }
    i64 count = list_additions(chooser, node, choice);
    chooser->known[place] = (changes_t){key, (uint32_t)chooser->used, (uint16_t)count, NOT_ASKED};
    chooser->used += count;
    chooser->filled++;
    return chooser->known + place;
}

/* Return the place before a node whose addition gains most, and of equal ones the first, or -1; write the score. */
static i64 find_addition(chooser_t *chooser, i64 node, const choice_t *choice, i64 *score)
{
    const changes_t *changes = find_changes(chooser, node, choice);
    i64 at = changes->start, end = at + changes->count, found = -1;
    while (at < end && !chooser->before[chooser->listed[at]])
        at++;
    *score = choice->score;
    if (at == end)
        return -1;
    for (i64 least = chooser->gains[at] - 2 * chooser->error; at < end && chooser->gains[at] >= least; at++) {
        i64 other = chooser->listed[at];
        if (!chooser->before[other])
            continue;
        i64 exact = score_places(chooser->search, node, choice, -1, other);
        if (exact > *score || (exact == *score && other < found)) {
            *score = exact;
            found = other;
        }
        if (!chooser->error)
            break;
    }
    return found;
}

/* Add the best parent while that gains; return whether any was added. */
static bool grow(chooser_t *chooser, i64 node, choice_t *choice)
{
    bool has_grown = false;
    while (choice->count < chooser->search->limit && !is_over(chooser->search)) {
        i64 score, place = find_addition(chooser, node, choice, &score);
        if (place < 0)
            break;
        add_parent(choice, place, score);
        has_grown = true;
    }
    return has_grown;
}

/* Return the parent whose removal gains most, and of equal ones the first, or NO_REMOVAL. */
static int16_t find_removal(search_t *search, i64 node, const choice_t *choice)
{
    i64 top = choice->score;
    int16_t removal = NO_REMOVAL;
    for (i64 at = 0; at < choice->count; at++) {
        i64 score = score_places(search, node, choice, choice->parents[at], -1);
        if (score > top) {
            top = score;
            removal = choice->parents[at];
        }
    }
    return removal;
}

/* Remove the worst parent while that gains; return whether any was removed. */
static bool shrink(chooser_t *chooser, i64 node, choice_t *choice)
{
    search_t *search = chooser->search;
    bool has_shrunk = false;
    while (choice->count && !is_over(search)) {
        changes_t *changes = find_changes(chooser, node, choice);
        if (changes->removal == NOT_ASKED)
            changes->removal = find_removal(search, node, choice);
        if (changes->removal == NO_REMOVAL)
            break;
        remove_parent(choice, changes->removal, score_places(search, node, choice, changes->removal, -1));
        has_shrunk = true;
    }
    return has_shrunk;
}

void search_choose(chooser_t *chooser, i64 node, choice_t *choice)
{
    bool has_grown, has_shrunk;
    do {
        has_grown = grow(chooser, node, choice);
        has_shrunk = shrink(chooser, node, choice);
    } while (has_grown || has_shrunk);
}

void search_keep_those_before(chooser_t *chooser, i64 node, choice_t *choice)
{
    i64 kept = 0;
    for (i64 at = 0; at < choice->count; at++)
        if (chooser->before[choice->parents[at]])
            choice->parents[kept++] = choice->parents[at];
    choice->count = kept;
    choice->score = score_places(chooser->search, node, choice, -1, -1);
}

void search_lose(chooser_t *chooser, i64 node, i64 other, choice_t *choice)
{
    if (!search_has_parent(choice, other))
        return;
    remove_parent(choice, other, score_places(chooser->search, node, choice, other, -1));
    search_choose(chooser, node, choice);
}

void search_win(chooser_t *chooser, i64 node, i64 other, choice_t *choice)
{
    const changes_t *changes = find_changes(chooser, node, choice);
    for (i64 at = changes->start; at < (i64)changes->start + changes->count; at++) {
        if (chooser->listed[at] != other)
            continue;
        i64 score = score_places(chooser->search, node, choice, -1, other);
        if (score <= choice->score)
            return;
        add_parent(choice, other, score);
        search_choose(chooser, node, choice);
        return;
    }
}

void search_take_parents(const chooser_t *chooser, const mark_t *dag, i64 node, choice_t *choice)
{
    const search_t *search = chooser->search;
    choice->count = 0;
    for (i64 other = 0; other < search->width && choice->count < search->limit; other++)
        if (dag[other * search->width + node] && chooser->into[node * search->width + other])
            choice->parents[choice->count++] = (int16_t)other;
}

i64 search_score_graph(search_t *search, const mark_t *dag)
{
    i64 total = 0;
    for (i64 node = 0; node < search->width; node++) {
        i64 count = 0, *parents = search->scratch.base;
        for (i64 other = 0; other < search->width; other++)
            if (dag[other * search->width + node])
                parents[count++] = search->members[other];
        total += scores_family_score(search->score, search->members[node], parents, count);
    }
    return total;
}
