/* SPDX-License-Identifier: MIT */
/*
 * How to follow frame pointers that may be anything
 *
 * A function that was built without a frame pointer uses the register for something else.  Its value may then
 * look like a frame's address, and following it must never crash the program.  So only memory is read that is
 * known to be readable: a range [stack_low, stack_high) of the thread's stack that grows upwards, page by
 * page, when a frame lies beyond it.  A page is asked for by a system call that reads from it and fails in
 * any case, with one of two errors.  Once known, the pages of a stack cost a compare.  When the stack pointer
 * is outside of the range, the thread is on another stack, or deeper than ever, and the range begins anew.
 *
 * Frames must go upwards and be aligned.  A chain that breaks among the first
 * few frames says that their functions have none: then a copy of the top of the
 * stack goes into the ring instead.  One that breaks later has come to the
 * outermost functions, those of the C library, which rarely keep one.
 */
#include "instrument/client/callstack.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES   UINT64_C(4096) /* larger ones consist of these */
#define REACH_BYTES  (UINT64_C(8) << 20)
#define RECORD_BYTES UINT64_C(16)
#define N_PLAUSIBLE  3 /* frames; a chain that breaks earlier was none */
#define COPY_MAX     CLIENT_ABI_STACK_COPY_BYTES_MAX

/* The kernel copies the signal set before it finds that there is no such operation. */
static bool is_readable(uintptr_t page)
{
        int saved_errno = errno;
        bool readable = syscall(SYS_rt_sigprocmask, ~0, page, NULL, sizeof(uint64_t)) < 0 && errno == EINVAL;

        errno = saved_errno;
        return readable;
}

/* Raises the readable range to @end if all pages up to there are; else to where it ends. */
static bool callstack_reach(struct thread_ring *t, uintptr_t end)
{
        while (t->stack_high < end) {
                if (!is_readable(t->stack_high))
                        return false;
                t->stack_high += PAGE_BYTES;
        }
        return true;
}

/* The range holds the record of the function that runs: there it can begin. */
static void callstack_find_stack(struct thread_ring *t, uintptr_t record)
{
        if (record >= t->stack_low && record + RECORD_BYTES <= t->stack_high)
                return;
        t->stack_low = record & ~(PAGE_BYTES - 1);
        t->stack_high = (record + RECORD_BYTES + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* True if the frame that @record says it was called from lies where it can: then it may be read. */
static bool is_plausible(struct thread_ring *t, uintptr_t bottom, uintptr_t record, uintptr_t next)
{
        if (next <= record || next % sizeof(uintptr_t) != 0 || next - bottom > REACH_BYTES)
                return false;
        return callstack_reach(t, next + RECORD_BYTES);
}

static const uint64_t *words_at(uintptr_t address)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what a frame pointer is */
        return (const uint64_t *)address;
}

/* Sanitizers must not look: what lies on a stack, between its variables, is theirs. */
#define ANY_MEMORY __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

/* Returns true if the chain ended where a chain can end, or is long enough. */
static ANY_MEMORY bool callstack_follow(struct thread_ring *t, struct callstack *c, uintptr_t bottom,
                                        uint32_t depth_max)
{
        uintptr_t record = bottom;

        for (;;) {
                const uint64_t *words = words_at(record); /* the caller's frame address, return address */
                uint64_t code = CALLSTACK_ADDRESS(words[1]);
                uintptr_t next = (uintptr_t)words[0] + (uintptr_t)CALLSTACK_RECORD_AT;

                if (code == 0)
                        return true;
                c->frames[c->n_frames++] = code;
                if (c->n_frames == depth_max || words[0] == 0)
                        return true;
                if (!is_plausible(t, bottom, record, next))
                        return c->n_frames >= N_PLAUSIBLE;
                record = next;
        }
}

/* The stack from the caller's on, as far as it is readable and a small ring can bear. */
static ANY_MEMORY void note_stack(struct thread_ring *t, struct callstack *c, struct callstack_origin from)
{
        const uint64_t *record = words_at(from.frame + (uintptr_t)CALLSTACK_RECORD_AT);
        uint64_t n = (t->mask + 1) / 4;

        if (n > COPY_MAX)
                n = COPY_MAX;
        (void)callstack_reach(t, from.caller_sp + n);
        if (from.caller_sp >= t->stack_high)
                return;
        if (n > t->stack_high - from.caller_sp)
                n = t->stack_high - from.caller_sp;
        c->stack_bytes = (uint32_t)(n & ~(uint64_t)(CLIENT_ABI_WORD_BYTES - 1));
        c->registers[0] = CALLSTACK_ADDRESS(record[1]);
        c->registers[1] = from.caller_sp;
        c->registers[2] = record[0];
}

void callstack_walk(struct callstack *ret, struct callstack_origin from, uint32_t depth_max)
{
        struct thread_ring *t = &thread_ring_self;
        uintptr_t bottom = from.frame + (uintptr_t)CALLSTACK_RECORD_AT;
        uint32_t n_wanted = depth_max < CLIENT_ABI_CALLSTACK_FRAMES_MAX ? depth_max
                                                                        : CLIENT_ABI_CALLSTACK_FRAMES_MAX;

        ret->n_frames = 0;
        ret->stack_bytes = 0;
        if (!CALLSTACK_IS_KNOWN || n_wanted == 0)
                return;
        callstack_find_stack(t, bottom);
        if (callstack_follow(t, ret, bottom, n_wanted) && (ret->n_frames >= 2 || n_wanted == 1))
                return;
        if (from.caller_sp == 0)
                return; /* then the frames that were found must do */
        note_stack(t, ret, from);
        if (ret->stack_bytes > 0)
                ret->n_frames = 0;
}

size_t callstack_room(const struct callstack *c)
{
        if (c->stack_bytes > 0)
                return THREAD_RING_EVENT_BYTES + CLIENT_ABI_STACK_COPY_HEADER_BYTES + c->stack_bytes;
        if (c->n_frames > 0)
                return THREAD_RING_EVENT_BYTES + c->n_frames * sizeof(uint64_t);
        return 0;
}

static ANY_MEMORY void callstack_put_words(struct thread_ring *t, const uint64_t *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                thread_ring_put_word(t, words[i]);
}

void callstack_put(struct thread_ring *t, uint64_t ticks, const struct callstack *c)
{
        if (c->stack_bytes > 0) {
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_STACK_COPY,
                                      CLIENT_ABI_STACK_COPY_HEADER_BYTES + c->stack_bytes);
                callstack_put_words(t, c->registers, sizeof(c->registers) / sizeof(c->registers[0]));
                callstack_put_words(t, words_at(c->registers[1]), c->stack_bytes / sizeof(uint64_t));
        } else if (c->n_frames > 0) {
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_CALLSTACK,
                                      c->n_frames * (uint32_t)sizeof(uint64_t));
                callstack_put_words(t, c->frames, c->n_frames);
        }
}
