/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_files.h - reads the perf maps and jitdumps of all processes, while they are written and at
 * the end
 *
 * Way of the data:  kernel_side (mappings) -> [jit_files] -> perf_map, jitdump -> [jit_files]
 *                   -> code_regions, CODE_LINES, attachment_store, jit_frames
 *
 * A process that maps anonymous memory with code in it may have a perf map.  A process that maps a file
 * called jit-PID.dump announces in this way that it writes a jitdump.  Records of a jitdump have times, and
 * take effect in order among the samples.  A line of a perf map has no time: it takes effect when it is read
 * or, if it gives memory another name, when the code there was replaced (renamed_code.h).
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_JIT_JIT_FILES_H
#define SAMPLER_JIT_JIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_FILES_PROCESSES_MAX 1024 /* at a time */

struct error;
struct jit_files;
struct perf_mmap;
struct recording;

/* Borrows @recording.  Returns 0 or -ENOMEM. */
int jit_files_new(const struct recording *recording, struct jit_files **ret_files, struct error *err);

/* NULL is fine. */
void jit_files_free(struct jit_files *f);

/*
 * jit_files_note_mapping() - a process maps code: a jitdump, or memory of no file
 * @process:  id in PROCESSES; 0 = not known yet
 * Opens at once a file that may be gone a moment later.  Other mappings are passed over.  Returns 0 or
 * -ENOMEM.
 */
int jit_files_note_mapping(struct jit_files *f, uint32_t pid, uint32_t process, const struct perf_mmap *mmap,
                           uint64_t time_ns);

/*
 * jit_files_note_exec() - the process executes another program
 * @process:  id in PROCESSES
 * Lines that are in its perf map by now are not the next program's.  Returns 0 or -ENOMEM.
 */
int jit_files_note_exec(struct jit_files *f, uint32_t pid, uint32_t process, uint64_t time_ns);

/*
 * jit_files_read() - reads what came since; perf maps of many processes ten times a second
 * To be called before samples are taken, which are older than @now_ns by PACE_MERGE_LAG_NS at least.
 * @final:  read the files to their ends.  This, and reading files of processes that have ended, takes half
 *          a second of processor time at most: the rest is left out, and counted
 * Returns 0, -ENOMEM, or what code_regions_add() returns.
 */
int jit_files_read(struct jit_files *f, uint64_t now_ns, bool final);

/* When the next record of a jitdump is to take effect; UINT64_MAX = none waits. */
uint64_t jit_files_next_ns(const struct jit_files *f);

/* Lets records of jitdumps up to @until_ns take effect.  Returns as jit_files_read(). */
int jit_files_run(struct jit_files *f, uint64_t until_ns);

#endif /* SAMPLER_JIT_JIT_FILES_H */
