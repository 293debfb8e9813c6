/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/function_bounds.c, code_unit.c: functions of a stripped file begin and end where those of
 * the file with symbols do
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_rows.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opened {
        struct elf_image *image;
        struct module_symbols *module;
        int fd;
};

static struct built_files files;

static void setup(void)
{
        static const char *const program =
                "#define PLAIN __attribute__((noinline)) static\n"
                "static inline __attribute__((always_inline)) int twice(volatile int *x) { return *x * 2 + *x; }\n"
                "PLAIN int first(volatile int *x) { *x += twice(x); return *x / 7; }\n"
                "PLAIN int second(volatile int *x) { for (int i = 0; i < *x; i++) *x += twice(x) / 3; return *x; }\n"
                "PLAIN int third(volatile int *x) { return twice(x) + 1; }\n"
                "int shown(volatile int *x) { return first(x) + second(x) - third(x); }\n";

        built_files_init(&files);
        built_files_write(&files, "program.c", program);
}

static void teardown(void)
{
        built_files_deinit(&files);
}

static struct opened open_file(const char *name)
{
        struct opened o = { .fd = -1 };
        const struct module_symbols_options options = { .name = "program" };

        ck_assert_int_eq(regular_file_open(built_files_path(&files, name), &o.fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(o.fd, &o.image, NULL), 0);
        ck_assert_int_eq(module_symbols_open(o.image, &options, &o.module, NULL), 0);
        return o;
}

static void close_file(struct opened *o)
{
        module_symbols_close(o->module);
        elf_image_close(o->image);
        io_close(&o->fd);
}

/* The name of the function that the code at an address is of; "" if there is none. */
static const char *name_at(const struct opened *o, uint64_t svma, uint32_t *ret_flags)
{
        const struct symbol *symbols;
        uint32_t n = module_symbols_find(o->module, svma, &symbols);

        *ret_flags = n > 0 ? symbols[n - 1].flags : 0;
        return n > 0 && symbols[n - 1].function ? symbols[n - 1].function : "";
}

/* Each address of a function of the program, in `whole` and in `other`, has the same range. */
static uint32_t compare_ranges(const struct opened *whole, const struct opened *other, bool is_unnamed)
{
        uint32_t n_compared = 0;

        for (size_t i = 0; i < whole->image->n_segments; i++) {
                const struct elf_image_segment *s = &whole->image->segments[i];

                for (uint64_t svma = s->svma; s->executable && svma < s->svma + s->memory_bytes; svma++) {
                        static const char *const names[] = { "first", "second", "third" };
                        struct function_range x, y;
                        uint32_t flags;
                        char expected[40];
                        bool is_own = false;

                        for (size_t k = 0; k < 3; k++)
                                is_own |= strcmp(name_at(whole, svma, &flags), names[k]) == 0;
                        if (!is_own)
                                continue;
                        ck_assert_int_eq(module_symbols_find_range(whole->module, svma, &x), 1);
                        ck_assert_int_eq(module_symbols_find_range(other->module, svma, &y), 1);
                        ck_assert_uint_eq(x.start_svma, y.start_svma);
                        ck_assert_uint_eq(x.end_svma, y.end_svma);
                        n_compared++;
                        if (!is_unnamed)
                                continue;
                        (void)snprintf(expected, sizeof(expected), "program+0x%" PRIx64, x.start_svma);
                        ck_assert_str_eq(name_at(other, svma, &flags), expected);
                        ck_assert_uint_eq(flags, TRACE_SYMBOL_UNNAMED);
                }
        }
        return n_compared;
}

START_TEST(test_bounds_of_unwind_information)
{
        struct opened whole, stripped;
        uint32_t flags;

        ck_assert(built_files_run(
                &files, "gcc -O1 -shared -fPIC -fasynchronous-unwind-tables -o whole.so program.c && "
                        "strip -o stripped.so whole.so"));
        whole = open_file("whole.so");
        stripped = open_file("stripped.so");
        ck_assert_uint_gt(compare_ranges(&whole, &stripped, true), 30);
        /* An address that belongs to nothing, and a function that .dynsym names. */
        ck_assert_str_eq(name_at(&stripped, 1, &flags), "");
        close_file(&whole);
        close_file(&stripped);
}
END_TEST

START_TEST(test_sections_can_be_stripped)
{
        struct opened whole, stripped;

        if (!built_files_has("llvm-strip"))
                return;
        ck_assert(built_files_run(
                &files, "gcc -O1 -shared -fPIC -fasynchronous-unwind-tables -o whole.so program.c && "
                        "llvm-strip --strip-sections -o stripped.so whole.so"));
        whole = open_file("whole.so");
        stripped = open_file("stripped.so");
        ck_assert_uint_gt(compare_ranges(&whole, &stripped, true), 30);
        close_file(&whole);
        close_file(&stripped);
}
END_TEST

START_TEST(test_bounds_of_debug_information)
{
        struct opened whole, bare;

        ck_assert(built_files_run(
                &files, "gcc -g -O2 -shared -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables "
                        "-o whole.so program.c && "
                        "strip --keep-section='.debug_*' -o bare.so whole.so"));
        whole = open_file("whole.so");
        bare = open_file("bare.so");
        ck_assert_uint_gt(compare_ranges(&whole, &bare, false), 30);
        close_file(&whole);
        close_file(&bare);
}
END_TEST

static const struct {
        const char *path, *name;
} names[] = {
        { "/usr/lib/libruby-3.1.so.3.1.2", "libruby-3.1" },
        { "/usr/lib/libz.so", "libz" },
        { "/usr/bin/xz", "xz" },
        { "/tmp/x.sock.so.1 (deleted)", "x.sock" },
        { "/opt/a.source/b.so.x.so.1", "b" },
        { "/tmp/.so", ".so" },
        { "[vdso]", "[vdso]" },
        { "[image fcd64c31]", "[image fcd64c31]" },
        { "/memfd:code (deleted)", "memfd:code" },
        { "", NULL },
};

START_LOOP_TEST(test_names_of_modules, 0, sizeof(names) / sizeof(names[0]))
{
        char *name = module_symbols_copy_name(names[_i].path, strlen(names[_i].path));

        ck_assert_pstr_eq(name, names[_i].name);
        free(name);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
