/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/landmark_files.h - mapped files whose landmarks are not known yet: a JIT's list of code, an
 * interpreter
 *
 * Way of the data:  code_images (mappings), code_tables (landmarks) -> [landmark_files] -> jit_lists,
 *                   python_frames
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_IMAGES_LANDMARK_FILES_H
#define SAMPLER_IMAGES_LANDMARK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_range;
struct jit_lists;
struct noted_file;
struct recording;

struct landmark_files {
        const struct recording *recording; /* borrowed */
        struct jit_lists *lists;           /* borrowed */
        struct noted_file *noted; /* heap, owned: they wait for their tables, or for their data in memory */
        size_t n_noted, capacity;
};

void landmark_files_deinit(struct landmark_files *l);

/* A file is mapped in a process since @mapped_ns.  Returns 0 or -ENOMEM. */
int landmark_files_note(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                        uint64_t mapped_ns);

/*
 * The same ahead of the mapping's turn, while older records of the process wait for theirs: an interpreter is
 * announced to BPF, and nothing else happens.
 */
int landmark_files_announce(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                            uint64_t mapped_ns);

/* Looks at those that wait again.  Returns 0 or -ENOMEM. */
int landmark_files_decide(struct landmark_files *l);

/* How long until they are to be looked at again, at most; INT_MAX = whenever there is work. */
int landmark_files_pause_ms(const struct landmark_files *l);

/* A child has its parent's files.  Returns 0 or -ENOMEM. */
int landmark_files_fork(struct landmark_files *l, uint32_t parent_pid, uint32_t pid, uint64_t time_ns);

/* The process has ended, or runs another program; files that it mapped later stay. */
void landmark_files_forget(struct landmark_files *l, uint32_t pid, uint64_t time_ns);

#endif /* SAMPLER_IMAGES_LANDMARK_FILES_H */
