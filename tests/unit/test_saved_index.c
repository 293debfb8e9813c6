/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/saved_index.c: a saved index gives what the files give, a cut or damaged one is passed over
 * or gives less, never a crash
 */
#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/saved_index.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct built_files files;
static int fd = -1;
static struct elf_image *image;
static struct module_symbols *module;
static struct byte_buffer saved;

static void setup(void)
{
        static const char *const program =
                "static inline void twice(volatile int *x) { *x = *x * 2; }\n"
                "static inline void more(volatile int *x) { twice(x); *x = *x + 1; }\n"
                "void calls(volatile int *x) { if (*x > 3) more(x); else twice(x); }\n"
                "void other(volatile int *x) { *x = 5; more(x); }\n"
                "__asm__(\".set older_name, newer_name\");\n"
                "__attribute__((used, noinline)) static void newer_name(volatile int *x) { *x = 7; }\n";

        built_files_init(&files);
        built_files_write(&files, "program.c", program);
        ck_assert(built_files_run(&files, "gcc -g -O2 -shared -fPIC -nostdlib -o program.so program.c"));
        ck_assert_int_eq(regular_file_open(built_files_path(&files, "program.so"), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(
                module_symbols_open(image, &(struct module_symbols_options){ .path = NULL }, &module, NULL),
                0);
        ck_assert_int_eq(module_symbols_save(module, &saved, NULL), 0);
}

static void teardown(void)
{
        module_symbols_close(module);
        elf_image_close(image);
        io_close(&fd);
        byte_buffer_deinit(&saved);
        built_files_deinit(&files);
}

static struct module_symbols *open_saved(const uint8_t *bytes, size_t n_bytes)
{
        const struct module_symbols_options options = { .index = bytes, .index_bytes = n_bytes };
        struct module_symbols *opened;

        ck_assert_int_eq(module_symbols_open(image, &options, &opened, NULL), 0);
        return opened;
}

static uint64_t code_start, code_end;

static void find_code(void)
{
        for (size_t i = 0; i < image->n_segments; i++)
                if (image->segments[i].executable) {
                        code_start = image->segments[i].svma;
                        code_end = code_start + image->segments[i].memory_bytes;
                }
        ck_assert_uint_gt(code_end, code_start);
}

START_TEST(test_round_trip)
{
        struct module_symbols *other = open_saved(saved.data, saved.used_bytes);
        struct saved_index index;
        uint32_t longest = 0;

        find_code();
        ck_assert(saved_index_open(&index, image, saved.data, saved.used_bytes));
        for (uint64_t svma = code_start < 16 ? 0 : code_start - 16; svma < code_end + 16; svma++) {
                const struct symbol *x, *y;
                struct function_range rx = { 0, 0 }, ry = { 0, 0 };
                uint32_t n = module_symbols_find(module, svma, &x);

                ck_assert_uint_eq(module_symbols_find(other, svma, &y), n);
                longest = n > longest ? n : longest;
                for (uint32_t i = 0; i < n; i++) {
                        ck_assert_pstr_eq(x[i].function, y[i].function);
                        ck_assert_pstr_eq(x[i].file, y[i].file);
                        ck_assert_uint_eq(x[i].line, y[i].line);
                        ck_assert_uint_eq(x[i].column, y[i].column);
                        ck_assert_pstr_eq(x[i].declared_file, y[i].declared_file);
                        ck_assert_uint_eq(x[i].declared_line, y[i].declared_line);
                        ck_assert_uint_eq(x[i].instance, y[i].instance);
                        ck_assert_uint_eq(x[i].flags, y[i].flags);
                }
                ck_assert_int_eq(module_symbols_find_range(module, svma, &rx),
                                 module_symbols_find_range(other, svma, &ry));
                ck_assert_uint_eq(rx.start_svma, ry.start_svma);
                ck_assert_uint_eq(rx.end_svma, ry.end_svma);
        }
        ck_assert_uint_eq(longest, 3); /* twice() in more() in a function */
        module_symbols_close(other);
}
END_TEST

/* Ids go from 1 to the last; others have nothing. */
START_TEST(test_first_and_last_ids)
{
        struct saved_index index;
        uint32_t n_names, n_paths;

        ck_assert(saved_index_open(&index, image, saved.data, saved.used_bytes));
        n_names = index.n_items[SAVED_PART_NAMES];
        n_paths = index.n_items[SAVED_PART_PATHS];
        ck_assert(n_names > 1 && n_paths > 0);
        for (uint32_t id = 0; id <= n_names + 1; id++)
                ck_assert_int_eq(saved_index_name(&index, id) != NULL, id >= 1 && id <= n_names);
        for (uint32_t id = 0; id <= n_paths + 1; id++)
                ck_assert_int_eq(saved_index_path(&index, id) != NULL, id >= 1 && id <= n_paths);
        ck_assert_uint_ne(saved_index_declaration(&index, n_names).line, 0);
        ck_assert_uint_eq(saved_index_declaration(&index, n_names + 1).line, 0);
        ck_assert_uint_eq(saved_index_declaration(&index, 0).line, 0);
}
END_TEST

/* True if the index was used, of a file that may have a debug file beside it. */
static bool uses_saved(const struct elf_image *bare, const struct byte_buffer *index)
{
        const struct module_symbols_options options = { .path = built_files_path(&files, "bare.so"),
                                                        .index = index->data,
                                                        .index_bytes = index->used_bytes };
        struct module_symbols *opened;
        bool is_saved;

        ck_assert_int_eq(module_symbols_open(bare, &options, &opened, NULL), 0);
        is_saved = module_symbols_is_saved(opened);
        module_symbols_close(opened);
        return is_saved;
}

/* The functions of a stripped file are saved too, and used until its debug file is there. */
START_TEST(test_stripped_file)
{
        struct byte_buffer index = { .data = NULL };
        struct module_symbols *opened;
        struct elf_image *bare;
        int bare_fd;

        ck_assert(built_files_run(&files, "objcopy --only-keep-debug program.so bare.debug && "
                                          "objcopy -S --add-gnu-debuglink=bare.debug program.so bare.so && "
                                          "mv bare.debug hidden"));
        ck_assert_int_eq(regular_file_open(built_files_path(&files, "bare.so"), &bare_fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(bare_fd, &bare, NULL), 0);
        ck_assert_int_eq(
                module_symbols_open(bare, &(struct module_symbols_options){ .path = NULL }, &opened, NULL),
                0);
        ck_assert_int_eq(module_symbols_save(opened, &index, NULL), 0);
        ck_assert(!module_symbols_has_large_table(opened));
        module_symbols_close(opened);
        ck_assert(uses_saved(bare, &index));
        ck_assert(built_files_run(&files, "mv hidden bare.debug"));
        ck_assert(!uses_saved(bare, &index));
        byte_buffer_deinit(&index);
        elf_image_close(bare);
        io_close(&bare_fd);
}
END_TEST

/* How many addresses have this name. */
static unsigned count_named(struct module_symbols *opened, const char *name)
{
        const struct symbol *found;
        unsigned n = 0;

        for (uint64_t svma = code_start; svma < code_end; svma++) {
                uint32_t n_found = module_symbols_find(opened, svma, &found);

                n += n_found > 0 && found[n_found - 1].function &&
                     strcmp(found[n_found - 1].function, name) == 0;
        }
        return n;
}

/* The debug information knows which of two symbols that are as good is the name of the function. */
START_TEST(test_name_that_the_debug_information_has)
{
        struct module_symbols *opened[] = { open_saved(NULL, 0), open_saved(saved.data, saved.used_bytes) };

        find_code();
        for (int i = 0; i < 2; i++) {
                ck_assert_uint_gt(count_named(opened[i], "newer_name"), 0);
                ck_assert_uint_eq(count_named(opened[i], "older_name"), 0);
                module_symbols_close(opened[i]);
        }
}
END_TEST

START_TEST(test_every_cut)
{
        struct saved_index index;

        for (size_t n = 0; n < saved.used_bytes; n++) {
                uint8_t *cut = malloc(n ? n : 1);

                memcpy(cut, saved.data, n);
                ck_assert(!saved_index_open(&index, image, cut, n));
                free(cut);
        }
}
END_TEST

START_TEST(test_every_byte_of_the_header_counts)
{
        struct saved_index index;

        for (size_t i = 0; i < 96; i++) {
                saved.data[i] ^= 0x40;
                ck_assert(!saved_index_open(&index, image, saved.data, saved.used_bytes));
                saved.data[i] ^= 0x40;
        }
        ck_assert(saved_index_open(&index, image, saved.data, saved.used_bytes));
}
END_TEST

/* Another kind of file, another version, other sizes: refused though they are written as a whole. */
START_TEST(test_header_of_another_file)
{
        struct saved_index index;

        for (size_t i = 0; i < 80; i++) {
                uint8_t header[96];
                uint64_t hash;

                memcpy(header, saved.data, sizeof(header));
                saved.data[i] ^= 0x40;
                hash = content_hash(saved.data, 88);
                memcpy(saved.data + 88, &hash, sizeof(hash));
                ck_assert_msg(!saved_index_open(&index, image, saved.data, saved.used_bytes), "byte %zu", i);
                memcpy(saved.data, header, sizeof(header));
        }
        ck_assert(saved_index_open(&index, image, saved.data, saved.used_bytes));
}
END_TEST

/* Another module, whose addresses are others. */
START_TEST(test_index_of_another_module)
{
        struct saved_index index;

        image->build_id[0] ^= 1;
        ck_assert(!saved_index_open(&index, image, saved.data, saved.used_bytes));
}
END_TEST

static void read_all(struct module_symbols *opened)
{
        for (uint64_t svma = code_start; svma < code_end; svma++) {
                const struct symbol *symbols;
                uint32_t n = module_symbols_find(opened, svma, &symbols);

                ck_assert_uint_le(n, SYMBOLIZER_CHAIN_MAX);
                for (uint32_t i = 0; i < n; i++) {
                        ck_assert(!symbols[i].function || strlen(symbols[i].function) < saved.used_bytes);
                        ck_assert(!symbols[i].file || strlen(symbols[i].file) < saved.used_bytes);
                }
        }
}

START_TEST(test_damage_behind_the_header)
{
        uint64_t state = 1;

        find_code();
        for (size_t round = 0; round < 2000; round++) {
                uint8_t *bytes = malloc(saved.used_bytes);
                struct module_symbols *opened;

                memcpy(bytes, saved.data, saved.used_bytes);
                for (size_t i = 0; i < 1 + round % 16; i++)
                        bytes[96 + fixed_random_next(&state) % (saved.used_bytes - 97)] =
                                (uint8_t)(round % 3 ? fixed_random_next(&state) : 0xff);
                opened = open_saved(bytes, saved.used_bytes);
                read_all(opened);
                module_symbols_close(opened);
                free(bytes);
        }
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
