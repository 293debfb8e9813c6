/* SPDX-License-Identifier: MIT */
#include "export/stacks/pprof_places.h"

#include "export/shared/export_frames.h"
#include "export/shared/export_stream.h"
#include "export/shared/protobuf_writer.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pprof_places_init(struct pprof_places *p, struct export_frames *code)
{
        const struct trace_dictionary *d = code->dictionary;
        size_t n_modules = trace_dictionary_count(d, TRACE_TABLE_MODULES);
        uint32_t n_mappings = trace_dictionary_count(d, TRACE_TABLE_MAPPINGS);

        *p = (struct pprof_places){
                .code = code,
                .n_frames = trace_dictionary_count(d, TRACE_TABLE_FRAMES),
                .n_zones = trace_dictionary_count(d, TRACE_TABLE_LOCATIONS),
        };
        intern_init(&p->strings, 0, 0);
        p->frames = calloc((size_t)p->n_frames + 1, sizeof(*p->frames));
        p->zones = calloc((size_t)p->n_zones + 1, sizeof(*p->zones));
        p->modules = calloc(n_modules + 1, sizeof(*p->modules));
        p->functions = calloc((size_t)code->functions.frames.n_labels + 1, sizeof(*p->functions));
        p->mappings = calloc(n_modules + 1, sizeof(*p->mappings));
        if (!p->frames || !p->zones || !p->modules || !p->functions || !p->mappings)
                return -ENOMEM;
        for (uint32_t i = n_mappings; i >= 1; i--) {
                const struct trace_mapping *row = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS, i);

                p->mappings[row->module] = i;
        }
        return 0;
}

void pprof_places_deinit(struct pprof_places *p)
{
        intern_deinit(&p->strings);
        byte_buffer_deinit(&p->text);
        free(p->frames);
        free(p->zones);
        free(p->modules);
        free(p->functions);
        free(p->mappings);
        *p = (struct pprof_places){ .code = NULL };
}

int pprof_places_string(struct pprof_places *p, const char *bytes, size_t n_bytes, uint32_t *ret_number)
{
        int r;

        *ret_number = 0;
        if (n_bytes == 0)
                return 0;
        r = intern_add(&p->strings, bytes, n_bytes, ret_number);
        return r < 0 ? r : 0;
}

uint64_t pprof_places_location(struct pprof_places *p, const struct export_frame *frame)
{
        if (frame->location != 0) {
                p->zones[frame->location] = true;
                return (uint64_t)p->n_frames + frame->location;
        }
        if (frame->frame == 0) {
                p->no_callstack = true;
                return (uint64_t)p->n_frames + p->n_zones + 1;
        }
        p->frames[frame->frame] = true;
        return frame->frame;
}

static int put_string(struct pprof_places *p, struct byte_buffer *b, uint32_t field, uint32_t string)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(p->code->dictionary, string, &n_bytes);
        uint32_t number;
        int r = pprof_places_string(p, text, n_bytes, &number);

        if (r == 0 && number != 0)
                protobuf_writer_put_number(b, field, number);
        return r;
}

static int put_name(struct pprof_places *p, struct byte_buffer *b, uint32_t field,
                    const struct export_frame *frame)
{
        size_t n_bytes;
        const char *name = export_frames_name(p->code, frame, &n_bytes);
        uint32_t number;
        int r = name ? pprof_places_string(p, name, n_bytes, &number) : -ENOMEM;

        if (r == 0)
                protobuf_writer_put_number(b, field, number);
        return r;
}

/*
 * The address as the linker sees it, at the first mapping of the module, so that `go tool pprof -disasm`
 * finds the code in the file.  A return address is moved back into its call.
 */
static uint64_t address_of(const struct pprof_places *p, const struct trace_frame *frame)
{
        const struct trace_module *module;
        const struct trace_mapping *mapping;
        uint64_t address = frame->offset;

        if (frame->flags & TRACE_FRAME_RETURN_ADDRESS && address != 0)
                address--;
        if (frame->module == 0 || p->mappings[frame->module] == 0)
                return address;
        module = trace_dictionary_row(p->code->dictionary, TRACE_TABLE_MODULES, frame->module);
        if (module->kind == TRACE_MODULE_KERNEL || module->kind == TRACE_MODULE_ANONYMOUS)
                return address;
        mapping = trace_dictionary_row(p->code->dictionary, TRACE_TABLE_MAPPINGS, p->mappings[frame->module]);
        return address - mapping->file_offset_bytes + mapping->start_avma;
}

static void put_line(struct byte_buffer *b, uint64_t function, uint32_t line)
{
        size_t begin = protobuf_writer_begin(b, PPROF_LOCATION_LINE);

        protobuf_writer_put_number(b, PPROF_LINE_FUNCTION, function);
        if (line != 0)
                protobuf_writer_put_number(b, PPROF_LINE_LINE, line);
        protobuf_writer_end(b, begin);
}

static int write_function(struct pprof_places *p, struct byte_buffer *b, const struct export_frame *frame)
{
        size_t begin;
        uint32_t line;
        int r;

        if (p->functions[frame->label])
                return 0;
        p->functions[frame->label] = true;
        begin = protobuf_writer_begin(b, PPROF_PROFILE_FUNCTION);
        protobuf_writer_put_number(b, PPROF_FUNCTION_ID, frame->label);
        r = put_name(p, b, PPROF_FUNCTION_NAME, frame);
        if (r == 0)
                r = put_name(p, b, PPROF_FUNCTION_SYSTEM_NAME, frame);
        if (r == 0)
                r = put_string(p, b, PPROF_FUNCTION_FILENAME, export_frames_file(p->code, frame, &line));
        protobuf_writer_end(b, begin);
        return r;
}

/*
 * Writes the lines of the last frame that was looked up: inlined functions first, their callers after them.
 */
static void put_lines(const struct pprof_places *p, struct byte_buffer *b)
{
        for (size_t i = p->code->n_items; i > 0; i--) {
                const struct export_frame *frame = &p->code->items[i - 1];
                uint32_t line;

                (void)export_frames_file(p->code, frame, &line);
                put_line(b, frame->label, line);
        }
}

static int write_functions(struct pprof_places *p, struct byte_buffer *b)
{
        int r = 0;

        for (size_t i = 0; i < p->code->n_items && r == 0; i++)
                r = write_function(p, b, &p->code->items[i]);
        return r;
}

static int write_frame(struct pprof_places *p, struct export_stream *out, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(p->code->dictionary, TRACE_TABLE_FRAMES, frame);
        struct byte_buffer *b = &out->buffer;
        size_t begin;
        int r = export_frames_of_frame(p->code, frame);

        if (r < 0)
                return r;
        begin = protobuf_writer_begin(b, PPROF_PROFILE_LOCATION);
        protobuf_writer_put_number(b, PPROF_LOCATION_ID, frame);
        if (row->module != 0) {
                p->modules[row->module] = true;
                protobuf_writer_put_number(b, PPROF_LOCATION_MAPPING, row->module);
        }
        protobuf_writer_put_number(b, PPROF_LOCATION_ADDRESS, address_of(p, row));
        put_lines(p, b);
        protobuf_writer_end(b, begin);
        r = write_functions(p, b);
        return r < 0 ? r : export_stream_flush_some(out);
}

static int write_no_callstack(struct pprof_places *p, struct export_stream *out)
{
        struct byte_buffer *b = &out->buffer;
        size_t begin;
        int r = export_frames_of(p->code, NULL, 0, 0);

        if (r < 0)
                return r;
        begin = protobuf_writer_begin(b, PPROF_PROFILE_LOCATION);
        protobuf_writer_put_number(b, PPROF_LOCATION_ID, pprof_places_location(p, &p->code->items[0]));
        put_lines(p, b);
        protobuf_writer_end(b, begin);
        return write_functions(p, b);
}

static uint64_t zone_function(const struct pprof_places *p, uint32_t location)
{
        return (uint64_t)p->code->functions.frames.n_labels + location;
}

static int write_zone(struct pprof_places *p, struct export_stream *out, uint32_t location)
{
        const struct trace_location *row = trace_dictionary_row(p->code->dictionary, TRACE_TABLE_LOCATIONS,
                                                                location);
        struct byte_buffer *b = &out->buffer;
        size_t begin = protobuf_writer_begin(b, PPROF_PROFILE_LOCATION);
        int r;

        protobuf_writer_put_number(b, PPROF_LOCATION_ID, (uint64_t)p->n_frames + location);
        put_line(b, zone_function(p, location), row->line);
        protobuf_writer_end(b, begin);

        begin = protobuf_writer_begin(b, PPROF_PROFILE_FUNCTION);
        protobuf_writer_put_number(b, PPROF_FUNCTION_ID, zone_function(p, location));
        r = put_name(p, b, PPROF_FUNCTION_NAME, &(struct export_frame){ .location = location });
        if (r == 0)
                r = put_string(p, b, PPROF_FUNCTION_FILENAME, row->file);
        if (row->line != 0)
                protobuf_writer_put_number(b, PPROF_FUNCTION_START_LINE, row->line);
        protobuf_writer_end(b, begin);
        return r < 0 ? r : export_stream_flush_some(out);
}

static int write_locations(struct pprof_places *p, struct export_stream *out)
{
        int r = 0;

        for (uint32_t i = 1; i <= p->n_frames && r == 0; i++)
                if (p->frames[i])
                        r = write_frame(p, out, i);
        for (uint32_t i = 1; i <= p->n_zones && r == 0; i++)
                if (p->zones[i])
                        r = write_zone(p, out, i);
        return r == 0 && p->no_callstack ? write_no_callstack(p, out) : r;
}

/* Raw bytes in the trace, hexadecimal in pprof. */
static int put_build_id(struct pprof_places *p, struct byte_buffer *b, uint32_t build_id)
{
        size_t n_bytes;
        const char *bytes = trace_dictionary_string(p->code->dictionary, build_id, &n_bytes);
        uint32_t number;
        int r;

        byte_buffer_clear(&p->text);
        for (size_t i = 0; i < n_bytes; i++) {
                char digits[3];

                (void)snprintf(digits, sizeof(digits), "%02x", (unsigned char)bytes[i]);
                byte_buffer_add(&p->text, digits, 2);
        }
        r = p->text.failed ? -ENOMEM
                           : pprof_places_string(p, (const char *)p->text.data, p->text.used_bytes, &number);
        if (r == 0 && number != 0)
                protobuf_writer_put_number(b, PPROF_MAPPING_BUILD_ID, number);
        return r;
}

static int write_mapping(struct pprof_places *p, struct export_stream *out, uint32_t module)
{
        const struct trace_dictionary *d = p->code->dictionary;
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        struct byte_buffer *b = &out->buffer;
        size_t begin = protobuf_writer_begin(b, PPROF_PROFILE_MAPPING);
        int r;

        protobuf_writer_put_number(b, PPROF_MAPPING_ID, module);
        if (p->mappings[module] != 0) {
                const struct trace_mapping *mapping = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS,
                                                                           p->mappings[module]);

                protobuf_writer_put_number(b, PPROF_MAPPING_START, mapping->start_avma);
                protobuf_writer_put_number(b, PPROF_MAPPING_LIMIT,
                                           mapping->start_avma + mapping->length_bytes);
                protobuf_writer_put_number(b, PPROF_MAPPING_OFFSET, mapping->file_offset_bytes);
        }
        r = put_string(p, b, PPROF_MAPPING_FILENAME, row->path);
        if (r == 0)
                r = put_build_id(p, b, row->build_id);
        /* These flags keep pprof from looking up names that are missing here. */
        for (uint32_t field = PPROF_MAPPING_HAS_FUNCTIONS; field <= PPROF_MAPPING_HAS_INLINED; field++)
                protobuf_writer_put_number(b, field, 1);
        protobuf_writer_end(b, begin);
        return r < 0 ? r : export_stream_flush_some(out);
}

/* After all parts that name strings. */
static int write_strings(struct pprof_places *p, struct export_stream *out)
{
        int r = 0;

        protobuf_writer_put_bytes(&out->buffer, PPROF_PROFILE_STRING, "", 0);
        for (uint32_t i = 1; i <= p->strings.n_items && r == 0; i++) {
                size_t n_bytes;
                const char *text = intern_get(&p->strings, i, &n_bytes);

                protobuf_writer_put_text(&out->buffer, PPROF_PROFILE_STRING, text, n_bytes);
                r = export_stream_flush_some(out);
        }
        return r;
}

/* The first file whose path does not contain ".so", taken as the program; 0 = no such file. */
static uint32_t find_program(const struct pprof_places *p, uint32_t n_modules)
{
        const struct trace_dictionary *d = p->code->dictionary;

        for (uint32_t i = 1; i <= n_modules; i++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                size_t n_bytes;
                const char *path = trace_dictionary_string(d, row->path, &n_bytes);

                if (p->modules[i] && row->kind == TRACE_MODULE_FILE && n_bytes != 0 &&
                    !memmem(path, n_bytes, ".so", 3))
                        return i;
        }
        return 0;
}

/* The program comes first: pprof shows the name of the first mapping. */
static int write_mappings(struct pprof_places *p, struct export_stream *out)
{
        uint32_t n_modules = trace_dictionary_count(p->code->dictionary, TRACE_TABLE_MODULES);
        uint32_t program = find_program(p, n_modules);
        int r = program != 0 ? write_mapping(p, out, program) : 0;

        for (uint32_t i = 1; i <= n_modules && r == 0; i++)
                if (p->modules[i] && i != program)
                        r = write_mapping(p, out, i);
        return r;
}

int pprof_places_write(struct pprof_places *p, struct export_stream *out)
{
        int r = write_locations(p, out);

        if (r == 0)
                r = write_mappings(p, out);
        return r < 0 ? r : write_strings(p, out);
}
