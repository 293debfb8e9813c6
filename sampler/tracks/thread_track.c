/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/thread_track.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/kernel/raw_stack.h"
#include "sampler/tracks/loss_counter.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ copies of stacks that wait */

#define COPY_HEAD_BYTES 16 /* machine, and which registers */

static char *put_u64(char *at, uint64_t value)
{
        for (unsigned i = 0; i < sizeof(value); i++)
                *at++ = (char)(value >> 8 * i);
        return at;
}

int kept_copy_new(const struct raw_stack *raw, size_t *total_bytes, struct kept_copy **ret_copy)
{
        const struct unwind_machine *machine = unwind_machine_own();
        size_t n_bytes = COPY_HEAD_BYTES + raw->registers_bytes + raw->copy_bytes;
        struct kept_copy *copy;
        char *at;

        *ret_copy = NULL;
        if (!machine || !raw->registers || raw->is_32_bit)
                return 0;
        if (*total_bytes + n_bytes > KEPT_COPY_BYTES_MAX)
                return -EOVERFLOW;
        copy = malloc(sizeof(*copy) + n_bytes);
        if (!copy)
                return -ENOMEM;
        *copy = (struct kept_copy){ .total_bytes = total_bytes, .n_bytes = n_bytes };
        at = put_u64(copy->bytes, machine->elf_machine);
        at = put_u64(at, machine->perf_registers);
        memcpy(at, raw->registers, raw->registers_bytes);
        if (raw->copy_bytes > 0)
                memcpy(at + raw->registers_bytes, raw->copy, raw->copy_bytes);
        *total_bytes += n_bytes;
        *ret_copy = copy;
        return 0;
}

struct kept_copy *kept_copy_of_text(const char *text, size_t text_bytes, size_t *total_bytes)
{
        struct kept_copy *copy = NULL;

        if (*total_bytes + text_bytes <= KEPT_COPY_BYTES_MAX)
                copy = malloc(sizeof(*copy) + text_bytes);
        if (!copy)
                return NULL;
        *copy = (struct kept_copy){ .total_bytes = total_bytes, .n_bytes = text_bytes };
        memcpy(copy->bytes, text, text_bytes);
        *total_bytes += text_bytes;
        return copy;
}

void kept_copy_free(struct kept_copy *copy)
{
        if (!copy)
                return;
        *copy->total_bytes -= copy->n_bytes;
        free(copy);
}

/* ------------------------------------------------------------------ tracks */

void thread_sink_switch(struct thread_sink *sink, const struct thread_track *track)
{
        if (sink->run == track)
                return;
        if (sink->run)
                event_encoder_end_run(sink->encoder);
        sink->run = track;
        if (track)
                event_encoder_begin_run(sink->encoder, track->thread);
}

void thread_track_deinit(struct thread_track *t)
{
        for (size_t i = 0; i < t->n_pending; i++)
                kept_copy_free(t->pending[i].copy);
        stack_stitch_deinit(&t->stitch);
        cut_stacks_deinit(&t->cuts);
        free(t->zones);
        free(t->pending);
        *t = (struct thread_track){ .tid = 0 };
}

int thread_track_add_pending(struct thread_track *t, const struct pending_event *event)
{
        size_t at = t->n_pending;
        int r = array_reserve(&t->pending, &t->pending_capacity, t->n_pending + 1, sizeof(*t->pending));

        if (r < 0)
                return r;
        /* Rings are read in the order of time, so the event nearly always belongs at the end. */
        while (at > 0 && t->pending[at - 1].event.time_ns > event->event.time_ns)
                at--;
        memmove(t->pending + at + 1, t->pending + at, (t->n_pending - at) * sizeof(*t->pending));
        t->pending[at] = *event;
        t->n_pending++;
        return 0;
}

int thread_track_add_last_sample(struct thread_track *t, const struct pending_event *sample)
{
        size_t at = t->n_pending;
        int r;

        while (at > 0 && t->pending[at - 1].event.op != TRACE_OP_THREAD_EXIT)
                at--;
        if (at == 0)
                return 0;
        r = array_reserve(&t->pending, &t->pending_capacity, t->n_pending + 1, sizeof(*t->pending));
        if (r < 0)
                return r;
        at--;
        memmove(t->pending + at + 1, t->pending + at, (t->n_pending - at) * sizeof(*t->pending));
        t->pending[at] = *sample;
        t->pending[at].event.time_ns = t->pending[at + 1].event.time_ns;
        t->n_pending++;
        return 0;
}

void thread_track_revive(struct thread_track *t)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < t->n_pending; i++)
                if (t->pending[i].event.op != TRACE_OP_THREAD_EXIT)
                        t->pending[n_kept++] = t->pending[i];
        t->n_pending = n_kept;
        t->exits = t->exited = false;
}

/* Finds the zone path of the innermost open zone; missing paths are looked up, from the outermost inwards. */
static int path_of(struct thread_track *t, struct thread_sink *sink, uint64_t *ret_path)
{
        size_t known = t->n_zones;
        uint32_t path;

        while (known > 0 && t->zones[known - 1].path == 0)
                known--;
        path = known > 0 ? t->zones[known - 1].path : 0;
        for (size_t i = known; i < t->n_zones; i++) {
                struct trace_zone_path row = { .parent = path, .location = t->zones[i].location };
                int r = trace_dictionary_add(sink->dictionary, TRACE_TABLE_ZONE_PATHS, &row, &path);

                if (r == -EOVERFLOW) {
                        loss_counter_add(sink->losses, TRACE_LOSS_PATH_TABLE_FULL, 1);
                        break;
                }
                if (r < 0)
                        return r;
                t->zones[i].path = path;
        }
        *ret_path = path;
        return 0;
}

uint64_t thread_track_correct(const struct thread_track *t, struct thread_sink *sink)
{
        loss_counter_add(sink->losses, TRACE_LOSS_CLOCK_CORRECTED, 1);
        return t->last_ns;
}

static void put(struct thread_track *t, struct thread_sink *sink, struct trace_event *event)
{
        thread_sink_switch(sink, t);
        event->time_ns = thread_track_advance(t, sink, event->time_ns);
        event_encoder_add(sink->encoder, event);
        if (event->op == TRACE_OP_SWITCH_OUT || event->op == TRACE_OP_SWITCH_IN)
                t->last_switch = *event;
        else if (event->op == TRACE_OP_SAMPLE)
                t->last_sample = *event;
        else if (event->op == TRACE_OP_THREAD_NAME)
                t->written_name = (uint32_t)event->thread_name.name;
}

/* Puts an event that we add ourselves: if it comes late, this is not counted as a correction. */
static void put_now_or_later(struct thread_track *t, struct thread_sink *sink, struct trace_event event)
{
        if (event.time_ns < t->last_ns)
                event.time_ns = t->last_ns;
        put(t, sink, &event);
}

void thread_track_close_own_zones(struct thread_track *t, struct thread_sink *sink, uint64_t n_left,
                                  uint64_t now_ns)
{
        uint64_t n_kept = t->n_zones;

        while (n_kept > n_left && t->zones[n_kept - 1].frame_avma == 0)
                n_kept--;
        thread_track_close_zones(t, sink, n_kept, now_ns);
}

void thread_track_close_zones(struct thread_track *t, struct thread_sink *sink, uint64_t n_left,
                              uint64_t now_ns)
{
        if (n_left < t->n_zones + t->n_too_deep)
                t->n_too_deep = n_left > t->n_zones ? n_left - t->n_zones : 0;
        for (; t->n_zones > n_left; t->n_zones--) {
                t->n_probed -= t->zones[t->n_zones - 1].frame_avma != 0;
                put_now_or_later(t, sink, (struct trace_event){ .op = TRACE_OP_ZONE_END, .time_ns = now_ns });
        }
}

/* Drops the open zones of a program that was replaced: they did not end. */
static void give_up_zones(struct thread_track *t, struct thread_sink *sink, uint64_t now_ns)
{
        if (t->n_zones != 0)
                put_now_or_later(t, sink,
                                 (struct trace_event){ .op = TRACE_OP_ZONES_GONE, .time_ns = now_ns });
        t->n_zones = 0;
        t->n_probed = 0;
        t->n_too_deep = 0;
}

/* ---- fibers -------------------------------------------------------------------------------------------- */

void thread_track_leave_fiber(struct thread_track *t, struct thread_sink *sink, uint64_t now_ns)
{
        struct trace_event out = { .op = TRACE_OP_SWITCH_OUT, .time_ns = now_ns };
        struct trace_event leave = { .op = TRACE_OP_FIBER_LEAVE, .time_ns = now_ns };
        struct thread_track *fiber = t->fiber;

        t->in_lost_fiber = false;
        if (!fiber)
                return;
        t->fiber = NULL;
        fiber->carrier = NULL;
        out.switch_out.cpu = t->cpu;
        put_now_or_later(fiber, sink, out);
        put_now_or_later(t, sink, leave);
}

void thread_track_enter_fiber(struct thread_track *t, struct thread_sink *sink, struct thread_track *fiber,
                              uint64_t n_open, uint64_t now_ns)
{
        struct trace_event enter = { .op = TRACE_OP_FIBER_ENTER, .time_ns = now_ns };
        struct trace_event in = { .op = TRACE_OP_SWITCH_IN, .time_ns = now_ns };

        thread_track_leave_fiber(t, sink, now_ns);
        /* later events of the carrier may still be unread: its stream keeps its last time */
        if (fiber->carrier)
                thread_track_leave_fiber(fiber->carrier, sink, fiber->carrier->last_ns);
        t->fiber = fiber;
        fiber->carrier = t;
        enter.fiber_enter.fiber = fiber->thread;
        put(t, sink, &enter);
        /* Zones that ended meanwhile had ended before the fiber was left. */
        thread_track_close_own_zones(fiber, sink, n_open, fiber->last_ns);
        in.switch_in.cpu = t->cpu;
        put(fiber, sink, &in);
}

void thread_track_end_fiber(struct thread_track *fiber, struct thread_sink *sink, uint64_t now_ns)
{
        if (fiber->carrier)
                thread_track_leave_fiber(fiber->carrier, sink, fiber->carrier->last_ns);
        put_now_or_later(fiber, sink, (struct trace_event){ .op = TRACE_OP_THREAD_EXIT, .time_ns = now_ns });
        fiber->exited = true;
}

/* ---- zones --------------------------------------------------------------------------------------------- */

/* Makes room for one more zone; 0 if it is too deep. */
static int push_zone(struct thread_track *t, struct thread_sink *sink, const struct trace_event *event)
{
        int r;

        if (t->n_zones >= THREAD_TRACK_ZONES_MAX) {
                t->n_too_deep++;
                loss_counter_add(sink->losses, TRACE_LOSS_ZONE_TOO_DEEP, 1);
                return 0;
        }
        r = array_reserve(&t->zones, &t->zones_capacity, t->n_zones + 1, sizeof(*t->zones));
        if (r < 0)
                return r;
        t->zones[t->n_zones++] = (struct open_zone){
                .location = (uint32_t)event->zone_begin.location,
                .begin_ns = event->time_ns >= t->last_ns ? event->time_ns
                                                         : t->last_ns, /* as put() will have it */
        };
        return 1;
}

/* The program runs, so its system call is over: that call's own end is only just behind. */
static void close_syscall(struct thread_track *t, struct thread_sink *sink, uint64_t time_ns)
{
        while (t->n_zones > 0 && t->zones[t->n_zones - 1].is_syscall)
                thread_track_close_zones(t, sink, t->n_zones - 1, time_ns);
}

static int pop_zone(struct thread_track *t, struct thread_sink *sink, uint64_t time_ns)
{
        if (t->n_too_deep > 0) {
                t->n_too_deep--;
                return 0;
        }
        close_syscall(t, sink, time_ns);
        /* The program's own end does not end a call: that was of a zone which ended with the call before. */
        if (t->n_zones == 0 || t->zones[t->n_zones - 1].frame_avma != 0) {
                loss_counter_add(sink->losses, TRACE_LOSS_ZONE_UNBALANCED, 1);
                return 0;
        }
        if (sink->trigger)
                zone_trigger_judge(sink->trigger, t, time_ns);
        t->n_zones--;
        return 1;
}

/* ---- calls of probed functions ------------------------------------------------------------------------- */

#define FRAMES_BYTES_MAX (UINT64_C(1) << 20) /* further away, the stack pointer is on another stack */

static bool is_call(const struct thread_track *t, size_t i, const struct pending_event *of)
{
        if (of->is_syscall) /* the end of rt_sigreturn(2) has no number */
                return t->zones[i].is_syscall;
        return (t->zones[i].frame_avma == of->frame_avma || of->is_static) &&
               t->zones[i].location == of->event.zone_begin.location;
}

static void count_without_end(struct thread_sink *sink, const struct open_zone *zone)
{
        if (zone->is_point)
                sink->n_points_without_end++;
        else if (zone->frame_avma != 0)
                sink->n_without_end++;
}

/*
 * Has the frame of the innermost zone been left by now?  A static probe may be in a function that returns
 * long before the zone ends; but where it is hit again in the same frame, the end of the zone never came.
 */
static bool is_left(const struct thread_track *t, const struct pending_event *call)
{
        const struct open_zone *zone = &t->zones[t->n_zones - 1];

        if (zone->is_syscall) /* the program runs again */
                return call->is_syscall || !call->is_point;
        if (zone->is_point)
                return false;
        if (zone->is_static)
                return call->is_static && zone->frame_avma == call->frame_avma &&
                       zone->location == call->event.zone_begin.location;
        return call->frame_avma - zone->frame_avma < FRAMES_BYTES_MAX;
}

/* Calls whose frames are gone by now never returned: an exception or longjmp(3) left them. */
static void close_left_calls(struct thread_track *t, struct thread_sink *sink,
                             const struct pending_event *call)
{
        while (t->n_probed > 0 && t->n_too_deep == 0 && t->n_zones > 0 && is_left(t, call)) {
                count_without_end(sink, &t->zones[t->n_zones - 1]);
                thread_track_close_zones(t, sink, t->n_zones - 1, call->event.time_ns);
        }
}

static int begin_call(struct thread_track *t, struct thread_sink *sink, const struct pending_event *call)
{
        struct trace_event event = call->event;
        int r;

        close_left_calls(t, sink, call);
        r = push_zone(t, sink, &event);
        if (r <= 0)
                return r;
        t->zones[t->n_zones - 1].frame_avma = call->frame_avma;
        t->zones[t->n_zones - 1].is_static = call->is_static;
        t->zones[t->n_zones - 1].is_point = call->is_point;
        t->zones[t->n_zones - 1].is_syscall = call->is_syscall;
        t->n_probed++;
        sink->n_probed++;
        put(t, sink, &event);
        return 0;
}

/* Writes the text of a probe, or the result of a system call that ends. */
static void put_text(struct thread_track *t, struct thread_sink *sink, const struct pending_event *call)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_TEXT, .time_ns = call->event.time_ns };

        event.operand[0] = call->copy->n_bytes;
        event.text = call->copy->bytes;
        put(t, sink, &event);
}

/* An end without its begin is that of a call that began before the recording. */
static void end_call(struct thread_track *t, struct thread_sink *sink, const struct pending_event *call)
{
        size_t at = t->n_zones;

        while (at > 0 && !is_call(t, at - 1, call))
                at--;
        if (at == 0) {
                sink->n_points_without_begin += t->n_too_deep == 0 && call->is_point && !call->is_syscall;
                t->n_too_deep -= t->n_too_deep > 0;
                return;
        }
        for (size_t i = at; i < t->n_zones; i++)
                count_without_end(sink, &t->zones[i]);
        thread_track_close_zones(t, sink, at, call->event.time_ns);
        if (call->copy)
                put_text(t, sink, call);
        if (sink->trigger)
                zone_trigger_judge(sink->trigger, t, call->event.time_ns);
        thread_track_close_zones(t, sink, at - 1, call->event.time_ns);
}

static int write_call(struct thread_track *t, struct thread_sink *sink, const struct pending_event *call)
{
        struct trace_event event = call->event;

        if (event.op == TRACE_OP_ZONE_BEGIN)
                return begin_call(t, sink, call);
        if (event.op == TRACE_OP_ZONE_END) {
                end_call(t, sink, call);
        } else if (event.op != TRACE_OP_ZONE_TEXT || (t->n_zones > 0 && t->n_too_deep == 0)) {
                event.text = call->copy->bytes;
                put(t, sink, &event);
        }
        return 0;
}

/* Zones between tracepoints that end with their thread, as those of exit_group(2) always do. */
static void close_points(struct thread_track *t, struct thread_sink *sink, uint64_t time_ns)
{
        while (t->n_zones > 0 && t->zones[t->n_zones - 1].is_point) {
                if (!t->zones[t->n_zones - 1].is_syscall)
                        sink->n_points_without_end++;
                thread_track_close_zones(t, sink, t->n_zones - 1, time_ns);
        }
}

/* ---- events of the kernel's ---------------------------------------------------------------------------- */

static bool is_switch(const struct trace_event *event)
{
        return event->op == TRACE_OP_SWITCH_IN || event->op == TRACE_OP_SWITCH_OUT;
}

static uint32_t cpu_of(const struct thread_track *t, const struct trace_event *event)
{
        if (event->op == TRACE_OP_SAMPLE)
                return (uint32_t)event->sample.cpu;
        return is_switch(event) ? (uint32_t)event->operand[0] : t->cpu; /* the CPU is the first of both */
}

/*
 * Whether the copy of a stack is written: it is followed by its sample, whose call stack is known by now.
 * Beyond the limit it is counted.
 */
static bool is_copy_wanted(const struct thread_track *t, struct thread_sink *sink, size_t at)
{
        const struct kept_copy *copy = t->pending[at].copy;

        if (sink->keeping == STACK_KEEPING_CUT &&
            (at + 1 == t->n_pending || !trace_event_lacks_table(&t->pending[at + 1].event)))
                return false;
        if (copy->n_bytes > sink->kept_bytes_max - sink->kept_bytes) {
                loss_counter_add(sink->losses, TRACE_LOSS_STACK_COPIES_FULL, 1);
                return false;
        }
        sink->kept_bytes += copy->n_bytes;
        return true;
}

static int write_one_pending(struct thread_track *t, struct thread_sink *sink,
                             const struct pending_event *pending)
{
        struct trace_event event = pending->event;
        bool ends = pending->closes_zones || event.op == TRACE_OP_THREAD_EXIT;
        int r = 0;

        if (pending->frame_avma != 0)
                return write_call(t->fiber ? t->fiber : t, sink, pending);
        if (ends)
                thread_track_leave_fiber(t, sink, event.time_ns);
        if (event.op == TRACE_OP_THREAD_EXIT)
                close_points(t, sink, event.time_ns);
        if (pending->closes_zones)
                give_up_zones(t, sink, event.time_ns);
        if (event.op == TRACE_OP_SAMPLE)
                r = path_of(t->fiber ? t->fiber : t, sink, &event.sample.path);
        if (r < 0)
                return r;
        t->cpu = cpu_of(t, &event);
        if (pending->copy)
                event.text = pending->copy->bytes;
        put(t, sink, &event);
        if (event.op == TRACE_OP_SWITCH_IN) /* a CPU's idle time counts once */
                event.switch_in.idle_ns = 0;
        if (t->fiber && is_switch(&event))
                put_now_or_later(t->fiber, sink, event);
        t->began_anew = t->began_anew || pending->closes_zones;
        t->exited = t->exited || event.op == TRACE_OP_THREAD_EXIT;
        return 0;
}

int thread_track_write_pending(struct thread_track *t, struct thread_sink *sink, uint64_t until_ns)
{
        size_t n = 0;
        int r = 0;

        for (; r == 0 && n < t->n_pending && t->pending[n].event.time_ns <= until_ns; n++)
                if (!t->pending[n].copy || t->pending[n].frame_avma != 0 || is_copy_wanted(t, sink, n))
                        r = write_one_pending(t, sink, &t->pending[n]);
        for (size_t i = 0; i < n; i++)
                kept_copy_free(t->pending[i].copy);
        if (n == 0) /* this is the usual case before a zone, and there may be no array yet */
                return 0;
        t->n_pending -= n;
        memmove(t->pending, t->pending + n, t->n_pending * sizeof(*t->pending));
        return r;
}

/* ---- events of the program's --------------------------------------------------------------------------- */

/* The same where calls of probed functions lie between the program's own zones, which alone count. */
static bool find_level_among_calls(const struct thread_track *t, uint64_t depth, uint64_t *ret_level)
{
        uint64_t n_own = t->n_zones - t->n_probed, seen = 0;

        for (size_t i = 0; i < t->n_zones; i++) {
                seen += t->zones[i].frame_avma == 0;
                *ret_level = t->n_zones - 1 - i;
                if (t->zones[i].frame_avma == 0 && seen == (depth == 0 ? n_own : depth))
                        return true;
        }
        return false;
}

bool thread_track_find_level(const struct thread_track *t, uint64_t depth, uint64_t *ret_level)
{
        if (t->n_probed > 0)
                return find_level_among_calls(t, depth, ret_level);
        if (depth == 0)
                depth = t->n_zones + t->n_too_deep;
        if (depth == 0 || depth > t->n_zones) /* none, or one that is too deep */
                return false;
        *ret_level = t->n_zones - depth;
        return true;
}

int thread_track_write(struct thread_track *t, struct thread_sink *sink, struct trace_event *event,
                       uint32_t stack)
{
        struct trace_event callstack = { .op = TRACE_OP_CALLSTACK, .time_ns = event->time_ns };
        int r = 1;

        if (event->op == TRACE_OP_ZONE_BEGIN) {
                close_syscall(t, sink, event->time_ns);
                r = push_zone(t, sink, event);
        } else if (event->op == TRACE_OP_ZONE_END) {
                r = pop_zone(t, sink, event->time_ns);
        }
        if (r <= 0)
                return r;
        if (stack != 0) {
                callstack.callstack.stack = stack;
                put(t, sink, &callstack);
                event->time_ns = callstack.time_ns;
        }
        put(t, sink, event);
        return 0;
}
