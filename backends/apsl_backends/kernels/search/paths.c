/* Whether paths lead from one place to another, by floods over sets of bits.
 *
 * Each place has a set for what arrows and lines lead to and one for its lines. What is beyond a place is kept until
 * the marks change. */
#include "search/paths.h"

#include <stdlib.h>
#include <string.h>

status_t search_paths_open(paths_t *paths, i64 width)
{
    paths->width = width;
    paths->words = larger((width + 63) / 64, 1);
    size_t words = (size_t)paths->words, nodes = (size_t)larger(width, 1);
    paths->ahead = malloc(sizeof *paths->ahead * words * nodes);
    paths->lines = malloc(sizeof *paths->lines * words * nodes);
    paths->seen = malloc(sizeof *paths->seen * words);
    paths->pending = malloc(sizeof *paths->pending * words);
    paths->beyond = malloc(sizeof *paths->beyond * words * nodes);
    paths->needed = malloc(sizeof *paths->needed * nodes * nodes);
    paths->knows_beyond = malloc(sizeof *paths->knows_beyond * nodes);
    paths->knows_needed = malloc(sizeof *paths->knows_needed * nodes);
    bool has_sets = paths->ahead && paths->lines && paths->seen && paths->pending && paths->beyond;
    return has_sets && paths->needed && paths->knows_beyond && paths->knows_needed ? DONE : NO_MEMORY;
}

void search_paths_close(paths_t *paths)
{
    free(paths->ahead);
    free(paths->lines);
    free(paths->seen);
    free(paths->pending);
    free(paths->beyond);
    free(paths->needed);
    free(paths->knows_beyond);
    free(paths->knows_needed);
}

void search_note_marks(paths_t *paths, const mark_t *marks)
{
    i64 width = paths->width, words = paths->words;
    memset(paths->ahead, 0, sizeof *paths->ahead * (size_t)(words * width));
    memset(paths->lines, 0, sizeof *paths->lines * (size_t)(words * width));
    memset(paths->knows_beyond, 0, sizeof *paths->knows_beyond * (size_t)width);
    memset(paths->knows_needed, 0, sizeof *paths->knows_needed * (size_t)width);
    for (i64 x = 0; x < width; x++)
        for (i64 y = -1; (y = next_mark(marks + x * width, width, y + 1)) < width;) {
            uint64_t bit = UINT64_C(1) << (y & 63);
            paths->ahead[x * words + (y >> 6)] |= bit;
            if (marks[y * width + x])
                paths->lines[x * words + (y >> 6)] |= bit;
        }
}

void search_see_none(paths_t *paths) { memset(paths->seen, 0, sizeof *paths->seen * (size_t)paths->words); }

void search_see_lines(paths_t *paths, i64 place)
{
    for (i64 word = 0; word < paths->words; word++)
        paths->seen[word] |= paths->lines[place * paths->words + word];
}

static bool has_bit(const uint64_t *set, i64 place) { return set[place >> 6] >> (place & 63) & 1; }

/* Take a place out of a set, or return -1 if it is empty; words before ``from`` are. */
static i64 take_one(uint64_t *set, i64 words, i64 *from)
{
    while (*from < words && !set[*from])
        ++*from;
    if (*from == words)
        return -1;
    i64 place = *from * 64 + lowest_bit(set[*from]);
    set[*from] &= set[*from] - 1;
    return place;
}

bool search_has_path(paths_t *paths, i64 start, i64 end, bool skip)
{
    i64 words = paths->words, from = start >> 6;
    memset(paths->pending, 0, sizeof *paths->pending * (size_t)words);
    paths->pending[start >> 6] = UINT64_C(1) << (start & 63);
    see(paths, start);
    for (i64 node; (node = take_one(paths->pending, words, &from)) >= 0;) {
        const uint64_t *ahead = paths->ahead + node * words;
        bool is_edge = skip && node == start;
        if (!is_edge && has_bit(ahead, end))
            return true;
        for (i64 word = words - 1; word >= 0; word--) {
            uint64_t further = ahead[word] & ~paths->seen[word];
            if (is_edge && word == end >> 6)
                further &= ~(UINT64_C(1) << (end & 63));
            paths->seen[word] |= further;
            paths->pending[word] |= further;
            from = further && word < from ? word : from;
        }
    }
    return false;
}

/* Add to the places seen all that paths lead to from a place without those seen before. */
static void flood(paths_t *paths, i64 start, uint64_t *seen)
{
    i64 words = paths->words, from = start >> 6;
    uint64_t *pending = paths->pending;
    memset(pending, 0, sizeof *pending * (size_t)words);
    pending[start >> 6] = UINT64_C(1) << (start & 63);
    for (i64 node; (node = take_one(pending, words, &from)) >= 0;)
        for (i64 word = words - 1; word >= 0; word--) {
            uint64_t further = paths->ahead[node * words + word] & ~seen[word];
            seen[word] |= further;
            pending[word] |= further;
            from = further && word < from ? word : from;
        }
}

bool search_has_open_path(paths_t *paths, i64 start, i64 end)
{
    i64 words = paths->words;
    uint64_t *beyond = paths->beyond + start * words;
    if (!paths->knows_beyond[start]) {
        memcpy(beyond, paths->lines + start * words, sizeof *beyond * (size_t)words);
        flood(paths, start, beyond);
        paths->knows_beyond[start] = true;
    }
    return has_bit(beyond, end);
}

/* Find for all ends which lines at the start lead to them; return whether 64 bits have space for these lines. */
static bool find_all_needed(paths_t *paths, i64 start)
{
    i64 words = paths->words, at = 0;
    const uint64_t *lines = paths->lines + start * words;
    uint64_t *needed = paths->needed + start * paths->width, *seen = paths->seen;
    memset(needed, 0, sizeof *needed * (size_t)paths->width);
    for (i64 word = 0; word < words; word++)
        for (uint64_t left = lines[word]; left; left &= left - 1, at++) {
            if (at == 64)
                return false;
            memcpy(seen, lines, sizeof *seen * (size_t)words);
            see(paths, start);
            flood(paths, word * 64 + lowest_bit(left), seen);
            for (i64 other = 0; other < words; other++)
                for (uint64_t reached = seen[other] & ~lines[other]; reached; reached &= reached - 1)
                    needed[other * 64 + lowest_bit(reached)] |= UINT64_C(1) << at;
        }
    return true;
}

bool search_find_needed(paths_t *paths, i64 start, i64 end, uint64_t *needed)
{
    if (!paths->knows_needed[start] && !find_all_needed(paths, start))
        return false;
    paths->knows_needed[start] = true;
    *needed = paths->needed[start * paths->width + end];
    return true;
}
