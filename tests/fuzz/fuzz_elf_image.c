/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as an ELF file give symbols, lines and inlined calls, or an error; never a crash. */
#include "base/io.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LOOKUPS 64 /* addresses that are asked for, spread over each segment */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Touches what was found, so that a sanitizer sees what is not there. */
static void check_symbols(const struct symbol *symbols, uint32_t n_symbols)
{
        if (n_symbols > SYMBOLIZER_CHAIN_MAX)
                abort();
        for (uint32_t i = 0; i < n_symbols; i++)
                if ((symbols[i].function && strlen(symbols[i].function) > SIZE_MAX / 2) ||
                    (symbols[i].file && strlen(symbols[i].file) > SIZE_MAX / 2))
                        abort();
}

static void look_up(const struct elf_image *image, struct module_symbols *module)
{
        for (size_t i = 0; i < image->n_segments && i < 8; i++) {
                const struct elf_image_segment *s = &image->segments[i];

                for (uint64_t k = 0; k < LOOKUPS; k++) {
                        uint64_t file_off = s->file_off + s->file_bytes / LOOKUPS * k;
                        const struct symbol *symbols;
                        uint64_t svma;
                        uint32_t n_symbols;

                        if (!elf_image_find_svma(image, file_off, &svma))
                                continue;
                        n_symbols = module_symbols_find(module, svma, &symbols);
                        check_symbols(symbols, n_symbols);
                }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        struct module_symbols *module;
        struct elf_image *image;

        if (fd < 0 || io_write_all(fd, data, n_bytes, NULL) < 0)
                abort();
        if (elf_image_open(fd, &image, NULL) == 0) {
                if (module_symbols_open(image, &(struct module_symbols_options){ .name = "image" }, &module,
                                        NULL) == 0) {
                        look_up(image, module);
                        module_symbols_close(module);
                }
                elf_image_close(image);
        }
        io_close(&fd);
        return 0;
}
