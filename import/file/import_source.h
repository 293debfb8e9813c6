/* SPDX-License-Identifier: MIT */
/*
 * import/file/import_source.h - the bytes of a foreign file, front to back, in bounded memory
 *
 * Way of the data:  file -> [import_source] -> import_ireeprof, import_tt_device, import_trace_event ...
 *
 * Unpacks gzip and zstd by their magic.  A regular file or a pipe; never mapped, so it may shrink while it is
 * read.  Blocks on the file.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_SOURCE_H
#define IMPORT_IMPORT_SOURCE_H

#include "base/text_view.h"

#include <stddef.h>
#include <stdint.h>

struct error;

#define IMPORT_LINE_BYTES_MAX (UINT32_C(64) << 20) /* a longer line is refused */
#define IMPORT_HEAD_BYTES     (UINT32_C(64) << 10) /* by these a format is recognised */

struct import_source;

/* Returns 0, or -errno with words.  @path is borrowed as long as the source lives; "-" is standard input. */
int import_source_open(struct import_source **ret_source, const char *path, struct error *err);
void import_source_close(struct import_source *source);
const char *import_source_path(const struct import_source *source);

/* When the file was last written, by CLOCK_REALTIME; 0 = not known, as of a pipe. */
uint64_t import_source_written_ns(const struct import_source *source);

/* The first bytes, up to IMPORT_HEAD_BYTES, without taking them; valid until the next call.  A mark of the
   byte order before UTF-8 is not one of them. */
int import_source_head(struct import_source *source, struct text_view *ret_head, struct error *err);

/* How many unpacked bytes, and whole lines, were taken. */
uint64_t import_source_offset(const struct import_source *source);
uint64_t import_source_line(const struct import_source *source);

/*
 * Take a line without its end (LF or CR LF), or up to @n_bytes_max bytes; valid until the next call.
 * Return 1, 0 at the end of the file, -EFBIG for a line beyond the limit (and from then on), -EBADMSG for
 * packing that is broken or cut off, after all bytes before that were taken, or -errno, with words.  The last
 * line may have no end.  import_source_line() counts the ends of lines among bytes as well.
 */
int import_source_next_line(struct import_source *source, struct text_view *ret_line, struct error *err);
int import_source_next_bytes(struct import_source *source, size_t n_bytes_max, struct text_view *ret_bytes,
                             struct error *err);

/* Takes exactly @n_bytes, at most IMPORT_LINE_BYTES_MAX; 1, 0 if the file ends before, or as above. */
int import_source_next_exact(struct import_source *source, size_t n_bytes, struct text_view *ret_bytes,
                             struct error *err);

/*
 * The bytes that are not taken, more than @n_known of them, without taking any; valid until the next call but
 * import_source_skip(), which takes so many of them.  1, 0 at the end of the file: @n_known are all, or as
 * above.
 */
int import_source_look(struct import_source *source, size_t n_known, struct text_view *ret_bytes,
                       struct error *err);
void import_source_skip(struct import_source *source, size_t n_bytes);

/*
 * From now on what is damaged, and a line beyond the limit, ends the file: 0, not -EBADMSG or -EFBIG.
 * import_source_fault() says afterwards what it was: 0 = nothing, else the code, with words.
 */
void import_source_end_at_fault(struct import_source *source);
int import_source_fault(const struct import_source *source, struct error *err);

#endif /* IMPORT_IMPORT_SOURCE_H */
