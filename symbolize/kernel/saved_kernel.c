/* SPDX-License-Identifier: MIT */
#include "symbolize/kernel/saved_kernel.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define NOTES_PATH      "/sys/kernel/notes"
#define NOTES_BYTES_MAX (UINT32_C(1) << 20)

/* Bytes of the list that are read; some hundred lines of per-CPU variables may come first. */
#define HEAD_BYTES_MIN (UINT32_C(1) << 12)
#define HEAD_BYTES_MAX (UINT32_C(1) << 18)
#define HEAD_NAMES_MIN 16 /* that are compared */

#define MAGIC UINT64_C(0x316c6e726b707968) /* "hypkrnl1" */

/* ---- the running kernel -------------------------------------------------------------------------------- */

static bool read_build(uint64_t *ret_build)
{
        struct byte_buffer notes = { .data = NULL };
        bool is_read = io_read_file(AT_FDCWD, NOTES_PATH, NOTES_BYTES_MAX, &notes, NULL) == 0 &&
                       notes.used_bytes > 0;

        if (is_read)
                *ret_build = content_hash(notes.data, notes.used_bytes);
        byte_buffer_deinit(&notes);
        return is_read;
}

/* The last address is dropped: the cut may have removed further, better names of it. */
static bool read_first(struct kernel_symbols *first, int fd, size_t n_wanted)
{
        struct byte_buffer text = { .data = NULL };
        uint8_t *at = byte_buffer_reserve(&text, n_wanted);
        size_t got = 0;
        bool is_read = at && io_pread_full(fd, at, n_wanted, 0, &got, NULL) == 0 &&
                       kernel_symbols_parse(first, at, got) == 0;

        byte_buffer_deinit(&text);
        if (is_read && first->n_symbols > 0)
                first->n_symbols--;
        return is_read && first->n_symbols >= HEAD_NAMES_MIN;
}

bool kernel_head_read(struct kernel_head *head, int kallsyms_fd)
{
        bool is_read = false;

        *head = (struct kernel_head){ .build = 0 };
        if (!read_build(&head->build))
                return false;
        for (size_t n = HEAD_BYTES_MIN; n <= HEAD_BYTES_MAX && !is_read; n *= 4) {
                kernel_symbols_deinit(&head->first);
                is_read = read_first(&head->first, kallsyms_fd, n);
        }
        return is_read;
}

void kernel_head_deinit(struct kernel_head *head)
{
        kernel_symbols_deinit(&head->first);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static const char *name_of(const struct kernel_symbols *all, size_t i)
{
        return (const char *)all->names.data + all->symbols[i].name_at;
}

/* "fuse_open [fuse]": the kernel's own names have no blanks. */
static bool is_of_module(const struct kernel_symbols *all, size_t i)
{
        return strchr(name_of(all, i), ' ') != NULL;
}

/* The part of the list that is the kernel's own, without gaps.  Returns false if there is no such part. */
static bool find_own(const struct kernel_symbols *all, const struct kernel_head *head, size_t *ret_first,
                     size_t *ret_behind)
{
        size_t first = 0, behind;

        while (first < all->n_symbols && all->symbols[first].address != head->first.symbols[0].address)
                first++;
        behind = first;
        while (behind < all->n_symbols && !is_of_module(all, behind))
                behind++;
        if (behind - first < HEAD_NAMES_MIN ||
            all->symbols[behind - 1].address - all->symbols[first].address > UINT32_MAX)
                return false;
        *ret_first = first;
        *ret_behind = behind;
        return true;
}

int saved_kernel_write(const struct kernel_symbols *all, const struct kernel_head *head,
                       struct byte_buffer *out)
{
        struct byte_buffer texts = { .data = NULL };
        size_t first, behind;

        if (head->first.n_symbols == 0 || !find_own(all, head, &first, &behind))
                return -ENODATA;
        for (size_t i = first; i < behind; i++)
                byte_buffer_add(&texts, name_of(all, i), strlen(name_of(all, i)) + 1);
        byte_buffer_add_u64(out, MAGIC);
        byte_buffer_add_u64(out, head->build);
        byte_buffer_add_u64(out, behind - first);
        byte_buffer_add_u64(out, texts.used_bytes);
        for (size_t i = first; i < behind; i++)
                byte_buffer_add_u32(out, (uint32_t)(all->symbols[i].address - all->symbols[first].address));
        for (size_t i = first, place = 0; i < behind; i++) {
                byte_buffer_add_u32(out, (uint32_t)place);
                place += strlen(name_of(all, i)) + 1;
        }
        byte_buffer_add(out, texts.data, texts.used_bytes);
        if (texts.failed)
                out->failed = true;
        byte_buffer_deinit(&texts);
        return out->failed ? -ENOMEM : 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static uint32_t number_at(const uint8_t *numbers, uint32_t i)
{
        struct byte_reader in = byte_reader_of(numbers + sizeof(uint32_t) * i, sizeof(uint32_t));

        return bytes_u32(&in);
}

static const char *saved_name(const struct saved_kernel *k, uint32_t i)
{
        uint32_t place = number_at(k->places, i);

        return place < k->texts_bytes ? k->texts + place : NULL;
}

/* True if the first names are the same, all moved by one distance. */
static bool begins_with(const struct saved_kernel *k, const struct kernel_symbols *first)
{
        if (first->n_symbols > k->n_symbols)
                return false;
        for (uint32_t i = 0; i < first->n_symbols; i++) {
                const char *name = saved_name(k, i);

                if (!name || strcmp(name, name_of(first, i)) != 0 ||
                    first->symbols[i].address - k->base_address != number_at(k->starts, i))
                        return false;
        }
        return true;
}

bool saved_kernel_open(struct saved_kernel *k, const struct kernel_head *head, const uint8_t *bytes,
                       size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        uint64_t magic = bytes_u64(&in), build = bytes_u64(&in);
        uint64_t n_symbols = bytes_u64(&in), texts_bytes = bytes_u64(&in);

        if (in.short_read || magic != MAGIC || build != head->build || head->first.n_symbols == 0 ||
            n_symbols > in.left / (2 * sizeof(uint32_t)) || texts_bytes == 0 ||
            in.left != n_symbols * 2 * sizeof(uint32_t) + texts_bytes || in.at[in.left - 1] != '\0')
                return false;
        *k = (struct saved_kernel){ .starts = in.at,
                                    .places = in.at + n_symbols * sizeof(uint32_t),
                                    .texts = (const char *)in.at + n_symbols * 2 * sizeof(uint32_t),
                                    .texts_bytes = (size_t)texts_bytes,
                                    .n_symbols = (uint32_t)n_symbols,
                                    .base_address = head->first.symbols[0].address };
        return begins_with(k, &head->first);
}

bool saved_kernel_covers(const struct saved_kernel *k, uint64_t address)
{
        return address >= k->base_address &&
               address - k->base_address <= number_at(k->starts, k->n_symbols - 1);
}

const char *saved_kernel_find(const struct saved_kernel *k, uint64_t address)
{
        uint64_t offset = address - k->base_address;
        uint32_t low = 0, high = k->n_symbols;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (number_at(k->starts, middle) <= offset)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0 || offset - number_at(k->starts, low - 1) >= KERNEL_SYMBOLS_FUNCTION_MAX)
                return NULL;
        return saved_name(k, low - 1);
}

/* ---- looking up ---------------------------------------------------------------------------------------- */

void kernel_lookup_open(struct kernel_lookup *k, int kallsyms_fd, const struct index_cache *cache,
                        const struct index_cache_name *name)
{
        *k = (struct kernel_lookup){ .fd = kallsyms_fd };
        if (!cache || kallsyms_fd < 0)
                return;
        k->has_head = kernel_head_read(&k->head, kallsyms_fd);
        if (!k->has_head || index_cache_map(cache, name, -1, &k->entry) != 1)
                return;
        if (!saved_kernel_open(&k->saved, &k->head, k->entry.bytes, k->entry.n_bytes))
                k->saved = (struct saved_kernel){ .n_symbols = 0 };
}

void kernel_lookup_close(struct kernel_lookup *k)
{
        kernel_symbols_deinit(&k->all);
        kernel_head_deinit(&k->head);
        index_cache_unmap(&k->entry);
        *k = (struct kernel_lookup){ .fd = -1 };
}

static void load_list(struct kernel_lookup *k)
{
        k->is_loaded = true;
        if (k->fd >= 0 && kernel_symbols_load(&k->all, k->fd, NULL) < 0)
                kernel_symbols_deinit(&k->all);
}

const char *kernel_lookup_find_made(struct kernel_lookup *k, uint64_t address)
{
        if (!k->is_loaded)
                load_list(k);
        return kernel_symbols_find_made(&k->all, address);
}

const char *kernel_lookup_find(struct kernel_lookup *k, uint64_t address)
{
        if (!k->is_loaded && k->saved.n_symbols > 0 && saved_kernel_covers(&k->saved, address))
                return saved_kernel_find(&k->saved, address);
        if (!k->is_loaded)
                load_list(k);
        return kernel_symbols_find(&k->all, address);
}

int kernel_lookup_save(const struct kernel_lookup *k, struct byte_buffer *out)
{
        if (!k->is_loaded || !k->has_head || k->saved.n_symbols > 0)
                return -ENODATA;
        index_cache_add_identity(out, -1);
        return saved_kernel_write(&k->all, &k->head, out);
}
