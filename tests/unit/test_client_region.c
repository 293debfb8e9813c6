/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_region.c: a region that lies, at rest or while it is read, gives an error
 * and never a wrong access
 */
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/client_region.h"
#include "tests/unit/one_region.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIELD(name, value)                                                                               \
        {                                                                                                \
                offsetof(struct client_abi_header, name), sizeof(((struct client_abi_header *)0)->name), \
                        (value), -EBADMSG                                                                \
        }
static const struct {
        size_t offset, bytes;
        uint64_t value;
        int code;
} lies[] = {
        FIELD(magic, 1),
        FIELD(header_bytes, 8),
        FIELD(region_bytes, 4 * FAKE_REGION_ROOM + 1),
        FIELD(region_bytes, UINT64_MAX),
        FIELD(region_bytes, FAKE_REGION_ROOM),
        FIELD(slots_offset, 0),
        FIELD(slots_offset, FAKE_REGION_ROOM - 8),
        FIELD(slots_offset, FAKE_REGION_ROOM + 4),
        FIELD(slots_offset, 4 * FAKE_REGION_ROOM),
        FIELD(slots_offset, UINT64_MAX - 255),
        FIELD(slot_bytes, 0),
        FIELD(slot_bytes, 248),
        FIELD(slot_bytes, 260),
        FIELD(slot_bytes, UINT32_MAX),
        FIELD(n_slots, 0),
        FIELD(n_slots, UINT32_MAX),
        FIELD(n_slots, 1025),
        FIELD(locations_offset, UINT64_MAX),
        FIELD(locations_offset, 0),
        FIELD(location_bytes, 0),
        FIELD(location_bytes, UINT32_MAX),
        FIELD(n_locations_max, UINT32_MAX),
        FIELD(n_locations_max, CLIENT_ABI_ARG_MAX),
        FIELD(blobs_bytes, 8), /* at 0 */
        FIELD(blobs_bytes, UINT64_MAX - 7),
        FIELD(n_chunks, 1), /* of no bytes */
        FIELD(n_chunks, CLIENT_ABI_CHUNKS_MAX + 1),
        FIELD(strings_offset, UINT64_MAX),
        FIELD(strings_bytes, UINT64_MAX),
        FIELD(strings_bytes, 4 * FAKE_REGION_ROOM),
        FIELD(rings_offset, UINT64_MAX - 4095),
        FIELD(rings_offset, 64),
        FIELD(ring_bytes, 0),
        FIELD(ring_bytes, 4),
        FIELD(ring_bytes, 4095),
        FIELD(ring_bytes, UINT64_C(1) << 63),
        FIELD(ring_bytes, UINT64_C(1) << 62), /* times 4 slots is 0 */
        { offsetof(struct client_abi_header, abi_major), 2, CLIENT_ABI_MAJOR + 1, -ENOTSUP },
        { offsetof(struct client_abi_header, clock_kind), 4, 0, -ENOTSUP },
        { offsetof(struct client_abi_header, clock_kind), 4, 99, -ENOTSUP },
};
#define N_LIES ((int)(sizeof(lies) / sizeof(lies[0])))

/*
 * The charged memory grows with the slots that a program could come to use, and nothing of the
 * region is touched for it.
 */
START_TEST(test_measured_before_it_is_opened)
{
        uint64_t n_bytes = 0, n_more_bytes = 0;

        one_region_make();
        ck_assert_int_eq(client_region_measure(p.fd, &n_bytes, NULL), 0);
        ck_assert_uint_ge(n_bytes, h.slots_offset + (uint64_t)h.n_slots * h.slot_bytes);
        p.header->n_slots = h.n_slots / 2;
        ck_assert_int_eq(client_region_measure(p.fd, &n_more_bytes, NULL), 0);
        ck_assert_uint_le(n_more_bytes, n_bytes - (uint64_t)(h.n_slots / 2) * h.slot_bytes);
        p.header->magic ^= 1;
        ck_assert_int_eq(client_region_measure(p.fd, &n_bytes, NULL), -EBADMSG);
}
END_TEST

/* loop test: one lie in an otherwise good header */
START_LOOP_TEST(test_lies_in_the_header, 0, N_LIES)
{
        struct error err = ERROR_NONE;

        one_region_make();
        client_region_close(fake_region_open(&p)); /* good before */
        memcpy(p.base + lies[_i].offset, &lies[_i].value, lies[_i].bytes);
        ck_assert_int_eq(client_region_open(p.fd, &region, &err), lies[_i].code);
        ck_assert_int_eq(err.code, lies[_i].code);
        ck_assert_ptr_null(region);
        ck_assert_int_ge(fcntl(p.fd, F_GETFD), 0); /* still ours */
}
END_TEST

START_TEST(test_unsealed_is_refused)
{
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        fake_region_make(&p, &h, F_SEAL_GROW);
        ck_assert_int_eq(client_region_open(p.fd, &region, NULL), -EPERM);
        ck_assert_int_eq(client_region_open(null_fd, &region, NULL), -EPERM);
        (void)close(null_fd);
}
END_TEST

START_TEST(test_huge_pages_are_refused)
{
        int fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

        if (fd < 0)
                return; /* the kernel has none: nothing to refuse */
        ck_assert_int_eq(ftruncate(fd, 1 << 30), 0);
        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        ck_assert_int_eq(client_region_open(fd, &region, NULL), -EPERM);
        (void)close(fd);
}
END_TEST

START_TEST(test_truncated_is_refused)
{
        int fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        uint64_t magic = CLIENT_ABI_MAGIC;

        ck_assert_int_eq(pwrite(fd, &magic, sizeof(magic), 0), sizeof(magic));
        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        ck_assert_int_eq(client_region_open(fd, &region, NULL), -EBADMSG);
        (void)close(fd);
}
END_TEST

/* loop test: head and tail as no client leaves them */
START_LOOP_TEST(test_impossible_indices, 0, 5)
{
        static const uint64_t heads[] = { FAKE_REGION_RING_BYTES + 8, 4, UINT64_MAX, UINT64_MAX - 7,
                                          UINT64_C(1) << 63 };

        one_region_begin();
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILIES, NULL), 0);
        fake_region_slot(&p, 1)->head_bytes = heads[_i];
        ck_assert_int_eq(client_region_drain(region, 1, SIZE_MAX, &bytes, NULL), -EBADMSG);
        fake_region_slot(&p, 1)->head_bytes = 8;
        ck_assert_int_eq(client_region_drain(region, 1, SIZE_MAX, &bytes, NULL), 0); /* passed over now */
        fake_region_slot(&p, 2)->head_bytes = 8;
        ck_assert_int_eq(client_region_drain(region, 2, SIZE_MAX, &bytes, NULL), 8); /* the others are not */
        ck_assert_uint_eq(bytes.used_bytes, 8);
}
END_TEST

START_TEST(test_head_behind_tail)
{
        one_region_begin();
        fake_region_slot(&p, 0)->head_bytes = 64;
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), 64);
        ck_assert_uint_eq(fake_region_slot(&p, 0)->tail_bytes, 64);
        fake_region_slot(&p, 0)->tail_bytes = 0; /* ours is what counts */
        fake_region_slot(&p, 0)->head_bytes = 56;
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), -EBADMSG);
}
END_TEST

/*
 * loop test: links as no client makes them; the time that they take is bounded, and no other memory is read
 */
START_LOOP_TEST(test_impossible_links, 0, 6)
{
        static const struct {
                uint64_t at;
                uint32_t next;
                int64_t got; /* of 64 bytes; -EBADMSG if the slot is given up */
        } links[] = {
                { 0, 1, -EBADMSG }, /* the ring leads to chunk 0, and that to itself */
                { 0, CLIENT_ABI_CHUNK_IS_RING, -EBADMSG },
                { 8, FAKE_REGION_N_CHUNKS + 1, 8 }, /* what comes before is read */
                { 4, 1, -EBADMSG },
                { 72, 1, 64 }, /* after the head: not yet */
                { UINT64_MAX - 7, 1, 64 },
        };

        h = fake_region_chunk_header();
        one_region_begin();
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILIES, NULL), 0);
        fake_region_slot(&p, 0)->head_bytes = 64;
        fake_region_slot(&p, 0)->ring_link = (struct client_abi_link){ .at_bytes = links[_i].at,
                                                                       .next = links[_i].next };
        *fake_region_chunk_link(&p, 0) = (struct client_abi_link){ .at_bytes = 0, .next = 1 };
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), links[_i].got);
}
END_TEST

/*
 * A ring that is left for a chunk, which is left for the ring: every byte once, and the chunk is given back.
 */
START_TEST(test_follows_links)
{
        uint8_t *ring, *chunk;

        h = fake_region_chunk_header();
        one_region_begin();
        ring = p.base + 3 * FAKE_REGION_ROOM;
        chunk = p.base + FAKE_REGION_CHUNKS_OFFSET + h.chunk_bytes;
        memset(ring, 'a', 16);
        memset(ring + 24, 'c', 8);
        memset(chunk + 16, 'b', 8);
        fake_region_slot(&p, 0)->ring_link = (struct client_abi_link){ .at_bytes = 16, .next = 2 };
        *fake_region_chunk_link(&p, 1) = (struct client_abi_link){ .at_bytes = 24, .next = 0 };
        fake_region_slot(&p, 0)->head_bytes = 24;
        ck_assert_int_eq(client_region_drain(region, 0, 16, &bytes, NULL), 16);
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), 8);
        ck_assert_uint_eq(fake_region_slot(&p, 0)->tail_chunk, 2);
        ck_assert_uint_eq(*fake_region_free_chunks(&p), 0);
        fake_region_slot(&p, 0)->ring_link.next = 0;
        fake_region_chunk_link(&p, 1)->next = CLIENT_ABI_CHUNK_IS_RING;
        fake_region_slot(&p, 0)->head_bytes = 32;
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), 8);
        ck_assert_uint_eq(fake_region_slot(&p, 0)->tail_chunk, 0);
        ck_assert_uint_eq(*fake_region_free_chunks(&p), 2);
        ck_assert_mem_eq(bytes.data, "aaaaaaaaaaaaaaaabbbbbbbbcccccccc", 32);
}
END_TEST

/* Every byte once and in order, over the end of the ring and in limited pieces. */
START_TEST(test_drains_in_order)
{
        uint64_t head = 0, seen = 0;

        one_region_begin();
        for (int round = 0; round < 1000; round++) {
                uint64_t *ring = (uint64_t *)(void *)(p.base + 3 * FAKE_REGION_ROOM +
                                                      3 * FAKE_REGION_RING_BYTES);
                int64_t n;

                for (int i = 0; i < round % 512; i++, head += 8)
                        ring[head % FAKE_REGION_RING_BYTES / 8] = head / 8;
                fake_region_slot(&p, 3)->head_bytes = head;
                while ((n = client_region_drain(region, 3, 100, &bytes, NULL)) > 0)
                        ck_assert_int_le(n, 96);
                ck_assert_int_eq(n, 0);
                for (size_t at = 0; at < bytes.used_bytes; at += 8, seen++)
                        ck_assert_mem_eq(bytes.data + at, &seen, 8);
                byte_buffer_clear(&bytes);
                ck_assert_uint_eq(fake_region_slot(&p, 3)->tail_bytes, head);
        }
        ck_assert_uint_eq(seen, head / 8);
}
END_TEST

struct vandal {
        const struct fake_region *program;
        atomic_bool stop;
};

static void *vandalise(void *arg)
{
        struct vandal *v = arg;
        uint64_t seed = 1;

        while (!atomic_load(&v->stop)) {
                seed = seed * UINT64_C(6364136223846793005) + 1;
                for (uint32_t i = 0; i < FAKE_REGION_N_SLOTS; i++)
                        __atomic_store_n(&fake_region_slot(v->program, i)->head_bytes, seed >> (seed & 63),
                                         __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->n_slots_used, (uint32_t)seed, __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->n_locations, (uint32_t)(seed >> 8), __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->n_slots, (uint32_t)seed, __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->ring_bytes, seed, __ATOMIC_RELAXED);
                __atomic_store_n(&fake_region_location(v->program, 1)->name, seed, __ATOMIC_RELAXED);
                __atomic_store_n(&fake_region_location(v->program, 1)->ready, (uint32_t)seed & 1,
                                 __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->blobs_used_bytes, seed >> (seed & 63),
                                 __ATOMIC_RELAXED);
                __atomic_store_n(fake_region_blob_word(v->program, 64), seed & 64, __ATOMIC_RELAXED);
        }
        return NULL;
}

/* Everything changes while we read: results may be anything that is allowed, and no access goes wrong. */
START_TEST(test_everything_changes_meanwhile)
{
        struct vandal v = { .program = &p };
        pthread_t thread;

        h = fake_region_blob_header();
        one_region_make();
        for (int round = 0; round < 200; round++) {
                struct client_location l;

                *p.header = h;
                region = fake_region_open(&p);
                atomic_store(&v.stop, false);
                ck_assert_int_eq(pthread_create(&thread, NULL, vandalise, &v), 0);
                (void)client_region_enable(region, CLIENT_ABI_FAMILIES, NULL);
                for (int i = 0; i < 200; i++) {
                        uint32_t n_slots = client_region_count_slots(region);

                        ck_assert_uint_le(n_slots, FAKE_REGION_N_SLOTS);
                        for (uint32_t slot = 0; slot < n_slots; slot++) {
                                int64_t n = client_region_drain(region, slot, 256, &bytes, NULL);

                                ck_assert(n == -EBADMSG || (n >= 0 && n <= 256 && n % 8 == 0));
                                (void)client_region_drops(region, slot);
                        }
                        if (client_region_location(region, 1 + (uint32_t)i % 20, &l, NULL) == 0)
                                ck_assert_uint_le(l.name_bytes, 4096);
                        for (uint32_t id = 0; client_region_next_plot(region, &id, &l) == 1;)
                                ck_assert_uint_le(id, FAKE_REGION_N_LOCATIONS);
                        (void)client_region_read_blob(region, 64, 100, &bytes, NULL);
                }
                atomic_store(&v.stop, true);
                ck_assert_int_eq(pthread_join(thread, NULL), 0);
                byte_buffer_clear(&bytes);
                one_region_close();
        }
}
END_TEST

START_TEST(test_enable_and_disable)
{
        const uint32_t zones_and_stacks = CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_ZONES
                                                                            << CLIENT_ABI_CALLSTACK_SHIFT;

        one_region_make();
        fake_region_slot(&p, 0)->head_bytes = 800;
        fake_region_slot(&p, 0)->n_dropped_zones = 10;
        fake_region_slot(&p, 0)->n_dropped_memory = 20;
        p.header->blobs_used_bytes = 4096;
        p.header->n_refused_blobs = 5;
        region = fake_region_open(&p);
        ck_assert_uint_eq(client_region_pid(region), 77);
        ck_assert_int_eq(client_region_enable(region, UINT32_C(0xffff0000) | zones_and_stacks, NULL), 0);
        ck_assert_uint_eq(p.header->control_word,
                          1 << CLIENT_ABI_SESSION_SHIFT | zones_and_stacks | CLIENT_ABI_FAMILY_ALWAYS);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 4096); /* that will not be read */
        ck_assert_uint_eq(p.header->recorder_pid, (uint32_t)getpid());
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), 0); /* old bytes */
        fake_region_slot(&p, 0)->n_dropped_zones = 13;
        fake_region_slot(&p, 0)->n_dropped_plots = 2;
        ck_assert_uint_eq(client_region_drops(region, 0).n_zones, 3);
        ck_assert_uint_eq(client_region_drops(region, 0).n_plots, 2);
        fake_region_slot(&p, 0)->n_dropped_zones = 1;
        ck_assert_uint_eq(client_region_drops(region, 0).n_zones, 0);
        fake_region_slot(&p, 0)->n_dropped_memory = 24;
        fake_region_slot(&p, 0)->n_dropped_locks = 6;
        fake_region_slot(&p, 0)->n_dropped_devices = 7;
        p.header->n_refused_blobs = 8;
        ck_assert_uint_eq(client_region_drops(region, 0).n_memory, 4);
        ck_assert_uint_eq(client_region_drops(region, 0).n_locks, 6);
        ck_assert_uint_eq(client_region_drops(region, 0).n_devices, 7);
        ck_assert_uint_eq(client_region_blobs_refused(region), 3);
        client_region_disable(region);
        ck_assert_uint_eq(p.header->control_word, 1 << CLIENT_ABI_SESSION_SHIFT);
        ck_assert_uint_eq(p.header->recorder_pid, 0);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word >> CLIENT_ABI_SESSION_SHIFT, 2);
        one_region_close();
        ck_assert_uint_eq(p.header->control_word, 2 << CLIENT_ABI_SESSION_SHIFT);

        /* The last session number is followed by the first: 0 is none. */
        p.header->control_word = UINT32_MAX & ~CLIENT_ABI_FAMILIES;
        region = fake_region_open(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word >> CLIENT_ABI_SESSION_SHIFT, 1);
}
END_TEST

/* A program that has paused its own events stays so; one of before 1.2 has anything at that place. */
START_TEST(test_paused_by_the_program)
{
        const uint32_t zones = CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_ALWAYS;

        h.paused = 1;
        one_region_begin();
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word, 1 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ALWAYS);
        ck_assert_uint_eq(p.header->wanted_word, 1 << CLIENT_ABI_SESSION_SHIFT | zones);
        client_region_pause(region, true);
        p.header->paused = 0;
        ck_assert_uint_eq(p.header->wanted_word, 1 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ALWAYS);
        client_region_pause(region, false);
        ck_assert_uint_eq(p.header->control_word, 1 << CLIENT_ABI_SESSION_SHIFT | zones);
        one_region_close();
        ck_assert_uint_eq(p.header->wanted_word, 0);
        fake_region_destroy(&p);

        h.abi_minor = 1;
        h.paused = UINT32_MAX;
        one_region_begin();
        fake_region_slot(&p, 0)->n_dropped_deep_zones = 3;
        ck_assert_uint_eq(client_region_drops(region, 0).n_deep_zones, 0);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word, 1 << CLIENT_ABI_SESSION_SHIFT | zones);
}
END_TEST

START_TEST(test_self_started_is_adopted)
{
        h.control_word = 7 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ZONES;
        one_region_make();
        fake_region_slot(&p, 0)->head_bytes = 800;
        fake_region_slot(&p, 0)->n_dropped_zones = 10;
        p.header->n_dropped_no_ring = 3;
        p.header->n_refused_blobs = 2;
        p.header->blobs_used_bytes = 4096;
        region = fake_region_open(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_PLOTS, NULL), 0);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 0); /* they are ours */
        ck_assert_uint_eq(p.header->control_word,
                          7 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_PLOTS | CLIENT_ABI_FAMILY_ALWAYS);
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), 800);
        ck_assert_uint_eq(client_region_drops(region, 0).n_zones, 10);
        ck_assert_uint_eq(client_region_drops_no_ring(region), 3);
        ck_assert_uint_eq(client_region_blobs_refused(region), 2);
}
END_TEST

/* A recorder that lives is left in peace; one that died is not waited for. */
START_TEST(test_other_recorders)
{
        struct error err = ERROR_NONE;
        pid_t other;
        int end[2];

        ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
        other = fork();
        ck_assert_int_ge(other, 0);
        if (other == 0) {
                char byte;

                (void)close(end[1]);
                _exit((int)read(end[0], &byte, 1)); /* until the test closes its end */
        }
        h.control_word = 5 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ZONES;
        h.recorder_pid = (uint32_t)other;
        one_region_make();
        fake_region_slot(&p, 0)->head_bytes = 800;
        region = fake_region_open(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, &err), -EBUSY);
        ck_assert_ptr_nonnull(strstr(err.text, "being recorded by process"));
        client_region_disable(region); /* not ours: nothing */
        ck_assert_uint_eq(p.header->recorder_pid, (uint32_t)other);

        (void)close(end[1]);
        ck_assert_int_eq(waitpid(other, NULL, 0), other);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, &err), 0);
        ck_assert_uint_eq(p.header->control_word >> CLIENT_ABI_SESSION_SHIFT, 6);
        ck_assert_uint_eq(fake_region_slot(&p, 0)->tail_bytes, 800);
        (void)close(end[0]);
}
END_TEST

static void set_up(void)
{
        h = fake_region_header();
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = one_region_end);
