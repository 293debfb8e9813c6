/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_late_parts.h - shared parts of python_late and python_late_match
 *
 * Way of the data:  python_late -> [python_late_parts] -> python_late_match
 *
 * For these two files alone; python_late.h is the interface.
 */
#ifndef SAMPLER_PYTHON_PYTHON_LATE_PARTS_H
#define SAMPLER_PYTHON_PYTHON_LATE_PARTS_H

#include "sampler/python/python_late.h"

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct process_memory;

#define PYTHON_LATE_PAGE_BYTES    UINT64_C(4096)
#define PYTHON_LATE_WINDOWS_MAX   256  /* of a stack; frames of a chunk lie together */
#define PYTHON_LATE_KNOWN_THREADS 1024 /* a power of two */
#define PYTHON_LATE_CODE_SLOTS    8192 /* pieces of memory with instructions; a power of two */
#define PYTHON_LATE_CODE_WAYS     2    /* code objects with instructions in one */

/* The place where a thread's state was found last; each use checks it. */
struct late_thread {
        uint32_t pid, tid, own_tid;   /* own_tid: in its PID namespace */
        uint64_t state_avma;          /* 0 = it has none */
        uint64_t first_ns, looked_ns; /* without a state: when it was first and last looked for */
};

/* A code object, by a piece of memory that its instructions are in. */
struct late_code {
        uint32_t pid;
        uint64_t code, start_avma, end_avma; /* of the instructions */
};

/* Reads of a stack's objects, one after the other. */
struct late_gather {
        struct iovec there[PYTHON_FRAMES_MAX]; /* address 0 = it was not read */
        uint8_t bytes[sizeof(uint64_t) * PYTHON_CODE_WORDS * PYTHON_FRAMES_MAX];
};

struct python_late {
        struct late_thread known[PYTHON_LATE_KNOWN_THREADS];
        dev_t namespace_device; /* of our own PID namespace */
        ino_t namespace_inode;
        uint64_t steps_start_ns;
        unsigned n_steps;     /* of searches since then */
        uint64_t window_avma; /* of what `window` has */
        size_t window_bytes;
        uint32_t n_windows, n_frame_steps; /* windows and steps that are left to the present walk */
        /* the stack at the sample, from which frames are read; NULL = read memory as it is now */
        const struct raw_stack *raw;
        uint64_t raw_avma; /* of its copy */
        uint8_t window[PYTHON_LATE_PAGE_BYTES + PYTHON_FRAME_BYTES];
        struct late_code codes[PYTHON_LATE_CODE_SLOTS][PYTHON_LATE_CODE_WAYS];
        struct late_gather gather; /* scratch */
};

/*
 * A frame's bytes, PYTHON_FRAME_BYTES of them: callers lie below the frame, mostly in the same page.  NULL
 * = they cannot be read.
 */
const uint8_t *python_late_frame_at(struct python_late *l, const struct process_memory *memory,
                                    uint64_t avma);

/* Appends the frame at @at and its callers, as far as `n_frame_steps` and `n_windows` go. */
void python_late_walk(struct python_late *l, const struct process_memory *memory,
                      const struct python_process *p, uint64_t at, struct python_late_sample *to);

/* After all walks: the places of the outermost frames were used in turn. */
void python_late_sort(struct python_late_sample *to);

/* Reads the pieces `there`, at most PYTHON_FRAMES_MAX; those that cannot be read get address 0. */
void python_late_gather(struct late_gather *g, uint32_t pid, uint32_t n);

/* From the code objects of the frames. */
void python_late_identify(struct python_late *l, const struct python_process *p,
                          struct python_sample *sample);

static inline struct iovec python_late_piece(uint64_t avma, size_t n_bytes)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address elsewhere is a number */
        return (struct iovec){ .iov_base = (void *)(uintptr_t)avma, .iov_len = n_bytes };
}

#endif /* SAMPLER_PYTHON_PYTHON_LATE_PARTS_H */
