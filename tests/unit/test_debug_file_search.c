/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debug_file_search.c: debug files are found in every place for them, in order, and
 * those of dwz by their id
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/debug_files.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct built_files files;
static char folder[BUILT_FILES_PATH_BYTES];

/*
 * bin/program, stripped, with a link to program.debug; the debug file is there, and in `id` by its build-id.
 */
static const char build_all[] =
        "mkdir -p bin id && gcc -g -O1 -Wl,--build-id=sha1 -shared -fPIC a.c -o whole && "
        "objcopy --only-keep-debug whole program.debug && "
        "objcopy --strip-all --add-gnu-debuglink=program.debug whole bin/program && "
        "h=$(readelf -n whole | sed -n 's/.*Build ID: //p') && t=${h#??} && "
        "echo .build-id/${h%$t}/$t.debug >id/path && "
        "gcc -g -O1 -Wl,--build-id=sha1 -shared -fPIC b.c -o other && objcopy --only-keep-debug other other.debug";

static void setup(void)
{
        built_files_init(&files);
        (void)snprintf(folder, sizeof(folder), "%s", built_files_path(&files, "found"));
        built_files_write(&files, "a.c",
                          "struct s { int x, y; }; int a(struct s *s) { return s->x + s->y; }\n");
        built_files_write(&files, "b.c",
                          "struct s { int x, y; }; int b(struct s *s) { return s->x - s->y; }\n");
        ck_assert(built_files_run(&files, build_all));
}

static void teardown(void)
{
        built_files_deinit(&files);
}

/* Moves the debug file to @place in the folder. */
static void put(const char *place)
{
        char command[1024];

        (void)snprintf(command, sizeof(command), "mkdir -p $(dirname %s) && mv program.debug %s", place,
                       place);
        ck_assert_msg(built_files_run(&files, command), "%s", command);
}

/* An image and its debug files. */
struct opened {
        int fd;
        struct elf_image *image;
        struct debug_files *debug;
        char path[BUILT_FILES_PATH_BYTES];
};

/* @path: what the trace says; NULL = where it is. */
static void open_image(struct opened *o, const char *name, const char *path,
                       const struct symbol_search *search)
{
        (void)snprintf(o->path, sizeof(o->path), "%s", path ? path : built_files_path(&files, name));
        ck_assert_int_eq(regular_file_open(built_files_path(&files, name), &o->fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(o->fd, &o->image, NULL), 0);
        ck_assert_int_eq(debug_files_open(o->image, o->path, search, &o->debug, NULL), 0);
}

static void close_image(struct opened *o)
{
        debug_files_close(o->debug);
        elf_image_close(o->image);
        io_close(&o->fd);
}

/* Returns 1 if the debug information of bin/program is found. */
static int find_program(const char *path, const struct symbol_search *search)
{
        const struct debug_sections *sections;
        struct debug_files_symbols tables[DEBUG_FILES_SYMBOL_SOURCES];
        struct opened o;
        uint64_t bias = 1;
        int found;

        open_image(&o, "bin/program", path, search);
        found = debug_files_find_sections(o.debug, &sections, &bias, NULL);
        ck_assert_int_ge(found, 0);
        if (found) {
                ck_assert_uint_eq(bias, 0);
                ck_assert_uint_gt(sections->sections[DEBUG_SECTION_INFO].n_bytes, 0);
                ck_assert_uint_eq(debug_files_find_symbols(o.debug, tables), 1);
        }
        close_image(&o);
        return found;
}

static const char *const places_of_link[] = { "bin/program.debug", "bin/.debug/program.debug" };

START_LOOP_TEST(test_link, 0, sizeof(places_of_link) / sizeof(places_of_link[0]))
{
        ck_assert_int_eq(find_program(NULL, NULL), 0);
        put(places_of_link[_i]);
        ck_assert_int_eq(find_program(NULL, NULL), 1);
}
END_TEST

/* loop test: what a folder of the user may have; the program was /opt/x/program where it was recorded */
static const char *const places_of_user[] = {
        "found/$(cat id/path)", "found/opt/x/program", "found/opt/x/program.debug",
        "found/program",        "found/program.debug", "found/program-1.2",
};

START_LOOP_TEST(test_folder_of_the_user, 0, sizeof(places_of_user) / sizeof(places_of_user[0]))
{
        const struct symbol_search search = { .debug_dirs = { "/gone", folder }, .n_debug_dirs = 2 };

        put(places_of_user[_i]);
        ck_assert_int_eq(find_program("/opt/x/program", NULL), 0);
        ck_assert_int_eq(find_program("/opt/x/program", &search), 1);
}
END_TEST

/* loop test: below a root of another machine */
static const char *const places_of_root[] = {
        "found/usr/lib/debug/$(cat id/path)",
        "found/usr/lib/debug/opt/x/program.debug",
        "found/opt/x/program.debug",
        "found/opt/x/.debug/program.debug",
};

START_LOOP_TEST(test_sysroot, 0, sizeof(places_of_root) / sizeof(places_of_root[0]))
{
        const struct symbol_search search = { .sysroot = folder };

        put(places_of_root[_i]);
        ck_assert_int_eq(find_program("/opt/x/program", NULL), 0);
        ck_assert_int_eq(find_program("/opt/x/program", &search), 1);
}
END_TEST

/* A file of another build in the better place does not hide the right one. */
START_TEST(test_stale_files_are_passed_over)
{
        const struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };

        ck_assert(built_files_run(
                &files,
                "mkdir -p found/.build-id && p=found/$(cat id/path) && mkdir -p $(dirname $p) && "
                "cp other.debug $p && cp other.debug found/program && cp other.debug bin/program.debug"));
        ck_assert_int_eq(find_program(NULL, &search), 0);
        put("found/program.debug");
        ck_assert_int_eq(find_program(NULL, &search), 1);
}
END_TEST

/* The program itself lies in the folder, too: it is the one, but has nothing to say. */
START_TEST(test_file_without_debug_information_does_not_end_the_search)
{
        const struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };

        ck_assert(built_files_run(&files, "mkdir found && objcopy --strip-debug whole found/program"));
        ck_assert_int_eq(find_program(NULL, &search), 0);
        put("found/program.debug");
        ck_assert_int_eq(find_program(NULL, &search), 1);
}
END_TEST

/* Without a build-id and a link, a file without code is known by its layout, names and functions. */
START_TEST(test_file_without_code_is_known_by_its_layout)
{
        const struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };

        ck_assert(built_files_run(
                &files,
                "mkdir found && for i in a b; do gcc -g -O1 -Wl,--build-id=none -shared -fPIC $i.c -o $i.whole && "
                "objcopy --only-keep-debug $i.whole $i.only || exit 1; done && "
                "objcopy --strip-all a.whole bin/program && cp b.only found/any"));
        ck_assert_int_eq(find_program(NULL, &search),
                         0); /* the same code but for one instruction: another export */
        ck_assert(built_files_run(&files, "cp a.only found/some"));
        ck_assert_int_eq(find_program(NULL, NULL), 0);
        ck_assert_int_eq(find_program(NULL, &search), 1);
        ck_assert(built_files_run(&files, "cp a.only found/same"));
        ck_assert_int_eq(find_program(NULL, &search), 1);
        /* Two that describe it, and differ: neither is believed. */
        ck_assert(built_files_run(&files, "objcopy --add-section .other=a.c a.only found/same"));
        ck_assert_int_eq(find_program(NULL, &search), 0);
}
END_TEST

/* A function of another length moves no section here, but the unwind information disagrees. */
START_TEST(test_file_without_code_and_other_functions)
{
        static const char first[] = ".globl f, g\n.type f, @function\n.type g, @function\n.text\n"
                                    "f: .cfi_startproc\n.rept 16\nnop\n.endr\n.cfi_endproc\n.size f, .-f\n"
                                    "g: .cfi_startproc\n.rept 32\nnop\n.endr\n.cfi_endproc\n.size g, .-g\n";
        const struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };

        built_files_write(&files, "f.s", first);
        ck_assert(built_files_run(
                &files,
                "mkdir found && sed 's/^.globl.*//; s/rept 32/rept 30/; s/rept 16/rept 18/' f.s >g.s && "
                "sed -i 's/^.globl.*//' f.s && for i in f g; do "
                "gcc -g -nostdlib -Wl,--build-id=none -shared $i.s -o $i.whole && "
                "objcopy --only-keep-debug $i.whole $i.only || exit 1; done && "
                "objcopy --strip-all f.whole bin/program && cp g.only found/any"));
        ck_assert_int_eq(find_program(NULL, &search), 0);
        ck_assert(built_files_run(&files, "cp f.only found/any"));
        ck_assert_int_eq(find_program(NULL, &search), 1);
}
END_TEST

START_TEST(test_fifo_is_not_opened)
{
        ck_assert(built_files_run(&files, "mkfifo bin/program.debug && ln -s /dev/zero bin/zero"));
        ck_assert_int_eq(find_program(NULL, NULL), 0);
}
END_TEST

/* loop test: GNU's section and that of DWARF 5 */
static const char *const ways_of_dwz[] = { "dwz -m common.debug whole other",
                                           "dwz -5 -m common.debug whole other" };

static int find_common(const struct symbol_search *search)
{
        const struct debug_sections *sections, *common;
        struct opened o;
        uint64_t bias;
        int found;

        open_image(&o, "whole", NULL, search);
        ck_assert_int_eq(debug_files_find_sections(o.debug, &sections, &bias, NULL), 1);
        common = debug_files_find_supplement(o.debug);
        found = common && common->sections[DEBUG_SECTION_INFO].n_bytes > 0;
        close_image(&o);
        return found;
}

START_LOOP_TEST_IF(built_files_has("dwz"), test_supplement, 0, sizeof(ways_of_dwz) / sizeof(ways_of_dwz[0]))
{
        const struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };

        /* Their common part must be large enough to be worth it, and be of one file. */
        ck_assert(built_files_run(
                &files,
                "for i in $(seq 60); do echo \"struct t$i { int first_$i, second_$i; struct t$i *next_$i; };\"; "
                "done >t.h; for f in a b; do { echo '#include \"t.h\"'; for i in $(seq 60); do "
                "echo \"struct t$i *u_${f}_$i;\"; done; cat $f.c; } >x && mv x $f.c; done"));
        ck_assert(built_files_run(&files, build_all));
        ck_assert_msg(built_files_run(&files, ways_of_dwz[_i]), "%s", ways_of_dwz[_i]);
        ck_assert_int_eq(find_common(NULL), 1);
        ck_assert(built_files_run(&files, "mkdir found && mv common.debug found"));
        ck_assert_int_eq(find_common(NULL), 0);
        ck_assert_int_eq(find_common(&search), 1);
        /* Another file of that name. */
        ck_assert(built_files_run(&files, "cp other.debug common.debug"));
        ck_assert_int_eq(find_common(NULL), 0);
}
END_TEST

static void begin(int argc, char **argv)
{
        (void)argc, (void)argv;
        if (!built_files_has("gcc") || !built_files_has("objcopy") || !built_files_has("readelf"))
                unit_test_skip_all("gcc, objcopy or readelf is not installed");
}

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown, .begin = begin);
