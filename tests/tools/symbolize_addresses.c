/* SPDX-License-Identifier: MIT */
/*
 * Symbolizes the hexadecimal addresses of standard input, as llvm-symbolizer does and in its form:
 * for each the chain of inlined functions, a line with the name and one with file:line:column
 * each, then an empty line.
 *
 *   symbolize_addresses [--debug-dir DIR]... [--index INDEX | --save INDEX | --rates N] FILE
 *
 * --index uses a saved index, --save makes one and reads no addresses, --rates measures
 * on N random addresses.
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/code_index.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define OUTPUT_BYTES (1U << 16) /* written at once; a page each time would be a thousand system calls */

struct options {
        const char *path, *index, *save;
        uint64_t n_random;
};

static int fail(const char *what, const struct error *err)
{
        (void)fprintf(stderr, "symbolize_addresses: %s: %s\n", what, err ? err->text : "cannot be read");
        return EXIT_FAILURE;
}

static double now_s(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_number(uint32_t number)
{
        char digits[12];
        size_t at = sizeof(digits);

        do
                digits[--at] = (char)('0' + number % 10);
        while ((number /= 10) > 0);
        (void)fwrite_unlocked(digits + at, 1, sizeof(digits) - at, stdout);
}

static void print_text(const char *text)
{
        if (!text)
                text = "??";
        (void)fwrite_unlocked(text, 1, strlen(text), stdout);
}

/* Without printf(), which took as long as all the lookups. */
static void print_chain(struct module_symbols *module, uint64_t svma)
{
        static const struct symbol unknown = { .function = NULL };
        const struct symbol *symbols = &unknown;
        uint32_t n = module_symbols_find(module, svma, &symbols);

        if (n == 0) {
                symbols = &unknown;
                n = 1;
        }
        for (uint32_t i = 0; i < n; i++) {
                print_text(symbols[i].function);
                (void)putchar_unlocked('\n');
                print_text(symbols[i].file);
                (void)putchar_unlocked(':');
                print_number(symbols[i].line);
                (void)putchar_unlocked(':');
                print_number(symbols[i].column);
                (void)putchar_unlocked('\n');
        }
        (void)putchar_unlocked('\n');
}

/* Addresses of executable segments, the same each time. */
static uint64_t pick_address(const struct elf_image *image, uint64_t *state)
{
        uint64_t n_bytes = 0;

        for (size_t i = 0; i < image->n_segments; i++)
                n_bytes += image->segments[i].executable ? image->segments[i].file_bytes : 0;
        if (n_bytes == 0)
                return 0;
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        n_bytes = *state % n_bytes;
        for (size_t i = 0; i < image->n_segments; i++) {
                if (!image->segments[i].executable)
                        continue;
                if (n_bytes < image->segments[i].file_bytes)
                        return image->segments[i].svma + n_bytes;
                n_bytes -= image->segments[i].file_bytes;
        }
        return 0;
}

static void measure_lookups(const struct elf_image *image, struct module_symbols *module, uint64_t n)
{
        const struct symbol *symbols;
        uint64_t state = 88172645463325252U, n_symbols = 0;
        double start;

        for (int pass = 0; pass < 2; pass++) {
                n_symbols = 0;
                state = 88172645463325252U;
                start = now_s();
                for (uint64_t i = 0; i < n; i++)
                        n_symbols += module_symbols_find(module, pick_address(image, &state), &symbols);
                printf(pass == 0 ? "first_s %.4f\n" : "lookups_per_s %.0f\n",
                       pass == 0 ? now_s() - start : (double)n / (now_s() - start));
        }
        printf("symbols_per_address %.3f\n", (double)n_symbols / (double)n);
}

static int measure_index(const struct elf_image *image, const char *path)
{
        struct code_index_source source = { .first_svma = 1 };
        struct debug_files *files;
        struct code_index *index;
        struct error err;
        double start;

        if (debug_files_open(image, path, NULL, &files, &err) < 0)
                return fail(path, &err);
        if (debug_files_find_sections(files, &source.sections, &source.bias, &err) <= 0)
                return fail("no debug information", NULL);
        source.supplement = debug_files_find_supplement(files);
        start = now_s();
        if (code_index_new(&source, &index, &err) < 0)
                return fail(path, &err);
        printf("directory_s %.4f\n", now_s() - start);
        if (code_index_complete(index, &err) < 0)
                return fail(path, &err);
        printf("index_s %.4f\n", now_s() - start);
        printf("info_bytes %zu\n", source.sections->sections[DEBUG_SECTION_INFO].n_bytes);
        printf("index_bytes %zu\n", code_index_memory(index));
        code_index_free(index);
        debug_files_close(files);
        return 0;
}

static int save(struct module_symbols *module, const char *path)
{
        struct byte_buffer out = { .data = NULL };
        struct error err;
        double start = now_s();
        FILE *f;
        bool is_written;

        if (module_symbols_save(module, &out, &err) < 0)
                return fail(path, &err);
        printf("save_s %.4f\nsaved_bytes %zu\n", now_s() - start, out.used_bytes);
        f = fopen(path, "wbe");
        is_written = f && fwrite(out.data, 1, out.used_bytes, f) == out.used_bytes;
        byte_buffer_deinit(&out);
        if (!f || fclose(f) != 0 || !is_written)
                return fail(path, NULL);
        return 0;
}

static int run(const struct options *o, const struct elf_image *image, struct module_symbols *module)
{
        char line[64];

        if (o->save)
                return save(module, o->save);
        if (o->n_random > 0) {
                measure_lookups(image, module, o->n_random);
                return o->index ? 0 : measure_index(image, o->path);
        }
        (void)setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
        while (fgets(line, sizeof(line), stdin))
                print_chain(module, strtoull(line, NULL, 16));
        return 0;
}

static int map_index(const char *path, struct module_symbols_options *module)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        void *bytes;

        if (fd < 0 || fstat(fd, &status) < 0)
                return -1;
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        io_close(&fd);
        if (bytes == MAP_FAILED)
                return -1;
        module->index = bytes;
        module->index_bytes = (size_t)status.st_size;
        return 0;
}

int main(int argc, char **argv)
{
        static const struct option known[] = { { "index", required_argument, NULL, 'i' },
                                               { "save", required_argument, NULL, 's' },
                                               { "rates", required_argument, NULL, 'r' },
                                               { "debug-dir", required_argument, NULL, 'd' },
                                               { NULL, 0, NULL, 0 } };
        struct symbol_search search = { .n_debug_dirs = 0 };
        struct module_symbols_options options = { .search = &search };
        struct options o = { .path = NULL };
        struct module_symbols *module;
        struct elf_image *image;
        struct error err;
        int fd, status, c;

        while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
                if (c == 'i')
                        o.index = optarg;
                else if (c == 's')
                        o.save = optarg;
                else if (c == 'r')
                        o.n_random = strtoull(optarg, NULL, 10);
                else if (c == 'd' && search.n_debug_dirs < SYMBOL_SEARCH_FOLDERS_MAX)
                        search.debug_dirs[search.n_debug_dirs++] = optarg;
                else
                        return 2;
        }
        o.path = options.path = optind + 1 == argc ? argv[optind] : NULL;
        fd = o.path ? open(o.path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd < 0 || elf_image_open(fd, &image, &err) < 0)
                return fail("FILE", NULL);
        if (o.index && map_index(o.index, &options) < 0)
                return fail(o.index, NULL);
        if (module_symbols_open(image, &options, &module, &err) < 0)
                return fail(o.path, &err);
        status = run(&o, image, module);
        module_symbols_close(module);
        elf_image_close(image);
        io_close(&fd);
        return status;
}
