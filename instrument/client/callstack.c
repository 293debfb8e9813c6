/* SPDX-License-Identifier: MIT */
/*
 * How to follow frame pointers that may be anything
 *
 * A function that was built without a frame pointer uses the register for something else.  Its value may
 * then look like a frame's address, and following it must never crash the program.  So the walk reads only
 * memory that is certain to be there: the thread's own stack, up to its end.  On another stack (a fiber's,
 * a signal handler's), only the rest of the page that contains the running function's frame is certain; the
 * kernel copies as much of the memory after that page as is there at that moment.  The client remembers
 * nothing about such a stack.
 *
 * Frames must go upwards and be aligned.  No value of a frame pointer marks the end of a chain: a loop
 * counter is 0 as well.  A chain is complete only if the last function was called by the C library's start
 * of the program or of a thread, or if it has as many frames as were asked for.  Otherwise the stack from
 * the last frame on goes into the ring as well, and the recorder continues the walk there.  A chain that
 * breaks among the first few frames shows that their functions have no frame pointers: then the whole top
 * of the stack is copied instead.
 */
#include "instrument/client/callstack.h"

#include "instrument/client/own_stack.h"

#include <pthread.h>
#include <stdbool.h>

#define RECORD_BYTES UINT64_C(16)
#define N_PLAUSIBLE  3 /* frames; a chain that breaks earlier is not believed */
#define COPY_MAX     CLIENT_ABI_STACK_COPY_BYTES_MAX

/* The part of a stack that is certain to be there, from the running function's frame on. */
struct certain_stack {
        uintptr_t high;
        bool is_own; /* there is no more than that */
};

static struct certain_stack find_certain(struct thread_ring *t, uintptr_t record)
{
        if (t->stack_high == 0) {
                struct own_stack own = own_stack_find();

                t->stack_low = own.low;
                t->stack_high = own.high;
        }
        if (record >= t->stack_low && record < t->stack_high && t->stack_high - record >= RECORD_BYTES)
                return (struct certain_stack){ .high = t->stack_high, .is_own = true };
        record += RECORD_BYTES + OWN_STACK_PAGE_BYTES - 1;
        return (struct certain_stack){ .high = record & ~(uintptr_t)(OWN_STACK_PAGE_BYTES - 1) };
}

/*
 * True if @next, to which the frame record @record points, lies where a frame record can lie: then it may be
 * read.
 */
static bool is_plausible(uintptr_t record, uintptr_t next, uintptr_t high)
{
        return next > record && next % sizeof(uintptr_t) == 0 && next < high && high - next >= RECORD_BYTES;
}

/*
 * The C library's functions that call main() and the first function of a thread have no name, but lie right
 * before a function that has one.  If such a function lies elsewhere, the only cost is a copy of the stack.
 */
#define NEAR_START_BYTES 1024
extern int __libc_start_main(void) __attribute__((weak)); /* NOLINT(readability-identifier-naming): libc's */
#pragma weak pthread_create

static bool is_just_before(uint64_t code, uint64_t function)
{
        return function != 0 && function - code < NEAR_START_BYTES;
}

static bool is_start(uint64_t code)
{
        return is_just_before(code, (uint64_t)(uintptr_t)__libc_start_main) ||
               is_just_before(code, (uint64_t)(uintptr_t)pthread_create);
}

static const uint64_t *words_at(uintptr_t address)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what a frame pointer is */
        return (const uint64_t *)address;
}

/*
 * Sanitizers must not check these functions: the memory between a stack's variables is the sanitizers' own.
 */
#define ANY_MEMORY __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

/*
 * Returns 0 if the frames found are all that exist, or all that are wanted; else the record of the last
 * one.
 */
static ANY_MEMORY uintptr_t follow(struct callstack *c, uintptr_t bottom, uintptr_t high, uint32_t depth_max)
{
        uintptr_t record = bottom, last = bottom;

        for (;;) {
                const uint64_t *words = words_at(record); /* the caller's frame address, return address */
                uint64_t code = CALLSTACK_ADDRESS(words[1]);
                uintptr_t next = (uintptr_t)words[0] + (uintptr_t)CALLSTACK_RECORD_AT;

                if (code == 0)
                        return last;
                c->frames[c->n_frames++] = code;
                if (c->n_frames == depth_max || is_start(code) || (CALLSTACK_ENDS_AT_0 && words[0] == 0))
                        return 0;
                last = record;
                if (!is_plausible(record, next, high))
                        return last;
                record = next;
        }
}

/*
 * Notes the stack from @sp on, to be copied; the frame record @record gives the program counter and the
 * frame pointer there.
 */
static ANY_MEMORY void note_stack(struct thread_ring *t, struct callstack *c,
                                  const struct certain_stack *stack, uintptr_t record, uintptr_t sp)
{
        uint64_t n = (t->mask + 1) / 4; /* a small ring can bear no more */
        uint64_t certain = sp < stack->high ? stack->high - sp : 0;

        if (n > COPY_MAX)
                n = COPY_MAX;
        if (certain > n)
                certain = n;
        c->has_copy = true;
        c->certain_bytes = (uint32_t)(certain & ~(uint64_t)(CLIENT_ABI_WORD_BYTES - 1));
        c->stack_bytes = stack->is_own ? c->certain_bytes
                                       : (uint32_t)(n & ~(uint64_t)(CLIENT_ABI_WORD_BYTES - 1));
        c->registers[0] = CALLSTACK_ADDRESS(words_at(record)[1]);
        c->registers[1] = sp;
        c->registers[2] = words_at(record)[0];
}

void callstack_walk(struct callstack *ret, struct callstack_origin from, uint32_t depth_max)
{
        struct thread_ring *t = &thread_ring_self;
        uintptr_t bottom = from.frame + (uintptr_t)CALLSTACK_RECORD_AT, last;
        uint32_t n_wanted = depth_max < CLIENT_ABI_CALLSTACK_FRAMES_MAX ? depth_max
                                                                        : CLIENT_ABI_CALLSTACK_FRAMES_MAX;
        struct certain_stack stack;

        ret->n_frames = 0;
        ret->stack_bytes = 0;
        ret->has_copy = false;
        if (!CALLSTACK_IS_KNOWN || n_wanted == 0)
                return;
        stack = find_certain(t, bottom);
        last = follow(ret, bottom, stack.high, n_wanted);
        if (last == 0)
                return;
        if (CALLSTACK_SP_AFTER(last) != 0 && ret->n_frames >= N_PLAUSIBLE) {
                note_stack(t, ret, &stack, last, CALLSTACK_SP_AFTER(last));
                return;
        }
        if (from.caller_sp == 0)
                return; /* only the frames that were found are kept */
        note_stack(t, ret, &stack, bottom, from.caller_sp);
        ret->n_frames = 0;
}

size_t callstack_room(const struct callstack *c)
{
        size_t n = 0;

        if (c->n_frames > 0)
                n += THREAD_RING_EVENT_BYTES + c->n_frames * sizeof(uint64_t);
        if (c->has_copy)
                n += THREAD_RING_EVENT_BYTES + CLIENT_ABI_STACK_COPY_HEADER_BYTES + c->stack_bytes;
        return n;
}

/*
 * Copies words without memcpy(), which sanitizers watch: the empty statements keep compilers from making a
 * call of it.
 */
static ANY_MEMORY void store_words(uint64_t *to, const uint64_t *from, size_t n)
{
        for (; n >= 4; n -= 4, to += 4, from += 4) {
                uint64_t a = from[0], b = from[1], c = from[2], d = from[3];

                __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
                to[0] = a;
                to[1] = b;
                to[2] = c;
                to[3] = d;
        }
        for (; n > 0; n--, to++, from++) {
                uint64_t word = *from;

                __asm__("" : "+r"(word));
                *to = word;
        }
}

static uint64_t bytes_to_end(const struct thread_ring *t, uint64_t at_bytes)
{
        return t->mask + 1 - (at_bytes & t->mask);
}

static void put_words(struct thread_ring *t, const uint64_t *words, size_t n)
{
        while (n > 0) {
                size_t part = bytes_to_end(t, t->head_bytes) / sizeof(*words);

                if (part > n)
                        part = n;
                store_words(&thread_ring_word_at(t->bytes, t->head_bytes & t->mask)->bits, words, part);
                t->head_bytes += part * sizeof(*words);
                words += part;
                n -= part;
        }
}

/*
 * Has the kernel copy the stack to where it will lie in the ring, before the words that say how long it is.
 * Returns how many bytes came.
 */
static size_t read_ahead(struct thread_ring *t, uint64_t ticks, const struct callstack *c)
{
        uint64_t at_bytes = t->head_bytes +
                            (thread_ring_is_near(t, ticks) ? UINT64_C(1) : UINT64_C(2)) *
                                    CLIENT_ABI_WORD_BYTES +
                            sizeof(c->registers);
        struct own_stack_room room = {
                .to = thread_ring_word_at(t->bytes, at_bytes & t->mask),
                .to_more = t->bytes,
                .to_bytes = bytes_to_end(t, at_bytes),
        };

        return own_stack_read(&room, c->registers[1], c->stack_bytes) & ~(size_t)(CLIENT_ABI_WORD_BYTES - 1);
}

static void put_copy(struct thread_ring *t, uint64_t ticks, const struct callstack *c)
{
        size_t n_ahead = c->stack_bytes > c->certain_bytes ? read_ahead(t, ticks, c) : 0;
        size_t n_bytes = n_ahead > 0 ? n_ahead : c->certain_bytes;

        thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_STACK_COPY,
                              CLIENT_ABI_STACK_COPY_HEADER_BYTES + (uint32_t)n_bytes);
        put_words(t, c->registers, sizeof(c->registers) / sizeof(c->registers[0]));
        if (n_ahead > 0)
                t->head_bytes += n_ahead;
        else
                put_words(t, words_at(c->registers[1]), n_bytes / sizeof(uint64_t));
}

void callstack_put(struct thread_ring *t, uint64_t ticks, const struct callstack *c)
{
        if (c->n_frames > 0) {
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_CALLSTACK,
                                      c->n_frames * (uint32_t)sizeof(uint64_t));
                put_words(t, c->frames, c->n_frames);
        }
        if (c->has_copy)
                put_copy(t, ticks, c);
}
