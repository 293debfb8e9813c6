/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/code_keeper.h - copies code into the trace that may be gone later
 *
 * Way of the data:  perf_record (MMAP2) -> module_file, memory_image, jit_objects -> [code_keeper] <->
 * image_reader (thread) [code_keeper] -> ATTACHMENTS, MODULE_IMAGES, attachment_chunk -> merge; image_spool
 *
 * Decides which modules are kept, opens them at once, has them read by a thread of its own, and writes the
 * results.  The same code, by build-id and size or by content, is kept once; all together within a limit.
 * Code that was not kept is counted, and MODULE_IMAGES gives the reason.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_KEEP_CODE_KEEPER_H
#define SAMPLER_KEEP_CODE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct code_keeper;
struct code_source;
struct error;
struct image_spool;
struct perf_mmap;
struct recording;
struct trace_module;

enum code_keeper_mode {
        /* what may be gone later: deleted files, memfds, temporary folders, other file systems, the vdso */
        CODE_KEEPER_AUTO,
        CODE_KEEPER_ALL, /* and every other file that samples fall into */
        CODE_KEEPER_NONE,
};

struct code_keeper_options {
        enum code_keeper_mode mode;
        uint64_t bytes_max;           /* limit of all code that is kept; 0 = CODE_KEEPER_BYTES_MAX */
        const char *temporary_folder; /* as in $TMPDIR; NULL = none; copied */
        struct image_spool *spool; /* borrowed; gets a copy of the code, to find names in; NULL = no copy */
};

#define CODE_KEEPER_BYTES_MAX (UINT64_C(256) << 20)

/*
 * Starts the reader's thread, without rights; signals are blocked in it.  With CODE_KEEPER_NONE there is no
 * thread, and all below do nothing.  Borrows @recording.  Returns 0, -ENOMEM, -errno.
 */
int code_keeper_new(const struct recording *recording, const struct code_keeper_options *options,
                    struct code_keeper **ret_keeper, struct error *err);

/* Ends the thread; results that were not taken are dropped.  NULL is fine. */
void code_keeper_free(struct code_keeper *k);

/* Readable when something was read: code_keeper_take() takes it.  -1 with CODE_KEEPER_NONE. */
int code_keeper_fd(const struct code_keeper *k);

/*
 * code_keeper_want_file() - a module was mapped just now
 * @module, @row:  id and row in MODULES
 * @pid, @mmap:    where it can be found at this moment
 * Opens the file at once if it is one to keep.  The second call for a module that is kept does nothing.
 * Returns 0 or -ENOMEM; code that cannot be kept is counted.
 */
int code_keeper_want_file(struct code_keeper *k, uint32_t module, const struct trace_module *row,
                          uint32_t pid, const struct perf_mmap *mmap);

/* The file of this module was replaced by another one already.  Returns 0 or -ENOMEM. */
int code_keeper_miss_file(struct code_keeper *k, uint32_t module, const struct perf_mmap *mmap);

/* Does @module lack its code, which is not on its way either? */
bool code_keeper_lacks(const struct code_keeper *k, uint32_t module);

/* Requests code of another kind for @module.  Takes @source over in any case.  Returns 0 or -ENOMEM. */
int code_keeper_want(struct code_keeper *k, uint32_t module, const struct code_source *source);

/* Adds code that was read already.  @payload is emptied.  Returns 0 or -ENOMEM. */
int code_keeper_add(struct code_keeper *k, uint32_t module, uint32_t kind, struct byte_buffer *payload);

/*
 * code_keeper_note_place() - another address of @module is in a callstack
 * For CODE_KEEPER_ALL, and for files that were mapped before the recording began or are larger than 1 MiB:
 * these are kept from the third place on; those with fewer at the end, as long as they have 8 MiB together.
 * Cheap.
 */
void code_keeper_note_place(struct code_keeper *k, uint32_t module);

/*
 * Makes rows for the files that were read since.
 * @wait:  the end of the recording: waits a bounded time until all requested code is there; then missing code
 *         is counted, and has rows as well
 * Returns 0 or -ENOMEM.
 */
int code_keeper_take(struct code_keeper *k, bool wait);

/* All rows so far were handed to the writer: parts of the attachments that they announce may follow. */
void code_keeper_rows_written(struct code_keeper *k);

/* True if code_keeper_next() has a part. */
bool code_keeper_has_parts(const struct code_keeper *k);

/*
 * code_keeper_next() - the body of the next ATTACHMENT chunk; the spool gets the same part
 * @body:  appended to
 * Returns 1, 0 if nothing is ready, -ENOMEM, -errno.
 */
int code_keeper_next(struct code_keeper *k, struct byte_buffer *body);

#endif /* SAMPLER_KEEP_CODE_KEEPER_H */
