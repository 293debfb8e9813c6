/* SPDX-License-Identifier: MIT */
#include "import/perfetto/pftrace_args.h"

#include "import/file/json_put.h"
#include "import/file/protobuf_pull.h"
#include "import/perfetto/pftrace_fields.h"
#include "import/perfetto/pftrace_sequences.h"

#include <errno.h>
#include <inttypes.h>

void pftrace_args_clear(struct pftrace_args *args)
{
        byte_buffer_clear(&args->text);
}

void pftrace_args_deinit(struct pftrace_args *args)
{
        byte_buffer_deinit(&args->text);
}

static void add_string(struct byte_buffer *b, struct text_view text)
{
        json_put_string(b, text, PFTRACE_ARGS_BYTES_MAX);
}

static void add_interned(struct byte_buffer *b, const struct pftrace_sequence *sequence, uint32_t kind,
                         uint64_t iid)
{
        const struct interned_text *thing = pftrace_sequence_thing(sequence, kind, iid);

        add_string(b, thing ? pftrace_sequence_text(sequence, thing) : (struct text_view){ "?", 1 });
}

/* NOLINTBEGIN(misc-no-recursion): at most PFTRACE_ARGS_DEPTH deep */

/* A dictionary or an array: all entries of that number. */
static int add_entries(struct byte_buffer *b, const struct pftrace_sequence *sequence,
                       struct text_view annotation, uint32_t number, unsigned depth);

static void add_name(struct byte_buffer *b, const struct pftrace_sequence *sequence,
                     struct text_view annotation)
{
        struct byte_reader reader = protobuf_pull_of(annotation);
        struct protobuf_field field;

        while (protobuf_pull_next(&reader, &field) == 1) {
                if (field.number == PFTRACE_ANNOTATION_NAME) {
                        add_string(b, field.bytes);
                } else if (field.number == PFTRACE_ANNOTATION_NAME_IID) {
                        add_interned(b, sequence, PFTRACE_INTERNED_ANNOTATION_NAME, field.value);
                } else {
                        continue;
                }
                byte_buffer_add_u8(b, ':');
                return;
        }
        byte_buffer_add(b, "\"\":", 3);
}

/* Puts a field if it is a value.  Returns 1 if so, 0, or -EBADMSG. */
static int add_field(struct byte_buffer *b, const struct pftrace_sequence *sequence,
                     const struct protobuf_field *field, struct text_view annotation, unsigned depth)
{
        int r;

        switch (field->number) {
        case PFTRACE_ANNOTATION_BOOL:
                byte_buffer_add_format(b, "%s", field->value ? "true" : "false");
                return 1;
        case PFTRACE_ANNOTATION_UINT:
        case PFTRACE_ANNOTATION_POINTER:
                byte_buffer_add_format(b, "%" PRIu64, field->value);
                return 1;
        case PFTRACE_ANNOTATION_INT:
                byte_buffer_add_format(b, "%" PRId64, (int64_t)field->value);
                return 1;
        case PFTRACE_ANNOTATION_DOUBLE:
                json_put_double(b, field->value);
                return 1;
        case PFTRACE_ANNOTATION_STRING:
        case PFTRACE_ANNOTATION_JSON:
                add_string(b, field->bytes);
                return 1;
        case PFTRACE_ANNOTATION_STRING_IID:
                add_interned(b, sequence, PFTRACE_INTERNED_STRING, field->value);
                return 1;
        case PFTRACE_ANNOTATION_DICT:
        case PFTRACE_ANNOTATION_ARRAY:
                r = add_entries(b, sequence, annotation, field->number, depth);
                return r < 0 ? r : 1;
        default:
                return 0;
        }
}

static int add_value(struct byte_buffer *b, const struct pftrace_sequence *sequence,
                     struct text_view annotation, unsigned depth)
{
        struct byte_reader reader = protobuf_pull_of(annotation);
        struct protobuf_field field;
        int r;

        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                r = depth < PFTRACE_ARGS_DEPTH ? add_field(b, sequence, &field, annotation, depth) : 0;
                if (r != 0)
                        return r < 0 ? r : 0;
        }
        byte_buffer_add(b, "null", 4);
        return r;
}

static int add_entries(struct byte_buffer *b, const struct pftrace_sequence *sequence,
                       struct text_view annotation, uint32_t number, unsigned depth)
{
        struct byte_reader reader = protobuf_pull_of(annotation);
        bool is_dict = number == PFTRACE_ANNOTATION_DICT, is_first = true;
        struct protobuf_field field;
        int r;

        byte_buffer_add_u8(b, is_dict ? '{' : '[');
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number != number || b->used_bytes > PFTRACE_ARGS_BYTES_MAX)
                        continue;
                if (!is_first)
                        byte_buffer_add_u8(b, ',');
                is_first = false;
                if (is_dict)
                        add_name(b, sequence, field.bytes);
                r = add_value(b, sequence, field.bytes, depth + 1);
                if (r < 0)
                        return r;
        }
        byte_buffer_add_u8(b, is_dict ? '}' : ']');
        return r;
}

/* NOLINTEND(misc-no-recursion) */

int pftrace_args_add(struct pftrace_args *args, const struct pftrace_sequence *sequence,
                     struct text_view annotation)
{
        size_t before = args->text.used_bytes;
        int r;

        if (before > PFTRACE_ARGS_BYTES_MAX) {
                args->n_left_out++;
                return 0;
        }
        byte_buffer_add_u8(&args->text, before == 0 ? '{' : ',');
        add_name(&args->text, sequence, annotation);
        r = add_value(&args->text, sequence, annotation, 0);
        if (r == 0 && args->text.used_bytes > PFTRACE_ARGS_BYTES_MAX) {
                args->text.used_bytes = before;
                args->n_left_out++;
        }
        if (r < 0)
                args->text.used_bytes = before;
        return args->text.failed ? -ENOMEM : r;
}

struct text_view pftrace_args_end(struct pftrace_args *args)
{
        if (args->text.used_bytes == 0)
                return (struct text_view){ NULL, 0 };
        byte_buffer_add_u8(&args->text, '}');
        return (struct text_view){ (const char *)args->text.data, args->text.used_bytes };
}
