/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/index_cache.c: an entry comes back for what it was made of, and for nothing else;
 * the folder stays small
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/images/module_images.h"
#include "tests/unit/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_BYTES 5000

static struct trace_dictionary dictionary;
static struct module_images images;
static struct image_spool spool;
static struct index_cache cache;
static char folder[64], inner[80];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
        (void)status;
        (void)kind;
        (void)place;
        return remove(path);
}

static void setup(void)
{
        trace_dictionary_init(&dictionary, 0);
        image_spool_init(&spool);
        (void)snprintf(folder, sizeof(folder), "/tmp/hyprof-cache-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(inner, sizeof(inner), "%s/a/b", folder);
        ck_assert_int_eq(index_cache_open(&cache, inner, NULL), 0);
}

static void teardown(void)
{
        index_cache_close(&cache);
        module_images_deinit(&images);
        image_spool_deinit(&spool);
        trace_dictionary_deinit(&dictionary);
        (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static uint32_t add_module(const char *path, const char *build_id)
{
        struct trace_module row = { .kind = TRACE_MODULE_FILE };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, path, strlen(path), &row.path), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, build_id, strlen(build_id), &row.build_id),
                         0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &row, &id), 0);
        return id;
}

static void keep(uint32_t module, const char *code)
{
        struct trace_attachment attachment = { .size_bytes = strlen(code),
                                               .hash = content_hash(code, strlen(code)),
                                               .kind = TRACE_ATTACHMENT_MODULE_FILE };
        struct trace_module_image row = { .module = module, .state = TRACE_IMAGE_KEPT };
        uint32_t id;

        ck_assert_int_eq(
                trace_dictionary_add(&dictionary, TRACE_TABLE_ATTACHMENTS, &attachment, &row.attachment), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULE_IMAGES, &row, &id), 0);
        ck_assert_int_eq(image_spool_add(&spool, row.attachment, code, strlen(code), NULL), 0);
}

static struct index_cache_name name_of(uint32_t module, const struct symbol_search *search)
{
        const struct index_cache_subject subject = { .dictionary = &dictionary,
                                                     .images = &images,
                                                     .spool = &spool,
                                                     .search = search,
                                                     .module = module };
        struct index_cache_name name;

        module_images_deinit(&images);
        ck_assert_int_eq(module_images_init(&images, &dictionary, NULL), 0);
        ck_assert(index_cache_name_of(&cache, &subject, &name));
        return name;
}

static bool is_same_name(struct index_cache_name a, struct index_cache_name b)
{
        return strcmp(a.text, b.text) == 0;
}

static int make_file(const char *text)
{
        char path[] = "/tmp/hyprof-file-XXXXXX";
        int fd = mkstemp(path);

        ck_assert_int_ge(fd, 0);
        (void)unlink(path);
        ck_assert_int_eq(io_write_all(fd, text, strlen(text), NULL), 0);
        return fd;
}

/* An entry of @n_bytes bytes, each @byte. */
static void save(const struct index_cache_name *name, int fd, uint8_t byte, size_t n_bytes)
{
        struct byte_buffer out = { .data = NULL };
        struct index_cache_writer writer;

        index_cache_add_identity(&out, fd);
        for (size_t i = 0; i < n_bytes; i++)
                byte_buffer_add_u8(&out, byte);
        ck_assert_int_eq(index_cache_begin(&cache, name, &writer, NULL), 0);
        ck_assert_int_eq(index_cache_add(&cache, &writer, out.data, 100, NULL), 0);
        ck_assert_int_eq(index_cache_add(&cache, &writer, out.data + 100, out.used_bytes - 100, NULL), 0);
        ck_assert_int_eq(index_cache_commit(&cache, &writer, NULL), 0);
        byte_buffer_deinit(&out);
}

static bool finds(const struct index_cache_name *name, int fd, uint8_t byte)
{
        struct index_cache_entry entry;
        bool is_good;

        if (index_cache_map(&cache, name, fd, &entry) != 1)
                return false;
        is_good = entry.n_bytes == INDEX_BYTES && entry.bytes[0] == byte &&
                  entry.bytes[INDEX_BYTES - 1] == byte;
        index_cache_unmap(&entry);
        return is_good;
}

static unsigned count_files(const char *suffix)
{
        DIR *open_folder = opendir(inner);
        const struct dirent *entry;
        unsigned n = 0;

        ck_assert_ptr_nonnull(open_folder);
        while ((entry = readdir(open_folder)))
                n += strstr(entry->d_name, suffix) != NULL;
        (void)closedir(open_folder);
        return n;
}

START_TEST(test_round_trip)
{
        struct index_cache_name name = name_of(add_module("/lib/a.so", "1234"), NULL);
        int fd = make_file("code");

        ck_assert(!finds(&name, fd, 7));
        save(&name, fd, 7, INDEX_BYTES);
        ck_assert(finds(&name, fd, 7));
        ck_assert_uint_eq(count_files(".part"), 0);
        /* Another run, with the key that lies there. */
        index_cache_close(&cache);
        ck_assert_int_eq(index_cache_open(&cache, inner, NULL), 0);
        ck_assert(finds(&name, fd, 7));
        save(&name, fd, 8, INDEX_BYTES);
        ck_assert(finds(&name, fd, 8));
        (void)close(fd);
}
END_TEST

/* Who makes a file of the same build-id in another place does not get, or make, the entry of the first. */
START_TEST(test_entry_of_another_file)
{
        struct index_cache_name name = name_of(add_module("/lib/a.so", "1234"), NULL);
        struct index_cache_name evil = name_of(add_module("/tmp/a.so", "1234"), NULL);
        int fd = make_file("code"), other = make_file("code");

        ck_assert(!is_same_name(name, evil));
        save(&name, other, 7, INDEX_BYTES);
        ck_assert(!finds(&name, fd, 7));
        ck_assert(!finds(&name, -1, 7));
        save(&name, fd, 7, INDEX_BYTES);
        ck_assert(finds(&name, fd, 7));
        ck_assert_int_eq(io_write_all(fd, "x", 1, NULL), 0); /* it was changed since */
        ck_assert(!finds(&name, fd, 7));
        (void)close(fd);
        (void)close(other);
}
END_TEST

START_TEST(test_names_by_content_and_by_search)
{
        struct symbol_search search = { .n_debug_dirs = 1, .debug_dirs = { "/usr" } };
        uint32_t a = add_module("/tmp/a.so", "1234"), b = add_module("/tmp/b.so", "1234");
        struct index_cache_name before = name_of(a, NULL), kept;

        keep(a, "good code");
        kept = name_of(a, NULL);
        ck_assert(!is_same_name(before, kept));
        keep(a, "evil code");
        ck_assert(!is_same_name(kept, name_of(a, NULL)));
        ck_assert(is_same_name(name_of(b, NULL), name_of(b, NULL)));
        before = name_of(b, NULL);
        kept = name_of(b, &search);
        ck_assert(!is_same_name(before, kept));
        search.debug_dirs[0] = "/usr/lib";
        ck_assert(!is_same_name(kept, name_of(b, &search)));
        search.debug_dirs[0] = "/usr/../usr";
        ck_assert(is_same_name(kept, name_of(b, &search)));
}
END_TEST

/* Without the key the name cannot be guessed. */
START_TEST(test_key)
{
        uint32_t module = add_module("/lib/a.so", "1234");
        struct index_cache_name name = name_of(module, NULL);

        for (size_t i = 0; i < sizeof(cache.key.bytes); i++)
                cache.key.bytes[i] ^= 1;
        ck_assert(!is_same_name(name, name_of(module, NULL)));
        ck_assert_int_eq(unlinkat(cache.folder.fd, "key", 0), 0);
        index_cache_close(&cache);
        ck_assert_int_eq(index_cache_open(&cache, inner, NULL), 0);
        ck_assert(!is_same_name(name, name_of(module, NULL)));
        ck_assert_uint_eq(count_files("key"), 1);
}
END_TEST

START_TEST(test_folder_of_others)
{
        index_cache_close(&cache);
        ck_assert_int_eq(chmod(inner, 0770), 0);
        ck_assert_int_eq(index_cache_open(&cache, inner, NULL), -EPERM);
        ck_assert_int_eq(cache.folder.fd, -1);
        ck_assert_int_eq(index_cache_open(&cache, "/dev/null/x", NULL), -ENOTDIR);
}
END_TEST

START_TEST(test_oldest_go_first)
{
        struct index_cache_name names[4];
        int fd = make_file("code");

        cache.bytes_max = 3 * (INDEX_BYTES + 100);
        for (int i = 0; i < 4; i++) {
                struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
                char path[24];

                (void)snprintf(path, sizeof(path), "/lib/%d", i);
                names[i] = name_of(add_module(path, "1234"), NULL);
                save(&names[i], fd, (uint8_t)i, INDEX_BYTES);
                ck_assert_int_eq(utimensat(cache.folder.fd, names[i].text, times, 0), 0);
        }
        ck_assert_uint_eq(count_files(".index"), 3);
        ck_assert(!finds(&names[0], fd, 0));
        ck_assert(finds(&names[1], fd, 1)); /* which makes it the newest */
        ck_assert(finds(&names[3], fd, 3));
        names[0] = name_of(add_module("/lib/5", "1234"), NULL);
        save(&names[0], fd, 5, INDEX_BYTES);
        ck_assert(!finds(&names[2], fd, 2));
        ck_assert(finds(&names[1], fd, 1));
        (void)close(fd);
}
END_TEST

START_TEST(test_entry_that_is_too_large)
{
        struct index_cache_name name = name_of(add_module("/lib/a.so", "1234"), NULL);
        struct index_cache_writer writer;
        char bytes[1000] = "";

        cache.entry_bytes_max = 1500;
        ck_assert_int_eq(index_cache_begin(&cache, &name, &writer, NULL), 0);
        ck_assert_int_eq(index_cache_add(&cache, &writer, bytes, sizeof(bytes), NULL), 0);
        ck_assert_int_eq(index_cache_add(&cache, &writer, bytes, sizeof(bytes), NULL), -EFBIG);
        ck_assert_int_eq(writer.fd, -1);
        ck_assert_uint_eq(count_files(".part") + count_files(".index"), 0);
}
END_TEST

START_TEST(test_files_made_ahead)
{
        struct index_cache_name name = name_of(add_module("/lib/a.so", "1234"), NULL);
        struct index_cache_writer writer;
        int fd = make_file("code");

        ck_assert_int_eq(index_cache_prepare(&cache, NULL), 0);
        ck_assert_uint_eq(count_files(".part"), INDEX_CACHE_SPARES);
        for (uint8_t i = 0; i < INDEX_CACHE_SPARES - 1; i++)
                save(&name, fd, i, INDEX_BYTES);
        ck_assert(finds(&name, fd, INDEX_CACHE_SPARES - 2));
        ck_assert_int_eq(index_cache_begin(&cache, &name, &writer, NULL), 0);
        index_cache_abort(&cache, &writer);
        ck_assert_int_eq(index_cache_begin(&cache, &name, &writer, NULL), -EMFILE);
        index_cache_close(&cache);
        ck_assert_uint_eq(count_files(".part"), 0);
        ck_assert_int_eq(index_cache_open(&cache, inner, NULL), 0);
        ck_assert_int_eq(index_cache_prepare(&cache, NULL), 0);
        index_cache_close(&cache);
        ck_assert_uint_eq(count_files(".part"), 0);
        (void)close(fd);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
