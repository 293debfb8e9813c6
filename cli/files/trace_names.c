/* SPDX-License-Identifier: MIT */
#include "cli/files/trace_names.h"

#include "format/event_decoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

/* One trace being looked through. */
struct search {
        const struct trace_dictionary *dictionary;
        enum argument_kind kind;
        bool *is_known; /* heap; by string: it was handed over */
        size_t n_known;
        trace_name_taker *take;
        void *context;
};

static void trace_names_take_string(struct search *s, uint32_t string)
{
        size_t n_bytes;
        const char *text;

        if (string == 0 || string >= s->n_known || s->is_known[string])
                return;
        s->is_known[string] = true;
        text = trace_dictionary_string(s->dictionary, string, &n_bytes);
        s->take(s->context, text, n_bytes);
}

/* More strings may have come. */
static bool trace_names_make_room(struct search *s)
{
        size_t n = (size_t)trace_dictionary_count(s->dictionary, TRACE_TABLE_STRINGS) + 1;
        bool *bigger;

        if (n <= s->n_known)
                return true;
        n += n / 2;
        bigger = realloc(s->is_known, n);
        if (!bigger)
                return false;
        for (size_t i = s->n_known; i < n; i++)
                bigger[i] = false;
        s->is_known = bigger;
        s->n_known = n;
        return true;
}

/* Threads have names in the stream only. */
static void take_thread_names(struct search *s, const struct trace_item *item)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;

        if (event_decoder_init(&decoder, s->dictionary, item->body, item->body_bytes, NULL) < 0)
                return;
        while (event_decoder_next_run(&decoder, &run, NULL) == 1)
                while (event_decoder_next(&decoder, &event, NULL) == 1)
                        if (event.op == TRACE_OP_THREAD_NAME)
                                trace_names_take_string(s, (uint32_t)event.thread_name.name);
}

/* Where a row has its name; 0 = it has none, or the kind is in no table. */
static uint32_t trace_names_name_of(enum argument_kind kind, const void *row)
{
        if (kind == ARGUMENT_ZONE)
                return ((const struct trace_location *)row)->name;
        if (kind == ARGUMENT_FUNCTION)
                return ((const struct trace_symbol *)row)->function;
        if (kind == ARGUMENT_MODULE)
                return ((const struct trace_module *)row)->path;
        return ((const struct trace_sample_event *)row)->name;
}

static enum trace_table table_of(enum argument_kind kind)
{
        if (kind == ARGUMENT_ZONE)
                return TRACE_TABLE_LOCATIONS;
        if (kind == ARGUMENT_FUNCTION)
                return TRACE_TABLE_SYMBOLS;
        if (kind == ARGUMENT_MODULE)
                return TRACE_TABLE_MODULES;
        return TRACE_TABLE_SAMPLE_EVENTS;
}

static void take_rows(struct search *s)
{
        enum trace_table table = table_of(s->kind);
        uint32_t n_rows = trace_dictionary_count(s->dictionary, table);

        for (uint32_t i = 1; i <= n_rows; i++)
                trace_names_take_string(
                        s, trace_names_name_of(s->kind, trace_dictionary_row(s->dictionary, table, i)));
}

static void trace_names_read_all(struct search *s, struct trace_reader *reader)
{
        struct trace_item item;

        while (trace_reader_next(reader, &item, NULL) == 1 && trace_names_make_room(s) &&
               item.file_offset_bytes < TRACE_NAMES_FILE_BYTES_MAX)
                if (s->kind == ARGUMENT_THREAD && item.header.kind == TRACE_CHUNK_EVENTS)
                        take_thread_names(s, &item);
        if (s->kind != ARGUMENT_THREAD && trace_names_make_room(s))
                take_rows(s);
}

void trace_names_read(const char *path, enum argument_kind kind, trace_name_taker *take, void *context)
{
        struct search s = { .kind = kind, .take = take, .context = context };
        struct trace_reader *reader;
        struct stat status;

        /* A pipe would be waited for. */
        if (kind < ARGUMENT_EVENT || kind == ARGUMENT_EVENTS || stat(path, &status) < 0 ||
            !S_ISREG(status.st_mode) || trace_reader_open(path, &reader, NULL) < 0)
                return;
        s.dictionary = trace_reader_dictionary(reader);
        trace_names_read_all(&s, reader);
        free(s.is_known);
        trace_reader_close(reader);
}
