/* SPDX-License-Identifier: MIT */
#include "import/text/import_rocprof.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/file/csv_rows.h"
#include "import/file/import_source.h"
#include "import/file/json_pull.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define TEXT_BYTES_MAX 4096
#define DIGITS_SURE    19 /* so many fit 64 bits, whatever they are */

enum column {
        COLUMN_BEGIN,
        COLUMN_END,
        COLUMN_KERNEL,
        COLUMN_FUNCTION,
        COLUMN_DIRECTION,
        COLUMN_AGENT,
        COLUMN_SOURCE,
        COLUMN_DESTINATION,
        COLUMN_QUEUE,
        COLUMN_STREAM,
        COLUMN_PROCESS,
        COLUMN_THREAD,
        COLUMN_CORRELATION,
        COLUMN_DISPATCH, /* from here on not in the text of a span: every row has its own, or the same */
        COLUMN_KERNEL_ID,
        COLUMN_GUID,
        COLUMN_KIND,
        N_COLUMNS,
};

static const char *const names[N_COLUMNS] = {
        [COLUMN_BEGIN] = "Start_Timestamp",
        [COLUMN_END] = "End_Timestamp",
        [COLUMN_KERNEL] = "Kernel_Name",
        [COLUMN_FUNCTION] = "Function",
        [COLUMN_DIRECTION] = "Direction",
        [COLUMN_AGENT] = "Agent_Id",
        [COLUMN_SOURCE] = "Source_Agent_Id",
        [COLUMN_DESTINATION] = "Destination_Agent_Id",
        [COLUMN_QUEUE] = "Queue_Id",
        [COLUMN_STREAM] = "Stream_Id",
        [COLUMN_PROCESS] = "Process_Id",
        [COLUMN_THREAD] = "Thread_Id",
        [COLUMN_CORRELATION] = "Correlation_Id",
        [COLUMN_DISPATCH] = "Dispatch_Id",
        [COLUMN_KERNEL_ID] = "Kernel_Id",
        [COLUMN_GUID] = "Guid",
        [COLUMN_KIND] = "Kind",
};

enum table { TABLE_NONE, TABLE_KERNELS, TABLE_COPIES, TABLE_CALLS };

struct reader {
        struct import_rows *rows;
        struct csv_rows csv;
        uint16_t places[N_COLUMNS]; /* of the field + 1; 0 = there is no such column */
        enum table table;
        uint32_t clock, correlation; /* of import_rows; the second a string */
        struct byte_buffer titles;   /* "Grid_Size_X": of all columns, one after the other */
        size_t ends[CSV_FIELDS_MAX]; /* where a title ends in there */
        bool is_in_text[CSV_FIELDS_MAX];
        uint32_t n_titles;
        struct byte_buffer text;
};

/* ------------------------------------------------------------------ the first row */

static struct text_view unquote(struct text_view text)
{
        while (text.n_bytes > 0 && strchr(" \t\r\"", text.bytes[0]) && text.bytes[0] != '\0')
                text = (struct text_view){ text.bytes + 1, text.n_bytes - 1 };
        while (text.n_bytes > 0 && strchr(" \t\r\"", text.bytes[text.n_bytes - 1]) &&
               text.bytes[text.n_bytes - 1] != '\0')
                text.n_bytes--;
        return text;
}

static void find_columns(const struct text_view *titles, uint32_t n_titles, uint16_t places[N_COLUMNS])
{
        for (uint32_t i = 0; i < n_titles; i++) {
                struct text_view title = unquote(titles[i]);

                for (unsigned j = 0; j < N_COLUMNS; j++)
                        if (places[j] == 0 && title.n_bytes == strlen(names[j]) &&
                            strncasecmp(title.bytes, names[j], title.n_bytes) == 0)
                                places[j] = (uint16_t)(i + 1);
        }
}

static enum table judge(const uint16_t places[N_COLUMNS])
{
        if (!places[COLUMN_BEGIN] || !places[COLUMN_END])
                return TABLE_NONE;
        if (places[COLUMN_KERNEL])
                return TABLE_KERNELS;
        if (places[COLUMN_SOURCE] && places[COLUMN_DESTINATION])
                return TABLE_COPIES;
        return places[COLUMN_FUNCTION] ? TABLE_CALLS : TABLE_NONE;
}

bool import_rocprof_recognise(struct text_view head)
{
        const char *end = head.n_bytes > 0 ? memchr(head.bytes, '\n', head.n_bytes) : NULL;
        struct text_view fields[CSV_FIELDS_MAX];
        uint16_t places[N_COLUMNS] = { 0 };

        if (end)
                head.n_bytes = (size_t)(end - head.bytes);
        find_columns(fields, csv_rows_split(head, csv_rows_guess_separator(head), fields), places);
        return judge(places) != TABLE_NONE;
}

static bool is_plain(char c)
{
        return c != '"' && c != '\\' && (unsigned char)c >= ' ';
}

/* As JSON; control characters become blanks. */
static void put_quoted(struct byte_buffer *b, struct text_view text)
{
        const char *at = text.bytes, *end = text.n_bytes != 0 ? at + text.n_bytes : at;

        byte_buffer_add_u8(b, '"');
        while (at < end) {
                const char *plain = at;

                while (at < end && is_plain(*at))
                        at++;
                byte_buffer_add(b, plain, (size_t)(at - plain));
                if (at == end)
                        break;
                if ((unsigned char)*at >= ' ')
                        byte_buffer_add_u8(b, '\\');
                byte_buffer_add_u8(b, (unsigned char)*at < ' ' ? ' ' : (uint8_t)*at);
                at++;
        }
        byte_buffer_add_u8(b, '"');
}

/* Which columns are arguments: those that say nothing about where, when and what. */
static int keep_titles(struct reader *r)
{
        bool is_call = r->table == TABLE_CALLS;

        r->n_titles = r->csv.n_fields;
        for (uint32_t i = 0; i < r->n_titles; i++) {
                struct text_view title = unquote(r->csv.fields[i]);

                put_quoted(&r->titles, title);
                byte_buffer_add_u8(&r->titles, ':');
                r->ends[i] = r->titles.used_bytes;
                r->is_in_text[i] = true;
        }
        for (unsigned j = 0; j < N_COLUMNS; j++) {
                bool is_said = j == COLUMN_STREAM || j == COLUMN_SOURCE || j == COLUMN_DESTINATION ||
                               (j == COLUMN_THREAD && !is_call);

                if (r->places[j] && !is_said)
                        r->is_in_text[r->places[j] - 1] = false;
        }
        return r->titles.failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------ a row */

static struct text_view field(const struct reader *r, enum column column)
{
        uint16_t place = r->places[column];

        return place && place <= r->csv.n_fields ? r->csv.fields[place - 1] : (struct text_view){ NULL, 0 };
}

static int refuse(struct reader *r, const char *why)
{
        import_rows_malformed(r->rows, r->csv.line, why);
        return 0;
}

/* A number, or a name. */
static void put_number(struct text_view text, struct import_track *track)
{
        track->has_number = json_pull_unsigned(text, &track->number);
        if (!track->has_number)
                track->name = text;
}

/* 8 or "Agent 8" */
static int find_device(struct reader *r, struct text_view agent, uint32_t *ret_track, struct error *err)
{
        struct import_track track = { .kind = IMPORT_TRACK_DEVICE, .clock = r->clock };
        static const char word[] = "Agent ";

        put_number(agent, &track);
        if (text_view_begins_with(agent, word)) {
                put_number((struct text_view){ agent.bytes + strlen(word), agent.n_bytes - strlen(word) },
                           &track);
                track.name = agent;
        }
        if (!track.has_number && track.name.n_bytes == 0)
                track.name = (struct text_view){ "device", 6 };
        return import_rows_track(r->rows, &track, ret_track, err);
}

static int find_queue(struct reader *r, uint32_t *ret_track, struct error *err)
{
        struct import_track track = { .kind = IMPORT_TRACK_STREAM, .clock = r->clock };
        int e = find_device(r, field(r, COLUMN_AGENT), &track.parent, err);

        put_number(field(r, COLUMN_QUEUE), &track);
        if (!track.has_number && track.name.n_bytes == 0)
                track.name = (struct text_view){ "queue", 5 };
        return e < 0 ? e : import_rows_track(r->rows, &track, ret_track, err);
}

static bool ends_with_host(struct text_view direction)
{
        static const char word[] = "TO_HOST";

        return direction.n_bytes >= strlen(word) &&
               strncasecmp(direction.bytes + direction.n_bytes - strlen(word), word, strlen(word)) == 0;
}

/* A copy is on the device that is not the host. */
static int find_copies(struct reader *r, uint32_t *ret_track, struct error *err)
{
        bool is_to_host = ends_with_host(field(r, COLUMN_DIRECTION));
        struct import_track track = { .kind = IMPORT_TRACK_STREAM,
                                      .clock = r->clock,
                                      .name = { "copies", 6 } };
        int e = find_device(r, field(r, is_to_host ? COLUMN_SOURCE : COLUMN_DESTINATION), &track.parent, err);

        return e < 0 ? e : import_rows_track(r->rows, &track, ret_track, err);
}

/* Ranges of a process have the thread 0. */
static int find_thread(struct reader *r, uint32_t *ret_track, struct error *err)
{
        struct import_track process = { .kind = IMPORT_TRACK_PROCESS, .clock = r->clock };
        struct import_track track = { .kind = IMPORT_TRACK_THREAD, .clock = r->clock };
        int e;

        put_number(field(r, COLUMN_PROCESS), &process);
        if (!process.has_number && process.name.n_bytes == 0)
                process.name = (struct text_view){ "process", 7 };
        put_number(field(r, COLUMN_THREAD), &track);
        if ((track.has_number && track.number == 0) || (!track.has_number && track.name.n_bytes == 0))
                track = (struct import_track){ .kind = IMPORT_TRACK_OTHER,
                                               .clock = r->clock,
                                               .name = { "ranges", 6 } };
        e = import_rows_track(r->rows, &process, &track.parent, err);
        return e < 0 ? e : import_rows_track(r->rows, &track, ret_track, err);
}

static bool is_number(struct text_view text)
{
        uint64_t number;

        if (text.n_bytes > DIGITS_SURE)
                return json_pull_unsigned(text, &number);
        for (size_t i = 0; i < text.n_bytes; i++)
                if (text.bytes[i] < '0' || text.bytes[i] > '9')
                        return false;
        return true;
}

/* Room is made once for all of it: a row has a dozen of them. */
static void put_text_field(struct byte_buffer *b, struct text_view title, struct text_view text)
{
        uint8_t *at = byte_buffer_reserve(b, 1 + title.n_bytes + text.n_bytes), *from = at;

        if (!at)
                return;
        *at++ = b->used_bytes != 0 ? ',' : '{';
        memcpy(at, title.bytes, title.n_bytes);
        at += title.n_bytes;
        if (is_number(text)) {
                memcpy(at, text.bytes, text.n_bytes);
                b->used_bytes += (size_t)(at - from) + text.n_bytes;
        } else {
                b->used_bytes += (size_t)(at - from);
                put_quoted(b, text);
        }
}

/* The other columns as JSON: {"Grid_Size_X":8192} */
static int add_text(struct reader *r, uint32_t *ret_string, struct error *err)
{
        struct byte_buffer *b = &r->text;

        byte_buffer_clear(b);
        for (uint32_t i = 0; i < r->n_titles && i < r->csv.n_fields && b->used_bytes < TEXT_BYTES_MAX; i++) {
                size_t from = i ? r->ends[i - 1] : 0;
                struct text_view title = { (const char *)r->titles.data + from, r->ends[i] - from };

                if (r->is_in_text[i] && r->csv.fields[i].n_bytes > 0 &&
                    r->csv.fields[i].n_bytes <= TEXT_BYTES_MAX)
                        put_text_field(b, title, r->csv.fields[i]);
        }
        *ret_string = 0;
        if (b->used_bytes == 0)
                return 0;
        byte_buffer_add_u8(b, '}');
        if (b->failed)
                return error_set(err, -ENOMEM, "no memory for a text");
        return import_rows_string(r->rows, (struct text_view){ (const char *)b->data, b->used_bytes },
                                  ret_string, err);
}

static int put_row(struct reader *r, struct import_span *span, struct error *err)
{
        struct import_instant instant;
        int e;

        if (json_pull_unsigned(field(r, COLUMN_CORRELATION), &span->key.value) && span->key.value != 0)
                span->key.kind = r->correlation;
        e = add_text(r, &span->text, err);
        if (e < 0)
                return e;
        if (r->table != TABLE_CALLS || span->begin != span->end)
                return import_rows_span(r->rows, span, err);
        instant = (struct import_instant){ .track = span->track,
                                           .name = span->name,
                                           .text = span->text,
                                           .time = span->begin,
                                           .key = span->key };
        return import_rows_instant(r->rows, &instant, err);
}

static int take_row(struct reader *r, struct error *err)
{
        struct import_span span = { .track = 0 };
        enum column name = r->table == TABLE_KERNELS  ? COLUMN_KERNEL
                           : r->table == TABLE_COPIES ? COLUMN_DIRECTION
                                                      : COLUMN_FUNCTION;
        struct text_view words;
        int e;

        import_rows_count_row(r->rows);
        if (!json_pull_unsigned(field(r, COLUMN_BEGIN), &span.begin) ||
            !json_pull_unsigned(field(r, COLUMN_END), &span.end))
                return refuse(r, "a row without its times");
        if (span.end < span.begin)
                return refuse(r, "it ends before it begins");
        e = r->table == TABLE_KERNELS  ? find_queue(r, &span.track, err)
            : r->table == TABLE_COPIES ? find_copies(r, &span.track, err)
                                       : find_thread(r, &span.track, err);
        words = field(r, name);
        if (words.n_bytes == 0 && r->table == TABLE_COPIES)
                words = field(r, COLUMN_KIND);
        if (e == 0)
                e = import_rows_string(r->rows, words, &span.name, err);
        return e < 0 ? e : put_row(r, &span, err);
}

static int take_rows(struct reader *r, struct import_source *source, struct error *err)
{
        static const char correlation[] = "correlation";
        int e = csv_rows_next(&r->csv, err);

        if (e >= 0) {
                find_columns(r->csv.fields, e > 0 ? r->csv.n_fields : 0, r->places);
                r->table = judge(r->places);
                if (r->table == TABLE_NONE)
                        return error_set(err, -EBADMSG, "%s: its first row lacks columns",
                                         import_source_path(source));
                if (keep_titles(r) < 0)
                        return error_set(err, -ENOMEM, "no memory for the names of columns");
        }
        if (e == 1)
                e = import_rows_string(r->rows, (struct text_view){ correlation, strlen(correlation) },
                                       &r->correlation, err);
        while (e >= 0 && e != 2 && (e = csv_rows_next(&r->csv, err)) == 1) {
                e = take_row(r, err);
                if (e < 0)
                        return e;
        }
        if (e == 2 || e == -EBADMSG) {
                import_rows_cut(r->rows, import_source_line(source));
                e = 0;
        }
        return e;
}

/*
 * rocprofv3 names the tables of one run alike: "4711_kernel_trace.csv", "4711_hip_api_trace.csv".  Returns
 * the part that they have in common, with their folder; empty = the file has another name.
 */
static struct text_view find_run(const char *path)
{
        static const char *const tables[] = { "kernel",  "memory_copy", "memory_allocation", "scratch_memory",
                                              "hip_api", "hsa_api",     "marker_api",        "rccl_api" };
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
                size_t n_bytes = strlen(tables[i]);

                for (const char *at = name; (at = strstr(at, tables[i])); at++)
                        if (strncmp(at + n_bytes, "_trace.csv", strlen("_trace.csv")) == 0)
                                return (struct text_view){ path, (size_t)(at - path) };
        }
        return (struct text_view){ NULL, 0 };
}

int import_rocprof_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        const struct import_clock clock = { .kind = IMPORT_CLOCK_UNKNOWN,
                                            .period_ns = 1,
                                            .name = { "rocprofv3", strlen("rocprofv3") } };
        struct reader r = { .rows = rows };
        struct text_view head = { NULL, 0 };
        int e = import_rows_file(rows, "rocprofv3", (struct text_view){ NULL, 0 }, err);

        if (e == 0)
                e = import_rows_join_set(rows, find_run(import_source_path(source)), err);
        if (e == 0)
                e = import_source_head(source, &head, err);
        if (e < 0)
                return e;
        if (head.n_bytes > 0 && memchr(head.bytes, '\n', head.n_bytes))
                head.n_bytes = (size_t)((const char *)memchr(head.bytes, '\n', head.n_bytes) - head.bytes);
        csv_rows_init(&r.csv, source, csv_rows_guess_separator(head));
        e = import_rows_clock(rows, &clock, &r.clock, err);
        if (e == 0)
                e = take_rows(&r, source, err);
        csv_rows_deinit(&r.csv);
        byte_buffer_deinit(&r.titles);
        byte_buffer_deinit(&r.text);
        return e;
}
