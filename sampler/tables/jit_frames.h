/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/jit_frames.h - unwind information that a JIT writes into its jitdump, collected for one
 * process, and the tables that are made of it
 *
 * Way of the data:  jitdump -> jit_files -> [jit_frames] -> table_process (in its child: [jit_frames])
 *                   -> [jit_frames] -> code_tables -> stack_unwinder
 *
 * Each function has an .eh_frame of its own, of some ten bytes, whose pointers are relative to its intended
 * place: after the code, at the next multiple of 8.  The recorder only copies them; they are parsed in a
 * child without rights (table_process.h has the functions for it).
 *
 * Each request makes a table of the part of a jitdump that is new since the last request.  When a process has
 * JIT_TABLES_MAX tables, a single table of all its code replaces them.  A process has one request under way
 * at a time.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TABLES_JIT_FRAMES_H
#define SAMPLER_TABLES_JIT_FRAMES_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_answer;
struct table_process;
struct unwind_module;
struct unwind_table;

#define JIT_FRAMES_ENTRY_MAX (UINT32_C(1) << 16) /* bytes of one function */
#define JIT_FRAMES_BYTES_MAX (UINT32_C(1) << 24) /* of a process */

/* All zero is empty. */
struct jit_frames {
        struct byte_buffer bytes; /* entries, oldest first */
        bool is_full;
};

/* The code of one function, and its .eh_frame; both are foreign. */
struct jit_frames_entry {
        uint64_t start_avma, length_bytes;
        const uint8_t *eh_frame; /* borrowed during the call */
        size_t n_bytes;
};

void jit_frames_deinit(struct jit_frames *f);

/* Adds an entry.  Returns 1; 0 with `is_full` set if it is too large, or there are too many; -ENOMEM. */
int jit_frames_add(struct jit_frames *f, const struct jit_frames_entry *entry);

/*
 * jit_frames_file() - makes a file for the child with the entries from byte @from on
 * @from:  0, or what `bytes.used_bytes` was before
 * Returns a descriptor, the caller's, or -errno.
 */
int jit_frames_file(const struct jit_frames *f, size_t from);

/* ------------------------------------------------------------------ tables, by process */

#define JIT_TABLES_MAX       8                   /* of a process */
#define JIT_TABLES_BYTES_MAX (UINT64_C(1) << 26) /* of all */
/* in the ids of these requests; ids without this bit are files' */
#define JIT_TABLES_REQUEST (UINT32_C(1) << 31)

struct jit_process_tables {
        uint32_t process;   /* id in PROCESSES */
        uint32_t request;   /* that is under way; 0 = none */
        bool asks_all;      /* the request is for all of the process's code */
        size_t asked_bytes; /* the bytes of jit_frames that have tables, or for which tables were asked */
        struct unwind_module *modules[JIT_TABLES_MAX]; /* owned; the newest last */
        size_t n_modules;
};

/* All zero is empty. */
struct jit_tables {
        struct jit_process_tables *processes; /* heap */
        size_t n_processes, capacity;
        size_t n_bytes; /* of all tables */
        uint32_t last_request;
};

void jit_tables_deinit(struct jit_tables *t);

/*
 * Asks for tables of what is new in @frames, if there is time for it.  Returns 0; -EPIPE: the table process
 * is gone; -ENOMEM.
 */
int jit_tables_ask(struct jit_tables *t, struct table_process *to, uint32_t process,
                   const struct jit_frames *frames);

/*
 * Takes an answer to such a request.  Returns 1 if there is a new table, 0, or -ENODATA if the child could
 * not make one, -ENOMEM.
 */
int jit_tables_take(struct jit_tables *t, const struct table_answer *answer);

/*
 * Finds the table of the code at an address, with addresses as they are in the process; NULL = there is
 * none.  Valid until the next take or forget.
 */
const struct unwind_table *jit_tables_find(const struct jit_tables *t, uint32_t process, uint64_t avma);

/* The process is gone, or runs another program.  Returns whether it had any table. */
bool jit_tables_forget(struct jit_tables *t, uint32_t process);

#endif /* SAMPLER_TABLES_JIT_FRAMES_H */
