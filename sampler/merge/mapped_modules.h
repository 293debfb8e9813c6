/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/mapped_modules.h - from the record of a mapping to its row in MODULES
 *
 * Way of the data:  perf_record (MMAP2) -> kernel_side -> [mapped_modules] -> trace_dictionary,
 *                   code_keeper, jit_files, code_tables
 */
#ifndef SAMPLER_MERGE_MAPPED_MODULES_H
#define SAMPLER_MERGE_MAPPED_MODULES_H

#include "format/trace_spec.h"

#include <stdint.h>

struct kernel_side;
struct perf_mmap;
struct perf_record;

enum trace_module_kind mapped_modules_kind(const struct perf_mmap *m);

/*
 * mapped_modules_add() - the module of a mapping
 * @process:  its id in PROCESSES, for memory of no file
 * A new one is handed to all that want its code: its file is opened if it may be gone soon, and its unwind
 * table is asked for.
 * Returns 0, or a negative error: -EOVERFLOW if a table is full.
 */
int mapped_modules_add(struct kernel_side *s, uint32_t process, const struct perf_record *rec,
                       uint32_t *ret_module);

#endif /* SAMPLER_MERGE_MAPPED_MODULES_H */
