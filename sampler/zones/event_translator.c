/* SPDX-License-Identifier: MIT */
#include "sampler/zones/event_translator.h"

#include "base/bytes.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "instrument/client_abi.h"
#include "instrument/client_region.h"
#include "instrument/client_stream.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"
#include "sampler/zones/zone_region.h"

#include <errno.h>
#include <stdbool.h>

#define PAYLOAD_KEPT_BYTES (UINT32_C(1) << 20) /* a larger buffer is freed before the next payload */

struct lane_key {
        uint32_t device, lane;
};

void event_translator_init(struct event_translator *t, const struct recording *recording)
{
        struct trace_dictionary *dictionary = recording->dictionary;

        *t = (struct event_translator){ .recording = recording };
        attachment_store_init(&t->attachments, dictionary, recording->losses);
        latest_rows_init(&t->plots, dictionary, TRACE_TABLE_PLOTS, sizeof(struct trace_plot));
        latest_rows_init(&t->program_info, dictionary, TRACE_TABLE_PROGRAM_INFO,
                         sizeof(struct trace_program_info));
        intern_init(&t->lanes, sizeof(struct lane_key), 0);
}

void event_translator_deinit(struct event_translator *t)
{
        attachment_store_deinit(&t->attachments);
        latest_rows_deinit(&t->plots);
        latest_rows_deinit(&t->program_info);
        intern_deinit(&t->lanes);
        byte_buffer_deinit(&t->payload);
}

int event_translator_start(struct event_translator *t)
{
        static const struct trace_location nameless = { .name = 0 };

        return trace_dictionary_add(t->recording->dictionary, TRACE_TABLE_LOCATIONS, &nameless, &t->nameless);
}

/* Counts words of a ring that make no sense.  Returns 0, as their translation does. */
static int count_garbage(struct event_translator *t, const struct client_event *from)
{
        loss_counter_add(t->recording->losses, TRACE_LOSS_CLIENT_GARBAGE,
                         sizeof(uint64_t) + from->text_bytes);
        return 0;
}

void event_translator_drop(struct event_translator *t, struct zone_region *region,
                           const struct client_event *from)
{
        (void)count_garbage(t, from);
        event_translator_pass(region, from);
}

void event_translator_pass(struct zone_region *region, const struct client_event *from)
{
        if (from->prefix.blob_bytes > 0)
                client_region_free_blob(region->region, from->prefix.blob_at, from->prefix.blob_bytes);
}

/* If a table is full, the row is lost; the limits of the tables report this. */
static int full_is_fine(int r)
{
        return r == -EOVERFLOW ? 0 : r;
}

/* ---- payloads ------------------------------------------------------------------------------------------ */

int event_translator_gather(struct event_translator *t, struct zone_region *region,
                            const struct client_event *from)
{
        const struct client_prefix *prefix = &from->prefix;
        int r = 0;

        if (t->payload.capacity_bytes > PAYLOAD_KEPT_BYTES)
                byte_buffer_deinit(&t->payload);
        byte_buffer_clear(&t->payload);
        if (from->text_bytes > 0)
                byte_buffer_add(&t->payload, from->text, from->text_bytes);
        if (prefix->blob_bytes > 0)
                r = client_region_read_blob(region->region, prefix->blob_at, prefix->blob_bytes, &t->payload,
                                            NULL);
        if (r == -ENOMEM || t->payload.failed)
                return -ENOMEM;
        if (r < 0)
                loss_counter_add(t->recording->losses, TRACE_LOSS_BLOB_DAMAGED, 1);
        return r == 0;
}

/* Makes a text for an event or a table from the payload.  Returns 1, 0 if it is lost, -ENOMEM. */
static int text_of(struct event_translator *t, struct zone_region *region, const struct client_event *from,
                   struct byte_reader *ret_text)
{
        const struct client_prefix *prefix = &from->prefix;
        int r;

        if (prefix->blob_bytes == 0) {
                *ret_text = byte_reader_of(from->text, from->text_bytes);
                return 1;
        }
        if (prefix->blob_bytes > TRACE_TEXT_BYTES_MAX - from->text_bytes) {
                client_region_free_blob(region->region, prefix->blob_at, prefix->blob_bytes);
                loss_counter_add(t->recording->losses, TRACE_LOSS_STRING_TABLE_FULL, 1);
                return 0;
        }
        r = event_translator_gather(t, region, from);
        if (r == 1)
                *ret_text = byte_reader_of(t->payload.data, t->payload.used_bytes);
        return r;
}

static int intern_text(struct event_translator *t, const uint8_t *bytes, size_t n_bytes, uint32_t *ret_id)
{
        int r = trace_dictionary_add_program_string(t->recording->dictionary, bytes, n_bytes, ret_id);

        if (r == -EOVERFLOW) {
                *ret_id = 0;
                loss_counter_add(t->recording->losses, TRACE_LOSS_NAMES_FULL, 1);
        }
        return full_is_fine(r);
}

/* ---- zones, messages, plots, frames -------------------------------------------------------------------- */

static int location_of(struct event_translator *t, struct zone_region *region, uint64_t client_id,
                       uint64_t *ret_location)
{
        uint32_t id = 0;
        int r = client_id <= UINT32_MAX
                        ? zone_region_location(region, t->recording->dictionary, (uint32_t)client_id, &id)
                        : 0;

        *ret_location = id ? id : t->nameless;
        return r;
}

/* Translates events whose first operand is a name to which the program gave a number. */
static int translate_named(struct event_translator *t, struct zone_region *region,
                           const struct client_event *from, struct trace_event *event)
{
        uint32_t name;
        int r = zone_region_name(region, t->recording->dictionary, from->argument, &name);

        event->operand[0] = name;
        event->operand[1] = from->value[0];
        event->operand[2] = from->value[1];
        return r < 0 ? r : 1;
}

/* Events whose first operand is a text. */
static int translate_text(struct event_translator *t, struct zone_region *region,
                          const struct client_event *from, struct trace_event *event)
{
        struct byte_reader text;
        int r = text_of(t, region, from, &text);

        if (r <= 0)
                return r;
        event->text = (const char *)text.at;
        event->operand[0] = text.left;
        event->operand[1] = from->value[0] >> 32; /* of a message; others have nothing there */
        event->operand[2] = from->value[0] & UINT32_MAX;
        return 1;
}

/* Translates a message to whose text the program gave a number. */
static int translate_named_message(struct event_translator *t, struct zone_region *region,
                                   const struct client_event *from, struct trace_event *event)
{
        int r = translate_named(t, region, from, event);

        event->message.severity = from->value[0] >> 32;
        event->message.color = from->value[0] & UINT32_MAX;
        return r;
}

static int translate_thread_name(struct event_translator *t, struct zone_region *region,
                                 const struct client_event *from, struct trace_event *event)
{
        struct byte_reader text;
        uint32_t name;
        int r = text_of(t, region, from, &text);

        if (r <= 0)
                return r;
        r = intern_text(t, text.at, text.left, &name);
        event->thread_name.name = name;
        return r < 0 ? r : 1;
}

/* ---- locks --------------------------------------------------------------------------------------------- */

static int translate_lock(struct event_translator *t, struct zone_region *region,
                          const struct client_event *from, bool shared, struct trace_event *event)
{
        uint32_t lock;
        int r = zone_region_lock(region, t->recording->dictionary, from->argument, &lock);

        if (r < 0)
                return r;
        if (lock == 0)
                return count_garbage(t, from);
        event->operand[0] = lock;
        event->operand[1] = shared;
        if (event->op == TRACE_OP_LOCK_MARK)
                r = location_of(t, region, from->value[0], &event->lock_mark.location);
        return r < 0 ? r : 1;
}

static int translate_lock_name(struct event_translator *t, struct zone_region *region,
                               const struct client_event *from, struct trace_event *event)
{
        struct byte_reader in;
        uint32_t client_id, lock = 0, name = 0;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_id = bytes_u32(&in);
        (void)bytes_u32(&in);
        if (!in.short_read)
                r = zone_region_lock(region, t->recording->dictionary, client_id, &lock);
        if (r < 0)
                return r;
        if (lock == 0)
                return count_garbage(t, from);
        r = intern_text(t, in.at, in.left, &name);
        event->lock_name.lock = lock;
        event->lock_name.name = name;
        return r < 0 ? r : 1;
}

/* ---- devices ------------------------------------------------------------------------------------------- */

static int add_device_clock(struct event_translator *t, const struct trace_device_clock *row)
{
        uint32_t id;

        return full_is_fine(
                trace_dictionary_add(t->recording->dictionary, TRACE_TABLE_DEVICE_CLOCKS, row, &id));
}

static int translate_device(struct event_translator *t, struct zone_region *region,
                            const struct client_event *from, struct trace_event *event)
{
        uint32_t device;
        int r = zone_region_device(region, t->recording->dictionary, from->argument, &device);

        if (r < 0)
                return r;
        if (device == 0)
                return count_garbage(t, from);
        if (from->kind == CLIENT_ABI_EVENT_DEVICE_CALIBRATION)
                return add_device_clock(t, &(struct trace_device_clock){ .ticks = from->value[0],
                                                                         .raw_ns = from->value[1],
                                                                         .device = device });
        event->operand[0] = device;
        event->operand[1] = from->value[0];
        event->operand[2] = from->value[1];
        if (event->op == TRACE_OP_DEVICE_ZONE_BEGIN)
                r = location_of(t, region, from->value[1], &event->device_zone_begin.location);
        return r < 0 ? r : 1;
}

/* Counts an event of a device that is none, or that does not make sense.  Returns 1, 0, -ENOMEM. */
static int find_device(struct event_translator *t, struct zone_region *region,
                       const struct client_event *from, bool makes_sense, uint32_t client_id,
                       uint64_t *ret_device)
{
        uint32_t device = 0;
        int r = makes_sense ? zone_region_device(region, t->recording->dictionary, client_id, &device) : 0;

        if (r < 0)
                return r;
        *ret_device = device;
        return device == 0 ? count_garbage(t, from) : 1;
}

/* Finds the string of a key's space; 0 = the program did not say it. */
static int space_of(struct event_translator *t, struct zone_region *region, uint32_t client_id,
                    uint64_t *ret_space)
{
        uint32_t name = 0;
        int r = client_id != 0 ? zone_region_name(region, t->recording->dictionary, client_id, &name) : 0;

        *ret_space = name;
        return r;
}

static int take_bracket(struct event_translator *t, struct zone_region *region,
                        const struct client_event *from)
{
        struct trace_device_clock row = { .ticks = 0 };
        uint32_t client_device;
        uint64_t begin_ns, width_ns, device;
        struct byte_reader in;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_device = bytes_u32(&in);
        (void)bytes_u32(&in);
        row.ticks = bytes_u64(&in);
        begin_ns = bytes_u64(&in);
        width_ns = bytes_u64(&in) - begin_ns; /* wraps to more than half if it ends before it begins */
        r = find_device(t, region, from, !in.short_read && width_ns <= INT64_MAX, client_device, &device);
        if (r <= 0)
                return r;
        row.device = (uint32_t)device;
        row.raw_ns = begin_ns + width_ns / 2;
        row.error_ns = width_ns / 2 + 1; /* never 0, which is not known */
        return add_device_clock(t, &row);
}

/* The row of a lane that was named; 0 = none was. */
static uint32_t track_of(const struct event_translator *t, uint32_t device, uint32_t lane)
{
        struct lane_key key = { device, lane };
        uint32_t id = intern_find(&t->lanes, &key, sizeof(key));

        return id <= trace_dictionary_count(t->recording->dictionary, TRACE_TABLE_TRACKS) ? id : 0;
}

static int take_track(struct event_translator *t, struct zone_region *region, const struct client_event *from)
{
        struct trace_track row = { .device = 0 };
        uint32_t client_device, parent_lane, id;
        uint64_t device;
        struct byte_reader in;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_device = bytes_u32(&in);
        row.number = bytes_u32(&in);
        parent_lane = bytes_u32(&in);
        row.kind = bytes_u32(&in);
        r = find_device(t, region, from, !in.short_read, client_device, &device);
        if (r <= 0 || track_of(t, (uint32_t)device, row.number) != 0)
                return r < 0 ? r : 0;
        row.device = (uint32_t)device;
        if (parent_lane != CLIENT_ABI_NO_LANE)
                row.parent = track_of(t, row.device, parent_lane);
        r = in.left > 0 ? intern_text(t, in.at, in.left, &row.name) : 0;
        if (r == 0)
                r = trace_dictionary_add(t->recording->dictionary, TRACE_TABLE_TRACKS, &row, &id);
        if (r == 0)
                r = intern_add(&t->lanes, &(struct lane_key){ row.device, row.number },
                               sizeof(struct lane_key), &id);
        return r < 0 ? full_is_fine(r) : 0;
}

static int translate_keyed_span(struct event_translator *t, struct zone_region *region,
                                const struct client_event *from, struct trace_event *event)
{
        uint32_t client_device, client_location, client_space;
        struct byte_reader in;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_device = bytes_u32(&in);
        client_location = bytes_u32(&in);
        event->device_span.begin_ticks = bytes_u64(&in);
        event->device_span.length_ticks = bytes_u64(&in) - event->device_span.begin_ticks;
        event->device_span.lane = bytes_u32(&in);
        client_space = bytes_u32(&in);
        event->device_span.key = bytes_u64(&in);
        r = find_device(t, region, from, !in.short_read && event->device_span.length_ticks <= INT64_MAX,
                        client_device, &event->device_span.device);
        if (r <= 0)
                return r;
        r = location_of(t, region, client_location, &event->device_span.location);
        if (r == 0)
                r = space_of(t, region, client_space, &event->device_span.space);
        return r < 0 ? r : 1;
}

static int translate_instant(struct event_translator *t, struct zone_region *region,
                             const struct client_event *from, struct trace_event *event)
{
        uint32_t client_device, client_location, client_space;
        struct byte_reader in;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_device = bytes_u32(&in);
        client_location = bytes_u32(&in);
        event->device_instant.ticks = bytes_u64(&in);
        event->device_instant.lane = bytes_u32(&in);
        client_space = bytes_u32(&in);
        event->device_instant.key = bytes_u64(&in);
        r = find_device(t, region, from, !in.short_read, client_device, &event->device_instant.device);
        if (r <= 0)
                return r;
        r = location_of(t, region, client_location, &event->device_instant.location);
        if (r == 0)
                r = space_of(t, region, client_space, &event->device_instant.space);
        return r < 0 ? r : 1;
}

static int translate_device_value(struct event_translator *t, struct zone_region *region,
                                  const struct client_event *from, struct trace_event *event)
{
        uint32_t client_device, client_plot, plot = 0;
        struct byte_reader in;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_device = bytes_u32(&in);
        client_plot = bytes_u32(&in);
        event->device_value.ticks = bytes_u64(&in);
        event->device_value.lane = bytes_u32(&in);
        event->device_value.kind = bytes_u32(&in);
        event->device_value.bits = bytes_u64(&in);
        r = find_device(t, region, from, !in.short_read, client_device, &event->device_value.device);
        if (r <= 0)
                return r;
        r = zone_region_device_plot(region, &t->plots, client_plot, &plot);
        if (r < 0)
                return r;
        event->device_value.plot = plot;
        return plot == 0 ? count_garbage(t, from) : 1;
}

static int translate_span(struct event_translator *t, struct zone_region *region,
                          const struct client_event *from, struct trace_event *event)
{
        struct byte_reader in;
        uint32_t client_device, client_location, device = 0;
        uint64_t end_ticks;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        client_device = bytes_u32(&in);
        client_location = bytes_u32(&in);
        event->device_span.begin_ticks = bytes_u64(&in);
        end_ticks = bytes_u64(&in);
        event->device_span.lane = bytes_u32(&in);
        event->device_span.key = bytes_u32(&in);
        if (!in.short_read && end_ticks >= event->device_span.begin_ticks)
                r = zone_region_device(region, t->recording->dictionary, client_device, &device);
        if (r < 0)
                return r;
        if (device == 0)
                return count_garbage(t, from);
        event->device_span.device = device;
        event->device_span.length_ticks = end_ticks - event->device_span.begin_ticks;
        r = location_of(t, region, client_location, &event->device_span.location);
        return r < 0 ? r : 1;
}

/* ---- what a program says about itself ------------------------------------------------------------------ */

static int take_program_info(struct event_translator *t, struct zone_region *region,
                             const struct client_event *from)
{
        struct trace_program_info row = { .process = region->process };
        struct byte_reader in;
        const uint8_t *key;
        uint32_t key_bytes;
        int r = text_of(t, region, from, &in);

        if (r <= 0)
                return r;
        key_bytes = bytes_u32(&in);
        (void)bytes_u32(&in);
        key = bytes_take(&in, key_bytes);
        if (in.short_read)
                return count_garbage(t, from);
        r = key_bytes > 0 ? intern_text(t, key, key_bytes, &row.key) : 0;
        if (r == 0)
                r = intern_text(t, in.at, in.left, &row.value);
        if (r == 0) /* free texts replace only themselves */
                r = latest_rows_add(
                        &t->program_info,
                        (struct latest_key){ .part = { row.process, row.key, row.key ? 0 : row.value } },
                        &row);
        return full_is_fine(r);
}

/* Keeps the rest of the payload. */
static int attach(struct event_translator *t, struct byte_reader *rest, uint32_t kind, uint32_t name,
                  uint32_t *ret_id)
{
        struct trace_attachment row = { .kind = kind, .name = name };

        return attachment_store_add(&t->attachments, &row, &t->payload, t->payload.used_bytes - rest->left,
                                    ret_id);
}

static int take_source_text(struct event_translator *t, struct zone_region *region,
                            const struct client_event *from)
{
        struct byte_reader in;
        const uint8_t *name;
        uint32_t name_bytes, name_id = 0, id;
        int r = event_translator_gather(t, region, from);

        if (r <= 0)
                return r;
        in = byte_reader_of(t->payload.data, t->payload.used_bytes);
        name_bytes = bytes_u32(&in);
        (void)bytes_u32(&in);
        name = bytes_take(&in, name_bytes);
        if (in.short_read)
                return count_garbage(t, from);
        r = intern_text(t, name, name_bytes, &name_id);
        return r < 0 ? r : attach(t, &in, TRACE_ATTACHMENT_SOURCE_TEXT, name_id, &id);
}

/* @ret_id: 0 if it was left out.  Returns 1 if it is new, 0, or -ENOMEM. */
static int add_region(struct event_translator *t, struct trace_code_region *row, uint32_t *ret_id)
{
        int r;

        *ret_id = 0;
        if (t->recording->regions)
                return code_regions_add(t->recording->regions, row, ret_id);
        r = trace_dictionary_add(t->recording->dictionary, TRACE_TABLE_CODE_REGIONS, row, ret_id);
        return r == 0 ? 1 : full_is_fine(r);
}

static int take_code(struct event_translator *t, struct zone_region *region, const struct client_event *from,
                     uint64_t time_ns)
{
        struct trace_code_region row = { .time_ns = time_ns, .process = region->process };
        struct byte_reader in;
        const uint8_t *name;
        uint32_t name_bytes, id;
        int r = event_translator_gather(t, region, from);

        if (r <= 0)
                return r;
        in = byte_reader_of(t->payload.data, t->payload.used_bytes);
        row.start_avma = bytes_u64(&in);
        row.length_bytes = bytes_u64(&in);
        name_bytes = bytes_u32(&in);
        (void)bytes_u32(&in);
        name = bytes_take(&in, name_bytes);
        if (in.short_read)
                return count_garbage(t, from);
        r = intern_text(t, name, name_bytes, &row.name);
        if (r == 0 && in.left > 0)
                r = attach(t, &in, TRACE_ATTACHMENT_CODE_IMAGE, row.name, &row.attachment);
        return r < 0 ? r : add_region(t, &row, &id);
}

/* Rows of CODE_LINES are in the order of their regions, so they are made with a new region alone. */
static int add_lines(struct event_translator *t, struct byte_reader *lines, struct trace_code_line row,
                     uint64_t length_bytes)
{
        uint32_t id;
        int r = 0;

        for (uint64_t next_bytes = 0; r == 0 && lines->left >= 2 * sizeof(uint32_t);) {
                row.offset_bytes = bytes_u32(lines);
                row.line = bytes_u32(lines);
                if (row.offset_bytes < next_bytes || row.offset_bytes >= length_bytes)
                        continue;
                next_bytes = (uint64_t)row.offset_bytes + 1;
                r = trace_dictionary_add(t->recording->dictionary, TRACE_TABLE_CODE_LINES, &row, &id);
        }
        return full_is_fine(r);
}

static int take_code_lines(struct event_translator *t, struct zone_region *region,
                           const struct client_event *from, uint64_t time_ns)
{
        struct trace_code_region row = { .time_ns = time_ns, .process = region->process };
        struct trace_code_line line = { .region = 0 };
        const struct trace_location *named;
        struct byte_reader in;
        uint32_t client_location, location = 0;
        int r = event_translator_gather(t, region, from);

        if (r <= 0)
                return r;
        in = byte_reader_of(t->payload.data, t->payload.used_bytes);
        row.start_avma = bytes_u64(&in);
        row.length_bytes = bytes_u64(&in);
        client_location = bytes_u32(&in);
        (void)bytes_u32(&in);
        r = in.short_read
                    ? 0
                    : zone_region_location(region, t->recording->dictionary, client_location, &location);
        if (r < 0)
                return r;
        if (location == 0)
                return count_garbage(t, from);
        named = trace_dictionary_row(t->recording->dictionary, TRACE_TABLE_LOCATIONS, location);
        row.name = named->name;
        line.file = named->file;
        r = add_region(t, &row, &line.region);
        return r == 1 && line.region != 0 ? add_lines(t, &in, line, row.length_bytes) : r;
}

static int take_code_gone(struct event_translator *t, const struct zone_region *region,
                          const struct client_event *from, uint64_t time_ns)
{
        struct trace_code_region row = { .start_avma = from->value[0],
                                         .length_bytes = from->value[1],
                                         .time_ns = time_ns,
                                         .process = region->process,
                                         .gone = 1 };
        uint32_t id;

        return add_region(t, &row, &id);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

/* Returns the op that an event becomes; 0 = none. */
static uint64_t op_of(uint32_t kind)
{
        static const uint8_t ops[] = {
                [CLIENT_ABI_EVENT_ZONE_BEGIN] = TRACE_OP_ZONE_BEGIN,
                [CLIENT_ABI_EVENT_ZONE_END] = TRACE_OP_ZONE_END,
                [CLIENT_ABI_EVENT_MESSAGE] = TRACE_OP_MESSAGE_TEXT,
                [CLIENT_ABI_EVENT_PLOT_I64] = TRACE_OP_PLOT_I64,
                [CLIENT_ABI_EVENT_PLOT_F64] = TRACE_OP_PLOT_F64,
                [CLIENT_ABI_EVENT_FRAME_MARK] = TRACE_OP_FRAME_MARK,
                [CLIENT_ABI_EVENT_THREAD_NAME] = TRACE_OP_THREAD_NAME,
                [CLIENT_ABI_EVENT_FRAME_BEGIN] = TRACE_OP_FRAME_BEGIN,
                [CLIENT_ABI_EVENT_FRAME_END] = TRACE_OP_FRAME_END,
                [CLIENT_ABI_EVENT_ZONE_COLOR] = TRACE_OP_ZONE_COLOR,
                [CLIENT_ABI_EVENT_LOCK_WAIT] = TRACE_OP_LOCK_WAIT,
                [CLIENT_ABI_EVENT_LOCK_OBTAIN] = TRACE_OP_LOCK_OBTAIN,
                [CLIENT_ABI_EVENT_LOCK_RELEASE] = TRACE_OP_LOCK_RELEASE,
                [CLIENT_ABI_EVENT_LOCK_WAIT_SHARED] = TRACE_OP_LOCK_WAIT,
                [CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED] = TRACE_OP_LOCK_OBTAIN,
                [CLIENT_ABI_EVENT_LOCK_RELEASE_SHARED] = TRACE_OP_LOCK_RELEASE,
                [CLIENT_ABI_EVENT_LOCK_GONE] = TRACE_OP_LOCK_GONE,
                [CLIENT_ABI_EVENT_MEMORY_DISCARD] = TRACE_OP_MEMORY_DISCARD,
                [CLIENT_ABI_EVENT_ZONE_VALUE] = TRACE_OP_ZONE_VALUE,
                [CLIENT_ABI_EVENT_MEMORY_FREE] = TRACE_OP_MEMORY_FREE,
                [CLIENT_ABI_EVENT_LOCK_MARK] = TRACE_OP_LOCK_MARK,
                [CLIENT_ABI_EVENT_THREAD_GROUP] = TRACE_OP_THREAD_GROUP,
                [CLIENT_ABI_EVENT_DEVICE_ZONE_END] = TRACE_OP_DEVICE_ZONE_END,
                [CLIENT_ABI_EVENT_MESSAGE_NAMED] = TRACE_OP_MESSAGE,
                [CLIENT_ABI_EVENT_MEMORY_ALLOC] = TRACE_OP_MEMORY_ALLOC,
                [CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN] = TRACE_OP_DEVICE_ZONE_BEGIN,
                [CLIENT_ABI_EVENT_DEVICE_TIME] = TRACE_OP_DEVICE_TIME,
                [CLIENT_ABI_EVENT_ZONE_TEXT] = TRACE_OP_ZONE_TEXT,
                [CLIENT_ABI_EVENT_ZONE_NAME] = TRACE_OP_ZONE_NAME,
                [CLIENT_ABI_EVENT_LOCK_NAME] = TRACE_OP_LOCK_NAME,
                [CLIENT_ABI_EVENT_DEVICE_SPAN] = TRACE_OP_DEVICE_SPAN,
                [CLIENT_ABI_EVENT_ZONE_KEY] = TRACE_OP_ZONE_KEY,
                [CLIENT_ABI_EVENT_DEVICE_KEYED_SPAN] = TRACE_OP_DEVICE_SPAN,
                [CLIENT_ABI_EVENT_DEVICE_VALUE] = TRACE_OP_DEVICE_VALUE,
                [CLIENT_ABI_EVENT_DEVICE_INSTANT] = TRACE_OP_DEVICE_INSTANT,
                [CLIENT_ABI_EVENT_FRAME_PICTURE] = TRACE_OP_FRAME_PICTURE,
        };

        if (kind >= CLIENT_ABI_EVENT_FLOW_BEGIN && kind <= CLIENT_ABI_EVENT_FLOW_END)
                return TRACE_OP_FLOW;
        return kind < sizeof(ops) / sizeof(ops[0]) ? ops[kind] : 0;
}

static bool has_payload(uint32_t kind)
{
        return kind == CLIENT_ABI_EVENT_MESSAGE || kind == CLIENT_ABI_EVENT_THREAD_NAME ||
               kind >= CLIENT_ABI_EVENT_NEW_BYTES;
}

/* Words that become no event. */
static int take_fact(struct event_translator *t, struct zone_region *region, const struct client_event *from,
                     uint64_t time_ns)
{
        switch (from->kind) {
        case CLIENT_ABI_EVENT_PLOT_CONFIG:
                return zone_region_plot(region, &t->plots, from->argument);
        case CLIENT_ABI_EVENT_DEVICE_CALIBRATION:
                return translate_device(t, region, from, NULL);
        case CLIENT_ABI_EVENT_DEVICE_BRACKET:
                return take_bracket(t, region, from);
        case CLIENT_ABI_EVENT_DEVICE_TRACK:
                return take_track(t, region, from);
        case CLIENT_ABI_EVENT_PROGRAM_INFO:
                return take_program_info(t, region, from);
        case CLIENT_ABI_EVENT_SOURCE_TEXT:
                return take_source_text(t, region, from);
        case CLIENT_ABI_EVENT_CODE:
                return take_code(t, region, from, time_ns);
        case CLIENT_ABI_EVENT_CODE_LINES:
                return take_code_lines(t, region, from, time_ns);
        case CLIENT_ABI_EVENT_CODE_GONE:
                return take_code_gone(t, region, from, time_ns);
        default:
                event_translator_drop(t, region, from);
                return 0;
        }
}

static int translate(struct event_translator *t, struct zone_region *region, const struct client_event *from,
                     struct trace_event *event)
{
        int r;

        switch ((enum trace_op)event->op) {
        case TRACE_OP_ZONE_BEGIN:
                r = location_of(t, region, from->argument, &event->zone_begin.location);
                return r < 0 ? r : 1;
        case TRACE_OP_ZONE_COLOR:
                event->zone_color.color = from->argument;
                return 1;
        case TRACE_OP_ZONE_VALUE:
        case TRACE_OP_THREAD_GROUP:
                event->operand[0] = from->value[0];
                return 1;
        case TRACE_OP_ZONE_TEXT:
        case TRACE_OP_ZONE_NAME:
        case TRACE_OP_MESSAGE_TEXT:
                return translate_text(t, region, from, event);
        case TRACE_OP_MESSAGE:
                return translate_named_message(t, region, from, event);
        case TRACE_OP_THREAD_NAME:
                return translate_thread_name(t, region, from, event);
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
        case TRACE_OP_MEMORY_DISCARD:
        case TRACE_OP_ZONE_KEY:
                return translate_named(t, region, from, event);
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_RELEASE:
        case TRACE_OP_LOCK_MARK:
        case TRACE_OP_LOCK_GONE:
                return translate_lock(t, region, from, from->kind >= CLIENT_ABI_EVENT_LOCK_WAIT_SHARED,
                                      event);
        case TRACE_OP_LOCK_NAME:
                return translate_lock_name(t, region, from, event);
        case TRACE_OP_DEVICE_ZONE_BEGIN:
        case TRACE_OP_DEVICE_ZONE_END:
        case TRACE_OP_DEVICE_TIME:
                return translate_device(t, region, from, event);
        case TRACE_OP_DEVICE_SPAN:
                return from->kind == CLIENT_ABI_EVENT_DEVICE_SPAN
                               ? translate_span(t, region, from, event)
                               : translate_keyed_span(t, region, from, event);
        case TRACE_OP_DEVICE_VALUE:
                return translate_device_value(t, region, from, event);
        case TRACE_OP_DEVICE_INSTANT:
                return translate_instant(t, region, from, event);
        case TRACE_OP_FLOW:
                r = translate_named(t, region, from, event);
                event->flow.phase = from->kind - CLIENT_ABI_EVENT_FLOW_BEGIN + TRACE_FLOW_BEGIN;
                return r;
        case TRACE_OP_FRAME_PICTURE:
                return event_translator_picture(t, region, from, event);
        case TRACE_OP_ZONE_END:
        case TRACE_OP_WAKEUP:
        case TRACE_OP_STACK_COPY:
        case TRACE_OP_SAMPLE:
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
        case TRACE_OP_THREAD_EXIT:
        case TRACE_OP_CALLSTACK:
        case TRACE_OP_FIBER_ENTER:
        case TRACE_OP_FIBER_LEAVE:
        case TRACE_OP_ZONES_GONE:
                break; /* these have no operands, or are never made of a program's event */
        }
        return 1;
}

int event_translator_run(struct event_translator *t, struct zone_region *region,
                         const struct client_event *from, uint64_t time_ns, struct trace_event *ret_event)
{
        struct trace_event event = { .time_ns = time_ns, .op = op_of(from->kind) };
        int r;

        if (from->prefix.blob_bytes > 0 && !has_payload(from->kind))
                client_region_free_blob(region->region, from->prefix.blob_at, from->prefix.blob_bytes);
        r = event.op == 0 ? take_fact(t, region, from, time_ns) : translate(t, region, from, &event);
        if (r <= 0 || event.op == 0)
                return r < 0 ? r : 0;
        *ret_event = event;
        return 1;
}
