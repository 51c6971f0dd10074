/* Number the rows by their configuration of some columns, and count them.
 *
 * Levels of classes lie one after another, a number for each row. Refining a level by a column multiplies the numbers
 * while they are few, and labels the configurations that occur by a hash table beyond that; so memory is bounded by the
 * rows. Callers keep within the levels that they opened. */
#include "counts/row_classes.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t SPREAD = UINT64_C(0x9E3779B97F4A7C15);

i64 counts_most_classes_for(i64 rows) { return larger(4096, 2 * rows + smaller(6 * rows, 1 << 18)); }

static uint64_t slots_for(i64 rows)
{
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)rows)
        slots *= 2;
    return slots;
}

i64 counts_row_classes_bytes(i64 rows, i64 levels, bool empirical)
{
    i64 counts = counts_most_classes_for(rows);
    return 4 * rows * levels + 4 * counts + 12 * (i64)slots_for(rows) + (empirical ? 4 * counts * levels : 0);
}

status_t counts_row_classes_open(row_classes_t *space, i64 rows, i64 levels, bool empirical)
{
    space->rows = rows;
    space->levels = levels;
    space->most_classes = counts_most_classes_for(rows);
    space->slots = slots_for(rows);
    size_t most = (size_t)space->most_classes;
    space->classes = malloc(sizeof *space->classes * (size_t)(rows * levels));
    space->counts = malloc(sizeof *space->counts * most);
    space->keys = malloc(sizeof *space->keys * space->slots);
    space->labels = malloc(sizeof *space->labels * space->slots);
    space->cells = empirical ? malloc(sizeof *space->cells * most * (size_t)levels) : NULL;
    bool is_whole = space->classes && space->counts && space->keys && space->labels && (space->cells || !empirical);
    return is_whole ? DONE : NO_MEMORY;
}

void counts_row_classes_close(row_classes_t *space)
{
    free(space->classes);
    free(space->counts);
    free(space->keys);
    free(space->labels);
    free(space->cells);
    memset(space, 0, sizeof *space);
}

void counts_join_all(row_classes_t *space, i64 level)
{
    memset(classes_at(space, level), 0, sizeof *space->classes * (size_t)space->rows);
    if (space->cells)
        cells_at(space, level)[0] = 0;
}

/* Number the classes in mixed radix. */
ALWAYS_INLINE void refine_all(i64 rows, const uint32_t *before, uint32_t span, const void *codes, int bytes,
                              uint32_t *after)
{
    for (i64 row = 0; row < rows; row++)
        after[row] = before[row] + code_at(codes, bytes, row) * span;
}

i64 counts_refine(row_classes_t *space, i64 from, i64 span, const column_t *column, i64 to)
{
    i64 wide = span * column->card, rows = space->rows;
    if (wide > larger(1024, 2 * rows))
        return counts_label(space, from, span, column, to, NULL);
    const uint32_t *before = classes_at(space, from);
    uint32_t *after = classes_at(space, to);
    switch (column->bytes) {
    case 1: refine_all(rows, before, (uint32_t)span, column->codes, 1, after); break;
    case 2: refine_all(rows, before, (uint32_t)span, column->codes, 2, after); break;
    default: refine_all(rows, before, (uint32_t)span, column->codes, 4, after);
    }
    if (space->cells) {
        const int32_t *summed = cells_at(space, from);
        int32_t *cells = cells_at(space, to);
        for (i64 code = 0; code < column->card; code++)
            for (i64 cell = 0; cell < span; cell++)
                cells[cell + code * span] = summed[cell] + column->log_priors[code];
    }
    return wide;
}

/* Return the place of a configuration's label in the hash table. */
static int32_t *place_of(row_classes_t *space, uint64_t key)
{
    uint64_t at = (key * SPREAD >> 20) & (space->slots - 1);
    while (space->labels[at] >= 0 && space->keys[at] != key)
        at = (at + 1) & (space->slots - 1);
    space->keys[at] = key;
    return space->labels + at;
}

i64 counts_label(row_classes_t *space, i64 from, i64 span, const column_t *column, i64 to, uint32_t *below)
{
    const uint32_t *before = classes_at(space, from);
    const int32_t *summed = cells_at(space, from);
    uint32_t *after = classes_at(space, to), found = 0;
    int32_t *cells = cells_at(space, to);
    bool is_direct = span * (column ? column->card : 1) <= space->most_classes;
    if (is_direct)
        memset(space->counts, 0xff, sizeof *space->counts * (size_t)(span * (column ? column->card : 1)));
    else
        memset(space->labels, 0xff, sizeof *space->labels * space->slots);
    for (i64 row = 0; row < space->rows; row++) {
        uint32_t code = column ? code_at(column->codes, column->bytes, row) : 0;
        uint64_t key = before[row] + (uint64_t)code * (uint64_t)span;
        int32_t *place = is_direct ? space->counts + key : place_of(space, key);
        if (*place < 0) {
            if (below)
                below[found] = before[row];
            if (cells)
                cells[found] = summed[before[row]] + (column ? column->log_priors[code] : 0);
            *place = (int32_t)found++;
        }
        after[row] = (uint32_t)*place;
    }
    return found;
}

void counts_count_classes(row_classes_t *space, i64 level, i64 span, const int32_t *weights)
{
    const uint32_t *classes = classes_at(space, level);
    memset(space->counts, 0, sizeof *space->counts * (size_t)span);
    for (i64 row = 0; row < space->rows; row++)
        space->counts[classes[row]] += weights ? weights[row] : 1;
}

/* Count rows into one array. */
ALWAYS_INLINE void count_plainly(const row_classes_t *space, const uint32_t *classes, uint32_t span,
                                 const void *codes, int bytes, const int32_t *weights)
{
    for (i64 row = 0; row < space->rows; row++)
        space->counts[classes[row] + code_at(codes, bytes, row) * span] += weights ? weights[row] : 1;
}

/* Count rows into four arrays in turn. Real columns often have one level in most rows, and a single array would have to
 * wait for the previous increment. */
ALWAYS_INLINE void count_in_turn(const row_classes_t *space, const uint32_t *classes, uint32_t span, const void *codes,
                                 int bytes, i64 wide)
{
    int32_t *first = space->counts, *second = first + wide, *third = second + wide, *fourth = third + wide;
    i64 whole = space->rows - space->rows % 4;
    for (i64 row = 0; row < whole; row += 4) {
        first[classes[row] + code_at(codes, bytes, row) * span]++;
        second[classes[row + 1] + code_at(codes, bytes, row + 1) * span]++;
        third[classes[row + 2] + code_at(codes, bytes, row + 2) * span]++;
        fourth[classes[row + 3] + code_at(codes, bytes, row + 3) * span]++;
    }
    for (i64 row = whole; row < space->rows; row++)
        first[classes[row] + code_at(codes, bytes, row) * span]++;
    for (i64 cell = 0; cell < wide; cell++)
        first[cell] += second[cell] + third[cell] + fourth[cell];
}

ALWAYS_INLINE void count_codes(const row_classes_t *space, const uint32_t *classes, i64 span, const column_t *column,
                               int bytes, const int32_t *weights)
{
    i64 wide = span * column->card;
    bool in_turn = !weights && 4 * wide <= 1024;
    memset(space->counts, 0, sizeof *space->counts * (size_t)(in_turn ? 4 * wide : wide));
    if (in_turn)
        count_in_turn(space, classes, (uint32_t)span, column->codes, bytes, wide);
    else
        count_plainly(space, classes, (uint32_t)span, column->codes, bytes, weights);
}

void counts_count_refined(row_classes_t *space, i64 level, i64 span, const column_t *column, const int32_t *weights)
{
    const uint32_t *classes = classes_at(space, level);
    switch (column->bytes) {
    case 1: count_codes(space, classes, span, column, 1, weights); break;
    case 2: count_codes(space, classes, span, column, 2, weights); break;
    default: count_codes(space, classes, span, column, 4, weights);
    }
}
