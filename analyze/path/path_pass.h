/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_pass.h - private: a path's pass through the trace, and what follows it
 *
 * Way of the data:  loaded_trace -> [path_pass] -> path
 */
#ifndef ANALYZE_PATH_PATH_PASS_H
#define ANALYZE_PATH_PATH_PASS_H

struct path;

/* After the pass: sorts the rows, names the waits, judges.  Returns 0, -ENOMEM or -EOVERFLOW. */
int path_finish(struct path *p);

#endif /* ANALYZE_PATH_PATH_PASS_H */
