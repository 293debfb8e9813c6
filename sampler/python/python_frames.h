/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_frames.h - Python frames and native frames of a sample -> one call stack
 *
 * Way of the data:  python_source, or python_late -> [python_frames] -> call_chain (of sample_stacks)
 *
 * The frames of a sample wait here until its native stack is there; python_merge.h makes one of both.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_FRAMES_H
#define SAMPLER_PYTHON_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_space;
struct call_chain;
struct module_landmarks;
struct python_frames;
struct python_sample_key;
struct raw_stack;
struct recording;

/* A file that is mapped in a process. */
struct python_mapping {
        uint32_t pid;
        uint32_t module; /* its row in MODULES */
        uint64_t bias;   /* address as mapped - address of the file */
        uint64_t time_ns;
};

/*
 * @recording: borrowed; without a python_source, memory is read later.  @keep_c: nothing is folded.
 * Returns 0 or -ENOMEM.
 */
int python_frames_new(const struct recording *recording, bool keep_c, struct python_frames **ret_frames);

/* NULL is fine, here and below. */
void python_frames_free(struct python_frames *p);

/*
 * python_frames_note() - a process has mapped a file with landmarks
 * Nothing happens where the file has no interpreter.  Returns 0; 1 if the interpreter's data is not there
 * yet, so try again; -ENOMEM.
 */
int python_frames_note(struct python_frames *p, const struct python_mapping *mapping,
                       const struct module_landmarks *found);

/*
 * The same ahead of the mapping's turn: the process's frames are read from now on.  Returns 0, 1 or
 * -ENOMEM.
 */
int python_frames_announce(struct python_frames *p, const struct python_mapping *mapping,
                           const struct module_landmarks *found);

/* An interpreter was tried again for long in vain: adds a notice, once.  Returns 0 or -ENOMEM. */
int python_frames_note_unready(struct python_frames *p);

/* Reads the records that the BPF program has written, before samples up to now are taken. */
void python_frames_look(struct python_frames *p);

/* A child has its parent's memory; a process has ended, or runs another program.  Returns 0 or -ENOMEM. */
int python_frames_fork(struct python_frames *p, uint32_t parent_pid, uint32_t pid, uint64_t time_ns);
void python_frames_forget(struct python_frames *p, uint32_t pid, uint64_t time_ns);

/* Is memory read later, so that the rings are to be looked at every PACE_PYTHON_PAUSE_MS? */
bool python_frames_are_late(const struct python_frames *p);

/*
 * python_frames_take() - the Python frames of a sample, or of a switch, that comes now
 * @flag: PYTHON_FLAG_SWITCH for the stack of a wait or of a wake-up, PYTHON_FLAG_CALL for that of a system
 *        call, else 0
 * @raw:  its native stack
 * They are merged into the next chain that python_frames_merge() gets, or kept for later.  Returns 0 or
 * -ENOMEM.
 */
int python_frames_take(struct python_frames *p, const struct python_sample_key *key, uint32_t flag,
                       const struct raw_stack *raw);

/* Samples in Python code so far, and those of them that got no Python functions.  NULL is fine. */
void python_frames_count(const struct python_frames *p, uint64_t *ret_samples, uint64_t *ret_bare);

/* Did the thread of the last sample that was taken hold the GIL?  1, 0; -1 = not known. */
int python_frames_hold_gil(const struct python_frames *p);

/* The sample's native stack waits: the Python frames wait with it, until python_frames_recall(). */
void python_frames_keep(struct python_frames *p, const struct python_sample_key *key);
void python_frames_recall(struct python_frames *p, uint32_t tid, uint64_t time_ns);

/*
 * python_frames_merge() - puts the Python frames of the sample into a chain
 * @space: of the process at the time of the sample
 * Without Python frames nothing changes; samples that should have some are counted.  A stack with frames
 * that were read later has the state APPROXIMATE.
 */
void python_frames_merge(struct python_frames *p, const struct address_space *space,
                         struct call_chain *chain);

#endif /* SAMPLER_PYTHON_PYTHON_FRAMES_H */
