/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/region_memory.h - makes the memory that is shared with a recorder
 *
 * Way of the data:  client -> [region_memory] -> memfd -> client_region
 * Specification:    docs/understand/client-abi.md, "Layout"
 */
#ifndef INSTRUMENT_CLIENT_REGION_MEMORY_H
#define INSTRUMENT_CLIENT_REGION_MEMORY_H

#include "instrument/client_abi.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sizes of a region that no limit makes smaller; the fields of struct region_memory have the actual ones. */
#define REGION_MEMORY_SLOTS_MAX      4096
#define REGION_MEMORY_LOCATIONS_MAX  ((UINT32_C(1) << 22) - 1)
#define REGION_MEMORY_STRINGS_BYTES  (UINT64_C(1) << 30)
#define REGION_MEMORY_BLOBS_BYTES    (UINT64_C(1) << 30)
#define REGION_MEMORY_RING_BYTES     (UINT64_C(1) << 20)
#define REGION_MEMORY_RING_BYTES_MIN (UINT64_C(1) << 12)
#define REGION_MEMORY_RING_BYTES_MAX (UINT64_C(1) << 28)
#define REGION_MEMORY_CHUNKS_MAX     CLIENT_ABI_CHUNKS_MAX
#define REGION_MEMORY_CHUNK_BYTES    (UINT32_C(1) << 18)

/*
 * A part of the region that can be read and written from its beginning up to the open end.  The rest is not
 * accessible: mlockall() would fill it with memory.
 */
struct region_area {
        uint8_t *base;
        uint64_t bytes;      /* all of it */
        uint64_t open_bytes; /* atomic; only grows */
        uint64_t step_bytes; /* how much is opened at least; 0 = as much as is open already */
};

struct region_memory {
        uint8_t *base; /* of the whole region; NULL = there is none */
        size_t bytes;
        struct client_abi_header *header; /* these point into it */
        struct client_abi_slot *slots;
        struct client_abi_location *locations; /* the one with id 1 */
        uint8_t *strings;
        uint8_t *rings;
        uint8_t *blobs;
        uint8_t *chunks;
        uint64_t *free_chunks; /* a bit for each */
        struct client_abi_link *chunk_links;
        uint64_t strings_bytes;
        uint64_t ring_bytes; /* of each */
        uint64_t blobs_bytes;
        uint32_t n_slots;
        uint32_t n_locations_max; /* the largest id */
        uint32_t n_chunks;
        uint64_t chunk_bytes; /* of each; a power of two */
        struct region_area location_area, string_area, ring_area, blob_area, chunk_area;

        int fd;          /* kept open, so that a recorder of the same user finds it in /proc/PID/fd */
        dev_t fd_device; /* which file it was: the program may have closed it and reused the number */
        ino_t fd_inode;
};

/* The sizes of a new region. */
struct region_options {
        uint64_t ring_bytes;   /* a power of two between the limits above */
        uint32_t clock_kind;   /* enum client_abi_clock */
        uint32_t control_word; /* to begin with */
        uint64_t spare_bytes;  /* of the chunks that may be used, to begin with */
};

/*
 * region_memory_create() - makes a region and puts its first page over @control_page
 * @m:             filled on success, else untouched
 * @control_page:  CLIENT_ABI_HEADER_ROOM_BYTES at a page boundary, whose contents are lost
 *
 * Nothing is visible to a recorder before the header is complete.  Takes fewer
 * slots, and then smaller areas, where limits on file size or address space are
 * tight.  Costs about ten system calls and one page of memory; the rest appears
 * as it is used.  Never raises a signal.  Returns 0 or -errno.
 */
int region_memory_create(struct region_memory *m, const struct region_options *options, void *control_page);

/*
 * region_memory_show() - makes a mapping of code, which tells recorders that the region is there
 * Recorders may hear of no other mappings.  The first page is executable for a moment, in a mapping of its
 * own that nothing jumps to.  Where the system refuses that, nothing happens.  Two system calls,
 * async-signal-safe.
 */
void region_memory_show(const struct region_memory *m);

/*
 * region_memory_copy_locations() - ids and strings of @from keep their values in @m, which is new
 * Copies only the used part.  Returns 0, -ENOSPC if limits have made @m too small for it, or another -errno.
 */
int region_memory_copy_locations(struct region_memory *m, const struct region_memory *from);

/*
 * Puts the region's first page over another control page as well.  Returns 0, or -errno; the page is zeros
 * then.
 */
int region_memory_share_control(const struct region_memory *m, void *control_page);

/*
 * region_area_open() - makes sure that the first @until_bytes of an area can be read and written
 * For any thread, and signal handlers; keeps errno.  Makes a system call only if they are not open yet.
 * Returns 0 or -errno, and -ENOSPC if the area is not so large.
 */
int region_area_open(struct region_area *area, uint64_t until_bytes);

/* True if they can, already. */
static inline int region_area_is_open(const struct region_area *area, uint64_t until_bytes)
{
        return until_bytes <= __atomic_load_n(&area->open_bytes, __ATOMIC_RELAXED);
}

/* Unmaps and closes; the page over the control page stays. */
void region_memory_destroy(struct region_memory *m);

/*
 * region_memory_cover() - closes, and puts private memory where the region was
 *
 * For a caller that may still store into it.  Returns 0 or -errno.
 */
int region_memory_cover(struct region_memory *m);

/* Puts zeros over @control_page: no recorder is active.  Returns 0 or -errno. */
int region_memory_blank_control(void *control_page);

#endif /* INSTRUMENT_CLIENT_REGION_MEMORY_H */
