/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/searched_processes.h - the searches of each process's memory
 *
 * Way of the data:  code_images -> [searched_processes] -> code_images
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TRACKS_SEARCHED_PROCESSES_H
#define SAMPLER_TRACKS_SEARCHED_PROCESSES_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCHED_PROCESSES_MAX 65536

/* The state of searching a process's memory. */
struct searched_process {
        uint32_t n_images;   /* that were found in it */
        uint32_t n_searches; /* of all of it, for code */
        uint32_t n_misses;   /* in a row: images whose whole was looked for, and not found */
        uint32_t n_programs; /* that the process has run and left */
        uint64_t near_avma;  /* where the last one was: loaders do the same again and again; 0 = not known */
        bool writes_code;    /* it has executable memory that can be written, there or elsewhere */
};

struct searched_processes {
        struct intern pids;
        struct searched_process *processes; /* heap; by the id in `pids` - 1 */
        size_t capacity;
};

void searched_processes_init(struct searched_processes *s);
void searched_processes_deinit(struct searched_processes *s);

/* Borrowed until the next one is got; made if it is not there.  NULL if there are too many, or no memory. */
struct searched_process *searched_processes_get(struct searched_processes *s, uint32_t pid);

/* The process has ended, or runs another program. */
void searched_processes_leave(struct searched_processes *s, uint32_t pid);

#endif /* SAMPLER_TRACKS_SEARCHED_PROCESSES_H */
