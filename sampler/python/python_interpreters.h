/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_interpreters.h - which processes run Python, and where in their memory
 *
 * Way of the data:  code_images (landmarks of a file), process_memory -> [python_interpreters] ->
 *                   python_source (table),
 *                   python_frames
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_INTERPRETERS_H
#define SAMPLER_PYTHON_PYTHON_INTERPRETERS_H

#include "sampler/bpf/python_record.h"
#include "sampler/python/python_layout.h"
#include "sampler/python/python_merge.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

struct python_interpreter {
        uint32_t pid;
        uint32_t module;   /* row of MODULES: libpython, or the program that contains it */
        bool is_announced; /* the turn of its mapping is still to come */
        struct python_code_range eval[PYTHON_EVAL_PARTS];
        struct python_layout layout;
        struct python_process process; /* as BPF knows it */
};

struct python_interpreters {
        struct trace_dictionary *dictionary; /* borrowed, for notices */
        struct python_processes
                *table; /* borrowed, shared with the BPF program; NULL = memory is read later */
        struct python_interpreter *items; /* heap, owned */
        size_t n_items, capacity;
        uint64_t n_entered; /* into the table */
        uint32_t noted;     /* notices that the trace has already: a bit each */
};

/* A file that contains an interpreter, as it is mapped in a process. */
struct python_landmarks {
        uint64_t runtime_avma; /* of _PyRuntime */
        uint64_t version_avma; /* of Py_Version */
        struct python_code_range eval[PYTHON_EVAL_PARTS];
        uint64_t mapped_ns;
        uint32_t module;
};

void python_interpreters_deinit(struct python_interpreters *p);

/*
 * python_interpreters_add() - a process has mapped an interpreter
 * Without a table, for a program that cannot be read, and for a version that is not known there is a notice,
 * once.  Returns 0; 1 if its data is not there yet: the file's code is mapped first, so try again; -ENOMEM.
 */
int python_interpreters_add(struct python_interpreters *p, uint32_t pid,
                            const struct python_landmarks *landmarks);

/*
 * python_interpreters_announce() - the same ahead of the mapping's turn
 * The process is entered into the table, so that its frames are read from now on;
 * python_interpreters_find() knows it once it is added, even if the process has ended by then.  Nothing
 * happens without a table.  Returns 0, 1 (as above) or -ENOMEM.
 */
int python_interpreters_announce(struct python_interpreters *p, uint32_t pid,
                                 const struct python_landmarks *landmarks);

/* A file has an interpreter that cannot be read: adds a notice, once.  Returns 0 or -ENOMEM. */
int python_interpreters_note_old(struct python_interpreters *p);
int python_interpreters_note_stripped(struct python_interpreters *p);

/* The same for an interpreter that was tried again for long in vain.  Returns 0 or -ENOMEM. */
int python_interpreters_note_unready(struct python_interpreters *p);

/* A child has its parent's memory.  Returns 0 or -ENOMEM. */
int python_interpreters_fork(struct python_interpreters *p, uint32_t parent_pid, uint32_t pid,
                             uint64_t time_ns);

/* The process has ended, or runs another program, which stays if it was announced. */
void python_interpreters_forget(struct python_interpreters *p, uint32_t pid, uint64_t time_ns);

/* NULL = it runs no Python. */
const struct python_interpreter *python_interpreters_find(const struct python_interpreters *p, uint32_t pid);

#endif /* SAMPLER_PYTHON_PYTHON_INTERPRETERS_H */
