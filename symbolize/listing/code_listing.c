/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/code_listing.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "symbolize/symbols/symbolizer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void code_listing_init(struct code_listing *l)
{
        *l = (struct code_listing){ .n_parts = 0 };
        intern_init(&l->strings, 0, 0);
}

void code_listing_deinit(struct code_listing *l)
{
        intern_deinit(&l->strings);
        free(l->parts);
        free(l->instructions);
        free(l->symbols);
        code_listing_init(l);
}

int code_listing_add_string(struct code_listing *l, const char *text, uint32_t *ret_id)
{
        int r = 0;

        *ret_id = 0;
        if (text && text[0] != '\0')
                r = intern_add(&l->strings, text, strlen(text), ret_id);
        return r < 0 ? r : 0;
}

int code_listing_add_part(struct code_listing *l, const struct listing_part *part)
{
        int r = array_reserve(&l->parts, &l->parts_capacity, l->n_parts + 1, sizeof(*l->parts));

        if (r < 0)
                return r;
        l->parts[l->n_parts] = *part;
        l->parts[l->n_parts].first_instruction = (uint32_t)l->n_instructions;
        l->parts[l->n_parts++].n_instructions = 0;
        return 0;
}

static int add_symbols(struct code_listing *l, const struct symbol *symbols, uint32_t n_symbols)
{
        int r = array_reserve(&l->symbols, &l->symbols_capacity, l->n_symbols + n_symbols,
                              sizeof(*l->symbols));

        for (uint32_t i = 0; i < n_symbols && r == 0; i++) {
                struct listing_symbol row = { .line = symbols[i].line,
                                              .column = symbols[i].column,
                                              .declared_line = symbols[i].declared_line,
                                              .instance = symbols[i].instance };

                r = code_listing_add_string(l, symbols[i].function, &row.function);
                if (r == 0)
                        r = code_listing_add_string(l, symbols[i].file, &row.file);
                if (r == 0)
                        r = code_listing_add_string(l, symbols[i].declared_file, &row.declared_file);
                if (r == 0)
                        l->symbols[l->n_symbols++] = row;
        }
        return r;
}

/* True if the symbol rows that were added last equal those of the instruction before. */
static bool repeats(const struct code_listing *l, const struct listing_instruction *before, size_t first,
                    uint32_t n_symbols)
{
        return n_symbols == before->n_symbols &&
               (n_symbols == 0 || memcmp(l->symbols + first, l->symbols + before->first_symbol,
                                         n_symbols * sizeof(*l->symbols)) == 0);
}

int code_listing_add(struct code_listing *l, const struct listing_instruction *instruction,
                     const struct symbol *symbols, uint32_t n_symbols)
{
        size_t first = l->n_symbols;
        struct listing_instruction *row;
        int r = array_reserve(&l->instructions, &l->instructions_capacity, l->n_instructions + 1,
                              sizeof(*l->instructions));

        if (r == 0)
                r = add_symbols(l, symbols, n_symbols);
        if (r < 0)
                return r;
        row = &l->instructions[l->n_instructions];
        *row = *instruction;
        row->first_symbol = (uint32_t)first;
        row->n_symbols = n_symbols;
        if (l->n_instructions > 0 && repeats(l, row - 1, first, n_symbols)) {
                row->first_symbol = (row - 1)->first_symbol;
                l->n_symbols = first;
        }
        l->n_instructions++;
        l->parts[l->n_parts - 1].n_instructions++;
        return 0;
}

/* ---- as bytes ------------------------------------------------------------------------------------------ */

static void encode_instruction(const struct listing_instruction *i, struct byte_buffer *out)
{
        byte_buffer_add_varint(out, i->svma);
        byte_buffer_add_varint(out, i->target_svma);
        byte_buffer_add_varint(out, i->n_bytes);
        byte_buffer_add_varint(out, i->branch);
        byte_buffer_add_varint(out, i->text);
        byte_buffer_add_varint(out, i->first_symbol);
        byte_buffer_add_varint(out, i->n_symbols);
        byte_buffer_add_varint(out, i->target_name);
        byte_buffer_add_varint(out, i->target_offset_bytes);
}

static void encode_part(const struct listing_part *part, struct byte_buffer *out)
{
        byte_buffer_add_varint(out, part->svma);
        byte_buffer_add_varint(out, part->file_off);
        byte_buffer_add_varint(out, part->n_bytes);
        byte_buffer_add_varint(out, part->name);
        byte_buffer_add_varint(out, part->flags);
        byte_buffer_add_varint(out, part->n_instructions);
}

void code_listing_encode(const struct code_listing *l, struct byte_buffer *out)
{
        byte_buffer_add_varint(out, l->strings.n_items);
        for (uint32_t id = 1; id <= l->strings.n_items; id++) {
                size_t n_bytes;
                const void *bytes = intern_get(&l->strings, id, &n_bytes);

                byte_buffer_add_varint(out, n_bytes);
                byte_buffer_add(out, bytes, n_bytes);
        }
        byte_buffer_add_varint(out, l->n_symbols);
        for (size_t i = 0; i < l->n_symbols; i++) {
                byte_buffer_add_varint(out, l->symbols[i].function);
                byte_buffer_add_varint(out, l->symbols[i].file);
                byte_buffer_add_varint(out, l->symbols[i].line);
                byte_buffer_add_varint(out, l->symbols[i].column);
                byte_buffer_add_varint(out, l->symbols[i].declared_file);
                byte_buffer_add_varint(out, l->symbols[i].declared_line);
                byte_buffer_add_varint(out, l->symbols[i].instance);
        }
        byte_buffer_add_varint(out, l->n_parts);
        for (size_t i = 0; i < l->n_parts; i++)
                encode_part(&l->parts[i], out);
        byte_buffer_add_varint(out, l->n_instructions);
        for (size_t i = 0; i < l->n_instructions; i++)
                encode_instruction(&l->instructions[i], out);
}

static uint32_t take_u32(struct byte_reader *in)
{
        uint64_t number = bytes_varint(in);

        if (number > UINT32_MAX)
                in->short_read = true;
        return in->short_read ? 0 : (uint32_t)number;
}

/*
 * Reads the number of rows that follow.  Each has at least @row_bytes, so a small stream cannot make us
 * allocate much memory.
 */
static size_t take_count(struct byte_reader *in, size_t row_bytes)
{
        uint64_t n_rows = bytes_varint(in);

        if (n_rows > in->left / row_bytes)
                in->short_read = true;
        return in->short_read ? 0 : (size_t)n_rows;
}

static int decode_strings(struct code_listing *l, struct byte_reader *in)
{
        size_t n_strings = take_count(in, 1);

        for (size_t i = 0; i < n_strings && !in->short_read; i++) {
                size_t n_bytes = take_count(in, 1);
                const uint8_t *bytes = bytes_take(in, n_bytes);
                int r = bytes ? intern_append(&l->strings, bytes, n_bytes) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

static int decode_symbols(struct code_listing *l, struct byte_reader *in)
{
        size_t n_symbols = take_count(in, 7);
        int r = array_reserve(&l->symbols, &l->symbols_capacity, n_symbols + 1, sizeof(*l->symbols));

        if (r < 0)
                return r;
        for (; l->n_symbols < n_symbols; l->n_symbols++) {
                struct listing_symbol *row = &l->symbols[l->n_symbols];

                row->function = take_u32(in);
                row->file = take_u32(in);
                row->line = take_u32(in);
                row->column = take_u32(in);
                row->declared_file = take_u32(in);
                row->declared_line = take_u32(in);
                row->instance = take_u32(in);
                if (row->function > l->strings.n_items || row->file > l->strings.n_items ||
                    row->declared_file > l->strings.n_items)
                        in->short_read = true;
        }
        return 0;
}

static int decode_parts(struct code_listing *l, struct byte_reader *in)
{
        size_t n_parts = take_count(in, 6);
        size_t n_instructions = 0;
        int r = array_reserve(&l->parts, &l->parts_capacity, n_parts + 1, sizeof(*l->parts));

        if (r < 0)
                return r;
        if (n_parts > CODE_LISTING_PARTS_MAX)
                in->short_read = true;
        for (; l->n_parts < n_parts && !in->short_read; l->n_parts++) {
                struct listing_part *part = &l->parts[l->n_parts];

                part->svma = bytes_varint(in);
                part->file_off = bytes_varint(in);
                part->n_bytes = bytes_varint(in);
                part->name = take_u32(in);
                part->flags = take_u32(in);
                part->n_instructions = take_u32(in);
                part->first_instruction = (uint32_t)n_instructions;
                n_instructions += part->n_instructions;
                if (part->name > l->strings.n_items || n_instructions > CODE_LISTING_INSTRUCTIONS_MAX)
                        in->short_read = true;
        }
        return 0;
}

static bool is_sound(const struct code_listing *l, const struct listing_instruction *row)
{
        return row->n_bytes != 0 && row->branch <= BRANCH_CALL && row->text <= l->strings.n_items &&
               row->target_name <= l->strings.n_items && row->first_symbol <= l->n_symbols &&
               row->n_symbols <= l->n_symbols - row->first_symbol;
}

static int decode_instructions(struct code_listing *l, struct byte_reader *in)
{
        const struct listing_part *last = l->n_parts > 0 ? &l->parts[l->n_parts - 1] : NULL;
        size_t n_wanted = last ? (size_t)last->first_instruction + last->n_instructions : 0;
        size_t n_instructions = take_count(in, 9);
        int r = array_reserve(&l->instructions, &l->instructions_capacity, n_instructions + 1,
                              sizeof(*l->instructions));

        if (r < 0)
                return r;
        if (n_instructions != n_wanted)
                in->short_read = true;
        for (; l->n_instructions < n_instructions && !in->short_read; l->n_instructions++) {
                struct listing_instruction *row = &l->instructions[l->n_instructions];

                row->svma = bytes_varint(in);
                row->target_svma = bytes_varint(in);
                row->n_bytes = take_u32(in);
                row->branch = take_u32(in);
                row->text = take_u32(in);
                row->first_symbol = take_u32(in);
                row->n_symbols = take_u32(in);
                row->target_name = take_u32(in);
                row->target_offset_bytes = take_u32(in);
                if (!is_sound(l, row))
                        in->short_read = true;
        }
        return 0;
}

/* The instructions of a part are contiguous, so that an address can be found by binary search. */
static bool is_in_order(const struct code_listing *l)
{
        for (size_t p = 0; p < l->n_parts; p++) {
                const struct listing_part *part = &l->parts[p];
                uint64_t next_svma = part->svma;

                for (uint32_t i = 0; i < part->n_instructions; i++) {
                        const struct listing_instruction *row = &l->instructions[part->first_instruction + i];

                        if (row->svma != next_svma ||
                            __builtin_add_overflow(row->svma, row->n_bytes, &next_svma))
                                return false;
                }
        }
        return true;
}

int code_listing_decode(struct code_listing *l, const void *bytes, size_t n_bytes, struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        int r = decode_strings(l, &in);

        if (r < 0)
                goto done;
        r = decode_symbols(l, &in);
        if (r < 0)
                goto done;
        r = decode_parts(l, &in);
        if (r < 0)
                goto done;
        r = decode_instructions(l, &in);

done:
        if (r < 0)
                return error_set(err, r, "no memory for the instructions");
        if (!bytes_all_used(&in) || !is_in_order(l))
                return error_set(err, -EBADMSG, "the list of instructions is malformed");
        return 0;
}
