/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/process_intake.h - a process that runs already, as the records that the kernel would
 * have sent when it began
 *
 * Way of the data:  running_process, process_maps -> [process_intake] -> kernel_side
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_MERGE_PROCESS_INTAKE_H
#define SAMPLER_MERGE_PROCESS_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

struct process_filter;
struct running_process;
struct kernel_side;

/*
 * process_intake_add() - make the process, its threads with their names, and its mappings known
 * @filter:          of the threads; NULL = all
 * @samples:         takes them like records of the kernel, all of the time @time_ns
 * @ret_has_region:  the process has mapped a client region
 * Whatever has ended meanwhile is left out.  Returns 0 or -ENOMEM.
 */
int process_intake_add(const struct running_process *process, const struct process_filter *filter,
                       struct kernel_side *samples, uint64_t time_ns, bool *ret_has_region);

#endif /* SAMPLER_MERGE_PROCESS_INTAKE_H */
