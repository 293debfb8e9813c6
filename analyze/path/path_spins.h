/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_spins.h - which instructions of a path run in order to wait, by the code around them
 *
 * Way of the data:  path_sums (samples), module_listing -> [path_spins] -> path_names
 *
 * Names show few of the loops that spin (path_names.h).  So the code is read where much of a path ran: an
 * instruction spins if it lies in a small loop with an instruction that pauses, and samples show that the
 * pause is reached.  Where the code is missing, nothing is found.  Bounded: PATH_SPINS_MODULES_MAX files,
 * each in a process of its own.  Memory: nine bytes a frame.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PATH_SPINS_H
#define ANALYZE_PATH_PATH_SPINS_H

#include <stdbool.h>
#include <stdint.h>

struct loaded_trace;

#define PATH_SPINS_MODULES_MAX 4
/* The least share of what ran on paths that is looked at: a file, and a loop. */
#define PATH_SPINS_SHARE_MIN 0.05
/* The least share of an instruction, and of a loop's samples at its pause. */
#define PATH_SPINS_PLACE_MIN 0.001
#define PATH_SPINS_PAUSE_MIN 0.05

struct path_spins {
        const struct loaded_trace *trace; /* borrowed */
        double *weights;                  /* heap; by frame: of samples that it is the innermost one of */
        uint8_t *spins;                   /* heap; by frame: 1 = it lies in a loop that spins */
        double weight;                    /* of all samples */
        uint32_t n_frames;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int path_spins_init(struct path_spins *s, const struct loaded_trace *trace);
void path_spins_deinit(struct path_spins *s);

/* A sample on a path. */
void path_spins_add(struct path_spins *s, uint32_t stack, double weight);

/*
 * path_spins_find() - look at the code
 * @trace:  its events have been read; it is rewound
 * The caller has one thread at this moment.  Returns 1 if some code spins, 0, or -ENOMEM.
 */
int path_spins_find(struct path_spins *s, struct loaded_trace *trace);

/* Whether the innermost function of a call stack spins; false for stack 0. */
bool path_spins_has(const struct path_spins *s, uint32_t stack);

#endif /* ANALYZE_PATH_PATH_SPINS_H */
