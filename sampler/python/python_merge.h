/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_merge.h - puts Python frames into the native call stack of the same instant
 *
 * Way of the data:  python_frames, call_chain -> [python_merge] -> call_chain
 *
 * From CPython 3.11 on one _PyEval_EvalFrameDefault() in the native stack stands for several Python frames:
 * those that Python code called, up to the entry, a frame that C called.  So the frames form groups, which
 * take the places of the native ones.  Frames of the interpreter's own C functions are folded if they lie
 * between Python frames or below them, unless the caller keeps all; those that the innermost Python
 * function called ("list.sort") stay.
 *
 * With `python3 -X perf` each call of a Python function goes through a copy of a few instructions, made at
 * run time, which perf maps call "py::NAME:FILE".  Such a trampoline is folded: the function is there.
 *
 * Pure functions.
 */
#ifndef SAMPLER_PYTHON_PYTHON_MERGE_H
#define SAMPLER_PYTHON_PYTHON_MERGE_H

#include "sampler/bpf/python_record.h"

#include <stdbool.h>
#include <stdint.h>

struct address_space;
struct call_chain;
struct trace_dictionary;

/* Innermost first. */
struct python_stack {
        uint32_t n_frames;
        /* the index of the frame that stands for those left out; 0 = none are */
        uint32_t gap_at;
        uint32_t n_gap_entries;                 /* how many of these C called */
        uint32_t frames[PYTHON_FRAMES_MAX + 1]; /* rows of FRAMES; 0 = the frame could not be read */
        /* C called the frame; for the gap: C called one of those left out */
        bool is_entry[PYTHON_FRAMES_MAX + 1];
};

#define PYTHON_EVAL_PARTS 2 /* of _PyEval_EvalFrameDefault(): compilers put rarely used code elsewhere */

struct python_code_range {
        uint64_t start_avma, end_avma; /* the first address after it; both 0 = there is none */
};

struct python_merge {
        const struct address_space *space;         /* of the process at that time */
        const struct trace_dictionary *dictionary; /* its table MODULES */
        uint32_t module;                           /* row of MODULES: the interpreter's code */
        struct python_code_range eval[PYTHON_EVAL_PARTS];
        bool keep_c; /* nothing is folded */
};

/* How many evaluations are in a native stack. */
uint32_t python_merge_count_evals(const struct python_merge *m, const struct call_chain *chain);

/* Has a native stack as many evaluations as there are groups?  If its root is missing, it may have fewer. */
bool python_merge_fits(const struct python_merge *m, const struct python_stack *stack,
                       const struct call_chain *chain);

/*
 * python_merge_run() - the call stack of both
 * @ret_chain: overwritten, but for its state; at most CALL_CHAIN_FRAMES_MAX frames
 * Groups and evaluations are matched from the root on where the native stack has its root, else from the
 * leaf on: an
 * evaluation that has just begun has no frame yet, and a part of the function may lie elsewhere (".cold").
 *  Frames without
 * an evaluation follow where the native stack ends.  An evaluation whose frames could not be read stays;
 * evaluations of frames that are left out are folded into the gap.
 */
void python_merge_run(const struct python_merge *m, const struct python_stack *stack,
                      const struct call_chain *chain, struct call_chain *ret_chain);

#endif /* SAMPLER_PYTHON_PYTHON_MERGE_H */
