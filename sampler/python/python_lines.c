/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_lines.h"

#include <stdbool.h>

#define UNIT_BYTES 2 /* of an instruction, or of a part of one */

enum entry_kind { KIND_ONE_LINE_0 = 10, KIND_NO_COLUMNS = 13, KIND_LONG = 14, KIND_NONE = 15 };

struct table_reader {
        const uint8_t *at, *end;
};

/* Reads six bits of each byte, the lowest first; bit 6: more bytes follow. */
static uint32_t read_number(struct table_reader *r)
{
        uint32_t value = 0;

        for (unsigned shift = 0; r->at < r->end; shift += 6) {
                uint8_t byte = *r->at++;

                if (shift < 32)
                        value |= (uint32_t)(byte & 63) << shift;
                if (!(byte & 64))
                        break;
        }
        return value;
}

static int64_t read_signed(struct table_reader *r)
{
        uint32_t value = read_number(r);

        return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static bool is_first_byte(uint8_t byte)
{
        return (byte & 128) != 0;
}

/* The change of the line by this entry. */
static int64_t line_delta(struct table_reader *r, unsigned kind)
{
        if (kind == KIND_LONG || kind == KIND_NO_COLUMNS)
                return read_signed(r);
        return kind >= KIND_ONE_LINE_0 && kind < KIND_NO_COLUMNS ? (int64_t)kind - KIND_ONE_LINE_0 : 0;
}

uint32_t python_lines_find(const uint8_t *table, size_t table_bytes, uint32_t first_line, uint64_t code_off)
{
        struct table_reader r = { table, table_bytes > 0 ? table + table_bytes : table };
        int64_t line = first_line;
        uint64_t end_off = 0;

        while (r.at < r.end) {
                uint8_t first = *r.at++;
                unsigned kind = first >> 3 & 15;

                end_off += ((uint64_t)(first & 7) + 1) * UNIT_BYTES;
                line += line_delta(&r, kind);
                if (code_off < end_off)
                        return kind == KIND_NONE || line <= 0 || line > UINT32_MAX ? 0 : (uint32_t)line;
                while (r.at < r.end && !is_first_byte(*r.at)) /* columns and last lines */
                        r.at++;
        }
        return 0;
}
