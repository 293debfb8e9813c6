/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_late.h - the Python frames of a thread, read from its memory a moment after a sample
 *
 * Way of the data:  python_interpreters (addresses), process_memory -> [python_late] -> python_frames
 *
 * For recordings without BPF.  The thread has run on meanwhile, so what is read may be of later calls; what
 * fits the copy of the native stack is probably right, and its users say that it is approximate.
 * All that is read is hostile: every walk is bounded.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_LATE_H
#define SAMPLER_PYTHON_PYTHON_LATE_H

#include "sampler/python/python_source.h"

#include <stdbool.h>
#include <stdint.h>

struct python_late;
struct raw_stack;

/* The frames, and where each of them lies in memory. */
struct python_late_sample {
        struct python_sample sample;
        uint64_t frame_avma[PYTHON_FRAMES_MAX];
};

/* Returns 0 or -ENOMEM. */
int python_late_new(struct python_late **ret_late);

/* NULL is fine. */
void python_late_free(struct python_late *l);

/*
 * python_late_read() - the frames of a thread as they are now
 * @process: as entered in the BPF program's table
 * @now_ns:  CLOCK_MONOTONIC_RAW
 * Returns 1, or 0 if it is none of Python's threads or cannot be read.  Some microseconds: three reads, and
 * one more for each page of frames, up to a limit.
 */
int python_late_read(struct python_late *l, const struct python_process *process, uint32_t tid,
                     uint64_t now_ns, struct python_late_sample *ret_sample);

/*
 * python_late_fits() - were these the thread's frames when its stack was copied?
 * The interpreter keeps the address of the frame that it runs in a register, or on the native stack.  So the
 * innermost frame of each of its calls must be in the copy, as far as the copy goes.
 */
bool python_late_fits(const struct python_late_sample *late, const struct raw_stack *raw);

/*
 * python_late_match() - the frames at the time of the sample
 * @late: as python_late_read() left it, with at least one frame; then the frames of the sample
 * Returns false if they cannot be found, with anything in @late.  Otherwise python_late_fits() is true, and
 * the innermost function is the one whose instruction ran; others at the same addresses may have replaced
 * its callers.  Takes some ten microseconds, with some more reads, up to a limit.
 */
bool python_late_match(struct python_late *l, const struct python_process *process,
                       const struct raw_stack *raw, struct python_late_sample *late);

/* It has ended, or runs another program. */
void python_late_forget(struct python_late *l, uint32_t pid);

#endif /* SAMPLER_PYTHON_PYTHON_LATE_H */
