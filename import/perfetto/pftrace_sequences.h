/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_sequences.h - what the packets of one writer have in common
 *
 * Way of the data:  import_pftrace -> [pftrace_sequences] -> import_pftrace
 *
 * A sequence has texts that are said once and meant by number afterwards, values for what its packets do not
 * say, and clocks.  All but the clocks is forgotten where a packet says so.  Memory: at most
 * PFTRACE_SEQUENCES_MAX, PFTRACE_INTERNED_MAX and PFTRACE_TEXT_BYTES_MAX of all.  Not thread-safe.
 */
#ifndef IMPORT_PFTRACE_SEQUENCES_H
#define IMPORT_PFTRACE_SEQUENCES_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "base/text_view.h"
#include "import/perfetto/pftrace_clocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFTRACE_SEQUENCES_MAX  (UINT32_C(1) << 16)
#define PFTRACE_INTERNED_MAX   (UINT32_C(1) << 20)
#define PFTRACE_TEXT_BYTES_MAX (UINT64_C(64) << 20)

struct interned_text {
        uint32_t string;         /* of import_rows; of a name, and of the file of a location */
        uint32_t line;           /* of a location */
        uint32_t begin, n_bytes; /* in `texts`; of other kinds */
};

struct pftrace_sequence {
        struct intern ids;            /* kind and number of interned things */
        struct interned_text *things; /* by id - 1 */
        size_t things_capacity;
        struct byte_buffer texts;
        struct pftrace_scope scope;
        uint64_t track;             /* uuid; if has_track */
        uint32_t clock;             /* of the format; 0 = not said */
        uint64_t pid, tid, time_us; /* if has_thread: as files before 2020 say it */
        bool has_track, has_thread;
        bool has_state; /* said since the last loss */
};

struct pftrace_sequences {
        struct import_rows *rows; /* borrowed */
        struct intern ids;        /* uint64_t */
        struct pftrace_sequence *sequences;
        size_t capacity;
        uint64_t n_interned, n_text_bytes; /* now */
        uint64_t n_beyond;                 /* interned things that found no room */
};

void pftrace_sequences_init(struct pftrace_sequences *s, struct import_rows *rows);
void pftrace_sequences_deinit(struct pftrace_sequences *s);

/* Returns 0, -E2BIG without words: there are too many, or -ENOMEM with.  Valid until the next call. */
int pftrace_sequences_find(struct pftrace_sequences *s, uint64_t id, struct pftrace_sequence **ret,
                           struct error *err);

/* Forgets what is interned, and the values for what packets do not say. */
void pftrace_sequences_clear(struct pftrace_sequences *s, struct pftrace_sequence *sequence);

/* Takes what is interned in a packet.  Returns 0, -EBADMSG without words, or as import_rows. */
int pftrace_sequences_intern(struct pftrace_sequences *s, struct pftrace_sequence *sequence,
                             struct text_view message, struct error *err);

/* Takes the values for what packets do not say.  Returns 0, or -EBADMSG without words. */
int pftrace_sequences_defaults(struct pftrace_sequence *sequence, struct text_view message);

/* NULL: there is none.  @kind: of enum pftrace_interned */
const struct interned_text *pftrace_sequence_thing(const struct pftrace_sequence *sequence, uint32_t kind,
                                                   uint64_t iid);
struct text_view pftrace_sequence_text(const struct pftrace_sequence *sequence,
                                       const struct interned_text *thing);

#endif /* IMPORT_PFTRACE_SEQUENCES_H */
