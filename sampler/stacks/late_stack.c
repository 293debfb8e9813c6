/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/late_stack.h"

#include "base/clock.h"
#include "sampler/pace/recorder_pace.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_rule.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

int late_stack_init(struct late_stack *l, struct recorder_pace *pace)
{
        *l = (struct late_stack){ .bytes = malloc(LATE_STACK_BYTES_MAX), .pace = pace };
        return l->bytes ? 0 : -ENOMEM;
}

void late_stack_deinit(struct late_stack *l)
{
        free(l->bytes);
        l->bytes = NULL;
}

static void spend(struct late_stack *l, uint64_t spent_ns)
{
        l->spent_ns += spent_ns;
        recorder_pace_spend(l->pace, PACED_LATE_STACKS, spent_ns);
}

bool late_stack_begin(struct late_stack *l, uint64_t start_avma, uint64_t now_ns)
{
        l->start_avma = start_avma;
        l->n_bytes = 0;
        l->began_ns = now_ns;
        return recorder_pace_left(l->pace, PACED_LATE_STACKS, now_ns) > 0;
}

/* One call, which may end early at unmapped memory.  Returns the number of bytes. */
static size_t read_memory(uint32_t tid, uint64_t avma, void *to, size_t n_bytes)
{
        struct iovec here = { .iov_base = to, .iov_len = n_bytes };
        struct iovec there = { .iov_len = n_bytes };
        ssize_t n;

        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process is only a number here */
        there.iov_base = (void *)(uintptr_t)avma;
        n = process_vm_readv((pid_t)tid, &here, 1, &there, 1, 0);
        return n > 0 ? (size_t)n : 0;
}

bool late_stack_read(struct late_stack *l, uint32_t tid, size_t n_bytes)
{
        size_t room = LATE_STACK_BYTES_MAX - l->n_bytes;
        size_t n = read_memory(tid, l->start_avma + l->n_bytes, l->bytes + l->n_bytes,
                               n_bytes < room ? n_bytes : room);

        l->n_bytes += n;
        l->n_read++;
        return n > 0;
}

void late_stack_move(struct late_stack *l, uint64_t start_avma)
{
        l->start_avma = start_avma;
        l->n_bytes = 0;
}

void late_stack_end(struct late_stack *l, uint64_t now_ns)
{
        spend(l, now_ns - l->began_ns);
}

size_t late_stack_read_code(struct late_stack *l, uint32_t tid, uint64_t avma, void *to, size_t n_bytes)
{
        uint64_t began_ns = clock_raw_ns();
        size_t n;

        if (recorder_pace_left(l->pace, PACED_LATE_STACKS, began_ns) == 0)
                return 0;
        n = read_memory(tid, avma, to, n_bytes);
        spend(l, clock_raw_ns() - began_ns);
        return n;
}

bool late_stack_look(uint32_t tid, uint64_t avma, uint64_t *ret_value)
{
        return read_memory(tid, avma, ret_value, sizeof(*ret_value)) == sizeof(*ret_value);
}

/* ------------------------------------------------------------------ windows */

#define FUNCTION_BYTES UINT64_C(8192) /* most are shorter */

/* All that is mapped from there on, which ends at the top of most stacks. */
static struct late_window *read_now(struct late_windows *w, struct late_stack *late, uint32_t tid,
                                    uint64_t start_avma)
{
        struct late_window *window = NULL;

        if (!late_stack_begin(late, start_avma, clock_raw_ns()))
                return NULL;
        if (late_stack_read(late, tid, LATE_STACK_BYTES_MAX) &&
            w->total_bytes + late->n_bytes <= LATE_WINDOW_BYTES_MAX)
                window = malloc(sizeof(*window) + late->n_bytes);
        if (window) {
                *window = (struct late_window){ .start_avma = start_avma,
                                                .n_bytes = late->n_bytes,
                                                .n_users = 1,
                                                .total_bytes = &w->total_bytes };
                memcpy(window->bytes, late->bytes, late->n_bytes);
                w->total_bytes += late->n_bytes;
        }
        late_stack_end(late, clock_raw_ns());
        return window;
}

void late_window_drop(struct late_window *window)
{
        if (!window || --window->n_users > 0)
                return;
        *window->total_bytes -= window->n_bytes;
        free(window);
}

void late_windows_deinit(struct late_windows *w)
{
        for (size_t i = 0; i < LATE_WINDOW_SLOTS; i++) {
                late_window_drop(w->slots[i].window);
                w->slots[i].window = NULL;
        }
}

struct late_window *late_windows_take(struct late_windows *w, struct late_stack *late, uint32_t tid,
                                      uint64_t start_avma)
{
        size_t slot = tid % LATE_WINDOW_SLOTS;
        struct late_window *window = w->slots[slot].window;
        uint64_t now_ns = clock_raw_ns();
        bool is_fresh = w->slots[slot].tid == tid && now_ns - w->slots[slot].read_ns < PACE_LATE_PERIOD_NS;

        /* A window that begins further out than this sample's stack lacks the calls that began since. */
        if (!is_fresh || (window && start_avma < window->start_avma)) {
                late_window_drop(window);
                window = read_now(w, late, tid, start_avma);
                w->slots[slot].window = window;
                w->slots[slot].tid = tid;
                w->slots[slot].read_ns = now_ns;
        }
        if (window)
                window->n_users++;
        return window;
}

static bool load(const struct late_window *window, uint64_t avma, uint64_t *ret_word)
{
        uint64_t at_bytes = avma - window->start_avma; /* below the window this is very large */

        if (window->n_bytes < sizeof(*ret_word) || at_bytes > window->n_bytes - sizeof(*ret_word))
                return false;
        memcpy(ret_word, window->bytes + at_bytes, sizeof(*ret_word));
        return true;
}

/* The rule of the code that a call returns to; NULL = there is none. */
static const struct unwind_rule *rule_after_call(const struct stack_walk_space *space, uint64_t return_avma)
{
        struct stack_walk_code code;

        return space->find(space->context, return_avma - 1, &code) && code.table
                       ? unwind_table_find(code.table, return_avma - 1 - code.bias)
                       : NULL;
}

/*
 * Unwind tables do not say where functions begin: two close places with the same rule count as one
 * function.
 */
static bool is_same_function(const struct stack_walk_space *space, uint64_t a_avma, uint64_t b_avma)
{
        const struct unwind_rule *a, *b;

        if (a_avma - b_avma + FUNCTION_BYTES > 2 * FUNCTION_BYTES)
                return false;
        a = rule_after_call(space, a_avma);
        b = rule_after_call(space, b_avma);
        return a && b && (a == b || memcmp(a, b, sizeof(*a)) == 0);
}

bool late_window_has_call(const struct late_window *window, const struct stack_walk *walk,
                          const struct stack_walk_space *space)
{
        uint32_t last = walk->n_frames - 1;
        uint64_t then_avma;

        /*
         * In the first frame the place of the return address is unknown; code that a signal interrupted
         * goes on after its handler.
         */
        if (last == 0 || walk->frames[last].is_exact)
                return true;
        return load(window, walk->frames[last - 1].cfa_avma - sizeof(then_avma), &then_avma) &&
               (then_avma == walk->frames[last].pc_avma ||
                is_same_function(space, then_avma, walk->frames[last].pc_avma));
}
