/* Extensions of a partially directed graph, and the pattern of an acyclic graph.
 *
 * Graphs are square matrices of marks as patterns.h says. The working space holds the neighbours, parents and degrees
 * of each node as lists. */
#include "search/patterns.h"

#include <stdlib.h>

status_t search_pattern_space_open(pattern_space_t *space, i64 width)
{
    size_t nodes = (size_t)larger(width, 1);
    space->width = width;
    space->near = malloc(sizeof *space->near * nodes * nodes);
    space->above = malloc(sizeof *space->above * nodes * nodes);
    space->degrees = malloc(sizeof *space->degrees * nodes);
    space->parents = malloc(sizeof *space->parents * nodes);
    space->waiting = malloc(sizeof *space->waiting * nodes);
    space->order = calloc(nodes, sizeof *space->order);
    space->left = malloc(sizeof *space->left * nodes);
    bool has_lists = space->near && space->above && space->degrees && space->parents;
    return has_lists && space->waiting && space->order && space->left ? DONE : NO_MEMORY;
}

void search_pattern_space_close(pattern_space_t *space)
{
    free(space->near);
    free(space->above);
    free(space->degrees);
    free(space->parents);
    free(space->waiting);
    free(space->order);
    free(space->left);
}

/* Return whether all remaining neighbours of a node may point at it. */
static bool can_be_last(const mark_t *marks, const pattern_space_t *space, i64 node)
{
    i64 width = space->width, degree = space->degrees[node];
    const int16_t *near = space->near + node * width;
    for (i64 at = 0; at < degree; at++) {
        i64 other = near[at];
        if (!space->left[other])
            continue;
        if (!marks[other * width + node])
            return false;
        if (marks[node * width + other])
            for (i64 place = 0; place < degree; place++)
                if (space->left[near[place]] && near[place] != other && !joined(marks, width, other, near[place]))
                    return false;
    }
    return true;
}

/* List the neighbours of all nodes. */
static void list_neighbours(const mark_t *marks, pattern_space_t *space)
{
    i64 width = space->width;
    memset(space->degrees, 0, sizeof *space->degrees * (size_t)width);
    for (i64 node = 0; node < width; node++) {
        const mark_t *row = marks + node * width;
        for (i64 other = -1; (other = next_mark(row, width, other + 1)) < width;) {
            space->near[node * width + space->degrees[node]++] = (int16_t)other;
            if (!marks[other * width + node])
                space->near[other * width + space->degrees[other]++] = (int16_t)node;
        }
    }
}

bool search_extend(const mark_t *marks, mark_t *dag, pattern_space_t *space)
{
    i64 width = space->width, remaining = width;
    memset(dag, 0, (size_t)(width * width));
    memset(space->left, true, sizeof *space->left * (size_t)width);
    list_neighbours(marks, space);
    while (remaining) {
        i64 before = remaining;
        for (i64 node = width - 1; node >= 0; node--) {
            if (!space->left[node] || !can_be_last(marks, space, node))
                continue;
            space->left[node] = false;
            remaining--;
            const int16_t *near = space->near + node * width;
            for (i64 at = 0; at < space->degrees[node]; at++)
                if (space->left[near[at]])
                    dag[near[at] * width + node] = 1;
        }
        if (remaining == before)
            return false;
    }
    return true;
}

bool search_order_nodes(const mark_t *dag, pattern_space_t *space)
{
    i64 width = space->width, found = 0, *waiting = space->waiting, *order = space->order;
    memset(space->degrees, 0, sizeof *space->degrees * (size_t)width);
    memset(space->parents, 0, sizeof *space->parents * (size_t)width);
    memset(waiting, 0, sizeof *waiting * (size_t)width);
    for (i64 node = 0; node < width; node++)
        for (i64 child = -1; (child = next_mark(dag + node * width, width, child + 1)) < width;) {
            space->near[node * width + space->degrees[node]++] = (int16_t)child;
            waiting[child]++;
        }
    for (i64 node = 0; node < width; node++)
        if (!waiting[node])
            order[found++] = node;
    for (i64 at = 0; at < found; at++) {
        const int16_t *children = space->near + order[at] * width;
        for (i64 place = 0; place < space->degrees[order[at]]; place++) {
            i64 child = children[place];
            space->above[child * width + space->parents[child]++] = (int16_t)order[at];
            if (!--waiting[child])
                order[found++] = child;
        }
    }
    return found == width;
}

/* Return whether the arrows into a node are compelled, as far as its last parent tells. */
static bool is_compelled(const mark_t *dag, const mark_t *marks, const pattern_space_t *space, i64 node)
{
    i64 width = space->width, count = space->parents[node];
    const int16_t *parents = space->above + node * width;
    i64 last = parents[count - 1];
    for (i64 at = 0; at < count - 1; at++)
        if (!dag[parents[at] * width + last])
            return true;
    const int16_t *above = space->above + last * width;
    for (i64 at = 0; at < space->parents[last]; at++)
        if (!marks[last * width + above[at]] && !dag[above[at] * width + node])
            return true;
    return false;
}

void search_find_pattern(const mark_t *dag, mark_t *marks, pattern_space_t *space)
{
    i64 width = space->width;
    search_order_nodes(dag, space);
    memset(marks, 0, (size_t)(width * width));
    for (i64 at = 0; at < width; at++) {
        i64 node = space->order[at], count = space->parents[node];
        const int16_t *parents = space->above + node * width;
        if (!count)
            continue;
        i64 last = parents[count - 1];
        bool compelled = is_compelled(dag, marks, space, node);
        for (i64 place = 0; place < count; place++) {
            i64 parent = parents[place];
            bool is_above = parent != last && marks[parent * width + last] && !marks[last * width + parent];
            marks[parent * width + node] = 1;
            marks[node * width + parent] = !compelled && !is_above;
        }
    }
}

int32_t apsl_extend(const mark_t *marks, i64 width, mark_t *dag)
{
    pattern_space_t space = {0};
    status_t status = search_pattern_space_open(&space, width);
    if (status == DONE && !search_extend(marks, dag, &space))
        status = WRONG_INPUT;
    search_pattern_space_close(&space);
    return (int32_t)status;
}

int32_t apsl_pattern(const mark_t *dag, i64 width, mark_t *marks)
{
    pattern_space_t space = {0};
    status_t status = search_pattern_space_open(&space, width);
    if (status == DONE && !search_order_nodes(dag, &space))
        status = WRONG_INPUT;
    if (status == DONE)
        search_find_pattern(dag, marks, &space);
    search_pattern_space_close(&space);
    return (int32_t)status;
}
