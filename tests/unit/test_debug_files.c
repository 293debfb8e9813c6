/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/debug_files.c: separate debug files are found where they belong, and never
 * believed if they do not
 */
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 512

static __attribute__((noinline)) int resolved_function(volatile int *x)
{
        *x += 1;
        return *x;
}

static char folder[] = "/tmp/hyprof-debug-XXXXXX";
static char *own_path;
static uint64_t file_offset; /* of resolved_function() */

/* Runs a program with up to five arguments; returns its exit status. */
static int execute(const char *program, const char *const *arguments)
{
        char *argv[8] = { strdup(program) };
        pid_t pid;
        int status = -1;

        for (size_t i = 0; arguments[i] && i < 6; i++)
                argv[i + 1] = strdup(arguments[i]);
        if (posix_spawnp(&pid, program, NULL, NULL, argv, environ) == 0)
                (void)waitpid(pid, &status, 0);
        for (size_t i = 0; argv[i]; i++)
                free(argv[i]);
        return status;
}

#define EXECUTE(program, ...) execute(program, (const char *const[]){ __VA_ARGS__, NULL })

/* A path in the folder; in a ring of four buffers. */
static const char *in_folder(const char *name)
{
        static char paths[4][PATH_BYTES];
        static unsigned next;
        char *path = paths[next++ % 4];

        (void)snprintf(path, PATH_BYTES, "%s/%s", folder, name);
        return path;
}

static void setup(void)
{
        memset(folder + strlen(folder) - 6, 'X', 6);
        ck_assert_ptr_nonnull(mkdtemp(folder));
        own_path = own_code_path();
        file_offset = own_code_file_offset((uint64_t)resolved_function);
}

static void teardown(void)
{
        ck_assert_int_eq(EXECUTE("rm", "-rf", folder), 0);
        free(own_path);
}

/* "program" without symbols, with a link to @link; its debug information goes to the file @debug. */
static void split(const char *debug, const char *link)
{
        char option[PATH_BYTES];

        ck_assert_int_eq(EXECUTE("objcopy", "--only-keep-debug", own_path, in_folder(link)), 0);
        (void)snprintf(option, sizeof(option), "--add-gnu-debuglink=%s", in_folder(link));
        ck_assert_int_eq(EXECUTE("objcopy", "--strip-all", option, own_path, in_folder("program")), 0);
        if (strcmp(debug, link) != 0)
                ck_assert_int_eq(rename(in_folder(link), in_folder(debug)), 0);
}

/*
 * The answer of the symbols of "program" for resolved_function(): its line, 0 without a
 * line, -1 without its name.
 */
static int find_line(void)
{
        const char *path = in_folder("program");
        struct module_symbols *module;
        const struct symbol *symbols;
        struct elf_image *image;
        uint64_t svma;
        int line = -1;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(
                module_symbols_open(image, &(struct module_symbols_options){ .path = path }, &module, NULL),
                0);
        ck_assert(elf_image_find_svma(image, file_offset, &svma));
        if (module_symbols_find(module, svma, &symbols) > 0 && symbols[0].function &&
            strcmp(symbols[0].function, "resolved_function") == 0)
                line = (int)symbols[0].line;
        module_symbols_close(module);
        elf_image_close(image);
        io_close(&fd);
        return line;
}

START_TEST(test_stripped_program_has_no_name)
{
        ck_assert_int_eq(EXECUTE("objcopy", "--strip-all", own_path, in_folder("program")), 0);
        ck_assert_int_eq(find_line(), -1);
}
END_TEST

START_TEST(test_debug_file_beside_the_program)
{
        split("program.debug", "program.debug");
        ck_assert_int_gt(find_line(), 0);
}
END_TEST

START_TEST(test_debug_file_in_the_folder_for_them)
{
        ck_assert_int_eq(mkdir(in_folder(".debug"), 0700), 0);
        split(".debug/program.debug", "program.debug");
        ck_assert_int_gt(find_line(), 0);
}
END_TEST

/* loop test: the file is there at first, or comes later; symbols and lines are of one file, or of none */
START_LOOP_TEST(test_debug_file_is_looked_for_once, 0, 2)
{
        struct debug_files_symbols before[DEBUG_FILES_SYMBOL_SOURCES], after[DEBUG_FILES_SYMBOL_SOURCES];
        bool is_there = _i == 0;
        const struct debug_sections *sections;
        struct debug_files *files;
        struct elf_image *image;
        uint64_t bias;
        int fd = -1;
        size_t n;

        split(is_there ? "program.debug" : "away.debug", "program.debug");
        ck_assert_int_eq(regular_file_open(in_folder("program"), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(debug_files_open(image, in_folder("program"), NULL, &files, NULL), 0);
        n = debug_files_find_symbols(files, before);
        ck_assert_int_eq(before[0].elf != image->elf, is_there);
        if (!is_there)
                ck_assert_int_eq(rename(in_folder("away.debug"), in_folder("program.debug")), 0);
        ck_assert_int_eq(debug_files_find_sections(files, &sections, &bias, NULL), is_there);
        ck_assert_uint_eq(debug_files_find_symbols(files, after), n);
        for (size_t i = 0; i < n; i++)
                ck_assert_ptr_eq(after[i].elf, before[i].elf);
        debug_files_close(files);
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

/* A file of the right name that is another program's. */
START_TEST(test_debug_file_of_another_build_is_not_believed)
{
        split("away.debug", "program.debug");
        ck_assert_int_eq(EXECUTE("objcopy", "--only-keep-debug", "--remove-section=.note.gnu.build-id",
                                 own_path, in_folder("program.debug")),
                         0);
        ck_assert_int_eq(find_line(), -1);
}
END_TEST

/* Without a build-id the checksum in the link decides. */
START_TEST(test_checksum_decides_without_build_id)
{
        FILE *debug;

        split("program.debug", "program.debug");
        ck_assert_int_eq(EXECUTE("objcopy", "--remove-section=.note.gnu.build-id", in_folder("program")), 0);
        ck_assert_int_gt(find_line(), 0);
        debug = fopen(in_folder("program.debug"), "ae");
        ck_assert_ptr_nonnull(debug);
        ck_assert_int_eq(fputc('x', debug), 'x');
        (void)fclose(debug);
        ck_assert_int_eq(find_line(), -1);
}
END_TEST

/* A FIFO of the right name would block a program that opens it. */
START_TEST(test_fifo_as_debug_file)
{
        split("away.debug", "program.debug");
        ck_assert_int_eq(mkfifo(in_folder("program.debug"), 0600), 0);
        ck_assert_int_eq(find_line(), -1);
}
END_TEST

/* Moves the begin of the file's first segment by some bytes, as objcopy did to files without contents. */
static void move_first_segment(const char *path, uint64_t n_bytes)
{
        int fd = open(path, O_RDWR | O_CLOEXEC);
        Elf64_Phdr segment = { .p_type = PT_NULL };
        Elf64_Ehdr header;
        off_t at;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
        at = (off_t)header.e_phoff - (off_t)sizeof(segment);
        while (segment.p_type != PT_LOAD) {
                at += (off_t)sizeof(segment);
                ck_assert_int_eq(pread(fd, &segment, sizeof(segment), at), sizeof(segment));
        }
        segment.p_vaddr += n_bytes;
        ck_assert_int_eq(pwrite(fd, &segment, sizeof(segment), at), sizeof(segment));
        io_close(&fd);
}

/*
 * loop test: the names of local functions, compressed into a section, as distributions ship them; whatever
 * the packed file's segments are, or else whatever its ".text" is.
 */
static const struct {
        uint64_t moved_bytes;
        const char *text; /* the section that is called so in the packed file */
} packed[] = { { 0, ".text" }, { 0x30, ".text" }, { 0x2030, ".text" }, { 0x30, ".init" } };

START_LOOP_TEST(test_packed_symbol_table, 0, sizeof(packed) / sizeof(packed[0]))
{
        char option[PATH_BYTES];

        if (EXECUTE("xz", "--version") != 0) {
                printf("test_packed_symbol_table skipped: xz is not installed\n");
                return;
        }
        ck_assert_int_eq(
                EXECUTE("objcopy", "--only-keep-debug", "--strip-debug", own_path, in_folder("packed")), 0);
        (void)snprintf(option, sizeof(option), "%s=.text", packed[_i].text);
        if (strcmp(packed[_i].text, ".text") != 0)
                ck_assert_int_eq(EXECUTE("objcopy", "--rename-section", ".text=.code", "--rename-section",
                                         option, in_folder("packed")),
                                 0);
        move_first_segment(in_folder("packed"), packed[_i].moved_bytes);
        ck_assert_int_eq(EXECUTE("xz", in_folder("packed")), 0);
        (void)snprintf(option, sizeof(option), ".gnu_debugdata=%s", in_folder("packed.xz"));
        ck_assert_int_eq(
                EXECUTE("objcopy", "--strip-all", "--add-section", option, own_path, in_folder("program")),
                0);
        ck_assert_int_eq(find_line(), 0);
}
END_TEST

/* loop test: debug information compressed in each way that objcopy knows */
START_LOOP_TEST(test_compressed_sections, 0, 2)
{
        static const char *const ways[] = { "--compress-debug-sections=zlib",
                                            "--compress-debug-sections=zlib-gnu" };

        ck_assert_int_eq(EXECUTE("objcopy", ways[_i], own_path, in_folder("program")), 0);
        ck_assert_int_gt(find_line(), 0);
}
END_TEST

static void begin(int argc, char **argv)
{
        volatile int x = 0;

        (void)argc, (void)argv;
        if (resolved_function(&x) != 1)
                exit(EXIT_FAILURE); /* it has to be in the program to be found there */
        if (EXECUTE("objcopy", "--version") != 0)
                unit_test_skip_all("objcopy is not installed");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown, .begin = begin);
