/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/code_tables.h - the unwind table of each module that was mapped: requested when it is
 * mapped, and there soon after
 *
 * Way of the data:  perf_record (MMAP2) -> module_file -> [code_tables] <-> table_process -> stack_unwinder
 *
 * A file is opened as soon as its mapping is known, because it may be gone a
 * moment later; its table is built in another process, without rights, and taken
 * in when that has sent it.  Modules are known by their id in the table MODULES.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TABLES_CODE_TABLES_H
#define SAMPLER_TABLES_CODE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct jit_frames;
struct loss_counter;
struct module_landmarks;
struct opened_files;
struct perf_mmap;
struct recorder_pace;
struct table_process;
struct trace_module;
struct unwind_module;
struct unwind_table;

struct code_tables;

/* The first three are borrowed; a process that was not started gives no tables.  Returns 0 or -ENOMEM. */
int code_tables_new(struct table_process *process, struct recorder_pace *pace, struct loss_counter *losses,
                    struct code_tables **ret_tables, struct error *err);

/* Lets files be looked for in @opened first, which is borrowed; or NULL. */
void code_tables_use_opened(struct code_tables *t, struct opened_files *opened);

/* NULL is fine. */
void code_tables_free(struct code_tables *t);

/*
 * code_tables_want() - this module is mapped: its table will be needed
 * @module, @row:  id and row in MODULES; anonymous memory and the kernel have no table
 * @pid, @mmap:    where it can be found now
 * The second call for a module does nothing, unless its file was not found the first time.  Opens the file
 * and sends it to the table process without waiting, or later: see code_tables_set_patient().
 * Returns 0, or -ENOMEM; a file that cannot be opened is one without a table, and counted.
 */
int code_tables_want(struct code_tables *t, uint32_t module, const struct trace_module *row, uint32_t pid,
                     const struct perf_mmap *mmap);

/*
 * code_tables_want_image() - the same for a module that is no file
 * @image_fd:  its bytes, in a nameless file in memory; taken over; -1 = they are not at hand
 * Returns 0 or -ENOMEM.
 */
int code_tables_want_image(struct code_tables *t, uint32_t module, int image_fd);

/*
 * code_tables_set_patient() - tables are made only when they are needed
 * A table of a large program takes some 30 ms of a processor: too much for programs that end after as long.
 * So files wait, opened, for code_tables_release(), code_tables_wait() or code_tables_wait_next(), for the
 * end of the patience, or until they are many; then all of them are sent.  Only files with the name of a
 * Python interpreter are sent at once.
 */
void code_tables_set_patient(struct code_tables *t, bool is_patient);

/* Sends the files that wait. */
void code_tables_release(struct code_tables *t);

/*
 * The module's landmarks, which are known before its table is.  Returns 1; 0 if it has none, -EAGAIN if that
 * is not known yet.
 */
int code_tables_find_landmarks(const struct code_tables *t, uint32_t module,
                               struct module_landmarks *ret_landmarks);

/*
 * code_tables_want_jit() - takes the unwind information that a process's JIT has written so far
 * @process:  id in PROCESSES
 * @frames:   needed during the call only
 * New files are sent to the table process, now or in a later call.  Returns 0 or -ENOMEM.
 */
int code_tables_want_jit(struct code_tables *t, uint32_t process, const struct jit_frames *frames);

/*
 * Finds the table of a process's code at an address; it has addresses of the process.  NULL = there is
 * none.  Valid until the next code_tables_take().
 */
const struct unwind_table *code_tables_find_of_jit(const struct code_tables *t, uint32_t process,
                                                   uint64_t avma);

/* The process is gone, or runs another program. */
void code_tables_forget_jit(struct code_tables *t, uint32_t process);

enum code_tables_answer { CODE_TABLES_NONE, CODE_TABLES_READY, CODE_TABLES_COMING };

/*
 * Finds the present state of a module.  @ret_module: set if READY; borrowed, lives as long as @t and never
 * changes.
 */
enum code_tables_answer code_tables_find(const struct code_tables *t, uint32_t module,
                                         const struct unwind_module **ret_module);

/* Takes in what the table process has sent, when its `fd` is readable.  Returns 0 or -ENOMEM. */
int code_tables_take(struct code_tables *t);

/*
 * code_tables_wait() - waits at most @limit_ns for a table that is needed now, and that comes before others
 * Waits are bounded in sum as well: a program that maps without end cannot stop the collector.
 * Returns true if the answer for @module is not COMING any more.
 */
bool code_tables_wait(struct code_tables *t, uint32_t module, uint64_t limit_ns);

/* Takes in the results that come within @limit_ns; returns false if no more will come. */
bool code_tables_wait_next(struct code_tables *t, uint64_t limit_ns);

/*
 * At the end: tables that were made, of files that do not change, go into the table process's store.
 * @t:          NULL is fine
 * @signal_fd:  the call ends early when this is readable; -1 = none
 */
void code_tables_keep(const struct code_tables *t, int signal_fd);

/* A number that changes each time that any answer changes; part of stack_walk_space.generation. */
uint32_t code_tables_epoch(const struct code_tables *t);

#endif /* SAMPLER_TABLES_CODE_TABLES_H */
