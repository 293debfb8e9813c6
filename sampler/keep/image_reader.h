/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/image_reader.h - reads code that is to be kept, off the collector's thread
 *
 * Way of the data:  code_keeper (open files, code_source) -> [image_reader] -> code_keeper
 *
 * A thread without capabilities.  The files that it has read lie in memory without a name (memfd) until the
 * collector has handed them to the writer, part by part; all together they never exceed the limit, so the
 * thread never waits.
 * A file that is changed or cut meanwhile is read again, and given up when that
 * happens again and again; files are never mapped.
 *
 * A bounded queue between two threads; all functions are the collector's.
 */
#ifndef SAMPLER_KEEP_IMAGE_READER_H
#define SAMPLER_KEEP_IMAGE_READER_H

#include "sampler/kernel/perf_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_READER_QUEUE_MAX 256 /* requests that wait: this bounds the descriptors */

struct byte_buffer;
struct error;
struct image_reader;

/*
 * How code is read: in the reader's thread, so nothing is touched but @source.  That thread has no
 * capabilities: files that need any (/proc/PID/mem) were opened before, by the maker of the source.
 * @out:       appended to: the image
 * @ret_kind:  enum trace_attachment_kind: MODULE_FILE, or MODULE_PARTS if it is not whole
 * Returns 0, -EFBIG if it has more than @bytes_max, -ENOENT if it is gone, -ENOMEM, -errno.
 */
typedef int code_source_read(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                             struct error *err);

/* A thing to be read; freed in either thread. */
struct code_source {
        void *source;
        code_source_read *read;
        void (*free)(void *source);
};

struct image_request {
        uint32_t id; /* the caller's */
        int fd;      /* a regular file; -1 = @source */
        struct code_source source;
        uint8_t build_id[PERF_RECORD_BUILD_ID_MAX]; /* the file has this build-id, or is another file */
        uint8_t build_id_bytes;                     /* 0 = not known */
        int64_t written_ns; /* without a build-id: when the file was written last; 0 = not known either */
};

struct staged_image {
        uint32_t id;
        /*
         * 0, or why not: -EFBIG over the limit, -EDQUOT over RLIMIT_FSIZE, -ESTALE another file, -ENOEXEC no
         * ELF file, -errno
         */
        int code;
        uint32_t kind; /* enum trace_attachment_kind */
        uint64_t hash; /* as of content_hash() */
        uint64_t size_bytes;
        uint64_t staged_bytes; /* where it lies; for image_reader_copy() */
};

/*
 * @bytes_max: limit of all bytes that are ever kept.  Signals are blocked in the thread.  Returns 0,
 * -ENOMEM, -errno.
 */
int image_reader_start(uint64_t bytes_max, struct image_reader **ret_reader, struct error *err);

/* Ends the thread.  A thread that hangs in a file which cannot be read is left behind.  NULL is fine. */
void image_reader_stop(struct image_reader *t);

/* Readable when image_reader_next() has something. */
int image_reader_fd(const struct image_reader *t);

/*
 * image_reader_put() - requests that a file or a source is read
 * Owns the descriptor and the source from here on, also on failure.
 * @wait_max_ns:  for room in the queue
 * Returns 0, or -EAGAIN if there is no room.
 */
int image_reader_put(struct image_reader *t, const struct image_request *request, uint64_t wait_max_ns);

/* The next image that was read, or could not be read, in the order of the requests.  Returns 1, or 0. */
int image_reader_next(struct image_reader *t, struct staged_image *ret_image);

/*
 * image_reader_wait() - waits until the next image is there
 * Returns 1 if there is one, 0 if nothing is on its way, -ETIMEDOUT after @limit_ns.
 */
int image_reader_wait(struct image_reader *t, uint64_t limit_ns);

/* Copies bytes of a staged image.  Returns 0 or -errno. */
int image_reader_copy(struct image_reader *t, const struct staged_image *image, uint64_t offset_bytes,
                      uint8_t *bytes, size_t n_bytes);

/* Gives back the memory of an image up to @until_bytes; the whole size ends the image. */
void image_reader_release(struct image_reader *t, const struct staged_image *image, uint64_t from_bytes,
                          uint64_t until_bytes);

/* The image is not kept after all: it does not count against the limit. */
void image_reader_forget(struct image_reader *t, const struct staged_image *image);

#endif /* SAMPLER_KEEP_IMAGE_READER_H */
