/* SPDX-License-Identifier: MIT */
/* Fuzz target: the build-id that is found in any bytes lies within them. */
#include "sampler/keep/build_id_note.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        const uint8_t *id = NULL;
        size_t n = build_id_note_find(data, n_bytes, &id);

        if (n > 0 && (!build_id_note_is_elf(data, n_bytes) || id < data || n > n_bytes ||
                      (size_t)(id - data) > n_bytes - n))
                abort();
        return 0;
}
