/* SPDX-License-Identifier: MIT */
/* sampler/tables/table_store.c: a table comes back for the file that it was made of, whole or not at all */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "sampler/tables/table_store.h"
#include "tests/unit/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_BYTES 1003
#define OTHER_UID   65534

static struct table_store store;
static struct byte_buffer bytes;
static char folder[64], inner[80], file_path[400];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
        (void)status;
        (void)kind;
        (void)place;
        return remove(path);
}

/* The path of the only file that the store has made. */
static void find_file(void)
{
        DIR *dir = opendir(inner);
        const struct dirent *entry;
        int n = 0;

        ck_assert_ptr_nonnull(dir);
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.') {
                        (void)snprintf(file_path, sizeof(file_path), "%s/%s", inner, entry->d_name);
                        n++;
                }
        (void)closedir(dir);
        ck_assert_int_eq(n, 1);
}

static void setup(void)
{
        (void)snprintf(folder, sizeof(folder), "/tmp/hyprof-tables-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(inner, sizeof(inner), "%s/a/b", folder);
        ck_assert_int_eq(table_store_open(&store, inner, geteuid(), getegid(), NULL), 0);
        find_file();
}

static void teardown(void)
{
        table_store_close(&store);
        byte_buffer_deinit(&bytes);
        (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void open_again(void)
{
        table_store_close(&store);
        ck_assert_int_eq(table_store_open(&store, inner, geteuid(), getegid(), NULL), 0);
}

static uint64_t size_of_file(void)
{
        struct stat status;

        ck_assert_int_eq(stat(file_path, &status), 0);
        return (uint64_t)status.st_size;
}

static struct table_store_key key_of(uint64_t number)
{
        return (struct table_store_key){
                .device = 1, .inode = number, .build_id_bytes = 2, .build_id = "id"
        };
}

/* As a table of file @number would be. */
static void make_table(uint64_t number, size_t n_bytes)
{
        byte_buffer_clear(&bytes);
        for (size_t i = 0; i < n_bytes; i++)
                byte_buffer_add_u8(&bytes, (uint8_t)(number * 7 + i));
}

static int add(uint64_t number)
{
        struct table_store_key key = key_of(number);

        make_table(number, TABLE_BYTES);
        return table_store_add(&store, &key, NULL, &bytes);
}

static void add_some(uint64_t n)
{
        ck_assert(table_store_begin(&store));
        for (uint64_t i = 1; i <= n; i++)
                ck_assert_int_eq(add(i), 0);
        table_store_end(&store);
}

/* Whether the table is there; if it is, it is that of this file. */
static bool finds(uint64_t number)
{
        struct table_store_key key = key_of(number);
        struct table_store_entry entry;
        struct byte_buffer got = { .data = NULL };
        uint64_t at;
        bool is_there = table_store_find(&store, &key, &entry, &at, &got) == 1;

        if (is_there) {
                make_table(number, TABLE_BYTES);
                ck_assert_uint_eq(got.used_bytes, TABLE_BYTES);
                ck_assert_mem_eq(got.data, bytes.data, TABLE_BYTES);
        }
        byte_buffer_deinit(&got);
        return is_there;
}

START_TEST(test_comes_back)
{
        struct module_landmarks landmarks = { .jit_svma = 4711 };
        struct table_store_key key = key_of(3), other;
        struct table_store_entry entry;
        struct byte_buffer got = { .data = NULL };
        uint64_t at;

        ck_assert(!finds(1));
        add_some(2);
        ck_assert(table_store_begin(&store));
        make_table(3, 5);
        ck_assert_int_eq(table_store_add(&store, &key, NULL, &bytes), 0);
        make_table(4, 6); /* the newer one counts */
        ck_assert_int_eq(table_store_add(&store, &key, &landmarks, &bytes), 0);
        table_store_end(&store);
        for (int round = 0; round < 2; round++) {
                ck_assert(finds(1) && finds(2) && !finds(4));
                ck_assert_int_eq(table_store_find(&store, &key, &entry, &at, &got), 1);
                ck_assert_uint_eq(entry.has_landmarks, 1);
                ck_assert_uint_eq(entry.landmarks.jit_svma, 4711);
                ck_assert_uint_eq(got.used_bytes, 6);
                make_table(4, 6);
                ck_assert_mem_eq(got.data, bytes.data, 6);
                open_again();
        }
        /* Every part of the key counts. */
        for (size_t i = 0; i < sizeof(key); i++) {
                other = key;
                ((uint8_t *)&other)[i] ^= 0x40;
                ck_assert_int_eq(table_store_find(&store, &other, &entry, &at, &got), 0);
        }
        byte_buffer_deinit(&got);
}
END_TEST

/* A recorder that ended in the middle, a disk that was full: what is whole stays, and more can be added. */
START_TEST(test_cut_file)
{
        uint64_t whole, step;

        add_some(2);
        whole = size_of_file();
        step = whole / 2 / 16;
        for (uint64_t n = whole - 1; n > whole / 2 + step; n -= step) {
                ck_assert_int_eq(truncate(file_path, (off_t)n), 0);
                open_again();
                ck_assert(finds(1));
                ck_assert(!finds(2));
                ck_assert(table_store_begin(&store));
                ck_assert_int_eq(add(2), 0);
                table_store_end(&store);
                ck_assert_uint_eq(size_of_file(), whole);
        }
        open_again();
        ck_assert(finds(1) && finds(2));
}
END_TEST

/* No byte can be changed without the table being made again: finds() compares what it gets. */
START_TEST(test_damaged_file)
{
        int fd = open(file_path, O_RDWR | O_CLOEXEC);
        uint8_t byte, changed;
        bool has_first, has_second;
        int n_unnoticed = 0;

        add_some(2);
        for (off_t at = 0; at < (off_t)size_of_file(); at += 3) {
                ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
                changed = byte ^ 0x10;
                ck_assert_int_eq(pwrite(fd, &changed, 1, at), 1);
                table_store_close(&store);
                ck_assert_int_eq(table_store_open(&store, inner, geteuid(), getegid(), NULL), 0);
                has_first = finds(1);
                has_second = finds(2);
                n_unnoticed += has_first && has_second;
                if (size_of_file() < TABLE_BYTES) { /* the header was damaged: begun anew */
                        io_close(&fd);
                        fd = open(file_path, O_RDWR | O_CLOEXEC);
                        add_some(2);
                } else {
                        ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
                }
        }
        ck_assert_int_le(n_unnoticed, 2); /* between the entries are 5 bytes of nothing */
        io_close(&fd);
}
END_TEST

START_TEST(test_two_recorders)
{
        struct table_store mine, other;

        ck_assert_int_eq(table_store_open(&other, inner, geteuid(), getegid(), NULL), 0);
        ck_assert(!finds(1));
        ck_assert(table_store_begin(&store));
        ck_assert_int_eq(add(1), 0);
        ck_assert(!table_store_begin(&other));
        table_store_end(&store);
        mine = store;
        store = other;
        ck_assert(table_store_begin(&store));
        ck_assert(finds(1));
        ck_assert_int_eq(add(2), 0);
        table_store_end(&store);
        ck_assert(finds(1) && finds(2));
        table_store_close(&store);
        store = mine;
        open_again();
        ck_assert(finds(1) && finds(2));
}
END_TEST

START_TEST(test_bounds)
{
        struct table_store_key key = key_of(9);
        uint64_t n = 0;
        int r = 0;

        ck_assert(table_store_begin(&store));
        make_table(9, TABLE_STORE_ENTRY_MAX);
        ck_assert_int_eq(table_store_add(&store, &key, NULL, &bytes), 0);
        byte_buffer_add_u8(&bytes, 1);
        key.inode++;
        ck_assert_int_eq(table_store_add(&store, &key, NULL, &bytes), -EFBIG);
        table_store_end(&store);
        open_again();
        ck_assert_uint_gt(size_of_file(), TABLE_STORE_ENTRY_MAX); /* one that is too large fills nothing */
        ck_assert(table_store_begin(&store));
        bytes.used_bytes = TABLE_STORE_ENTRY_MAX / 2;
        while (r == 0) {
                key.inode++;
                r = table_store_add(&store, &key, NULL, &bytes);
                n += r == 0;
        }
        ck_assert_int_eq(r, -EFBIG);
        ck_assert_uint_eq(n, 3);
        bytes.failed = true;
        ck_assert_int_eq(table_store_add(&store, &key, NULL, &bytes), -ENOMEM);
        table_store_end(&store);
        ck_assert_uint_le(size_of_file(), TABLE_STORE_BYTES_MAX);
        /* A full one is begun anew. */
        open_again();
        ck_assert_uint_lt(size_of_file(), TABLE_BYTES);
        add_some(1);
        ck_assert(finds(1));
}
END_TEST

START_TEST(test_number_of_entries)
{
        int r = 0;

        ck_assert(table_store_begin(&store));
        for (uint64_t i = 0; i < TABLE_STORE_PLACES_MAX; i++) {
                struct table_store_key key = key_of(i);

                make_table(i, 1);
                ck_assert_int_eq(table_store_add(&store, &key, NULL, &bytes), 0);
        }
        r = add(TABLE_STORE_PLACES_MAX);
        ck_assert_int_eq(r, -EFBIG);
        table_store_end(&store);
        open_again();
        ck_assert_uint_lt(size_of_file(), TABLE_BYTES);
}
END_TEST

/* The bytes of a table that was not finished are no entries, whatever is written over their beginning. */
START_TEST(test_what_an_unfinished_entry_leaves)
{
        uint64_t one, two;
        uint8_t *entry;
        int fd = open(file_path, O_RDWR | O_CLOEXEC);

        add_some(1);
        one = (size_of_file() + 7) / 8 * 8;
        ck_assert(table_store_begin(&store));
        ck_assert_int_eq(add(2), 0);
        table_store_end(&store);
        two = size_of_file();
        entry = malloc(two - one);
        ck_assert_ptr_nonnull(entry);
        ck_assert_int_eq(pread(fd, entry, two - one, (off_t)one), (ssize_t)(two - one));
        /* Where the second would end, an entry for file 2, as a table's bytes could be. */
        ck_assert_int_eq(ftruncate(fd, (off_t)one), 0);
        ck_assert_int_eq(pwrite(fd, entry, two - one, (off_t)((two + 7) / 8 * 8)), (ssize_t)(two - one));
        open_again();
        ck_assert(table_store_begin(&store));
        ck_assert_int_eq(add(3), 0);
        table_store_end(&store);
        open_again();
        ck_assert(finds(1) && finds(3) && !finds(2));
        free(entry);
        io_close(&fd);
}
END_TEST

/* In a user's folder, where root writes for him: what another name leads to is left alone. */
START_TEST(test_other_files_in_its_place)
{
        static const char words[] = "of another user";
        char target[128], text[sizeof(words)] = "";
        int fd;

        (void)snprintf(target, sizeof(target), "%s/target", folder);
        for (int kind = 0; kind < 4; kind++) {
                fd = open(target, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
                ck_assert_int_eq(io_write_all(fd, words, sizeof(words), NULL), 0);
                ck_assert_int_eq(unlink(file_path), 0);
                ck_assert_int_eq(kind == 0   ? symlink(target, file_path)
                                 : kind == 1 ? link(target, file_path)
                                 : kind == 2 ? mkfifo(file_path, 0600)
                                             : mkdir(file_path, 0700),
                                 0);
                table_store_close(&store);
                if (table_store_open(&store, inner, geteuid(), getegid(), NULL) == 0)
                        add_some(1);
                else
                        ck_assert(kind == 3 && store.fd == -1 && !table_store_begin(&store) && !finds(1));
                ck_assert_int_eq(pread(fd, text, sizeof(text), 0), sizeof(text));
                ck_assert_str_eq(text, words);
                ck_assert_int_eq(ftruncate(fd, 0), 0);
                io_close(&fd);
                if (kind == 3)
                        ck_assert_int_eq(rmdir(file_path), 0);
        }
        ck_assert_int_eq(unlink(target), 0);
}
END_TEST

/* A good file that has another name as well: root could be led to write to what is not the user's. */
START_TEST(test_file_with_two_names)
{
        char target[128];
        struct stat before, after;

        add_some(1);
        (void)snprintf(target, sizeof(target), "%s/target", folder);
        ck_assert_int_eq(link(file_path, target), 0);
        ck_assert_int_eq(stat(target, &before), 0);
        open_again();
        ck_assert(!finds(1));
        add_some(2);
        ck_assert_int_eq(stat(target, &after), 0);
        ck_assert_int_eq(before.st_size, after.st_size);
        ck_assert_uint_ne(after.st_nlink, before.st_nlink);
}
END_TEST

START_TEST_IF(geteuid() == 0, test_files_of_another_user)
{
        struct stat status;

        add_some(1);
        ck_assert_int_eq(chown(file_path, OTHER_UID, OTHER_UID), 0);
        open_again();
        ck_assert(!finds(1));
        table_store_close(&store);
        ck_assert_int_eq(table_store_open(&store, inner, OTHER_UID, OTHER_UID, NULL), -EACCES);
        ck_assert_int_eq(chmod(folder, 0711), 0);
        (void)snprintf(inner, sizeof(inner), "%s/theirs", folder);
        ck_assert_int_eq(mkdir(inner, 0700), 0);
        ck_assert_int_eq(chown(inner, OTHER_UID, OTHER_UID), 0);
        ck_assert_int_eq(table_store_open(&store, inner, OTHER_UID, OTHER_UID, NULL), 0);
        find_file();
        ck_assert_int_eq(stat(file_path, &status), 0);
        ck_assert_uint_eq(status.st_uid, OTHER_UID);
        ck_assert_uint_eq(status.st_mode & 0777, 0600);
}
END_TEST

/* Only a file that has a name and has not changed for a while. */
START_TEST(test_which_files)
{
        char path[128];
        struct table_store_key key, again;
        struct stat status;
        int fd, memory;

        (void)snprintf(path, sizeof(path), "%s/lib.so", folder);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        ck_assert(!table_store_identify(&store, fd, (const uint8_t *)"abc", 3, &key));
        store.opened_ns += 100 * (int64_t)NS_PER_S;
        ck_assert(table_store_identify(&store, fd, (const uint8_t *)"abc", 3, &key));
        ck_assert(!table_store_identify(&store, fd, NULL, 0, &again));
        ck_assert_int_eq(fstat(fd, &status), 0);
        ck_assert_uint_eq(key.device, status.st_dev);
        ck_assert_uint_eq(key.inode, status.st_ino);
        ck_assert_uint_eq(key.build_id_bytes, 3);
        ck_assert_mem_eq(key.build_id, "abc\0", 4);
        ck_assert(table_store_identify(&store, fd, (const uint8_t *)"abc", 3, &again));
        ck_assert_mem_eq(&key, &again, sizeof(key));
        /* A program can put the time of writing back, but not that of the change. */
        do {
                ck_assert_int_eq(io_write_all(fd, "x", 1, NULL), 0);
                ck_assert_int_eq(ftruncate(fd, 0), 0);
                ck_assert_int_eq(futimens(fd, (struct timespec[]){ status.st_atim, status.st_mtim }), 0);
                ck_assert(table_store_identify(&store, fd, (const uint8_t *)"abc", 3, &again));
        } while (memcmp(&key, &again, sizeof(key)) == 0);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert(!table_store_identify(&store, fd, (const uint8_t *)"abc", 3, &key));
        memory = memfd_create("code", MFD_CLOEXEC);
        ck_assert(!table_store_identify(&store, memory, (const uint8_t *)"abc", 3, &key));
        io_close(&memory);
        table_store_close(&store);
        ck_assert(!table_store_identify(&store, STDIN_FILENO, (const uint8_t *)"abc", 3, &key));
        io_close(&fd);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
