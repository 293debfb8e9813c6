/* SPDX-License-Identifier: MIT */
#include "cli/record/ring_record.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/record/record_parts.h"
#include "cli/terminal/complaint.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "sampler/recording/recorder.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- while it records ---------------------------------------------------------------------------------- */

static int open_file(void *context, int *ret_fd, struct error *err)
{
        struct ring_record *r = context;
        struct error why = ERROR_NONE;
        int code = dump_opener_open(&r->opener, &r->now.fd, r->now.name, &r->now.is_spare, &why);

        if (code < 0)
                return error_set(err, code, "%s", why.text);
        if (r->now.is_spare) {
                progress_line_clear(r->line);
                complain("warning: the folder of %s takes no dump any more (%s): it goes to %s",
                         r->options->path, why.text, io_temporary_folder());
        }
        *ret_fd = r->now.fd;
        return 0;
}

struct dump_path {
        char text[PATH_MAX + DUMP_OPENER_NAME_BYTES];
};

/* The folder of the trace as it was named, or the spare one. */
static struct dump_path path_of_dump(const struct ring_record *r, const struct written_dump *dump)
{
        const char *path = r->options->path, *slash = strrchr(path, '/');
        struct dump_path ret;

        if (dump->is_spare)
                (void)snprintf(ret.text, sizeof(ret.text), "%s/%s", io_temporary_folder(), dump->name);
        else
                (void)snprintf(ret.text, sizeof(ret.text), "%.*s%s", slash ? (int)(slash + 1 - path) : 0,
                               path, dump->name);
        return ret;
}

static void give_up(struct ring_record *r, struct trace_writer *writer)
{
        trace_writer_free(writer);
        if (r->now.fd >= 0)
                dump_opener_remove(&r->opener, r->now.name, r->now.is_spare);
        io_close(&r->now.fd);
}

static void on_dump(void *context, const struct flight_dump *dump)
{
        struct ring_record *r = context;

        progress_line_clear(r->line);
        if (dump->failure) {
                complain("warning: no dump (%s): %s", dump->cause, dump->failure->text);
                give_up(r, dump->writer);
                return;
        }
        if (!r->options->quiet)
                complain("wrote %s (%s): %s; %s", path_of_dump(r, &r->now).text,
                         text_number_bytes(trace_writer_count_bytes(dump->writer)).text,
                         text_number_duration(dump->end_ns - dump->from_ns).text, dump->cause);
        r->now.writer = dump->writer;
        r->now.n_strings = dump->n_strings;
        r->now.n_frames = dump->n_frames;
        if (array_reserve(&r->dumps, &r->dumps_capacity, r->n_dumps + 1, sizeof(*r->dumps)) == 0) {
                r->dumps[r->n_dumps++] = r->now;
        } else { /* it stays, without names */
                trace_writer_free(dump->writer);
                io_close(&r->now.fd);
        }
        r->now = (struct written_dump){ .fd = -1 };
}

static void on_full(void *context, const char *table)
{
        struct ring_record *r = context;

        progress_line_clear(r->line);
        complain(
                "warning: the table %s is full: new entries are counted as lost; start a new recording to avoid that",
                table);
}

int ring_record_open(struct ring_record *r, const struct record_options *options, struct progress_line *line,
                     struct error *err)
{
        *r = (struct ring_record){ .options = options,
                                   .line = line,
                                   .opener = { .fd = -1, .folder_fd = -1, .spare_fd = -1 },
                                   .now = { .fd = -1 } };
        for (size_t i = 0; i < options->n_triggers; i++)
                r->rules[i] = ring_trigger_rule(&options->triggers[i]);
        r->flight = (struct flight_options){
                .ring = { .keep_ns = options->ring_ns, .bytes_max = options->ring_bytes },
                .keep = options->ring_words,
                .rules = r->rules,
                .n_rules = options->n_triggers,
                .n_triggered_max = options->n_dumps_max,
                .open_file = open_file,
                .on_dump = on_dump,
                .on_full = on_full,
                .context = r,
        };
        return dump_opener_start(&r->opener, options->path, options->mode, err);
}

void ring_record_close(struct ring_record *r)
{
        for (size_t i = 0; i < r->n_dumps; i++) {
                trace_writer_free(r->dumps[i].writer);
                io_close(&r->dumps[i].fd);
        }
        free(r->dumps);
        io_close(&r->now.fd);
        dump_opener_stop(&r->opener);
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* Strings that came after the dump. */
static int put_strings(const struct written_dump *dump, struct trace_dictionary *d, struct error *err)
{
        uint32_t *n_encoded = &d->n_encoded[TRACE_TABLE_STRINGS - TRACE_TABLE_FIRST];
        uint32_t before = *n_encoded;
        struct trace_chunk_header header = { .kind = TRACE_TABLE_STRINGS };
        struct byte_buffer body = { .data = NULL };
        int r = 0;

        *n_encoded = dump->n_strings;
        do {
                byte_buffer_clear(&body);
                r = trace_dictionary_encode(d, TRACE_TABLE_STRINGS, &body, &header.n_items);
                if (r < 0)
                        (void)error_set(err, r, "no memory for names");
                else if (header.n_items > 0)
                        r = trace_writer_put(dump->writer, header, body.data, body.used_bytes, err);
        } while (r == 0 && header.n_items > 0);
        *n_encoded = before;
        byte_buffer_deinit(&body);
        return r;
}

/* The names of those frames that were known at the dump. */
static int put_symbols(const struct written_dump *dump, const struct trace_dictionary *d, struct error *err)
{
        struct trace_dictionary names;
        int r = 0;

        trace_dictionary_init(&names, 0);
        for (uint32_t i = 1; r == 0 && i <= trace_dictionary_count(d, TRACE_TABLE_SYMBOLS); i++) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, i);
                uint32_t id;

                if (row->frame <= dump->n_frames)
                        r = trace_dictionary_add(&names, TRACE_TABLE_SYMBOLS, row, &id);
        }
        if (r < 0)
                (void)error_set(err, r, "no memory for names");
        else
                r = trace_writer_put_tables(dump->writer, &names, err);
        trace_dictionary_deinit(&names);
        return r;
}

static int put_names(const struct written_dump *dump, struct trace_dictionary *d, struct error *err)
{
        int r = trace_writer_go_on(dump->writer, err);

        if (r == 0)
                r = put_strings(dump, d, err);
        if (r == 0)
                r = put_symbols(dump, d, err);
        return r < 0 ? r : trace_writer_finish(dump->writer, err);
}

void ring_record_add_names(struct ring_record *r, struct trace_dictionary *d)
{
        if (trace_dictionary_count(d, TRACE_TABLE_SYMBOLS) == 0)
                return;
        for (size_t i = 0; i < r->n_dumps; i++) {
                struct error err = ERROR_NONE;

                if (put_names(&r->dumps[i], d, &err) < 0)
                        complain("warning: %s: no names: %s", path_of_dump(r, &r->dumps[i]).text, err.text);
        }
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static const char *plural(uint64_t n)
{
        return n == 1 ? "" : "s";
}

void ring_record_print_summary(const struct ring_record *r, const struct flight_totals *totals)
{
        char hits[120] = "", failed[60] = "";

        if (totals->n_hits > 0)
                (void)snprintf(hits, sizeof(hits), "; %s slow instance%s, %s without a dump of its own",
                               text_number_count(totals->n_hits).text, plural(totals->n_hits),
                               text_number_count(totals->n_hits_without).text);
        if (totals->n_failed > 0)
                (void)snprintf(failed, sizeof(failed), ", %" PRIu32 " could not be written",
                               totals->n_failed);
        complain("ring of %s: at most %s of events and %s of tables in memory; %" PRIu32
                 " dump%s beside the trace%s%s",
                 r->options->ring_words, text_number_bytes(totals->events_bytes_peak).text,
                 text_number_bytes(totals->kept_bytes).text, totals->n_dumps, plural(totals->n_dumps), failed,
                 hits);
        if (totals->was_full && r->options->ring_ns > 0)
                complain("warning: more happened than %s of memory hold: the ring was shorter at times",
                         text_number_bytes(r->options->ring_bytes).text);
}

void ring_record_count(const char *path, struct recorder_progress *p)
{
        const struct trace_sink sink = { .context = NULL };
        struct loaded_trace trace;
        struct trace_walk walk = { .threads = NULL };
        int r;

        if (loaded_trace_open_plain(&trace, path, NULL) < 0)
                return;
        r = trace_walk_init(&walk, &trace, NULL, &sink);
        if (r == 0)
                r = loaded_trace_walk(&trace, &walk, NULL);
        if (r == 0) {
                p->elapsed_ns = trace.end_ns - trace.start_ns;
                p->n_samples = p->n_zones = p->n_others = 0;
                for (uint32_t i = 0; i < walk.n_threads; i++) {
                        p->n_samples += walk.threads[i].n_samples;
                        p->n_zones += walk.threads[i].n_zones;
                }
        }
        trace_walk_deinit(&walk);
        loaded_trace_close(&trace);
}
