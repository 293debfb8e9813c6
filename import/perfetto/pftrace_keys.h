/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_keys.h - keys of zones and of the work of devices, as hyprof's own export says them
 *
 * Way of the data:  pftrace_args -> [pftrace_keys] -> import_pftrace -> import_rows
 *
 * They are debug annotations: of a zone "hyprof_key" and "hyprof_key_kind", once for each key, beside the
 * flows that draw them; on a lane of a device "key", "key_kind" and "text".
 */
#ifndef IMPORT_PFTRACE_KEYS_H
#define IMPORT_PFTRACE_KEYS_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_span;

struct pftrace_keys {
        struct import_rows *rows; /* borrowed */
        struct byte_buffer room;
};

/*
 * pftrace_keys_read() - from the annotations of a begin or an instant, as JSON, into @span
 * The text of the work of a device is one of them; a zone whose annotations are keys has its text at its end.
 * Returns the number of keys, or -errno with words.
 */
int pftrace_keys_read(struct pftrace_keys *k, struct text_view args, bool is_of_device,
                      struct import_span *span, struct error *err);

#endif /* IMPORT_PFTRACE_KEYS_H */
