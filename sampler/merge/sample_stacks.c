/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side_parts.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/syscall_names.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/python/python_frames.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ system calls in call stacks */

#define MODULE_NAME "[syscalls]"

/*
 * Adds the module of system calls, whose addresses are numbers of calls: no list of the kernel's symbols
 * has them.
 */
static int add_syscall_module(struct syscall_frames *f, struct trace_dictionary *d)
{
        struct trace_module row = { .kind = TRACE_MODULE_KERNEL, .generation = TRACE_MODULE_KERNEL_GONE };
        int r;

        if (f->module != 0)
                return 0;
        r = trace_dictionary_add_string(d, MODULE_NAME, strlen(MODULE_NAME), &row.path);
        return r < 0 ? r : trace_dictionary_add(d, TRACE_TABLE_MODULES, &row, &f->module);
}

static int add_syscall_frame(struct syscall_frames *f, struct trace_dictionary *d, uint32_t number)
{
        struct syscall_name name = syscall_names_find(number);
        struct trace_frame frame = { .offset = number };
        struct trace_symbol symbol = { .function = 0 };
        char words[sizeof(name.text) + 8];
        uint32_t id;
        int r = add_syscall_module(f, d);

        (void)snprintf(words, sizeof(words), "sys_%s", name.text);
        frame.module = f->module;
        if (r >= 0)
                r = trace_dictionary_add_string(d, words, strlen(words), &symbol.function);
        if (r >= 0)
                r = trace_dictionary_add(d, TRACE_TABLE_FRAMES, &frame, &symbol.frame);
        if (r >= 0)
                r = trace_dictionary_add(d, TRACE_TABLE_SYMBOLS, &symbol, &id);
        if (r >= 0)
                f->frames[number] = symbol.frame;
        return r;
}

int syscall_frames_find(struct syscall_frames *f, struct trace_dictionary *dictionary, uint32_t number,
                        uint32_t *ret_frame)
{
        int r = 0;

        number &= SYSCALL_NUMBERS - 1;
        if (f->frames[number] == 0)
                r = add_syscall_frame(f, dictionary, number);
        *ret_frame = f->frames[number];
        return r == -ENOMEM ? r : 0;
}

int syscall_frames_find_location(struct syscall_frames *f, struct trace_dictionary *dictionary,
                                 uint32_t number, uint32_t *ret_location)
{
        uint32_t *location = &f->locations[number & (SYSCALL_NUMBERS - 1)];
        struct trace_location row = { .line = 0 };
        struct syscall_name name;
        int r = 0;

        if (*location == 0) {
                name = syscall_names_find(number);
                r = trace_dictionary_add_string(dictionary, name.text, strlen(name.text), &row.name);
                row.function = row.name;
                if (r == 0)
                        r = trace_dictionary_add(dictionary, TRACE_TABLE_LOCATIONS, &row, location);
        }
        *ret_location = r == 0 ? *location : 0;
        return r == -ENOMEM ? r : 0;
}

/* Takes out the kernel's frames. */
static void leave_kernel(struct call_chain *chain)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < chain->n_frames; i++)
                if (!chain->frames[i].in_kernel)
                        chain->frames[n++] = chain->frames[i];
        chain->n_frames = n;
}

/* Makes *stack the stack of @frame called from it, if there is room.  Returns 0 or -ENOMEM. */
static int put_call(struct trace_dictionary *dictionary, uint32_t frame, uint32_t *stack)
{
        const struct trace_stack row = { .parent = *stack, .frame = frame };
        int r = trace_dictionary_add(dictionary, TRACE_TABLE_STACKS, &row, stack);

        return r == -ENOMEM ? r : 0;
}

/* ------------------------------------------------------------------ call stacks of samples */

int sample_stacks_build(struct kernel_side *s, const struct address_space *space,
                        struct thread_stack *ret_stack)
{
        python_frames_merge(s->recording->python, space, &s->chain);
        return sample_stacks_build_kernel(s, space, ret_stack);
}

int sample_stacks_build_kernel(struct kernel_side *s, const struct address_space *space,
                               struct thread_stack *ret_stack)
{
        int r = stack_builder_add(&s->stacks, space, &s->chain, &ret_stack->stack);

        ret_stack->state = s->chain.state;
        if (s->stacks.n_cut > 0) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_STACK_TABLE_FULL, s->stacks.n_cut);
                s->stacks.n_cut = 0;
                ret_stack->state = TRACE_STACK_TABLE_FULL;
        }
        return r;
}

int sample_stacks_add(struct kernel_side *s, const struct address_space *space, struct pending_event *pending)
{
        struct thread_stack at = { .stack = 0 };
        int r;

        if (pending->syscall != 0)
                leave_kernel(&s->chain);
        r = sample_stacks_build(s, space, &at);
        if (r == 0 && pending->syscall != 0)
                r = put_call(s->recording->dictionary, pending->syscall, &at.stack);
        pending->event.sample.stack = at.stack;
        pending->event.sample.state = at.state;
        return r;
}

/* Completes a sample that waited for its call stack, and the samples of its group that follow it. */
static int complete(struct kernel_side *s, const struct address_space *space, struct thread_track *thread,
                    size_t at)
{
        const struct trace_event *leader = &thread->pending[at].event;
        int r;

        python_frames_recall(s->recording->python, thread->tid, leader->time_ns);
        r = sample_stacks_add(s, space, &thread->pending[at]);

        thread->pending[at].cut = 0;
        for (at++; r == 0 && at < thread->n_pending && thread->pending[at].shares_place; at++) {
                thread->pending[at].event.sample.stack = leader->sample.stack;
                thread->pending[at].event.sample.state = leader->sample.state;
        }
        return r;
}

/* ---- stacks that are cut ------------------------------------------------------------------------------- */

int sample_stacks_close(struct kernel_side *s, struct thread_track *thread)
{
        size_t at = thread->n_pending;
        uint32_t cut;
        int r = 0;

        /* Cut stacks come back in the order of the pending events, from the newest on. */
        while (r == 0 && (cut = stack_unwinder_close(s->recording->unwinder, thread, &s->chain)) != 0) {
                while (at > 0 && thread->pending[at - 1].cut != cut)
                        at--;
                if (at > 0)
                        r = complete(s, &thread->process->space, thread, --at);
                else
                        at = thread->n_pending;
        }
        return r;
}

int sample_stacks_close_all(struct kernel_side *s, const struct process_track *process)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->recording->processes->n_listed; i++) {
                struct thread_track *thread = s->recording->processes->listed[i];

                if (thread->cuts.n_items == 0 || (process && thread->process != process))
                        continue;
                if (!process)
                        stack_unwinder_read_late(s->recording->unwinder, thread);
                r = sample_stacks_close(s, thread);
        }
        return r;
}

bool sample_stacks_may_wait_in(const struct kernel_side *s, const struct process_track *process,
                               uint64_t start_avma, uint64_t end_avma)
{
        for (size_t i = 0; i < s->recording->processes->n_listed; i++) {
                const struct thread_track *thread = s->recording->processes->listed[i];

                if (thread->process == process && cut_stacks_have_code(&thread->cuts, start_avma, end_avma))
                        return true;
        }
        return stack_unwinder_may_wait_in(s->recording->unwinder, process, start_avma, end_avma);
}

/* ---- stacks that wait for a table ---------------------------------------------------------------------- */

/* Finds the index of a sample among the pending events of its thread; n_pending if it is not there. */
static size_t find_pending(const struct thread_track *thread, uint64_t time_ns, uint32_t ticket)
{
        size_t low = 0, high = thread->n_pending;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (thread->pending[middle].event.time_ns >= time_ns)
                        high = middle;
                else
                        low = middle + 1;
        }
        while (low < thread->n_pending && thread->pending[low].event.time_ns == time_ns)
                if (thread->pending[low++].cut == ticket)
                        return low - 1;
        return thread->n_pending;
}

int sample_stacks_resume(struct kernel_side *s, const struct process_track *process, uint64_t now_ns)
{
        struct stack_unwinder_resumed resumed;
        int r = 0;

        while (stack_unwinder_resume(s->recording->unwinder, process, now_ns, &resumed, &s->chain)) {
                size_t at = find_pending(resumed.thread, resumed.time_ns, resumed.ticket);

                s->has_cuts |= resumed.is_cut;
                if (r == 0 && !resumed.is_cut && at < resumed.thread->n_pending)
                        r = complete(s, resumed.space, resumed.thread, at);
        }
        return r;
}
