/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/table_store.c: a file of kept unwind tables of another process is read up to where it
 * makes sense; a table that is found lies within the file, and one that is added is found
 */
#include "base/byte_buffer.h"
#include "sampler/tables/table_store.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(bool holds)
{
        if (!holds)
                abort();
}

static void find(struct table_store *s, const struct table_store_key *key)
{
        struct byte_buffer bytes = { .data = NULL }, again = { .data = NULL };
        struct table_store_entry entry;
        uint64_t offset_bytes;
        off_t end = lseek(s->fd, 0, SEEK_END);

        if (table_store_find(s, key, &entry, &offset_bytes, &bytes) == 1) {
                require(bytes.used_bytes == entry.n_bytes && offset_bytes <= (uint64_t)end &&
                        entry.n_bytes <= (uint64_t)end - offset_bytes);
                require(table_store_read(s, offset_bytes, entry.n_bytes, &again) &&
                        again.used_bytes == bytes.used_bytes);
        }
        byte_buffer_deinit(&bytes);
        byte_buffer_deinit(&again);
}

static void add(struct table_store *s, const struct table_store_key *key, const uint8_t *bytes,
                size_t n_bytes)
{
        const struct module_landmarks landmarks = { .jit_svma = 4096 };
        struct byte_buffer table = { .data = NULL };

        if (!table_store_begin(s))
                return;
        byte_buffer_add(&table, bytes, n_bytes);
        (void)table_store_add(s, key, n_bytes % 2 == 0 ? &landmarks : NULL, &table);
        table_store_end(s);
        byte_buffer_deinit(&table);
}

/* The folder of the store, of this process; "" = it cannot be made. */
static const char *find_folder(void)
{
        static char folder[] = "/tmp/fuzz-tables-XXXXXX";

        if (folder[strlen(folder) - 1] == 'X' && !mkdtemp(folder))
                folder[0] = '\0';
        return folder;
}

static void remove_files(const char *folder)
{
        DIR *dir = opendir(folder);
        const struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                (void)unlinkat(dirfd(dir), entry->d_name, 0);
        if (dir)
                (void)closedir(dir);
        (void)rmdir(folder); /* the store makes it again */
}

/* An entry is added, then bytes of the file change: an offset of 16 bits and a value each. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        const struct table_store_key key = { .inode = 1, .build_id_bytes = 20 };
        size_t n_table = n_bytes != 0 && data[0] < n_bytes ? data[0] : 0;
        const char *folder = find_folder();
        struct table_store store;

        if (table_store_open(&store, folder, geteuid(), getegid(), NULL) < 0)
                return 0;
        add(&store, &key, data, n_table);
        find(&store, &key);
        for (size_t i = n_table; i + 2 < n_bytes; i += 3)
                require(pwrite(store.fd, &data[i + 2], 1, data[i] | (off_t)data[i + 1] << 8) == 1);
        table_store_close(&store);
        if (table_store_open(&store, folder, geteuid(), getegid(), NULL) == 0) {
                find(&store, &key);
                add(&store, &key, data, n_table);
                find(&store, &key);
                table_store_close(&store);
        }
        remove_files(folder);
        return 0;
}
