/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/opened_files.h - files of code that were opened before the collector needs them
 *
 * Way of the data:  early_opener (thread) -> [opened_files] -> code_keeper, code_tables
 *
 * A file belongs to one mapping: the process, its first address, and the time when the kernel reported it.
 * It stays until its mapping was dealt with, or for PACE_OPENED_FILES_AGE_NS, or until there is no more room:
 * then the oldest one goes.
 *
 * All functions may be called from two threads, and never block for long.
 */
#ifndef SAMPLER_KEEP_OPENED_FILES_H
#define SAMPLER_KEEP_OPENED_FILES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct perf_mmap;

#define OPENED_FILES_MAX 128

struct opened_file {
        uint64_t start_avma, time_ns;
        uint32_t pid;
        int fd; /* owned */
};

struct opened_files {
        pthread_mutex_t lock;
        struct opened_file
                files[OPENED_FILES_MAX]; /* a queue, from `first` on, in the order of opened_files_put() */
        size_t first, n_files;
};

/* @o must not move until opened_files_deinit(), which closes the rest. */
void opened_files_init(struct opened_files *o);
void opened_files_deinit(struct opened_files *o);

/* @fd is taken. */
void opened_files_put(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap, int fd);

/*
 * opened_files_find() - the file of a mapping, if it is here
 * @o:  NULL is fine: nothing is here
 * Returns another descriptor of it, the caller's, who reads with offsets of his own; -ENOENT, -EMFILE.
 */
int opened_files_find(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap);

/* The same; if the file is not here, calls module_file_open().  Returns as that does. */
int opened_files_open(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap, struct error *err);

/* The mapping was dealt with. */
void opened_files_forget(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap);

/* Closes files that are too old; @now_ns is of the clock of the records. */
void opened_files_expire(struct opened_files *o, uint64_t now_ns);

#endif /* SAMPLER_KEEP_OPENED_FILES_H */
