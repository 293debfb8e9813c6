/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/live_stacks.h - samples of a running program, with registers and copies of its stack
 *
 * Way of the data:  kernel -> [live_stacks] -> stack_walk
 *
 * A recorder as small as can be, for tests and benchmarks of unwinding: all is kept in memory.
 */
#ifndef TESTS_UNIT_LIVE_STACKS_H
#define TESTS_UNIT_LIVE_STACKS_H

#include "unwind/stack_walk.h"
#include "unwind/unwind_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unwind_module;

struct live_sample {
        uint32_t tid;
        uint8_t *stack; /* heap, owned */
        uint64_t n_stack_bytes;
        struct unwind_registers registers;
};

struct live_mapping {
        uint64_t start_avma, end_avma, file_off;
        const struct unwind_module *module; /* of the cache; NULL = none */
        uint64_t bias;
        char path[256];
};

struct live_stacks {
        pid_t pid;
        int n_rings;
        struct live_ring *rings;
        struct live_sample *samples; /* heap, owned, as all that follows */
        size_t n_samples, samples_capacity;
        struct live_mapping *mappings; /* by address; those with code */
        size_t n_mappings, mappings_capacity;
        struct unwind_cache cache;
        uint64_t n_built_ns; /* spent in building its modules */
        uint64_t n_lost;
        uint64_t generation;
};

struct live_options {
        uint64_t period_ns;
        uint32_t stack_bytes;
        bool starts_with_exec; /* nothing is sampled before the program's execve(2) */
};

/*
 * live_stacks_open() - samples a process, its threads and its children from now on
 * Returns 0 or -errno (-EACCES and -EPERM: this machine does not allow it).
 */
int live_stacks_open(struct live_stacks *s, pid_t pid, const struct live_options *options);
void live_stacks_close(struct live_stacks *s);

/* Takes what the rings hold, and reads what is mapped if the process is still there. */
int live_stacks_drain(struct live_stacks *s);

/* Waits up to @timeout_ms for a ring to fill or the process to end. */
void live_stacks_wait(struct live_stacks *s, int timeout_ms);

/* A line of /proc/PID/maps.  Returns false if there is no code. */
bool live_mapping_parse(const char *line, struct live_mapping *ret_mapping);

/* One more mapping, whose module is filled in.  Returns 0 or -ENOMEM. */
int live_stacks_add(struct live_stacks *s, const struct live_mapping *mapping);

/* Fills in a mapping's module and bias from its file, out of the cache if it is there. */
void live_stacks_load(struct live_stacks *s, struct live_mapping *m);

/* The mapping of an address, or NULL. */
const struct live_mapping *live_stacks_find(const struct live_stacks *s, uint64_t avma);

/* For the walker; valid until the next drain. */
struct stack_walk_space live_stacks_space(const struct live_stacks *s);
void live_stacks_input(const struct live_sample *sample, struct stack_walk_input *ret_input);

#endif /* TESTS_UNIT_LIVE_STACKS_H */
