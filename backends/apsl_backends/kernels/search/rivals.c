/* The best move that undoes each feature of a class.
 *
 * Turns that may undo a triple are listed and sorted by pair, so that the class after a turn is computed once. Results
 * are written in the order of the features; those not reached are NOT_SOUGHT. */
#include "search/rivals.h"

#include <stdlib.h>
#include <string.h>

/* The arrows of a triple that a turn may change. */
enum { SIDES = 4 };

/* A turn that may undo a triple. */
typedef struct {
    i64 x, y, feature;
    int side;
} turn_t;

/* A search for rivals: the class, its features, and which triples the best turn of each side undoes. */
typedef struct {
    search_t *search;
    const mark_t *marks;
    const feature_t *features;
    i64 count;
    turn_t *turns;
    bool *undone;
    mark_t *trial;
} comparison_t;

static int compare_numbers(i64 one, i64 other) { return (one > other) - (one < other); }

static int compare_turns(const void *one, const void *other)
{
    const turn_t *first = one, *second = other;
    int pair = compare_numbers(first->x, second->x);
    pair = pair ? pair : compare_numbers(first->y, second->y);
    pair = pair ? pair : compare_numbers(first->feature, second->feature);
    return pair ? pair : first->side - second->side;
}

/* List the turns that may undo each triple, sorted by their pairs; return how many there are. */
static i64 list_turns(comparison_t *comparison)
{
    i64 found = 0;
    for (i64 at = 0; at < comparison->count; at++) {
        feature_t one = comparison->features[at];
        if (one.y < 0)
            continue;
        comparison->turns[found++] = (turn_t){one.x, one.middle, at, 0};
        comparison->turns[found++] = (turn_t){one.middle, one.x, at, 1};
        comparison->turns[found++] = (turn_t){one.y, one.middle, at, 2};
        comparison->turns[found++] = (turn_t){one.middle, one.y, at, 3};
    }
    if (found)
        qsort(comparison->turns, (size_t)found, sizeof *comparison->turns, compare_turns);
    return found;
}

typedef enum { NO_TRIPLE, NO_COLLIDER, COLLIDER } triple_t;

/* Say what an unshielded triple is, if it is one. */
static triple_t classify(const mark_t *marks, i64 width, feature_t one)
{
    if (joined(marks, width, one.x, one.y) || !joined(marks, width, one.x, one.middle) ||
        !joined(marks, width, one.y, one.middle))
        return NO_TRIPLE;
    return marks[one.middle * width + one.x] || marks[one.middle * width + one.y] ? NO_COLLIDER : COLLIDER;
}

/* Find the best move of a kind for a pair, unless it is known. */
static const moves_t *update_move(comparison_t *comparison, int kind, i64 x, i64 y)
{
    search_t *search = comparison->search;
    moves_t *moves = kind == TURN ? &search->turns : &search->moves;
    bool *stale = moves->stale + y * search->width + x;
    if (*stale)
        search_best_strict_move(search, comparison->marks, kind, x, y, moves);
    *stale = false;
    return moves;
}

/* Find the pattern that the best turn of a pair leads to. */
static status_t try_turn(comparison_t *comparison, i64 x, i64 y)
{
    search_t *search = comparison->search;
    memcpy(comparison->trial, comparison->marks, (size_t)(search->width * search->width));
    search_make_move(search, comparison->trial, TURN, x, y, &search->turns);
    if (!search_extend(comparison->trial, search->dag, &search->pattern_space))
        return WRONG_INPUT;
    search_find_pattern(search->dag, comparison->trial, &search->pattern_space);
    return DONE;
}

/* Record which triples the best turn of each pair undoes; the class after a turn is computed once. */
static status_t mark_undone(comparison_t *comparison)
{
    search_t *search = comparison->search;
    i64 width = search->width, count = list_turns(comparison);
    for (i64 at = 0; at < count; at++) {
        const turn_t *turn = comparison->turns + at;
        i64 pair = turn->x * width + turn->y;
        if (is_over(search) || !applies(search, comparison->marks, TURN, turn->x, turn->y))
            continue;
        bool is_new = search->turns.stale[turn->y * width + turn->x];
        bool has_move = update_move(comparison, TURN, turn->x, turn->y)->gain[pair] != NEVER;
        if (is_new && has_move && try_turn(comparison, turn->x, turn->y) != DONE)
            return WRONG_INPUT;
        feature_t feature = comparison->features[turn->feature];
        if (has_move)
            comparison->undone[turn->feature * SIDES + turn->side] =
                classify(comparison->trial, width, feature) != classify(comparison->marks, width, feature);
    }
    return DONE;
}

/* Try a kind of move of a pair that undoes the feature, and keep the best so far. */
static void try_move(comparison_t *comparison, int kind, i64 x, i64 y, rival_t *best)
{
    search_t *search = comparison->search;
    i64 pair = x * search->width + y;
    if (!applies(search, comparison->marks, kind, x, y))
        return;
    const moves_t *moves = update_move(comparison, kind, x, y);
    if (moves->gain[pair] <= best->gain)
        return;
    *best = (rival_t){moves->gain[pair], kind, x, y, moves->size[pair], {0}};
    for (i64 at = 0; at < best->size; at++)
        best->clique[at] = moves->clique[pair][at];
}

/* Find the best rival without an edge or a gap. */
static void try_pair(comparison_t *comparison, feature_t one, rival_t *best)
{
    for (int kind = INSERT; kind <= DELETE; kind++) {
        try_move(comparison, kind, one.x, one.middle, best);
        try_move(comparison, kind, one.middle, one.x, best);
    }
}

/* Find the best rival without a triple; deleting one of its edges or joining its ends also undoes it. */
static void try_triple(comparison_t *comparison, feature_t one, const bool *undone, rival_t *best)
{
    static const int kinds[] = {TURN, DELETE};
    for (int at = 0; at < 2; at++) {
        int kind = kinds[at];
        if (kind == DELETE || undone[0])
            try_move(comparison, kind, one.x, one.middle, best);
        if (kind == DELETE || undone[1])
            try_move(comparison, kind, one.middle, one.x, best);
        if (kind == DELETE || undone[2])
            try_move(comparison, kind, one.y, one.middle, best);
        if (kind == DELETE || undone[3])
            try_move(comparison, kind, one.middle, one.y, best);
    }
    try_move(comparison, INSERT, one.x, one.y, best);
    try_move(comparison, INSERT, one.y, one.x, best);
}

static bool are_places(const feature_t *features, i64 count, i64 width)
{
    for (i64 at = 0; at < count; at++) {
        feature_t one = features[at];
        if (one.x < 0 || one.x >= width || one.middle < 0 || one.middle >= width || one.y >= width)
            return false;
    }
    return true;
}

int32_t apsl_search_rivals(search_t *search, const mark_t *marks, const uint8_t *opened, i64 limit, i64 most,
                           const feature_t *features, i64 count, rival_t *rivals, flag_t *stop)
{
    size_t pairs = (size_t)(search->width * search->width), sides = (size_t)larger(count, 1) * SIDES;
    if (!is_ready(search) || !are_places(features, count, search->width))
        return WRONG_INPUT;
    search->opened = opened;
    search->limit = limit;
    search->stop = stop;
    memset(search->moves.stale, true, sizeof *search->moves.stale * pairs);
    memset(search->turns.stale, true, sizeof *search->turns.stale * pairs);
    search_note_marks(&search->paths, marks);
    comparison_t comparison = {search, marks, features, count, malloc(sizeof *comparison.turns * sides),
                               calloc(sides, sizeof *comparison.undone), malloc(pairs)};
    limits_t before = shorten(search, most);
    bool is_whole = comparison.turns && comparison.undone && comparison.trial;
    status_t status = is_whole ? mark_undone(&comparison) : NO_MEMORY;
    for (i64 at = 0; at < count && status == DONE; at++) {
        rivals[at] = (rival_t){.gain = NEVER, .kind = INSERT};
        if (features[at].y < 0)
            try_pair(&comparison, features[at], rivals + at);
        else
            try_triple(&comparison, features[at], comparison.undone + at * SIDES, rivals + at);
        if (is_over(search))
            rivals[at].kind = NOT_SOUGHT;
    }
    free(comparison.turns);
    free(comparison.undone);
    free(comparison.trial);
    return (int32_t)(was_too_long(search, before) ? STOPPED : status);
}
