/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/kernel_side_parts.h - shared parts of kernel_side and of the files that do its work
 *
 * Way of the data:  kernel_side -> [kernel_side_parts] -> mapped_modules, sample_records, sample_stacks,
 *                   wait_records
 *
 * For these files, and for the collector, which has stacks completed; kernel_side.h is the interface.
 */
#ifndef SAMPLER_MERGE_KERNEL_SIDE_PARTS_H
#define SAMPLER_MERGE_KERNEL_SIDE_PARTS_H

#include "format/trace_spec.h"

#include <stdbool.h>
#include <stdint.h>

struct address_space;
struct event_spec;
struct kernel_side;
struct pending_event;
struct perf_mmap;
struct perf_record;
struct process_track;
struct syscall_frames;
struct thread_stack;
struct thread_track;
struct trace_dictionary;

/* ---- kernel_side.c, for sample_records.c and wait_records.c ---- */

/* Takes changes of images in anonymous memory up to @until_ns.  Returns 0 or -ENOMEM. */
int kernel_side_take_images(struct kernel_side *s, uint64_t until_ns);

/* Finds the thread of a sample or a switch; NULL if it has ended.  Returns 0 or -ENOMEM. */
int kernel_side_find_thread(struct kernel_side *s, const struct perf_record *rec,
                            struct thread_track **ret_thread);

/*
 * sampler/merge/mapped_modules.c - from the record of a mapping to its row in MODULES
 *
 * Way of the data:  perf_record (MMAP2) -> kernel_side -> [mapped_modules] -> trace_dictionary,
 *                   code_keeper, jit_files, code_tables
 */

enum trace_module_kind mapped_modules_kind(const struct perf_mmap *m);

/*
 * mapped_modules_add() - the module of a mapping
 * @process:  its id in PROCESSES, for memory of no file
 * A new module is handed to all parts that want its code: its file is opened if it may be gone soon, and
 * its unwind table is requested.
 * Returns 0, or a negative error: -EOVERFLOW if a table is full.
 */
int mapped_modules_add(struct kernel_side *s, uint32_t process, const struct perf_record *rec,
                       uint32_t *ret_module);

/*
 * sampler/merge/sample_records.c - records of samples -> pending events of threads
 *
 * Way of the data:  kernel_side, python_frames, stack_unwinder -> [sample_records] -> pending events of
 *                   threads
 *
 * The part of kernel_side that is about samples.
 */

/* Takes a sample, with the counters that were read with it.  Returns 0 or -ENOMEM. */
int sample_records_take(struct kernel_side *s, const struct perf_record *rec);

/* The same for a system call that BPF counts: it becomes a sample of `syscall_event`. */
int sample_records_take_syscall(struct kernel_side *s, const struct perf_record *rec);

/* A call of a probed function is a zone of its thread. */
int sample_records_take_probe(struct kernel_side *s, const struct perf_record *rec);

/*
 * sampler/merge/sample_stacks.c - the callstacks of samples become rows, at once or when
 * what they lack is there
 *
 * Way of the data:  stack_unwinder -> call_chain -> [sample_stacks] -> stack_builder,
 *                   pending events of threads
 *                   sample_records -> [sample_stacks] -> the tables MODULES, FRAMES, SYMBOLS and STACKS
 *
 * A sample whose stack is cut, or whose unwind table is coming, is a pending event
 * without a stack: the stack_unwinder's number for it is in pending_event.cut.
 */

/* All return 0 or -ENOMEM. */

/*
 * Makes a row of the callstack in `chain`, and says how whole it is.  @space: where its addresses are
 * looked up
 */
int sample_stacks_build(struct kernel_side *s, const struct address_space *space,
                        struct thread_stack *ret_stack);

/* The same for a callstack that is the kernel's alone, and so has no functions of Python. */
int sample_stacks_build_kernel(struct kernel_side *s, const struct address_space *space,
                               struct thread_stack *ret_stack);

/*
 * Puts the stack in `chain` into the event of its sample; at a system call, the call stands in place of the
 * kernel's functions.
 */
int sample_stacks_add(struct kernel_side *s, const struct address_space *space,
                      struct pending_event *pending);

/* Callstacks of this thread wait no longer to be completed by others. */
int sample_stacks_close(struct kernel_side *s, struct thread_track *thread);

/* The same for all threads of a process; @process NULL = of all processes, after memory was read for them. */
int sample_stacks_close_all(struct kernel_side *s, const struct process_track *process);

/* May a stack of this process that waits for either have an address in this range? */
bool sample_stacks_may_wait_in(const struct kernel_side *s, const struct process_track *process,
                               uint64_t start_avma, uint64_t end_avma);

/* Completes stacks whose unwind table has come, or which waited long enough: see stack_unwinder_resume(). */
int sample_stacks_resume(struct kernel_side *s, const struct process_track *process, uint64_t now_ns);

/* Finds the frame of a system call; 0 if a table is full.  Returns 0 or -ENOMEM. */
int syscall_frames_find(struct syscall_frames *f, struct trace_dictionary *dictionary, uint32_t number,
                        uint32_t *ret_frame);

/* The same of the location of its zones. */
int syscall_frames_find_location(struct syscall_frames *f, struct trace_dictionary *dictionary,
                                 uint32_t number, uint32_t *ret_location);

/*
 * sampler/merge/wait_records.c - records of threads that wait and are woken -> their pending events
 *
 * Way of the data:  kernel_side -> [wait_records] -> pending events of threads
 *
 * The part of kernel_side that is about context switches.  Each returns 0 or -ENOMEM.
 */

/* Takes a sample of perf's context-switches: the record of the switch itself comes next. */
int wait_records_take_sample(struct kernel_side *s, const struct perf_record *rec);

int wait_records_take_switch(struct kernel_side *s, const struct perf_record *rec);

int wait_records_take_gil(struct kernel_side *s, const struct perf_record *rec);

/* Its switch came before. */
int wait_records_take_late(struct kernel_side *s, const struct perf_record *rec);

/* The record becomes an event of the woken thread. */
int wait_records_take_wakeup(struct kernel_side *s, const struct perf_record *rec);

/* A sample of sched:sched_waking is the waker's. */
int wait_records_take_waker(struct kernel_side *s, const struct event_spec *spec,
                            const struct perf_record *rec);

#endif /* SAMPLER_MERGE_KERNEL_SIDE_PARTS_H */
