/* A tabu climb over acyclic graphs.
 *
 * Gains of adding or deleting each arrow are kept by pair, descendants as a matrix, recent graphs by 64-bit stamps in a
 * ring. After a step only what depends on its head is updated. */
#include "search/tabu.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t FIRST = UINT64_C(0x9E3779B97F4A7C15), SECOND = UINT64_C(0xC2B2AE3D27D4EB4F);
/* The moves of an arrow that are barred until the next step. */
enum { BARRED_CHANGE = 1, BARRED_TURN = 2 };

/* A step of a climb: the arrow that is added, deleted or turned; the tail is -1 if there is none. */
typedef struct {
    i64 gain, tail, head;
    bool turned;
} step_t;

static const step_t NO_STEP = {NEVER, -1, -1, false};

/* A climb: the gain of adding or deleting each arrow, descendants, the best graph, the best step from each tail (if it is
 * known), and recent graphs. */
typedef struct {
    search_t *search;
    mark_t *dag, *best;
    i64 *gain;
    uint64_t *below; /* of each place a set of so many words */
    i64 words;
    uint8_t *barred;
    step_t *steps;
    bool *knows_step;
    uint64_t *recent;
    i64 tabu;
} climb_t;

static status_t climb_open(climb_t *climb, search_t *search, mark_t *dag, i64 tabu)
{
    size_t nodes = (size_t)search->width, pairs = nodes * nodes, words = (nodes + 63) / 64;
    *climb = (climb_t){.search = search, .dag = dag, .words = (i64)words, .tabu = tabu};
    climb->best = malloc(pairs);
    climb->gain = malloc(sizeof *climb->gain * pairs);
    climb->below = malloc(sizeof *climb->below * nodes * words);
    climb->barred = calloc(pairs, 1);
    climb->steps = malloc(sizeof *climb->steps * nodes);
    climb->knows_step = calloc(nodes, sizeof *climb->knows_step);
    climb->recent = calloc((size_t)tabu, sizeof *climb->recent);
    bool has_pairs = climb->best && climb->gain && climb->below && climb->barred;
    return has_pairs && climb->steps && climb->knows_step && climb->recent ? DONE : NO_MEMORY;
}

static void climb_close(climb_t *climb)
{
    free(climb->best);
    free(climb->gain);
    free(climb->below);
    free(climb->barred);
    free(climb->steps);
    free(climb->knows_step);
    free(climb->recent);
}

/* List the numbers of a node's parents; return how many there are. */
static i64 list_all_parents(const climb_t *climb, i64 node, i64 *out)
{
    i64 count = 0, width = climb->search->width;
    for (i64 other = 0; other < width; other++)
        if (climb->dag[other * width + node])
            out[count++] = climb->search->members[other];
    return count;
}

/* Count in one batch the families with one parent more. */
static void count_ahead(climb_t *climb, i64 node, i64 count)
{
    const search_t *search = climb->search;
    i64 width = search->width, waiting = 0, *others = search->scratch.others;
    for (i64 other = 0; other < width; other++)
        if (other != node && search->opened[other * width + node] && !climb->dag[other * width + node])
            others[waiting++] = search->members[other];
    scores_score_ahead(search->score, search->members[node], search->scratch.base, count, others, waiting,
                       &search->scratch.batch);
}

/* Update the gain of adding each arrow into a node, or of deleting it if it is there. */
static void update_gains(climb_t *climb, i64 node)
{
    const search_t *search = climb->search;
    i64 width = search->width, number = search->members[node];
    i64 *parents = search->scratch.base, *others = search->scratch.others;
    i64 count = list_all_parents(climb, node, parents);
    if (count < search->limit)
        count_ahead(climb, node, count);
    i64 own = scores_family_score(search->score, number, parents, count);
    for (i64 other = 0; other < width; other++) {
        i64 pair = other * width + node, kept = 0;
        bool is_parent = climb->dag[pair];
        if (other == node || (is_parent ? search->opened[pair] == REQUIRED : count >= search->limit ||
                              !search->opened[pair])) {
            climb->gain[pair] = NEVER;
            continue;
        }
        for (i64 at = 0; at < count; at++)
            if (parents[at] != search->members[other])
                others[kept++] = parents[at];
        if (!is_parent)
            kept = scores_put(others, kept, search->members[other]);
        climb->gain[pair] = scores_family_score(search->score, number, others, kept) - own;
    }
}

/* Find the descendants of each node, from the last node in the order to the first; all steps must be found anew. */
static void find_below(climb_t *climb)
{
    const pattern_space_t *space = &climb->search->pattern_space;
    i64 width = climb->search->width, words = climb->words;
    search_order_nodes(climb->dag, &climb->search->pattern_space);
    for (i64 at = width - 1; at >= 0; at--) {
        i64 node = space->order[at];
        uint64_t *below = climb->below + node * words;
        memset(below, 0, sizeof *below * (size_t)words);
        for (i64 place = 0; place < space->degrees[node]; place++) {
            i64 child = space->near[node * width + place];
            for (i64 word = 0; word < words; word++)
                below[word] |= climb->below[child * words + word];
            below[child >> 6] |= UINT64_C(1) << (child & 63);
        }
    }
    memset(climb->barred, 0, (size_t)(width * width));
    memset(climb->knows_step, 0, sizeof *climb->knows_step * (size_t)width);
}

static bool is_below(const climb_t *climb, i64 node, i64 other)
{
    return climb->below[node * climb->words + (other >> 6)] >> (other & 63) & 1;
}

/* Return whether a path other than their arrow leads from tail to head. */
static bool has_detour(const climb_t *climb, i64 tail, i64 head)
{
    const pattern_space_t *space = &climb->search->pattern_space;
    for (i64 place = 0; place < space->degrees[tail]; place++) {
        i64 child = space->near[tail * space->width + place];
        if (child != head && is_below(climb, child, head))
            return true;
    }
    return false;
}

/* Return a pseudo-random word for an arrow; that of a graph combines those of its arrows. */
static uint64_t stamp_of(const search_t *search, i64 tail, i64 head)
{
    uint64_t mixed = (uint64_t)(search->members[tail] + 1) * FIRST ^ (uint64_t)(search->members[head] + 1) * SECOND;
    mixed ^= mixed >> 31;
    mixed *= SECOND;
    return mixed ^ mixed >> 29;
}

static bool is_recent(const climb_t *climb, uint64_t stamp)
{
    for (i64 at = 0; at < climb->tabu; at++)
        if (climb->recent[at] == stamp)
            return true;
    return false;
}

/* Replace the best step by a change of an arrow that is there: to delete or to turn it. */
static void try_arrow(climb_t *climb, i64 tail, i64 head, step_t *best)
{
    i64 width = climb->search->width, pair = tail * width + head;
    i64 gain = climb->gain[pair], other = climb->gain[head * width + tail];
    bool is_first = head < best->head; /* of equal gains, the first head wins */
    if (gain == NEVER)
        return;
    if ((gain > best->gain || (gain == best->gain && is_first)) && !(climb->barred[pair] & BARRED_CHANGE))
        *best = (step_t){gain, tail, head, false};
    if (other == NEVER || gain + other < best->gain || (gain + other == best->gain && head >= best->head) ||
        climb->barred[pair] & BARRED_TURN)
        return;
    if (has_detour(climb, tail, head))
        climb->barred[pair] |= BARRED_TURN;
    else
        *best = (step_t){gain + other, tail, head, true};
}

/* Find the best step for the arrows from a tail that is not barred. */
static step_t find_step_from(climb_t *climb, i64 tail)
{
    const pattern_space_t *space = &climb->search->pattern_space;
    i64 width = climb->search->width;
    const i64 *gain = climb->gain + tail * width;
    step_t best = NO_STEP;
    for (i64 head = 0; head < width; head++)
        if (gain[head] > best.gain && !climb->dag[tail * width + head] && !is_below(climb, head, tail) &&
            !(climb->barred[tail * width + head] & BARRED_CHANGE))
            best = (step_t){gain[head], tail, head, false};
    for (i64 place = 0; place < space->degrees[tail]; place++)
        try_arrow(climb, tail, space->near[tail * width + place], &best);
    return best;
}

/* Find the best step that is not barred. */
static step_t find_step(climb_t *climb)
{
    step_t best = NO_STEP;
    for (i64 tail = 0; tail < climb->search->width; tail++) {
        if (!climb->knows_step[tail])
            climb->steps[tail] = find_step_from(climb, tail);
        climb->knows_step[tail] = true;
        if (climb->steps[tail].gain > best.gain)
            best = climb->steps[tail];
    }
    return best;
}

/* Make a step, and update what depends on it. */
static void make_step(climb_t *climb, const step_t *step)
{
    i64 width = climb->search->width;
    climb->dag[step->tail * width + step->head] ^= 1;
    update_gains(climb, step->head);
    if (step->turned) {
        climb->dag[step->head * width + step->tail] = 1;
        update_gains(climb, step->tail);
    }
    find_below(climb);
}

/* Make steps until the patience is spent; return the gain of the best graph visited. */
static i64 climb_on(climb_t *climb, uint64_t stamp, i64 patience)
{
    search_t *search = climb->search;
    size_t pairs = (size_t)(search->width * search->width);
    i64 now = 0, top = 0, idle = 0, met = 1;
    climb->recent[0] = stamp;
    while (idle < patience && !search->stop[REASON]) {
        step_t step = find_step(climb);
        if (step.tail < 0)
            break;
        uint64_t after = stamp ^ stamp_of(search, step.tail, step.head);
        if (step.turned)
            after ^= stamp_of(search, step.head, step.tail);
        if (is_recent(climb, after)) {
            climb->barred[step.tail * search->width + step.head] |= step.turned ? BARRED_TURN : BARRED_CHANGE;
            climb->knows_step[step.tail] = false;
            continue;
        }
        make_step(climb, &step);
        stamp = after;
        climb->recent[met++ % climb->tabu] = stamp;
        now += step.gain;
        idle++;
        if (now > top) {
            top = now;
            idle = 0;
            memcpy(climb->best, climb->dag, pairs);
        }
    }
    memcpy(climb->dag, climb->best, pairs);
    return top;
}

int32_t apsl_search_climb(search_t *search, mark_t *dag, const uint8_t *opened, i64 limit, i64 patience, i64 tabu,
                          flag_t *stop, i64 *gain)
{
    i64 width = search->width;
    *gain = 0;
    if (!is_ready(search) || !search_order_nodes(dag, &search->pattern_space))
        return WRONG_INPUT;
    search->opened = opened;
    search->limit = limit;
    search->stop = stop;
    climb_t climb;
    status_t status = climb_open(&climb, search, dag, tabu);
    uint64_t stamp = 1;
    for (i64 tail = 0; tail < width && status == DONE; tail++) {
        if (stop[REASON])
            status = STOPPED;
        else
            update_gains(&climb, tail);
        for (i64 head = 0; head < width; head++)
            if (dag[tail * width + head])
                stamp ^= stamp_of(search, tail, head);
    }
    if (status == DONE) {
        find_below(&climb);
        memcpy(climb.best, dag, (size_t)(width * width));
        *gain = climb_on(&climb, stamp, patience);
    }
    climb_close(&climb);
    return (int32_t)(status == STOPPED ? DONE : status);
}
