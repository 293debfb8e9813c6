/* SPDX-License-Identifier: MIT */
#include "format/trace_schema.h"

#include "format/trace_rows.h"

#include <string.h>

/* The casts state what the assertions below prove: every offset and width is small. */
#define FIELD(type, id, member, ...)                                                                     \
        {                                                                                                \
                .name = #member, .column = (id), .offset_bytes = (uint8_t)offsetof(struct type, member), \
                .width_bytes = (uint8_t)sizeof(((struct type *)0)->member), __VA_ARGS__                  \
        }
#define DELTA        .encoding = TRACE_ENCODING_DELTA
#define HEX          .show = TRACE_SHOW_HEX
#define OPTIONAL(to) .reference = TRACE_REFERENCE_OPTIONAL, .table = TRACE_TABLE_##to
#define REQUIRED(to) .reference = TRACE_REFERENCE_REQUIRED, .table = TRACE_TABLE_##to
#define EARLIER(to)  .reference = TRACE_REFERENCE_EARLIER, .table = TRACE_TABLE_##to
#define PLAIN        .encoding = TRACE_ENCODING_VARINT
#define LATER        .optional = true
#define TIME         .is_time = true

static const struct trace_field meta_fields[] = {
        FIELD(trace_meta, 1, key, REQUIRED(STRINGS)),
        FIELD(trace_meta, 2, value, OPTIONAL(STRINGS)),
};
static const struct trace_field process_fields[] = {
        FIELD(trace_process, 1, pid, DELTA),
        FIELD(trace_process, 2, parent, EARLIER(PROCESSES)),
        FIELD(trace_process, 3, start_ns, DELTA, TIME),
        FIELD(trace_process, 4, recording, OPTIONAL(RECORDINGS), LATER),
};
static const struct trace_field thread_fields[] = {
        FIELD(trace_thread, 1, process, REQUIRED(PROCESSES)),
        FIELD(trace_thread, 2, tid, DELTA),
        FIELD(trace_thread, 3, start_ns, DELTA, TIME),
        FIELD(trace_thread, 4, kind, LATER),
        FIELD(trace_thread, 5, fiber, LATER),
        FIELD(trace_thread, 6, creator, EARLIER(THREADS), LATER),
};
static const struct trace_field module_fields[] = {
        FIELD(trace_module, 1, path, OPTIONAL(STRINGS)),
        FIELD(trace_module, 2, build_id, OPTIONAL(STRINGS)),
        FIELD(trace_module, 3, kind, PLAIN),
        FIELD(trace_module, 4, process, OPTIONAL(PROCESSES)),
        FIELD(trace_module, 5, device, HEX),
        FIELD(trace_module, 6, inode, PLAIN),
        FIELD(trace_module, 7, content, HEX, LATER),
        FIELD(trace_module, 8, generation, LATER),
        FIELD(trace_module, 9, recording, OPTIONAL(RECORDINGS), LATER),
};
static const struct trace_field mapping_fields[] = {
        FIELD(trace_mapping, 1, start_avma, DELTA, HEX),
        FIELD(trace_mapping, 2, length_bytes, HEX),
        FIELD(trace_mapping, 3, file_offset_bytes, HEX),
        FIELD(trace_mapping, 4, time_ns, DELTA, TIME),
        FIELD(trace_mapping, 5, process, REQUIRED(PROCESSES)),
        FIELD(trace_mapping, 6, module, REQUIRED(MODULES)),
};
static const struct trace_field frame_fields[] = {
        FIELD(trace_frame, 1, offset, DELTA, HEX),
        FIELD(trace_frame, 2, module, OPTIONAL(MODULES)),
        FIELD(trace_frame, 3, flags, HEX),
};
static const struct trace_field stack_fields[] = {
        FIELD(trace_stack, 1, parent, DELTA, EARLIER(STACKS)),
        FIELD(trace_stack, 2, frame, DELTA, REQUIRED(FRAMES)),
};
static const struct trace_field location_fields[] = {
        FIELD(trace_location, 1, name, OPTIONAL(STRINGS)),
        FIELD(trace_location, 2, function, OPTIONAL(STRINGS)),
        FIELD(trace_location, 3, file, OPTIONAL(STRINGS)),
        FIELD(trace_location, 4, line, PLAIN),
        FIELD(trace_location, 5, color, HEX),
};
static const struct trace_field zone_path_fields[] = {
        FIELD(trace_zone_path, 1, parent, EARLIER(ZONE_PATHS)),
        FIELD(trace_zone_path, 2, location, REQUIRED(LOCATIONS)),
};
static const struct trace_field sample_event_fields[] = {
        FIELD(trace_sample_event, 1, name, OPTIONAL(STRINGS)),
        FIELD(trace_sample_event, 2, type, PLAIN),
        FIELD(trace_sample_event, 3, config, HEX),
        FIELD(trace_sample_event, 4, rate, PLAIN),
        FIELD(trace_sample_event, 5, mode, PLAIN),
        FIELD(trace_sample_event, 6, unit, OPTIONAL(STRINGS)),
        FIELD(trace_sample_event, 7, leader, EARLIER(SAMPLE_EVENTS), LATER),
};
static const struct trace_field symbol_fields[] = {
        FIELD(trace_symbol, 1, frame, DELTA, REQUIRED(FRAMES)),
        FIELD(trace_symbol, 2, function, DELTA, OPTIONAL(STRINGS)),
        FIELD(trace_symbol, 3, file, DELTA, OPTIONAL(STRINGS)),
        FIELD(trace_symbol, 4, line, DELTA),
        FIELD(trace_symbol, 5, column, PLAIN),
        FIELD(trace_symbol, 6, flags, HEX),
        FIELD(trace_symbol, 7, start_svma, HEX, LATER),
        FIELD(trace_symbol, 8, declared_file, OPTIONAL(STRINGS), LATER),
        FIELD(trace_symbol, 9, declared_line, LATER),
        FIELD(trace_symbol, 10, instance, LATER),
        FIELD(trace_symbol, 11, aliases, OPTIONAL(STRINGS), LATER),
};
static const struct trace_field loss_fields[] = {
        FIELD(trace_loss, 1, reason, PLAIN),
        FIELD(trace_loss, 2, thread, OPTIONAL(THREADS)),
        FIELD(trace_loss, 3, count, PLAIN),
        FIELD(trace_loss, 4, time_ns, DELTA, TIME),
};
static const struct trace_field notice_fields[] = {
        FIELD(trace_notice, 1, notice, PLAIN),
        FIELD(trace_notice, 2, detail, OPTIONAL(STRINGS)),
};
static const struct trace_field clock_fields[] = {
        FIELD(trace_clock, 1, ticks, DELTA),
        FIELD(trace_clock, 2, raw_ns, DELTA, TIME),
        FIELD(trace_clock, 3, kind, PLAIN),
        FIELD(trace_clock, 4, error_ns, PLAIN),
        FIELD(trace_clock, 5, recording, OPTIONAL(RECORDINGS), LATER),
};

static const struct trace_field plot_fields[] = {
        FIELD(trace_plot, 1, name, OPTIONAL(STRINGS)),
        FIELD(trace_plot, 2, unit, OPTIONAL(STRINGS)),
        FIELD(trace_plot, 3, format, PLAIN),
        FIELD(trace_plot, 4, flags, HEX),
        FIELD(trace_plot, 5, color, HEX),
};
static const struct trace_field lock_fields[] = {
        FIELD(trace_lock, 1, process, REQUIRED(PROCESSES)),
        FIELD(trace_lock, 2, location, REQUIRED(LOCATIONS)),
        FIELD(trace_lock, 3, number, DELTA),
};
static const struct trace_field device_fields[] = {
        FIELD(trace_device, 1, process, OPTIONAL(PROCESSES)),
        FIELD(trace_device, 2, name, OPTIONAL(STRINGS)),
        FIELD(trace_device, 3, period_bits, .show = TRACE_SHOW_DOUBLE),
        FIELD(trace_device, 4, kind, PLAIN),
        FIELD(trace_device, 5, number, PLAIN),
        FIELD(trace_device, 6, clock_name, OPTIONAL(STRINGS), LATER),
        FIELD(trace_device, 7, recording, OPTIONAL(RECORDINGS), LATER),
};
static const struct trace_field device_clock_fields[] = {
        FIELD(trace_device_clock, 1, ticks, DELTA),
        FIELD(trace_device_clock, 2, raw_ns, DELTA, TIME),
        FIELD(trace_device_clock, 3, device, REQUIRED(DEVICES)),
        FIELD(trace_device_clock, 4, error_ns, LATER),
        FIELD(trace_device_clock, 5, epoch, LATER),
};
static const struct trace_field program_info_fields[] = {
        FIELD(trace_program_info, 1, process, REQUIRED(PROCESSES)),
        FIELD(trace_program_info, 2, key, OPTIONAL(STRINGS)),
        FIELD(trace_program_info, 3, value, OPTIONAL(STRINGS)),
};
static const struct trace_field attachment_fields[] = {
        FIELD(trace_attachment, 1, size_bytes, PLAIN),
        FIELD(trace_attachment, 2, hash, HEX),
        FIELD(trace_attachment, 3, kind, PLAIN),
        FIELD(trace_attachment, 4, name, OPTIONAL(STRINGS)),
};
static const struct trace_field code_region_fields[] = {
        FIELD(trace_code_region, 1, start_avma, DELTA, HEX),
        FIELD(trace_code_region, 2, length_bytes, HEX),
        FIELD(trace_code_region, 3, time_ns, DELTA, TIME),
        FIELD(trace_code_region, 4, process, REQUIRED(PROCESSES)),
        FIELD(trace_code_region, 5, name, OPTIONAL(STRINGS)),
        FIELD(trace_code_region, 6, attachment, OPTIONAL(ATTACHMENTS)),
        FIELD(trace_code_region, 7, gone, PLAIN),
        FIELD(trace_code_region, 8, source, LATER),
        FIELD(trace_code_region, 9, module, OPTIONAL(MODULES), LATER),
};
static const struct trace_field module_image_fields[] = {
        FIELD(trace_module_image, 1, module, DELTA, REQUIRED(MODULES)),
        FIELD(trace_module_image, 2, attachment, DELTA, OPTIONAL(ATTACHMENTS)),
        FIELD(trace_module_image, 3, state, PLAIN),
};
static const struct trace_field code_line_fields[] = {
        FIELD(trace_code_line, 1, region, DELTA, REQUIRED(CODE_REGIONS)),
        FIELD(trace_code_line, 2, offset_bytes, DELTA, HEX),
        FIELD(trace_code_line, 3, file, DELTA, OPTIONAL(STRINGS)),
        FIELD(trace_code_line, 4, line, DELTA),
};
static const struct trace_field counter_fields[] = {
        FIELD(trace_counter, 1, event, REQUIRED(SAMPLE_EVENTS)),
        FIELD(trace_counter, 2, value, PLAIN),
        FIELD(trace_counter, 3, enabled_ns, PLAIN),
        FIELD(trace_counter, 4, running_ns, PLAIN),
};

static const struct trace_field recording_fields[] = {
        FIELD(trace_recording, 1, label, OPTIONAL(STRINGS)),
        FIELD(trace_recording, 2, hostname, OPTIONAL(STRINGS)),
        FIELD(trace_recording, 3, boot_id, OPTIONAL(STRINGS)),
        FIELD(trace_recording, 4, command, OPTIONAL(STRINGS)),
        FIELD(trace_recording, 5, trace, OPTIONAL(STRINGS)),
        FIELD(trace_recording, 6, start_ns, PLAIN, TIME),
        FIELD(trace_recording, 7, end_ns, PLAIN, TIME),
        FIELD(trace_recording, 8, offset_ns, DELTA, .show = TRACE_SHOW_SIGNED),
        FIELD(trace_recording, 9, error_ns, PLAIN),
        FIELD(trace_recording, 10, clock, PLAIN),
        FIELD(trace_recording, 11, first_cpu, PLAIN),
        FIELD(trace_recording, 12, n_cpus, PLAIN),
        FIELD(trace_recording, 13, drift, DELTA, LATER, .show = TRACE_SHOW_SIGNED),
};

static const struct trace_field syscall_fields[] = {
        FIELD(trace_syscall, 1, thread, OPTIONAL(THREADS)),
        FIELD(trace_syscall, 2, name, REQUIRED(STRINGS)),
        FIELD(trace_syscall, 3, n_calls, PLAIN),
        FIELD(trace_syscall, 4, n_errors, PLAIN),
        FIELD(trace_syscall, 5, time_ns, PLAIN),
        FIELD(trace_syscall, 6, longest_ns, PLAIN),
        FIELD(trace_syscall, 7, n_bytes, PLAIN),
};

static const struct trace_field track_fields[] = {
        FIELD(trace_track, 1, device, REQUIRED(DEVICES)),
        FIELD(trace_track, 2, parent, EARLIER(TRACKS)),
        FIELD(trace_track, 3, number, DELTA),
        FIELD(trace_track, 4, name, OPTIONAL(STRINGS)),
        FIELD(trace_track, 5, kind, PLAIN),
};
static const struct trace_field import_fields[] = {
        FIELD(trace_import, 1, file, OPTIONAL(STRINGS)),
        FIELD(trace_import, 2, format, OPTIONAL(STRINGS)),
        FIELD(trace_import, 3, version, OPTIONAL(STRINGS)),
        FIELD(trace_import, 4, n_rows, PLAIN),
        FIELD(trace_import, 5, n_malformed, PLAIN),
        FIELD(trace_import, 6, first_malformed_at, PLAIN),
        FIELD(trace_import, 7, first_malformed, OPTIONAL(STRINGS)),
        FIELD(trace_import, 8, n_dropped, PLAIN),
        FIELD(trace_import, 9, clock, OPTIONAL(STRINGS)),
        FIELD(trace_import, 10, error_ns, PLAIN),
        FIELD(trace_import, 11, cut_at, PLAIN),
};
static const struct trace_field import_loss_fields[] = {
        FIELD(trace_import_loss, 1, import, REQUIRED(IMPORTS)),
        FIELD(trace_import_loss, 2, kind, OPTIONAL(STRINGS)),
        FIELD(trace_import_loss, 3, count, PLAIN),
};

static const struct trace_field exchange_fields[] = {
        FIELD(trace_exchange, 1, taker_high, DELTA, HEX),
        FIELD(trace_exchange, 2, taker_low, DELTA, HEX),
        FIELD(trace_exchange, 3, asked_ns, DELTA),
        FIELD(trace_exchange, 4, heard_ns, DELTA, TIME),
        FIELD(trace_exchange, 5, answered_ns, DELTA, TIME),
        FIELD(trace_exchange, 6, got_ns, DELTA),
        FIELD(trace_exchange, 7, recording, OPTIONAL(RECORDINGS)),
};

#define SCHEMA(id, text, type, list, is_interned)                                                         \
        {                                                                                                 \
                .name = (text), .table = TRACE_TABLE_##id, .row_bytes = sizeof(struct type),              \
                .interned = (is_interned), .n_fields = sizeof(list) / sizeof((list)[0]), .fields = (list) \
        }

/* In the order of the ids. */
static const struct trace_schema schemas[TRACE_TABLE_COUNT] = {
        { .name = "string", .table = TRACE_TABLE_STRINGS, .interned = true },
        SCHEMA(META, "meta", trace_meta, meta_fields, false),
        SCHEMA(PROCESSES, "process", trace_process, process_fields, true),
        SCHEMA(THREADS, "thread", trace_thread, thread_fields, true),
        SCHEMA(MODULES, "module", trace_module, module_fields, true),
        SCHEMA(MAPPINGS, "mapping", trace_mapping, mapping_fields, true),
        SCHEMA(FRAMES, "frame", trace_frame, frame_fields, true),
        SCHEMA(STACKS, "stack", trace_stack, stack_fields, true),
        SCHEMA(LOCATIONS, "location", trace_location, location_fields, true),
        SCHEMA(ZONE_PATHS, "zone_path", trace_zone_path, zone_path_fields, true),
        SCHEMA(SAMPLE_EVENTS, "sample_event", trace_sample_event, sample_event_fields, true),
        SCHEMA(SYMBOLS, "symbol", trace_symbol, symbol_fields, false),
        SCHEMA(LOSSES, "loss", trace_loss, loss_fields, false),
        SCHEMA(NOTICES, "notice", trace_notice, notice_fields, false),
        SCHEMA(CLOCKS, "clock", trace_clock, clock_fields, false),
        SCHEMA(PLOTS, "plot", trace_plot, plot_fields, false),
        SCHEMA(LOCKS, "lock", trace_lock, lock_fields, true),
        SCHEMA(DEVICES, "device", trace_device, device_fields, true),
        SCHEMA(DEVICE_CLOCKS, "device_clock", trace_device_clock, device_clock_fields, false),
        SCHEMA(PROGRAM_INFO, "program_info", trace_program_info, program_info_fields, false),
        SCHEMA(ATTACHMENTS, "attachment", trace_attachment, attachment_fields, true),
        SCHEMA(CODE_REGIONS, "code_region", trace_code_region, code_region_fields, false),
        SCHEMA(COUNTERS, "counter", trace_counter, counter_fields, false),
        SCHEMA(MODULE_IMAGES, "module_image", trace_module_image, module_image_fields, false),
        SCHEMA(CODE_LINES, "code_line", trace_code_line, code_line_fields, false),
        SCHEMA(RECORDINGS, "recording", trace_recording, recording_fields, false),
        SCHEMA(SYSCALLS, "syscall", trace_syscall, syscall_fields, false),
        SCHEMA(TRACKS, "track", trace_track, track_fields, true),
        SCHEMA(IMPORTS, "import", trace_import, import_fields, false),
        SCHEMA(IMPORT_LOSSES, "import_loss", trace_import_loss, import_loss_fields, false),
        SCHEMA(EXCHANGES, "exchange", trace_exchange, exchange_fields, false),
};

/* Rows are compared and hashed as bytes, so there must be no padding in them. */
_Static_assert(sizeof(struct trace_process) == 24, "padding");
_Static_assert(sizeof(struct trace_thread) == 32, "padding");
_Static_assert(sizeof(struct trace_module) == 48, "padding");
_Static_assert(sizeof(struct trace_mapping) == 40, "padding");
_Static_assert(sizeof(struct trace_frame) == 16, "padding");
_Static_assert(sizeof(struct trace_stack) == 8, "padding");
_Static_assert(sizeof(struct trace_location) == 20, "padding");
_Static_assert(sizeof(struct trace_zone_path) == 8, "padding");
_Static_assert(sizeof(struct trace_sample_event) == 40, "padding");
_Static_assert(sizeof(struct trace_symbol) == 56, "padding");
_Static_assert(sizeof(struct trace_plot) == 20, "padding");
_Static_assert(sizeof(struct trace_lock) == 12, "padding");
_Static_assert(sizeof(struct trace_device) == 32, "padding");
_Static_assert(sizeof(struct trace_device_clock) == 32, "padding");
_Static_assert(sizeof(struct trace_track) == 20, "padding");
_Static_assert(sizeof(struct trace_import) == 72, "padding");
_Static_assert(sizeof(struct trace_import_loss) == 16, "padding");
_Static_assert(sizeof(struct trace_exchange) == 56, "padding");
_Static_assert(sizeof(struct trace_program_info) == 12, "padding");
_Static_assert(sizeof(struct trace_attachment) == 24, "padding");
_Static_assert(sizeof(struct trace_code_region) == 48, "padding");
_Static_assert(sizeof(struct trace_counter) == 32, "padding");
_Static_assert(sizeof(struct trace_module_image) == 12, "padding");
_Static_assert(sizeof(struct trace_syscall) == 48, "padding");
_Static_assert(sizeof(struct trace_code_line) == 16, "padding");
_Static_assert(sizeof(struct trace_loss) == 24, "padding");
_Static_assert(sizeof(struct trace_clock) == 32, "padding");
_Static_assert(sizeof(struct trace_recording) == 72, "padding");

const struct trace_schema *trace_schema_find(uint32_t table)
{
        if (table < TRACE_TABLE_FIRST || table >= TRACE_TABLE_FIRST + TRACE_TABLE_COUNT)
                return NULL;
        return &schemas[table - TRACE_TABLE_FIRST];
}

uint64_t trace_field_get(const struct trace_field *field, const void *row)
{
        const uint8_t *at = (const uint8_t *)row + field->offset_bytes;
        uint32_t narrow;
        uint64_t wide;

        if (field->width_bytes == sizeof(narrow)) {
                memcpy(&narrow, at, sizeof(narrow));
                return narrow;
        }
        memcpy(&wide, at, sizeof(wide));
        return wide;
}

void trace_field_set(const struct trace_field *field, void *row, uint64_t value)
{
        uint8_t *at = (uint8_t *)row + field->offset_bytes;
        uint32_t narrow = (uint32_t)value;

        if (field->width_bytes == sizeof(narrow))
                memcpy(at, &narrow, sizeof(narrow));
        else
                memcpy(at, &value, sizeof(value));
}

uint64_t trace_field_max(const struct trace_field *field)
{
        return field->width_bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
}

/*
 * Tables are in the order of their numbers, except RECORDINGS, which is newer: processes refer to it, and it
 * refers only to texts.
 */
uint32_t trace_schema_nth_table(uint32_t n)
{
        if (n == 0)
                return TRACE_TABLE_STRINGS;
        if (n == 1)
                return TRACE_TABLE_RECORDINGS;
        return TRACE_TABLE_FIRST + n - (TRACE_TABLE_FIRST + n <= TRACE_TABLE_RECORDINGS);
}
