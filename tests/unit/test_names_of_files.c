/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/module_symbols.c: names that look like C's are read as those of Ada or Nim in files that
 * have a function of that language, with debug information and without; as C's in all others.  Variables name
 * no code
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

/* Whether any code of the file is of a function that is shown as @name. */
static bool has_function(const struct elf_image *image, struct module_symbols *module, const char *name)
{
        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];

                for (uint64_t at = 0; s->executable && at < s->memory_bytes; at++) {
                        const struct symbol *symbols;
                        uint32_t n = module_symbols_find(module, s->svma + at, &symbols);

                        if (n > 0 && symbols[n - 1].function && strcmp(symbols[n - 1].function, name) == 0)
                                return true;
                }
        }
        return false;
}

static void expect(const char *path, const char *name, bool is_there)
{
        const struct module_symbols_options options = { .name = "program" };
        struct module_symbols *module;
        struct elf_image *image;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(module_symbols_open(image, &options, &module, NULL), 0);
        ck_assert_msg(has_function(image, module, name) == is_there, "'%s' is %s function", name,
                      is_there ? "no" : "a");
        module_symbols_close(module);
        elf_image_close(image);
        io_close(&fd);
}

static const struct {
        const char *function, *mark, *shown;
} rows[] = {
        { "work__outer", "work___elabb", "work.outer" }, { "hot__fib_18", "NimMain", "fib.hot_18" },
        { "work__outer", "work__setup", "work__outer" }, { "Hot__fib_18", "work___elabb", "Hot__fib_18" },
        { "work__outer", "NimMain", "work__outer" },
};

/* loop test */
START_LOOP_TEST(test_the_files_own_rule_applies, 0, 2 * sizeof(rows) / sizeof(rows[0]))
{
        static const char *const compile[] = { "gcc -shared -fPIC -o library program.c",
                                               "gcc -g -shared -fPIC -o library program.c" };
        struct built_files files;
        char text[256];

        if (!built_files_has("gcc"))
                return;
        built_files_init(&files);
        (void)snprintf(text, sizeof(text), "int %s(int x) { return x * 3; }\nvoid %s(void) {}\n",
                       rows[_i / 2].function, rows[_i / 2].mark);
        built_files_write(&files, "program.c", text);
        ck_assert(built_files_run(&files, compile[_i % 2]));
        expect(built_files_path(&files, "library"), rows[_i / 2].shown, true);
        built_files_deinit(&files);
}
END_TEST

/* The address of a variable of a thread is that in the thread's memory: code has the same ones. */
START_TEST(test_variables_of_threads_name_no_code)
{
        struct built_files files;

        if (!built_files_has("gcc"))
                return;
        built_files_init(&files);
        built_files_write(&files, "program.c",
                          "__thread char of_a_thread[1 << 20];\n"
                          "char *first(void) { return of_a_thread; }\n"
                          "int second(int x) { return x * 3; }\n");
        ck_assert(built_files_run(&files, "gcc -falign-functions=64 -shared -fPIC -o library program.c"));
        expect(built_files_path(&files, "library"), "second", true);
        expect(built_files_path(&files, "library"), "of_a_thread", false);
        built_files_deinit(&files);
}
END_TEST
