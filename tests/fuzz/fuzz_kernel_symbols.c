/* SPDX-License-Identifier: MIT */
/* Fuzz target: any text gives a sorted table in which each symbol finds itself. */
#include "symbolize/kernel/kernel_symbols.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct kernel_symbols kernel = { .symbols = NULL };

        if (kernel_symbols_parse(&kernel, data, n_bytes) == 0)
                for (size_t i = 0; i < kernel.n_symbols; i++) {
                        const char *name = (const char *)kernel.names.data + kernel.symbols[i].name_at;
                        const char *found = kernel_symbols_find(&kernel, kernel.symbols[i].address);

                        if (!found)
                                found = kernel_symbols_find_made(&kernel, kernel.symbols[i].address);
                        if (!found || strcmp(found, name) != 0 ||
                            (i > 0 && kernel.symbols[i - 1].address >= kernel.symbols[i].address))
                                abort();
                }
        kernel_symbols_deinit(&kernel);
        return 0;
}
