/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as an image in a process's memory give headers that stay within
 * their limits, or an error.
 */
#include "sampler/keep/elf_header.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct elf_header_section section;
        struct elf_header header;
        uint64_t svma;
        size_t at = 0;

        if (n_bytes >= ELF_HEADER_SECTION_BYTES)
                elf_header_section_read(data, &section);
        if (elf_header_read(data, n_bytes, &header) < 0)
                return 0;
        if (header.n_bytes > n_bytes || header.n_segments > ELF_HEADER_SEGMENTS_MAX ||
            elf_header_count_bytes(&header) < header.n_bytes)
                abort();
        while (elf_header_next_code(&header, &at))
                if (at > header.n_segments)
                        abort();
        (void)elf_header_find_svma(&header, 0, &svma);
        return 0;
}
