/* SPDX-License-Identifier: MIT */
#include "import/json/import_ninja_log.h"

#include "base/array.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/json_pull.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_MS UINT64_C(1000000)
#define NEAR_NS \
        UINT64_C(1000000000) /* times further from the median are those of files that stayed as they were */
#define REALTIME_MAX      (UINT64_C(1) << 62)
#define N_COLUMNS         5
#define VERSION_FIRST     5
#define VERSION_LAST      7
#define VERSION_OF_BEGINS 6 /* from here on, most times are those of begins */

static const char title[] = "# ninja log v";

struct edge {
        uint64_t begin_ns, end_ns; /* from the begin of the build */
        uint64_t realtime_ns;      /* 0 = the file was not there */
        uint64_t command;          /* number of it */
        uint32_t name, others;     /* strings: the output, and further ones of the same command */
};

struct build {
        struct edge *edges;
        uint64_t *begins; /* of the build, as each edge says */
        size_t n_edges, edges_capacity, begins_capacity;
};

struct reader {
        struct import_rows *rows;
        struct import_source *source;
        struct build build;
        uint32_t clock, track;
        uint64_t first_ticks,
                widest_ns; /* 0 = there was no edge; how far edges are from their build's median */
        uint64_t n_unplaced;
        uint64_t version;
};

bool import_ninja_log_recognise(struct text_view head)
{
        return text_view_begins_with(head, title);
}

/* ------------------------------------------------------------------ builds */

static int compare_times(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

static uint64_t find_distance(uint64_t a, uint64_t b)
{
        return a > b ? a - b : b - a;
}

/*
 * When the build began, if the times in the log are those of the ends of commands, or of their begins: the
 * median.  @ret_apart: half of them are as near to it.  Returns false if no edge says anything.
 */
static bool find_begin(struct build *build, bool by_ends, uint64_t *ret_begin, uint64_t *ret_apart)
{
        size_t n = 0;

        for (size_t i = 0; i < build->n_edges; i++) {
                const struct edge *edge = &build->edges[i];
                uint64_t since = by_ends ? edge->end_ns : edge->begin_ns;

                if (edge->realtime_ns > since)
                        build->begins[n++] = edge->realtime_ns - since;
        }
        if (n == 0)
                return false;
        qsort(build->begins, n, sizeof(*build->begins), compare_times);
        *ret_begin = build->begins[n / 2];
        for (size_t i = 0; i < n; i++)
                build->begins[i] = find_distance(build->begins[i], *ret_begin);
        qsort(build->begins, n, sizeof(*build->begins), compare_times);
        *ret_apart = build->begins[n / 2];
        return true;
}

static void widen(struct reader *r, uint64_t begin, bool by_ends)
{
        for (size_t i = 0; i < r->build.n_edges; i++) {
                const struct edge *edge = &r->build.edges[i];
                uint64_t since = by_ends ? edge->end_ns : edge->begin_ns, apart;

                if (edge->realtime_ns <= since)
                        continue;
                apart = find_distance(edge->realtime_ns - since, begin);
                if (apart <= NEAR_NS && apart > r->widest_ns)
                        r->widest_ns = apart;
        }
}

static int write_edges(struct reader *r, uint64_t begin, struct error *err)
{
        for (size_t i = 0; i < r->build.n_edges; i++) {
                const struct edge *edge = &r->build.edges[i];
                struct import_span span = { .track = r->track,
                                            .name = edge->name,
                                            .begin = begin + edge->begin_ns,
                                            .end = begin + edge->end_ns,
                                            .text = edge->others };
                int e = import_rows_span(r->rows, &span, err);

                if (e < 0)
                        return e;
                if (!r->first_ticks)
                        r->first_ticks = span.begin;
        }
        return 0;
}

static int end_build(struct reader *r, struct error *err)
{
        struct build *build = &r->build;
        uint64_t by_ends = 0, by_begins = 0, apart_ends, apart_begins;
        bool has_time, ends_agree;
        int e;

        if (build->n_edges == 0)
                return 0;
        if (array_reserve(&build->begins, &build->begins_capacity, build->n_edges, sizeof(*build->begins)) <
            0)
                return error_set(err, -ENOMEM, "%s: no memory for a build", import_source_path(r->source));
        has_time = find_begin(build, true, &by_ends, &apart_ends) &&
                   find_begin(build, false, &by_begins, &apart_begins);
        if (!has_time) {
                r->n_unplaced += build->n_edges;
                build->n_edges = 0;
                return 0;
        }
        ends_agree = r->version < VERSION_OF_BEGINS ? apart_ends <= apart_begins : apart_ends < apart_begins;
        widen(r, ends_agree ? by_ends : by_begins, ends_agree);
        e = write_edges(r, ends_agree ? by_ends : by_begins, err);
        build->n_edges = 0;
        return e;
}

/* ------------------------------------------------------------------ lines */

/* Returns false if the line is malformed. */
static bool split(struct text_view line, struct text_view *columns)
{
        for (unsigned i = 0; i < N_COLUMNS; i++) {
                const char *tab = line.n_bytes ? memchr(line.bytes, '\t', line.n_bytes) : NULL;
                size_t n = tab ? (size_t)(tab - line.bytes) : line.n_bytes;

                if (n == 0 || (i + 1 < N_COLUMNS) != (tab != NULL))
                        return false;
                columns[i] = (struct text_view){ line.bytes, n };
                line = (struct text_view){ line.bytes + n + 1, tab ? line.n_bytes - n - 1 : 0 };
        }
        return true;
}

static bool read_ms(struct text_view text, uint64_t *ret_ns)
{
        uint64_t ms;

        return json_pull_unsigned(text, &ms) && !__builtin_mul_overflow(ms, NS_PER_MS, ret_ns) &&
               *ret_ns < REALTIME_MAX;
}

/* Several outputs of one command are lines one after the other. */
static bool is_same_command(const struct build *build, const struct edge *edge)
{
        const struct edge *last = build->n_edges ? &build->edges[build->n_edges - 1] : NULL;

        return last && last->begin_ns == edge->begin_ns && last->end_ns == edge->end_ns &&
               last->command == edge->command;
}

static int add_edge(struct reader *r, struct edge edge, struct text_view output, struct error *err)
{
        struct build *build = &r->build;
        int e;

        if (is_same_command(build, &edge)) {
                struct edge *last = &build->edges[build->n_edges - 1];

                return last->others ? 0 : import_rows_string(r->rows, output, &last->others, err);
        }
        if (build->n_edges == IMPORT_NINJA_LINES_MAX ||
            (build->n_edges && edge.end_ns < build->edges[build->n_edges - 1].end_ns)) {
                e = end_build(r, err);
                if (e < 0)
                        return e;
        }
        if (array_reserve(&build->edges, &build->edges_capacity, build->n_edges + 1, sizeof(edge)) < 0)
                return error_set(err, -ENOMEM, "%s: no memory for a build", import_source_path(r->source));
        e = import_rows_string(r->rows, output, &edge.name, err);
        if (e == 0)
                build->edges[build->n_edges++] = edge;
        return e;
}

static int take_line(struct reader *r, struct text_view line, struct error *err)
{
        struct text_view columns[N_COLUMNS];
        struct edge edge = { .name = 0 };

        import_rows_count_row(r->rows);
        if (!split(line, columns) || !read_ms(columns[0], &edge.begin_ns) ||
            !read_ms(columns[1], &edge.end_ns) || !json_pull_unsigned(columns[2], &edge.realtime_ns) ||
            edge.realtime_ns > REALTIME_MAX) {
                import_rows_malformed(r->rows, import_source_line(r->source), "no line of a log of ninja");
                return 0;
        }
        if (edge.begin_ns > edge.end_ns) {
                import_rows_malformed(r->rows, import_source_line(r->source), "an end before its begin");
                return 0;
        }
        edge.command = content_hash(columns[4].bytes, columns[4].n_bytes);
        return add_edge(r, edge, columns[3], err);
}

/* ------------------------------------------------------------------ the file */

static int make_tracks(struct reader *r, struct error *err)
{
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN,
                                      .period_ns = 1,
                                      .name = { "times of the log", sizeof("times of the log") - 1 } };
        struct import_track process = { .kind = IMPORT_TRACK_PROCESS, .name = { "ninja", 5 } };
        struct import_track jobs = { .kind = IMPORT_TRACK_THREAD, .name = { "jobs", 4 } };
        int e = import_rows_clock(r->rows, &clock, &r->clock, err);

        process.clock = jobs.clock = r->clock;
        if (e == 0)
                e = import_rows_track(r->rows, &process, &jobs.parent, err);
        return e < 0 ? e : import_rows_track(r->rows, &jobs, &r->track, err);
}

static int begin(struct reader *r, struct error *err)
{
        struct text_view line, version;
        uint64_t number;
        int e = import_source_next_line(r->source, &line, err);

        if (e < 0)
                return e;
        version = (struct text_view){ line.bytes + sizeof(title) - 1, line.n_bytes - (sizeof(title) - 1) };
        if (e == 0 || !import_ninja_log_recognise(line) || !json_pull_unsigned(version, &number) ||
            number < VERSION_FIRST || number > VERSION_LAST)
                return error_set(err, -ENOTSUP, "%s: only logs of ninja of versions %d to %d are read",
                                 import_source_path(r->source), VERSION_FIRST, VERSION_LAST);
        r->version = number;
        e = import_rows_file(r->rows, "ninja-log", version, err);
        return e < 0 ? e : make_tracks(r, err);
}

/* The ticks are of CLOCK_REALTIME already, as exactly as the lines of a build agree. */
static int place_clock(struct reader *r, struct error *err)
{
        struct import_reading reading = { .clock = r->clock,
                                          .host = IMPORT_CLOCK_REALTIME,
                                          .ticks = r->first_ticks,
                                          .host_begin = r->first_ticks - r->widest_ns,
                                          .host_end = r->first_ticks + r->widest_ns };

        if (r->n_unplaced)
                import_rows_left_out(r->rows, "command without a time", r->n_unplaced);
        if (!r->first_ticks || r->first_ticks < r->widest_ns)
                return 0;
        return import_rows_reading(r->rows, &reading, err);
}

int import_ninja_log_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        struct reader r = { .rows = rows, .source = source };
        struct text_view line;
        int e = begin(&r, err);

        while (e == 0 && (e = import_source_next_line(source, &line, err)) == 1)
                e = line.n_bytes ? take_line(&r, line, err) : 0;
        if (e == 0)
                e = end_build(&r, err);
        if (e == 0)
                e = place_clock(&r, err);
        free(r.build.edges);
        free(r.build.begins);
        return e;
}
