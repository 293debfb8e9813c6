/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_profile.h"
#include "export/shared/export_format.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------------ counters */

static double real_of(uint64_t bits)
{
        double real;

        memcpy(&real, &bits, sizeof(real));
        return real;
}

/* A plot has absolute values, an event the count since the sample before; the file wants differences. */
static int write_column(struct firefox_profile *p, uint32_t counter, bool wants_counts, uint64_t *ret_length,
                        struct error *err)
{
        const struct firefox_counter_key *key = intern_get(&p->counters, counter, NULL);
        struct time_order order;
        struct timed_item item;
        double before = 0;
        int r;

        *ret_length = 0;
        json_out_key(&p->json, wants_counts ? "count" : "time");
        json_out_open(&p->json, '[');
        time_order_init(&order, &p->spool, firefox_counter_chain(p, counter));
        while ((r = time_order_next(&order, &item, err)) == 1) {
                (*ret_length)++;
                if (!wants_counts) {
                        firefox_profile_put_ms(p, item.time_ns);
                        continue;
                }
                json_out_real(&p->json, real_of(item.bits) - before);
                if (key->event == 0)
                        before = real_of(item.bits);
        }
        time_order_deinit(&order);
        json_out_close(&p->json, ']');
        json_out_line(&p->json);
        return r;
}

/* The last row of PLOTS with that name says how to show the plot. */
static const struct trace_plot *find_plot(const struct trace_dictionary *d, uint32_t name)
{
        for (uint32_t i = trace_dictionary_count(d, TRACE_TABLE_PLOTS); i > 0; i--) {
                const struct trace_plot *row = trace_dictionary_row(d, TRACE_TABLE_PLOTS, i);

                if (row->name == name)
                        return row;
        }
        return NULL;
}

static void write_tooltip(struct json_out *j, const char *source, const char *unit, const char *label)
{
        json_out_open(j, '{');
        json_out_pair_words(j, "type", "value");
        json_out_pair_words(j, "source", source);
        json_out_key(j, "format");
        json_out_open(j, '{');
        json_out_pair_words(j, "unit", unit);
        json_out_close(j, '}');
        json_out_pair_words(j, "label", label);
        json_out_close(j, '}');
}

static void write_display(struct firefox_profile *p, const struct firefox_counter_key *key,
                          struct text_view name)
{
        const struct trace_plot *plot = key->event == 0 ? find_plot(p->trace->dictionary, key->plot) : NULL;
        bool is_bytes = plot && plot->format == TRACE_PLOT_BYTES;
        struct json_out *j = &p->json;

        json_out_key(j, "display");
        json_out_open(j, '{');
        json_out_pair_words(j, "graphType", key->event == 0 ? "line-accumulated" : "line-rate");
        json_out_pair_words(j, "unit", is_bytes ? "bytes" : "");
        json_out_pair_words(j, "color", key->event == 0 ? "blue" : "orange");
        json_out_key(j, "markerSchemaLocation");
        json_out_null(j);
        json_out_pair_number(j, "sortWeight", key->event == 0 ? 20 : 30);
        json_out_pair_string(j, "label", name.bytes, name.n_bytes);
        json_out_key(j, "tooltipRows");
        json_out_open(j, '[');
        if (key->event == 0)
                write_tooltip(j, "accumulated", is_bytes ? "bytes" : "number", "value at this time");
        else
                write_tooltip(j, "count", "number", "counted since the sample before");
        json_out_close(j, ']');
        json_out_close(j, '}');
}

static int write_counter(const struct firefox_threads *t, struct firefox_profile *p, uint32_t counter,
                         struct error *err)
{
        const struct trace_dictionary *d = p->trace->dictionary;
        const struct firefox_counter_key *key = intern_get(&p->counters, counter, NULL);
        struct text_view name = trace_dictionary_text(d, key->plot);
        char pid[PROCESS_NAMES_PID_BYTES];
        uint64_t length = 0;
        int r;

        if (key->event != 0) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS,
                                                                            key->event);

                name = trace_dictionary_text(d, row->name);
        }
        json_out_open(&p->json, '{');
        json_out_pair_string(&p->json, "name", name.bytes, name.n_bytes);
        json_out_pair_words(&p->json, "category", key->event == 0 ? "Plot" : "Event");
        json_out_pair_words(&p->json, "description",
                            key->event == 0 ? "values that the program gave" : "counted with each sample");
        json_out_pair_words(&p->json, "pid", process_names_pid(&p->names, key->process, pid));
        json_out_pair_number(&p->json, "mainThreadIndex", t->process_index[key->process - 1]);
        write_display(p, key, name);
        json_out_key(&p->json, "samples");
        json_out_open(&p->json, '{');
        r = write_column(p, counter, false, &length, err);
        if (r == 0)
                r = write_column(p, counter, true, &length, err);
        json_out_pair_number(&p->json, "length", length);
        json_out_close(&p->json, '}');
        json_out_close(&p->json, '}');
        json_out_line(&p->json);
        return r;
}

int firefox_counters_write(const struct firefox_threads *t, struct firefox_profile *p, struct error *err)
{
        int r = 0;

        json_out_key(&p->json, "counters");
        json_out_open(&p->json, '[');
        for (uint32_t i = 1; r == 0 && i <= p->counters.n_items; i++)
                r = write_counter(t, p, i, err);
        json_out_close(&p->json, ']');
        return r;
}

/* ------------------------------------------------------------------ memory */

enum memory_column { MEMORY_TIME, MEMORY_WEIGHT, MEMORY_STACK, MEMORY_ADDRESS, MEMORY_THREAD };

static void write_item(struct firefox_profile *p, const struct timed_item *item, enum memory_column column)
{
        switch (column) {
        case MEMORY_TIME:
                firefox_profile_put_ms(p, item->time_ns);
                break;
        case MEMORY_WEIGHT:
                json_out_signed(&p->json, (int64_t)item->bits);
                break;
        case MEMORY_STACK:
                if (item->stack != 0)
                        json_out_number(&p->json, item->stack - 1);
                else
                        json_out_null(&p->json);
                break;
        case MEMORY_ADDRESS:
                json_out_number(&p->json, item->address);
                break;
        case MEMORY_THREAD:
                json_out_number(&p->json, process_names_tid(&p->names, item->thread));
                break;
        }
}

static int write_memory_column(struct firefox_profile *p, uint32_t process, const char *key,
                               enum memory_column column, struct error *err)
{
        struct time_order order;
        struct timed_item item;
        int r;

        time_order_init(&order, &p->spool, firefox_memory_chain(p, process));
        json_out_key(&p->json, key);
        json_out_open(&p->json, '[');
        while ((r = time_order_next(&order, &item, err)) == 1)
                write_item(p, &item, column);
        json_out_close(&p->json, ']');
        json_out_line(&p->json);
        time_order_deinit(&order);
        return r;
}

int firefox_allocations_write(struct firefox_profile *p, uint32_t process, struct error *err)
{
        static const char *const keys[] = {
                [MEMORY_TIME] = "time",       [MEMORY_WEIGHT] = "weight",
                [MEMORY_STACK] = "stack",     [MEMORY_ADDRESS] = "memoryAddress",
                [MEMORY_THREAD] = "threadId",
        };
        uint64_t n_bytes = event_spool_bytes(&p->spool, firefox_memory_chain(p, process));
        int r = 0;

        if (n_bytes == 0)
                return 0;
        json_out_key(&p->json, "nativeAllocations");
        json_out_open(&p->json, '{');
        json_out_pair_number(&p->json, "length", n_bytes / sizeof(struct timed_item));
        json_out_pair_words(&p->json, "weightType", "bytes");
        for (size_t i = 0; r == 0 && i < sizeof(keys) / sizeof(keys[0]); i++)
                r = write_memory_column(p, process, keys[i], (enum memory_column)i, err);
        json_out_close(&p->json, '}');
        return r;
}
