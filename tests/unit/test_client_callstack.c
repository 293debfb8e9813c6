/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/callstack.c: frames where there are some, a copy of the stack where
 * not, and never a crash
 */
#include "tests/unit/fixed_random.h"
#include "tests/unit/own_recording.h"

#include "instrument/client/callstack.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)4096)
#define N_PAGES    4
#define N_WORDS    (N_PAGES * PAGE_BYTES / sizeof(uint64_t))
#define RECORD_AT  CALLSTACK_RECORD_AT
#define N_WALKS    20000
#define COPY_MAX   ((size_t)CLIENT_ABI_STACK_COPY_BYTES_MAX)
#define DEEP       100

static struct hyprof_location here = HYPROF_NAME("here");

/* A stack of our own making, with nothing readable past its end.  The thread takes it for its own. */
static uint64_t *stack;

static void make_stack(void)
{
        uint8_t *pages = mmap(NULL, (N_PAGES + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        ck_assert_ptr_ne(pages, MAP_FAILED);
        ck_assert_int_eq(mprotect(pages + N_PAGES * PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);
        stack = (uint64_t *)(void *)pages;
        thread_ring_self.mask = REGION_MEMORY_RING_BYTES - 1;
        thread_ring_self.stack_low = (uintptr_t)stack;
        thread_ring_self.stack_high = (uintptr_t)&stack[N_WORDS];
}

/* As of a fiber: nothing is known of it. */
static void make_foreign_stack(void)
{
        make_stack();
        thread_ring_self.stack_low = 1;
        thread_ring_self.stack_high = 1;
}

static void drop_stack(void)
{
        thread_ring_self.stack_low = 0;
        thread_ring_self.stack_high = 0;
        ck_assert_int_eq(munmap(stack, (N_PAGES + 1) * PAGE_BYTES), 0);
}

/* A frame pointer to the record at word @at. */
static uint64_t frame_at(size_t at)
{
        return (uint64_t)(uintptr_t)&stack[at] - (uint64_t)RECORD_AT;
}

/* Puts the record of a frame at word @at: what was called by it and has its frame there returns to @code. */
static void put_record(size_t at, uint64_t next, uint64_t code)
{
        stack[at] = next;
        stack[at + 1] = code;
}

static struct callstack walk_from(size_t at, uint32_t depth_max)
{
        struct callstack c;
        struct callstack_origin from = { .frame = (uintptr_t)frame_at(at),
                                         .caller_sp = (uintptr_t)&stack[at + 2] };

        callstack_walk(&c, from, depth_max);
        return c;
}

/* Frames at words 0, 10, 20 ...; the @n-th one's caller is said to be at @last. */
static void put_chain(size_t n, uint64_t last)
{
        for (size_t i = 0; i < n; i++)
                put_record(i * 10, i + 1 < n ? frame_at((i + 1) * 10) : last, 1000 + i);
}

static void check_addresses(const struct callstack *c, size_t n)
{
        ck_assert_uint_eq(c->n_frames, n);
        for (size_t i = 0; i < n; i++)
                ck_assert_uint_eq(c->frames[i], 1000 + i);
}

/* Frames, and these are all. */
static void check_frames(const struct callstack *c, size_t n)
{
        check_addresses(c, n);
        ck_assert(!c->has_copy);
        ck_assert_uint_eq(callstack_room(c), n ? 16 + 8 * n : 0);
}

/* The copy begins at word @at, with the registers of the function that called the one of the record below. */
static void check_copy(const struct callstack *c, size_t at, size_t n_bytes)
{
        ck_assert(c->has_copy);
        ck_assert_uint_eq(c->stack_bytes, n_bytes);
        ck_assert_uint_eq(c->registers[0], stack[at - 1]);
        ck_assert_uint_eq(c->registers[1], (uint64_t)(uintptr_t)&stack[at]);
        ck_assert_uint_eq(c->registers[2], stack[at - 2]);
        ck_assert_uint_eq(callstack_room(c),
                          16 + 24 + n_bytes + (c->n_frames > 0 ? 16 + 8 * (size_t)c->n_frames : 0));
}

/* Frames up to the one at word @last: the recorder is to go on there. */
static void check_cut_frames(const struct callstack *c, size_t n, size_t last, size_t n_bytes)
{
        if (CALLSTACK_SP_AFTER((uintptr_t)1) != 0) {
                check_addresses(c, n);
                check_copy(c, last + 2, n_bytes);
        } else { /* the record does not say where the caller's stack began: all of it is copied */
                check_addresses(c, 0);
                ck_assert(c->has_copy);
        }
}

START_TEST(test_as_many_as_wanted)
{
        struct callstack c;

        make_stack();
        put_chain(DEEP, 0);
        for (uint32_t n = 0; n <= CLIENT_ABI_CALLSTACK_FRAMES_MAX; n++) {
                c = walk_from(0, n);
                check_frames(&c, n);
        }
        c = walk_from(0, UINT32_MAX);
        check_frames(&c, CLIENT_ABI_CALLSTACK_FRAMES_MAX);
        drop_stack();
}
END_TEST

#if !CALLSTACK_ENDS_AT_0
/* A frame pointer of 0, or one that leads to zeros, may be a loop counter or a variable: that is no end. */
START_TEST(test_zeros_are_no_end)
{
        struct callstack c;

        make_stack();
        for (size_t n = 1; n < 6; n++) {
                size_t last = (n - 1) * 10;

                for (int kind = 0; kind < 2; kind++) {
                        put_chain(n, kind == 0 ? 0 : frame_at(last + 10));
                        if (kind == 1)
                                put_record(last + 10, 0, 0);
                        c = walk_from(0, 64);
                        if (n < 3) {
                                check_addresses(&c, 0);
                                check_copy(&c, 2, COPY_MAX);
                        } else {
                                check_cut_frames(&c, n, last, COPY_MAX);
                        }
                }
        }
        drop_stack();
}
END_TEST
#endif

/*
 * Where no frame can be: past the end in several ways, below, at itself, at no multiple of 8, nowhere at all.
 */
static uint64_t bad_frame(int i, size_t of_word)
{
        const uint64_t end = (uint64_t)(uintptr_t)&stack[N_WORDS] - (uint64_t)RECORD_AT;
        const uint64_t bad[] = {
                end,
                end - 8,
                end + 8,
                end + 4096,
                end + (UINT64_C(16) << 20),
                frame_at(0) - 4096,
                frame_at(of_word),
                frame_at(of_word + 1) - 4,
                1,
                UINT64_MAX,
                UINT64_MAX - 15,
                UINT64_C(1) << 63,
        };

        return bad[i];
}
#define N_BAD 12

/* loop test: after enough frames the stack goes on where they end; after few, the frames were none. */
START_LOOP_TEST(test_broken_chains, 0, N_BAD)
{
        struct callstack c;

        make_stack();
        for (size_t n = 1; n < 6; n++) {
                put_chain(n, bad_frame(_i, (n - 1) * 10));
                c = walk_from(0, 64);
                if (n >= 3) {
                        check_cut_frames(&c, n, (n - 1) * 10, COPY_MAX);
                } else {
                        check_addresses(&c, 0);
                        check_copy(&c, 2, COPY_MAX);
                }
        }
        drop_stack();
}
END_TEST

/* A frame may touch the last byte of the stack, and a copy ends there. */
START_TEST(test_end_of_the_stack)
{
        struct callstack c;
        size_t last = N_WORDS - 2;

        make_stack();
        put_record(0, frame_at(last), 1000);
        put_record(last, frame_at(0), 1001);
        c = walk_from(0, 2);
        check_frames(&c, 2);

        put_record(last - 10, frame_at(last), 1000);
        put_record(last, frame_at(last) + 16, 1001);
        c = walk_from(last - 10, 64);
        check_addresses(&c, 0);
        check_copy(&c, last - 8, 80);
        put_record(last, 1, 1000);
        c = walk_from(last, 64); /* nothing to copy: the recorder is told where it would begin */
        check_addresses(&c, 0);
        check_copy(&c, N_WORDS, 0);
        drop_stack();
}
END_TEST

/*
 * The rest of the frame's page is certain on another stack, and only the kernel reads after that, also where
 * memory follows: it may be gone at the next moment.
 */
START_TEST(test_unknown_stack)
{
        const size_t page_words = PAGE_BYTES / sizeof(uint64_t);
        struct callstack c;

        make_foreign_stack();
        put_chain(60, 1);
        c = walk_from(0, 40);
        check_frames(&c, 40);
        c = walk_from(0, 64); /* 52 records lie in the first page */
        check_cut_frames(&c, 52, 510, COPY_MAX);
        if (c.n_frames > 0)
                ck_assert_uint_eq(c.certain_bytes, 0);
        put_record(0, 1, 1000);
        c = walk_from(0, 64);
        check_copy(&c, 2, COPY_MAX);
        ck_assert_uint_eq(c.certain_bytes, PAGE_BYTES - 16);
        put_record(page_words - 2, 1, 1000);
        c = walk_from(page_words - 2, 64);
        check_copy(&c, page_words, COPY_MAX);
        ck_assert_uint_eq(c.certain_bytes, 0);
        drop_stack();
}
END_TEST

/* A ring that is not much larger than a copy keeps room for others. */
START_TEST(test_copy_for_a_small_ring)
{
        struct callstack c;

        make_stack();
        thread_ring_self.mask = 4095;
        put_chain(1, 1);
        c = walk_from(0, 64);
        ck_assert_uint_eq(c.stack_bytes, 1024);
        drop_stack();
}
END_TEST

/*
 * Any words at all: many point into the stack or about its ends, most of those at places
 * where a record can be.
 */
START_TEST(test_random_stacks)
{
        uint64_t state = 1;
        bool any_frames = false, any_copy = false;

        make_stack();
        for (int n = 0; n < N_WALKS; n++) {
                struct callstack c;
                size_t at = fixed_random_next(&state) % (N_WORDS - 1);

                for (size_t i = 0; i < 200; i++) {
                        uint64_t place = fixed_random_next(&state) % (N_WORDS + 600);
                        uint64_t kind = fixed_random_next(&state) % 10;

                        stack[fixed_random_next(&state) % N_WORDS] = kind == 0
                                                                             ? fixed_random_magnitude(&state)
                                                                             : frame_at(place) +
                                                                                       (kind == 1 ? 4 : 0);
                }
                c = walk_from(at, (uint32_t)(fixed_random_next(&state) % 70));
                ck_assert_uint_le(c.n_frames, CLIENT_ABI_CALLSTACK_FRAMES_MAX);
                if (c.has_copy)
                        ck_assert_uint_le(c.registers[1] + c.stack_bytes,
                                          (uint64_t)(uintptr_t)&stack[N_WORDS]);
                any_frames |= c.n_frames > 3;
                any_copy |= c.has_copy;
        }
        ck_assert(any_frames && any_copy);
        drop_stack();
}
END_TEST

/* From here on the test's own stack, and the way into the ring. */

static hyprof_zone zone;
static void *return_addresses[3];

__attribute__((noinline)) static void innermost(uint32_t depth)
{
        return_addresses[0] = __builtin_return_address(0);
        zone = depth ? hyprof_zone_begin_callstack(&here, depth) : hyprof_zone_begin(&here);
        __asm__ volatile("");
}

__attribute__((noinline)) static void middle(uint32_t depth)
{
        return_addresses[1] = __builtin_return_address(0);
        innermost(depth);
        __asm__ volatile("");
}

__attribute__((noinline)) static void outer(uint32_t depth)
{
        return_addresses[2] = __builtin_return_address(0);
        middle(depth);
        __asm__ volatile("");
}

static uint64_t word_at(const uint8_t *words, size_t i)
{
        uint64_t word;

        memcpy(&word, words + i * sizeof(word), sizeof(word));
        return word;
}

/* loop test: asked for by the program or by the recorder */
START_LOOP_TEST(test_own_stack, 0, 2)
{
        const struct client_event *e;

        own_recording_open((uint32_t)getpid(),
                           CLIENT_ABI_FAMILY_ZONES |
                                   (_i ? CLIENT_ABI_FAMILY_ZONES << CLIENT_ABI_CALLSTACK_SHIFT : 0));
        outer(_i ? 0 : 64);
        hyprof_zone_end(zone);
        own_recording_drain();
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 0);
        ck_assert_uint_ge(e->prefix.n_frames, 4);
        /* The first one is in innermost(), after its call of the library. */
        ck_assert_uint_gt(word_at(e->prefix.frames, 0), (uint64_t)(uintptr_t)innermost);
        ck_assert_uint_lt(word_at(e->prefix.frames, 0), (uint64_t)(uintptr_t)innermost + 4096);
        for (size_t i = 0; i < 3; i++)
                ck_assert_uint_eq(word_at(e->prefix.frames, i + 1), (uint64_t)(uintptr_t)return_addresses[i]);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
}
END_TEST

/* The sanitizers begin threads themselves, below the C library. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
static void *run_outer(void *unused)
{
        outer(64);
        hyprof_zone_end(zone);
        __asm__ volatile("");
        return unused;
}

/* The chain of a thread leads to the C library's start of threads: nothing has to be copied. */
START_TEST(test_a_whole_thread)
{
        const struct client_event *e;
        pthread_t thread;

        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILY_ZONES);
        ck_assert_int_eq(pthread_create(&thread, NULL, run_outer, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        own_recording_drain();
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 0);
        ck_assert_uint_eq(e->prefix.n_frames, 5);
        ck_assert_uint_eq(e->prefix.stack_bytes, 0);
}
END_TEST
#endif

START_TEST(test_depth_is_kept)
{
        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILY_ZONES);
        outer(2);
        hyprof_zone_end(zone);
        outer(0);
        hyprof_zone_end(zone);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 0)->prefix.n_frames, 2);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 1)->prefix.n_frames, 0);
}
END_TEST

#ifdef __x86_64__
#define NO_FRAME UINT64_C(0x700)

/* Values that a function without a frame pointer may leave in its register. */
__attribute__((noinline)) static void begin_without_frame(void)
{
        hyprof_zone (*begin)(struct hyprof_location *, uint32_t) = hyprof_emit_zone_begin_callstack;
        uint64_t result = 64;

        __asm__ volatile("mov %%rsp, %%rbx\n\t"
                         "mov %%rbp, %%r12\n\t"
                         "mov $0x700, %%ebp\n\t"
                         "sub $128, %%rsp\n\t" /* the red zone */
                         "and $-16, %%rsp\n\t"
                         "call *%%rax\n\t"
                         "mov %%rbx, %%rsp\n\t"
                         "mov %%r12, %%rbp"
                         : "+a"(begin), "+S"(result)
                         : "D"(&here)
                         : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
        zone = (hyprof_zone)(uintptr_t)begin;
}

START_TEST(test_copy_of_own_stack)
{
        const struct client_event *e;

        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILY_ZONES);
        begin_without_frame();
        hyprof_zone_end(zone);
        own_recording_drain();
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 0);
        ck_assert_uint_eq(e->prefix.n_frames, 0);
        ck_assert_uint_gt(e->prefix.stack_bytes, CLIENT_ABI_STACK_COPY_HEADER_BYTES + 500);
        ck_assert_uint_gt(word_at(e->prefix.stack, 0), (uint64_t)(uintptr_t)begin_without_frame);
        ck_assert_uint_lt(word_at(e->prefix.stack, 0), (uint64_t)(uintptr_t)begin_without_frame + 4096);
        ck_assert_uint_eq(word_at(e->prefix.stack, 2), NO_FRAME);
}
END_TEST
#endif

static void begin(int argc, char **argv)
{
        (void)argc, (void)argv;
        if (!CALLSTACK_IS_KNOWN)
                unit_test_skip_all("hardware: callstacks are not known here");
}

UNIT_TEST_PLAN(.begin = begin, .teardown = own_recording_close);
