/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/index_cache.c, index/saved_index.c, kernel/saved_kernel.c: a kept entry whose bytes
 * were changed gives names and places that lie within it, or nothing; never a crash
 */
#include "base/byte_buffer.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/index/code_index.h"
#include "symbolize/index/saved_index.h"
#include "symbolize/index/symbol_table.h"
#include "symbolize/kernel/kernel_symbols.h"
#include "symbolize/kernel/saved_kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHANGE_BYTES 4 /* a place of 24 bits, a value */
#define PLACES_MAX   32
#define LOOKUPS      64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static const char kernel_list[] = "ffffffff81000000 T _text\nffffffff81000010 T secondary_startup\n"
                                  "ffffffff81000130 t early_setup\nffffffff81002000 T do_one\n"
                                  "ffffffff81003000 T do_two\nffffffff81009000 T _etext\n";

static void require(bool holds)
{
        if (!holds)
                abort();
}

static const char *find_folder(void)
{
        static char folder[] = "/tmp/fuzz-symbols-XXXXXX";

        if (folder[strlen(folder) - 1] == 'X' && !mkdtemp(folder))
                folder[0] = '\0';
        return folder;
}

/* Writes an entry of no file, and changes some of its bytes.  Returns whether it is there. */
static bool write_entry(const struct index_cache *c, const struct index_cache_name *name,
                        const struct byte_buffer *entry, const uint8_t *changes, size_t n_changes)
{
        struct index_cache_writer w;
        int fd;

        if (index_cache_begin(c, name, &w, NULL) < 0 ||
            index_cache_add(c, &w, entry->data, entry->used_bytes, NULL) < 0 ||
            index_cache_commit(c, &w, NULL) < 0)
                return false;
        fd = openat(c->folder.fd, name->text, O_WRONLY | O_CLOEXEC);
        for (size_t i = 0; i < n_changes && fd >= 0; i++) {
                const uint8_t *change = changes + i * CHANGE_BYTES;
                uint32_t at = change[0] | (uint32_t)change[1] << 8 | (uint32_t)change[2] << 16;

                require(pwrite(fd, &change[3], 1, (off_t)(at % entry->used_bytes)) == 1);
        }
        (void)close(fd);
        return fd >= 0;
}

static void look_up(const struct saved_index *saved, uint64_t svma)
{
        struct code_place places[PLACES_MAX];
        struct saved_function function;
        uint64_t start, end;
        uint32_t n = saved_index_find(saved, svma, places, PLACES_MAX);
        size_t sum = 0;

        require(n <= PLACES_MAX);
        for (uint32_t i = 0; i < n; i++) {
                const char *path = saved_index_path(saved, places[i].path);
                const char *name = saved_index_name(saved, places[i].name);

                sum += (path ? strlen(path) : 0) + (name ? strlen(name) : 0);
                (void)saved_index_declaration(saved, places[i].name);
        }
        if (saved_index_find_function(saved, svma, &function))
                sum += (function.name ? strlen(function.name) : 0) +
                       (function.aliases ? strlen(function.aliases) : 0);
        require(sum <= 2 * PLACES_MAX * saved->texts_bytes + 2 * saved->texts_bytes);
        (void)saved_index_find_extent(saved, svma, &start, &end);
}

static void read_index(const struct elf_image *image, const struct index_cache_entry *entry)
{
        struct saved_index saved;

        if (!saved_index_open(&saved, image, entry->bytes, entry->n_bytes))
                return;
        for (uint64_t i = 0; i < LOOKUPS; i++) {
                look_up(&saved, i * i * i);
                look_up(&saved, saved.directory.first_svma + (i << (saved.directory.shift % 32)));
                look_up(&saved, saved.functions.first_svma + i * 16);
                (void)saved_index_name(&saved, (uint32_t)(i * i * i));
                (void)saved_index_path(&saved, UINT32_MAX >> (i % 32));
        }
}

/* The index of a file, as the symbolizer keeps it. */
static void try_index(const struct index_cache *c, const struct elf_image *image, const uint8_t *changes,
                      size_t n_changes)
{
        const struct index_cache_name name = { "0123.index" };
        struct debug_sections sections = { .is_big_endian = false };
        const struct code_index_source source = { .sections = &sections, .first_svma = 1 };
        struct symbol_table functions = { .entries = NULL };
        struct code_names names;
        struct saved_content content = { image, &functions, NULL, &names };
        struct byte_buffer bytes = { .data = NULL };
        struct index_cache_entry entry;

        code_names_init(&names);
        index_cache_add_identity(&bytes, -1);
        if (debug_sections_load(&sections, image->elf, false, NULL) == 0 &&
            code_index_new(&source, &content.code, NULL) == 0 &&
            code_index_complete(content.code, NULL) == 0 && saved_index_write(&content, &bytes, NULL) == 0 &&
            write_entry(c, &name, &bytes, changes, n_changes) && index_cache_map(c, &name, -1, &entry) == 1) {
                read_index(image, &entry);
                index_cache_unmap(&entry);
        }
        code_index_free(content.code);
        byte_buffer_deinit(&bytes);
        code_names_deinit(&names);
        debug_sections_deinit(&sections);
}

static void try_kernel(const struct index_cache *c, const uint8_t *changes, size_t n_changes)
{
        const struct index_cache_name name = { "4567.index" };
        struct kernel_symbols all = { .symbols = NULL };
        struct kernel_head head = { .build = 7 };
        struct byte_buffer bytes = { .data = NULL };
        struct index_cache_entry entry;
        struct saved_kernel saved;
        int fd = memfd_create("kallsyms", MFD_CLOEXEC);

        require(fd >= 0 && write(fd, kernel_list, strlen(kernel_list)) == (ssize_t)strlen(kernel_list));
        index_cache_add_identity(&bytes, -1);
        if (kernel_symbols_load(&all, fd, NULL) == 0 && kernel_symbols_load(&head.first, fd, NULL) == 0 &&
            saved_kernel_write(&all, &head, &bytes) == 0 &&
            write_entry(c, &name, &bytes, changes, n_changes) && index_cache_map(c, &name, -1, &entry) == 1) {
                if (saved_kernel_open(&saved, &head, entry.bytes, entry.n_bytes))
                        for (uint64_t i = 0; i < 0xa000; i += 0x108) {
                                uint64_t address = saved.base_address + i;
                                const char *found = saved_kernel_covers(&saved, address)
                                                            ? saved_kernel_find(&saved, address)
                                                            : NULL;

                                require(!found || strlen(found) < saved.texts_bytes);
                        }
                index_cache_unmap(&entry);
        }
        byte_buffer_deinit(&bytes);
        kernel_symbols_deinit(&all);
        kernel_symbols_deinit(&head.first);
        (void)close(fd);
}

static void remove_files(const struct index_cache *c)
{
        static const char *const names[] = { "0123.index", "4567.index", "key" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                (void)unlinkat(c->folder.fd, names[i], 0);
}

/* How many changes, the changes, then a file with debug information. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        size_t n_changes = n_bytes > 0 ? data[0] : 0, at = 1 + n_changes * CHANGE_BYTES;
        const char *folder = find_folder();
        struct elf_image *image;
        struct index_cache cache;

        if (at > n_bytes || index_cache_open(&cache, folder, NULL) < 0)
                return 0;
        try_kernel(&cache, data + 1, n_changes);
        if (elf_image_open_memory(data + at, n_bytes - at, &image, NULL) == 0) {
                try_index(&cache, image, data + 1, n_changes);
                elf_image_close(image);
        }
        remove_files(&cache);
        index_cache_close(&cache);
        (void)rmdir(folder);
        return 0;
}
