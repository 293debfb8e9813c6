/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_region.h - a region as a program would make it, to be filled with anything
 *
 * Way of the data:  tests -> [fake_region] -> client_region
 */
#ifndef TESTS_UNIT_FAKE_REGION_H
#define TESTS_UNIT_FAKE_REGION_H

#include "instrument/client_abi.h"

#include <stddef.h>
#include <stdint.h>

#define FAKE_REGION_N_SLOTS       4
#define FAKE_REGION_RING_BYTES    4096
#define FAKE_REGION_N_LOCATIONS   16
#define FAKE_REGION_ROOM          CLIENT_ABI_HEADER_ROOM_BYTES
#define FAKE_REGION_BLOBS_OFFSET  (4 * FAKE_REGION_ROOM + 8) /* it need not begin with a page */
#define FAKE_REGION_BLOBS_BYTES   (4 * (uint64_t)FAKE_REGION_ROOM)
#define FAKE_REGION_CHUNKS_OFFSET (4 * (uint64_t)FAKE_REGION_ROOM)
#define FAKE_REGION_N_CHUNKS      3

struct client_region;

/* The program's side. */
struct fake_region {
        int fd;
        uint8_t *base; /* mapped */
        struct client_abi_header *header;
        size_t bytes;
};

/* Slots at ROOM, locations at 2 * ROOM, 4096 bytes of strings 4096 bytes after them, rings at 3 * ROOM. */
struct client_abi_header fake_region_header(void);

/* The same with an area for blobs. */
struct client_abi_header fake_region_blob_header(void);

/* The first one with chunks, of which none is free. */
struct client_abi_header fake_region_chunk_header(void);

/* Makes a memfd of region_bytes, seals it, and maps it. */
void fake_region_make(struct fake_region *p, const struct client_abi_header *h, int seals);
void fake_region_destroy(struct fake_region *p);

struct client_abi_slot *fake_region_slot(const struct fake_region *p, uint32_t slot);
struct client_abi_location *fake_region_location(const struct fake_region *p, uint32_t id);
struct client_abi_link *fake_region_chunk_link(const struct fake_region *p, uint32_t chunk);
uint64_t *fake_region_free_chunks(const struct fake_region *p);
/* The word of the blob area where the bytes that are counted as @at lie. */
uint64_t *fake_region_blob_word(const struct fake_region *p, uint64_t at);

/* Opens it through a descriptor of its own; to be closed by client_region_close(). */
struct client_region *fake_region_open(const struct fake_region *p);

#endif /* TESTS_UNIT_FAKE_REGION_H */
