/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/plt_table.c: stubs of each machine and linker have the name of the function that they lead to
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/plt_table.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a symbol table, `objdump -d` of binutils names stubs too; these are the ways to have them. */
static const struct {
        const char *needs;
        const char *command;
} ways[] = {
        { "gcc", "gcc -O1 -fPIC -shared -Wl,-z,lazy a.c -o a" },
        { "gcc", "gcc -O1 -fPIC -shared -Wl,-z,now a.c -o a" },
        { "gcc", "gcc -O1 -fPIC -shared -fcf-protection -Wl,-z,ibtplt a.c -o a" },
        { "clang", "clang --target=x86_64-linux-gnu -O1 -fPIC -fuse-ld=lld -shared -nostdlib a.c -o a" },
        { "clang", "clang --target=x86_64-linux-gnu -O1 -fPIC -fuse-ld=lld -shared -nostdlib -fcf-protection "
                   "-Wl,-z,force-ibt a.c -o a" },
        { "clang", "clang --target=aarch64-linux-gnu -O1 -fPIC -fuse-ld=lld -shared -nostdlib a.c -o a" },
        { "clang", "clang --target=aarch64-linux-gnu -O1 -fPIC -fuse-ld=lld -shared -nostdlib "
                   "-mbranch-protection=standard -Wl,-z,force-bti,-z,pac-plt a.c -o a" },
        { "clang", "clang --target=riscv64-linux-gnu -O1 -fPIC -fuse-ld=lld -shared -nostdlib a.c -o a" },
};

static struct built_files files;
static struct elf_image *image;
static int fd = -1;

static void setup(void)
{
        built_files_init(&files);
        built_files_write(&files, "a.c",
                          "int first(int); int second(int); int third(int);\n"
                          "int a(int n) { return first(n) + second(n) + third(n) + 1; }\n");
}

static void teardown(void)
{
        elf_image_close(image);
        image = NULL;
        io_close(&fd);
        built_files_deinit(&files);
}

static void open_image(const char *name)
{
        ck_assert_int_eq(regular_file_open(built_files_path(&files, name), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
}

/* Where the stub of this name is; it must be there once. */
static const struct plt_entry *find_stub(const struct plt_table *table, const char *name)
{
        const struct plt_entry *found = NULL;

        for (size_t i = 0; i < table->n_entries; i++) {
                const char *own = plt_table_find_name(table, &table->entries[i]);

                if (own && strcmp(own, name) == 0)
                        found = &table->entries
                                         /* the last one: with IBT there are two, and this one is called */
                                         [i];
        }
        return found;
}

START_LOOP_TEST(test_machines, 0, sizeof(ways) / sizeof(ways[0]))
{
        static const char *const names[] = { "first@plt", "second@plt", "third@plt" };
        struct plt_table table = { .entries = NULL };

        if (!built_files_has(ways[_i].needs) || !built_files_has("ld.lld"))
                return;
        ck_assert_msg(built_files_run(&files, ways[_i].command), "%s", ways[_i].command);
        open_image("a");
        ck_assert_int_eq(plt_table_load(&table, image->elf), 0);
        for (size_t i = 0; i < 3; i++) {
                const struct plt_entry *stub = find_stub(&table, names[i]);

                ck_assert_msg(stub != NULL, "%s of %s", names[i], ways[_i].command);
                ck_assert_uint_ge(stub->size_bytes, 8);
                ck_assert_uint_le(stub->size_bytes, 24);
        }
        plt_table_deinit(&table);
}
END_TEST

/*
 * The stubs that objdump sees, at the same addresses.  Stubs of AArch64 with `bti c`, as in Debian 13's bash,
 * have 24 bytes, but objdump 2.44 gives each 16: only the names are compared then.
 */
START_TEST(test_agrees_with_objdump)
{
        struct plt_table table = { .entries = NULL };
        bool has_bti;
        char line[512];
        unsigned n_stubs = 0;
        FILE *list;

        if (!built_files_has("objdump"))
                return;
        ck_assert(built_files_run(&files,
                                  "cp \"$(command -v bash)\" a && objdump -d a | sed -n 's/^\\([0-9a-f]*\\) "
                                  "<\\([^@]*\\)@.*plt>:$/\\1 \\2@plt/p' >list"));
        has_bti = built_files_run(&files, "readelf -d a | grep -q AARCH64_BTI_PLT");
        open_image("a");
        ck_assert_int_eq(plt_table_load(&table, image->elf), 0);
        list = fopen(built_files_path(&files, "list"), "re");
        ck_assert_ptr_nonnull(list);
        while (fgets(line, sizeof(line), list)) {
                char *end;
                uint64_t svma = strtoull(line, &end, 16);
                const struct plt_entry *stub;

                end[strcspn(end, "\n")] = '\0';
                stub = find_stub(&table, end + 1);
                ck_assert_msg(stub != NULL, "%s", end + 1);
                ck_assert(has_bti || stub->svma == svma);
                n_stubs++;
        }
        (void)fclose(list);
        plt_table_deinit(&table);
        printf("# %u stubs of bash\n", n_stubs);
}
END_TEST

/* Through the whole: demangled, with the suffix; ifuncs of a static program by the function that chooses. */
START_TEST(test_names_of_symbols)
{
        struct plt_table table = { .entries = NULL };
        struct module_symbols *module;
        const struct symbol *symbols;
        const struct plt_entry *stub;

        if (!built_files_has("g++"))
                return;
        built_files_write(&files, "b.cc",
                          "namespace n { int far(int); } int b(int x) { return n::far(x) + 1; }\n");
        ck_assert(built_files_run(&files, "g++ -O1 -fPIC -shared b.cc -o b && strip b"));
        open_image("b");
        ck_assert_int_eq(plt_table_load(&table, image->elf), 0);
        stub = find_stub(&table, "_ZN1n3farEi@plt");
        ck_assert_ptr_nonnull(stub);
        ck_assert_int_eq(
                module_symbols_open(image, &(struct module_symbols_options){ .path = NULL }, &module, NULL),
                0);
        ck_assert_uint_eq(module_symbols_find(module, stub->svma + 5, &symbols), 1);
        ck_assert_str_eq(symbols[0].function, "n::far(int)@plt");
        module_symbols_close(module);
        plt_table_deinit(&table);
}
END_TEST

/* Every byte of the tables that stubs are found by is changed once: other names or none, nothing worse. */
START_TEST(test_damaged)
{
        size_t n_bytes;
        const char *bytes;

        if (!built_files_has("gcc"))
                return;
        ck_assert(built_files_run(&files, "gcc -O1 -fPIC -shared -nostdlib a.c -o a && strip a"));
        open_image("a");
        bytes = elf_rawfile(image->elf, &n_bytes);
        ck_assert_ptr_nonnull(bytes);
        for (size_t at = 0; at < n_bytes; at += 3) {
                struct plt_table table = { .entries = NULL };
                uint8_t *changed = malloc(n_bytes);
                struct elf_image *other;

                ck_assert_ptr_nonnull(changed);
                memcpy(changed, bytes, n_bytes);
                changed[at] ^= 0xff;
                if (elf_image_open_memory(changed, n_bytes, &other, NULL) == 0) {
                        ck_assert_int_eq(plt_table_load(&table, other->elf), 0);
                        plt_table_deinit(&table);
                        elf_image_close(other);
                }
                free(changed);
        }
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
