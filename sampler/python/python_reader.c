/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_reader.h"

#include "sampler/bpf/python_record.h"

#include <string.h>

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
