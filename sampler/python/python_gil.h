/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_gil.h - who holds the lock of a Python interpreter (the GIL), and who waits for it
 *
 * Way of the data:  switch_source (GIL, SWITCH), python_frames (samples) -> [python_gil] ->
 *                   LOCK_WAIT, LOCK_OBTAIN and LOCK_RELEASE of threads
 *
 * A thread waits for the lock while it sleeps on an address inside of it: that needs no symbol of the
 * interpreter.  It wakes every few milliseconds, asks the holder to release it, and sleeps on: all of this
 * is one wait.  At the beginning of each sleep, BPF reads who holds the lock.  Apart from that, a thread
 * counts as its holder from the end of its own wait, or from a sample in which it has the lock, until it
 * waits for the lock, sleeps, ends, is seen without it in a sample, or another thread obtains it.  So waits
 * are exact to a context switch, and holds without waits to a sample.
 *
 * Memory: a row for each Python process with several threads.  Used by the collector's thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_GIL_H
#define SAMPLER_PYTHON_PYTHON_GIL_H

#include <stdbool.h>
#include <stdint.h>

struct perf_record;
struct python_gil;
struct recording;
struct thread_track;

/* @recording: borrowed.  Returns 0 or -ENOMEM. */
int python_gil_new(const struct recording *recording, struct python_gil **ret_gil);

/* NULL is fine, here and below. */
void python_gil_free(struct python_gil *g);

/* A record of kind GIL: the switch of @thread comes next.  Returns 0 or -ENOMEM. */
int python_gil_wait(struct python_gil *g, struct thread_track *thread, const struct perf_record *rec);

/* Any thread's switch, after its own event was queued.  Returns 0 or -ENOMEM. */
int python_gil_switch(struct python_gil *g, struct thread_track *thread, const struct perf_record *rec);

/* Takes a sample of @thread; @holds: the thread held the lock then.  Returns 0 or -ENOMEM. */
int python_gil_sample(struct python_gil *g, struct thread_track *thread, bool holds, uint64_t time_ns);

/* The thread has ended.  Returns 0 or -ENOMEM. */
int python_gil_end(struct python_gil *g, struct thread_track *thread, uint64_t time_ns);

/* The process has ended, or runs another program. */
void python_gil_forget(struct python_gil *g, uint32_t pid);

#endif /* SAMPLER_PYTHON_PYTHON_GIL_H */
