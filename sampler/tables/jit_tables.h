/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/jit_tables.h - unwind tables of code that was made at run time, by process
 *
 * Way of the data:  jit_frames -> table_process -> [jit_tables] -> code_tables -> stack_unwinder
 *
 * Each request makes a table of the part of a jitdump that is new since the last request.  When a process has
 * JIT_TABLES_MAX tables, a single table of all its code replaces them.  A process has one request under way
 * at a time.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TABLES_JIT_TABLES_H
#define SAMPLER_TABLES_JIT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_TABLES_MAX       8                   /* of a process */
#define JIT_TABLES_BYTES_MAX (UINT64_C(1) << 26) /* of all */
#define JIT_TABLES_REQUEST   (UINT32_C(1) << 31) /* in the id of a request: others are files */

struct jit_frames;
struct table_answer;
struct table_process;
struct unwind_module;
struct unwind_table;

struct jit_process_tables {
        uint32_t process;   /* id in PROCESSES */
        uint32_t request;   /* that is under way; 0 = none */
        bool asks_all;      /* it is for all of the process's code */
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
 * Asks for what @frames has new, if there is time for it.  Returns 0; -EPIPE: the table
 * process is gone; -ENOMEM.
 */
int jit_tables_ask(struct jit_tables *t, struct table_process *to, uint32_t process,
                   const struct jit_frames *frames);

/*
 * Takes an answer to such a request.  Returns 1 if there is a new table, 0, or -ENODATA if the child could
 * not make one, -ENOMEM.
 */
int jit_tables_take(struct jit_tables *t, const struct table_answer *answer);

/*
 * The table of the code at an address, with addresses as they are in the process; NULL = there is none.
 * Valid until the next take or forget.
 */
const struct unwind_table *jit_tables_find(const struct jit_tables *t, uint32_t process, uint64_t avma);

/* The process is gone, or runs another program.  Returns whether it had any. */
bool jit_tables_forget(struct jit_tables *t, uint32_t process);

#endif /* SAMPLER_TABLES_JIT_TABLES_H */
