/* The scores of all subsets of some nodes, each as one joint column. */
#ifndef APSL_JOINTS_H
#define APSL_JOINTS_H

#include "scores/score.h"
#include "base/stopping.h"

/* The most nodes: a subset is an integer with a bit for each, and its score an element of an array. */
enum { MOST_JOINT_NODES = 30 };

/* Write the score of every subset; bit i of an index is the i-th member. STOPPED leaves the rest unwritten. */
EXPORT int32_t apsl_score_joints(score_t *score, const i64 *members, i64 width, i64 *scores, flag_t *stop);

/* Estimate the bytes of the working space for so many nodes and rows. */
EXPORT i64 apsl_joints_bytes(i64 rows, i64 width, int32_t empirical);

#endif
