/* SPDX-License-Identifier: MIT */
#include "instrument/location_reader.h"

#include "base/error.h"
#include "base/io.h"
#include "instrument/client_abi.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define N_STRINGS 4

int location_reader_init(struct location_reader *r, int fd, const struct client_abi_header *header)
{
        size_t entries_bytes = (size_t)LOCATION_READER_ENTRIES * header->location_bytes;
        uint8_t *entries = malloc(entries_bytes + LOCATION_READER_WINDOW_BYTES);

        if (!entries)
                return -ENOMEM;
        *r = (struct location_reader){
                .fd = fd,
                .header = header,
                .entries = entries,
                .window = entries + entries_bytes,
        };
        return 0;
}

void location_reader_deinit(struct location_reader *r)
{
        free(r->entries);
        byte_buffer_deinit(&r->text);
        r->entries = NULL;
}

void location_reader_forget(struct location_reader *r)
{
        r->n_entries = 0;
        r->window_bytes = 0;
}

/* Reads exactly @n bytes of the sealed file, or fails. */
static int read_exactly(const struct location_reader *r, void *to, size_t n, uint64_t offset,
                        struct error *err)
{
        size_t got = 0;
        int code = io_pread_full(r->fd, to, n, offset, &got, err);

        if (code == 0 && got != n)
                code = error_set(err, -EBADMSG, "client region: it ends in its locations");
        return code;
}

/* Reads the entries around @id, which is at most n_locations_max. */
static int read_ahead(struct location_reader *r, uint32_t id, struct error *err)
{
        const struct client_abi_header *h = r->header;
        uint32_t first = (id - 1) / LOCATION_READER_ENTRIES * LOCATION_READER_ENTRIES;
        uint32_t n = h->n_locations_max - first;
        int code;

        if (n > LOCATION_READER_ENTRIES)
                n = LOCATION_READER_ENTRIES;
        location_reader_forget(r); /* the strings as well: they must not be older than their entries */
        code = read_exactly(r, r->entries, (size_t)n * h->location_bytes,
                            h->locations_offset + (uint64_t)first * h->location_bytes, err);
        if (code < 0)
                return code;
        r->first_id = first + 1;
        r->n_entries = n;
        return 0;
}

/* Copies the entry to *@ret_entry if it was read ahead. */
static bool look_up(const struct location_reader *r, uint32_t id, struct client_abi_location *ret_entry)
{
        if (r->n_entries == 0 || id < r->first_id || id - r->first_id >= r->n_entries)
                return false;
        memcpy(ret_entry, r->entries + (size_t)(id - r->first_id) * r->header->location_bytes,
               sizeof(*ret_entry));
        return true;
}

/* Where a packed string lies in the string area; false if outside of it. */
static bool unpack_string(const struct location_reader *r, uint64_t packed, uint64_t *ret_offset,
                          uint32_t *ret_bytes)
{
        uint64_t offset = packed & ((UINT64_C(1) << CLIENT_ABI_STRING_OFFSET_BITS) - 1);
        uint64_t n = packed >> CLIENT_ABI_STRING_OFFSET_BITS;

        if (n > CLIENT_ABI_STRING_BYTES_MAX || offset > r->header->strings_bytes ||
            n > r->header->strings_bytes - offset)
                return false;
        *ret_offset = offset;
        *ret_bytes = (uint32_t)n;
        return true;
}

/* Copies the string at @offset of the area. */
static int read_string(struct location_reader *r, uint64_t offset, uint32_t n, bool move_window, uint8_t *to,
                       struct error *err)
{
        uint64_t left = r->header->strings_bytes - offset;
        uint32_t window_bytes = left < LOCATION_READER_WINDOW_BYTES ? (uint32_t)left
                                                                    : LOCATION_READER_WINDOW_BYTES;
        uint64_t in_window = offset - r->window_offset;
        int code;

        if (n == 0)
                return 0;
        if (offset >= r->window_offset && in_window < r->window_bytes && n <= r->window_bytes - in_window) {
                memcpy(to, r->window + in_window, n);
                return 0;
        }
        if (!move_window || n > window_bytes)
                return read_exactly(r, to, n, r->header->strings_offset + offset, err);

        r->window_bytes = 0;
        code = read_exactly(r, r->window, window_bytes, r->header->strings_offset + offset, err);
        if (code < 0)
                return code;
        r->window_offset = offset;
        r->window_bytes = window_bytes;
        memcpy(to, r->window, n);
        return 0;
}

/*
 * Copies the entry's strings to `text` and fills *@ret_location.  @in_a_row: reads strings ahead that may
 * come next.
 */
static int read_location(struct location_reader *r, const struct client_abi_location *entry, uint32_t id,
                         bool in_a_row, struct client_location *ret_location, struct error *err)
{
        const uint64_t packed[N_STRINGS] = { entry->name, entry->function, entry->file, entry->unit };
        const char *strings[N_STRINGS];
        uint64_t offset[N_STRINGS];
        uint32_t n[N_STRINGS];
        size_t total = 0;
        uint8_t *at;

        for (int i = 0; i < N_STRINGS; i++) {
                if (!unpack_string(r, packed[i], &offset[i], &n[i]))
                        return error_set(err, -EBADMSG, "location %u: string %#llx is out of bounds", id,
                                         (unsigned long long)packed[i]);
                total += n[i];
        }
        byte_buffer_clear(&r->text);
        at = byte_buffer_reserve(&r->text, total);
        if (!at)
                return error_set(err, -ENOMEM, "location %u: no memory", id);
        for (int i = 0; i < N_STRINGS; i++) {
                /*
                 * The names lie in the order of their entries, mostly beside the other strings, which
                 * entries may also share.
                 */
                int code = read_string(r, offset[i], n[i], in_a_row && i == 0, at, err);

                if (code < 0)
                        return code;
                strings[i] = (const char *)at;
                at += n[i];
        }
        *ret_location = (struct client_location){
                .name = strings[0],
                .function = strings[1],
                .file = strings[2],
                .unit = strings[3],
                .name_bytes = n[0],
                .function_bytes = n[1],
                .file_bytes = n[2],
                .unit_bytes = n[3],
                .line = entry->line,
                .color = entry->color & 0xffffff,
                .format = entry->format,
                .flags = entry->flags,
                .period = entry->period,
        };
        return 0;
}

int location_reader_find(struct location_reader *r, uint32_t id, uint32_t n_locations,
                         struct client_location *ret_location, struct error *err)
{
        struct client_abi_location entry;
        bool in_a_row;

        if (id == 0 || id > n_locations || id > r->header->n_locations_max)
                return error_set(err, -EBADMSG, "location %u of %u", id, n_locations);
        in_a_row = look_up(r, id, &entry) && entry.ready == 1;
        if (!in_a_row) {
                int code = read_ahead(r, id, err);

                if (code < 0)
                        return code;
                if (!look_up(r, id, &entry) || entry.ready != 1)
                        return error_set(err, -EBADMSG, "location %u is not complete", id);
        }
        return read_location(r, &entry, id, in_a_row, ret_location, err);
}

int location_reader_next_plot(struct location_reader *r, uint32_t *inout_id, uint32_t n_locations,
                              struct client_location *ret_location, struct error *err)
{
        uint32_t n = n_locations < r->header->n_locations_max ? n_locations : r->header->n_locations_max;

        if (*inout_id == 0)
                location_reader_forget(r);
        for (uint32_t i = *inout_id; i < n; i++) {
                uint32_t id = i + 1;
                struct client_abi_location entry;
                int code = 0;

                /*
                 * Never reads an entry that is not ready a second time: a table full of such entries would
                 * take for ever.
                 */
                if (!look_up(r, id, &entry)) {
                        code = read_ahead(r, id, err);
                        if (code < 0)
                                return code;
                        if (!look_up(r, id, &entry))
                                continue;
                }
                if (entry.ready != 1 || !(entry.flags & CLIENT_ABI_PLOT_SET))
                        continue;
                code = read_location(r, &entry, id, true, ret_location, err);
                if (code == -EBADMSG)
                        continue;
                if (code == 0)
                        *inout_id = id;
                return code < 0 ? code : 1;
        }
        return 0;
}
