/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/writer_thread.h - compressing and writing, off the collector's thread
 *
 * Way of the data:  merge -> chunk bodies -> [writer_thread] -> trace_writer -> file
 *
 * A bounded queue between two threads.  A body belongs to the collector until
 * writer_thread_put(), to the writer from then on; the trace_writer belongs to
 * the writer until writer_thread_join().
 *
 * Instead of being written, chunks can be kept in a ring (format/chunk_ring.h), which belongs to the writer
 * likewise: then traces are dumps of the ring, made in two steps.  The collector asks for a snapshot,
 * receives a description of it, and hands over a dump that says so.
 */
#ifndef SAMPLER_MERGE_WRITER_THREAD_H
#define SAMPLER_MERGE_WRITER_THREAD_H

#include "format/trace_chunk.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct chunk_ring;
struct error;
struct ring_dump;
struct trace_writer;
struct writer_thread;

/* Where chunks go: one of the two is set, and borrowed until the join. */
struct writer_thread_target {
        struct trace_writer *writer;
        struct chunk_ring *ring;
};

/* The description of a snapshot; see struct chunk_snapshot. */
struct writer_thread_snapshot {
        uint64_t from_ns, n_open;
        bool is_cut;
};

/*
 * writer_thread_start() - start the thread
 * @writer:   borrowed until the join
 * @fail_fd:  an eventfd that is made readable when a write fails; borrowed; -1 = none
 * @stop_fd:  when it is readable, waiting for a slow reader of the trace ends; borrowed, not read; -1 = never
 * Returns 0 or -errno.
 */
int writer_thread_start(struct trace_writer *writer, int fail_fd, int stop_fd,
                        struct writer_thread **ret_thread, struct error *err);

/* The same for a file or for a ring. */
int writer_thread_start_for(const struct writer_thread_target *target, int fail_fd, int stop_fd,
                            struct writer_thread **ret_thread, struct error *err);

/*
 * writer_thread_put() - hand over one chunk
 * @body:  its memory is taken; empty and valid afterwards, also on failure
 * Blocks while the queue is full (a disk slower than the program: the kernel's rings fill, and count).
 * Returns 0, the -errno of a write that failed earlier, or -EINTR if stopped while it waited.
 */
int writer_thread_put(struct writer_thread *t, const struct trace_chunk_header *header,
                      struct byte_buffer *body);

/*
 * writer_thread_ask_snapshot() - asks for a snapshot of the chunks that were put before, up to @end_ns
 * Returns as writer_thread_put() does.
 */
int writer_thread_ask_snapshot(struct writer_thread *t, uint64_t end_ns);

/*
 * True if the snapshot that was asked for is ready.  @wait: waits for it; false then means that the writer
 * failed, or that a request to stop came.
 */
bool writer_thread_take_snapshot(struct writer_thread *t, bool wait, struct writer_thread_snapshot *ret);

/*
 * writer_thread_put_dump() - write the last snapshot, with the tables that were put before
 * @dump:  the writer's until writer_thread_take_dump() gives it back; on failure it stays the caller's
 * Returns as writer_thread_put() does.  A failure is stored in the dump, and does not affect anything else.
 */
int writer_thread_put_dump(struct writer_thread *t, struct ring_dump *dump);

/* A dump that is done, or NULL; @wait: waits for it, and then NULL means that a request to stop came. */
struct ring_dump *writer_thread_take_dump(struct writer_thread *t, bool wait);

/* True if little is queued: data that is not urgent can go without making the rest wait. */
bool writer_thread_has_room(struct writer_thread *t);

/* The time of the newest event that the ring has dropped by now; 0 = it has dropped none. */
uint64_t writer_thread_dropped_ns(struct writer_thread *t);

/* Bytes of whole chunks that are in the file, or in the ring, by now. */
uint64_t writer_thread_count_bytes(struct writer_thread *t);

/*
 * writer_thread_join() - write the queued chunks, end the thread and free it
 * Returns 0, or -errno of the first failed write.  -EINTR if stopped while it waited for a write that
 * does not end: then thread and trace_writer are left as they are, and the process should end.
 */
int writer_thread_join(struct writer_thread *t, struct error *err);

#endif /* SAMPLER_MERGE_WRITER_THREAD_H */
