/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_source.h - the Python frames of samples, from a small BPF program
 *
 * Way of the data:  kernel (each sample) -> python_frames.bpf -> ring -> [python_source] -> python_frames
 *                   python_interpreters -> [python_source] (table of processes) -> python_frames.bpf
 *
 * The program runs at each sample, just before the kernel writes the sample.  If the process is in the
 * table, the program puts the thread's frames into the ring of the CPU.  So frames and samples come in the
 * same order, and the frames are those of that instant.  With stacks of waits it runs at switches and
 * wake-ups as well, with those of system calls at their ends, before the program that copies the native
 * stacks (switch_source.h), which is therefore opened later.
 *
 * Opened with privileges; everything after that needs none.  Used by the collector's thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_SOURCE_H
#define SAMPLER_PYTHON_PYTHON_SOURCE_H

#include "sampler/bpf/python_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct python_copies;
struct python_source;
struct switch_ring;
struct tick_clock;

/* A sample, or a switch. */
struct python_sample_key {
        uint32_t pid, tid, cpu;
        uint64_t time_ns;
};

/* A sample's, copied. */
struct python_sample {
        uint32_t n_frames, flags; /* enum python_record_flag */
        /*
         * Frames left out between the first PYTHON_INNER_FRAMES and the other ones, and how many of them C
         * called.
         */
        uint32_t n_left_out, n_left_out_entries;
        struct python_raw_frame frames[PYTHON_FRAMES_MAX];
};

/* Takes the code objects that were copied; all arguments are valid during the call only. */
struct python_copies_sink {
        void (*take)(void *context, const struct python_copies *copies);
        void *context; /* borrowed */
};

/* Where the program runs besides. */
#define PYTHON_HOOK_WAITS 1u /* where threads begin to wait, and wake others */
#define PYTHON_HOOK_CALLS 2u /* where system calls with copied stacks end */

/*
 * python_source_begin() - begin to load the program, in a thread of its own
 * @ring_bytes: of all CPUs together
 * @hooks:      PYTHON_HOOK_*; without them, or where that is not permitted, of samples only
 * Nothing may be asked of the source until python_source_finish() has returned.
 * Returns 0; -ENOTSUP (built without), -errno.
 */
int python_source_begin(size_t ring_bytes, unsigned hooks, struct python_source **ret_source,
                        struct error *err);

/*
 * python_source_finish() - wait until the program is loaded
 * It runs when python_source_program() is attached to an event.  The kernel verifies it for some 10 ms.
 * Returns 0; -EPERM, -EACCES (not permitted), -ENOTSUP (Linux before 5.17), -errno; after an error the source
 * can only be closed.
 */
int python_source_finish(struct python_source *s, struct error *err);

/* NULL is fine, here and below. */
void python_source_close(struct python_source *s);

/* A descriptor for PERF_EVENT_IOC_SET_BPF, borrowed; -1 = none. */
int python_source_program(const struct python_source *s);

/*
 * The map of the table of processes, for another BPF program; borrowed, until python_source_forget_map();
 * -1 = none.
 */
int python_source_map(const struct python_source *s);
void python_source_forget_map(struct python_source *s);

/* The table that the program looks processes up in: shared with it, so `pid` is to be written last. */
struct python_processes *python_source_processes(struct python_source *s);

/* Reads the records that are there, before samples up to now are taken. */
void python_source_look(struct python_source *s);

/*
 * python_source_find() - finds the frames that the program put in for a sample
 * @flag: 0, PYTHON_FLAG_SWITCH for a switch or wake-up, PYTHON_FLAG_CALL for a system call
 * @sink: for copies that come with it, and with records that are passed over
 * The samples of a CPU are to be asked for in the order of time; older records are passed over.
 * Returns 1, or 0 if there is nothing: the process was not in the table then, or the ring was full.
 */
int python_source_find(struct python_source *s, const struct python_sample_key *key, uint32_t flag,
                       const struct python_copies_sink *sink, struct python_sample *ret_sample);

/* Samples whose frames found no room, so far. */
uint64_t python_source_count_lost(const struct python_source *s);

/*
 * sampler/python/python_ring.c - which of the records in a CPU's ring has the Python frames of a sample
 *
 * Way of the data:  switch_ring (records of python_frames.bpf) -> [python_ring] -> python_source
 *
 * Records and samples of a CPU come in the same order.  The kernel takes the time of a sample just before
 * the BPF program runs (Linux 6.3), or just after; so a sample's record is the one of its thread that is
 * nearest to it in time.  A record without a sample belongs to a sample that was lost, and a sample may
 * have no record: then the ring was full, or the process was not known yet.
 *
 * Pure but for the ring.  Everything in a record was written by the BPF program, from hostile memory.
 */

/*
 * python_ring_find() - takes the record of a sample, and the records before it, out of the ring
 * @clock: CLOCK_MONOTONIC -> CLOCK_MONOTONIC_RAW
 * @sink:  for the copies in each record that is taken out
 * As python_source_find().  Returns 1, 0, or -EBADMSG if the ring is corrupt: then it is empty now.
 */
int python_ring_find(struct switch_ring *ring, struct tick_clock *clock, const struct python_sample_key *key,
                     uint32_t flag, const struct python_copies_sink *sink, struct python_sample *ret_sample);

#endif /* SAMPLER_PYTHON_PYTHON_SOURCE_H */
