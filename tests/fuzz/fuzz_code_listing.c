/* SPDX-License-Identifier: MIT */
/* Fuzz target: what a disassembling child sends is refused, or its ids and ranges all lie within it. */
#include "symbolize/listing/code_listing.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct code_listing listing;
        size_t n = 0;

        code_listing_init(&listing);
        if (code_listing_decode(&listing, data, n_bytes, NULL) == 0) {
                for (size_t p = 0; p < listing.n_parts; p++)
                        n += listing.parts[p].n_instructions;
                if (n != listing.n_instructions)
                        abort();
                for (size_t i = 0; i < listing.n_instructions; i++) {
                        const struct listing_instruction *row = &listing.instructions[i];

                        if (row->text > listing.strings.n_items ||
                            (size_t)row->first_symbol + row->n_symbols > listing.n_symbols)
                                abort();
                }
        }
        code_listing_deinit(&listing);
        return 0;
}
