/* Change the marks of a graph by a move.
 *
 * The marks afterwards are a partially directed graph whose extensions are those of the new class; the caller extends
 * it and finds its pattern. */
#include <string.h>

#include "search/operators.h"

static void make_insertion(const search_t *search, mark_t *marks, i64 x, i64 y, const bool *inside)
{
    i64 width = search->width;
    marks[x * width + y] = 1;
    for (i64 other = 0; other < width; other++)
        if (inside[other])
            marks[y * width + other] = 0;
}

static void make_deletion(const search_t *search, mark_t *marks, i64 x, i64 y, const bool *inside)
{
    i64 width = search->width;
    bool *apart = search->scratch.shared;
    for (i64 other = 0; other < width; other++)
        apart[other] = other != x && lined(marks, width, y, other) && joined(marks, width, x, other) && !inside[other];
    marks[x * width + y] = marks[y * width + x] = 0;
    for (i64 other = 0; other < width; other++)
        if (apart[other]) {
            marks[other * width + y] = 0;
            if (marks[x * width + other])
                marks[other * width + x] = 0;
        }
}

static void make_turn(const search_t *search, mark_t *marks, i64 x, i64 y, const bool *inside)
{
    i64 width = search->width;
    bool line = lined(marks, width, x, y);
    for (i64 other = 0; other < width; other++) {
        if (other == x || other == y)
            continue;
        if (lined(marks, width, x, other))
            marks[line && inside[other] ? x * width + other : other * width + x] = 0;
        if (lined(marks, width, y, other))
            marks[inside[other] ? y * width + other : other * width + y] = 0;
    }
    marks[y * width + x] = 0;
    marks[x * width + y] = 1;
}

void search_make_move(search_t *search, mark_t *marks, int kind, i64 x, i64 y, const moves_t *moves)
{
    i64 pair = x * search->width + y;
    bool *inside = search->scratch.seen;
    memset(inside, 0, sizeof *inside * (size_t)search->width);
    for (i64 at = 0; at < moves->size[pair]; at++)
        inside[moves->clique[pair][at]] = true;
    if (kind == INSERT)
        make_insertion(search, marks, x, y, inside);
    else if (kind == DELETE)
        make_deletion(search, marks, x, y, inside);
    else
        make_turn(search, marks, x, y, inside);
}
