/* SPDX-License-Identifier: MIT */
/*
 * format/attachment_tally.h - how much of each attachment a trace has so far
 *
 * Way of the data:  attachment_chunk -> [attachment_tally] -> `hyprof check`, `hyprof dump --extract`
 *
 * The parts of an attachment come in order; those of others may lie between
 * them.  Not thread-safe.
 */
#ifndef FORMAT_ATTACHMENT_TALLY_H
#define FORMAT_ATTACHMENT_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct attachment_chunk;
struct error;
struct trace_dictionary;

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

#endif /* FORMAT_ATTACHMENT_TALLY_H */
