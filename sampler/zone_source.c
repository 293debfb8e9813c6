/* SPDX-License-Identifier: MIT */
#include "sampler/zone_source.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "instrument/client_abi.h"
#include "instrument/own_number.h"
#include "instrument/region_finder.h"
#include "sampler/loss_counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DRAIN_BYTES_MAX (UINT32_C(1) << 24) /* of one ring at once */
#define LOCATIONS_MAX   (UINT32_C(1) << 24) /* what an event's argument can name */

void zone_source_init(struct zone_source *s, struct trace_dictionary *dictionary, struct loss_counter *losses,
                      uint32_t families)
{
        *s = (struct zone_source){ .dictionary = dictionary, .losses = losses, .families = families };
        intern_init(&s->known_pids, sizeof(uint32_t), 0);
}

static void close_region(struct zone_region *region)
{
        client_region_close(region->region);
        for (size_t i = 0; i < region->n_slots; i++)
                client_stream_deinit(&region->slots[i].stream);
        free(region->slots);
        free(region->locations);
        *region = (struct zone_region){ .region = NULL };
}

void zone_source_deinit(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_regions; i++)
                close_region(&s->regions[i]);
        free(s->regions);
        free(s->missed_pids);
        intern_deinit(&s->known_pids);
        s->regions = NULL;
        s->n_regions = 0;
}

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

/* Opens a region and starts it; @fd is taken over if *ret_region is set, also on failure. */
static int start_region(struct zone_source *s, int fd, struct client_region **ret_region, struct error *err)
{
        static const struct trace_location nameless = { .name = 0 };
        int r = client_region_open(fd, ret_region, err);

        if (r == 0)
                r = trace_dictionary_add(s->dictionary, TRACE_TABLE_LOCATIONS, &nameless, &s->nameless);
        if (r == 0)
                r = use_clock(s, client_region_clock_kind(*ret_region), err);
        if (r == 0)
                r = client_region_enable(*ret_region, s->families, err);
        return r;
}

/* Whose region it is; true if it is open already. */
static bool is_known(const struct zone_source *s, int fd, struct zone_region *region)
{
        struct stat st;

        if (fstat(fd, &st) < 0)
                return false;
        region->device = st.st_dev;
        region->inode = st.st_ino;
        for (size_t i = 0; i < s->n_regions; i++)
                if (s->regions[i].device == region->device && s->regions[i].inode == region->inode)
                        return true;
        return false;
}

int zone_source_take(struct zone_source *s, uint32_t pid, int fd)
{
        struct zone_region taken = { .pid = pid };
        struct error err = ERROR_NONE;
        uint32_t id;
        int r = array_reserve(&s->regions, &s->regions_capacity, s->n_regions + 1, sizeof(*s->regions));

        if (r < 0 || is_known(s, fd, &taken)) {
                io_close(&fd);
                return r;
        }
        r = start_region(s, fd, &taken.region, &err);
        if (r < 0) {
                if (taken.region)
                        client_region_close(taken.region);
                else
                        io_close(&fd);
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_REFUSED, 1);
                return r == -ENOMEM ? r : 0;
        }
        zone_source_end(s, pid);
        s->regions[s->n_regions++] = taken;
        r = intern_add(&s->known_pids, &pid, sizeof(pid), &id);
        return r < 0 ? r : 0;
}

int zone_source_open(struct zone_source *s, uint32_t pid)
{
        int fd, r;

        if (region_finder_open(pid, &fd, NULL) == 0)
                return zone_source_take(s, pid, fd);
        r = array_reserve(&s->missed_pids, &s->missed_capacity, s->n_missed_pids + 1,
                          sizeof(*s->missed_pids));
        if (r == 0)
                s->missed_pids[s->n_missed_pids++] = pid;
        return r;
}

/* A region that is missed when it is announced may be handed in a moment later: the account is settled at leisure. */
static void count_missed(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_missed_pids; i++)
                if (intern_find(&s->known_pids, &s->missed_pids[i], sizeof(s->missed_pids[i])) == 0)
                        loss_counter_add(s->losses, TRACE_LOSS_CLIENT_GONE, 1);
        s->n_missed_pids = 0;
}

void zone_source_end(struct zone_source *s, uint32_t pid)
{
        for (size_t i = 0; i < s->n_regions; i++)
                if (s->regions[i].pid == pid)
                        s->regions[i].ended = true;
}

void zone_source_disable(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_regions; i++)
                client_region_disable(s->regions[i].region);
}

/* New threads take new slots. */
static int follow_slots(struct zone_region *region)
{
        size_t n_slots = client_region_count_slots(region->region);
        int r = array_reserve(&region->slots, &region->slots_capacity, n_slots, sizeof(*region->slots));

        if (r < 0)
                return r;
        for (; region->n_slots < n_slots; region->n_slots++) {
                struct zone_slot *slot = &region->slots[region->n_slots];

                memset(slot, 0, sizeof(*slot));
                client_stream_init(&slot->stream);
        }
        return 0;
}

static int drain_region(struct zone_source *s, struct zone_region *region)
{
        int r = follow_slots(region);

        for (size_t i = 0; r == 0 && i < region->n_slots; i++) {
                struct client_stream *stream = &region->slots[i].stream;
                int64_t n_bytes;

                client_stream_compact(stream);
                n_bytes = client_region_drain(region->region, (uint32_t)i, DRAIN_BYTES_MAX, &stream->pending,
                                              NULL);
                if (n_bytes == -ENOMEM)
                        return -ENOMEM;
                if (n_bytes == -EBADMSG)
                        loss_counter_add(s->losses, TRACE_LOSS_CLIENT_REFUSED, 1);
                if (n_bytes > 0 && (uint64_t)n_bytes > s->busiest_bytes)
                        s->busiest_bytes = (uint64_t)n_bytes;
        }
        return r;
}

int zone_source_drain(struct zone_source *s)
{
        int r = 0;

        s->busiest_bytes = 0;
        for (size_t i = 0; r == 0 && i < s->n_regions; i++)
                r = drain_region(s, &s->regions[i]);
        for (size_t kind = 0; kind < ZONE_SOURCE_CLOCKS; kind++)
                if (s->clock_used[kind])
                        tick_clock_pair(&s->clocks[kind]);
        return r;
}

void zone_source_close_ended(struct zone_source *s)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < s->n_regions; i++) {
                struct zone_region *region = &s->regions[i];
                size_t left = 0;

                for (size_t slot = 0; slot < region->n_slots; slot++)
                        left += client_stream_count_bytes(&region->slots[slot].stream);
                if (region->ended && left == 0)
                        close_region(region);
                else
                        s->regions[n_kept++] = *region;
        }
        s->n_regions = n_kept;
}

int zone_source_count_drops(struct zone_source *s, zone_source_thread_of *thread_of, void *context,
                            uint64_t now_ns)
{
        count_missed(s);
        for (size_t i = 0; i < s->n_regions; i++) {
                struct zone_region *region = &s->regions[i];
                uint64_t n_no_ring = client_region_drops_no_ring(region->region);
                uint64_t n_garbage = 0;

                for (size_t slot = 0; slot < region->n_slots; slot++) {
                        struct client_drops now = client_region_drops(region->region, (uint32_t)slot);
                        struct client_drops *seen = &region->slots[slot].seen;
                        uint64_t n = now.n_zones - seen->n_zones + now.n_messages - seen->n_messages +
                                     now.n_plots - seen->n_plots + now.n_frames - seen->n_frames +
                                     now.n_other - seen->n_other;
                        int r = 0;

                        *seen = now;
                        n_garbage += region->slots[slot].stream.n_garbage_bytes;
                        if (n > 0)
                                r = loss_counter_add_thread(
                                        s->losses, s->dictionary, TRACE_LOSS_CLIENT_RING_FULL,
                                        thread_of(context, region->slots[slot].tid), n, now_ns);
                        if (r < 0)
                                return r;
                }
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_NO_RING, n_no_ring - region->n_no_ring_seen);
                loss_counter_add(s->losses, TRACE_LOSS_CLIENT_GARBAGE, n_garbage - region->n_garbage_seen);
                region->n_no_ring_seen = n_no_ring;
                region->n_garbage_seen = n_garbage;
        }
        return 0;
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

static int add_location(struct zone_source *s, const struct client_location *from, uint32_t *ret_id)
{
        struct trace_location row = { .line = from->line, .color = from->color };
        int r = trace_dictionary_add_string(s->dictionary, from->name, from->name_bytes, &row.name);

        if (r == 0 && from->function_bytes > 0)
                r = trace_dictionary_add_string(s->dictionary, from->function, from->function_bytes,
                                                &row.function);
        if (r == 0 && from->file_bytes > 0)
                r = trace_dictionary_add_string(s->dictionary, from->file, from->file_bytes, &row.file);
        return r < 0 ? r : trace_dictionary_add(s->dictionary, TRACE_TABLE_LOCATIONS, &row, ret_id);
}

/* The id in LOCATIONS for a client's id; 0 if the client has no such location. */
static int location_of(struct zone_source *s, struct zone_region *region, uint32_t client_id,
                       uint32_t *ret_id)
{
        struct client_location location;
        size_t known = region->locations_capacity;
        int r;

        *ret_id = 0;
        if (client_id == 0 || client_id > LOCATIONS_MAX)
                return 0;
        if (client_id > known) {
                r = array_reserve(&region->locations, &region->locations_capacity, client_id,
                                  sizeof(uint32_t));
                if (r < 0)
                        return r;
                memset(region->locations + known, 0, (region->locations_capacity - known) * sizeof(uint32_t));
        }
        if (region->locations[client_id - 1] == 0) {
                if (client_region_location(region->region, client_id, &location, NULL) < 0)
                        return 0;
                r = add_location(s, &location, &region->locations[client_id - 1]);
                if (r < 0 && r != -EOVERFLOW)
                        return r;
        }
        *ret_id = region->locations[client_id - 1];
        return 0;
}

/* The string that a location names, for plots and frames. */
static int name_of(struct zone_source *s, struct zone_region *region, uint32_t client_id, uint64_t *ret_name)
{
        const struct trace_location *row;
        uint32_t id;
        int r = location_of(s, region, client_id, &id);

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
        return r == -EOVERFLOW ? 0 : r;
}

/* Fills *event's op and operands; op 0 for an event that cannot be shown (its location does not exist). */
static int translate(struct zone_source *s, struct zone_region *region, const struct client_event *from,
                     struct trace_event *event)
{
        uint32_t location = 0;
        int r = 0;

        switch ((enum client_abi_event)from->kind) {
        case CLIENT_ABI_EVENT_ZONE_BEGIN:
                event->op = TRACE_OP_ZONE_BEGIN;
                r = location_of(s, region, from->argument, &location);
                event->zone_begin.location = location ? location : s->nameless;
                break;
        case CLIENT_ABI_EVENT_ZONE_END:
                event->op = TRACE_OP_ZONE_END;
                break;
        case CLIENT_ABI_EVENT_MESSAGE:
                event->op = TRACE_OP_MESSAGE;
                r = text_of(s, from, &event->message.text);
                event->message.color = from->value & UINT32_MAX;
                event->message.severity = from->value >> 32;
                break;
        case CLIENT_ABI_EVENT_PLOT_I64:
                event->op = TRACE_OP_PLOT_I64;
                r = name_of(s, region, from->argument, &event->plot_i64.name);
                event->plot_i64.value = (int64_t)from->value;
                break;
        case CLIENT_ABI_EVENT_PLOT_F64:
                event->op = TRACE_OP_PLOT_F64;
                r = name_of(s, region, from->argument, &event->plot_f64.name);
                event->plot_f64.bits = from->value;
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

/* The number that a thread has for us; 0 if it cannot be found out. */
static uint32_t tid_of(const struct zone_region *region, uint32_t own_tid)
{
        uint32_t own_pid = client_region_pid(region->region);

        if (own_pid == region->pid)
                return own_tid; /* the same PID namespace */
        return own_tid == own_pid ? region->pid : own_number_find_thread(region->pid, own_tid);
}

int zone_source_next(struct zone_source *s, struct zone_region *region, struct zone_slot *slot,
                     uint64_t until_ns, struct zone_event *ret_event)
{
        const struct tick_clock *clock = &s->clocks[client_region_clock_kind(region->region)];
        struct client_event from;
        int r;

        if (client_stream_peek(&slot->stream, &from) == 0)
                return 0;
        *ret_event = (struct zone_event){ .event = { .time_ns = tick_clock_to_ns(clock, from.ticks) } };
        if (ret_event->event.time_ns > until_ns)
                return 0;

        if (from.kind == CLIENT_ABI_EVENT_THREAD) {
                slot->tid = tid_of(region, from.argument);
                ret_event->hands_over = true;
                r = 0;
        } else {
                r = translate(s, region, &from, &ret_event->event);
        }
        client_stream_consume(&slot->stream);
        return r < 0 ? r : 1;
}
