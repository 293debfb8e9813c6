/* SPDX-License-Identifier: MIT */
#include "export/shared/event_spool.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_FIRST_BYTES 256
#define CURSOR_BYTES       (1 << 15)

void event_spool_init(struct event_spool *s)
{
        *s = (struct event_spool){ .fd = -1, .buffers_max = EVENT_SPOOL_BUFFERS_BYTES };
}

void event_spool_deinit(struct event_spool *s)
{
        for (uint32_t i = 0; i < s->n_chains; i++) {
                free(s->chains[i].buffer);
                free(s->chains[i].pieces);
        }
        free(s->chains);
        io_close(&s->fd);
        event_spool_init(s);
}

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "no memory to put events in order");
}

/* ------------------------------------------------------------------ adding */

static int open_file(struct event_spool *s, struct error *err)
{
        int fd = s->fd >= 0 ? s->fd : io_open_unnamed(err);

        if (fd < 0)
                return fd;
        s->fd = fd;
        return 0;
}

static int write_at(int fd, const uint8_t *bytes, size_t n_bytes, uint64_t offset, struct error *err)
{
        int r = io_pwrite_all(fd, bytes, n_bytes, offset, err);

        return r < 0 ? error_prefix(err, r, "a temporary file in %s", io_temporary_folder()) : 0;
}

/* The bytes in the chain's buffer go into the file. */
static int flush(struct event_spool *s, struct spool_chain *chain, struct error *err)
{
        int r;

        if (chain->buffer_used == 0)
                return 0;
        r = open_file(s, err);
        if (r < 0)
                return r;
        if (array_reserve(&chain->pieces, &chain->pieces_capacity, chain->n_pieces + 1,
                          sizeof(*chain->pieces)) < 0)
                return no_memory(err);
        r = write_at(s->fd, chain->buffer, chain->buffer_used, s->file_bytes, err);
        if (r < 0)
                return r;
        chain->pieces[chain->n_pieces++] = (struct spool_piece){
                .chain_offset = chain->n_bytes - chain->buffer_used,
                .file_offset = s->file_bytes,
        };
        s->file_bytes += chain->buffer_used;
        chain->buffer_used = 0;
        return 0;
}

static int flush_all(struct event_spool *s, struct error *err)
{
        for (uint32_t i = 0; i < s->n_chains; i++) {
                struct spool_chain *chain = &s->chains[i];
                int r = flush(s, chain, err);

                if (r < 0)
                        return r;
                free(chain->buffer);
                chain->buffer = NULL;
                s->buffers_bytes -= chain->buffer_capacity;
                chain->buffer_capacity = 0;
        }
        return 0;
}

static int reserve_chain(struct event_spool *s, uint32_t chain)
{
        if (chain < s->n_chains)
                return 0;
        if (array_reserve(&s->chains, &s->chains_capacity, (size_t)chain + 1, sizeof(*s->chains)) < 0)
                return -ENOMEM;
        memset(s->chains + s->n_chains, 0, (chain + 1 - s->n_chains) * sizeof(*s->chains));
        s->n_chains = chain + 1;
        return 0;
}

/* Makes room for at least one byte: in a larger buffer, or in the old one after writing it to the file. */
static int make_room(struct event_spool *s, struct spool_chain *chain, struct error *err)
{
        size_t wanted = chain->buffer_capacity > 0 ? 2 * chain->buffer_capacity : BUFFER_FIRST_BYTES;
        uint8_t *larger;
        int r;

        if (wanted > EVENT_SPOOL_BUFFER_MAX)
                return flush(s, chain, err);
        if (s->buffers_bytes + wanted - chain->buffer_capacity > s->buffers_max) {
                r = flush_all(s, err);
                if (r < 0)
                        return r;
                wanted = BUFFER_FIRST_BYTES;
        }
        larger = realloc(chain->buffer, wanted);
        if (!larger)
                return no_memory(err);
        s->buffers_bytes += wanted - chain->buffer_capacity;
        chain->buffer = larger;
        chain->buffer_capacity = wanted;
        return 0;
}

int event_spool_add(struct event_spool *s, uint32_t number, const void *bytes, size_t n_bytes,
                    struct error *err)
{
        const uint8_t *at = bytes;

        if (reserve_chain(s, number) < 0)
                return no_memory(err);
        while (n_bytes > 0) {
                struct spool_chain *chain = &s->chains[number];
                size_t room = chain->buffer_capacity - chain->buffer_used;
                size_t n = n_bytes < room ? n_bytes : room;
                int r;

                if (room == 0) {
                        r = make_room(s, chain, err);
                        if (r < 0)
                                return r;
                        continue;
                }
                memcpy(chain->buffer + chain->buffer_used, at, n);
                chain->buffer_used += n;
                chain->n_bytes += n;
                at += n;
                n_bytes -= n;
        }
        return 0;
}

/* ------------------------------------------------------------------ going back */

/* The piece of the file that contains the byte at @offset, which must be in the file. */
static size_t find_piece(const struct spool_chain *chain, uint64_t offset)
{
        size_t first = 0, end = chain->n_pieces;

        while (end - first > 1) {
                size_t middle = first + (end - first) / 2;

                if (chain->pieces[middle].chain_offset <= offset)
                        first = middle;
                else
                        end = middle;
        }
        return first;
}

/*
 * The number of the @n_bytes at @offset that are contiguous in the file, and their place; 0 = they are in
 * the buffer.
 */
static size_t locate(const struct spool_chain *chain, uint64_t offset, size_t n_bytes,
                     uint64_t *ret_file_offset)
{
        uint64_t in_file = chain->n_bytes - chain->buffer_used;
        uint64_t end = in_file;
        size_t i;

        if (offset >= in_file)
                return 0;
        i = find_piece(chain, offset);
        if (i + 1 < chain->n_pieces)
                end = chain->pieces[i + 1].chain_offset;
        *ret_file_offset = chain->pieces[i].file_offset + (offset - chain->pieces[i].chain_offset);
        return end - offset < n_bytes ? (size_t)(end - offset) : n_bytes;
}

int event_spool_patch(struct event_spool *s, uint32_t number, uint64_t offset, const void *bytes,
                      size_t n_bytes, struct error *err)
{
        struct spool_chain *chain = &s->chains[number];
        const uint8_t *at = bytes;

        assert(offset + n_bytes <= chain->n_bytes);
        while (n_bytes > 0) {
                uint64_t file_offset;
                size_t n = locate(chain, offset, n_bytes, &file_offset);
                int r = 0;

                if (n == 0) {
                        uint64_t in_file = chain->n_bytes - chain->buffer_used;

                        n = n_bytes;
                        memcpy(chain->buffer + (offset - in_file), at, n);
                } else {
                        r = write_at(s->fd, at, n, file_offset, err);
                }
                if (r < 0)
                        return r;
                at += n;
                offset += n;
                n_bytes -= n;
        }
        return 0;
}

/* ------------------------------------------------------------------ reading */

void spool_cursor_init(struct spool_cursor *c, const struct event_spool *s, uint32_t chain)
{
        *c = (struct spool_cursor){ .spool = s, .chain = chain };
}

void spool_cursor_deinit(struct spool_cursor *c)
{
        free(c->buffer);
        c->buffer = NULL;
}

/* Copies from the chain, wherever it is. */
static int copy_out(const struct event_spool *s, const struct spool_chain *chain, uint64_t offset,
                    uint8_t *out, size_t n_bytes, struct error *err)
{
        while (n_bytes > 0) {
                uint64_t file_offset;
                size_t n_read, n = locate(chain, offset, n_bytes, &file_offset);
                int r;

                if (n == 0) {
                        memcpy(out, chain->buffer + (offset - (chain->n_bytes - chain->buffer_used)),
                               n_bytes);
                        return 0;
                }
                r = io_pread_full(s->fd, out, n, file_offset, &n_read, err);
                if (r < 0)
                        return r;
                if (n_read != n)
                        return error_set(err, -EIO, "a temporary file became shorter");
                out += n;
                offset += n;
                n_bytes -= n;
        }
        return 0;
}

static int fill(struct spool_cursor *c, size_t n_bytes, struct error *err)
{
        const struct spool_chain *chain = &c->spool->chains[c->chain];
        uint64_t left = chain->n_bytes - c->offset;
        size_t wanted = n_bytes > CURSOR_BYTES ? n_bytes : CURSOR_BYTES;

        if (array_reserve(&c->buffer, &c->buffer_capacity, wanted, 1) < 0)
                return no_memory(err);
        c->buffer_offset = c->offset;
        c->buffer_used = left < wanted ? (size_t)left : wanted;
        return copy_out(c->spool, chain, c->offset, c->buffer, c->buffer_used, err);
}

int spool_cursor_next(struct spool_cursor *c, size_t n_bytes, const void **ret_bytes, struct error *err)
{
        uint64_t n_chain = event_spool_bytes(c->spool, c->chain);
        int r;

        if (c->offset >= n_chain || n_chain - c->offset < n_bytes)
                return 0;
        if (!c->buffer || c->offset < c->buffer_offset ||
            c->offset + n_bytes > c->buffer_offset + c->buffer_used) {
                r = fill(c, n_bytes, err);
                if (r < 0)
                        return r;
        }
        *ret_bytes = c->buffer + (c->offset - c->buffer_offset);
        c->offset += n_bytes;
        return 1;
}
