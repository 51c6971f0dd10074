/* The best insertion, deletion or turn of a pair, over all cliques that the move allows.
 *
 * Cliques are enumerated depth first in the scratch lists; gains come from scores of families. The first best clique in
 * that order is kept in the moves. */
#include "search/operators.h"

#include <string.h>

/* Score a node given the numbers in ``base``, the places in ``extra`` and, unless negative, the place ``one``. */
static i64 score_of(search_t *search, i64 node, const i64 *base, i64 count, const i64 *extra, i64 size, i64 one)
{
    i64 *parents = search->scratch.parents;
    memcpy(parents, base, sizeof *parents * (size_t)count);
    for (i64 at = 0; at < size; at++)
        count = scores_put(parents, count, search->members[extra[at]]);
    if (one >= 0)
        count = scores_put(parents, count, search->members[one]);
    return scores_family_score(search->score, search->members[node], parents, count);
}

i64 search_list_parents(const search_t *search, const mark_t *marks, i64 node, i64 but, i64 *out)
{
    i64 count = 0, width = search->width;
    for (i64 other = 0; other < width; other++)
        if (marks[other * width + node] && !marks[node * width + other] && other != but)
            out[count++] = search->members[other];
    return count;
}

i64 search_list_lines(const search_t *search, const mark_t *marks, i64 node, i64 *out)
{
    i64 count = 0;
    for (i64 other = 0; other < search->width; other++)
        if (lined(marks, search->width, node, other))
            out[count++] = other;
    return count;
}

/* Return whether the shared nodes of the clique separate its others from the shared nodes outside it. Only nodes that
 * lines connect with y are considered; the shared ones are also adjacent to x. */
static bool is_separated(const search_t *search, const mark_t *marks, i64 lines, i64 size)
{
    const scratch_t *scratch = &search->scratch;
    i64 count = 0, *ahead = scratch->ahead;
    memset(scratch->seen, 0, sizeof *scratch->seen * (size_t)search->width);
    for (i64 at = 0; at < size; at++) {
        scratch->seen[scratch->clique[at]] = true;
        if (!scratch->shared[scratch->clique[at]])
            ahead[count++] = scratch->clique[at];
    }
    while (count) {
        i64 node = ahead[--count];
        for (i64 at = 0; at < lines; at++) {
            i64 other = scratch->lines[at];
            if (scratch->seen[other] || !joined(marks, search->width, node, other))
                continue;
            if (scratch->shared[other])
                return false;
            scratch->seen[other] = true;
            ahead[count++] = other;
        }
    }
    return true;
}

/* Return whether all paths from y to x pass places that are seen or, for a turn, that lines connect with x. */
static bool is_blocked(search_t *search, int kind, i64 x, i64 y)
{
    if (kind == TURN)
        search_see_lines(&search->paths, x);
    return !search_has_path(&search->paths, y, x, kind == TURN);
}

bool search_closes_no_cycle(search_t *search, const mark_t *marks, int kind, i64 x, i64 y, const moves_t *moves)
{
    if (kind == DELETE || lined(marks, search->width, x, y))
        return true;
    i64 pair = x * search->width + y;
    search_see_none(&search->paths);
    for (i64 at = 0; at < moves->size[pair]; at++)
        see(&search->paths, moves->clique[pair][at]);
    return is_blocked(search, kind, x, y);
}

/* The same for the current clique. */
static bool current_closes_no_cycle(search_t *search, int kind, i64 x, i64 y, bool line, i64 size)
{
    if (kind == DELETE || line)
        return true;
    search_see_none(&search->paths);
    for (i64 at = 0; at < size; at++)
        see(&search->paths, search->scratch.clique[at]);
    return is_blocked(search, kind, x, y);
}

/* The pair of a move, and what its gain depends on. */
typedef struct {
    int kind;
    i64 x, y;
    bool line;   /* whether a line connects x and y */
    i64 count;   /* the parents of y other than x */
    i64 over;    /* the parents of x other than y, for a turn */
    i64 lines;   /* the nodes that lines connect with y */
    i64 fixed;   /* the nodes that the clique must contain */
    i64 free;    /* those that it may contain */
    i64 needed;  /* those of the latter that it must contain in order to close no cycle */
} pair_t;

/* Return the gain of one move, or NEVER if it is not valid. */
static i64 gain_of(search_t *search, const mark_t *marks, const pair_t *pair, i64 size)
{
    const scratch_t *scratch = &search->scratch;
    i64 gain = 0;
    if (pair->kind == TURN) {
        i64 common = 0;
        if (pair->line) {
            for (i64 at = 0; at < size; at++)
                if (scratch->shared[scratch->clique[at]])
                    scratch->both[common++] = scratch->clique[at];
            if (common == size || pair->over + common + 1 > search->limit ||
                !is_separated(search, marks, pair->lines, size))
                return NEVER;
        }
        gain += score_of(search, pair->x, scratch->above, pair->over, scratch->both, common, -1);
        gain -= score_of(search, pair->x, scratch->above, pair->over, scratch->both, common, pair->y);
    }
    i64 with_x = score_of(search, pair->y, scratch->base, pair->count, scratch->clique, size, pair->x);
    i64 without_x = score_of(search, pair->y, scratch->base, pair->count, scratch->clique, size, -1);
    return pair->kind == DELETE ? without_x - with_x : gain + with_x - without_x;
}

/* List the nodes that the clique must or may contain; return whether there is any clique. It must contain the nodes with
 * a bit among the lines. */
static bool list_clique(const search_t *search, const mark_t *marks, pair_t *pair, uint64_t bits)
{
    const scratch_t *scratch = &search->scratch;
    i64 width = search->width;
    for (i64 at = 0; at < pair->lines; at++) {
        i64 other = scratch->lines[at];
        if (other == pair->x)
            continue;
        bool near = joined(marks, width, pair->x, other);
        scratch->shared[other] = near;
        if (near && (pair->kind == INSERT || (pair->kind == TURN && !pair->line))) {
            if (pair->count + pair->fixed + 1 >= search->limit)
                return false;
            for (i64 place = 0; place < pair->fixed; place++)
                if (!joined(marks, width, scratch->clique[place], other))
                    return false;
            scratch->clique[pair->fixed++] = other;
        } else if (near || pair->kind != DELETE) {
            if (bits && at < 64 && bits >> at & 1)
                scratch->needed[pair->needed++] = pair->free;
            scratch->pool[pair->free++] = other;
        }
    }
    return pair->count + pair->fixed + pair->needed < search->limit;
}

/* Return the first place in the pool that the clique must contain and does not, or the number of places. */
static i64 first_missing(const scratch_t *scratch, const pair_t *pair, i64 size)
{
    for (i64 one = 0, at = pair->fixed; one < pair->needed; one++) {
        while (at < size && scratch->at_pool[at] < scratch->needed[one])
            at++;
        if (at == size || scratch->at_pool[at] != scratch->needed[one])
            return scratch->needed[one];
    }
    return pair->free;
}

/* Go on to the next clique after one with ``size`` nodes, in place; return its size, or -1 after the last. */
static i64 next_clique(const search_t *search, const mark_t *marks, const pair_t *pair, i64 size, i64 start)
{
    const scratch_t *scratch = &search->scratch;
    for (;;) {
        i64 place = pair->count + size + 1 < search->limit ? start : pair->free;
        i64 end = pair->needed ? smaller(first_missing(scratch, pair, size) + 1, pair->free) : pair->free;
        for (; place < end; place++) {
            bool fits = true;
            for (i64 at = 0; at < size; at++)
                fits &= joined(marks, search->width, scratch->clique[at], scratch->pool[place]);
            if (fits)
                break;
        }
        if (place < end) {
            scratch->clique[size] = scratch->pool[place];
            scratch->at_pool[size] = place;
            return size + 1;
        }
        if (size == pair->fixed)
            return -1;
        start = scratch->at_pool[--size] + 1;
    }
}

static void keep(const search_t *search, moves_t *moves, i64 at, i64 gain, i64 size)
{
    moves->gain[at] = gain;
    moves->size[at] = (int8_t)size;
    for (i64 place = 0; place < size; place++)
        moves->clique[at][place] = (int16_t)search->scratch.clique[place];
}

void search_best_move(search_t *search, const mark_t *marks, int kind, i64 x, i64 y, bool strict, moves_t *moves,
                      i64 count,
                      i64 lines)
{
    i64 at = x * search->width + y;
    pair_t pair = {kind, x, y, lined(marks, search->width, x, y), count, 0, lines, 0, 0, 0};
    uint64_t bits = 0;
    moves->gain[at] = NEVER;
    if (kind == TURN)
        pair.over = search_list_parents(search, marks, x, y, search->scratch.above);
    if (count >= search->limit || pair.over >= search->limit)
        return;
    if (strict && kind == INSERT) {
        if (search_has_open_path(&search->paths, y, x))
            return;
        strict = !search_find_needed(&search->paths, y, x, &bits);
    }
    if (!list_clique(search, marks, &pair, bits))
        return;
    i64 size = pair.fixed, start = 0;
    while (size >= 0 && !is_over(search)) {
        search->score->tried += 1 + (strict ? search->width >> 1 : 0);
        i64 gain = first_missing(&search->scratch, &pair, size) < pair.free ? NEVER : gain_of(search, marks, &pair,
                                                                                              size);
        if (gain > moves->gain[at] && (!strict || current_closes_no_cycle(search, kind, x, y, pair.line, size)))
            keep(search, moves, at, gain, size);
        size = next_clique(search, marks, &pair, size, start);
        start = size > 0 ? search->scratch.at_pool[size - 1] + 1 : 0;
    }
}

void search_best_strict_move(search_t *search, const mark_t *marks, int kind, i64 x, i64 y, moves_t *moves)
{
    i64 count = search_list_parents(search, marks, y, x, search->scratch.base);
    i64 lines = search_list_lines(search, marks, y, search->scratch.lines);
    search_best_move(search, marks, kind, x, y, true, moves, count, lines);
}

int32_t apsl_search_best_move(search_t *search, const mark_t *marks, const uint8_t *opened, i64 limit, int32_t kind,
                              i64 x, i64 y, i64 *gain, mark_t *after, flag_t *stop)
{
    i64 width = search->width;
    if (!is_ready(search) || kind < INSERT || kind > TURN || x < 0 || x >= width || y < 0 || y >= width)
        return WRONG_INPUT;
    search->opened = opened;
    search->limit = limit;
    search->stop = stop;
    *gain = NEVER;
    if (!applies(search, marks, kind, x, y))
        return DONE;
    search_note_marks(&search->paths, marks);
    search_best_strict_move(search, marks, kind, x, y, &search->moves);
    *gain = search->moves.gain[x * width + y];
    if (*gain == NEVER)
        return DONE;
    memcpy(search->former, marks, (size_t)(width * width));
    search_make_move(search, search->former, kind, x, y, &search->moves);
    if (!search_extend(search->former, search->dag, &search->pattern_space))
        return WRONG_INPUT;
    search_find_pattern(search->dag, after, &search->pattern_space);
    return DONE;
}
