/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side_parts.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/events/event_spec.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_gil.h"
#include "sampler/python/python_source.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <string.h>

#define CPUS_MAX 65536

static int queue(struct kernel_side *s, struct thread_track *thread, struct trace_event event)
{
        struct pending_event pending = { .event = event };

        return process_table_add_pending(s->recording->processes, thread, &pending);
}

/* Where a thread stood, and when. */
struct wait_copy {
        const struct raw_stack *raw; /* borrowed */
        uint32_t cpu;
        uint64_t time_ns;
};

/* Makes a call stack of the copy, and notes it in @last; for an empty copy, the stack is 0. */
static int make_stack(struct kernel_side *s, struct thread_track *thread, const struct wait_copy *copy,
                      struct thread_stack *last, struct thread_stack *ret_stack)
{
        const struct python_sample_key key = {
                .pid = thread->process->pid, .tid = thread->tid, .cpu = copy->cpu, .time_ns = copy->time_ns
        };
        int r;

        *ret_stack = (struct thread_stack){ .stack = 0 };
        if (!copy->raw->chain && !copy->raw->registers)
                return 0;
        r = python_frames_take(s->recording->python, &key, PYTHON_FLAG_SWITCH, copy->raw);
        if (r < 0)
                return r;
        stack_unwinder_run(s->recording->unwinder, copy->raw, thread, copy->time_ns, &s->chain);
        r = sample_stacks_build(s, &thread->process->space, ret_stack);
        *last = *ret_stack;
        return r;
}

/* Takes a sample of perf's context-switches; the record of the switch itself comes next. */
int wait_records_take_sample(struct kernel_side *s, const struct perf_record *rec)
{
        const struct wait_copy copy = { &rec->sample.stack, rec->cpu, rec->time_ns };
        struct thread_track *thread;
        struct thread_stack at;
        int r = kernel_side_find_thread(s, rec, &thread);

        if (r < 0 || !thread)
                return r;
        thread->waits_by_sample = true;
        return make_stack(s, thread, &copy, &thread->waited_at, &at);
}

/*
 * Adds an unseen switch: a thread that leaves a CPU twice came back in between.  Some kernels report
 * nothing while certain threads run, such as those of a hypervisor, so the switch from them to one of our
 * threads is missing.  The scheduler knows for how long the thread has run.
 */
static int add_unseen(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_SWITCH_IN, .time_ns = rec->time_ns };
        uint64_t ran_ns = rec->context_switch.ran_ns;

        if (thread->out_ns == 0 || thread->out_ns >= rec->time_ns)
                return 0;
        event.time_ns -= ran_ns < rec->time_ns - thread->out_ns ? ran_ns : rec->time_ns - thread->out_ns;
        event.switch_in.cpu = rec->cpu;
        loss_counter_add(s->recording->losses, TRACE_LOSS_SWITCHES_UNSEEN, 1);
        return queue(s, thread, event);
}

/* The thread that is known to have come onto a CPU last; NULL if none is known. */
static struct thread_track *who_is_on(const struct kernel_side *s, uint32_t cpu)
{
        struct thread_track *thread = cpu < s->n_on_cpus && s->on_cpus[cpu] != 0
                                              ? process_table_find_thread(s->recording->processes,
                                                                          s->on_cpus[cpu])
                                              : NULL;

        return thread && thread->in_ns != 0 && thread->in_cpu == cpu && !thread->exits ? thread : NULL;
}

/* Notes which thread is on the CPU of a switch from now on, and which CPU the thread is on. */
static int note_place(struct kernel_side *s, const struct perf_record *rec, struct thread_track *thread)
{
        uint32_t cpu = rec->cpu, tid = rec->context_switch.out ? 0 : rec->tid;
        size_t n = s->n_on_cpus;

        thread->in_ns = tid != 0 ? rec->time_ns : 0;
        thread->in_cpu = cpu;
        if (cpu >= CPUS_MAX)
                return 0;
        if (cpu >= n) {
                if (array_reserve(&s->on_cpus, &s->n_on_cpus, (size_t)cpu + 1, sizeof(*s->on_cpus)) < 0)
                        return -ENOMEM;
                memset(s->on_cpus + n, 0, (s->n_on_cpus - n) * sizeof(*s->on_cpus));
        }
        s->on_cpus[cpu] = tid;
        return 0;
}

/*
 * Adds the switch away from the CPU that was not reported for @thread.  It happened after @ran_ns on the CPU,
 * if that is not 0, and at @until_ns at the latest.
 */
static int add_unseen_out(struct kernel_side *s, struct thread_track *thread, uint64_t until_ns,
                          uint64_t ran_ns)
{
        struct trace_event event = { .op = TRACE_OP_SWITCH_OUT, .time_ns = thread->in_ns };

        if (until_ns > thread->in_ns)
                event.time_ns += ran_ns != 0 && ran_ns < until_ns - thread->in_ns ? ran_ns
                                                                                  : until_ns - thread->in_ns;
        event.switch_out.cpu = thread->in_cpu;
        thread->in_ns = 0;
        if (s->recording->switches)
                thread->out_ns = event.time_ns;
        loss_counter_add(s->recording->losses, TRACE_LOSS_SWITCHES_UNSEEN, 1);
        return queue(s, thread, event);
}

/* A CPU has one thread, and a thread one CPU: @rec ends earlier states that contradict it. */
static int end_others(struct kernel_side *s, const struct perf_record *rec, struct thread_track *thread)
{
        uint64_t ran_ns = rec->context_switch.out ? rec->context_switch.ran_ns : 0;
        uint64_t since_ns = rec->time_ns > ran_ns ? rec->time_ns - ran_ns : 0;
        struct thread_track *other = who_is_on(s, rec->cpu);
        bool stays = rec->context_switch.out && thread->in_cpu == rec->cpu;
        int r = 0;

        if (other && other != thread)
                r = add_unseen_out(s, other, since_ns, 0);
        if (r == 0 && thread->in_ns != 0 && !stays)
                r = add_unseen_out(s, thread, since_ns, 0);
        return r;
}

/* Takes a switch that BPF inferred: another thread left the CPU that this thread had come onto. */
static int take_unseen_out(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread = who_is_on(s, rec->cpu);
        uint64_t until_ns = rec->time_ns - rec->context_switch.other_ran_ns;

        if (!thread || thread->tid != rec->tid)
                return 0;
        return add_unseen_out(s, thread, until_ns <= rec->time_ns ? until_ns : 0, rec->context_switch.ran_ns);
}

/* Finds the call stack at which a thread that leaves its CPU waits. */
static int find_stack(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec,
                      struct thread_stack *ret_stack)
{
        const struct wait_copy copy = { &rec->context_switch.stack, rec->cpu, rec->time_ns };
        int r;

        if (thread->waits_by_sample) {
                if (!rec->context_switch.preempted)
                        *ret_stack = thread->waited_at;
                thread->waits_by_sample = false;
                return 0;
        }
        r = make_stack(s, thread, &copy, &thread->waited_at, ret_stack);
        if (rec->context_switch.same_stack)
                *ret_stack = thread->waited_at;
        return r;
}

/* Who has the CPU of a thread that could have run on. */
static uint64_t successor_of(const struct kernel_side *s, const struct perf_record *rec)
{
        const struct thread_track *next;

        if (!rec->context_switch.preempted || !rec->context_switch.is_other_known)
                return TRACE_SUCCESSOR_UNKNOWN;
        if (rec->context_switch.other_tid == 0)
                return TRACE_SUCCESSOR_IDLE;
        next = process_table_find_thread(s->recording->processes, rec->context_switch.other_tid);
        return next && next->process->pid == rec->context_switch.other_pid
                       ? TRACE_SUCCESSOR_OTHER + (uint64_t)next->thread
                       : TRACE_SUCCESSOR_OTHER;
}

/* For how long the CPU of a thread that comes was idle, since the recording began at most. */
static uint64_t idle_ns_of(const struct kernel_side *s, const struct perf_record *rec)
{
        uint64_t start_ns = s->recording->start_ns;
        uint64_t elapsed_ns = rec->time_ns > start_ns ? rec->time_ns - start_ns : 0;

        return rec->context_switch.idle_ns < elapsed_ns ? rec->context_switch.idle_ns : elapsed_ns;
}

int wait_records_take_switch(struct kernel_side *s, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_SWITCH_IN, .time_ns = rec->time_ns };
        struct thread_stack at = { .stack = 0 };
        struct thread_track *thread;
        int r;

        if (rec->context_switch.unseen)
                return take_unseen_out(s, rec);
        r = kernel_side_find_thread(s, rec, &thread);
        if (r < 0 || !thread || ((s->recording->cpu_wide || s->recording->switches) && thread->exits))
                return r;
        if (!rec->context_switch.was_out) {
                r = end_others(s, rec, thread);
                if (r == 0)
                        r = note_place(s, rec, thread);
        }
        if (r < 0)
                return r;
        if (rec->context_switch.out)
                r = find_stack(s, thread, rec, &at);
        if (r == 0 && s->recording->switches) {
                if (rec->context_switch.out)
                        r = add_unseen(s, thread, rec);
                thread->out_ns = rec->context_switch.out ? rec->time_ns : 0;
        }
        if (rec->context_switch.out) {
                event.op = TRACE_OP_SWITCH_OUT;
                event.switch_out.cpu = rec->cpu;
                event.switch_out.preempted = rec->context_switch.preempted;
                event.switch_out.wait = rec->context_switch.wait;
                event.switch_out.stack = at.stack;
                event.switch_out.stack_state = at.state;
                event.switch_out.successor = successor_of(s, rec);
        } else {
                event.switch_in.cpu = rec->cpu;
                event.switch_in.idle_ns = idle_ns_of(s, rec);
        }
        s->n_switches++;
        if (r == 0)
                r = queue(s, thread, event);
        return r < 0 ? r : python_gil_switch(s->recording->gil, thread, rec);
}

/* Finds the switch that brought a thread back, if that switch is not written yet. */
static struct trace_event *find_return(const struct thread_track *thread, uint64_t time_ns)
{
        for (size_t i = thread->n_pending; i-- > 0;) {
                struct trace_event *event = &thread->pending[i].event;

                if (event->op == TRACE_OP_SWITCH_IN)
                        return time_ns - event->time_ns < PACE_WAITS_LATE_NS ? event : NULL;
        }
        return NULL;
}

int wait_records_take_late(struct kernel_side *s, const struct perf_record *rec)
{
        const struct wait_copy copy = { &rec->late_stack, rec->cpu, rec->time_ns };
        struct thread_track *thread;
        struct trace_event *event;
        struct thread_stack at;
        int r = kernel_side_find_thread(s, rec, &thread);

        if (r < 0 || !thread || (event = find_return(thread, rec->time_ns)) == NULL)
                return r;
        /* by "same stack", BPF means a stack that it copied at a switch */
        r = make_stack(s, thread, &copy, &at, &at);
        event->switch_in.stack = at.stack;
        event->switch_in.stack_state = at.state;
        return r;
}

/* Takes a wait for the GIL; the thread's switch comes next. */
int wait_records_take_gil(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread;
        int r = kernel_side_find_thread(s, rec, &thread);

        return r < 0 || !thread || thread->exits ? r : python_gil_wait(s->recording->gil, thread, rec);
}

static void put_stack(const struct thread_stack *at, struct trace_event *event)
{
        event->wakeup.stack = at->stack;
        event->wakeup.stack_state = at->state;
}

/* A waker, or who was interrupted. */
struct waker {
        struct thread_track *track; /* NULL = not recorded, or forgotten after its end */
        uint32_t thread;            /* id in THREADS; 0 = not recorded */
        uint32_t name;              /* string; 0 = unknown */
};

/* The last thing that an ending thread does is to wake its parent, or who waits to join it. */
static struct waker find_waker(const struct kernel_side *s, const struct perf_record *rec)
{
        uint32_t pid = rec->wakeup.waker_pid, tid = rec->wakeup.waker_tid;
        struct thread_track *track = tid != 0 ? process_table_find_thread(s->recording->processes, tid)
                                              : NULL;
        const struct ended_thread *ended;

        if (track && track->process->pid == pid)
                return (struct waker){ .track = track, .thread = track->thread, .name = track->name };
        ended = process_table_find_ended(s->recording->processes, pid, tid, rec->time_ns);
        return ended ? (struct waker){ .thread = ended->thread, .name = ended->name }
                     : (struct waker){ .thread = 0 };
}

/*
 * Makes a call stack of the kernel's functions alone: those of the program belong to the thread that was
 * interrupted.
 */
static int make_kernel_stack(struct kernel_side *s, const struct raw_stack *raw,
                             const struct address_space *space, struct thread_stack *ret_stack)
{
        *ret_stack = (struct thread_stack){ .stack = 0 };
        unwind_frame_pointer_run_kernel(raw, &s->chain);
        if (s->chain.n_frames == 0)
                return 0;
        if (s->chain.state == TRACE_STACK_FRAME_POINTERS)
                s->chain.state = TRACE_STACK_COMPLETE;
        return sample_stacks_build_kernel(s, space, ret_stack);
}

static int describe_interrupt(struct kernel_side *s, struct thread_track *thread,
                              const struct perf_record *rec, struct trace_event *event)
{
        struct thread_stack at = { .stack = 0 };
        int r = 0;

        if (rec->wakeup.stack.chain) {
                r = make_kernel_stack(s, &rec->wakeup.stack, &thread->process->space, &at);
                thread->interrupted_by = at;
        } else if (rec->wakeup.same_stack) {
                at = thread->interrupted_by;
        }
        event->wakeup.below = find_waker(s, rec).thread;
        put_stack(&at, event);
        return r;
}

static int describe_waker(struct kernel_side *s, const struct perf_record *rec, struct trace_event *event)
{
        const struct wait_copy copy = { &rec->wakeup.stack, rec->cpu, rec->time_ns };
        const char *name = rec->wakeup.waker_name;
        struct waker waker = find_waker(s, rec);
        struct thread_stack at;
        uint32_t name_id = 0;
        int r = 0;

        event->wakeup.waker = waker.thread;
        if (waker.track) {
                r = make_stack(s, waker.track, &copy, &waker.track->woke_at, &at);
                if (rec->wakeup.same_stack)
                        at = waker.track->woke_at;
                put_stack(&at, event);
        }
        if (r == 0 && name[0] != '\0')
                r = trace_dictionary_add_path(s->recording->dictionary, name,
                                              strnlen(name, sizeof(rec->wakeup.waker_name)), &name_id);
        event->wakeup.name = name_id ? name_id : waker.name;
        return r == -EOVERFLOW ? 0 : r;
}

/* The wake-up becomes an event of the thread that was woken. */
int wait_records_take_wakeup(struct kernel_side *s, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_WAKEUP, .time_ns = rec->time_ns };
        struct thread_track *thread;
        int r = kernel_side_find_thread(s, rec, &thread);

        if (r < 0 || !thread || thread->exits)
                return r;
        event.wakeup.cpu = rec->cpu;
        r = rec->wakeup.by_interrupt ? describe_interrupt(s, thread, rec, &event)
                                     : describe_waker(s, rec, &event);
        return r < 0 ? r : queue(s, thread, event);
}

/* A sample of sched:sched_waking belongs to the waker, or shows an interrupt on its stack. */
int wait_records_take_waker(struct kernel_side *s, const struct event_spec *spec,
                            const struct perf_record *rec)
{
        struct perf_record wakeup = {
                .kind = PERF_RECORD_KIND_WAKEUP,
                .cpu = rec->cpu,
                .time_ns = rec->time_ns,
                .wakeup = { .waker_pid = rec->pid, .waker_tid = rec->tid, .stack = rec->sample.stack }
        };
        const struct thread_track *woken;

        if (perf_record_decode_waking(&rec->sample, spec->woken_offset_bytes, &wakeup.tid,
                                      &wakeup.wakeup.by_interrupt) < 0) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        woken = process_table_find_thread(s->recording->processes, wakeup.tid);
        if (!woken)
                return 0; /* not recorded */
        wakeup.pid = woken->process->pid;
        return wait_records_take_wakeup(s, &wakeup);
}
