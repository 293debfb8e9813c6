/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/go_functions.c: a stripped Go program has the names, lines and frames of the whole one; a
 * damaged table is no crash
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/go_functions.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct built_files files;

static void setup(void)
{
        built_files_init(&files);
        built_files_write(&files, "main.go",
                          "package main\n"
                          "\n"
                          "//go:noinline\n"
                          "func counted(n int) (s int) {\n"
                          "\tfor i := 0; i < n; i++ {\n"
                          "\t\ts = s*3 + i\n"
                          "\t}\n"
                          "\treturn\n"
                          "}\n"
                          "\n"
                          "func main() { println(counted(10)) }\n");
}

static void teardown(void)
{
        built_files_deinit(&files);
}

static void build_as(const char *name, const char *flags, int *ret_fd, struct elf_image **ret_image)
{
        char command[256];

        (void)snprintf(
                command, sizeof(command),
                "HOME=$PWD GOFLAGS= GO111MODULE=off CGO_ENABLED=0 go build -ldflags '%s' -o %s main.go",
                flags, name);
        ck_assert(built_files_run(&files, command));
        ck_assert_int_eq(regular_file_open(built_files_path(&files, name), ret_fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(*ret_fd, ret_image, NULL), 0);
}

/* A program without symbols and debug information; false if there is no compiler. */
static bool build(int *ret_fd, struct elf_image **ret_image)
{
        if (!built_files_has("go"))
                return false;
        build_as("program", "-s -w", ret_fd, ret_image);
        return true;
}

START_TEST(test_names_and_lines)
{
        struct module_symbols *module;
        struct elf_image *image;
        struct go_functions go;
        struct go_function f;
        uint32_t n_found = 0, n_lines = 0;
        int fd = -1;

        if (!build(&fd, &image))
                return;
        ck_assert(go_functions_open(&go, image));
        ck_assert_int_eq(
                module_symbols_open(image, &(struct module_symbols_options){ .path = NULL }, &module, NULL),
                0);
        for (uint32_t i = 0; i < go.n_functions; i++) {
                if (!go_functions_get(&go, i, &f) || strcmp(f.name, "main.counted") != 0)
                        continue;
                n_found++;
                for (uint64_t svma = f.start_svma; svma < f.end_svma; svma++) {
                        const struct symbol *symbols;

                        ck_assert_uint_eq(module_symbols_find(module, svma, &symbols), 1);
                        ck_assert_str_eq(symbols[0].function, "main.counted");
                        if (symbols[0].line == 0)
                                continue; /* padding after the last instruction */
                        ck_assert(strstr(symbols[0].file, "/main.go"));
                        ck_assert_uint_ge(symbols[0].line, 4);
                        ck_assert_uint_le(symbols[0].line, 9);
                        n_lines++;
                }
        }
        ck_assert_uint_eq(n_found, 1);
        ck_assert_uint_gt(n_lines, 10);
        module_symbols_close(module);
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

/* In a program for any address the loader fills in where the code begins; in its file there is a 0. */
START_TEST(test_begin_of_code_that_the_loader_fills_in)
{
        const size_t begin_at = 24; /* in the table */
        struct elf_image *image, *other;
        struct go_functions go, filled_in;
        struct stat status;
        uint8_t *bytes, *table;
        int fd = -1, other_fd;

        if (!build(&fd, &image))
                return;
        ck_assert(go_functions_open(&go, image));
        ck_assert_int_eq(fstat(fd, &status), 0);
        bytes = malloc((size_t)status.st_size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(pread(fd, bytes, (size_t)status.st_size, 0), status.st_size);
        table = memmem(bytes, (size_t)status.st_size, go.bytes, 64);
        ck_assert_ptr_nonnull(table);
        ck_assert_mem_eq(table + begin_at, &go.text_svma, sizeof(go.text_svma));
        memset(table + begin_at, 0, sizeof(go.text_svma));
        other_fd = memfd_create("filled in", MFD_CLOEXEC);
        ck_assert_int_eq(write(other_fd, bytes, (size_t)status.st_size), status.st_size);
        ck_assert_int_eq(elf_image_open(other_fd, &other, NULL), 0);
        ck_assert(go_functions_open(&filled_in, other));
        ck_assert_uint_eq(filled_in.text_svma, go.text_svma);
        free(bytes);
        elf_image_close(other);
        elf_image_close(image);
        io_close(&other_fd);
        io_close(&fd);
}
END_TEST

/* Go's linker makes the debug information from the same table, which has no lines of inlined code. */
START_TEST(test_functions_have_lines_from_their_first_byte_on)
{
        const struct module_symbols_options options = { .path = NULL };
        struct elf_image *stripped, *whole;
        struct module_symbols *with;
        struct go_functions go;
        struct go_function f;
        uint32_t n_functions = 0, n_found = 0;
        int fd = -1, whole_fd = -1;

        if (!build(&fd, &stripped))
                return;
        build_as("whole", "", &whole_fd, &whole);
        ck_assert_int_eq(module_symbols_open(whole, &options, &with, NULL), 0);
        ck_assert(go_functions_open(&go, stripped));
        for (uint32_t i = 0; i < go.n_functions; i++) {
                struct go_place place;
                const struct symbol *symbols;

                if (!go_functions_get(&go, i, &f))
                        continue;
                n_functions++;
                if (!go_functions_find_place(&go, f.start_svma, &place))
                        continue; /* it begins with inlined code */
                n_found++;
                ck_assert_uint_eq(module_symbols_find(with, f.start_svma, &symbols), 1);
                ck_assert_msg(symbols[0].line == place.line, "%s: line %u, not %u", f.name, place.line,
                              symbols[0].line);
        }
        ck_assert_uint_gt(n_functions, 500);
        ck_assert_uint_gt(n_found, n_functions / 10 * 9);
        module_symbols_close(with);
        elf_image_close(stripped);
        elf_image_close(whole);
        io_close(&fd);
        io_close(&whole_fd);
}
END_TEST

static uint32_t count_differences(const struct unwind_table *one, const struct unwind_table *other,
                                  uint64_t start_svma, uint64_t end_svma)
{
        uint32_t n_differences = 0;

        for (uint64_t svma = start_svma; svma < end_svma; svma++) {
                const struct unwind_rule *a = unwind_table_find(one, svma),
                                         *b = unwind_table_find(other, svma);

                if (!a || !b)
                        n_differences += a != b;
                else
                        n_differences += a->cfa != b->cfa || a->cfa_offset != b->cfa_offset ||
                                         a->ra != b->ra || a->ra_value != b->ra_value || a->fp != b->fp;
        }
        return n_differences;
}

/* Go's linker makes the debug information from the same table. */
START_TEST(test_frames_are_those_of_debug_information)
{
        struct elf_image *stripped, *whole;
        struct unwind_module *without, *with;
        struct go_functions go;
        struct go_function f;
        uint32_t n_bytes = 0, n_differences = 0;
        int fd = -1, whole_fd = -1;

        if (!build(&fd, &stripped))
                return;
        build_as("whole", "", &whole_fd, &whole);
        ck_assert_int_eq(unwind_module_build(stripped, &without, NULL), 0);
        ck_assert_int_eq(unwind_module_build(whole, &with, NULL), 0);
        ck_assert_ptr_nonnull(without->table);
        ck_assert_ptr_nonnull(with->table);
        ck_assert(go_functions_open(&go, stripped));
        for (uint32_t i = 0; i < go.n_functions; i++) {
                if (!go_functions_get(&go, i, &f))
                        continue;
                n_bytes += (uint32_t)(f.end_svma - f.start_svma);
                n_differences += count_differences(without->table, with->table, f.start_svma, f.end_svma);
        }
        ck_assert_uint_gt(n_bytes, 200000);
        ck_assert_uint_eq(n_differences, 0);
        unwind_module_free(without);
        unwind_module_free(with);
        elf_image_close(stripped);
        elf_image_close(whole);
        io_close(&fd);
        io_close(&whole_fd);
}
END_TEST

static void try_table(const struct go_functions *go, uint64_t text_svma)
{
        const struct unwind_code_range code = { .start_svma = text_svma, .end_svma = text_svma + 0x100000 };
        const struct unwind_table_source source = {
                .machine = &unwind_machine_x86_64, .code = &code, .n_code = 1, .go = go
        };
        struct unwind_table *table = NULL;

        if (unwind_table_build(&source, &table, NULL) == 0)
                (void)unwind_table_find(table, text_svma + 0x1000);
        unwind_table_free(table);
}

/* A name without an end would be searched for it at each of a million functions. */
START_TEST(test_names_are_bounded)
{
        struct elf_image *image;
        struct go_functions go;
        struct go_function f;
        uint8_t *bytes;
        int fd = -1;

        if (!build(&fd, &image))
                return;
        ck_assert(go_functions_open(&go, image));
        bytes = malloc(go.n_bytes + (1 << 17));
        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, go.bytes, go.n_bytes);
        memset(bytes + go.n_bytes, 'a', 1 << 17);
        bytes[go.n_bytes + (1 << 17) - 1] = '\0';
        go.bytes = bytes;
        go.names_off = go.n_bytes; /* each name begins among the letters */
        go.n_bytes += 1 << 17;
        ck_assert(go_functions_get_code(&go, 0, &f));
        ck_assert(!go_functions_get(&go, 0, &f));
        bytes[go.n_bytes - (1 << 17) + 60000] = '\0';
        ck_assert(go_functions_get(&go, 0, &f));
        free(bytes);
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

START_TEST(test_damage)
{
        struct elf_image *image;
        struct go_functions whole;
        uint64_t state = 1;
        int fd = -1;

        if (!build(&fd, &image))
                return;
        ck_assert(go_functions_open(&whole, image));
        for (int round = 0; round < 200; round++) {
                struct go_functions go = whole;
                struct go_function f;
                struct go_place place;
                /* An exact size, so that a sanitizer sees reads beyond it. */
                size_t n_bytes = 64 + fixed_random_next(&state) % (whole.n_bytes - 64);
                uint8_t *bytes = malloc(n_bytes);

                ck_assert_ptr_nonnull(bytes);
                memcpy(bytes, whole.bytes, n_bytes);
                for (int i = 0; i < 200; i++)
                        bytes[fixed_random_next(&state) % n_bytes] = (uint8_t)fixed_random_next(&state);
                go.bytes = bytes;
                go.n_bytes = n_bytes;
                for (int i = 0; i < 200; i++) {
                        (void)go_functions_get(&go, (uint32_t)(fixed_random_next(&state) % go.n_functions),
                                               &f);
                        (void)go_functions_find_place(&go, go.text_svma + fixed_random_next(&state) % 0x80000,
                                                      &place);
                }
                if (round % 10 == 0)
                        try_table(&go, whole.text_svma);
                free(bytes);
        }
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 180, .setup = setup, .teardown = teardown);
