/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_threads.h - the members "threads" and "counters" of a Firefox profile
 *
 * Way of the data:  firefox_profile -> [firefox_threads] -> export_firefox
 */
#ifndef EXPORT_FIREFOX_FIREFOX_THREADS_H
#define EXPORT_FIREFOX_FIREFOX_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct firefox_profile;

/* The threads that are written, a process after the other, its main thread first. */
struct firefox_threads {
        uint32_t *order; /* heap; ids in THREADS */
        uint32_t n;
        uint32_t *process_index; /* heap; by process - 1: the index of its first thread */
};

/* Looks which there are.  To be deinitialised in any case.  Returns 0 or -ENOMEM. */
int firefox_threads_init(struct firefox_threads *t, const struct firefox_profile *p);
void firefox_threads_deinit(struct firefox_threads *t);

/* The index of the thread with the most samples; 0 if there are none. */
uint32_t firefox_threads_busiest(const struct firefox_threads *t, const struct firefox_profile *p);

/* Write a member each.  Return 0, -ENOMEM, -errno of the spool. */
int firefox_threads_write(const struct firefox_threads *t, struct firefox_profile *p, struct error *err);
int firefox_counters_write(const struct firefox_threads *t, struct firefox_profile *p, struct error *err);

/* The member "nativeAllocations" of the main thread of @process, if it has any. */
int firefox_allocations_write(struct firefox_profile *p, uint32_t process, struct error *err);

/* ---- firefox_meta.c ---- */

void firefox_meta_write(struct firefox_profile *p, const struct firefox_threads *threads);

#endif /* EXPORT_FIREFOX_FIREFOX_THREADS_H */
