/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_region.h"

#include "base/error.h"
#include "instrument/client_region.h"

#include <check.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct client_abi_header fake_region_header(void)
{
        return (struct client_abi_header){
                .magic = CLIENT_ABI_MAGIC,
                .abi_major = CLIENT_ABI_MAJOR,
                .abi_minor = CLIENT_ABI_MINOR,
                .header_bytes = sizeof(struct client_abi_header),
                .pid = 77,
                .clock_kind = CLIENT_ABI_CLOCK_MONOTONIC_RAW,
                .region_bytes = 4 * FAKE_REGION_ROOM,
                .slots_offset = FAKE_REGION_ROOM,
                .slot_bytes = sizeof(struct client_abi_slot),
                .n_slots = FAKE_REGION_N_SLOTS,
                .locations_offset = 2 * FAKE_REGION_ROOM,
                .location_bytes = sizeof(struct client_abi_location),
                .n_locations_max = FAKE_REGION_N_LOCATIONS,
                .strings_offset = 2 * FAKE_REGION_ROOM + 4096,
                .strings_bytes = 4096,
                .rings_offset = 3 * FAKE_REGION_ROOM,
                .ring_bytes = FAKE_REGION_RING_BYTES,
                .n_slots_used = FAKE_REGION_N_SLOTS,
        };
}

struct client_abi_header fake_region_blob_header(void)
{
        struct client_abi_header h = fake_region_header();

        h.blobs_offset = FAKE_REGION_BLOBS_OFFSET;
        h.blobs_bytes = FAKE_REGION_BLOBS_BYTES;
        h.region_bytes = 9 * FAKE_REGION_ROOM;
        return h;
}

struct client_abi_header fake_region_chunk_header(void)
{
        struct client_abi_header h = fake_region_header();

        h.chunks_offset = FAKE_REGION_CHUNKS_OFFSET;
        h.chunk_bytes = CLIENT_ABI_CHUNK_BYTES_MIN;
        h.n_chunks = FAKE_REGION_N_CHUNKS;
        h.region_bytes = FAKE_REGION_CHUNKS_OFFSET + FAKE_REGION_N_CHUNKS * (uint64_t)h.chunk_bytes;
        return h;
}

struct client_abi_link *fake_region_chunk_link(const struct fake_region *p, uint32_t chunk)
{
        return (struct client_abi_link *)(void *)(p->base + CLIENT_ABI_CHUNK_LINKS_OFFSET) + chunk;
}

uint64_t *fake_region_free_chunks(const struct fake_region *p)
{
        return (uint64_t *)(void *)(p->base + CLIENT_ABI_FREE_CHUNKS_OFFSET);
}

uint64_t *fake_region_blob_word(const struct fake_region *p, uint64_t at)
{
        return (uint64_t *)(void *)(p->base + FAKE_REGION_BLOBS_OFFSET + at % FAKE_REGION_BLOBS_BYTES);
}

void fake_region_make(struct fake_region *p, const struct client_abi_header *h, int seals)
{
        p->bytes = h->region_bytes;
        p->fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        ck_assert_int_ge(p->fd, 0);
        ck_assert_int_eq(ftruncate(p->fd, (off_t)p->bytes), 0);
        ck_assert_int_eq(fcntl(p->fd, F_ADD_SEALS, seals), 0);
        p->base = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
        ck_assert_ptr_ne(p->base, MAP_FAILED);
        p->header = (struct client_abi_header *)(void *)p->base;
        *p->header = *h;
}

void fake_region_destroy(struct fake_region *p)
{
        (void)munmap(p->base, p->bytes);
        (void)close(p->fd);
}

struct client_abi_slot *fake_region_slot(const struct fake_region *p, uint32_t i)
{
        return (struct client_abi_slot *)(void *)(p->base + FAKE_REGION_ROOM) + i;
}

struct client_abi_location *fake_region_location(const struct fake_region *p, uint32_t id)
{
        return (struct client_abi_location *)(void *)(p->base + 2 * FAKE_REGION_ROOM) + (id - 1);
}

struct client_region *fake_region_open(const struct fake_region *p)
{
        struct client_region *region;
        struct error err = ERROR_NONE;

        ck_assert_msg(client_region_open(fcntl(p->fd, F_DUPFD_CLOEXEC, 0), &region, &err) == 0, "%s",
                      err.text);
        return region;
}
