/* SPDX-License-Identifier: MIT */
#include "import/perfetto/import_pftrace.h"

#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/protobuf_pull.h"
#include "import/perfetto/pftrace_args.h"
#include "import/perfetto/pftrace_clocks.h"
#include "import/perfetto/pftrace_fields.h"
#include "import/perfetto/pftrace_keys.h"
#include "import/perfetto/pftrace_packets.h"
#include "import/perfetto/pftrace_sequences.h"
#include "import/perfetto/pftrace_tracks.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_slices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FLOWS_MAX     16  /* of an event; further ones are counted */
#define PACKETS_MAX   256 /* numbers of kinds of packets that are counted apart */
#define LEGACY_PHASES 128
#define US            1000

struct reader {
        struct import_rows *rows;
        struct pftrace_packets packets;
        struct pftrace_clocks clocks;
        struct pftrace_sequences sequences;
        struct pftrace_tracks tracks;
        struct pftrace_args args;
        struct pftrace_keys keys;
        struct import_slices slices;
        uint32_t flow; /* string */
        uint64_t n_packets[PACKETS_MAX], n_legacy[LEGACY_PHASES];
        uint64_t n_after_loss, n_no_name, n_extra, n_categories, n_typed, n_flows;
};

struct packet {
        struct text_view event, interned, defaults, track, thread, snapshot, compressed;
        uint64_t time, sequence, flags, clock;
        bool has_time, is_dropped, is_first;
        uint32_t other;  /* number of what is in it; 0 = only what is read */
        const char *why; /* why it is malformed */
};

struct event {
        uint64_t type, uuid, name_iid, location_iid, delta_us, absolute_us;
        uint64_t flows[FLOWS_MAX];
        unsigned n_flows;
        uint64_t n_beyond; /* flows beyond FLOWS_MAX */
        struct text_view name, legacy, location;
        uint64_t counter; /* bits */
        bool has_uuid, has_name_iid, has_counter, has_double, has_delta, has_absolute;
};

/* Where and when something happened, in the terms of import_rows. */
struct place {
        struct pftrace_track *of; /* NULL: a thread that only legacy events name */
        uint64_t lane, pid, time;
        uint32_t track, known;
};

struct legacy {
        uint64_t phase, duration_us, id, pid, tid;
        uint32_t name;                   /* string; 0 = none */
        enum pftrace_legacy_field scope; /* number of the field that `id` was in; 0 = none */
        bool has_pid, has_tid;
};

static int refuse(struct packet *packet, const char *why)
{
        packet->why = why;
        return -EBADMSG;
}

/* ------------------------------------------------------------------ packets */

static bool is_envelope(uint32_t number)
{
        /* trusted_uid, trusted_pid, machine_id */
        return number == 3 || number == 79 || number == 98;
}

static int read_packet(struct text_view bytes, struct packet *ret)
{
        struct byte_reader reader = protobuf_pull_of(bytes);
        struct protobuf_field field;
        int r;

        *ret = (struct packet){ .why = "no packet" };
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                switch (field.number) {
                case PFTRACE_TIMESTAMP:
                        ret->time = field.value;
                        ret->has_time = true;
                        break;
                case PFTRACE_SEQUENCE:
                        ret->sequence = field.value;
                        break;
                case PFTRACE_FLAGS:
                        ret->flags = field.value;
                        break;
                case PFTRACE_CLOCK:
                        ret->clock = field.value;
                        break;
                case PFTRACE_DROPPED:
                        ret->is_dropped = field.value != 0;
                        break;
                case PFTRACE_FIRST:
                        ret->is_first = field.value != 0;
                        break;
                case PFTRACE_TRACK_EVENT:
                        ret->event = field.bytes;
                        break;
                case PFTRACE_INTERNED:
                        ret->interned = field.bytes;
                        break;
                case PFTRACE_DEFAULTS:
                        ret->defaults = field.bytes;
                        break;
                case PFTRACE_TRACK:
                        ret->track = field.bytes;
                        break;
                case PFTRACE_THREAD:
                        ret->thread = field.bytes;
                        break;
                case PFTRACE_CLOCK_SNAPSHOT:
                        ret->snapshot = field.bytes;
                        break;
                case PFTRACE_COMPRESSED:
                        ret->compressed = field.bytes;
                        break;
                default:
                        if (!is_envelope(field.number))
                                ret->other = field.number;
                        break;
                }
        }
        return r;
}

/* ------------------------------------------------------------------ track events */

static void read_flow(struct event *event, uint64_t flow)
{
        if (event->n_flows < FLOWS_MAX)
                event->flows[event->n_flows++] = flow;
        else
                event->n_beyond++;
}

/* Returns 0, -EBADMSG, or -ENOMEM without words. */
static int read_event_field(struct reader *r, const struct pftrace_sequence *sequence,
                            const struct protobuf_field *field, struct event *event)
{
        switch (field->number) {
        case PFTRACE_EVENT_TYPE:
                event->type = field->value;
                break;
        case PFTRACE_EVENT_TRACK:
                event->uuid = field->value;
                event->has_uuid = true;
                break;
        case PFTRACE_EVENT_NAME_IID:
                event->name_iid = field->value;
                event->has_name_iid = true;
                break;
        case PFTRACE_EVENT_NAME:
                event->name = field->bytes;
                break;
        case PFTRACE_EVENT_CATEGORY_IID:
        case PFTRACE_EVENT_CATEGORY:
                r->n_categories++;
                break;
        case PFTRACE_EVENT_ANNOTATION:
                return pftrace_args_add(&r->args, sequence, field->bytes);
        case PFTRACE_EVENT_LEGACY:
                event->legacy = field->bytes;
                break;
        case PFTRACE_EVENT_LOCATION:
                event->location = field->bytes;
                break;
        case PFTRACE_EVENT_LOCATION_IID:
                event->location_iid = field->value;
                break;
        case PFTRACE_EVENT_COUNTER:
        case PFTRACE_EVENT_COUNTER_DOUBLE:
                event->counter = field->value;
                event->has_counter = true;
                event->has_double = field->number == PFTRACE_EVENT_COUNTER_DOUBLE;
                break;
        case PFTRACE_EVENT_FLOW:
        case PFTRACE_EVENT_TERMINATING_FLOW:
        case PFTRACE_EVENT_FLOW_OLD:
        case PFTRACE_EVENT_TERMINATING_FLOW_OLD:
                read_flow(event, field->value);
                break;
        case PFTRACE_EVENT_EXTRA_VALUES:
        case PFTRACE_EVENT_EXTRA_DOUBLES:
                r->n_extra++;
                break;
        case PFTRACE_EVENT_EXTRA_TRACKS:
        case PFTRACE_EVENT_EXTRA_DOUBLE_TRACKS:
                break;
        case PFTRACE_EVENT_DELTA_US:
                event->delta_us = field->value;
                event->has_delta = true;
                break;
        case PFTRACE_EVENT_ABSOLUTE_US:
                event->absolute_us = field->value;
                event->has_absolute = true;
                break;
        default:
                r->n_typed++;
                break;
        }
        return 0;
}

static int read_event(struct reader *r, const struct pftrace_sequence *sequence, struct packet *packet,
                      struct event *event, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(packet->event);
        struct protobuf_field field;
        int e;

        *event = (struct event){ .type = 0 };
        pftrace_args_clear(&r->args);
        while ((e = protobuf_pull_next(&reader, &field)) == 1) {
                e = read_event_field(r, sequence, &field, event);
                if (e < 0)
                        break;
        }
        if (e == -ENOMEM)
                return error_set(err, e, "no memory for annotations");
        return e < 0 ? refuse(packet, "a track event that is broken") : 0;
}

static int find_name(struct reader *r, const struct pftrace_sequence *sequence, const struct event *event,
                     uint32_t *ret_name, struct error *err)
{
        const struct interned_text *thing;

        if (!event->has_name_iid)
                return import_rows_string(r->rows, event->name, ret_name, err);
        thing = pftrace_sequence_thing(sequence, PFTRACE_INTERNED_NAME, event->name_iid);
        r->n_no_name += !thing;
        *ret_name = thing ? thing->string : 0;
        return 0;
}

static int find_location(struct reader *r, const struct pftrace_sequence *sequence, const struct event *event,
                         struct import_span *span, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(event->location);
        const struct interned_text *thing;
        struct protobuf_field field;
        int e = 0;

        if (event->location_iid != 0) {
                thing = pftrace_sequence_thing(sequence, PFTRACE_INTERNED_LOCATION, event->location_iid);
                span->file = thing ? thing->string : 0;
                span->line = thing ? thing->line : 0;
        }
        while (e == 0 && protobuf_pull_next(&reader, &field) == 1) {
                if (field.number == PFTRACE_INTERNED_TEXT)
                        e = import_rows_string(r->rows, field.bytes, &span->file, err);
                else if (field.number == PFTRACE_LOCATION_LINE && field.value <= UINT32_MAX)
                        span->line = (uint32_t)field.value;
        }
        return e;
}

/* ------------------------------------------------------------------ where and when */

static int find_time(struct reader *r, struct pftrace_sequence *sequence, struct packet *packet,
                     const struct event *event, struct place *place)
{
        if (event->has_absolute || event->has_delta) {
                sequence->time_us = event->has_absolute ? event->absolute_us
                                                        : sequence->time_us + event->delta_us;
                return pftrace_clocks_time(&r->clocks, &sequence->scope, PFTRACE_MONOTONIC,
                                           sequence->time_us * US, &place->known, &place->time);
        }
        return packet->has_time ? 0 : refuse(packet, "a track event without a time");
}

static int find_thread(struct reader *r, uint64_t pid, uint64_t tid, struct place *place, struct error *err)
{
        place->of = NULL;
        place->pid = pid;
        place->lane = content_hash((uint64_t[]){ pid, tid }, 2 * sizeof(uint64_t)) | 1;
        return pftrace_tracks_thread(&r->tracks, pid, tid, place->known, &place->track, err);
}

static int find_place(struct reader *r, const struct pftrace_sequence *sequence, struct packet *packet,
                      const struct event *event, struct place *place, struct error *err)
{
        uint64_t uuid = event->has_uuid ? event->uuid : sequence->has_track ? sequence->track : 0;
        int e;

        if (!event->has_uuid && !sequence->has_track && sequence->has_thread)
                return find_thread(r, sequence->pid, sequence->tid, place, err);
        e = pftrace_tracks_find(&r->tracks, uuid, place->known, &place->of, err);
        if (e < 0)
                return e;
        if (!pftrace_clocks_convert(&r->clocks, place->known, place->of->known, &place->time))
                return refuse(packet, "a time of another clock than the track's, and no snapshot of both");
        place->known = place->of->known;
        place->track = place->of->track;
        place->pid = place->of->pid;
        place->lane = uuid;
        return 0;
}

/* ------------------------------------------------------------------ what happened */

static int put_instant(struct reader *r, const struct import_span *span, struct error *err)
{
        struct import_instant instant = { .track = span->track,
                                          .name = span->name,
                                          .text = span->text,
                                          .time = span->begin,
                                          .key = span->key };

        return import_rows_instant(r->rows, &instant, err);
}

/* The first flow is the key of a span or an instant; further ones, and those of ends, are instants. */
static int put_flows(struct reader *r, const struct event *event, struct import_span *span, bool is_end,
                     struct error *err)
{
        int e = 0;

        if (event->n_flows == 0)
                return 0;
        if (r->flow == 0)
                e = import_rows_string(r->rows, (struct text_view){ "flow", 4 }, &r->flow, err);
        if (!is_end)
                span->key = (struct import_key){ .kind = r->flow, .value = event->flows[0] };
        for (unsigned i = is_end ? 0 : 1; e == 0 && i < event->n_flows; i++) {
                struct import_span one = *span;

                one.text = 0;
                one.key = (struct import_key){ .kind = r->flow, .value = event->flows[i] };
                e = put_instant(r, &one, err);
        }
        return e;
}

/* ------------------------------------------------------------------ keys of hyprof's export */

/* Work on a lane of a device has its text in one of the annotations. */
static bool has_own_text(const struct place *place)
{
        return place->of && place->of->is_below_device;
}

/* Flows of an event whose keys are known are arrows between zones with keys. */
static int put_keys(struct reader *r, const struct event *event, const struct place *place,
                    struct import_span *span, struct error *err)
{
        bool is_of_device = has_own_text(place);
        int n = event->type == PFTRACE_BEGIN || (event->type == PFTRACE_INSTANT && is_of_device)
                        ? pftrace_keys_read(&r->keys, pftrace_args_end(&r->args), is_of_device, span, err)
                        : 0;

        if (n != 0)
                return n < 0 ? n : 0;
        r->n_flows += event->n_beyond;
        return put_flows(r, event, span, event->type == PFTRACE_END, err);
}

/* ------------------------------------------------------------------ counters, legacy events */

static int put_counter(struct reader *r, struct packet *packet, const struct event *event,
                       const struct place *place, struct error *err)
{
        struct pftrace_track *of = place->of;
        struct import_value value = { .track = place->track, .time = place->time };
        int64_t whole;
        double real;

        if (!event->has_counter || !of || of->kind != PFTRACE_TRACK_IS_COUNTER)
                return refuse(packet, event->has_counter ? "a counter's value on a track that is no counter"
                                                         : "a counter without a value");
        value.name = of->title;
        value.unit = of->unit;
        if (event->has_double) {
                value.kind = IMPORT_VALUE_DOUBLE;
                memcpy(&real, &event->counter, sizeof(real));
                real *= (double)of->multiplier;
                memcpy(&value.bits, &real, sizeof(real));
                return import_rows_value(r->rows, &value, err);
        }
        value.kind = IMPORT_VALUE_SIGNED;
        whole = (int64_t)event->counter;
        if (__builtin_mul_overflow(whole, of->multiplier, &whole) ||
            (of->is_incremental && __builtin_add_overflow(of->sum, whole, &whole)))
                return refuse(packet, "a counter beyond 64 bits");
        of->sum = whole;
        memcpy(&value.bits, &whole, sizeof(whole));
        return import_rows_value(r->rows, &value, err);
}

static int read_legacy(const struct pftrace_sequence *sequence, struct text_view message, struct legacy *ret)
{
        struct byte_reader reader = protobuf_pull_of(message);
        const struct interned_text *name;
        struct protobuf_field field;
        int r;

        *ret = (struct legacy){ .phase = 0 };
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                switch (field.number) {
                case PFTRACE_LEGACY_PHASE:
                        ret->phase = field.value;
                        break;
                case PFTRACE_LEGACY_NAME_IID:
                        name = pftrace_sequence_thing(sequence, PFTRACE_INTERNED_NAME, field.value);
                        ret->name = name && field.value != 0 ? name->string : 0;
                        break;
                case PFTRACE_LEGACY_DURATION_US:
                        ret->duration_us = field.value;
                        break;
                case PFTRACE_LEGACY_UNSCOPED_ID:
                case PFTRACE_LEGACY_LOCAL_ID:
                case PFTRACE_LEGACY_GLOBAL_ID:
                        ret->id = field.value;
                        ret->scope = (enum pftrace_legacy_field)field.number;
                        break;
                case PFTRACE_LEGACY_PID:
                        ret->pid = (uint32_t)field.value;
                        ret->has_pid = true;
                        break;
                case PFTRACE_LEGACY_TID:
                        ret->tid = (uint32_t)field.value;
                        ret->has_tid = true;
                        break;
                default:
                        break;
                }
        }
        return r;
}

/* Asynchronous work of a process, told apart by its id. */
static int put_async(struct reader *r, const struct legacy *legacy, const struct place *place,
                     struct import_span *span, struct error *err)
{
        bool is_local = legacy->scope == PFTRACE_LEGACY_LOCAL_ID;
        const uint64_t parts[] = { legacy->id, legacy->scope, is_local ? place->pid : 0, span->name };
        uint64_t lane = content_hash(parts, sizeof(parts));
        int e = pftrace_tracks_async(&r->tracks, place->pid, (struct text_view){ "async", 5 }, place->known,
                                     &span->track, err);

        if (e < 0)
                return e;
        if (strchr("bS", (int)legacy->phase))
                return import_slices_begin(&r->slices, lane, span, err);
        return strchr("eF", (int)legacy->phase) ? import_slices_end(&r->slices, lane, span, err)
                                                : put_instant(r, span, err);
}

static int put_legacy(struct reader *r, struct packet *packet, const struct legacy *legacy,
                      struct place *place, struct import_span *span, struct error *err)
{
        uint64_t duration;
        int e = 0;

        if (legacy->phase <= ' ' || legacy->phase >= LEGACY_PHASES)
                return refuse(packet, "an event without a type");
        if (legacy->has_pid || legacy->has_tid)
                e = find_thread(r, legacy->has_pid ? legacy->pid : place->pid,
                                legacy->has_tid ? legacy->tid
                                : place->of     ? place->of->tid
                                                : 0,
                                place, err);
        span->track = place->track;
        if (span->name == 0)
                span->name = legacy->name;
        if (e < 0)
                return e;
        switch (legacy->phase) {
        case 'B':
                return import_slices_begin(&r->slices, place->lane, span, err);
        case 'E':
                return import_slices_end(&r->slices, place->lane, span, err);
        case 'X':
                if (__builtin_mul_overflow(legacy->duration_us, US, &duration) ||
                    __builtin_add_overflow(span->begin, duration, &span->end) || duration > INT64_MAX)
                        return refuse(packet, "a duration out of range");
                return import_rows_span(r->rows, span, err);
        case 'i':
        case 'I':
        case 'R':
                return put_instant(r, span, err);
        default:
                if (strchr("bneSTpF", (int)legacy->phase))
                        return put_async(r, legacy, place, span, err);
                r->n_legacy[legacy->phase]++;
                return 0;
        }
}

static int take_event(struct reader *r, struct pftrace_sequence *sequence, struct packet *packet,
                      struct place *place, struct error *err)
{
        struct import_span span = { .track = 0 };
        struct legacy legacy;
        struct event event;
        int e = read_event(r, sequence, packet, &event, err);

        if (e == 0)
                e = find_time(r, sequence, packet, &event, place);
        if (e == 0)
                e = find_place(r, sequence, packet, &event, place, err);
        if (e < 0)
                return e;
        if (event.type == PFTRACE_COUNTER)
                return put_counter(r, packet, &event, place, err);
        span.track = place->track;
        span.begin = span.end = place->time;
        e = find_name(r, sequence, &event, &span.name, err);
        if (e == 0 && !has_own_text(place))
                e = import_rows_string(r->rows, pftrace_args_end(&r->args), &span.text, err);
        if (e == 0)
                e = find_location(r, sequence, &event, &span, err);
        if (e == 0)
                e = put_keys(r, &event, place, &span, err);
        if (e < 0)
                return e;
        switch (event.type) {
        case PFTRACE_BEGIN:
                return import_slices_begin(&r->slices, place->lane, &span, err);
        case PFTRACE_END:
                return import_slices_end(&r->slices, place->lane, &span, err);
        case PFTRACE_INSTANT:
                return put_instant(r, &span, err);
        default:
                return read_legacy(sequence, event.legacy, &legacy) == 0
                               ? put_legacy(r, packet, &legacy, place, &span, err)
                               : refuse(packet, "an event without a type");
        }
}

/* ------------------------------------------------------------------ the state of a sequence */

static int take_state(struct reader *r, struct pftrace_sequence *sequence, struct packet *packet,
                      struct error *err)
{
        int e = 0;

        if (packet->is_dropped && !packet->is_first) {
                import_rows_dropped(r->rows, 1);
                sequence->has_state = false;
        }
        if (packet->flags & PFTRACE_STATE_CLEARED) {
                pftrace_sequences_clear(&r->sequences, sequence);
                sequence->has_state = true;
        }
        if (packet->interned.bytes)
                e = pftrace_sequences_intern(&r->sequences, sequence, packet->interned, err);
        if (e == 0 && packet->defaults.bytes)
                e = pftrace_sequences_defaults(sequence, packet->defaults);
        if (e == 0 && packet->snapshot.bytes)
                e = pftrace_clocks_snapshot(&r->clocks, &sequence->scope, packet->snapshot, err);
        if (e == 0 && packet->thread.bytes) {
                e = pftrace_tracks_read_thread(packet->thread, &sequence->pid, &sequence->tid,
                                               &sequence->time_us);
                sequence->has_thread = sequence->has_thread || e == 0;
        }
        if (e == 0 && packet->track.bytes)
                e = pftrace_tracks_describe(&r->tracks, packet->track, err);
        return e;
}

/* Counts what nothing is made of. */
static void count_packet(struct reader *r, const struct packet *packet)
{
        if (packet->other != 0)
                r->n_packets[packet->other < PACKETS_MAX ? packet->other : 0]++;
}

static int take_packet(struct reader *r, struct packet *packet, struct error *err)
{
        struct pftrace_sequence *sequence = NULL;
        struct place place = { .of = NULL };
        uint32_t clock;
        int e;

        if (packet->compressed.bytes)
                return r->packets.inside.at ? refuse(packet, "packets packed twice")
                                            : pftrace_packets_unpack(&r->packets, packet->compressed, err);
        e = pftrace_sequences_find(&r->sequences, packet->sequence, &sequence, err);
        if (e == 0)
                e = take_state(r, sequence, packet, err);
        if (e < 0)
                return e;
        count_packet(r, packet);
        if (packet->flags & PFTRACE_NEEDS_STATE && !sequence->has_state) {
                r->n_after_loss++;
                return 0;
        }
        if (packet->has_time) {
                clock = packet->clock == 0           ? sequence->clock
                        : packet->clock > UINT32_MAX ? UINT32_MAX
                                                     : (uint32_t)packet->clock;
                /* Packets without an event count as well for clocks that go from packet to packet. */
                e = pftrace_clocks_time(&r->clocks, &sequence->scope, clock, packet->time, &place.known,
                                        &place.time);
        }
        if (!packet->event.bytes)
                return 0;
        return e < 0 ? refuse(packet, "a time of a clock that nothing is known of")
                     : take_event(r, sequence, packet, &place, err);
}

static int take_packets(struct reader *r, struct error *err)
{
        struct text_view bytes;
        struct packet packet;
        int e;

        while ((e = pftrace_packets_next(&r->packets, &bytes, err)) == 1) {
                import_rows_count_row(r->rows);
                e = read_packet(bytes, &packet);
                if (e == 0)
                        e = take_packet(r, &packet, err);
                if (e == -E2BIG)
                        packet.why = "one track or sequence too many";
                if (e == -EBADMSG || e == -E2BIG)
                        import_rows_malformed(r->rows, r->packets.offset, packet.why);
                else if (e < 0)
                        return e;
        }
        return e;
}

/* ------------------------------------------------------------------ the end */

static void count_packets(struct reader *r)
{
        static const struct {
                uint32_t number;
                const char *name;
        } names[] = {
                { 1, "ftrace events" },       { 2, "process tree" },      { 33, "configuration" },
                { 35, "statistics" },         { 36, "synchronization" },  { 37, "heap profile" },
                { 43, "process descriptor" }, { 45, "system's facts" },   { 51, "Chrome's metadata" },
                { 66, "sample of perf" },     { 72, "module's symbols" }, { 117, "state of a task" },
                { 135, "sample of a stack" },
        };
        char kind[32];

        for (uint32_t i = 0; i < PACKETS_MAX; i++) {
                if (r->n_packets[i] == 0)
                        continue;
                (void)snprintf(kind, sizeof(kind), i ? "packet with field %u" : "packet of another kind", i);
                for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
                        if (names[j].number == i)
                                (void)snprintf(kind, sizeof(kind), "%s", names[j].name);
                import_rows_left_out(r->rows, kind, r->n_packets[i]);
        }
}

static void count_left_out(struct reader *r)
{
        const struct {
                const char *kind;
                uint64_t n;
        } counts[] = {
                { "packet after a loss", r->n_after_loss },
                { "name that was not told", r->n_no_name },
                { "extra counter value", r->n_extra },
                { "category", r->n_categories },
                { "typed argument", r->n_typed },
                { "flow beyond 16 of an event", r->n_flows },
                { "bound of a device's clock", r->tracks.n_no_bound },
                { "arguments beyond 4 KiB", r->args.n_left_out },
                { "interned text beyond the memory for them", r->sequences.n_beyond },
                { "track without a description", r->tracks.n_undescribed },
                { "clock reading beyond 65,536", r->clocks.n_readings_left_out },
                { "packet longer than 64 MiB", r->packets.n_long },
                { "field outside of packets", r->packets.n_other },
                { "packed packets that are broken", r->packets.n_broken },
        };
        char kind[16];

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
                if (counts[i].n)
                        import_rows_left_out(r->rows, counts[i].kind, counts[i].n);
        for (int i = 0; i < LEGACY_PHASES; i++)
                if (r->n_legacy[i]) {
                        (void)snprintf(kind, sizeof(kind), "legacy %c", i);
                        import_rows_left_out(r->rows, kind, r->n_legacy[i]);
                }
        count_packets(r);
        if (r->packets.is_cut)
                import_rows_cut(r->rows, r->packets.offset);
}

int import_pftrace_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        struct reader r = { .rows = rows, .keys = { .rows = rows } };
        int e = import_rows_file(rows, "pftrace", (struct text_view){ NULL, 0 }, err);

        pftrace_packets_init(&r.packets, source);
        pftrace_clocks_init(&r.clocks, rows);
        pftrace_sequences_init(&r.sequences, rows);
        pftrace_tracks_init(&r.tracks, rows, &r.clocks);
        import_slices_init(&r.slices, rows);
        if (e == 0)
                e = take_packets(&r, err);
        if (e == 0)
                e = import_slices_finish(&r.slices, err);
        if (e == 0)
                e = pftrace_tracks_finish(&r.tracks, err);
        if (e == 0)
                count_left_out(&r);
        import_slices_deinit(&r.slices);
        pftrace_args_deinit(&r.args);
        byte_buffer_deinit(&r.keys.room);
        pftrace_tracks_deinit(&r.tracks);
        pftrace_sequences_deinit(&r.sequences);
        pftrace_packets_deinit(&r.packets);
        return e;
}

bool import_pftrace_recognise(struct text_view head)
{
        return pftrace_packets_recognise(head);
}
