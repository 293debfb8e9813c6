/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_functions.h - code objects and instructions of Python programs -> rows of FRAMES
 * and SYMBOLS
 *
 * Way of the data:  python_source (addresses, copies), process_memory -> [python_functions] ->
 *                   trace_dictionary
 *
 * A file of Python code is a module of the kind PYTHON.  A frame of it has the line in the lower 32 bits
 * of its offset, and
 * the number of the function above: functions of one file are counted as they are first seen.  Its name,
 * file and line are
 * known at once, so its row of SYMBOLS is written with it.
 *
 * A code object is copied at the first sample that it is in.  Where there is no copy it is read when it is
 * first seen, some milliseconds after the sample.  A program may free one, and have another at its address:
 * so each frame has the identity of its code object, and one that is gone before it could be read has no
 * function.  Without the identity the object is looked at again each second.
 * Everything in it is hostile: a program may change its code objects all the time, and may have long tables
 * of lines, so the work is bounded.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_FUNCTIONS_H
#define SAMPLER_PYTHON_PYTHON_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#define PYTHON_FUNCTIONS_MAX       65536               /* code objects at a time; then all are forgotten */
#define PYTHON_FUNCTIONS_BYTES_MAX (UINT32_C(1) << 26) /* their line tables together */

struct python_functions;
struct python_objects;
struct recorder_pace;
struct trace_dictionary;

/* Both are borrowed.  Returns 0 or -ENOMEM. */
int python_functions_new(struct trace_dictionary *dictionary, struct recorder_pace *pace,
                         struct python_functions **ret_functions);

/* NULL is fine. */
void python_functions_free(struct python_functions *f);

/* Where a frame is, in a process. */
struct python_place {
        uint32_t pid;
        uint64_t code_avma, instruction_avma;
        uint64_t identity;                    /* as python_identity(), at the sample; 0 = not known */
        const struct python_objects *objects; /* borrowed: of the process's version */
};

/*
 * python_functions_find() - the row of FRAMES of a place
 * @ret_frame:  its id; 0 if there is none
 * Returns 0; -ENOENT if its code object was gone before it was read; -EBADMSG if that makes no sense; -EAGAIN
 * if there was too much work; -EOVERFLOW if the trace has no room for its names; -ENOMEM.  About 50 ns; some
 * microseconds for a code object that is new.
 */
int python_functions_find(struct python_functions *f, const struct python_place *place, uint64_t now_ns,
                          uint32_t *ret_frame);

/* The row that stands for frames that are left out in a deep stack.  Returns 0, -EOVERFLOW or -ENOMEM. */
int python_functions_find_gap(struct python_functions *f, uint32_t *ret_frame);

/* Memory of a process that was copied at a sample. */
struct python_copies {
        uint32_t pid, n_frames;
        const uint8_t *frames; /* borrowed, as are the pieces: each a struct python_raw_frame */
        const uint8_t *pieces; /* of the code objects of frames that have the bit PYTHON_CODE_COPIED */
        size_t n_bytes;        /* of the pieces */
};

/*
 * python_functions_learn() - a code object as it was copied
 * @place:  its identity is known
 * Returns 0 or -ENOMEM.
 */
int python_functions_learn(struct python_functions *f, const struct python_place *place,
                           const struct python_copies *copies, uint64_t now_ns);

/* The process is gone, or runs another program. */
void python_functions_forget(struct python_functions *f, uint32_t pid);

#endif /* SAMPLER_PYTHON_PYTHON_FUNCTIONS_H */
