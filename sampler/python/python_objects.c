/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_objects.h"

#include "sampler/bpf/python_record.h"
#include "sampler/python/python_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ memory */

#define PIECE_ALIGN 8U

/* Returns false at the end, and at a piece that is cut off. */
static bool next_piece(const struct python_reader *reader, size_t *at, struct python_piece *ret_piece,
                       const uint8_t **ret_bytes)
{
        size_t left = reader->n_bytes - *at, n_filled;

        if (left < sizeof(*ret_piece))
                return false;
        memcpy(ret_piece, reader->pieces + *at, sizeof(*ret_piece));
        left -= sizeof(*ret_piece);
        if (ret_piece->n_bytes > left)
                return false;
        *ret_bytes = reader->pieces + *at + sizeof(*ret_piece);
        n_filled = ((size_t)ret_piece->n_bytes + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
        *at += sizeof(*ret_piece) + (n_filled < left ? n_filled : left);
        return true;
}

size_t python_reader_read(const struct python_reader *reader, uint64_t avma, void *to, size_t n_bytes)
{
        struct python_piece piece;
        const uint8_t *bytes;
        size_t at = 0;

        if (!reader->pieces)
                return process_memory_read(&reader->memory, avma, to, n_bytes);
        while (next_piece(reader, &at, &piece, &bytes)) {
                uint64_t offset = avma - piece.avma;
                size_t n = offset < piece.n_bytes ? (size_t)(piece.n_bytes - offset) : 0;

                if (n == 0)
                        continue;
                n = n < n_bytes ? n : n_bytes;
                memcpy(to, bytes + offset, n);
                return n;
        }
        return 0;
}

/* ------------------------------------------------------------------ objects */

#define TEXT_HEAD_MAX 128

static uint64_t word_of(const uint8_t *bytes, size_t offset)
{
        uint64_t word;

        memcpy(&word, bytes + offset, sizeof(word));
        return word;
}

static uint32_t half_of(const uint8_t *bytes, size_t offset)
{
        uint32_t half;

        memcpy(&half, bytes + offset, sizeof(half));
        return half;
}

/* Returns false if it cannot be read. */
static bool read_code_path(const struct python_reader *reader, const struct python_objects *objects,
                           uint64_t avma, __u64 path[PYTHON_PATH_WORDS])
{
        struct python_text_head head;
        __u64 off;
        size_t n_bytes;

        if (!python_reader_read_all(reader, avma + objects->text_length, &head, sizeof(head)))
                return false;
        memset(path, 0, PYTHON_PATH_WORDS * sizeof(*path));
        path[0] = head.length;
        n_bytes = python_path_end(objects, &head, &off);
        return n_bytes == 0 || python_reader_read_all(reader, avma + off, path + 1, n_bytes);
}

int python_code_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                     struct python_code *ret_code)
{
        uint8_t bytes[PYTHON_CODE_BYTES];
        __u64 words[PYTHON_CODE_WORDS], path[PYTHON_PATH_WORDS], identity;
        size_t n_bytes = objects->code_instructions;
        bool needs_path;

        if (n_bytes > sizeof(bytes) || objects->code_file + sizeof(uint64_t) > n_bytes ||
            objects->code_name + sizeof(uint64_t) > n_bytes ||
            objects->code_lines + sizeof(uint64_t) > n_bytes ||
            objects->code_lines + sizeof(uint64_t) < sizeof(words) ||
            objects->code_first_line + sizeof(uint32_t) > n_bytes ||
            !python_reader_read_all(reader, avma, bytes, n_bytes))
                return -EFAULT;
        memcpy(words, bytes + python_identity_off(objects), sizeof(words));
        needs_path = python_needs_path(objects, &words[0]);
        identity = python_identity_add(0, words, PYTHON_CODE_WORDS);
        if (needs_path) {
                if (!read_code_path(reader, objects, word_of(bytes, objects->code_file), path))
                        return -EFAULT;
                identity = python_identity_add(identity, path, PYTHON_PATH_WORDS);
        }
        *ret_code = (struct python_code){ .file_avma = word_of(bytes, objects->code_file),
                                          .name_avma = word_of(bytes, objects->code_name),
                                          .lines_avma = word_of(bytes, objects->code_lines),
                                          .identity = python_identity_end(identity),
                                          .instructions_avma = avma + objects->code_instructions,
                                          .first_line = half_of(bytes, objects->code_first_line) };
        return 0;
}

/* Returns how many bytes it took. */
static size_t put_character(char *to, uint32_t c)
{
        if (c < 0x80) {
                to[0] = (char)c;
                return 1;
        }
        if (c < 0x800) {
                to[0] = (char)(0xc0 | c >> 6);
                to[1] = (char)(0x80 | (c & 0x3f));
                return 2;
        }
        if (c < 0x10000) {
                to[0] = (char)(0xe0 | c >> 12);
                to[1] = (char)(0x80 | (c >> 6 & 0x3f));
                to[2] = (char)(0x80 | (c & 0x3f));
                return 3;
        }
        to[0] = (char)(0xf0 | (c >> 18 & 7));
        to[1] = (char)(0x80 | (c >> 12 & 0x3f));
        to[2] = (char)(0x80 | (c >> 6 & 0x3f));
        to[3] = (char)(0x80 | (c & 0x3f));
        return 4;
}

static uint32_t character_at(const uint8_t *data, size_t i, unsigned width)
{
        uint16_t two;

        if (width == 1)
                return data[i];
        if (width == 4)
                return half_of(data, i * 4);
        memcpy(&two, data + i * 2, sizeof(two));
        return two;
}

int python_text_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                     char *to)
{
        uint8_t head[TEXT_HEAD_MAX], data[PYTHON_TEXT_MAX * 4];
        uint64_t length;
        unsigned kind, width;
        bool is_compact, is_ascii;
        size_t n = 0, n_read;

        if (objects->text_length + sizeof(length) > sizeof(head) ||
            objects->text_state + sizeof(uint32_t) > sizeof(head) ||
            !python_reader_read_all(reader, avma, head,
                                    objects->text_ascii < sizeof(head) ? objects->text_ascii : sizeof(head)))
                return -EFAULT;
        length = word_of(head, objects->text_length);
        kind = python_text_kind(half_of(head, objects->text_state));
        width = PYTHON_TEXT_WIDTH(kind);
        is_compact = (kind & PYTHON_TEXT_COMPACT) != 0;
        is_ascii = (kind & PYTHON_TEXT_ASCII) != 0;
        if (!is_compact || (width != 1 && width != 2 && width != 4))
                return -EBADMSG;
        if (length > PYTHON_TEXT_MAX)
                length = PYTHON_TEXT_MAX;
        n_read = python_reader_read(reader, avma + (is_ascii ? objects->text_ascii : objects->text_wide),
                                    data, (size_t)length * width);
        if (n_read == 0 && length > 0)
                return -EFAULT;
        length = n_read / width;
        for (size_t i = 0; i < length; i++)
                n += put_character(to + n, character_at(data, i, width));
        return (int)n;
}

int python_bytes_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                      uint8_t **ret_bytes, size_t *ret_n_bytes)
{
        uint64_t length;
        uint8_t *bytes;
        size_t n_read;

        *ret_bytes = NULL;
        *ret_n_bytes = 0;
        if (!python_reader_read_all(reader, avma + objects->bytes_length, &length, sizeof(length)))
                return -EFAULT;
        if (length > PYTHON_LINES_MAX)
                return -EBADMSG;
        if (length == 0)
                return 0;
        bytes = malloc((size_t)length);
        if (!bytes)
                return -ENOMEM;
        n_read = python_reader_read(reader, avma + objects->bytes_data, bytes, (size_t)length);
        if (n_read == 0) {
                free(bytes);
                return -EFAULT;
        }
        *ret_bytes = bytes;
        *ret_n_bytes = n_read;
        if (n_read == length)
                return 0;
        bytes = realloc(bytes, n_read); /* callers count the bytes read, so no more may be kept */
        if (bytes)
                *ret_bytes = bytes;
        return 1;
}

/* ------------------------------------------------------------------ lines */

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

/* Reads how this entry changes the line. */
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
