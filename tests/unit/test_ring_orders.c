/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/thread_ring.c, ring_chunks.c, instrument/ring_reader.c: in whatever order threads and
 * recorder run, and whatever C11 lets them see, every word is read once, in order, and nothing is overwritten
 * that may still be read; each order that the sources state is needed for that
 */
#include "tests/unit/weak_memory.h"

#include "base/clock.h"
#include "base/io.h"
#include "instrument/client/client.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORDS      2 /* of the ring, and of a chunk */
#define N_CHUNKS   2
#define BYTES      ((uint64_t)WORDS * CLIENT_ABI_WORD_BYTES)
#define SLOT_AT    CLIENT_ABI_HEADER_ROOM_BYTES
#define RING_AT    (SLOT_AT + sizeof(struct client_abi_slot))
#define CHUNKS_AT  (RING_AT + BYTES)
#define N_EVENTS   5
#define EVENTS_MAX (2 * N_EVENTS)

static _Alignas(64) uint8_t memory[CHUNKS_AT + N_CHUNKS * BYTES];

/* In place of the kernel's part of both sides, and of the rest of the client. */
static int read_region(int fd, void *to, size_t n, uint64_t at, size_t *ret_n, struct error *err)
{
        (void)fd;
        (void)err;
        weak_read(memory + at, n);
        memcpy(to, memory + at, n);
        *ret_n = n;
        return 0;
}

static int clear_region(int fd, int mode, off_t at, off_t n)
{
        (void)fd;
        (void)mode;
        weak_write(memory + at, (size_t)n);
        memset(memory + at, 0, (size_t)n);
        return 0;
}

/* Every run is the same: the recorder always seems to read. */
static uint64_t same_ns(void)
{
        return 1;
}

#include "tests/unit/weak_builtins.h"

#define ticks_kernel_ns same_ns
#define io_pread_full   read_region
#define fallocate       clear_region
/* NOLINTBEGIN(bugprone-suspicious-include): the sources themselves, with other builtins */
#include "instrument/client/ring_chunks.c"
#include "instrument/client/thread_ring.c"
#define link_of reader_link_of
#define publish reader_publish
#include "instrument/ring_reader.c"
/* NOLINTEND(bugprone-suspicious-include) */

struct client client_self;
_Alignas(4096) uint32_t hyprof_control[HYPROF_CONTROL_WORDS_];

int region_area_open(struct region_area *area, uint64_t until_bytes)
{
        (void)area;
        (void)until_bytes;
        return 0;
}

void client_give_up(uint32_t word)
{
        (void)word;
}

bool client_begin_now(void)
{
        return true;
}

bool thread_ring_tell_fiber(struct thread_ring *t)
{
        return t != NULL;
}

static struct client_abi_header head;
static struct client_abi_slot *const slot = (void *)(memory + SLOT_AT);
static struct thread_ring writers[2];
static struct ring_reader reader;
static struct chunk_pool pool;
static uint64_t freed_ns[N_CHUNKS];
static uint64_t n_put, n_read;
static unsigned n_ended;

static void begin(void)
{
        memset(memory, 0, sizeof(memory));
        memset(places, 0, sizeof(places));
        memset(&beat, 0, sizeof(beat));
        memset(writers, 0, sizeof(writers));
        memset(freed_ns, 0, sizeof(freed_ns));
        head = (struct client_abi_header){ .abi_minor = CLIENT_ABI_MINOR,
                                           .slots_offset = SLOT_AT,
                                           .slot_bytes = sizeof(struct client_abi_slot),
                                           .n_slots = 1,
                                           .rings_offset = RING_AT,
                                           .ring_bytes = BYTES,
                                           .chunks_offset = CHUNKS_AT,
                                           .chunk_bytes = BYTES,
                                           .n_chunks = N_CHUNKS };
        client_self.region =
                (struct region_memory){ .base = memory,
                                        .header = (void *)memory,
                                        .slots = slot,
                                        .rings = memory + RING_AT,
                                        .chunks = memory + CHUNKS_AT,
                                        .free_chunks = (void *)(memory + CLIENT_ABI_FREE_CHUNKS_OFFSET),
                                        .chunk_links = (void *)(memory + CLIENT_ABI_CHUNK_LINKS_OFFSET),
                                        .ring_bytes = BYTES,
                                        .chunk_bytes = BYTES,
                                        .n_slots = 1,
                                        .n_chunks = N_CHUNKS };
        client_self.region.free_chunks[0] = (1U << N_CHUNKS) - 1;
        client_self.region.header->n_chunks_allowed = N_CHUNKS;
        reader = (struct ring_reader){ .tail_bytes = 0 };
        pool = (struct chunk_pool){ .h = &head, .map = memory, .freed_ns = freed_ns };
        n_put = n_read = 0;
        n_ended = 0;
        weak_is_owned(&slot->head_bytes);
}

/* The numbers 1, 2, ... as words; what finds no room is left out, as events are. */
static void emit(struct thread_ring *t)
{
        t->n_destructor_runs = N_DESTRUCTOR_RUNS - 1;
        if (take_slot(t)) {
                for (unsigned i = 0; i < N_EVENTS; i++) {
                        if (!thread_ring_has_room(t, CLIENT_ABI_WORD_BYTES))
                                continue;
                        weak_write(t->bytes + (t->head_bytes & t->mask), CLIENT_ABI_WORD_BYTES);
                        thread_ring_put_word(t, ++n_put);
                        thread_ring_publish(t);
                }
                thread_ring_end(t);
        }
        n_ended++;
}

static void emit_first(void)
{
        emit(&writers[0]);
}

static bool first_has_ended(void)
{
        return n_ended > 0;
}

static void emit_after_it(void)
{
        weak_wait(first_has_ended);
        emit(&writers[1]);
}

static void drain(void)
{
        uint64_t words[EVENTS_MAX];
        size_t n_bytes = 0;

        if (ring_reader_drain(&reader, &pool, 0, (uint8_t *)words, sizeof(words), &n_bytes) < 0)
                weak_fail("the ring is broken");
        for (size_t i = 0; i < n_bytes / CLIENT_ABI_WORD_BYTES; i++)
                if (words[i] != ++n_read)
                        weak_fail("another word than was written");
}

static bool has_words(void)
{
        return slot->head_bytes != reader.tail_bytes || n_ended == 2;
}

static void read_words(void)
{
        for (unsigned i = 0; i < 4; i++) {
                weak_wait(has_words);
                drain();
                if (i == 1)
                        chunk_pool_trim(&pool, UINT64_MAX);
        }
}

static const char *end(void)
{
        uint64_t words[EVENTS_MAX];
        size_t n_bytes = 0;

        if (ring_reader_drain(&reader, &pool, 0, (uint8_t *)words, sizeof(words), &n_bytes) < 0)
                return "the ring is broken in the end";
        for (size_t i = 0; i < n_bytes / CLIENT_ABI_WORD_BYTES; i++)
                if (words[i] != ++n_read)
                        return "another word than was written, in the end";
        return n_read == n_put ? NULL : "words are missing";
}

static struct weak_check check(unsigned n_switches, unsigned n_old)
{
        return (struct weak_check){ .begin = begin,
                                    .threads = { emit_first, emit_after_it, read_words },
                                    .end = end,
                                    .base = memory,
                                    .n_bytes = sizeof(memory),
                                    .n_switches = n_switches,
                                    .n_old = n_old };
}

/* HYPROF_SWITCHES=3, with CK_FORK=no so that no time limit ends it, tries many more orders. */
static unsigned switches_max(void)
{
        const char *text = getenv("HYPROF_SWITCHES");

        return text ? (unsigned)strtoul(text, NULL, 10) : 2;
}

START_TEST_IF(WEAK_MEMORY_RUNS, words_come_once_and_in_order)
{
        struct weak_check interrupted = check(switches_max(), 0), old_values = check(1, 1);
        struct weak_result r[2] = { weak_memory_check(&interrupted, NULL),
                                    weak_memory_check(&old_values, NULL) };

        for (size_t i = 0; i < 2; i++) {
                printf("# %llu runs\n", (unsigned long long)r[i].n_runs);
                ck_assert_msg(!r[i].wrong, "run %llu: %s", (unsigned long long)r[i].n_runs, r[i].wrong);
                ck_assert_uint_ge(r[i].n_runs, 10000);
        }
}
END_TEST

/* Orders that the sources could do without, and why they state them nevertheless. */
static const struct {
        const char *function, *reason;
} not_needed[] = {
        { "raise_slots_used", "the recorder then reads the head, which has an order of its own" },
        { "find_next", "look_for_room() reads the tail again before the ring is written to" },
        { "ring_chunks_move", "the exchange: for checkers that cannot see the recorder" },
        { "trim", "the recorder alone gives chunks back, and it saw its own writes" },
};

static const char *reason_for(const struct weak_place *p)
{
        for (size_t i = 0; i < sizeof(not_needed) / sizeof(not_needed[0]); i++)
                if (strcmp(not_needed[i].function, p->function) == 0)
                        return not_needed[i].reason;
        return NULL;
}

/* Each is weakened to relaxed, one at a time. */
START_TEST_IF(WEAK_MEMORY_RUNS, every_order_is_needed)
{
        struct weak_check old_values = check(1, 1);
        struct weak_result r = weak_memory_check(&old_values, NULL);
        unsigned n_needed = 0;

        for (size_t i = 0; i < r.n_places; i++) {
                struct weak_result without = weak_memory_check(&old_values, &r.places[i]);

                n_needed += without.wrong != NULL;
                ck_assert_msg(without.wrong || reason_for(&r.places[i]), "%s:%d: %s() does without its order",
                              r.places[i].file, r.places[i].line, r.places[i].function);
        }
        ck_assert_uint_eq(r.n_places, 15);
        ck_assert_uint_eq(n_needed, 11);
}
END_TEST
