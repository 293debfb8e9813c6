/* SPDX-License-Identifier: MIT */
/*
 * symbolize_addresses [--debug-dir DIR]... [--time] FILE < addresses
 *
 * Prints for each address of an ELF file, as the file states addresses and in hexadecimal, what is there: function,
 * then file:line:column, of each call that is inlined there, innermost first, and an empty line.  That is the form of
 * `llvm-symbolizer --inlines`; "??" is unknown.  --time says on stderr how long opening and answering took.
 */
#include "base/error.h"
#include "symbolize/elf_image.h"
#include "symbolize/module_symbols.h"
#include "symbolize/symbol_search.h"
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_chain(const struct symbol *symbols, uint32_t n_symbols)
{
        for (uint32_t i = 0; i < n_symbols; i++) {
                const struct symbol *s = &symbols[i];

                (void)printf("%s\n%s:%" PRIu32 ":%" PRIu32 "\n", s->function ? s->function : "??",
                             s->file ? s->file : "??", s->line, s->column);
        }
        if (n_symbols == 0)
                (void)puts("??\n??:0:0");
        (void)puts("");
}

static uint64_t answer(struct module_symbols *module)
{
        uint64_t n = 0;
        char line[64];

        for (; fgets(line, sizeof(line), stdin); n++) {
                const struct symbol *symbols = NULL;
                uint32_t n_symbols = module_symbols_find(module, strtoull(line, NULL, 16), &symbols);

                print_chain(symbols, n_symbols);
        }
        return n;
}

static int symbolize(const char *path, const struct symbol_search *search, bool shows_time)
{
        struct module_symbols_options options = { .path = path, .search = search };
        struct module_symbols *module = NULL;
        struct elf_image *image = NULL;
        struct error err = ERROR_NONE;
        double began = seconds_now(), opened;
        uint64_t n;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        int r = fd < 0 ? error_errno(&err, "open") : elf_image_open(fd, &image, &err);

        if (r == 0)
                r = module_symbols_open(image, &options, &module, &err);
        if (r < 0) {
                (void)fprintf(stderr, "symbolize_addresses: %s: %s\n", path, err.text);
        } else {
                opened = seconds_now();
                n = answer(module);
                if (shows_time)
                        (void)fprintf(stderr, "open %.4f s, %" PRIu64 " addresses %.4f s\n", opened - began,
                                      n, seconds_now() - opened);
        }
        module_symbols_close(module);
        elf_image_close(image);
        if (fd >= 0)
                (void)close(fd);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
        static const struct option known[] = { { "debug-dir", required_argument, NULL, 'd' },
                                               { "time", no_argument, NULL, 't' },
                                               { NULL, 0, NULL, 0 } };
        struct symbol_search search = { .n_debug_dirs = 0 };
        bool shows_time = false;
        int c;

        while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
                if (c == 'd' && search.n_debug_dirs < SYMBOL_SEARCH_FOLDERS_MAX)
                        search.debug_dirs[search.n_debug_dirs++] = optarg;
                else if (c == 't')
                        shows_time = true;
                else
                        return 2;
        }
        if (optind + 1 != argc) {
                (void)fputs("usage: symbolize_addresses [--debug-dir DIR]... [--time] FILE < addresses\n",
                            stderr);
                return 2;
        }
        return symbolize(argv[optind], search.n_debug_dirs > 0 ? &search : NULL, shows_time);
}
