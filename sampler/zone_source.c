/* SPDX-License-Identifier: MIT */
#include "sampler/zone_source.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "instrument/client_abi.h"
#include "instrument/own_number.h"
#include "instrument/region_finder.h"
#include "sampler/loss_counter.h"
#include "sampler/process_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILL_BYTES_MAX (UINT32_C(1) << 22) /* copied out of one ring at once */
#define HELD_BYTES_MAX \
        (UINT64_C(1) << 26)  /* of all rings, later than the watermark: usually next to nothing */
#define WAITING_MAX     4096 /* regions; whoever comes then is found by the mapping, or not ours */
#define WAITING_NS      NS_PER_S
#define FUTURE_NS       NS_PER_S /* an event stamped later than this from now was not stamped by a clock */
#define LOOKUPS_A_CYCLE 32

void zone_source_init(struct zone_source *s, const struct zone_source_parts *parts)
{
        *s = (struct zone_source){ .dictionary = parts->dictionary,
                                   .losses = parts->losses,
                                   .processes = parts->processes,
                                   .families = parts->families };
        intern_init(&s->known_pids, sizeof(uint32_t), 0);
}

void zone_source_deinit(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_regions; i++)
                zone_region_deinit(&s->regions[i]);
        for (size_t i = 0; i < s->n_waiting; i++)
                io_close(&s->waiting[i].fd);
        free(s->regions);
        free(s->waiting);
        free(s->missed_pids);
        intern_deinit(&s->known_pids);
        byte_buffer_deinit(&s->filled);
        *s = (struct zone_source){ .n_regions = 0 };
}

/* ---- regions come and go ------------------------------------------------------------------------------- */

/* Begins to measure the clock of a region, once for all regions that have it. */
static int use_clock(struct zone_source *s, uint32_t kind, struct error *err)
{
        int r;

        if (kind >= ZONE_SOURCE_CLOCKS)
                return error_set(err, -ENOTSUP, "client clock %u is unknown", kind);
        if (s->clock_used[kind])
                return 0;
        r = tick_clock_init(&s->clocks[kind], kind, err);
        s->clock_used[kind] = r == 0;
        return r;
}

/* What a process calls itself, in its PID namespace; 0 if it is gone. */
static uint32_t ask_own_pid(uint32_t pid)
{
        char path[32];
        uint32_t own_pid = 0;
        int fd;

        (void)snprintf(path, sizeof(path), "/proc/%u", pid);
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || own_number_read(fd, pid, &own_pid, NULL) < 0)
                own_pid = 0;
        io_close(&fd);
        return own_pid;
}

/*
 * True if the process calls itself what the region says: nobody hands in the
 * region of somebody else.  One that was gone before it could be asked is
 * believed: the kernel vouched for its number, and it had the descriptor.
 */
static bool is_of_process(const struct client_region *region, uint32_t pid, uint32_t own_pid)
{
        return client_region_pid(region) == pid || client_region_pid(region) == own_pid || own_pid == 0;
}

/* Opens a region and starts it; its descriptor is taken over if *ret_region is set, also on failure. */
static int start_region(struct zone_source *s, const struct waiting_region *w,
                        struct client_region **ret_region, struct error *err)
{
        static const struct trace_location nameless = { .name = 0 };
        int r = client_region_open(w->fd, ret_region, err);

        if (r == 0 && !is_of_process(*ret_region, w->pid, w->own_pid))
                r = error_set(err, -EPERM, "the region is not that of process %u", w->pid);
        if (r == 0)
                r = trace_dictionary_add(s->dictionary, TRACE_TABLE_LOCATIONS, &nameless, &s->nameless);
        if (r == 0)
                r = use_clock(s, client_region_clock_kind(*ret_region), err);
        if (r == 0)
                r = client_region_enable(*ret_region, s->families, err);
        return r;
}

/* Whose region it is; true if it is open already. */
static bool is_open(const struct zone_source *s, int fd, struct stat *ret_stat)
{
        if (fstat(fd, ret_stat) < 0)
                return false;
        for (size_t i = 0; i < s->n_regions; i++)
                if (s->regions[i].device == ret_stat->st_dev && s->regions[i].inode == ret_stat->st_ino)
                        return true;
        return false;
}

/* Takes a region of a process that is ours; its descriptor is taken over. */
static int take_region(struct zone_source *s, struct waiting_region *w)
{
        struct client_region *region = NULL;
        struct zone_region *taken;
        struct stat st = { .st_ino = 0 };
        struct error err = ERROR_NONE;
        uint32_t id;
        int r = array_reserve(&s->regions, &s->regions_capacity, s->n_regions + 1, sizeof(*s->regions));

        if (r < 0 || is_open(s, w->fd, &st)) {
                io_close(&w->fd);
                return r;
        }
        r = start_region(s, w, &region, &err);
        if (r == -EBUSY && s->busy.code == 0)
                s->busy = err;
        if (r < 0) {
                if (!region)
                        io_close(&w->fd);
                client_region_close(region);
                loss_counter_add(s->losses, r == -EBUSY ? TRACE_LOSS_CLIENT_BUSY : TRACE_LOSS_CLIENT_REFUSED,
                                 1);
                return r == -ENOMEM ? r : 0;
        }
        zone_source_end(s, w->pid);
        taken = &s->regions[s->n_regions++];
        zone_region_init(taken, region, w->pid);
        taken->device = st.st_dev;
        taken->inode = st.st_ino;
        r = intern_add(&s->known_pids, &w->pid, sizeof(w->pid), &id);
        return r < 0 ? r : 0;
}

/* Takes @fd over. */
static int wait_for_process(struct zone_source *s, uint32_t pid, int fd, bool announced)
{
        int r = -EOVERFLOW;

        if (s->n_waiting < WAITING_MAX)
                r = array_reserve(&s->waiting, &s->waiting_capacity, s->n_waiting + 1, sizeof(*s->waiting));
        if (r < 0) {
                io_close(&fd);
                return r == -EOVERFLOW ? 0 : r;
        }
        s->waiting[s->n_waiting++] = (struct waiting_region){
                .fd = fd,
                .pid = pid,
                .own_pid = ask_own_pid(pid),
                .since_ns = clock_raw_ns(),
                .announced = announced,
        };
        return 0;
}

int zone_source_receive(struct zone_source *s, uint32_t pid, int fd)
{
        return wait_for_process(s, pid, fd, false);
}

/* It waited in vain: its process is none of ours, or had ended before its turn came; each is counted once. */
static void drop_waiting(struct zone_source *s, struct waiting_region *w)
{
        uint32_t id;

        io_close(&w->fd);
        if (!process_table_has_seen(s->processes, w->pid))
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_REFUSED, 1);
        else if (intern_add(&s->known_pids, &w->pid, sizeof(w->pid), &id) == 1)
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_GONE, 1);
}

/* Marks the processes whose regions wait still, or not any more. */
static void mark_waiting(struct zone_source *s, bool waits)
{
        for (size_t i = 0; i < s->n_waiting; i++) {
                struct process_track *process = process_table_find_process(s->processes, s->waiting[i].pid);

                if (process)
                        process->region_waits = waits;
        }
}

void zone_source_drop_waiting(struct zone_source *s)
{
        mark_waiting(s, false);
        for (size_t i = 0; i < s->n_waiting; i++)
                drop_waiting(s, &s->waiting[i]);
        s->n_waiting = 0;
}

/* A region that was found may be that of a program which replaced another, whose own is still on its way. */
static bool must_wait(struct waiting_region *w)
{
        bool first_time = w->announced && !w->waited;

        w->waited = true;
        return first_time;
}

/* Takes the regions of processes that the kernel has told of by now, and drops those that waited in vain. */
static int admit_waiting(struct zone_source *s, bool announced)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < s->n_waiting; i++) {
                struct waiting_region *w = &s->waiting[i];
                bool is_kept = w->announced != announced || must_wait(w);

                if (!is_kept && r == 0 && process_table_find_process(s->processes, w->pid))
                        r = take_region(s, w);
                else if (!is_kept && s->now_ns > w->since_ns + WAITING_NS)
                        drop_waiting(s, w);
                else
                        s->waiting[n_kept++] = *w;
        }
        s->n_waiting = n_kept;
        return r;
}

int zone_source_open(struct zone_source *s, uint32_t pid)
{
        int fd, r;

        if (region_finder_open(pid, &fd, NULL) == 0)
                return wait_for_process(s, pid, fd, true);
        r = array_reserve(&s->missed_pids, &s->missed_capacity, s->n_missed_pids + 1,
                          sizeof(*s->missed_pids));
        if (r == 0)
                s->missed_pids[s->n_missed_pids++] = pid;
        return r;
}

/* A region that is missed when it is announced may be handed in a moment later: the account is settled at leisure. */
static int count_missed(struct zone_source *s)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_missed_pids; i++) {
                uint32_t id;

                r = intern_add(&s->known_pids, &s->missed_pids[i], sizeof(s->missed_pids[i]), &id);
                if (r == 1)
                        loss_counter_add(s->losses, TRACE_LOSS_CLIENT_GONE, 1);
        }
        s->n_missed_pids = 0;
        return r < 0 ? r : 0;
}

void zone_source_end(struct zone_source *s, uint32_t pid)
{
        for (size_t i = 0; i < s->n_regions; i++)
                if (s->regions[i].pid == pid && s->regions[i].n_cycles_ended == 0)
                        s->regions[i].n_cycles_ended = 1;
}

void zone_source_disable(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_regions; i++)
                client_region_disable(s->regions[i].region);
}

/* ---- one cycle ----------------------------------------------------------------------------------------- */

int zone_source_begin_cycle(struct zone_source *s)
{
        int r;

        s->now_ns = clock_raw_ns();
        s->n_lookups_left = LOOKUPS_A_CYCLE;
        s->busiest_bytes = 0;
        mark_waiting(s, false);
        r = admit_waiting(s, false);
        if (r == 0)
                r = admit_waiting(s, true);
        mark_waiting(s, true);
        for (size_t kind = 0; kind < ZONE_SOURCE_CLOCKS; kind++)
                if (s->clock_used[kind])
                        tick_clock_pair(&s->clocks[kind]);
        for (size_t i = 0; r == 0 && i < s->n_regions; i++)
                r = zone_region_follow(&s->regions[i]);
        return r;
}

int zone_source_fill(struct zone_source *s, struct zone_region *region, uint32_t slot, bool *ret_more)
{
        struct client_stream *stream = &region->slots[slot].stream;
        size_t left_bytes = client_stream_count_bytes(stream);
        size_t room_bytes = left_bytes < FILL_BYTES_MAX ? FILL_BYTES_MAX - left_bytes : 0; /* whole words */
        int64_t n_bytes;

        s->now_ns = clock_raw_ns(); /* what comes now was stamped before */
        /* The large buffer goes into the stream, and its small one waits in our place. */
        if (client_stream_move(stream, &s->filled) < 0)
                return -ENOMEM;
        s->held_bytes -= left_bytes;

        n_bytes = room_bytes ? client_region_drain(region->region, slot, room_bytes, &stream->pending, NULL)
                             : 0;
        if (n_bytes == -EBADMSG)
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_REFUSED, 1);
        if (n_bytes > 0 && (uint64_t)n_bytes > s->busiest_bytes)
                s->busiest_bytes = (uint64_t)n_bytes;
        *ret_more = room_bytes > 0 && n_bytes == (int64_t)room_bytes;
        return n_bytes == -ENOMEM ? -ENOMEM : 0;
}

int zone_source_put_back(struct zone_source *s, struct zone_slot *slot)
{
        struct client_stream *stream = &slot->stream;
        size_t left_bytes = client_stream_count_bytes(stream);

        /* Two milliseconds of events are little: so much is only left where stamps and lengths are made up. */
        if (s->held_bytes + left_bytes > HELD_BYTES_MAX) {
                stream->n_garbage_bytes += left_bytes;
                stream->at_bytes += left_bytes;
                left_bytes = 0;
        }
        s->held_bytes += left_bytes;
        return client_stream_move(stream, &s->filled);
}

/* Settles the accounts of a region that is not looked at any more, and closes it. */
static void close_region(struct zone_source *s, struct zone_region *region)
{
        for (uint32_t slot = 0; slot < region->n_slots; slot++) {
                struct client_stream *stream = &region->slots[slot].stream;
                size_t left_bytes = client_stream_count_bytes(stream);

                s->held_bytes -= left_bytes;
                stream->n_garbage_bytes += left_bytes;
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_RING_FULL,
                                 zone_region_count_drops(region, slot));
        }
        zone_region_count_losses(region, s->losses);
        zone_region_deinit(region);
}

void zone_source_end_cycle(struct zone_source *s)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < s->n_regions; i++) {
                struct zone_region *region = &s->regions[i];

                /* One cycle more than that in which the end was noticed: what came with it is merged by then. */
                if (region->n_cycles_ended > 1) {
                        close_region(s, region);
                } else {
                        region->n_cycles_ended += region->n_cycles_ended > 0;
                        s->regions[n_kept++] = *region;
                }
        }
        s->n_regions = n_kept;
}

int zone_source_count_drops(struct zone_source *s, zone_source_thread_of *thread_of, void *context,
                            uint64_t now_ns)
{
        int r = count_missed(s);

        for (size_t i = 0; i < s->n_regions; i++) {
                struct zone_region *region = &s->regions[i];

                for (uint32_t slot = 0; r == 0 && slot < region->n_slots; slot++) {
                        uint64_t n = zone_region_count_drops(region, slot);

                        if (n > 0)
                                r = loss_counter_add_thread(
                                        s->losses, s->dictionary, TRACE_LOSS_CLIENT_RING_FULL,
                                        thread_of(context, region->slots[slot].tid), n, now_ns);
                }
                zone_region_count_losses(region, s->losses);
        }
        return r;
}

int zone_source_add_clocks(struct zone_source *s)
{
        int r = 0;

        for (uint32_t kind = 0; r == 0 && kind < ZONE_SOURCE_CLOCKS; kind++) {
                const struct tick_clock *clock = &s->clocks[kind];
                struct trace_clock row = { .kind = kind, .error_ns = (uint32_t)tick_clock_error_ns(clock) };
                uint32_t id;

                if (!s->clock_used[kind] || clock->n_pairs == 0)
                        continue;
                row.ticks = clock->pairs[clock->n_pairs - 1].ticks;
                row.raw_ns = clock->pairs[clock->n_pairs - 1].ns;
                r = trace_dictionary_add(s->dictionary, TRACE_TABLE_CLOCKS, &row, &id);
        }
        return r == -EOVERFLOW ? 0 : r;
}

/* ---- words of a ring -> trace events ------------------------------------------------------------------- */

/* The string that a location names, for plots and frames. */
static int name_of(struct zone_source *s, struct zone_region *region, uint32_t client_id, uint64_t *ret_name)
{
        const struct trace_location *row;
        uint32_t id;
        int r = zone_region_location(region, s->dictionary, client_id, &id);

        *ret_name = 0;
        if (r < 0 || id == 0)
                return r;
        row = trace_dictionary_row(s->dictionary, TRACE_TABLE_LOCATIONS, id);
        *ret_name = row->name;
        return 0;
}

static int text_of(struct zone_source *s, const struct client_event *from, uint64_t *ret_text)
{
        uint32_t id = 0;
        int r = trace_dictionary_add_string(s->dictionary, from->text, from->text_bytes, &id);

        *ret_text = id;
        if (r == -EOVERFLOW)
                loss_counter_add(s->losses, TRACE_LOSS_STRING_TABLE_FULL, 1);
        return r == -EOVERFLOW ? 0 : r;
}

/* Fills *event's op and operands. */
static int translate(struct zone_source *s, struct zone_region *region, const struct client_event *from,
                     struct trace_event *event)
{
        uint32_t location = 0;
        int r = 0;

        switch ((enum client_abi_event)from->kind) {
        case CLIENT_ABI_EVENT_ZONE_BEGIN:
                event->op = TRACE_OP_ZONE_BEGIN;
                r = zone_region_location(region, s->dictionary, from->argument, &location);
                event->zone_begin.location = location ? location : s->nameless;
                break;
        case CLIENT_ABI_EVENT_ZONE_END:
                event->op = TRACE_OP_ZONE_END;
                break;
        case CLIENT_ABI_EVENT_MESSAGE:
                event->op = TRACE_OP_MESSAGE;
                r = text_of(s, from, &event->message.text);
                event->message.color = from->value[0] & UINT32_MAX;
                event->message.severity = from->value[0] >> 32;
                break;
        case CLIENT_ABI_EVENT_PLOT_I64:
                event->op = TRACE_OP_PLOT_I64;
                r = name_of(s, region, from->argument, &event->plot_i64.name);
                event->plot_i64.value = (int64_t)from->value[0];
                break;
        case CLIENT_ABI_EVENT_PLOT_F64:
                event->op = TRACE_OP_PLOT_F64;
                r = name_of(s, region, from->argument, &event->plot_f64.name);
                event->plot_f64.bits = from->value[0];
                break;
        case CLIENT_ABI_EVENT_FRAME_MARK:
                event->op = TRACE_OP_FRAME_MARK;
                r = name_of(s, region, from->argument, &event->frame_mark.name);
                break;
        case CLIENT_ABI_EVENT_THREAD_NAME:
                event->op = TRACE_OP_THREAD_NAME;
                r = text_of(s, from, &event->thread_name.name);
                break;
        case CLIENT_ABI_EVENT_TIME:
        case CLIENT_ABI_EVENT_THREAD:
                break; /* not of this kind: see zone_source_next() */
        }
        return r;
}

int zone_source_next(struct zone_source *s, struct zone_region *region, struct zone_slot *slot,
                     uint64_t until_ns, struct zone_event *ret_event)
{
        const struct tick_clock *clock = &s->clocks[client_region_clock_kind(region->region)];
        struct client_event from;
        uint64_t time_ns;
        int r = 0;

        while (true) {
                if (client_stream_peek(&slot->stream, &from) == 0)
                        return 0;
                time_ns = tick_clock_to_ns(clock, from.ticks);
                if (time_ns <= s->now_ns || time_ns - s->now_ns <= FUTURE_NS)
                        break;
                slot->stream.n_garbage_bytes += slot->stream.event_bytes;
                client_stream_consume(&slot->stream);
        }
        if (time_ns > until_ns)
                return 0;

        *ret_event = (struct zone_event){ .event = { .time_ns = time_ns } };
        if (from.kind == CLIENT_ABI_EVENT_THREAD) {
                slot->tid = zone_region_tid(region, from.argument, &s->n_lookups_left);
                ret_event->hands_over = true;
        } else {
                r = translate(s, region, &from, &ret_event->event);
        }
        client_stream_consume(&slot->stream);
        return r < 0 ? r : 1;
}
