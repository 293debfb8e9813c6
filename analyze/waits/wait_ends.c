/* SPDX-License-Identifier: MIT */
#include "analyze/waits/wait_ends.h"

#include "analyze/walk/trace_walk.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <stdlib.h>

/* Frames of a call stack that are looked at, from the innermost on. */
#define FRAMES_MAX 32

enum mark {
        MARK_SEEN = 1,
        MARK_TIMER = 2,
        MARK_DISK = 4,
        MARK_NETWORK = 8,
        MARK_FUTEX = 16,
        MARK_LOCK = 32,
};

/* How names of functions begin, of the kernel or of programs. */
struct mark_names {
        enum mark mark;
        bool is_kernel;
        const char *const *beginnings;
};

static const char *const timer_names[] = { "do_nanosleep", "hrtimer_nanosleep", "do_sigtimedwait", NULL };
static const char *const disk_names[] = { "io_schedule",
                                          "blk_",
                                          "submit_bio_wait",
                                          "folio_wait",
                                          "jbd2_",
                                          "wait_on_buffer",
                                          "wait_on_page",
                                          "ext4_",
                                          "xfs_",
                                          "btrfs_",
                                          "__bread",
                                          "bdev_",
                                          "aio_",
                                          "wait_for_completion_io",
                                          "rq_qos_wait",
                                          "swap_read",
                                          NULL };
static const char *const network_names[] = { "sk_wait_data", "inet_csk_accept", "sk_stream_wait",      "tcp_",
                                             "udp_",         "inet_wait",       "__skb_wait_for_more", NULL };
static const char *const futex_names[] = { "futex_wait", "__futex_wait", "futex_do_wait", NULL };
static const char *const lock_names[] = {
        "pthread_mutex_", "__pthread_mutex_", "___pthread_mutex_", "__GI___pthread_mutex_", "__lll_lock_wait",
        "lll_mutex_lock", "pthread_rwlock_",  "__pthread_rwlock_", "___pthread_rwlock_",    NULL
};
static const char *const kernel_lock_names[] = { "rwsem_down",    "__mutex_lock", "mutex_lock",
                                                 "down_write",    "down_read",    "__down_",
                                                 "futex_lock_pi", "__rt_mutex_",  NULL };

static const struct mark_names marks[] = {
        { MARK_TIMER, true, timer_names },      { MARK_DISK, true, disk_names },
        { MARK_NETWORK, true, network_names },  { MARK_FUTEX, true, futex_names },
        { MARK_LOCK, true, kernel_lock_names }, { MARK_LOCK, false, lock_names },
};

const char *wait_end_word(enum wait_end_kind kind)
{
        static const char *const words[] = {
                [WAIT_END_UNKNOWN] = "unknown",     [WAIT_END_THREAD] = "thread",
                [WAIT_END_PROGRAM] = "unrecorded",  [WAIT_END_TIMER] = "timer",
                [WAIT_END_DISK] = "disk",           [WAIT_END_NETWORK] = "network",
                [WAIT_END_INTERRUPT] = "interrupt",
        };

        return words[kind];
}

int wait_ends_init(struct wait_ends *e, const struct trace_dictionary *dictionary)
{
        *e = (struct wait_ends){ .dictionary = dictionary };
        e->n_stacks = trace_dictionary_count(dictionary, TRACE_TABLE_STACKS);
        e->first_symbols = trace_dictionary_find_symbols(dictionary);
        e->marks = calloc((size_t)e->n_stacks + 1, sizeof(*e->marks));
        e->n_threads = trace_dictionary_count(dictionary, TRACE_TABLE_THREADS);
        e->senders = calloc((size_t)e->n_threads + 1, sizeof(*e->senders));
        if (interrupt_kinds_init(&e->interrupts, dictionary) < 0)
                return -ENOMEM;
        return e->first_symbols && e->marks && e->senders ? 0 : -ENOMEM;
}

void wait_ends_deinit(struct wait_ends *e)
{
        interrupt_kinds_deinit(&e->interrupts);
        free(e->first_symbols);
        free(e->marks);
        free(e->senders);
        *e = (struct wait_ends){ .marks = NULL };
}

static unsigned marks_of_frame(const struct wait_ends *e, uint32_t frame)
{
        bool is_kernel = trace_dictionary_is_kernel_frame(e->dictionary, frame);
        const struct trace_symbol *symbol;
        struct text_view name;
        unsigned found = 0;

        if (e->first_symbols[frame] == 0)
                return 0;
        symbol = trace_dictionary_row(e->dictionary, TRACE_TABLE_SYMBOLS, e->first_symbols[frame]);
        name = trace_dictionary_text(e->dictionary, symbol->function);
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
                if (marks[i].is_kernel == is_kernel && text_view_begins_with_any(name, marks[i].beginnings))
                        found |= marks[i].mark;
        return found;
}

static unsigned marks_of_stack(struct wait_ends *e, uint32_t stack)
{
        uint32_t at = stack;

        if (stack == 0 || stack > e->n_stacks)
                return 0;
        if (e->marks[stack] == 0) {
                unsigned found = MARK_SEEN;

                for (int i = 0; i < FRAMES_MAX && at != 0; i++) {
                        const struct trace_stack *row = trace_dictionary_row(e->dictionary,
                                                                             TRACE_TABLE_STACKS, at);

                        found |= marks_of_frame(e, row->frame);
                        at = row->parent;
                }
                e->marks[stack] = (uint16_t)found;
        }
        return e->marks[stack];
}

bool wait_ends_is_lock(struct wait_ends *e, uint32_t stack)
{
        return (marks_of_stack(e, stack) & MARK_LOCK) != 0;
}

bool wait_ends_is_softirq(const struct trace_dictionary *d, uint32_t waker_name)
{
        return waker_name != 0 && text_view_begins_with(trace_dictionary_text(d, waker_name), "ksoftirqd/");
}

bool wait_ends_is_mover(const struct trace_dictionary *d, uint32_t waker_name)
{
        return waker_name != 0 && text_view_begins_with(trace_dictionary_text(d, waker_name), "migration/");
}

static enum wait_end_kind kind_of_place(struct wait_ends *e, uint32_t stack)
{
        unsigned found = marks_of_stack(e, stack);

        if (found & MARK_TIMER)
                return WAIT_END_TIMER;
        if (found & MARK_DISK)
                return WAIT_END_DISK;
        return found & MARK_NETWORK ? WAIT_END_NETWORK : WAIT_END_UNKNOWN;
}

enum interrupt_kind wait_ends_softirq_kind(struct wait_ends *e, uint32_t waker_stack, uint32_t stack)
{
        enum interrupt_kind kind = interrupt_kinds_find(&e->interrupts, waker_stack);

        if (kind == INTERRUPT_SENDER) /* it sends for no one */
                return INTERRUPT_NETWORK;
        if (kind != INTERRUPT_UNKNOWN && kind != INTERRUPT_OTHER)
                return kind;
        switch (kind_of_place(e, stack)) {
        case WAIT_END_TIMER:
                return INTERRUPT_TIMER;
        case WAIT_END_DISK:
                return INTERRUPT_DISK;
        case WAIT_END_NETWORK:
                return INTERRUPT_NETWORK;
        case WAIT_END_UNKNOWN:
        case WAIT_END_THREAD:
        case WAIT_END_PROGRAM:
        case WAIT_END_INTERRUPT:
        case WAIT_END_KINDS:
                break;
        }
        return INTERRUPT_OTHER;
}

static enum wait_end_kind kind_by_stack(struct wait_ends *e, const struct thread_wait *wait)
{
        enum wait_end_kind place = kind_of_place(e, wait->stack);
        unsigned found = marks_of_stack(e, wait->stack);

        if (place != WAIT_END_UNKNOWN)
                return place;
        /* what wakes from a futex is a thread, or else the time that was given to the wait */
        if ((found & MARK_FUTEX) && wait->is_woken && wait->waker_thread == 0 && wait->waker_name == 0)
                return WAIT_END_TIMER;
        return WAIT_END_UNKNOWN;
}

static struct wait_end sent_by(struct wait_ends *e, uint32_t thread, uint32_t sender)
{
        if (thread <= e->n_threads)
                e->senders[thread] = sender;
        return (struct wait_end){ WAIT_END_THREAD, sender, true };
}

/*
 * Whether the thread below sent a packet once more, of which no call stack was recorded.  Two threads that
 * talk with each other do so more often than call stacks of wake-ups are recorded.
 */
static bool is_sent_again(struct wait_ends *e, uint32_t thread, const struct thread_wait *wait)
{
        enum wait_end_kind place = kind_by_stack(e, wait);

        return wait->is_woken && wait->waker_thread == 0 && wait->waker_name == 0 && wait->waker_stack == 0 &&
               wait->below != 0 && thread <= e->n_threads && e->senders[thread] == wait->below &&
               wait->state != TRACE_WAIT_UNINTERRUPTIBLE &&
               (place == WAIT_END_UNKNOWN || place == WAIT_END_NETWORK);
}

/* An interrupt woke the thread: which, by its own functions; false = they are not known. */
static bool find_interrupt(struct wait_ends *e, uint32_t thread, const struct thread_wait *wait,
                           struct wait_end *ret)
{
        *ret = (struct wait_end){ .kind = WAIT_END_UNKNOWN };
        switch (interrupt_kinds_find(&e->interrupts, wait->waker_stack)) {
        case INTERRUPT_TIMER:
                ret->kind = WAIT_END_TIMER;
                return true;
        case INTERRUPT_DISK:
                ret->kind = WAIT_END_DISK;
                return true;
        case INTERRUPT_NETWORK:
                ret->kind = WAIT_END_NETWORK;
                return true;
        case INTERRUPT_SENDER:
                *ret = wait->below != 0 && wait->below != thread
                               ? sent_by(e, thread, wait->below)
                               : (struct wait_end){ .kind = WAIT_END_NETWORK };
                return true;
        case INTERRUPT_OTHER:
                ret->kind = kind_by_stack(e, wait);
                if (ret->kind == WAIT_END_UNKNOWN)
                        ret->kind = WAIT_END_INTERRUPT;
                return true;
        case INTERRUPT_UNKNOWN:
        case INTERRUPT_KINDS:
                break;
        }
        return false;
}

/* The kernel's thread of softirqs woke the thread. */
static struct wait_end end_by_softirq(struct wait_ends *e, const struct thread_wait *wait)
{
        static const enum wait_end_kind kinds[] = {
                [INTERRUPT_UNKNOWN] = WAIT_END_INTERRUPT, [INTERRUPT_TIMER] = WAIT_END_TIMER,
                [INTERRUPT_DISK] = WAIT_END_DISK,         [INTERRUPT_NETWORK] = WAIT_END_NETWORK,
                [INTERRUPT_SENDER] = WAIT_END_NETWORK,    [INTERRUPT_OTHER] = WAIT_END_INTERRUPT,
        };

        return (struct wait_end){ .kind = kinds[wait_ends_softirq_kind(e, wait->waker_stack, wait->stack)] };
}

/*
 * Nothing was recorded but the state: an interrupt ended a sleep that signals do not end.  A program that
 * writes much to a disk has so many of them that most have no call stack.
 */
static bool is_like_disk(const struct thread_wait *wait, bool by_interrupt)
{
        return wait->is_woken && wait->state == TRACE_WAIT_UNINTERRUPTIBLE && wait->stack == 0 &&
               wait->waker_stack == 0 && by_interrupt;
}

struct wait_end wait_ends_find(struct wait_ends *e, uint32_t thread, const struct thread_wait *wait)
{
        struct wait_end end;

        if (wait->is_woken && wait_ends_is_softirq(e->dictionary, wait->waker_name)) {
                if (is_like_disk(wait, true))
                        return (struct wait_end){ .kind = WAIT_END_DISK };
                return end_by_softirq(e, wait);
        }
        if (wait->is_woken && wait->waker_thread != 0 && wait->waker_thread != thread)
                return (struct wait_end){ .kind = WAIT_END_THREAD, .thread = wait->waker_thread };
        if (wait->is_woken && wait->waker_thread == 0 && wait->waker_name == 0 &&
            find_interrupt(e, thread, wait, &end))
                return end;
        if (is_sent_again(e, thread, wait))
                return sent_by(e, thread, wait->below);
        end = (struct wait_end){ .kind = kind_by_stack(e, wait) };
        if (end.kind == WAIT_END_UNKNOWN &&
            is_like_disk(wait, wait->waker_thread == 0 && wait->waker_name == 0))
                end.kind = WAIT_END_DISK;
        /* a thread of the kernel does the disk's work */
        if (wait->is_woken && wait->waker_thread == 0 && wait->waker_name != 0 && end.kind != WAIT_END_DISK)
                end.kind = WAIT_END_PROGRAM;
        return end;
}
