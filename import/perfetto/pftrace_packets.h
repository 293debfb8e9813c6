/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_packets.h - the packets of a Perfetto trace, one after the other
 *
 * Way of the data:  import_source -> [pftrace_packets] -> import_pftrace
 *
 * Packets that are packed within a packet come in its place.  Memory: the longest packet, at most
 * IMPORT_LINE_BYTES_MAX; a longer one is skipped without being kept.  Not thread-safe.
 */
#ifndef IMPORT_PFTRACE_PACKETS_H
#define IMPORT_PFTRACE_PACKETS_H

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_source;

struct pftrace_packets {
        struct import_source *source; /* borrowed */
        struct byte_buffer window;    /* bytes that were read; `at` is where in it we are */
        size_t at;
        uint64_t offset; /* in the file of the last packet */
        bool at_end;     /* of the file */
        bool is_cut;     /* it ends in a packet, or what follows is no packet */
        struct byte_buffer unpacked;
        struct byte_reader inside; /* what is left of `unpacked` */
        uint64_t n_long;           /* packets that were skipped */
        uint64_t n_other;          /* fields of the file that are no packets */
        uint64_t n_broken;         /* packed packets that could not be unpacked, or not to their end */
};

/* The caller's storage; allocates nothing. */
void pftrace_packets_init(struct pftrace_packets *p, struct import_source *source);
void pftrace_packets_deinit(struct pftrace_packets *p);

/* The next packet; valid until the next call.  Returns 1, 0 at the end, -ENOMEM or -errno, with words. */
int pftrace_packets_next(struct pftrace_packets *p, struct text_view *ret_packet, struct error *err);

/*
 * Gives the packets in these bytes next, which are packed as zlib packs.  Those within them are not unpacked
 * again.  Returns 0 or -ENOMEM with words.
 */
int pftrace_packets_unpack(struct pftrace_packets *p, struct text_view packed, struct error *err);

/* Whether the first bytes of a file are packets. */
bool pftrace_packets_recognise(struct text_view head);

#endif /* IMPORT_PFTRACE_PACKETS_H */
