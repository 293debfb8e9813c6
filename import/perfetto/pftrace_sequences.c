/* SPDX-License-Identifier: MIT */
#include "import/perfetto/pftrace_sequences.h"

#include "base/error.h"
#include "import/file/protobuf_pull.h"
#include "import/perfetto/pftrace_fields.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct thing_key {
        uint64_t iid, kind;
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "no memory for a sequence of packets");
}

void pftrace_sequences_init(struct pftrace_sequences *s, struct import_rows *rows)
{
        *s = (struct pftrace_sequences){ .rows = rows };
        intern_init(&s->ids, sizeof(uint64_t), PFTRACE_SEQUENCES_MAX);
}

void pftrace_sequences_deinit(struct pftrace_sequences *s)
{
        for (uint32_t i = 0; i < s->ids.n_items; i++) {
                struct pftrace_sequence *sequence = &s->sequences[i];

                intern_deinit(&sequence->ids);
                free(sequence->things);
                byte_buffer_deinit(&sequence->texts);
                pftrace_scope_deinit(&sequence->scope);
        }
        free(s->sequences);
        intern_deinit(&s->ids);
}

int pftrace_sequences_find(struct pftrace_sequences *s, uint64_t id, struct pftrace_sequence **ret,
                           struct error *err)
{
        uint32_t row;
        int r = intern_add_row(&s->ids, &id, &s->sequences, &s->capacity, sizeof(*s->sequences), &row);

        if (r < 0)
                return r == -EOVERFLOW ? -E2BIG : no_memory(err);
        *ret = &s->sequences[row - 1];
        if (r == 1)
                intern_init(&(*ret)->ids, sizeof(struct thing_key), PFTRACE_INTERNED_MAX);
        return 0;
}

void pftrace_sequences_clear(struct pftrace_sequences *s, struct pftrace_sequence *sequence)
{
        s->n_interned -= sequence->ids.n_items;
        s->n_text_bytes -= sequence->texts.used_bytes;
        intern_deinit(&sequence->ids);
        byte_buffer_deinit(&sequence->texts);
        sequence->has_track = false;
        sequence->clock = 0;
}

/* ------------------------------------------------------------------ what is interned */

static bool is_read(uint32_t kind)
{
        return kind == PFTRACE_INTERNED_NAME || kind == PFTRACE_INTERNED_ANNOTATION_NAME ||
               kind == PFTRACE_INTERNED_LOCATION || kind == PFTRACE_INTERNED_STRING;
}

static bool is_string(uint32_t kind)
{
        return kind == PFTRACE_INTERNED_NAME || kind == PFTRACE_INTERNED_LOCATION;
}

static int add_text(struct pftrace_sequences *s, struct pftrace_sequence *sequence, struct text_view text,
                    struct interned_text *thing, struct error *err)
{
        if (s->n_text_bytes + text.n_bytes > PFTRACE_TEXT_BYTES_MAX) {
                s->n_beyond++;
                return 0;
        }
        thing->begin = (uint32_t)sequence->texts.used_bytes;
        thing->n_bytes = (uint32_t)text.n_bytes;
        byte_buffer_add(&sequence->texts, text.bytes, text.n_bytes);
        if (sequence->texts.failed)
                return no_memory(err);
        s->n_text_bytes += text.n_bytes;
        return 0;
}

static int add_thing(struct pftrace_sequences *s, struct pftrace_sequence *sequence, uint32_t kind,
                     struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct interned_text thing = { .string = 0 };
        struct thing_key key = { .kind = kind };
        struct text_view text = { NULL, 0 };
        struct protobuf_field field;
        uint32_t id;
        int r;

        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_INTERNED_IID)
                        key.iid = field.value;
                else if (field.number == PFTRACE_INTERNED_TEXT)
                        text = field.bytes;
                else if (field.number == PFTRACE_LOCATION_LINE && kind == PFTRACE_INTERNED_LOCATION)
                        thing.line = field.value <= UINT32_MAX ? (uint32_t)field.value : 0;
        }
        if (r < 0)
                return r;
        if (s->n_interned >= PFTRACE_INTERNED_MAX && !intern_find(&sequence->ids, &key, sizeof(key))) {
                s->n_beyond++;
                return 0;
        }
        r = is_string(kind) ? import_rows_string(s->rows, text, &thing.string, err)
                            : add_text(s, sequence, text, &thing, err);
        if (r < 0)
                return r;
        r = intern_add_row(&sequence->ids, &key, &sequence->things, &sequence->things_capacity,
                           sizeof(*sequence->things), &id);
        if (r < 0)
                return no_memory(err);
        s->n_interned += r == 1;
        sequence->things[id - 1] = thing;
        return 0;
}

int pftrace_sequences_intern(struct pftrace_sequences *s, struct pftrace_sequence *sequence,
                             struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (!is_read(field.number) || field.wire != PROTOBUF_BYTES)
                        continue;
                r = add_thing(s, sequence, field.number, field.bytes, err);
                if (r < 0)
                        return r;
        }
        return r;
}

const struct interned_text *pftrace_sequence_thing(const struct pftrace_sequence *sequence, uint32_t kind,
                                                   uint64_t iid)
{
        struct thing_key key = { .iid = iid, .kind = kind };
        uint32_t id = intern_find(&sequence->ids, &key, sizeof(key));

        return id ? &sequence->things[id - 1] : NULL;
}

struct text_view pftrace_sequence_text(const struct pftrace_sequence *sequence,
                                       const struct interned_text *thing)
{
        if (thing->n_bytes == 0)
                return (struct text_view){ NULL, 0 };
        return (struct text_view){ (const char *)sequence->texts.data + thing->begin, thing->n_bytes };
}

/* ------------------------------------------------------------------ defaults */

static int read_event_defaults(struct pftrace_sequence *sequence, struct text_view message)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        while ((r = protobuf_pull_next(&reader, &field)) == 1)
                if (field.number == PFTRACE_EVENT_DEFAULTS_TRACK) {
                        sequence->track = field.value;
                        sequence->has_track = true;
                }
        return r;
}

int pftrace_sequences_defaults(struct pftrace_sequence *sequence, struct text_view message)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        sequence->has_track = false;
        sequence->clock = 0;
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_DEFAULTS_CLOCK && field.value <= UINT32_MAX)
                        sequence->clock = (uint32_t)field.value;
                if (field.number == PFTRACE_DEFAULTS_EVENT)
                        r = read_event_defaults(sequence, field.bytes);
                if (r < 0)
                        return r;
        }
        return r;
}
