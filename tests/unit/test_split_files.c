/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/split_files.c, split_unit.c, dwp_index.c: split units are found by their id, in .dwo
 * and .dwp, and no others
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/debug/dwp_index.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/index/split_files.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAS_TOOLS (built_files_has("gcc") && built_files_has("readelf"))

/* What Debian 12 has, or 13. */
#define LLVM_DWP "$(command -v llvm-dwp-14 || echo llvm-dwp-19)"

#define UNITS 2

/* The compilers, and the DWARF that they write. */
static const struct {
        const char *compiler;
        const char *options;
        const char *packer; /* that makes a .dwp of it, or NULL */
} ways[] = {
        { "gcc", "-gdwarf-4", "dwp" },
        { "gcc", "-gdwarf-5", NULL }, /* llvm-dwp 14 does not end on some of these, GNU's dwp 2.40 crashes */
        { "clang", "-gdwarf-4", LLVM_DWP },
        { "clang", "-gdwarf-5", LLVM_DWP },
};

#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

static struct built_files files;

static void setup(void)
{
        built_files_init(&files);
        ck_assert(built_files_run(&files, "mkdir made moved"));
        built_files_write(&files, "made/a.c",
                          "int other(int); int main(int n, char **v) { return other(n) + v[0][0]; }\n");
        built_files_write(
                &files, "made/b.c",
                "static int half(int n) { return n / 2; }\nint other(int n) { return half(n) + 1; }\n");
}

static void teardown(void)
{
        built_files_deinit(&files);
}

/* Builds made/program, its .dwo files beside it.  Returns false if the compiler is not there. */
static bool build(int way)
{
        char command[512];

        if (!built_files_has(ways[way].compiler))
                return false;
        (void)snprintf(
                command, sizeof(command),
                "cd made && for f in a b; do %s -O1 -gsplit-dwarf %s -c $f.c -o $f.o || exit 1; done && "
                "gcc a.o b.o -o program",
                ways[way].compiler, ways[way].options);
        ck_assert(built_files_run(&files, command));
        return true;
}

/* The ids that the skeletons have, as readelf says. */
static void read_ids(const char *program, uint64_t ids[UNITS])
{
        char command[512];
        FILE *list;

        (void)snprintf(command, sizeof(command),
                       "readelf --debug-dump=info -P %s | sed -n 's/.*\\(DWO ID\\|dwo_id\\) *: *0x//p' > ids",
                       program);
        ck_assert(built_files_run(&files, command));
        list = fopen(built_files_path(&files, "ids"), "re");
        ck_assert_ptr_nonnull(list);
        for (unsigned i = 0; i < UNITS; i++) {
                char line[64];

                ck_assert_ptr_nonnull(fgets(line, sizeof(line), list));
                ids[i] = strtoull(line, NULL, 16);
        }
        (void)fclose(list);
}

/* A program and its debug files. */
struct opened {
        int fd;
        struct elf_image *image;
        struct debug_files *debug;
        char path[BUILT_FILES_PATH_BYTES];
};

static void open_program(struct opened *o, const char *name, const struct symbol_search *search)
{
        (void)snprintf(o->path, sizeof(o->path), "%s", built_files_path(&files, name));
        ck_assert_int_eq(regular_file_open(o->path, &o->fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(o->fd, &o->image, NULL), 0);
        ck_assert_int_eq(debug_files_open(o->image, o->path, search, &o->debug, NULL), 0);
}

static void close_program(struct opened *o)
{
        debug_files_close(o->debug);
        elf_image_close(o->image);
        io_close(&o->fd);
}

/* How many of the units of @program are found; each must be the right one and alone. */
static int count_found(const char *program, const char *const names[UNITS],
                       const struct symbol_search *search)
{
        const struct debug_sections *sections, *again;
        uint64_t ids[UNITS];
        struct opened o;
        int n_found = 0;

        read_ids(program, ids);
        open_program(&o, program, search);
        for (unsigned i = 0; i < UNITS; i++) {
                size_t offset, n_bytes;

                if (!debug_files_find_split(o.debug, names[i], built_files_path(&files, "made"), ids[i],
                                            &sections))
                        continue;
                n_found++;
                ck_assert_int_eq(split_unit_find(sections, ids[i], &offset, &n_bytes), 1);
                ck_assert_uint_eq(offset, 0);
                ck_assert_uint_eq(n_bytes, sections->sections[DEBUG_SECTION_INFO].n_bytes);
                ck_assert_ptr_nonnull(sections->sections[DEBUG_SECTION_ABBREV].bytes);
                ck_assert_ptr_nonnull(sections->sections[DEBUG_SECTION_STR_OFFSETS].bytes);
                ck_assert_int_eq(debug_files_find_split(o.debug, names[i], NULL, ids[i], &again), 1);
                ck_assert_ptr_eq(sections, again);
        }
        ck_assert_int_eq(debug_files_find_split(o.debug, names[0], built_files_path(&files, "made"),
                                                ids[0] ^ ids[1] ^ 1, &sections),
                         0);
        close_program(&o);
        return n_found;
}

static const char *const object_names[UNITS] = { "a.dwo", "b.dwo" };
static const char *const no_names[UNITS] = { "", "gone/away.dwo" };

/* loop test: where the compiler left them, whatever became of the program */
START_LOOP_TEST_IF(HAS_TOOLS, test_object_where_it_was_made, 0, WAYS)
{
        if (!build(_i))
                return;
        ck_assert_int_eq(count_found("made/program", object_names, NULL), UNITS);
        ck_assert(built_files_run(&files, "mv made/program moved"));
        ck_assert_int_eq(count_found("moved/program", object_names, NULL), UNITS);
}
END_TEST

START_LOOP_TEST_IF(HAS_TOOLS, test_object_beside_the_program, 0, WAYS)
{
        if (!build(_i))
                return;
        ck_assert(built_files_run(&files, "mv made/program made/*.dwo moved"));
        ck_assert_int_eq(count_found("moved/program", object_names, NULL), UNITS);
        ck_assert_int_eq(
                count_found("moved/program", (const char *const[]){ "/gone/a.dwo", "x/y/b.dwo" }, NULL),
                UNITS);
}
END_TEST

START_LOOP_TEST_IF(HAS_TOOLS, test_object_in_folder_of_the_user, 0, WAYS)
{
        char folder[BUILT_FILES_PATH_BYTES];
        struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };

        (void)snprintf(folder, sizeof(folder), "%s", built_files_path(&files, "moved"));
        if (!build(_i))
                return;
        ck_assert(built_files_run(&files, "mv made/*.dwo moved"));
        ck_assert_int_eq(count_found("made/program", object_names, NULL), 0);
        ck_assert_int_eq(count_found("made/program", object_names, &search), UNITS);
}
END_TEST

START_LOOP_TEST_IF(HAS_TOOLS, test_object_of_another_build_is_not_believed, 0, WAYS)
{
        if (!build(_i))
                return;
        ck_assert(built_files_run(&files, "mv made/program moved"));
        built_files_write(&files, "made/b.c",
                          "int other(int n) { return n - 1; }\nint third(int n) { return n; }\n");
        ck_assert(
                build(_i)); /* ids of gcc are new each time, those of clang of what did not change are not */
        /* An unchanged file has its id still, but gcc gives a new one each time. */
        ck_assert_int_eq(count_found("moved/program", object_names, NULL),
                         strcmp(ways[_i].compiler, "clang") == 0);
}
END_TEST

START_LOOP_TEST_IF(HAS_TOOLS, test_package, 0, WAYS)
{
        char folder[BUILT_FILES_PATH_BYTES];
        struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };
        char command[512];

        if (!ways[_i].packer || !built_files_has(ways[_i].packer) || !build(_i))
                return;
        (void)snprintf(command, sizeof(command), "cd made && %s -e program -o program.dwp && rm *.dwo",
                       ways[_i].packer);
        ck_assert(built_files_run(&files, command));
        ck_assert_int_eq(count_found("made/program", no_names, NULL), UNITS);
        ck_assert(built_files_run(&files, "mv made/program.dwp moved"));
        ck_assert_int_eq(count_found("made/program", no_names, NULL), 0);
        (void)snprintf(folder, sizeof(folder), "%s", built_files_path(&files, "moved"));
        ck_assert_int_eq(count_found("made/program", no_names, &search), UNITS);
}
END_TEST

/*
 * An index of version 2 with two slots: one unit, id 0x10, whose INFO is bytes 4 to 12 and whose ABBREV all.
 */
static const uint8_t small_index[] = {
        2,    0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, /* version, columns, units, slots */
        0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* ids */
        1,    0, 0, 0, 0, 0, 0, 0,                         /* rows */
        1,    0, 0, 0, 3, 0, 0, 0,                         /* INFO, ABBREV */
        4,    0, 0, 0, 0, 0, 0, 0,                         /* offsets */
        8,    0, 0, 0, 3, 0, 0, 0,                         /* sizes */
};

static int find_in_index(const uint8_t *index, size_t index_bytes, uint64_t dwo_id,
                         struct debug_sections *ret_unit)
{
        static const uint8_t info[12], abbrev[3];
        struct debug_sections whole = { .is_big_endian = false };

        whole.sections[DEBUG_SECTION_CU_INDEX] = (struct debug_section_bytes){ index, index_bytes, NULL };
        whole.sections[DEBUG_SECTION_INFO] = (struct debug_section_bytes){ info, sizeof(info), NULL };
        whole.sections[DEBUG_SECTION_ABBREV] = (struct debug_section_bytes){ abbrev, sizeof(abbrev), NULL };
        return dwp_index_find(&whole, dwo_id, ret_unit);
}

START_TEST(test_index)
{
        struct debug_sections unit;

        ck_assert_int_eq(find_in_index(small_index, sizeof(small_index), 0x10, &unit), 1);
        ck_assert_uint_eq(unit.sections[DEBUG_SECTION_INFO].n_bytes, 8);
        ck_assert_uint_eq(unit.sections[DEBUG_SECTION_ABBREV].n_bytes, 3);
        ck_assert_int_eq(find_in_index(small_index, sizeof(small_index), 0x11, &unit), 0);
        ck_assert_int_eq(find_in_index(small_index, sizeof(small_index), 0, &unit), 0);
        for (size_t n = 0; n < sizeof(small_index); n++) {
                uint8_t *cut = malloc(n + 1); /* so that a read past the end is seen */

                ck_assert_ptr_nonnull(cut);
                memcpy(cut, small_index, n);
                ck_assert_int_eq(find_in_index(cut, n, 0x10, &unit), 0);
                free(cut);
        }
}
END_TEST

START_TEST(test_index_that_leads_out)
{
        static const struct {
                size_t at;
                uint8_t value;
        } changes[] = {
                { 0, 3 },    /* version */
                { 4, 0 },    /* columns */
                { 5, 1 },    /* columns */
                { 11, 255 }, /* units */
                { 12, 3 },   /* slots that are no power of two */
                { 32, 2 },   /* row */
                { 48, 5 },   /* an INFO that ends outside */
                { 51, 255 }, /* an INFO that begins outside */
                { 56, 0 },   /* no INFO */
                { 60, 4 },   /* an ABBREV that is too long */
        };

        for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
                uint8_t index[sizeof(small_index)];
                struct debug_sections unit;

                memcpy(index, small_index, sizeof(index));
                index[changes[i].at] = changes[i].value;
                ck_assert_msg(find_in_index(index, sizeof(index), 0x10, &unit) == 0, "change %zu", i);
        }
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
