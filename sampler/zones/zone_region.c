/* SPDX-License-Identifier: MIT */
#include "sampler/zones/zone_region.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "instrument/client_abi.h"
#include "sampler/tracks/latest_rows.h"
#include "sampler/tracks/loss_counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Programs number their locations from 1: nearly all programs have only near ones, which are one load away.
 */
#define NEAR_LOCATIONS 65536

/* A program that has named more unknown locations than this is not asked any more. */
#define BAD_LOCATIONS_MAX 1000

/* A counter that grew by more than this since the last look was overwritten, not incremented. */
#define DROPS_MAX         (UINT64_C(1) << 36)
#define DROPPED_BYTES_MIN 32 /* least memory assumed for a dropped event; most take 16 */

static void numbers_init(struct zone_numbers *n, uint32_t n_max)
{
        *n = (struct zone_numbers){ .ours = NULL };
        intern_init(&n->theirs, sizeof(uint32_t), n_max);
}

static void numbers_deinit(struct zone_numbers *n)
{
        intern_deinit(&n->theirs);
        free(n->ours);
}

/* Returns 0 if it is not there. */
static uint32_t numbers_find(const struct zone_numbers *n, uint32_t theirs)
{
        uint32_t id = intern_find(&n->theirs, &theirs, sizeof(theirs));

        return id ? n->ours[id - 1] : 0;
}

/* Adds a pair of numbers.  Returns 0, also when @n is full, or -ENOMEM. */
static int numbers_add(struct zone_numbers *n, uint32_t theirs, uint32_t ours)
{
        uint32_t id = 0;
        int r = array_reserve(&n->ours, &n->capacity, (size_t)n->theirs.n_items + 1, sizeof(*n->ours));

        if (r == 0)
                r = intern_add(&n->theirs, &theirs, sizeof(theirs), &id);
        if (r >= 0)
                n->ours[id - 1] = ours;
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

void zone_region_init(struct zone_region *r, struct client_region *region, uint32_t pid, uint32_t process)
{
        *r = (struct zone_region){ .region = region, .pid = pid, .process = process };
        numbers_init(&r->far_locations, 0);
        numbers_init(&r->locks, 0);
        numbers_init(&r->devices, 0);
        numbers_init(&r->device_plots, 0);
}

void zone_region_deinit(struct zone_region *r)
{
        client_region_close(r->region);
        for (size_t i = 0; i < r->n_slots; i++)
                client_stream_deinit(&r->slots[i].stream);
        free(r->slots);
        free(r->near_locations);
        numbers_deinit(&r->far_locations);
        numbers_deinit(&r->locks);
        numbers_deinit(&r->devices);
        numbers_deinit(&r->device_plots);
        *r = (struct zone_region){ .region = NULL };
}

int zone_region_follow(struct zone_region *r)
{
        size_t n_slots = client_region_count_slots(r->region);
        int code = array_reserve(&r->slots, &r->slots_capacity, n_slots, sizeof(*r->slots));

        if (code < 0)
                return code;
        for (; r->n_slots < n_slots; r->n_slots++) {
                struct zone_slot *slot = &r->slots[r->n_slots];

                memset(slot, 0, sizeof(*slot));
                client_stream_init(&slot->stream);
        }
        return 0;
}

/* ---- locations ----------------------------------------------------------------------------------------- */

/* Adds a text of the program, which is left out and counted if there is no room for it. */
static int add_text(struct zone_region *r, struct trace_dictionary *dictionary, const char *text,
                    size_t text_bytes, uint32_t *ret_id)
{
        int code = trace_dictionary_add_program_string(dictionary, text, text_bytes, ret_id);

        if (code != -EOVERFLOW)
                return code;
        *ret_id = 0;
        r->n_names_left_out++;
        return 0;
}

static int add_location(struct zone_region *r, struct trace_dictionary *dictionary,
                        const struct client_location *from, uint32_t *ret_id)
{
        struct trace_location row = { .line = from->line, .color = from->color };
        int code = add_text(r, dictionary, from->name, from->name_bytes, &row.name);

        if (code != 0)
                goto done;
        if (from->function_bytes > 0)
                code = add_text(r, dictionary, from->function, from->function_bytes, &row.function);
        if (code != 0)
                goto done;
        if (from->file_bytes > 0)
                code = add_text(r, dictionary, from->file, from->file_bytes, &row.file);
        if (code != 0)
                goto done;
        code = trace_dictionary_add(dictionary, TRACE_TABLE_LOCATIONS, &row, ret_id);

done:
        r->n_names_left_out += code == -EOVERFLOW;
        return code;
}

/* Makes room for a near id, which is known to exist. */
static int remember_near(struct zone_region *r, uint32_t client_id, uint32_t id)
{
        size_t known = r->near_capacity;
        int code = array_reserve(&r->near_locations, &r->near_capacity, client_id,
                                 sizeof(*r->near_locations));

        if (code < 0)
                return code;
        memset(r->near_locations + known, 0, (r->near_capacity - known) * sizeof(*r->near_locations));
        r->near_locations[client_id - 1] = id;
        return 0;
}

/* Reads a location from the program.  Returns 1, 0 if it has no such location, -ENOMEM. */
static int ask(struct zone_region *r, uint32_t client_id, struct client_location *ret_location)
{
        int code;

        if (client_id == 0 || r->n_bad_locations >= BAD_LOCATIONS_MAX)
                return 0;
        code = client_region_location(r->region, client_id, ret_location, NULL);
        if (code == -ENOMEM)
                return code;
        r->n_bad_locations += code < 0;
        return code == 0;
}

/* Asks the program, once for each location. */
static int learn_location(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                          uint32_t *ret_id)
{
        uint32_t left = trace_dictionary_count_left(dictionary, TRACE_TABLE_LOCATIONS);
        struct client_location location;
        uint32_t id = 0;
        int code;

        *ret_id = 0;
        if (r->n_locations > 0 && r->n_locations >= left) { /* half of what the others left */
                r->n_locations_left_out++;
                return 0;
        }
        code = ask(r, client_id, &location);
        if (code <= 0)
                return code;
        code = add_location(r, dictionary, &location, &id);
        if (code == -EOVERFLOW)
                return 0;
        r->n_locations += trace_dictionary_count_left(dictionary, TRACE_TABLE_LOCATIONS) < left;
        if (code == 0)
                code = client_id <= NEAR_LOCATIONS ? remember_near(r, client_id, id)
                                                   : numbers_add(&r->far_locations, client_id, id);
        *ret_id = id;
        return code;
}

int zone_region_location(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                         uint32_t *ret_id)
{
        *ret_id = zone_region_near_location(r, client_id);
        if (client_id > NEAR_LOCATIONS)
                *ret_id = numbers_find(&r->far_locations, client_id);
        return *ret_id ? 0 : learn_location(r, dictionary, client_id, ret_id);
}

int zone_region_name(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                     uint32_t *ret_name)
{
        const struct trace_location *row;
        uint32_t id;
        int code = zone_region_location(r, dictionary, client_id, &id);

        *ret_name = 0;
        if (code < 0 || id == 0)
                return code;
        row = trace_dictionary_row(dictionary, TRACE_TABLE_LOCATIONS, id);
        *ret_name = row->name;
        return 0;
}

/* ---- what else locations stand for --------------------------------------------------------------------- */

int zone_region_lock(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                     uint32_t *ret_lock)
{
        struct trace_lock row = { .process = r->process, .number = client_id };
        int code;

        *ret_lock = numbers_find(&r->locks, client_id);
        if (*ret_lock)
                return 0;
        code = zone_region_location(r, dictionary, client_id, &row.location);
        if (code < 0 || row.location == 0)
                return code;
        code = trace_dictionary_add(dictionary, TRACE_TABLE_LOCKS, &row, ret_lock);
        if (code < 0)
                return code == -EOVERFLOW ? 0 : code;
        return numbers_add(&r->locks, client_id, *ret_lock);
}

int zone_region_device(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                       uint32_t *ret_device)
{
        struct trace_device row = { .process = r->process, .number = client_id };
        struct client_location location;
        int code;

        *ret_device = numbers_find(&r->devices, client_id);
        if (*ret_device)
                return 0;
        code = ask(r, client_id, &location);
        if (code <= 0)
                return code;
        row.kind = location.format;
        row.period_bits = location.period;
        code = add_text(r, dictionary, location.name, location.name_bytes, &row.name);
        if (code == 0)
                code = trace_dictionary_add(dictionary, TRACE_TABLE_DEVICES, &row, ret_device);
        if (code < 0)
                return code == -EOVERFLOW ? 0 : code;
        return numbers_add(&r->devices, client_id, *ret_device);
}

/* @ret_name: string */
static int add_plot(struct zone_region *r, struct latest_rows *plots, const struct client_location *from,
                    uint32_t *ret_name)
{
        struct trace_plot row = { .format = from->format, .color = from->color };
        int code = add_text(r, plots->dictionary, from->name, from->name_bytes, &row.name);

        if (from->flags & CLIENT_ABI_PLOT_STEP)
                row.flags |= TRACE_PLOT_STEP;
        if (from->flags & CLIENT_ABI_PLOT_FILL)
                row.flags |= TRACE_PLOT_FILL;
        if (code == 0 && from->unit_bytes > 0)
                code = add_text(r, plots->dictionary, from->unit, from->unit_bytes, &row.unit);
        if (code == 0)
                code = latest_rows_add(plots, (struct latest_key){ .part = { row.name } }, &row);
        *ret_name = row.name;
        return code == -EOVERFLOW ? 0 : code;
}

int zone_region_plot(struct zone_region *r, struct latest_rows *plots, uint32_t client_id)
{
        struct client_location location;
        int code = ask(r, client_id, &location);
        uint32_t name;

        return code <= 0 ? code : add_plot(r, plots, &location, &name);
}

int zone_region_device_plot(struct zone_region *r, struct latest_rows *plots, uint32_t client_id,
                            uint32_t *ret_plot)
{
        struct client_location location;
        uint32_t name = 0;
        int code;

        *ret_plot = numbers_find(&r->device_plots, client_id);
        if (*ret_plot)
                return 0;
        code = ask(r, client_id, &location);
        if (code <= 0)
                return code;
        code = add_plot(r, plots, &location, &name);
        *ret_plot = latest_rows_find(plots, (struct latest_key){ .part = { name } });
        return code < 0 || *ret_plot == 0 ? code : numbers_add(&r->device_plots, client_id, *ret_plot);
}

int zone_region_plots(struct zone_region *r, struct latest_rows *plots)
{
        struct client_location location;
        uint32_t client_id = 0, name;
        int code, added = 0;

        while (added == 0 && (code = client_region_next_plot(r->region, &client_id, &location)) == 1)
                added = add_plot(r, plots, &location, &name);
        return added < 0 ? added : code == -ENOMEM ? code : 0; /* read errors show up later */
}

/* ---- losses -------------------------------------------------------------------------------- */

/* Returns a counter's increase since the last look; 0 if implausible. */
static uint64_t grown(uint64_t now, uint64_t *seen)
{
        uint64_t n = now - *seen;

        *seen = now;
        return n <= DROPS_MAX ? n : 0;
}

/* Twice the mean size of the received events: dropped events may differ from those. */
static uint64_t dropped_bytes(const struct zone_events *events)
{
        uint64_t bytes = events->n != 0 ? 2 * (events->n_bytes / events->n) : 0;

        if (bytes < DROPPED_BYTES_MIN)
                bytes = DROPPED_BYTES_MIN;
        return __builtin_mul_overflow(bytes, events->n_dropped, &bytes) ? UINT64_MAX : bytes;
}

uint64_t zone_region_lost_bytes(const struct zone_region *r)
{
        uint64_t bytes;

        return __builtin_add_overflow(dropped_bytes(&r->zone_events), dropped_bytes(&r->other_events), &bytes)
                       ? UINT64_MAX
                       : bytes;
}

struct client_drops zone_region_count_drops(struct zone_region *r, uint32_t slot)
{
        struct client_drops now = client_region_drops(r->region, slot);
        struct client_drops *seen = &r->slots[slot].seen;
        struct client_drops n = {
                .n_zones = grown(now.n_zones, &seen->n_zones),
                .n_deep_zones = grown(now.n_deep_zones, &seen->n_deep_zones),
                .n_messages = grown(now.n_messages, &seen->n_messages),
                .n_plots = grown(now.n_plots, &seen->n_plots),
                .n_frames = grown(now.n_frames, &seen->n_frames),
                .n_memory = grown(now.n_memory, &seen->n_memory),
                .n_locks = grown(now.n_locks, &seen->n_locks),
                .n_devices = grown(now.n_devices, &seen->n_devices),
                .n_other = grown(now.n_other, &seen->n_other),
                .n_no_pictures = grown(now.n_no_pictures, &seen->n_no_pictures),
                .n_no_device_zones = grown(now.n_no_device_zones, &seen->n_no_device_zones),
                .n_no_events = grown(now.n_no_events, &seen->n_no_events),
        };

        r->zone_events.n_dropped += n.n_zones;
        r->other_events.n_dropped += n.n_messages + n.n_plots + n.n_frames + n.n_memory + n.n_locks +
                                     n.n_devices + n.n_other;
        return n;
}

void zone_region_count_losses(struct zone_region *r, struct loss_counter *losses)
{
        uint64_t n_garbage = 0;

        for (size_t slot = 0; slot < r->n_slots; slot++)
                n_garbage += r->slots[slot].stream.n_garbage_bytes;
        loss_counter_add(losses, TRACE_LOSS_CLIENT_GARBAGE, n_garbage - r->n_garbage_seen);
        r->n_garbage_seen = n_garbage;
        loss_counter_add(losses, TRACE_LOSS_CLIENT_NO_RING,
                         grown(client_region_drops_no_ring(r->region), &r->n_no_ring_seen));
        loss_counter_add(losses, TRACE_LOSS_BLOB_REFUSED,
                         grown(client_region_blobs_refused(r->region), &r->n_refused_blobs_seen));
        loss_counter_add(losses, TRACE_LOSS_NAMES_FULL, r->n_names_left_out);
        r->n_names_left_out = 0;
        loss_counter_add(losses, TRACE_LOSS_LOCATIONS_SHARE, r->n_locations_left_out);
        r->n_locations_left_out = 0;
}
