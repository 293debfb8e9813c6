/* SPDX-License-Identifier: MIT */
/* instrument/client_region.c: a region that lies, at rest or while it is read, gives an error and never a wrong access */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/client_region.h"

#include <check.h>
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

#define N_SLOTS     4
#define RING_BYTES  4096
#define N_LOCATIONS 16
#define ROOM        CLIENT_ABI_HEADER_ROOM_BYTES

/* The hostile program's side. */
struct program {
        int fd;
        uint8_t *base;
        struct client_abi_header *header;
        size_t bytes;
};

static struct client_abi_header good_header(void)
{
        return (struct client_abi_header){
                .magic = CLIENT_ABI_MAGIC,
                .abi_major = CLIENT_ABI_MAJOR,
                .abi_minor = CLIENT_ABI_MINOR,
                .header_bytes = sizeof(struct client_abi_header),
                .pid = 77,
                .clock_kind = CLIENT_ABI_CLOCK_MONOTONIC_RAW,
                .region_bytes = 4 * ROOM,
                .slots_offset = ROOM,
                .slot_bytes = sizeof(struct client_abi_slot),
                .n_slots = N_SLOTS,
                .locations_offset = 2 * ROOM,
                .location_bytes = sizeof(struct client_abi_location),
                .n_locations_max = N_LOCATIONS,
                .strings_offset = 2 * ROOM + 4096,
                .strings_bytes = 4096,
                .rings_offset = 3 * ROOM,
                .ring_bytes = RING_BYTES,
                .n_slots_used = N_SLOTS,
        };
}

static void make(struct program *p, const struct client_abi_header *h, int seals)
{
        p->bytes = 4 * ROOM;
        p->fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        ck_assert_int_ge(p->fd, 0);
        ck_assert_int_eq(ftruncate(p->fd, (off_t)p->bytes), 0);
        ck_assert_int_eq(fcntl(p->fd, F_ADD_SEALS, seals), 0);
        p->base = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
        ck_assert_ptr_ne(p->base, MAP_FAILED);
        p->header = (struct client_abi_header *)(void *)p->base;
        *p->header = *h;
}

static void destroy(struct program *p)
{
        (void)munmap(p->base, p->bytes);
        (void)close(p->fd);
}

static struct client_abi_slot *slot_of(const struct program *p, uint32_t i)
{
        return (struct client_abi_slot *)(void *)(p->base + ROOM) + i;
}

static struct client_abi_location *location_of(const struct program *p, uint32_t id)
{
        return (struct client_abi_location *)(void *)(p->base + 2 * ROOM) + (id - 1);
}

static struct client_region *open_region(const struct program *p)
{
        struct client_region *region;
        struct error err = ERROR_NONE;

        ck_assert_msg(client_region_open(fcntl(p->fd, F_DUPFD_CLOEXEC, 0), &region, &err) == 0, "%s",
                      err.text);
        return region;
}

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
        FIELD(region_bytes, 4 * ROOM + 1),
        FIELD(region_bytes, UINT64_MAX),
        FIELD(region_bytes, ROOM),
        FIELD(slots_offset, 0),
        FIELD(slots_offset, ROOM - 8),
        FIELD(slots_offset, ROOM + 4),
        FIELD(slots_offset, 4 * ROOM),
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
        FIELD(strings_offset, UINT64_MAX),
        FIELD(strings_bytes, UINT64_MAX),
        FIELD(strings_bytes, 4 * ROOM),
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

/* loop test: one lie in an otherwise good header */
START_TEST(test_lies_in_the_header)
{
        struct client_abi_header h = good_header();
        struct client_region *region = NULL;
        struct error err = ERROR_NONE;
        struct program p;

        make(&p, &h, F_SEAL_SHRINK);
        client_region_close(open_region(&p)); /* good before */
        memcpy(p.base + lies[_i].offset, &lies[_i].value, lies[_i].bytes);
        ck_assert_int_eq(client_region_open(p.fd, &region, &err), lies[_i].code);
        ck_assert_int_eq(err.code, lies[_i].code);
        ck_assert_ptr_null(region);
        ck_assert_int_ge(fcntl(p.fd, F_GETFD), 0); /* still ours */
        destroy(&p);
}
END_TEST

START_TEST(test_unsealed_is_refused)
{
        struct client_abi_header h = good_header();
        struct client_region *region;
        struct program p;
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        make(&p, &h, F_SEAL_GROW);
        ck_assert_int_eq(client_region_open(p.fd, &region, NULL), -EPERM);
        ck_assert_int_eq(client_region_open(null_fd, &region, NULL), -EPERM);
        (void)close(null_fd);
        destroy(&p);
}
END_TEST

START_TEST(test_huge_pages_are_refused)
{
        int fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
        struct client_region *region;

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
        struct client_region *region;
        int fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        uint64_t magic = CLIENT_ABI_MAGIC;

        ck_assert_int_eq(pwrite(fd, &magic, sizeof(magic), 0), sizeof(magic));
        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        ck_assert_int_eq(client_region_open(fd, &region, NULL), -EBADMSG);
        (void)close(fd);
}
END_TEST

/* loop test: head and tail as no client leaves them */
START_TEST(test_impossible_indices)
{
        static const uint64_t heads[] = { RING_BYTES + 8, 4, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63 };
        struct client_abi_header h = good_header();
        struct byte_buffer pending = { .data = NULL };
        struct client_region *region;
        struct program p;

        make(&p, &h, F_SEAL_SHRINK);
        region = open_region(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILIES, NULL), 0);
        slot_of(&p, 1)->head_bytes = heads[_i];
        ck_assert_int_eq(client_region_drain(region, 1, SIZE_MAX, &pending, NULL), -EBADMSG);
        slot_of(&p, 1)->head_bytes = 8;
        ck_assert_int_eq(client_region_drain(region, 1, SIZE_MAX, &pending, NULL), 0); /* passed over now */
        slot_of(&p, 2)->head_bytes = 8;
        ck_assert_int_eq(client_region_drain(region, 2, SIZE_MAX, &pending, NULL),
                         8); /* the others are not */
        ck_assert_uint_eq(pending.used_bytes, 8);
        byte_buffer_deinit(&pending);
        client_region_close(region);
        destroy(&p);
}
END_TEST

START_TEST(test_head_behind_tail)
{
        struct client_abi_header h = good_header();
        struct byte_buffer pending = { .data = NULL };
        struct client_region *region;
        struct program p;

        make(&p, &h, F_SEAL_SHRINK);
        region = open_region(&p);
        slot_of(&p, 0)->head_bytes = 64;
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &pending, NULL), 64);
        ck_assert_uint_eq(slot_of(&p, 0)->tail_bytes, 64);
        slot_of(&p, 0)->tail_bytes = 0; /* ours is what counts */
        slot_of(&p, 0)->head_bytes = 56;
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &pending, NULL), -EBADMSG);
        byte_buffer_deinit(&pending);
        client_region_close(region);
        destroy(&p);
}
END_TEST

/* Every byte once and in order, over the end of the ring and in limited pieces. */
START_TEST(test_drains_in_order)
{
        struct client_abi_header h = good_header();
        struct byte_buffer pending = { .data = NULL };
        struct client_region *region;
        struct program p;
        uint64_t head = 0, seen = 0;

        make(&p, &h, F_SEAL_SHRINK);
        region = open_region(&p);
        for (int round = 0; round < 1000; round++) {
                uint64_t *ring = (uint64_t *)(void *)(p.base + 3 * ROOM + 3 * RING_BYTES);
                int64_t n;

                for (int i = 0; i < round % 512; i++, head += 8)
                        ring[head % RING_BYTES / 8] = head / 8;
                slot_of(&p, 3)->head_bytes = head;
                while ((n = client_region_drain(region, 3, 100, &pending, NULL)) > 0)
                        ck_assert_int_le(n, 96);
                ck_assert_int_eq(n, 0);
                for (size_t at = 0; at < pending.used_bytes; at += 8, seen++)
                        ck_assert_mem_eq(pending.data + at, &seen, 8);
                byte_buffer_clear(&pending);
                ck_assert_uint_eq(slot_of(&p, 3)->tail_bytes, head);
        }
        ck_assert_uint_eq(seen, head / 8);
        byte_buffer_deinit(&pending);
        client_region_close(region);
        destroy(&p);
}
END_TEST

struct vandal {
        const struct program *program;
        atomic_bool stop;
};

static void *vandalise(void *arg)
{
        struct vandal *v = arg;
        uint64_t seed = 1;

        while (!atomic_load(&v->stop)) {
                seed = seed * UINT64_C(6364136223846793005) + 1;
                for (uint32_t i = 0; i < N_SLOTS; i++)
                        __atomic_store_n(&slot_of(v->program, i)->head_bytes, seed >> (seed & 63),
                                         __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->n_slots_used, (uint32_t)seed, __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->n_locations, (uint32_t)(seed >> 8), __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->n_slots, (uint32_t)seed, __ATOMIC_RELAXED);
                __atomic_store_n(&v->program->header->ring_bytes, seed, __ATOMIC_RELAXED);
                __atomic_store_n(&location_of(v->program, 1)->name, seed, __ATOMIC_RELAXED);
                __atomic_store_n(&location_of(v->program, 1)->ready, (uint32_t)seed & 1, __ATOMIC_RELAXED);
        }
        return NULL;
}

/* Everything changes while we read: results may be anything that is allowed, and no access goes wrong. */
START_TEST(test_everything_changes_meanwhile)
{
        struct client_abi_header h = good_header();
        struct program p;
        struct vandal v = { .program = &p };
        pthread_t thread;

        make(&p, &h, F_SEAL_SHRINK);
        for (int round = 0; round < 200; round++) {
                struct byte_buffer pending = { .data = NULL };
                struct client_region *region;
                struct client_location l;

                *p.header = h;
                region = open_region(&p);
                atomic_store(&v.stop, false);
                ck_assert_int_eq(pthread_create(&thread, NULL, vandalise, &v), 0);
                (void)client_region_enable(region, CLIENT_ABI_FAMILIES, NULL);
                for (int i = 0; i < 200; i++) {
                        uint32_t n_slots = client_region_count_slots(region);

                        ck_assert_uint_le(n_slots, N_SLOTS);
                        for (uint32_t slot = 0; slot < n_slots; slot++) {
                                int64_t n = client_region_drain(region, slot, 256, &pending, NULL);

                                ck_assert(n == -EBADMSG || (n >= 0 && n <= 256 && n % 8 == 0));
                                (void)client_region_drops(region, slot);
                        }
                        if (client_region_location(region, 1 + (uint32_t)i % 20, &l, NULL) == 0)
                                ck_assert_uint_le(l.name_bytes, 4096);
                }
                atomic_store(&v.stop, true);
                ck_assert_int_eq(pthread_join(thread, NULL), 0);
                byte_buffer_deinit(&pending);
                client_region_close(region);
        }
        destroy(&p);
}
END_TEST

START_TEST(test_locations)
{
        struct client_abi_header h = good_header();
        struct client_region *region;
        struct client_location l;
        struct program p;
        const uint64_t n5 = UINT64_C(5) << CLIENT_ABI_STRING_OFFSET_BITS;

        make(&p, &h, F_SEAL_SHRINK);
        region = open_region(&p);
        memcpy(p.base + h.strings_offset, "nameSfunctionFILE", 17);
        *location_of(&p, 1) = (struct client_abi_location){
                .name = UINT64_C(4) << CLIENT_ABI_STRING_OFFSET_BITS,
                .function = 5 | UINT64_C(8) << CLIENT_ABI_STRING_OFFSET_BITS,
                .file = 13 | UINT64_C(4) << CLIENT_ABI_STRING_OFFSET_BITS,
                .line = 12,
                .color = 0xff123456,
                .ready = 1,
        };
        ck_assert_int_eq(client_region_location(region, 1, &l, NULL), -EBADMSG); /* not given out */
        p.header->n_locations = 5;
        for (int again = 0; again < 2; again++) {
                ck_assert_int_eq(client_region_location(region, 1, &l, NULL), 0);
                ck_assert_uint_eq(l.name_bytes, 4);
                ck_assert_mem_eq(l.name, "name", 4);
                ck_assert_uint_eq(l.function_bytes, 8);
                ck_assert_mem_eq(l.function, "function", 8);
                ck_assert_uint_eq(l.file_bytes, 4);
                ck_assert_mem_eq(l.file, "FILE", 4);
                ck_assert_uint_eq(l.line, 12);
                ck_assert_uint_eq(l.color, 0x123456);
                location_of(&p, 1)->name = 0; /* what we know stays */
        }
        ck_assert_int_eq(client_region_location(region, 0, &l, NULL), -EBADMSG);
        ck_assert_int_eq(client_region_location(region, 2, &l, NULL), -EBADMSG); /* not ready */
        *location_of(&p, 3) = (struct client_abi_location){ .name = (4096 - 4) | n5, .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 3, &l, NULL), -EBADMSG);
        *location_of(&p, 4) = (struct client_abi_location){ .file = UINT64_MAX, .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 4, &l, NULL), -EBADMSG);
        *location_of(&p, 5) = (struct client_abi_location){ .name = (4096 - 5) | n5, .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 5, &l, NULL), 0);
        p.header->n_locations = UINT32_MAX;
        ck_assert_int_eq(client_region_location(region, N_LOCATIONS + 1, &l, NULL), -EBADMSG);
        client_region_close(region);
        destroy(&p);
}
END_TEST

START_TEST(test_enable_and_disable)
{
        struct client_abi_header h = good_header();
        struct byte_buffer pending = { .data = NULL };
        struct client_region *region;
        struct program p;

        make(&p, &h, F_SEAL_SHRINK);
        slot_of(&p, 0)->head_bytes = 800;
        slot_of(&p, 0)->n_dropped_zones = 10;
        region = open_region(&p);
        ck_assert_uint_eq(client_region_pid(region), 77);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word,
                          1 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_ALWAYS);
        ck_assert_uint_eq(p.header->recorder_pid, (uint32_t)getpid());
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &pending, NULL), 0); /* old bytes */
        slot_of(&p, 0)->n_dropped_zones = 13;
        slot_of(&p, 0)->n_dropped_plots = 2;
        ck_assert_uint_eq(client_region_drops(region, 0).n_zones, 3);
        ck_assert_uint_eq(client_region_drops(region, 0).n_plots, 2);
        slot_of(&p, 0)->n_dropped_zones = 1;
        ck_assert_uint_eq(client_region_drops(region, 0).n_zones, 0);
        client_region_disable(region);
        ck_assert_uint_eq(p.header->control_word, 1 << CLIENT_ABI_SESSION_SHIFT);
        ck_assert_uint_eq(p.header->recorder_pid, 0);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word >> CLIENT_ABI_SESSION_SHIFT, 2);
        client_region_close(region);
        ck_assert_uint_eq(p.header->control_word, 2 << CLIENT_ABI_SESSION_SHIFT);

        /* The last session number is followed by the first: 0 is none. */
        p.header->control_word = UINT32_MAX & ~CLIENT_ABI_FAMILIES;
        region = open_region(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, NULL), 0);
        ck_assert_uint_eq(p.header->control_word >> CLIENT_ABI_SESSION_SHIFT, 1);
        client_region_close(region);
        destroy(&p);
}
END_TEST

START_TEST(test_self_started_is_adopted)
{
        struct client_abi_header h = good_header();
        struct byte_buffer pending = { .data = NULL };
        struct client_region *region;
        struct program p;

        h.control_word = 7 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ZONES;
        make(&p, &h, F_SEAL_SHRINK);
        slot_of(&p, 0)->head_bytes = 800;
        slot_of(&p, 0)->n_dropped_zones = 10;
        p.header->n_dropped_no_ring = 3;
        region = open_region(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_PLOTS, NULL), 0);
        ck_assert_uint_eq(p.header->control_word,
                          7 << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_PLOTS | CLIENT_ABI_FAMILY_ALWAYS);
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &pending, NULL), 800);
        ck_assert_uint_eq(client_region_drops(region, 0).n_zones, 10);
        ck_assert_uint_eq(client_region_drops_no_ring(region), 3);
        byte_buffer_deinit(&pending);
        client_region_close(region);
        destroy(&p);
}
END_TEST

/* A recorder that lives is left in peace; one that died is not waited for. */
START_TEST(test_other_recorders)
{
        struct client_abi_header h = good_header();
        struct client_region *region;
        struct error err = ERROR_NONE;
        struct program p;
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
        make(&p, &h, F_SEAL_SHRINK);
        slot_of(&p, 0)->head_bytes = 800;
        region = open_region(&p);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, &err), -EBUSY);
        ck_assert_ptr_nonnull(strstr(err.text, "being recorded by process"));
        client_region_disable(region); /* not ours: nothing */
        ck_assert_uint_eq(p.header->recorder_pid, (uint32_t)other);

        (void)close(end[1]);
        ck_assert_int_eq(waitpid(other, NULL, 0), other);
        ck_assert_int_eq(client_region_enable(region, CLIENT_ABI_FAMILY_ZONES, &err), 0);
        ck_assert_uint_eq(p.header->control_word >> CLIENT_ABI_SESSION_SHIFT, 6);
        ck_assert_uint_eq(slot_of(&p, 0)->tail_bytes, 800);
        client_region_close(region);
        (void)close(end[0]);
        destroy(&p);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("instrument/client_region");
        TCase *tc = tcase_create("region");
        SRunner *runner;
        int n_failed;

        tcase_set_timeout(tc, 60);
        tcase_add_loop_test(tc, test_lies_in_the_header, 0, N_LIES);
        tcase_add_test(tc, test_unsealed_is_refused);
        tcase_add_test(tc, test_huge_pages_are_refused);
        tcase_add_test(tc, test_truncated_is_refused);
        tcase_add_loop_test(tc, test_impossible_indices, 0, 5);
        tcase_add_test(tc, test_head_behind_tail);
        tcase_add_test(tc, test_drains_in_order);
        tcase_add_test(tc, test_everything_changes_meanwhile);
        tcase_add_test(tc, test_locations);
        tcase_add_test(tc, test_enable_and_disable);
        tcase_add_test(tc, test_self_started_is_adopted);
        tcase_add_test(tc, test_other_recorders);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
