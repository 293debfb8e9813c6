/* SPDX-License-Identifier: MIT */
/*
 * format/attachment_chunk.h - a part of an attachment <-> the body of an ATTACHMENT chunk
 *
 * Way of the data:  sampler -> [attachment_chunk] -> trace_writer -> file
 *                   file -> trace_reader -> [attachment_chunk] -> trace_dump, `hyprof check`,
 *                   `hyprof dump --extract`
 * Specification:    docs/understand/trace-format.md, "Attachments"
 *
 * The header of such a chunk has the kind TRACE_CHUNK_ATTACHMENT and one item.
 * The row of its attachment is in an earlier chunk.  Distinct objects may be
 * used from distinct threads.
 */
#ifndef FORMAT_ATTACHMENT_CHUNK_H
#define FORMAT_ATTACHMENT_CHUNK_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct trace_dictionary;

/* The most bytes of one part: its body has at most 1 MiB, and parts on their way need little memory. */
#define ATTACHMENT_CHUNK_BYTES_MAX ((UINT32_C(1) << 20) - 32)

struct attachment_chunk {
        uint32_t attachment;   /* id in the table ATTACHMENTS */
        uint64_t offset_bytes; /* of the part in the attachment */
        const uint8_t *bytes;  /* borrowed */
        size_t n_bytes;
};

/*
 * attachment_chunk_encode() - append the body to @body
 * @part:  at most ATTACHMENT_CHUNK_BYTES_MAX bytes; the parts of an attachment come in order, without gaps
 * Returns 0 or -ENOMEM.
 */
int attachment_chunk_encode(const struct attachment_chunk *part, struct byte_buffer *body);

/*
 * attachment_chunk_decode() - the part in a body
 * @ret_part:  borrows the body
 * Returns 0, or -EBADMSG: cut off, of an attachment that does not exist, or beyond its end.
 */
int attachment_chunk_decode(const struct trace_dictionary *dictionary, const uint8_t *body, size_t body_bytes,
                            struct attachment_chunk *ret_part, struct error *err);

/*
 * How much of each attachment a trace has so far.  The parts of an attachment come in order; parts of other
 * attachments may lie between them.
 */
struct attachment_tally {
        uint64_t *n_bytes; /* heap; by id - 1 */
        uint32_t n_attachments;
        size_t capacity;
};

/* Zero-initialised is empty and valid. */
void attachment_tally_deinit(struct attachment_tally *t);

/*
 * attachment_tally_add() - take a part into account, as attachment_chunk_decode() gave it
 * Returns 0, -EBADMSG if it does not begin where the part before ended, -ENOMEM.
 */
int attachment_tally_add(struct attachment_tally *t, const struct trace_dictionary *dictionary,
                         const struct attachment_chunk *part, struct error *err);

/* Bytes of an attachment so far. */
uint64_t attachment_tally_get(const struct attachment_tally *t, uint32_t attachment);

/* The first attachment after @attachment (0 = of all) that has not all its bytes; 0 if there is none. */
uint32_t attachment_tally_find_incomplete(const struct attachment_tally *t,
                                          const struct trace_dictionary *dictionary, uint32_t attachment);

#endif /* FORMAT_ATTACHMENT_CHUNK_H */
