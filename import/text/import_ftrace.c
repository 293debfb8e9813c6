/* SPDX-License-Identifier: MIT */
#include "import/text/import_ftrace.h"

#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/intern.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_slices.h"
#include "import/text/ftrace_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FTRACE_THREADS_MAX (UINT32_C(1) << 20)
#define FTRACE_EVENTS_MAX  200       /* names of events that are counted apart */
#define FTRACE_NAME_BYTES  64        /* of these */
#define MESSAGE_BYTES_MAX  (1 << 16) /* of all lines of one */
#define HEAD_LINES         64
#define VALUE_BYTES        32

struct ftrace_thread {
        uint32_t track, process; /* of import_rows; 0 = not made */
        uint64_t pid;
};

struct reader {
        struct import_rows *rows;
        struct import_source *source;
        struct import_slices slices;
        uint32_t clock, trace_marker; /* of import_rows; the second a string */
        struct intern tids;           /* uint64_t */
        struct ftrace_thread *threads;
        size_t threads_capacity;
        struct intern events; /* names of those that are left out */
        uint64_t n_events[FTRACE_EVENTS_MAX + 1];

        /* The message that is being read: further lines of it may follow. */
        struct byte_buffer message, task;
        struct ftrace_line line; /* its texts: not valid, see above */
        uint64_t at;             /* line */
        bool has_message;
        uint64_t n_long;
};

static struct text_view view_of(const struct byte_buffer *b)
{
        return (struct text_view){ (const char *)b->data, b->used_bytes };
}

static int malformed(struct reader *r, const char *why)
{
        import_rows_malformed(r->rows, r->at, why);
        return 0;
}

/* ------------------------------------------------------------------ tracks */

static int find_process(struct reader *r, uint64_t pid, uint32_t *ret_track, struct error *err)
{
        const struct import_track track = {
                .kind = IMPORT_TRACK_PROCESS, .clock = r->clock, .number = pid, .has_number = true
        };

        return import_rows_track(r->rows, &track, ret_track, err);
}

/* A thread is of the process that the line names, or the first of its messages, or that of its own number. */
static int find_thread(struct reader *r, const struct ftrace_marker *m, struct ftrace_thread **ret,
                       struct error *err)
{
        struct import_track track = {
                .kind = IMPORT_TRACK_THREAD, .clock = r->clock, .number = r->line.tid, .has_number = true
        };
        struct ftrace_thread *thread;
        uint32_t id;
        int e = intern_add_row(&r->tids, &r->line.tid, &r->threads, &r->threads_capacity, sizeof(*r->threads),
                               &id);

        if (e == -EOVERFLOW)
                return e;
        if (e < 0) {
                (void)error_set(err, e, "no memory for threads");
                return e;
        }
        *ret = thread = &r->threads[id - 1];
        if (thread->track != 0)
                return 0;
        thread->pid = r->line.tgid != 0 ? r->line.tgid : m->has_pid && m->pid != 0 ? m->pid : r->line.tid;
        e = find_process(r, thread->pid, &thread->process, err);
        track.parent = thread->process;
        if (!text_view_is(view_of(&r->task), "<...>"))
                track.name = view_of(&r->task);
        return e < 0 ? e : import_rows_track(r->rows, &track, &thread->track, err);
}

/* A track of the process that the message names. */
static int find_other(struct reader *r, const struct ftrace_marker *m, struct text_view name,
                      uint32_t *ret_track, struct error *err)
{
        struct import_track track = { .kind = IMPORT_TRACK_OTHER, .clock = r->clock, .name = name };
        int e = find_process(r, m->pid, &track.parent, err);

        return e < 0 ? e : import_rows_track(r->rows, &track, ret_track, err);
}

/* ------------------------------------------------------------------ messages */

static int put_instant(struct reader *r, const struct import_span *span, struct error *err)
{
        struct import_instant instant = {
                .track = span->track, .name = span->name, .text = span->text, .time = span->begin
        };

        return import_rows_instant(r->rows, &instant, err);
}

static int put_counter(struct reader *r, const struct ftrace_marker *m, struct import_span *span,
                       struct error *err)
{
        struct import_value value = { .kind = IMPORT_VALUE_SIGNED, .name = span->name, .time = span->begin };
        char text[VALUE_BYTES], *end;
        long long number;
        int e;

        if (m->value.n_bytes == 0 || m->value.n_bytes >= sizeof(text))
                return malformed(r, "a counter without a number");
        memcpy(text, m->value.bytes, m->value.n_bytes);
        text[m->value.n_bytes] = '\0';
        errno = 0;
        number = strtoll(text, &end, 10);
        if (*end != '\0' || errno != 0)
                return malformed(r, "a counter without a number");
        memcpy(&value.bits, &number, sizeof(value.bits));
        e = find_process(r, m->pid, &value.track, err);
        return e < 0 ? e : import_rows_value(r->rows, &value, err);
}

/* S and F go by name and cookie, G and H by track and cookie. */
static int put_async(struct reader *r, const struct ftrace_marker *m, struct import_span *span,
                     struct error *err)
{
        bool is_begin = m->what == 'S' || m->what == 'G', has_track = m->what == 'G' || m->what == 'H';
        struct text_view by = has_track ? m->track : m->name;
        const uint64_t parts[] = { m->pid, has_track, content_hash(by.bytes, by.n_bytes),
                                   content_hash(m->value.bytes, m->value.n_bytes) };
        uint64_t lane = content_hash(parts, sizeof(parts)) | UINT64_C(1) << 63;
        int e = find_other(r, m, has_track ? m->track : (struct text_view){ "async", 5 }, &span->track, err);

        if (e < 0)
                return e;
        return is_begin ? import_slices_begin(&r->slices, lane, span, err)
                        : import_slices_end(&r->slices, lane, span, err);
}

/* Text that is nothing of this: an instant with that text. */
static int put_words(struct reader *r, struct import_span *span, struct text_view text, struct error *err)
{
        static const char name[] = "trace_marker";
        int e = 0;

        if (r->trace_marker == 0)
                e = import_rows_string(r->rows, (struct text_view){ name, strlen(name) }, &r->trace_marker,
                                       err);
        if (e == 0)
                e = import_rows_string(r->rows, text, &span->text, err);
        span->name = r->trace_marker;
        return e < 0 ? e : put_instant(r, span, err);
}

static int put_marker(struct reader *r, const struct ftrace_marker *m, struct error *err)
{
        struct import_span span = { .begin = r->line.time_ns, .end = r->line.time_ns };
        struct ftrace_thread *thread = NULL;
        int e = find_thread(r, m, &thread, err);

        if (e == -EOVERFLOW)
                return malformed(r, "one thread too many");
        if (e == 0 && m->what != '\0' && m->what != 'E')
                e = import_rows_string(r->rows, m->name, &span.name, err);
        if (e < 0)
                return e;
        span.track = thread->track;
        switch (m->what) {
        case 'B':
                return import_slices_begin(&r->slices, r->line.tid, &span, err);
        case 'E':
                return import_slices_end(&r->slices, r->line.tid, &span, err);
        case 'C':
                return put_counter(r, m, &span, err);
        case 'I':
                return put_instant(r, &span, err);
        case 'N':
                e = find_other(r, m, m->track, &span.track, err);
                return e < 0 ? e : put_instant(r, &span, err);
        case '\0':
                return put_words(r, &span, m->name, err);
        default:
                return put_async(r, m, &span, err);
        }
}

static int finish_message(struct reader *r, struct error *err)
{
        struct ftrace_marker marker;

        if (!r->has_message)
                return 0;
        r->has_message = false;
        if (r->message.failed || r->task.failed)
                return error_set(err, -ENOMEM, "no memory for a message");
        ftrace_marker_read(view_of(&r->message), &marker);
        return put_marker(r, &marker, err);
}

/* ------------------------------------------------------------------ lines */

static int count_event(struct reader *r, struct text_view name, struct error *err)
{
        uint32_t id;
        int e;

        if (name.n_bytes > FTRACE_NAME_BYTES)
                name.n_bytes = FTRACE_NAME_BYTES;
        e = name.n_bytes == 0 ? -EOVERFLOW : intern_add(&r->events, name.bytes, name.n_bytes, &id);
        if (e < 0 && e != -EOVERFLOW)
                return error_set(err, e, "no memory for names of events");
        r->n_events[e < 0 ? FTRACE_EVENTS_MAX : id - 1]++;
        return 0;
}

/* "CPU:1 [LOST 23 EVENTS]", "CPU:1 [LOST EVENTS]" */
static bool take_loss(struct reader *r, struct text_view line)
{
        static const char word[] = "[LOST ";
        const char *at = text_view_begins_with(line, "CPU:")
                                 ? memmem(line.bytes, line.n_bytes, word, strlen(word))
                                 : NULL;
        uint64_t n = 0;

        if (!at)
                return false;
        for (at += strlen(word); at < line.bytes + line.n_bytes && *at >= '0' && *at <= '9' && n < UINT32_MAX;
             at++)
                n = n * 10 + (uint64_t)(*at - '0');
        import_rows_dropped(r->rows, n ? n : 1);
        return true;
}

/* An end says nothing that could go on in a further line. */
static bool is_whole(const struct reader *r)
{
        struct ftrace_marker marker;

        ftrace_marker_read(view_of(&r->message), &marker);
        return marker.what == 'E' && marker.name.n_bytes == 0;
}

/* A further line of a message. */
static void go_on(struct reader *r, struct text_view line)
{
        if (r->message.used_bytes + line.n_bytes > MESSAGE_BYTES_MAX) {
                r->n_long++;
                return;
        }
        byte_buffer_add_u8(&r->message, '\n');
        byte_buffer_add(&r->message, line.bytes, line.n_bytes);
}

static int take_line(struct reader *r, struct text_view text, struct error *err)
{
        uint64_t at = import_source_line(r->source);
        struct text_view message;
        struct ftrace_line line;
        int e;

        if (!ftrace_line_read(text, &line)) {
                if ((text.n_bytes > 0 && *text.bytes == '#') || text_view_begins_with(text, "cpus=") ||
                    take_loss(r, text))
                        return 0;
                if (r->has_message && !is_whole(r)) {
                        go_on(r, text);
                } else if (text.n_bytes > 0) {
                        import_rows_count_row(r->rows);
                        import_rows_malformed(r->rows, at, "no line of ftrace");
                }
                return 0;
        }
        e = finish_message(r, err);
        if (e < 0)
                return e;
        import_rows_count_row(r->rows);
        if (!ftrace_line_marker(&line, &message))
                return count_event(r, line.event, err);
        r->line = line;
        r->at = at;
        r->has_message = true;
        byte_buffer_clear(&r->task);
        byte_buffer_add(&r->task, line.task.bytes, line.task.n_bytes);
        byte_buffer_clear(&r->message);
        byte_buffer_add(&r->message, message.bytes,
                        message.n_bytes < MESSAGE_BYTES_MAX ? message.n_bytes : MESSAGE_BYTES_MAX);
        r->n_long += message.n_bytes > MESSAGE_BYTES_MAX;
        return 0;
}

static int take_lines(struct reader *r, struct error *err)
{
        struct text_view line;
        int e;

        while ((e = import_source_next_line(r->source, &line, err)) == 1) {
                e = take_line(r, line, err);
                if (e < 0)
                        return e;
        }
        if (e == -EBADMSG) {
                import_rows_cut(r->rows, import_source_line(r->source));
                e = 0;
        }
        return e < 0 ? e : finish_message(r, err);
}

static void count_left_out(struct reader *r)
{
        char kind[FTRACE_NAME_BYTES + 1];
        const char *name;
        size_t n;

        for (uint32_t id = 1; id <= r->events.n_items; id++) {
                name = intern_get(&r->events, id, &n);
                memcpy(kind, name, n);
                kind[n] = '\0';
                import_rows_left_out(r->rows, kind, r->n_events[id - 1]);
        }
        if (r->n_events[FTRACE_EVENTS_MAX] != 0)
                import_rows_left_out(r->rows, "other events", r->n_events[FTRACE_EVENTS_MAX]);
        if (r->n_long != 0)
                import_rows_left_out(r->rows, "text of a message beyond 64 KiB", r->n_long);
}

int import_ftrace_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        const struct import_clock clock = { .kind = IMPORT_CLOCK_UNKNOWN,
                                            .period_ns = 1,
                                            .name = { "trace_clock", strlen("trace_clock") } };
        struct reader r = { .rows = rows, .source = source };
        int e = import_rows_file(rows, "ftrace", (struct text_view){ NULL, 0 }, err);

        import_slices_init(&r.slices, rows);
        intern_init(&r.tids, sizeof(uint64_t), FTRACE_THREADS_MAX);
        intern_init(&r.events, 0, FTRACE_EVENTS_MAX);
        if (e == 0)
                e = import_rows_clock(rows, &clock, &r.clock, err);
        if (e == 0)
                e = take_lines(&r, err);
        if (e == 0)
                e = import_slices_finish(&r.slices, err);
        if (e == 0)
                count_left_out(&r);
        import_slices_deinit(&r.slices);
        intern_deinit(&r.tids);
        intern_deinit(&r.events);
        byte_buffer_deinit(&r.message);
        byte_buffer_deinit(&r.task);
        free(r.threads);
        return e;
}

/* ------------------------------------------------------------------ recognising */

bool import_ftrace_recognise(struct text_view head)
{
        struct ftrace_line line;

        if (text_view_begins_with(head, "# tracer:"))
                return true;
        for (unsigned i = 0; i < HEAD_LINES && head.n_bytes > 0; i++) {
                const char *end = memchr(head.bytes, '\n', head.n_bytes);
                struct text_view text = { head.bytes, end ? (size_t)(end - head.bytes) : head.n_bytes };

                if (ftrace_line_read(text, &line))
                        return true;
                head.bytes += text.n_bytes + (end != NULL);
                head.n_bytes -= text.n_bytes + (end != NULL);
        }
        return false;
}
