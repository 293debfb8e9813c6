/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/process_works.h - what the compilers, assemblers and linkers of a build worked on
 *
 * Way of the data:  trace_dictionary (table PROGRAM_INFO) -> [process_works] -> report, view_model
 *
 * The recorder's row; a program may say the same of itself.
 */
#ifndef ANALYZE_TRACE_PROCESS_WORKS_H
#define ANALYZE_TRACE_PROCESS_WORKS_H

#include <stdint.h>

struct trace_dictionary;

/*
 * process_works_read() - by process id, from 1 on, the string of its last word; 0 = it has none
 * @ret_works:  heap, the caller's; one more than there are processes
 * Returns 0 or -ENOMEM.
 */
int process_works_read(const struct trace_dictionary *d, uint32_t **ret_works);

#endif /* ANALYZE_TRACE_PROCESS_WORKS_H */
