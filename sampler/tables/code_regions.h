/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/code_regions.h - the code that each process has put into its memory, and where
 *
 * Way of the data:  perf_map, jitdump, event_translator -> [code_regions] -> trace_dictionary, address_space
 *
 * Code becomes rows of CODE_REGIONS.  Where it is put over other code that was
 * seen to run, the process's anonymous memory becomes another module, of the next
 * generation: frames that are made from then on are of that one, so that each
 * frame means one piece of code.  The same happens where children were forked that still have the memory as
 * it was.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TABLES_CODE_REGIONS_H
#define SAMPLER_TABLES_CODE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct address_range;
struct code_regions;
struct error;
struct process_table;
struct process_track;
struct recording;
struct trace_code_region;
struct trace_dictionary;

#define CODE_REGIONS_GENERATIONS_MAX 4096 /* of a process */

/* For code in this range; 0 .. UINT64_MAX = all of the process.  Returns 0 or -errno. */
typedef int code_regions_before_change(void *context, struct process_track *process, uint64_t start_avma,
                                       uint64_t end_avma);

/*
 * @recording:      borrowed
 * @before_change:  called before code of a process is replaced: call stacks that wait to be completed, and
 *                  may have an address there, belong to the old code; or NULL
 * Returns 0 or -ENOMEM.
 */
int code_regions_new(const struct recording *recording, code_regions_before_change *before_change,
                     void *context, struct code_regions **ret_regions, struct error *err);

/* NULL is fine. */
void code_regions_free(struct code_regions *c);

/*
 * The generation of a process's anonymous memory, for a mapping that is made now.  @process: id in PROCESSES.
 */
uint32_t code_regions_generation(const struct code_regions *c, uint32_t process);

/*
 * code_regions_add() - code lies there from now on, or with `gone` none does
 * @row:         all but its module
 * @ret_region:  its id in CODE_REGIONS, the same as before if the same code is announced again; 0 if it was
 *               left out
 * Returns 1 if it is new, 0 if not, or -ENOMEM, -errno of before_change().  Pieces beyond the
 * limit are counted.
 */
int code_regions_add(struct code_regions *c, struct trace_code_region *row, uint32_t *ret_region);

/* Is there other code at the place of this region? */
bool code_regions_has_other(const struct code_regions *c, const struct trace_code_region *row);

/*
 * code_regions_doubt() - the code there is not known from now on, until the next region comes
 * @row:  its memory and time
 * Frames that are seen there meanwhile have no name; that there are any is counted when
 * the next region comes.
 * Returns as code_regions_add().
 */
int code_regions_doubt(struct code_regions *c, struct trace_code_region *row);

/* The region that is at an address now, by its id; 0 if there is none. */
uint32_t code_regions_find(const struct code_regions *c, uint32_t process, uint64_t avma);

/*
 * A process was forked, and has the memory of its parent: code that one of the two puts there later belongs
 * to that process alone.  Returns 0 or -ENOMEM.
 */
int code_regions_note_fork(struct code_regions *c, const struct process_track *child);

/*
 * A file was mapped.  Where regions are in it, and it has no code of its own there, it becomes memory with
 * code of the process: only so does code have names that a JIT puts into a private mapping of a file.
 * Returns 0 or -ENOMEM.
 */
int code_regions_note_file(struct code_regions *c, struct process_track *track,
                           const struct address_range *range);

/* Retries files whose unwind tables were missing; to be called periodically.  Returns 0 or -ENOMEM. */
int code_regions_decide(struct code_regions *c);

/* Another program runs in the process from now on.  Returns 0 or -ENOMEM. */
int code_regions_clear(struct code_regions *c, uint32_t process, uint64_t time_ns);

/*
 * sampler/tables/stack_mover.c - moves callstacks that wait to be written to the next generation of code
 *
 * Way of the data:  code_regions -> [stack_mover] -> pending events of thread_track
 *
 * A program's announcements are read after the samples of the same moments; a jitdump may be written late.
 * Samples that came after the new code, and are not in the trace yet, get its generation.
 */

/*
 * stack_mover_run() - move callstacks of pending events, from @since_ns on, to the next generation of code
 * @generation:  their frames in ANONYMOUS modules of @process that have this generation get the next one
 * Returns 0 or -ENOMEM.
 */
int stack_mover_run(const struct process_table *processes, struct trace_dictionary *dictionary,
                    const struct process_track *process, uint32_t generation, uint64_t since_ns);

#endif /* SAMPLER_TABLES_CODE_REGIONS_H */
