/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/source_file.h - source text from a file that debug information names
 *
 * Way of the data:  SYMBOLS -> [source_file] -> source_embedder, source_texts
 *
 * The name is the profiled program's to choose, so not everything is taken for a source: only regular files,
 * of text, up to a size, that source_rule allows.
 */
#ifndef SYMBOLIZE_LISTING_SOURCE_FILE_H
#define SYMBOLIZE_LISTING_SOURCE_FILE_H

#include "symbolize/listing/source_rule.h"

#include <stdint.h>

#define SOURCE_FILE_BYTES_MAX (UINT32_C(8) << 20)

struct byte_buffer;
struct error;

struct source_file_path {
        const char *root;                   /* put before it; NULL = "" */
        const char *path;                   /* absolute; not NUL-terminated */
        uint32_t n_bytes;                   /* of `path` */
        const struct source_folders *given; /* NULL = none */
};

/*
 * source_file_read() - the text of a source file
 * @ret_text:         appended to
 * @ret_modified_ns:  when it was written last, since 1970; may be NULL
 * The user gave the root, so files below it may be private, too.
 * Returns 0, -EPERM if source_rule does not allow it, -EFBIG if it is larger than SOURCE_FILE_BYTES_MAX,
 * -EINVAL if it is not a text, or not a regular file, -EACCES, -ENOENT and others of open(2), -ENOMEM.
 * After a failure @ret_text is as it was.
 */
int source_file_read(const struct source_file_path *path, struct byte_buffer *ret_text,
                     uint64_t *ret_modified_ns, struct error *err);

#endif /* SYMBOLIZE_LISTING_SOURCE_FILE_H */
