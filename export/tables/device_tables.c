/* SPDX-License-Identifier: MIT */
#include "export/tables/device_tables.h"

#include "analyze/clocks/clock_epoch.h"
#include "analyze/devices/lane_names.h"
#include "analyze/trace/device_clock.h"
#include "analyze/walk/ordered_events.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "export/tables/sqlite_writer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <string.h>

static void put_words(struct sqlite_insert *i, const char *words)
{
        sqlite_insert_string(i, (struct text_view){ .bytes = words, .n_bytes = words ? strlen(words) : 0 });
}

static void put_bound(struct sqlite_insert *i, uint64_t bound_ns)
{
        if (bound_ns != CLOCK_FIT_NO_BOUND)
                sqlite_insert_number(i, bound_ns);
        else
                sqlite_insert_null(i);
}

static void write_devices(struct sqlite_writer *writer, const struct trace_dictionary *d,
                          const struct device_clocks *clocks)
{
        struct sqlite_insert insert;

        sqlite_insert_open(&insert, writer, "devices", 11);
        for (uint32_t id = 1; id <= clocks->n_clocks && writer->why.code == 0; id++) {
                const struct trace_device *row = trace_dictionary_row(d, TRACE_TABLE_DEVICES, id);
                const struct device_clock *clock = &clocks->clocks[id - 1];

                sqlite_insert_number(&insert, id);
                sqlite_insert_number(&insert, row->process);
                sqlite_insert_string(&insert, trace_dictionary_text(d, row->name));
                sqlite_insert_number(&insert, row->number);
                sqlite_insert_number(&insert, row->kind);
                if (clock->has_period)
                        sqlite_insert_real(&insert, clock->period_ns);
                else
                        sqlite_insert_null(&insert);
                sqlite_insert_number(&insert, clock->is_placed);
                sqlite_insert_string(&insert, trace_dictionary_text(d, row->clock_name));
                put_bound(&insert, clock->fit.bound_ns);
                put_words(&insert, clock_fit_quality(clock->fit.quality));
                sqlite_insert_number(&insert, clock->fit.n_epochs);
                sqlite_insert_end_row(&insert);
        }
        sqlite_insert_close(&insert);
}

static void put_epoch(struct sqlite_insert *i, const struct clock_fit *fit, const struct clock_epoch *epoch,
                      uint64_t start_ns)
{
        uint64_t first_ns = clock_epoch_time_ns(fit, epoch, epoch->first_ticks);
        uint64_t last_ns = clock_epoch_time_ns(fit, epoch, epoch->last_ticks);

        sqlite_insert_signed(i, (int64_t)(first_ns - start_ns));
        sqlite_insert_signed(i, (int64_t)(last_ns - start_ns));
        sqlite_insert_number(i, epoch->first_ticks);
        sqlite_insert_number(i, epoch->last_ticks);
        sqlite_insert_number(i, epoch->n_readings);
        sqlite_insert_real(i, epoch->slope_ns);
        put_bound(i, epoch->bound_ns);
        put_words(i, clock_fit_quality(epoch->quality));
        sqlite_insert_end_row(i);
}

static void write_epochs(struct sqlite_writer *writer, const struct device_clocks *clocks, uint64_t start_ns)
{
        struct sqlite_insert insert;

        sqlite_insert_open(&insert, writer, "device_epochs", 10);
        for (uint32_t id = 1; id <= clocks->n_clocks && writer->why.code == 0; id++) {
                const struct clock_fit *fit = &clocks->clocks[id - 1].fit;

                for (size_t i = 0; i < fit->n_epochs; i++) {
                        sqlite_insert_number(&insert, id);
                        sqlite_insert_number(&insert, i + 1);
                        put_epoch(&insert, fit, &fit->epochs[i], start_ns);
                }
        }
        sqlite_insert_close(&insert);
}

static int write_tracks(struct sqlite_writer *writer, const struct trace_dictionary *d)
{
        static const char *const kinds[] = {
                [TRACE_TRACK_OTHER] = "other",
                [TRACE_TRACK_CORE] = "core",
                [TRACE_TRACK_PROCESSOR] = "processor",
                [TRACE_TRACK_STREAM] = "stream",
        };
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_TRACKS);
        struct byte_buffer path = { .data = NULL };
        struct sqlite_insert insert;
        struct lane_names names;
        int r = lane_names_init(&names, d);

        sqlite_insert_open(&insert, writer, "device_tracks", 7);
        for (uint32_t id = 1; r == 0 && id <= n && writer->why.code == 0; id++) {
                const struct trace_track *row = trace_dictionary_row(d, TRACE_TABLE_TRACKS, id);
                const char *kind = row->kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[row->kind] : NULL;

                byte_buffer_clear(&path);
                lane_names_put_path(&names, &path, row->device, row->number);
                sqlite_insert_number(&insert, id);
                sqlite_insert_number(&insert, row->device);
                sqlite_insert_number(&insert, row->number);
                sqlite_insert_id(&insert, row->parent);
                sqlite_insert_string(&insert, trace_dictionary_text(d, row->name));
                put_words(&insert, kind);
                sqlite_insert_string(&insert, (struct text_view){ .bytes = (const char *)path.data,
                                                                  .n_bytes = path.used_bytes });
                sqlite_insert_end_row(&insert);
        }
        sqlite_insert_close(&insert);
        r = path.failed ? -ENOMEM : r;
        byte_buffer_deinit(&path);
        lane_names_deinit(&names);
        return r;
}

int device_tables_write(struct sqlite_writer *writer, const struct trace_dictionary *dictionary,
                        const struct device_clocks *clocks, uint64_t start_ns, struct error *err)
{
        write_devices(writer, dictionary, clocks);
        write_epochs(writer, clocks, start_ns);
        return write_tracks(writer, dictionary) < 0 ? error_set(err, -ENOMEM, "the database: out of memory")
                                                    : 0;
}

void device_tables_put_value(struct sqlite_insert *i, const struct trace_dictionary *dictionary,
                             const struct ordered_mark *value)
{
        const struct trace_plot *plot = trace_dictionary_row(dictionary, TRACE_TABLE_PLOTS, value->plot);

        sqlite_insert_string(i, trace_dictionary_text(dictionary, plot->name));
        if (value->kind == TRACE_VALUE_SIGNED || value->kind == TRACE_VALUE_UNSIGNED)
                sqlite_insert_number(i, value->bits);
        else
                sqlite_insert_real(i, value->value);
}
