/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_texts.h - texts that mostly differ, such as arguments: on the disk until they are
 * written
 *
 * Way of the data:  import_rows -> [import_texts] -> import_trace
 *
 * A text that was just there is not kept again.  Texts are taken back in about the order in which they
 * came, or in several such orders: then most of them are in memory.
 *
 * Memory: 5 MiB, and the longest text.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_TEXTS_H
#define IMPORT_IMPORT_TEXTS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_texts;

/* All ids have this bit, which no id of a string has. */
#define IMPORT_TEXT_BIT (UINT32_C(1) << 31)

static inline bool import_texts_has(uint32_t id)
{
        return (id & IMPORT_TEXT_BIT) != 0;
}

/* @fd: an empty file, borrowed; -1 = one in $TMPDIR, else /tmp, when it is needed.  Returns 0 or -ENOMEM. */
int import_texts_new(struct import_texts **ret_texts, int fd, struct error *err);
void import_texts_free(struct import_texts *texts);

/* Returns 0, -EOVERFLOW beyond 32 GiB, -errno of the disk, with words. */
int import_texts_add(struct import_texts *texts, struct text_view text, uint32_t *ret_id, struct error *err);

/* The text of an id; valid until the next call.  Returns 0, -ENOMEM, -errno of the disk. */
int import_texts_get(struct import_texts *texts, uint32_t id, struct text_view *ret_text, struct error *err);

#endif /* IMPORT_IMPORT_TEXTS_H */
