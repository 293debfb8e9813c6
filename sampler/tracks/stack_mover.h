/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/stack_mover.h - callstacks that wait to be written are of another
 * generation of code after all
 *
 * Way of the data:  code_regions -> [stack_mover] -> pending events of thread_track
 *
 * A program's announcements are read after the samples of the same moments; a jitdump may be written late.
 * Samples that came after the new code, and are not in the trace yet, get its generation.
 */
#ifndef SAMPLER_TRACKS_STACK_MOVER_H
#define SAMPLER_TRACKS_STACK_MOVER_H

#include <stdint.h>

struct process_table;
struct process_track;
struct trace_dictionary;

/*
 * stack_mover_run() - make callstacks of pending events from @since_ns on those of the next generation
 * @generation:  of the ANONYMOUS modules of @process that they have now
 * Returns 0 or -ENOMEM.
 */
int stack_mover_run(const struct process_table *processes, struct trace_dictionary *dictionary,
                    const struct process_track *process, uint32_t generation, uint64_t since_ns);

#endif /* SAMPLER_TRACKS_STACK_MOVER_H */
