/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's ids count from 1 and have 64 bits, so the ids of the trace's tables are used unchanged:
 *
 *      function      the label; the location of a zone is numbered after all labels
 *      frame         the row of SYMBOLS; a frame without one is numbered by its own id after these
 *                    rows, and a zone by its location after all frames
 *      mapping       the module; after all modules, one mapping for code in no module and one for zones
 *      source path, build id, path of a mapping     the string, the module, the module
 */
#include "export/perfetto/perfetto_parts.h"

#include "base/byte_buffer.h"
#include "export/perfetto/perfetto_fields.h"
#include "export/shared/export_frames.h"
#include "export/shared/protobuf_writer.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <string.h>

void perfetto_callstacks_init(struct perfetto_callstacks *c, struct export_frames *frames,
                              const struct zone_paths *paths)
{
        *c = (struct perfetto_callstacks){ .frames = frames, .paths = paths };
        intern_init(&c->stacks, sizeof(struct perfetto_callstack_key), 0);
}

void perfetto_callstacks_deinit(struct perfetto_callstacks *c)
{
        intern_deinit(&c->stacks);
        id_set_deinit(&c->functions);
        id_set_deinit(&c->places);
        id_set_deinit(&c->files);
        id_set_deinit(&c->modules);
        id_set_deinit(&c->zones);
}

/* Returns 1 if the id is new in the set, 0 if it was there, -ENOMEM. */
static int add_new(struct id_set *set, uint32_t id)
{
        uint32_t n_before = set->n_ids;
        int r = id_set_add(set, id);

        return r < 0 ? r : set->n_ids != n_before;
}

static void put_text(struct byte_buffer *b, uint32_t field, uint64_t iid, const char *text, size_t n_bytes)
{
        size_t begin = protobuf_writer_begin(b, field);

        protobuf_writer_put_number(b, PERFETTO_IID, iid);
        protobuf_writer_put_text(b, PERFETTO_INTERNED_TEXT, text, n_bytes);
        protobuf_writer_end(b, begin);
}

static uint64_t n_rows(const struct perfetto_callstacks *c, enum trace_table table)
{
        return trace_dictionary_count(c->frames->dictionary, table);
}

/* ---- the parts of a frame ------------------------------------------------------------------------------ */

static int put_module(struct perfetto_callstacks *c, struct byte_buffer *b, uint32_t module)
{
        const struct trace_dictionary *d = c->frames->dictionary;
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        size_t n_bytes, begin;
        const char *text;
        int r = add_new(&c->modules, module);

        if (r <= 0)
                return r;
        text = trace_dictionary_string(d, row->path, &n_bytes);
        put_text(b, PERFETTO_INTERNED_MAPPING_PATH, module, text, n_bytes);
        text = trace_dictionary_string(d, row->build_id, &n_bytes);
        if (n_bytes != 0) {
                begin = protobuf_writer_begin(b, PERFETTO_INTERNED_BUILD_ID);
                protobuf_writer_put_number(b, PERFETTO_IID, module);
                protobuf_writer_put_bytes(b, PERFETTO_INTERNED_TEXT, text, n_bytes);
                protobuf_writer_end(b, begin);
        }
        begin = protobuf_writer_begin(b, PERFETTO_INTERNED_MAPPING);
        protobuf_writer_put_number(b, PERFETTO_IID, module);
        if (n_bytes != 0)
                protobuf_writer_put_number(b, PERFETTO_MAPPING_BUILD_ID, module);
        protobuf_writer_put_number(b, PERFETTO_MAPPING_START, 0);
        protobuf_writer_put_number(b, PERFETTO_MAPPING_END, INT64_MAX);
        protobuf_writer_put_number(b, PERFETTO_MAPPING_PATH, module);
        protobuf_writer_end(b, begin);
        return 0;
}

/* In Perfetto's format, every frame needs a mapping. */
static int put_mapping_without_module(struct perfetto_callstacks *c, struct byte_buffer *b, bool is_zone,
                                      uint64_t iid)
{
        const char *words = is_zone ? "[zone]" : "[unknown]";
        size_t begin;
        int r = add_new(&c->zones, is_zone ? 1 : 0);

        if (r <= 0)
                return r;
        put_text(b, PERFETTO_INTERNED_MAPPING_PATH, iid, words, strlen(words));
        begin = protobuf_writer_begin(b, PERFETTO_INTERNED_MAPPING);
        protobuf_writer_put_number(b, PERFETTO_IID, iid);
        protobuf_writer_put_number(b, PERFETTO_MAPPING_END, INT64_MAX);
        protobuf_writer_put_number(b, PERFETTO_MAPPING_PATH, iid);
        protobuf_writer_end(b, begin);
        return 0;
}

static int put_mapping(struct perfetto_callstacks *c, struct byte_buffer *b, const struct export_frame *frame,
                       uint64_t *ret_iid)
{
        uint32_t module = export_frames_module(c->frames, frame);
        bool is_zone = frame->location != 0;

        *ret_iid = module;
        if (module != 0)
                return put_module(c, b, module);
        *ret_iid = n_rows(c, TRACE_TABLE_MODULES) + (is_zone ? 2 : 1);
        return put_mapping_without_module(c, b, is_zone, *ret_iid);
}

static int put_function(struct perfetto_callstacks *c, struct byte_buffer *b,
                        const struct export_frame *frame, uint64_t *ret_iid)
{
        uint32_t n_labels = c->frames->functions.frames.n_labels;
        size_t n_bytes;
        const char *name;
        int r;

        /* Both tables are of at most INTERN_ITEMS_MAX rows. */
        *ret_iid = frame->location != 0 ? n_labels + frame->location : frame->label;
        r = add_new(&c->functions, (uint32_t)*ret_iid);
        if (r <= 0)
                return r;
        name = export_frames_name(c->frames, frame, &n_bytes);
        if (!name)
                return -ENOMEM;
        put_text(b, PERFETTO_INTERNED_FUNCTION, *ret_iid, name, n_bytes);
        return 0;
}

static int put_file(struct perfetto_callstacks *c, struct byte_buffer *b, uint32_t file)
{
        size_t n_bytes;
        const char *text;
        int r = file != 0 ? add_new(&c->files, file) : 0;

        if (r <= 0)
                return r;
        text = trace_dictionary_string(c->frames->dictionary, file, &n_bytes);
        put_text(b, PERFETTO_INTERNED_SOURCE_PATH, file, text, n_bytes);
        return 0;
}

/* ---- frames and call stacks ---------------------------------------------------------------------------- */

static uint32_t place_of(const struct perfetto_callstacks *c, const struct export_frame *frame)
{
        uint64_t n_symbols = n_rows(c, TRACE_TABLE_SYMBOLS);
        uint64_t n_frames = n_rows(c, TRACE_TABLE_FRAMES);

        if (frame->symbol != 0)
                return frame->symbol;
        if (frame->frame != 0)
                return (uint32_t)(n_symbols + frame->frame);
        return (uint32_t)(n_symbols + n_frames + 1 + frame->location); /* location 0: no call stack */
}

static int put_frame(struct perfetto_callstacks *c, struct byte_buffer *b, const struct export_frame *frame)
{
        uint64_t function, mapping;
        uint32_t file, line;
        size_t begin;
        int r = add_new(&c->places, place_of(c, frame));

        if (r <= 0)
                return r;
        file = export_frames_file(c->frames, frame, &line);
        r = put_mapping(c, b, frame, &mapping);
        if (r == 0)
                r = put_function(c, b, frame, &function);
        if (r == 0)
                r = put_file(c, b, file);
        if (r < 0)
                return r;
        begin = protobuf_writer_begin(b, PERFETTO_INTERNED_FRAME);
        protobuf_writer_put_number(b, PERFETTO_IID, place_of(c, frame));
        protobuf_writer_put_number(b, PERFETTO_FRAME_FUNCTION, function);
        protobuf_writer_put_number(b, PERFETTO_FRAME_MAPPING, mapping);
        protobuf_writer_put_number(b, PERFETTO_FRAME_ADDRESS, export_frames_address(c->frames, frame));
        if (file != 0)
                protobuf_writer_put_number(b, PERFETTO_FRAME_SOURCE_PATH, file);
        if (line != 0)
                protobuf_writer_put_number(b, PERFETTO_FRAME_LINE, line);
        protobuf_writer_end(b, begin);
        return 0;
}

static int put_callstack(struct perfetto_callstacks *c, struct byte_buffer *b,
                         const struct perfetto_callstack_key *key, uint32_t iid)
{
        const struct export_frames *frames = c->frames;
        size_t interned, callstack;
        int r = export_frames_of(c->frames, c->paths, key->path, key->stack);

        if (r < 0)
                return r;
        interned = protobuf_writer_begin(b, PERFETTO_PACKET_INTERNED);
        for (size_t i = 0; i < frames->n_items && r == 0; i++)
                r = put_frame(c, b, &frames->items[i]);
        callstack = protobuf_writer_begin(b, PERFETTO_INTERNED_CALLSTACK);
        protobuf_writer_put_number(b, PERFETTO_IID, iid);
        for (size_t i = 0; i < frames->n_items; i++)
                protobuf_writer_put_number(b, PERFETTO_CALLSTACK_FRAME, place_of(c, &frames->items[i]));
        protobuf_writer_end(b, callstack);
        protobuf_writer_end(b, interned);
        return r;
}

int perfetto_callstacks_put(struct perfetto_callstacks *c, struct byte_buffer *b,
                            const struct perfetto_callstack_key *key, uint32_t *ret_iid)
{
        int r = intern_add(&c->stacks, key, sizeof(*key), ret_iid);

        return r == 1 ? put_callstack(c, b, key, *ret_iid) : r;
}
