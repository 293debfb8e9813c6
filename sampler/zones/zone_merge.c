/* SPDX-License-Identifier: MIT */
#include "sampler/zones/zone_merge.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "instrument/client_abi.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/process_filter.h"
#include "sampler/proc/running_process.h"
#include "sampler/stacks/event_stack.h"
#include "sampler/stacks/stack_builder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "sampler/zones/zone_source.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

#define LARGE_PAYLOAD_BYTES (UINT32_C(1) << 16)

/* One ring, whose bytes are copied out. */
struct ring {
        struct zone_region *region;
        struct zone_slot *slot;
        struct thread_track *thread; /* the thread whose events come; NULL = it is not known */
        uint64_t until_ns;           /* later ones are not for this cycle */
};

/* Why a ring was left. */
enum ring_stop {
        LANE_DRY,   /* there is no whole event any more */
        LANE_LATER, /* the next event is not for this cycle */
        LANE_ENTER, /* at the beginning of a fiber */
        LANE_SPENT, /* the region has had its share of this cycle */
};

void zone_merge_init(struct zone_merge *m, const struct recording *recording, zone_merge_flush *flush_if_full,
                     void *context)
{
        *m = (struct zone_merge){ .recording = recording,
                                  .zones = recording->zones,
                                  .sink = recording->sink,
                                  .flush_if_full = flush_if_full,
                                  .context = context,
                                  .last_ns = UINT64_MAX };
        fiber_order_init(&m->order);
}

void zone_merge_deinit(struct zone_merge *m)
{
        fiber_order_deinit(&m->order);
}

/* ---- fibers -------------------------------------------------------------------------------------------- */

void zone_merge_end_fibers(struct zone_merge *m, struct process_track *process, uint64_t now_ns)
{
        for (uint32_t i = 0; i < process->fibers.numbers.n_items; i++)
                if (process->fibers.tracks[i])
                        thread_track_end_fiber(process->fibers.tracks[i], m->sink, now_ns);
        thread_sink_switch(m->sink, NULL);
        process_table_forget_fibers(m->recording->processes, process);
}

/* Finds the time of the last pending event up to @until_ns that closes zones; 0 = no such event. */
static uint64_t find_exec(const struct thread_track *thread, uint64_t until_ns)
{
        uint64_t exec_ns = 0;

        for (size_t i = 0; i < thread->n_pending && thread->pending[i].event.time_ns <= until_ns; i++)
                if (thread->pending[i].closes_zones)
                        exec_ns = thread->pending[i].event.time_ns;
        return exec_ns;
}

int zone_merge_write_pending(struct zone_merge *m, struct thread_track *thread, uint64_t until_ns)
{
        int r;

        if (thread->n_pending == 0)
                return 0;
        r = thread_track_write_pending(thread, m->sink, until_ns);
        if (r == 0 && thread->began_anew) {
                zone_merge_end_fibers(m, thread->process, thread->last_ns);
                thread->began_anew = false;
                thread->process->exec_waits = find_exec(thread, UINT64_MAX) != 0;
        }
        return r;
}

/*
 * A new program replaced another before @now_ns.  The thread that reports this, the one with the process's
 * number, may have no events, and then its turn comes last; but the fibers of the old program must be over
 * by now.
 */
static int begin_anew(struct zone_merge *m, const struct process_track *process, uint64_t now_ns)
{
        struct thread_track *thread;
        uint64_t exec_ns;

        if (!process->exec_waits)
                return 0;
        thread = process_table_find_thread(m->recording->processes, process->pid);
        exec_ns = thread ? find_exec(thread, now_ns) : 0;
        return exec_ns != 0 ? zone_merge_write_pending(m, thread, exec_ns) : 0;
}

/*
 * Makes a fiber that comes for the first time, with its name.  Returns 0, -ENOMEM, or -EOVERFLOW if it
 * cannot be made.
 */
static int make_fiber(struct zone_merge *m, const struct ring *ring, uint32_t number, uint64_t now_ns,
                      struct thread_track **ret_fiber)
{
        struct trace_event event = { .op = TRACE_OP_THREAD_NAME, .time_ns = now_ns };
        uint32_t location = 0, name = 0;
        int r = zone_region_location(ring->region, m->recording->dictionary, number, &location);

        if (r == 0)
                r = zone_region_name(ring->region, m->recording->dictionary, number, &name);
        if (r < 0 || location == 0)
                return r < 0 ? r : -EOVERFLOW;
        r = process_table_add_fiber(m->recording->processes, ring->thread->process, number, now_ns,
                                    ret_fiber);
        if (r < 0)
                return r;
        (*ret_fiber)->name = name;
        event.thread_name.name = name;
        return thread_track_write(*ret_fiber, m->sink, &event, 0);
}

static int enter_fiber(struct zone_merge *m, struct ring *ring, const struct client_event *from,
                       uint64_t now_ns)
{
        struct thread_track *fiber = NULL;
        int r = begin_anew(m, ring->thread->process, now_ns);

        if (r < 0)
                return r;
        fiber = process_table_find_fiber(ring->thread->process, from->argument);
        if (!fiber)
                r = make_fiber(m, ring, from->argument, now_ns, &fiber);
        /*
         * A fiber that cannot be made is left out: its actions could not be told from those of the thread
         * itself.
         */
        if (r == -EOVERFLOW) {
                thread_track_leave_fiber(ring->thread, m->sink, now_ns);
                ring->thread->in_lost_fiber = true;
                event_translator_drop(&m->zones->translator, ring->region, from);
                return 0;
        }
        if (r == 0)
                thread_track_enter_fiber(ring->thread, m->sink, fiber, from->value[0], now_ns);
        return r;
}

/* ---- any event ----------------------------------------------------------------------------------------- */

/*
 * Finds the thread to which a ring belongs now; NULL if it is not known.  A program speaks only for its own
 * threads.
 */
static void find_thread(const struct zone_merge *m, struct ring *ring)
{
        struct thread_track *thread = process_table_find_thread(m->recording->processes, ring->slot->tid);

        ring->thread = thread && thread->process->pid == ring->region->pid ? thread : NULL;
        if (ring->thread)
                ring->slot->thread = thread->thread;
}

/* Only some of a program's threads may be recorded. */
static bool is_wanted(const struct zone_merge *m, const struct ring *ring)
{
        return !m->recording->filter || ring->slot->tid == 0 ||
               process_filter_has_thread(m->recording->filter, ring->region->pid, ring->slot->tid);
}

/* True if the program lives, and the kernel has reported no thread with this number. */
static bool may_be_unreported(const struct zone_merge *m, const struct ring *ring)
{
        const struct process_table *t = m->recording->processes;
        const struct process_track *process = process_table_find_process(t, ring->region->pid);
        uint32_t tid = ring->slot->tid;

        return process && process->process == ring->region->process && ring->region->n_cycles_ended == 0 &&
               !process_table_find_thread(t, tid) && !process_table_has_ended(t, tid) && is_wanted(m, ring);
}

static int name_thread(struct zone_merge *m, struct thread_track *thread, const struct byte_buffer *text,
                       uint64_t now_ns)
{
        struct trace_event event = { .op = TRACE_OP_THREAD_NAME, .time_ns = now_ns };
        int r = trace_dictionary_add_path(m->recording->dictionary, text->data, text->used_bytes,
                                          &thread->name);

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        event.thread_name.name = thread->name;
        return thread_track_write(thread, m->sink, &event, 0);
}

/*
 * If the kernel's record of a new thread was lost because a ring was full, /proc still knows the thread.
 * It is asked once for each thread, and in a cycle only for a limited number per program, which may name
 * any number.
 */
static int seek_thread(struct zone_merge *m, struct ring *ring, uint64_t now_ns)
{
        struct byte_buffer name = { .data = NULL };
        struct thread_track *thread = NULL;
        int r;

        if (ring->slot->tid == 0 || ring->slot->was_sought || ring->region->n_searches_left == 0)
                return 0;
        ring->slot->was_sought = true;
        if (!may_be_unreported(m, ring))
                return 0;
        ring->region->n_searches_left--;
        r = running_process_add_name(ring->region->pid, ring->slot->tid, &name);
        if (r == 0)
                r = process_table_add_thread(m->recording->processes, ring->region->pid, ring->slot->tid, 0,
                                             now_ns, &thread);
        if (r == 0)
                r = name_thread(m, thread, &name, now_ns);
        byte_buffer_deinit(&name);
        find_thread(m, ring);
        return r == -ENOMEM ? r : 0;
}

/* The stream of the thread's events. */
static struct thread_track *track_of(struct thread_track *thread)
{
        return thread->fiber ? thread->fiber : thread;
}

/*
 * Gives the ring to another thread, which begins without zones.
 * Returns 0, -EAGAIN if the next cycle is to see the event again, or -ENOMEM, -errno.
 */
static int hand_over(struct zone_merge *m, struct ring *ring, const struct client_event *from,
                     uint64_t now_ns)
{
        unsigned all = UINT_MAX;
        uint32_t tid;
        int r = own_threads_find(m->recording->processes, ring->region, from->argument,
                                 m->final ? &all : &m->zones->n_lookups_left, &tid);

        if (r < 0)
                return r;
        ring->slot->thread = 0;
        ring->slot->tid = tid;
        ring->slot->was_sought = false;
        find_thread(m, ring);
        r = ring->thread ? 0 : seek_thread(m, ring, now_ns);
        if (r < 0 || !ring->thread)
                return r;
        r = zone_merge_write_pending(m, ring->thread, now_ns);
        if (r < 0)
                return r;
        thread_track_leave_fiber(ring->thread, m->sink, now_ns);
        thread_track_close_own_zones(ring->thread, m->sink, 0, now_ns);
        return 0;
}

/* The operand of a zone's detail that says which zone; NULL for other events. */
static uint64_t *level_of(struct trace_event *event)
{
        if (event->op == TRACE_OP_ZONE_KEY)
                return &event->zone_key.level;
        return event->op == TRACE_OP_ZONE_TEXT || event->op == TRACE_OP_ZONE_NAME ||
                               event->op == TRACE_OP_ZONE_VALUE || event->op == TRACE_OP_ZONE_COLOR
                       ? &event->operand[1]
                       : NULL;
}

/* False for details of a zone that is not there. */
static bool find_level(struct zone_merge *m, const struct thread_track *track,
                       const struct client_event *from, struct trace_event *event)
{
        uint64_t *level = level_of(event);

        if (!level || thread_track_find_level(track, from->prefix.zone_depth, level))
                return true;
        if (track->n_too_deep == 0) /* else the zone was counted */
                loss_counter_add(m->sink->losses, TRACE_LOSS_ZONE_UNBALANCED, 1);
        return false;
}

/* Adds the event's stack, with the mappings that the process had at that time. */
static int add_stack(struct zone_merge *m, struct thread_track *thread, const struct client_event *from,
                     uint64_t now_ns, uint32_t *ret_stack)
{
        struct address_space *space;
        int r = 0;

        *ret_stack = 0;
        if (from->prefix.n_frames == 0 && from->prefix.stack_bytes == 0)
                return 0;
        space = earlier_spaces_find(&thread->process->earlier, now_ns);
        if (!space)
                space = &thread->process->space;
        event_stack_unwind(&from->prefix, m->recording->unwinder, thread, space, m->sink->losses, &m->chain);
        if (m->chain.n_frames > 0)
                r = stack_builder_add(m->recording->stacks, space, &m->chain, ret_stack);
        loss_counter_add(m->sink->losses, TRACE_LOSS_STACK_TABLE_FULL, m->recording->stacks->n_cut);
        m->recording->stacks->n_cut = 0;
        return r;
}

/* A thread's name and its group are about the thread itself, whatever fiber it runs. */
static bool is_about_thread(const struct trace_event *event)
{
        return event->op == TRACE_OP_THREAD_NAME || event->op == TRACE_OP_THREAD_GROUP;
}

/* Events of this kind take long enough that the clock is looked at after each. */
static bool is_large(const struct client_event *event)
{
        return event->text_bytes + event->prefix.blob_bytes >= LARGE_PAYLOAD_BYTES;
}

static int write_event(struct zone_merge *m, struct ring *ring, const struct client_event *from,
                       uint64_t now_ns)
{
        struct thread_track *track = track_of(ring->thread);
        struct trace_event event;
        uint32_t stack;
        int r = event_translator_run(&m->zones->translator, ring->region, from, now_ns, &event);

        if (r <= 0 || !find_level(m, track, from, &event))
                return r < 0 ? r : 0;
        r = add_stack(m, ring->thread, from, now_ns, &stack);
        if (r < 0)
                return r;
        if (is_about_thread(&event))
                track = ring->thread;
        /*
         * A detail has the time of the event before it, and the kernel may have reported an event since
         * then: this is no correction.
         */
        if (level_of(&event) && event.time_ns < track->last_ns)
                event.time_ns = track->last_ns;
        m->n_zones += event.op == TRACE_OP_ZONE_BEGIN;
        m->n_others += event.op != TRACE_OP_ZONE_BEGIN && event.op != TRACE_OP_ZONE_END && !level_of(&event);
        r = thread_track_write(track, m->sink, &event, stack);
        if (r == 0 && is_large(from))
                r = m->flush_if_full(m->context);
        return r;
}

/* Leaves out an event of an unknown thread. */
static void leave_out(struct zone_merge *m, const struct ring *ring, const struct client_event *from)
{
        if (is_wanted(m, ring))
                loss_counter_add(m->sink->losses, TRACE_LOSS_THREAD_UNKNOWN, 1);
        event_translator_pass(ring->region, from);
}

/* Merges one event, of whatever kind.  Returns as hand_over(). */
static int merge_event(struct zone_merge *m, struct ring *ring, const struct client_event *from,
                       uint64_t now_ns)
{
        int r;

        if (from->kind == CLIENT_ABI_EVENT_THREAD)
                return hand_over(m, ring, from, now_ns);
        r = ring->thread ? 0 : seek_thread(m, ring, now_ns);
        if (r < 0)
                return r;
        if (!ring->thread) {
                leave_out(m, ring, from);
                return 0;
        }
        r = zone_merge_write_pending(m, ring->thread, now_ns);
        if (r < 0)
                return r;
        if (from->kind == CLIENT_ABI_EVENT_FIBER_ENTER)
                return enter_fiber(m, ring, from, now_ns);
        /* If there is no fiber, the event that entered it was lost and counted. */
        if (from->kind == CLIENT_ABI_EVENT_FIBER_LEAVE)
                thread_track_leave_fiber(ring->thread, m->sink, now_ns);
        else if (ring->thread->in_lost_fiber)
                event_translator_drop(&m->zones->translator, ring->region, from);
        else
                return write_event(m, ring, from, now_ns);
        return 0;
}

/* ---- one ring ------------------------------------------------------------------------------------------ */

/*
 * The fast path: merges begins and ends of zones as long as no other event comes between them.  Unusual
 * ones are left to merge_event().
 */
static void merge_zones(struct zone_merge *m, const struct ring *ring)
{
        struct zone_source *zones = m->zones;
        struct tick_clock *clock = zone_source_clock(zones, ring->region);
        struct client_stream *stream = &ring->slot->stream;
        struct thread_track *thread = ring->thread, *track = track_of(thread);
        uint64_t until_ns = zones->now_ns + PACE_ZONES_FUTURE_NS, n_zones = 0;
        struct client_zone_event zone;

        if (ring->until_ns < until_ns)
                until_ns = ring->until_ns;
        if (thread->n_pending > 0 && thread->pending[0].event.time_ns <= until_ns) {
                if (thread->pending[0].event.time_ns == 0)
                        return;
                until_ns = thread->pending[0].event.time_ns - 1;
        }
        thread_sink_switch(m->sink, track);
        while (client_stream_peek_zone(stream, &zone)) {
                uint64_t now_ns = tick_clock_to_ns(clock, zone.ticks);

                if (now_ns > until_ns)
                        break;
                if (zone.kind == CLIENT_ABI_EVENT_ZONE_BEGIN) {
                        uint32_t location = zone_region_near_location(ring->region, zone.argument);

                        if (location == 0 || !thread_track_begin_zone(track, m->sink, now_ns, location))
                                break;
                        n_zones++;
                } else if (!thread_track_end_zone(track, m->sink, now_ns)) {
                        break;
                }
                client_stream_consume(stream);
        }
        m->n_zones += n_zones;
        ring->region->zone_events.n += n_zones;
        ring->region->zone_events.n_bytes += n_zones * 2 * CLIENT_ABI_WORD_BYTES;
}

/* ---- shares of the work -------------------------------------------------------------------------------- */

/* True if the recorder is asked to end the recording while its last events are merged. */
static bool is_urged(const struct zone_merge *m)
{
        struct pollfd stop = { .fd = m->recording->stop_fd, .events = POLLIN };

        return m->recording->stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/* True if the rest of the region has to wait for the next cycle, or for ever in the final one. */
static bool is_spent(struct zone_merge *m)
{
        uint64_t now_ns = clock_raw_ns();

        if (m->final && m->last_ns > now_ns + PACE_ZONES_LAST_NS && is_urged(m))
                m->last_ns = now_ns + PACE_ZONES_LAST_NS;
        return m->final ? now_ns >= m->last_ns : !recorder_pace_may_merge(m->recording->pace, now_ns);
}

/*
 * Merges the bytes that were copied out of a ring.
 * @passes:   merges the first beginning of a fiber instead of stopping there
 * @ret_ns:   the time of the next event, if the ring was left at LANE_ENTER or LANE_LATER
 * Returns an enum ring_stop, or -ENOMEM, -errno.
 */
static int merge_ring(struct zone_merge *m, struct ring *ring, bool passes, uint64_t *ret_ns)
{
        struct zone_source *zones = m->zones;
        struct client_event event;
        int r = 0;

        while (r == 0) {
                if (ring->thread && !ring->thread->in_lost_fiber)
                        merge_zones(m, ring);
                if (zone_source_peek(zones, ring->region, ring->slot, &event, ret_ns) == 0)
                        return LANE_DRY;
                if (*ret_ns > ring->until_ns) {
                        ring->region->has_later = true;
                        return LANE_LATER;
                }
                if (event.kind == CLIENT_ABI_EVENT_FIBER_ENTER && !passes) {
                        ring->region->uses_fibers = true;
                        return LANE_ENTER;
                }
                passes = passes && event.kind != CLIENT_ABI_EVENT_FIBER_ENTER;
                r = merge_event(m, ring, &event, *ret_ns);
                if (r == -EAGAIN)
                        return LANE_SPENT;
                zone_region_count_event(ring->region, &event, ring->slot->stream.event_bytes);
                client_stream_consume(&ring->slot->stream);
                if (r == 0 && is_large(&event) && is_spent(m))
                        return LANE_SPENT;
        }
        return r;
}

static struct ring ring_of(const struct zone_merge *m, struct zone_region *region, uint32_t slot)
{
        struct ring ring = { .region = region, .slot = &region->slots[slot], .until_ns = m->until_ns };
        const struct process_track *process = process_table_find_process(m->recording->processes,
                                                                         region->pid);

        find_thread(m, &ring);
        if (process && process->held_ns <= ring.until_ns)
                ring.until_ns = process->held_ns - 1;
        return ring;
}

/* Notes that the process is merged only up to the last event of this ring. */
static void stall(const struct zone_merge *m, const struct ring *ring)
{
        struct process_track *process = process_table_find_process(m->recording->processes,
                                                                   ring->region->pid);
        uint64_t last_ns = ring->thread ? track_of(ring->thread)->last_ns : 0;

        if (process && last_ns < process->stalled_ns)
                process->stalled_ns = last_ns;
}

/*
 * Merges a slot as far as possible, or up to the next beginning of a fiber.
 * Later and too recent events are copied out nevertheless, so that the program has room.
 * @passes:  merges the first beginning of a fiber instead of stopping there
 * @ret_ns:  the time of the next event
 * Returns an enum ring_stop, or -ENOMEM, -errno.
 */
static int merge_slot(struct zone_merge *m, struct zone_region *region, uint32_t slot, bool passes,
                      uint64_t *ret_ns)
{
        struct ring ring = ring_of(m, region, slot);
        int stop = merge_ring(m, &ring, passes, ret_ns);
        bool more = true;

        while (stop >= 0 && more) {
                int r;

                if (stop == LANE_SPENT || is_spent(m)) {
                        stall(m, &ring);
                        region->is_behind = true;
                        return stop;
                }
                if (stop == LANE_ENTER && passes && !zone_source_is_filling(region, slot))
                        return stop;
                r = ring.slot->filled_bytes < m->ring_bytes_max
                            ? zone_source_fill(m->zones, region, slot, &more)
                            : 0;

                if (r == 0 && more && stop == LANE_DRY)
                        stall(m, &ring);
                if (r <= 0)
                        return r < 0 ? r : stop;
                if (stop == LANE_DRY)
                        stop = merge_ring(m, &ring, false, ret_ns);
                r = m->flush_if_full(m->context);
                if (r < 0)
                        return r;
        }
        return stop;
}

/*
 * Postpones a slot that has no share of this cycle any more: the process is merged only up to the slot's
 * last event.  A slot whose thread is unknown does not delay others.
 */
static void postpone(const struct zone_merge *m, struct zone_region *region, uint32_t slot)
{
        struct ring ring = ring_of(m, region, slot);

        region->is_behind = true;
        if (ring.thread)
                stall(m, &ring);
}

/* Returns the slot that comes after @n others in this cycle, which begins with @first. */
static uint32_t slot_at(const struct zone_region *region, uint32_t first, uint32_t n)
{
        return (uint32_t)(((uint64_t)first + n) % region->n_slots);
}

/* ---- rings that take turns ----------------------------------------------------------------------------- */

/* Merges a slot up to the next beginning of a fiber, where it waits, or as far as it goes. */
static int take_turn(struct zone_merge *m, struct zone_region *region, uint32_t slot, bool passes)
{
        struct waiting_slot waiting = { .slot = slot };
        int stop = merge_slot(m, region, slot, passes, &waiting.enter_ns);

        if (stop < 0)
                return stop;
        return stop == LANE_ENTER ? fiber_order_add(&m->order, waiting) : 0;
}

/* Lets the waiting slots go on, as far as all earlier events are merged. */
static int take_turns(struct zone_merge *m, struct zone_region *region)
{
        const struct process_track *process = process_table_find_process(m->recording->processes,
                                                                         region->pid);
        struct waiting_slot next;
        int r = 0;

        while (r == 0 && fiber_order_next(&m->order, &next) == 1) {
                if (process && next.enter_ns > process->stalled_ns)
                        break;
                r = take_turn(m, region, next.slot, true);
        }
        m->order.n_waiting = 0;
        return r;
}

static int merge_in_turns(struct zone_merge *m, struct zone_region *region, uint32_t first)
{
        int r = 0;

        for (uint32_t n = 0; r == 0 && n < region->n_slots; n++) {
                uint32_t slot = slot_at(region, first, n);

                if (is_spent(m)) {
                        postpone(m, region, slot);
                        continue;
                }
                r = take_turn(m, region, slot, false);
                region->next_slot = slot + 1;
        }
        if (r == 0)
                r = take_turns(m, region);
        for (uint32_t slot = 0; slot < region->n_slots; slot++)
                zone_source_release(m->zones, region, &region->slots[slot]);
        return r;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static int merge_region(struct zone_merge *m, struct zone_region *region)
{
        uint32_t first = region->next_slot;
        uint64_t next_ns;

        region->is_behind = false;
        region->has_later = false;
        region->n_searches_left = PACE_ZONES_SEARCHES;
        for (uint32_t n = 0; n < region->n_slots && !region->uses_fibers; n++) {
                uint32_t slot = slot_at(region, first, n);
                int stop;

                if (is_spent(m)) {
                        postpone(m, region, slot);
                        continue;
                }
                stop = merge_slot(m, region, slot, false, &next_ns);
                region->next_slot = slot + 1;
                if (stop < 0)
                        return stop;
                if (stop != LANE_ENTER)
                        zone_source_release(m->zones, region, &region->slots[slot]);
        }
        if (region->n_slots > 0 && region->uses_fibers)
                return merge_in_turns(m, region, first);
        return 0;
}

/* No delay is known yet. */
static void forget_stalls(struct zone_merge *m)
{
        struct zone_source *zones = m->zones;

        for (size_t i = 0; i < zones->n_regions; i++) {
                struct process_track *process = process_table_find_process(m->recording->processes,
                                                                           zones->regions[i].pid);

                if (process)
                        process->stalled_ns = UINT64_MAX;
        }
}

/* Counts the bytes that the final run leaves in the rings and in the copies of them. */
static void count_unread(struct zone_merge *m)
{
        struct zone_source *zones = m->zones;
        uint64_t n_bytes = 0;

        for (size_t i = 0; i < zones->n_regions; i++) {
                const struct zone_region *region = &zones->regions[i];

                for (uint32_t slot = 0; slot < region->n_slots; slot++) {
                        uint64_t n_unread = client_region_count_unread(region->region, slot);

                        n_bytes += client_stream_count_bytes(&region->slots[slot].stream) +
                                   (n_unread < PACE_ZONES_RING_LAST_BYTES ? n_unread
                                                                          : 0); /* else it is made up */
                }
        }
        loss_counter_add(m->sink->losses, TRACE_LOSS_CLIENT_UNREAD, n_bytes);
}

/*
 * Merges the regions, beginning with number @first, each with its share of the cycle: those of programs
 * that have ended, or the others.
 */
static int merge_those(struct zone_merge *m, size_t first, bool have_ended)
{
        struct zone_source *zones = m->zones;
        int r = 0;

        for (size_t n = 0; r == 0 && n < zones->n_regions; n++) {
                size_t i = (first + n) % zones->n_regions;

                if ((zones->regions[i].n_cycles_ended != 0) != have_ended)
                        continue;
                if (recorder_pace_begin_region(m->recording->pace, clock_raw_ns()))
                        m->next_region = i + 1;
                r = merge_region(m, &zones->regions[i]);
                m->is_behind = m->is_behind || zones->regions[i].is_behind;
        }
        return r;
}

/*
 * A program that replaced another (execve) has the same threads, and its events come after
 * those of the other one.
 */
static int merge_regions(struct zone_merge *m)
{
        size_t first = m->next_region;
        int r;

        m->is_behind = false;
        r = merge_those(m, first, true);
        return r == 0 ? merge_those(m, first, false) : r;
}

int zone_merge_run(struct zone_merge *m, uint64_t until_ns, bool final)
{
        uint64_t now_ns = clock_raw_ns();
        int r;

        m->until_ns = until_ns;
        m->ring_bytes_max = final ? PACE_ZONES_RING_LAST_BYTES : PACE_ZONES_RING_BYTES;
        m->final = final;
        if (final && m->last_ns == UINT64_MAX)
                m->last_ns = now_ns + PACE_ZONES_FINAL_NS;
        forget_stalls(m);
        m->recording->pace->zones_ns = now_ns;
        r = merge_regions(m);
        recorder_pace_end_zones(m->recording->pace, m->is_behind, now_ns);
        if (r == 0 && final && m->is_behind)
                count_unread(m);
        return r;
}

void zone_merge_hurry(struct zone_merge *m)
{
        m->last_ns = clock_raw_ns() + PACE_ZONES_LAST_NS;
}
