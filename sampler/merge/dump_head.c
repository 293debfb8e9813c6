/* SPDX-License-Identifier: MIT */
#include "sampler/merge/dump_head.h"

#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "sampler/merge/ring_dump.h"
#include "sampler/pace/pace.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define ROWS_KEPT (UINT32_C(1) << 16) /* rows of losses and of clock readings, a few each second */

/* Counters count the whole recording, so their table is empty in a dump. */
static const enum trace_table tables[] = { TRACE_TABLE_META, TRACE_TABLE_NOTICES, TRACE_TABLE_LOSSES,
                                           TRACE_TABLE_CLOCKS, TRACE_TABLE_COUNTERS };

#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

bool dump_head_has_table(uint32_t table)
{
        for (size_t i = 0; i < N_TABLES; i++)
                if (tables[i] == table)
                        return true;
        return false;
}

uint64_t dump_head_count_others(const struct trace_dictionary *d)
{
        uint64_t n = trace_dictionary_count_new(d);

        for (size_t i = 0; i < N_TABLES; i++)
                n -= trace_dictionary_count(d, tables[i]);
        return n;
}

void dump_head_forget(struct trace_dictionary *d)
{
        if (trace_dictionary_count(d, TRACE_TABLE_LOSSES) >= 2 * ROWS_KEPT)
                trace_dictionary_keep_last(d, TRACE_TABLE_LOSSES, ROWS_KEPT);
        if (trace_dictionary_count(d, TRACE_TABLE_CLOCKS) >= 2 * ROWS_KEPT)
                trace_dictionary_keep_last(d, TRACE_TABLE_CLOCKS, ROWS_KEPT);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The rows of the dump that is being made; their strings are the recording's. */
struct making {
        const struct dump_head *head;
        struct trace_dictionary *from;
        struct trace_dictionary rows;
        int r;
};

static void add_row(struct making *m, enum trace_table table, const void *row)
{
        uint32_t id;

        if (m->r == 0)
                m->r = trace_dictionary_add(&m->rows, table, row, &id);
}

static uint32_t add_string(struct making *m, const char *text)
{
        uint32_t id = 0;

        if (m->r == 0)
                m->r = trace_dictionary_add_string(m->from, text, strlen(text), &id);
        return id;
}

static void add_meta(struct making *m, const char *key, const char *value)
{
        const struct trace_meta row = { .key = add_string(m, key), .value = add_string(m, value) };

        add_row(m, TRACE_TABLE_META, &row);
}

static void add_number(struct making *m, const char *key, uint64_t value)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, value);
        add_meta(m, key, text);
}

/* True for facts about the recording's beginning and end, which do not hold for the dump. */
static bool is_replaced(const struct making *m, uint32_t key)
{
        static const char *const keys[] = { "start_raw_ns", "start_realtime_ns", "end_raw_ns",
                                            "end_realtime_ns" };
        size_t n_bytes;
        const char *text = trace_dictionary_string(m->from, key, &n_bytes);

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
                if (strlen(keys[i]) == n_bytes && memcmp(keys[i], text, n_bytes) == 0)
                        return true;
        return false;
}

static uint64_t realtime_of(uint64_t raw_ns)
{
        uint64_t now_raw_ns = clock_raw_ns();
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec - (now_raw_ns - raw_ns);
}

static void make_meta(struct making *m)
{
        const struct dump_head *head = m->head;
        uint32_t n = trace_dictionary_count(m->from, TRACE_TABLE_META);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_meta *row = trace_dictionary_row(m->from, TRACE_TABLE_META, i);

                if (!is_replaced(m, row->key))
                        add_row(m, TRACE_TABLE_META, row);
        }
        add_number(m, "start_realtime_ns", realtime_of(head->from_ns));
        add_number(m, "start_raw_ns", head->from_ns);
        add_number(m, "end_raw_ns", head->end_ns);
        add_meta(m, "ring", head->keep);
        add_meta(m, "ring_cause", head->cause);
        add_number(m, "recording_start_raw_ns", head->start_ns);
        if (!head->is_last) /* code and sources may be on their way still */
                add_meta(m, "ring_goes_on", "1");
}

static void add_notice(struct making *m, enum trace_notice_id notice, const char *detail)
{
        const struct trace_notice row = { .notice = (uint32_t)notice,
                                          .detail = detail ? add_string(m, detail) : 0 };

        add_row(m, TRACE_TABLE_NOTICES, &row);
}

static double seconds(uint64_t ns)
{
        return (double)ns / (double)NS_PER_S;
}

static void make_notices(struct making *m)
{
        const struct dump_head *head = m->head;
        uint32_t n = trace_dictionary_count(m->from, TRACE_TABLE_NOTICES);
        char detail[200];

        for (uint32_t i = 1; i <= n; i++)
                add_row(m, TRACE_TABLE_NOTICES, trace_dictionary_row(m->from, TRACE_TABLE_NOTICES, i));
        (void)snprintf(
                detail, sizeof(detail),
                "the last %.1f s of %.1f s; zones that were open at the beginning, and begin there: %" PRIu64,
                seconds(head->end_ns - head->from_ns), seconds(head->end_ns - head->start_ns), head->n_open);
        if (head->is_cut)
                add_notice(m, TRACE_NOTICE_RING, detail);
        if (head->pauses[0] != '\0')
                add_notice(m, TRACE_NOTICE_PAUSED, head->pauses);
}

static void make_losses(struct making *m)
{
        uint32_t n = trace_dictionary_count(m->from, TRACE_TABLE_LOSSES);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_loss *row = trace_dictionary_row(m->from, TRACE_TABLE_LOSSES, i);

                if (!m->head->is_cut || row->time_ns >= m->head->from_ns)
                        add_row(m, TRACE_TABLE_LOSSES, row);
        }
}

static void make_clocks(struct making *m)
{
        uint32_t n = trace_dictionary_count(m->from, TRACE_TABLE_CLOCKS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_clock *row = trace_dictionary_row(m->from, TRACE_TABLE_CLOCKS, i);

                if (!m->head->is_cut || row->raw_ns + 2 * PACE_MERGE_CLOCKS_NS >= m->head->from_ns)
                        add_row(m, TRACE_TABLE_CLOCKS, row);
        }
}

/*
 * The end of the recording: rows that are added to these tables from now on follow the rows of the last dump.
 */
static void hand_over(struct making *m)
{
        for (size_t i = 0; i < N_TABLES; i++) {
                size_t at = (size_t)tables[i] - TRACE_TABLE_FIRST;
                struct intern before = m->from->tables[at];

                m->from->tables[at] = m->rows.tables[at];
                m->from->n_encoded[at] = m->rows.n_encoded[at];
                m->rows.tables[at] = before;
        }
}

int dump_head_add(const struct dump_head *head, struct trace_dictionary *d, struct ring_dump *dump)
{
        struct making m = { .head = head, .from = d };

        trace_dictionary_init(&m.rows, 0);
        make_meta(&m);
        make_notices(&m);
        make_losses(&m);
        make_clocks(&m);
        for (size_t i = 0; m.r == 0 && i < N_TABLES; i++)
                m.r = ring_dump_add_table(dump, &m.rows, tables[i]);
        if (m.r == 0 && head->is_last)
                hand_over(&m);
        trace_dictionary_deinit(&m.rows);
        return m.r;
}
