/* The loop of the greedy equivalence search, and which moves are computed again after each one.
 *
 * Gains of insertions and deletions are kept by pair in `moves`, of turns in `turns`; stale ones are marked. A move
 * that turns out to close a cycle waits until its needed lines change. */
#include "search/equivalence_search.h"

#include <string.h>

/* An insertion that closes a cycle whatever its clique is. */
static const uint64_t HOPELESS = UINT64_MAX;

/* Return what a clique must contain in order that an insertion closes no cycle. */
static uint64_t needed_by(search_t *search, i64 x, i64 y, bool *is_found)
{
    uint64_t needed = HOPELESS;
    *is_found = search_has_open_path(&search->paths, y, x) || search_find_needed(&search->paths, y, x, &needed);
    return needed;
}

/* List the nodes whose moves into y must be computed; return how many there are.
 *
 * Insertions that were found to close a cycle wait until other cliques would close none. */
static i64 list_waiting(search_t *search, const mark_t *marks, int kind, i64 y, moves_t *moves)
{
    i64 width = search->width, waiting = 0;
    bool *stale = moves->stale + y * width, *suspect = moves->suspect + y * width;
    if (!memchr(stale, true, (size_t)width) && !memchr(suspect, true, (size_t)width))
        return 0;
    for (i64 x = 0; x < width; x++) {
        if (!(stale[x] | suspect[x]) || !applies(search, marks, kind, x, y))
            continue;
        if (kind == INSERT && search_has_open_path(&search->paths, y, x)) {
            moves->gain[x * width + y] = NEVER;
            moves->needed[y * width + x] = HOPELESS;
            suspect[x] = true;
            stale[x] = false;
            continue;
        }
        bool is_found = false;
        if (kind == INSERT && !stale[x] && needed_by(search, x, y, &is_found) == moves->needed[y * width + x] &&
            is_found)
            continue;
        suspect[x] = false;
        stale[x] = true;
        search->scratch.others[waiting++] = search->members[x];
    }
    return waiting;
}

/* Update the moves of a kind; the families of one node are counted together. */
static void refresh(search_t *search, const mark_t *marks, int kind, moves_t *moves)
{
    scratch_t *scratch = &search->scratch;
    i64 width = search->width;
    for (i64 y = 0; y < width; y++) {
        if (is_over(search))
            return;
        bool *stale = moves->stale + y * width;
        i64 waiting = list_waiting(search, marks, kind, y, moves);
        if (!waiting)
            continue;
        i64 count = search_list_parents(search, marks, y, -1, scratch->base);
        i64 lines = search_list_lines(search, marks, y, scratch->lines);
        if (kind == INSERT && count < search->limit && waiting > 1)
            scores_score_ahead(search->score, search->members[y], scratch->base, count, scratch->others, waiting,
                               &scratch->batch);
        for (i64 x = 0; x < width; x++) {
            if (!stale[x] || !applies(search, marks, kind, x, y))
                continue;
            if (kind == DELETE)
                count = search_list_parents(search, marks, y, x, scratch->base);
            search_best_move(search, marks, kind, x, y, false, moves, count, lines);
            stale[x] = false;
        }
    }
}

/* Record the first best move from a node, if any gains. */
static void note_best_move(search_t *search, const mark_t *marks, int kind, i64 x, const moves_t *moves)
{
    i64 top = 0, at_top = -1, width = search->width;
    for (i64 y = 0; y < width; y++)
        if (moves->gain[x * width + y] > top && applies(search, marks, kind, x, y)) {
            top = moves->gain[x * width + y];
            at_top = y;
        }
    search->scratch.tops[x] = top;
    search->scratch.at_top[x] = at_top;
}

/* Find the best move of a kind that closes no cycle; return its gain, or 0 if none gains. */
static i64 choose(search_t *search, const mark_t *marks, int kind, moves_t *moves, i64 *x, i64 *y)
{
    const scratch_t *scratch = &search->scratch;
    i64 width = search->width;
    for (i64 node = 0; node < width; node++)
        note_best_move(search, marks, kind, node, moves);
    for (;;) {
        i64 gain = 0, first = -1;
        for (i64 node = 0; node < width; node++)
            if (scratch->tops[node] > gain) {
                gain = scratch->tops[node];
                first = node;
            }
        if (first < 0 || is_over(search))
            return 0;
        i64 second = scratch->at_top[first];
        search->score->tried += width >> 1;
        if (search_closes_no_cycle(search, marks, kind, first, second, moves)) {
            *x = first;
            *y = second;
            return gain;
        }
        search_best_strict_move(search, marks, kind, first, second, moves);
        moves->suspect[second * width + first] = true;
        if (kind == INSERT) {
            bool is_found;
            moves->needed[second * width + first] = needed_by(search, first, second, &is_found);
        }
        note_best_move(search, marks, kind, first, moves);
    }
}

/* Mark the moves that may depend on whether two nodes are adjacent: those of each of them into the nodes that lines
 * connect with the other, and all into the nodes that lines connect with both. */
static void mark_rejoined(search_t *search, const mark_t *marks, i64 one, i64 other)
{
    i64 width = search->width;
    for (i64 y = 0; y < width; y++) {
        bool *stale = search->moves.stale + y * width, *stale_turns = search->turns.stale + y * width;
        bool has_one = lined(marks, width, y, one), has_other = lined(marks, width, y, other);
        stale[one] |= has_other;
        stale[other] |= has_one;
        if (has_one && has_other) {
            memset(stale, true, sizeof *stale * (size_t)width);
            memset(stale_turns, true, sizeof *stale_turns * (size_t)width);
        }
    }
}

/* Mark the moves of pairs that may have changed.
 *
 * A move into y depends on the parents and lines of y, and on the adjacencies among x and the nodes of these lines; a
 * turn also depends on the parents and lines of x. */
static void mark_stale(search_t *search, const mark_t *marks)
{
    i64 width = search->width;
    bool *changed = search->scratch.seen;
    memset(changed, 0, sizeof *changed * (size_t)width);
    for (i64 x = 0; x < width; x++) {
        const mark_t *now = marks + x * width, *before = search->former + x * width;
        if (!memcmp(now, before, (size_t)width))
            continue;
        for (i64 y = 0; y < width; y++) {
            if (now[y] == before[y])
                continue;
            changed[x] = changed[y] = true;
            if (joined(marks, width, x, y) != joined(search->former, width, x, y))
                mark_rejoined(search, marks, x, y);
        }
    }
    for (i64 node = 0; node < width; node++) {
        if (!changed[node])
            continue;
        memset(search->moves.stale + node * width, true, sizeof *search->moves.stale * (size_t)width);
        memset(search->turns.stale + node * width, true, sizeof *search->turns.stale * (size_t)width);
        for (i64 y = 0; y < width; y++)
            search->turns.stale[y * width + node] = true;
    }
}

/* Make moves of a kind while they gain. */
static status_t move_on(search_t *search, mark_t *marks, int kind, i64 *total)
{
    moves_t *moves = kind == TURN ? &search->turns : &search->moves;
    for (;;) {
        i64 x = 0, y = 0;
        refresh(search, marks, kind, moves);
        i64 gain = choose(search, marks, kind, moves, &x, &y);
        if (is_over(search) || gain <= 0)
            return DONE;
        *total += gain;
        memcpy(search->former, marks, (size_t)(search->width * search->width));
        search_make_move(search, marks, kind, x, y, moves);
        if (!search_extend(marks, search->dag, &search->pattern_space))
            return WRONG_INPUT;
        search_find_pattern(search->dag, marks, &search->pattern_space);
        search_note_marks(&search->paths, marks);
        mark_stale(search, marks);
    }
}

/* Make moves of all kinds in turn until none gains. */
static status_t move_in_turn(search_t *search, mark_t *marks, i64 *gain)
{
    size_t pairs = (size_t)(search->width * search->width);
    memset(search->moves.stale, true, sizeof *search->moves.stale * pairs);
    memset(search->turns.stale, true, sizeof *search->turns.stale * pairs);
    search_note_marks(&search->paths, marks);
    i64 before;
    do {
        before = *gain;
        for (int kind = INSERT; kind <= TURN; kind++) {
            status_t status = move_on(search, marks, kind, gain);
            if (status != DONE || is_over(search))
                return status;
        }
    } while (*gain != before);
    return DONE;
}

int32_t apsl_search_greedy(search_t *search, mark_t *marks, const uint8_t *opened, i64 limit, i64 most, flag_t *stop,
                           i64 *gain)
{
    *gain = 0;
    if (!is_ready(search))
        return WRONG_INPUT;
    search->opened = opened;
    search->limit = limit;
    search->stop = stop;
    limits_t before = shorten(search, most);
    status_t status = move_in_turn(search, marks, gain);
    return (int32_t)(was_too_long(search, before) ? STOPPED : status);
}
