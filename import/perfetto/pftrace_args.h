/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_args.h - the annotations of a track event as text: {"name":"value","n":1}
 *
 * Way of the data:  import_pftrace -> [pftrace_args] -> import_rows: texts of spans and instants
 */
#ifndef IMPORT_PFTRACE_ARGS_H
#define IMPORT_PFTRACE_ARGS_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdint.h>

struct pftrace_sequence;

#define PFTRACE_ARGS_BYTES_MAX 4096 /* annotations beyond it are counted */
#define PFTRACE_ARGS_DEPTH     8    /* of annotations in each other; deeper ones are null */

struct pftrace_args {
        struct byte_buffer text; /* without the closing bracket */
        uint64_t n_left_out;     /* of all events */
};

/* Zero-initialised is valid.  An event begins with _clear(). */
void pftrace_args_clear(struct pftrace_args *args);
void pftrace_args_deinit(struct pftrace_args *args);

/* Returns 0, -EBADMSG without words, or -ENOMEM the same. */
int pftrace_args_add(struct pftrace_args *args, const struct pftrace_sequence *sequence,
                     struct text_view annotation);

/* The text of the event; empty if it has no annotation. */
struct text_view pftrace_args_end(struct pftrace_args *args);

#endif /* IMPORT_PFTRACE_ARGS_H */
