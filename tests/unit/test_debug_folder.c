/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debug_file_search.c: a folder's file names a stripped image without a build-id by its code,
 * and only by the same code
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct built_files files;

static void setup(void)
{
        built_files_init(&files);
        built_files_write(
                &files, "program.c",
                "__attribute__((noinline)) static int hidden(volatile int *x) { *x += N; return *x / 7; }\n"
                "int shown(volatile int *x) { return hidden(x) + 1; }\n");
        ck_assert(built_files_run(
                &files, "mkdir dbg && "
                        "gcc -g -O1 -DN=3 -shared -fPIC -Wl,--build-id=none -o whole.so program.c && "
                        "gcc -g -O1 -DN=4 -shared -fPIC -Wl,--build-id=none -o dbg/a.so program.c && "
                        "echo text > dbg/b.so && strip -o stripped.so whole.so"));
}

static void teardown(void)
{
        built_files_deinit(&files);
}

/* How many addresses of the stripped file are in hidden(). */
static uint32_t count_hidden(void)
{
        const char *const dir = built_files_path(&files, "dbg");
        const struct symbol_search search = { .debug_dirs = { dir }, .n_debug_dirs = 1 };
        /* The path that it was mapped by is no help, as for an image without a file. */
        const struct module_symbols_options options = { .search = &search };
        struct module_symbols *module;
        const struct symbol *symbols;
        struct elf_image *image;
        uint32_t n_hidden = 0;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(built_files_path(&files, "stripped.so"), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(module_symbols_open(image, &options, &module, NULL), 0);
        for (uint64_t svma = 0; svma < 0x4000; svma++)
                if (module_symbols_find(module, svma, &symbols) > 0 && symbols[0].function &&
                    strcmp(symbols[0].function, "hidden") == 0)
                        n_hidden++;
        module_symbols_close(module);
        elf_image_close(image);
        io_close(&fd);
        return n_hidden;
}

START_TEST(test_same_code)
{
        ck_assert_uint_eq(count_hidden(), 0); /* that of the other number is not believed */
        ck_assert(built_files_run(&files, "cp whole.so dbg/any-name"));
        ck_assert_uint_gt(count_hidden(), 10);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
