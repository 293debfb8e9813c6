/* SPDX-License-Identifier: MIT */
/*
 * sampler/writer_thread.h - compressing and writing, off the collector's thread
 *
 * Way of the data:  merge -> chunk bodies -> [writer_thread] -> trace_writer -> file
 *
 * A bounded queue between two threads.  A body belongs to the collector until
 * writer_thread_put(), to the writer from then on; the trace_writer belongs to
 * the writer until writer_thread_join().
 */
#ifndef SAMPLER_WRITER_THREAD_H
#define SAMPLER_WRITER_THREAD_H

#include "format/trace_chunk.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct trace_writer;
struct writer_thread;

/*
 * writer_thread_start() - start the thread
 * @writer:   borrowed until the join
 * @fail_fd:  an eventfd that is made readable when a write fails; borrowed; -1 = none
 * @stop_fd:  when it is readable, waiting for a slow reader of the trace ends; borrowed, not read; -1 = never
 * Returns 0 or -errno.
 */
int writer_thread_start(struct trace_writer *writer, int fail_fd, int stop_fd,
                        struct writer_thread **ret_thread, struct error *err);

/*
 * writer_thread_put() - hand over one chunk
 * @body:  its memory is taken; empty and valid afterwards, also on failure
 * Blocks while the queue is full (a disk slower than the program: the kernel's rings fill, and count).
 * Returns 0, the -errno of a write that failed earlier, or -EINTR if stopped while it waited.
 */
int writer_thread_put(struct writer_thread *t, const struct trace_chunk_header *header,
                      struct byte_buffer *body);

/* True if little is queued: what is in no hurry can go without making the rest wait. */
bool writer_thread_has_room(struct writer_thread *t);

/* Bytes of whole chunks that are in the file by now. */
uint64_t writer_thread_count_bytes(struct writer_thread *t);

/*
 * writer_thread_join() - write what is queued, end the thread and free it
 * Returns 0, or -errno of the first failed write.  -EINTR if stopped while it waited for a write that
 * does not end: then thread and trace_writer are left as they are, and the process should end.
 */
int writer_thread_join(struct writer_thread *t, struct error *err);

#endif /* SAMPLER_WRITER_THREAD_H */
