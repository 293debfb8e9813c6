/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/code_images.h - which ELF images lie in anonymous memory, when
 *
 * Way of the data:  perf_record (MMAP2), memory_image, jit_lists -> [code_images] -> kernel_side
 *                   (address_space) [code_images] -> code_keeper, code_tables
 *
 * A program maps executable memory and puts an image into it; or its JIT announces one.  The memory is read
 * at once, before the record's turn comes; if it was the same from the record on until it had been read, the
 * image becomes a module, whose code is kept and whose unwind table is built; and when the records have come
 * so far, the process's addresses become the image's.
 *
 * The program determines how much there is to look at, so looks are bounded to a share of all time.  Where
 * no time was left, or the code was not there yet, the recorder looks again when samples fall into such
 * memory.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_IMAGES_CODE_IMAGES_H
#define SAMPLER_IMAGES_CODE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_IMAGES_SEARCHES_MAX 8 /* searches of all memory of a process, one for each stretch of code */

struct address_range;
struct code_images;
struct image_change;
struct perf_record;
struct process_track;
struct recording;

/* Borrows @recording.  Returns 0 or -ENOMEM. */
int code_images_new(const struct recording *recording, struct code_images **ret_images);

/* NULL is fine. */
void code_images_free(struct code_images *c);

/*
 * code_images_look() - an MMAP2 record was seen, perhaps ahead of its turn
 * Reads the present memory: memory that was executable meanwhile, and is gone, is not seen.
 * Returns 0 or -ENOMEM.
 */
int code_images_look(struct code_images *c, const struct perf_record *record);

/* A file is mapped in a process: it may contain a JIT, or an interpreter.  Returns 0 or -ENOMEM. */
int code_images_note_file(struct code_images *c, uint32_t pid, const struct address_range *range,
                          uint64_t mapped_ns);

/* The same ahead of the mapping's turn: see landmark_files_announce(). */
int code_images_announce_file(struct code_images *c, uint32_t pid, const struct address_range *range,
                              uint64_t mapped_ns);

/* A child has its parent's files.  Returns 0 or -ENOMEM. */
int code_images_note_fork(struct code_images *c, uint32_t parent_pid, uint32_t pid, uint64_t time_ns);

/* Records are about to be given back to the kernel: the mappings that they report are remembered. */
void code_images_see_records(struct code_images *c);

/*
 * code_images_meet() - a sample fell on this address
 * If the memory there is executable, and of no file and no image, looks for an image in it.  The result
 * becomes a change of @time_ns.  Cheap but for a few samples.  Returns 0 or -ENOMEM.
 */
int code_images_meet(struct code_images *c, const struct process_track *process, uint64_t avma,
                     uint64_t time_ns);

/*
 * Reads images in writable memory again: are they still there?  To be called once a cycle, ahead of its
 * samples.  Returns 0 or -ENOMEM.
 */
int code_images_look_again(struct code_images *c);

/* Reads the lists of JITs.  Returns 0 or -ENOMEM. */
int code_images_update(struct code_images *c);

/* Are there mapped files whose data will be there soon? */
bool code_images_lack_data(const struct code_images *c, uint64_t now_ns);

/* The next change up to @until_ns, in the order of time.  Returns false if no change is left. */
bool code_images_next(struct code_images *c, uint64_t until_ns, struct image_change *ret_change);

/* Makes the change in its process: a row of MAPPINGS, and its address space.  Returns 0 or -ENOMEM. */
int code_images_put(struct code_images *c, struct process_track *process, const struct image_change *change);

/* The process has ended: its number may become that of another one. */
void code_images_forget(struct code_images *c, uint32_t pid, uint64_t time_ns);

#endif /* SAMPLER_IMAGES_CODE_IMAGES_H */
