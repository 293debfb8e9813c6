/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_model.h"

#include "base/array.h"
#include "base/error.h"
#include "import/iree/iree_allocations.h"
#include "import/iree/iree_names.h"
#include "import/iree/iree_tracks.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_MAX   32
#define UNKNOWN_BYTES 64

struct held {
        struct import_span span;
        uint64_t executable, function;
};

/* A dispatch of late, for the samples of counters that belong to it. */
struct recent {
        uint64_t event, stream, end;
        uint32_t device, queue;
};

struct iree_model {
        struct import_rows *rows; /* borrowed */
        struct iree_tracks tracks;
        struct iree_names names;
        struct iree_allocations allocations;
        struct held *held; /* heap */
        size_t n_held, held_capacity;
        struct recent *recent; /* heap, IREE_RECENT; by a hash, the later one stays */
        uint64_t n_records, n_sessions;
        bool is_in_session;
        char unknown[UNKNOWN_MAX][UNKNOWN_BYTES]; /* kinds that were counted */
        size_t n_unknown;
};

/* ------------------------------------------------------------------ words */

static const char *operation_word(uint64_t type)
{
        static const char *const words[] = { "none",  "barrier", "dispatch", "execute",
                                             "copy",  "fill",    "update",   "read",
                                             "write", "alloca",  "dealloca", "host_call" };

        return type < sizeof(words) / sizeof(words[0]) ? words[type] : "unknown operation";
}

static const char *status_word(uint64_t status)
{
        static const char *const words[] = {
                "session ended: OK",
                "session ended: CANCELLED",
                "session ended: UNKNOWN",
                "session ended: INVALID_ARGUMENT",
                "session ended: DEADLINE_EXCEEDED",
                "session ended: NOT_FOUND",
                "session ended: ALREADY_EXISTS",
                "session ended: PERMISSION_DENIED",
                "session ended: RESOURCE_EXHAUSTED",
                "session ended: FAILED_PRECONDITION",
                "session ended: ABORTED",
                "session ended: OUT_OF_RANGE",
                "session ended: UNIMPLEMENTED",
                "session ended: INTERNAL",
                "session ended: UNAVAILABLE",
                "session ended: DATA_LOSS",
                "session ended: UNAUTHENTICATED",
                "session ended: DEFERRED",
                "session ended: INCOMPATIBLE",
        };

        return status < sizeof(words) / sizeof(words[0]) ? words[status] : "session ended: unknown status";
}

/* ------------------------------------------------------------------ from beginning to end */

int iree_model_new(struct iree_model **ret_model, struct import_rows *rows, struct error *err)
{
        struct iree_model *m = calloc(1, sizeof(*m));

        if (m)
                m->recent = calloc(IREE_RECENT, sizeof(*m->recent));
        if (!m || !m->recent) {
                free(m);
                return error_set(err, -ENOMEM, "out of memory");
        }
        m->rows = rows;
        iree_tracks_init(&m->tracks, rows);
        iree_names_init(&m->names, rows);
        *ret_model = m;
        return 0;
}

void iree_model_free(struct iree_model *m)
{
        if (!m)
                return;
        iree_tracks_deinit(&m->tracks);
        iree_names_deinit(&m->names);
        iree_allocations_deinit(&m->allocations);
        free(m->held);
        free(m->recent);
        free(m);
}

/* Names that are not there by now will not come. */
static int release_held(struct iree_model *m, struct error *err)
{
        for (size_t i = 0; i < m->n_held; i++) {
                struct held *held = &m->held[i];
                int r = 0;

                held->span.name = iree_names_function(&m->names, held->executable, held->function);
                if (!held->span.name)
                        r = iree_names_number(&m->names, held->executable, held->function, &held->span.name,
                                              err);
                if (r == 0)
                        r = import_rows_span(m->rows, &held->span, err);
                if (r < 0)
                        return r;
        }
        m->n_held = 0;
        return 0;
}

int iree_model_begin_session(struct iree_model *m, struct error *err)
{
        int r = release_held(m, err);

        if (r < 0)
                return r;
        m->n_records++;
        m->is_in_session = true;
        import_rows_count_row(m->rows);
        if (m->n_sessions++ == 0)
                return 0;
        iree_names_begin_session(&m->names);
        iree_allocations_clear(&m->allocations);
        memset(m->recent, 0, IREE_RECENT * sizeof(*m->recent));
        iree_tracks_begin_session(&m->tracks, (uint32_t)m->n_sessions);
        return 0;
}

int iree_model_end_session(struct iree_model *m, uint64_t status, struct error *err)
{
        m->n_records++;
        m->is_in_session = false;
        import_rows_count_row(m->rows);
        if (status != 0)
                import_rows_left_out(m->rows, status_word(status), 1);
        return release_held(m, err);
}

bool iree_model_is_in_session(const struct iree_model *m)
{
        return m->is_in_session;
}

int iree_model_end(struct iree_model *m, struct error *err)
{
        int r = release_held(m, err);

        if (r == 0)
                r = iree_tracks_end(&m->tracks, err);
        if (r < 0)
                return r;
        if (m->tracks.n_unaligned)
                import_rows_left_out(m->rows,
                                     "clock readings of a device whose clock is not that of its events",
                                     m->tracks.n_unaligned);
        if (m->tracks.n_useless)
                import_rows_left_out(m->rows, "clock readings without ticks or without a time of the host",
                                     m->tracks.n_useless);
        if (m->names.n_texts_left_out)
                import_rows_left_out(m->rows, "arguments of spans", m->names.n_texts_left_out);
        if (m->n_records == 0)
                return error_set(err, -ENODATA, "nothing was recorded: no session began");
        return 0;
}

/* ------------------------------------------------------------------ spans */

static void malformed(struct iree_model *m, const struct iree_record *record, const char *why)
{
        import_rows_malformed(m->rows, record->at, why);
}

/* IREE itself calls ticks of 0 invalid: the device never wrote them. */
static bool check_ticks(struct iree_model *m, const struct iree_record *record)
{
        uint64_t begin = record->fields[IREE_F_BEGIN], end = record->fields[IREE_F_END];

        if (begin == 0 || end == 0)
                malformed(m, record, "the device wrote no time");
        else if (end < begin)
                malformed(m, record, "an end before its beginning");
        return begin != 0 && end >= begin;
}

static bool check_host_times(struct iree_model *m, const struct iree_record *record)
{
        uint64_t begin = record->fields[IREE_F_BEGIN], end = record->fields[IREE_F_END];

        if (begin > INT64_MAX)
                malformed(m, record, "a time of the host before 0");
        else if (end < begin || end > INT64_MAX)
                malformed(m, record, "an end before its beginning");
        return begin <= end && end <= INT64_MAX;
}

/* Track, key and times of a span; its name and text are the caller's. */
static int begin_span(struct iree_model *m, const struct iree_record *record, enum iree_lane lane,
                      struct import_span *ret_span, struct error *err)
{
        struct import_span span = {
                .begin = record->fields[IREE_F_BEGIN],
                .end = record->fields[IREE_F_END],
        };
        int r = iree_tracks_lane(&m->tracks, record, lane, &span.track, err);

        if (r == 0)
                r = iree_tracks_key(&m->tracks, record, &span.key, err);
        if (r == 0)
                *ret_span = span;
        return r;
}

/* The span is named by a function: now, or when that is known. */
static int add_named(struct iree_model *m, struct import_span *span, uint64_t executable, uint64_t function,
                     struct error *err)
{
        int r;

        span->name = iree_names_function(&m->names, executable, function);
        if (!span->name && m->n_held < IREE_HELD_MAX) {
                if (array_reserve(&m->held, &m->held_capacity, m->n_held + 1, sizeof(*m->held)) < 0)
                        return error_set(err, -ENOMEM, "out of memory");
                m->held[m->n_held++] = (struct held){ *span, executable, function };
                return 0;
        }
        if (!span->name) {
                r = iree_names_number(&m->names, executable, function, &span->name, err);
                if (r < 0)
                        return r;
        }
        return import_rows_span(m->rows, span, err);
}

/* @executable, @function: of the record, or of the command that it was made by; false if neither has one. */
static bool find_function(const struct iree_model *m, const struct iree_record *record,
                          uint64_t *ret_executable, uint64_t *ret_function)
{
        const struct iree_command *command;

        *ret_executable = record->fields[IREE_F_EXECUTABLE];
        *ret_function = record->fields[IREE_F_FUNCTION];
        if (*ret_executable != 0 && *ret_function != IREE_ABSENT)
                return true;
        if (record->fields[IREE_F_COMMAND_BUFFER] == 0)
                return false;
        command = iree_names_command(&m->names, record->fields[IREE_F_COMMAND_BUFFER],
                                     record->fields[IREE_F_COMMAND_INDEX]);
        if (!command)
                return false;
        *ret_executable = command->executable;
        *ret_function = command->function;
        return true;
}

static struct recent *recent_slot(const struct iree_model *m, uint64_t event,
                                  const struct iree_record *record)
{
        uint64_t h = event ^ record->fields[IREE_F_STREAM] << 32 ^ record->fields[IREE_F_DEVICE] << 48 ^
                     record->fields[IREE_F_QUEUE] << 56;

        h *= UINT64_C(0x9e3779b97f4a7c15);
        return &m->recent[h >> 32 & (IREE_RECENT - 1)];
}

static int add_dispatch(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        struct import_span span;
        uint64_t executable, function;
        int r;

        if (!check_ticks(m, record))
                return 0;
        *recent_slot(m, record->fields[IREE_F_EVENT], record) = (struct recent){
                .event = record->fields[IREE_F_EVENT],
                .stream = record->fields[IREE_F_STREAM],
                .end = record->fields[IREE_F_END],
                .device = (uint32_t)record->fields[IREE_F_DEVICE],
                .queue = (uint32_t)record->fields[IREE_F_QUEUE],
        };
        r = begin_span(m, record, IREE_LANE_DISPATCHES, &span, err);
        if (r == 0)
                r = iree_names_text(&m->names, IREE_TEXT_DISPATCH, record, &span.text, err);
        if (r < 0)
                return r;
        if (find_function(m, record, &executable, &function))
                return add_named(m, &span, executable, function, err);
        r = iree_names_word(&m->names, operation_word(2), &span.name, err);
        return r < 0 ? r : import_rows_span(m->rows, &span, err);
}

static int add_operation(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        struct import_span span;
        int r;

        if (!check_ticks(m, record))
                return 0;
        r = begin_span(m, record, IREE_LANE_OPERATIONS, &span, err);
        if (r == 0)
                r = iree_names_text(&m->names, IREE_TEXT_OPERATION, record, &span.text, err);
        if (r == 0)
                r = iree_names_word(&m->names, operation_word(record->fields[IREE_F_TYPE]), &span.name, err);
        return r < 0 ? r : import_rows_span(m->rows, &span, err);
}

/* From submitted to ready; without a length if it is not known when that was. */
static int add_submission(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        struct import_span span;
        bool is_span = record->fields[IREE_F_END] != 0;
        int r;

        if (is_span ? !check_host_times(m, record) : record->fields[IREE_F_BEGIN] > INT64_MAX) {
                if (!is_span)
                        malformed(m, record, "a time of the host before 0");
                return 0;
        }
        r = begin_span(m, record, IREE_LANE_SUBMISSIONS, &span, err);
        if (r != 0)
                return r;
        if (!is_span)
                span.end = span.begin;
        r = iree_names_text(&m->names, IREE_TEXT_OPERATION, record, &span.text, err);
        if (r == 0)
                r = iree_names_word(&m->names, operation_word(record->fields[IREE_F_TYPE]), &span.name, err);
        return r < 0 ? r : import_rows_span(m->rows, &span, err);
}

/* @value: has its track, its time and its bits */
static int add_value(struct iree_model *m, const char *name, const char *unit, struct import_value value,
                     struct error *err)
{
        int r = iree_names_word(&m->names, name, &value.name, err);

        value.kind = IMPORT_VALUE_UNSIGNED;
        if (r == 0)
                r = iree_names_word(&m->names, unit, &value.unit, err);
        return r < 0 ? r : import_rows_value(m->rows, &value, err);
}

static int add_execution(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        uint64_t executable, function, tile_ns = record->fields[IREE_F_TILE_NS];
        struct import_span span;
        int r;

        if (!check_host_times(m, record))
                return 0;
        r = begin_span(m, record, IREE_LANE_EXECUTION, &span, err);
        if (r == 0)
                r = iree_names_text(&m->names, IREE_TEXT_EXECUTION, record, &span.text, err);
        if (r == 0 && record->fields[IREE_F_TILES] && tile_ns <= INT64_MAX)
                r = add_value(m, "tile time", "ns",
                              (struct import_value){ .track = span.track, .time = span.end, .bits = tile_ns },
                              err);
        if (r < 0)
                return r;
        if (find_function(m, record, &executable, &function))
                return add_named(m, &span, executable, function, err);
        r = iree_names_word(&m->names, operation_word(record->fields[IREE_F_TYPE]), &span.name, err);
        return r < 0 ? r : import_rows_span(m->rows, &span, err);
}

static int add_region(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        struct import_span span;
        int r;

        if (!check_host_times(m, record))
                return 0;
        r = begin_span(m, record, IREE_LANE_REGIONS, &span, err);
        if (r == 0)
                r = iree_names_text(&m->names, IREE_TEXT_REGION, record, &span.text, err);
        if (r == 0)
                r = iree_names_word(&m->names, "command region", &span.name, err);
        return r < 0 ? r : import_rows_span(m->rows, &span, err);
}

/* ------------------------------------------------------------------ values */

enum effect { BEGINS, ENDS, NEITHER };

struct memory_event {
        const char *word;
        enum iree_memory memory;
        enum effect effect;
};

static const struct memory_event *memory_event_of(uint64_t type)
{
        static const struct memory_event events[] = {
                { "memory event", IREE_MEMORY_SLABS, NEITHER },
                { "slab_acquire", IREE_MEMORY_SLABS, BEGINS },
                { "slab_release", IREE_MEMORY_SLABS, ENDS },
                { "pool_reserve", IREE_MEMORY_POOLS, BEGINS },
                { "pool_materialize", IREE_MEMORY_POOLS, NEITHER },
                { "pool_release", IREE_MEMORY_POOLS, ENDS },
                { "pool_wait", IREE_MEMORY_POOLS, NEITHER },
                { "queue_alloca", IREE_MEMORY_QUEUES, BEGINS },
                { "queue_dealloca", IREE_MEMORY_QUEUES, ENDS },
                { "buffer_allocate", IREE_MEMORY_BUFFERS, BEGINS },
                { "buffer_free", IREE_MEMORY_BUFFERS, ENDS },
                { "buffer_import", IREE_MEMORY_IMPORTED, BEGINS },
                { "buffer_unimport", IREE_MEMORY_IMPORTED, ENDS },
        };

        return &events[type < sizeof(events) / sizeof(events[0]) ? type : 0];
}

/* The balance of a kind of memory after this event; false if it did not change. */
static int balance_memory(struct iree_model *m, const struct iree_record *record,
                          const struct memory_event *event, uint64_t *live, struct error *err)
{
        struct iree_allocation allocation = {
                .id = record->fields[IREE_F_ALLOCATION],
                .device = (uint32_t)record->fields[IREE_F_DEVICE],
                .memory = event->memory,
                .n_bytes = record->fields[IREE_F_LENGTH],
        };
        uint64_t before = 0;
        int r;

        if (event->effect == ENDS) {
                if (iree_allocations_take(&m->allocations, &allocation, &before) == 0) {
                        import_rows_left_out(m->rows, "memory_event: ends of allocations that did not begin",
                                             1);
                        return 0;
                }
                *live -= before;
                return 1;
        }
        if (allocation.n_bytes > UINT64_MAX - *live) {
                malformed(m, record, "more memory than 64 bits can count");
                return 0;
        }
        r = iree_allocations_add(&m->allocations, &allocation, &before);
        if (r == -ENOMEM)
                return error_set(err, -ENOMEM, "out of memory");
        if (r == -EOVERFLOW) {
                import_rows_left_out(m->rows, "memory_event: too many allocations at once", 1);
                return 0;
        }
        *live += allocation.n_bytes - before; /* an id that lived already has another length now */
        return 1;
}

static int add_pool(struct iree_model *m, uint32_t track, const struct iree_record *record, struct error *err)
{
        struct import_value value = { .track = track, .time = record->fields[IREE_F_BEGIN] };
        int r;

        value.bits = record->fields[IREE_F_POOL_RESERVED];
        r = add_value(m, "pool reserved", "bytes", value, err);
        value.bits = record->fields[IREE_F_POOL_FREE];
        if (r == 0)
                r = add_value(m, "pool free", "bytes", value, err);
        value.bits = record->fields[IREE_F_POOL_COMMITTED];
        if (r == 0)
                r = add_value(m, "pool committed", "bytes", value, err);
        return r;
}

static int add_memory(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        static const char *const names[] = {
                [IREE_MEMORY_SLABS] = "live slabs",
                [IREE_MEMORY_POOLS] = "live pool reservations",
                [IREE_MEMORY_QUEUES] = "live queue memory",
                [IREE_MEMORY_BUFFERS] = "live buffers",
                [IREE_MEMORY_IMPORTED] = "live imported buffers",
        };
        const uint64_t has_reservation = 8, has_statistics = 16;
        const struct memory_event *event = memory_event_of(record->fields[IREE_F_TYPE]);
        uint64_t flags = record->fields[IREE_F_FLAGS], time = record->fields[IREE_F_BEGIN];
        bool counts = event->effect != NEITHER && (event->memory != IREE_MEMORY_POOLS ||
                                                   flags & has_reservation || event->effect == ENDS);
        struct import_instant instant = { .time = time };
        struct iree_device *device;
        int r;

        if (time > INT64_MAX) {
                malformed(m, record, "a time of the host before 0");
                return 0;
        }
        r = iree_tracks_host(&m->tracks, record->fields[IREE_F_DEVICE], &device, err);
        if (r < 0)
                return r;
        instant.track = device->host_track;
        if (counts) {
                uint64_t *live = &device->live_bytes[event->memory];

                r = balance_memory(m, record, event, live, err);
                if (r > 0)
                        r = add_value(
                                m, names[event->memory], "bytes",
                                (struct import_value){ .track = instant.track, .time = time, .bits = *live },
                                err);
        } else {
                r = iree_names_word(&m->names, event->word, &instant.name, err);
                if (r == 0)
                        r = import_rows_instant(m->rows, &instant, err);
        }
        if (r == 0 && flags & has_statistics)
                r = add_pool(m, instant.track, record, err);
        return r;
}

/* When a sample was taken: it says so, or it is of a dispatch. */
static bool find_sample_time(const struct iree_model *m, const struct iree_record *record, uint64_t *ret_time)
{
        const uint64_t has_ticks = 4;
        uint64_t begin = record->fields[IREE_F_BEGIN], end = record->fields[IREE_F_END];
        uint64_t event = record->fields[IREE_F_DISPATCH];
        const struct recent *recent;

        if (record->fields[IREE_F_FLAGS] & has_ticks && begin && end >= begin) {
                *ret_time = end;
                return true;
        }
        recent = recent_slot(m, event, record);
        if (!recent->end || recent->event != event || recent->stream != record->fields[IREE_F_STREAM] ||
            recent->device != (uint32_t)record->fields[IREE_F_DEVICE] ||
            recent->queue != (uint32_t)record->fields[IREE_F_QUEUE])
                return false;
        *ret_time = recent->end;
        return true;
}

/* Values of one counter in a sample; several are of its instances, and numbered. */
static int add_counter_values(struct iree_model *m, const struct iree_record *record, size_t which,
                              struct import_value *value, struct error *err)
{
        const struct iree_counter *counter = &m->names.counters[which];
        size_t n_here = record->n_values;

        if (counter->offset >= n_here || counter->n_values > n_here - counter->offset) {
                malformed(m, record, "a sample with fewer values than its counter set has");
                return 0;
        }
        value->unit = counter->unit;
        for (uint64_t i = 0; i < counter->n_values; i++) {
                int r = iree_names_instance(&m->names, which, (uint32_t)i, &value->name, err);

                value->bits = record->values[counter->offset + i];
                if (r == 0)
                        r = import_rows_value(m->rows, value, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_counter_sample(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        struct import_value value = { .kind = IMPORT_VALUE_UNSIGNED };
        bool is_known = false;
        int r;

        if (!find_sample_time(m, record, &value.time)) {
                import_rows_left_out(m->rows, "counter_sample: no time, and its dispatch is not known", 1);
                return 0;
        }
        r = iree_tracks_lane(&m->tracks, record, IREE_LANE_DISPATCHES, &value.track, err);
        if (r < 0)
                return r;
        for (size_t i = 0; i < m->names.n_counters; i++) {
                if (m->names.counters[i].set != record->fields[IREE_F_SET])
                        continue;
                is_known = true;
                r = add_counter_values(m, record, i, &value, err);
                if (r < 0)
                        return r;
        }
        if (!is_known)
                import_rows_left_out(m->rows, "counter_sample: its counters are not described before it", 1);
        return 0;
}

static int add_metric_sample(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        struct iree_device *device;
        struct import_value value;
        uint32_t track;
        int r;

        if (!check_host_times(m, record))
                return 0;
        r = iree_tracks_host(&m->tracks, record->fields[IREE_F_DEVICE], &device, err);
        if (r < 0)
                return r;
        track = device->host_track;
        for (size_t i = 0; i + 1 < record->n_values; i += 2) {
                struct iree_metric metric;

                r = iree_names_metric(&m->names, record->fields[IREE_F_SET], record->values[i], &metric, err);
                if (r < 0)
                        return r;
                value = (struct import_value){
                        .track = track,
                        .name = metric.name,
                        .unit = metric.unit,
                        .time = record->fields[IREE_F_END],
                        .kind = metric.kind,
                        .bits = record->values[i + 1],
                };
                r = import_rows_value(m->rows, &value, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------------------------------------------------------------------ all kinds */

/* Names of kinds are from the file: few of them, short, and without what could disturb a terminal. */
void iree_model_count_unknown(struct iree_model *m, struct text_view kind)
{
        char name[UNKNOWN_BYTES];
        size_t n = kind.n_bytes, i = 0;

        if (n > sizeof(name) - 1)
                n = sizeof(name) - 1;
        memset(name, '?', n);
        for (size_t j = 0; j < n; j++)
                if (kind.bytes[j] > ' ' && kind.bytes[j] < 0x7f)
                        name[j] = kind.bytes[j];
        name[n] = '\0';
        while (i < m->n_unknown && strcmp(m->unknown[i], name) != 0)
                i++;
        if (i == UNKNOWN_MAX) {
                import_rows_left_out(m->rows, "rows of other unknown kinds", 1);
                return;
        }
        if (i == m->n_unknown)
                memcpy(m->unknown[m->n_unknown++], name, n + 1);
        import_rows_left_out(m->rows, m->unknown[i], 1);
}

static int add_description(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        return iree_names_add(&m->names, record, err);
}

static int add_reading(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        return iree_tracks_add_reading(&m->tracks, record, err);
}

/* The known ones join a submission with events that have its id themselves: their keys join those. */
static int add_relationship(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        const uint64_t last_known = 4;

        (void)err;
        if (record->fields[IREE_F_TYPE] == 0 || record->fields[IREE_F_TYPE] > last_known)
                import_rows_left_out(m->rows, "event_relationship: of an unknown kind", 1);
        return 0;
}

static int leave_out(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        (void)err;
        import_rows_left_out(m->rows, iree_layout_of(record->kind)->json, 1);
        return 0;
}

/* Those without one describe what needs no description: devices, queues, executables, command buffers. */
static int (*const adders[IREE_N_KINDS])(struct iree_model *, const struct iree_record *, struct error *) = {
        [IREE_FUNCTION] = add_description,
        [IREE_COMMAND_OPERATION] = add_description,
        [IREE_COUNTER] = add_description,
        [IREE_METRIC] = add_description,
        [IREE_CLOCK_CORRELATION] = add_reading,
        [IREE_DISPATCH_EVENT] = add_dispatch,
        [IREE_QUEUE_EVENT] = add_submission,
        [IREE_QUEUE_DEVICE_EVENT] = add_operation,
        [IREE_HOST_EXECUTION_EVENT] = add_execution,
        [IREE_COMMAND_REGION_EVENT] = add_region,
        [IREE_MEMORY_EVENT] = add_memory,
        [IREE_COUNTER_SAMPLE] = add_counter_sample,
        [IREE_METRIC_SAMPLE] = add_metric_sample,
        [IREE_EVENT_RELATIONSHIP] = add_relationship,
        [IREE_EXECUTABLE_TRACE] = leave_out,
        [IREE_CODE_OBJECT] = leave_out,
        [IREE_CODE_OBJECT_LOAD] = leave_out,
};

int iree_model_add(struct iree_model *m, const struct iree_record *record, struct error *err)
{
        int r;

        m->n_records++;
        import_rows_count_row(m->rows);
        r = adders[record->kind] ? adders[record->kind](m, record, err) : 0;
        if (r != -E2BIG)
                return r;
        import_rows_left_out(m->rows, iree_layout_of(record->kind)->json, 1); /* beyond a limit of ours */
        return 0;
}
