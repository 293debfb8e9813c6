/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/split_function.h"

#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JUMPS_MAX 65536 /* those after are not looked at */

/* Addresses of instructions that jump into the function, in order for each segment. */
struct jumps {
        uint64_t *svma; /* heap, owned */
        size_t n;
};

/* Where the jump at @bytes leads, from its own address on; 0 = it is none that is known. */
static int64_t jump_distance_x86(const uint8_t *bytes, size_t n_left)
{
        bool is_conditional = n_left >= 6 && bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80;
        size_t opcode_bytes = is_conditional ? 2 : 1;
        int32_t distance;

        if (!is_conditional && (n_left < 5 || bytes[0] != 0xe9))
                return 0;
        memcpy(&distance, bytes + opcode_bytes, sizeof(distance));
        return (int64_t)distance + (int64_t)(opcode_bytes + sizeof(distance));
}

static int64_t jump_distance_aarch64(const uint8_t *bytes, size_t n_left)
{
        uint32_t word;

        if (n_left < sizeof(word))
                return 0;
        memcpy(&word, bytes, sizeof(word));
        if ((word & 0xfc000000) == 0x14000000)                            /* b */
                return (int64_t)((uint64_t)word << 38) >> 38 << 2;        /* 26 bits */
        if ((word & 0xff000010) == 0x54000000)                            /* b.cond */
                return (int64_t)((uint64_t)(word >> 5) << 45) >> 45 << 2; /* 19 bits */
        return 0;
}

static void find_jumps(const uint8_t *bytes, size_t n_bytes, uint64_t svma, bool is_arm,
                       const struct function_bound *part, struct jumps *jumps)
{
        for (size_t i = 0; i < n_bytes && jumps->n < JUMPS_MAX; i += is_arm ? 4 : 1) {
                uint64_t at = svma + i, target;
                int64_t distance = is_arm ? jump_distance_aarch64(bytes + i, n_bytes - i)
                                          : jump_distance_x86(bytes + i, n_bytes - i);

                target = at + (uint64_t)distance;
                if (distance != 0 && target > part->start_svma && target < part->end_svma &&
                    (at < part->start_svma || at >= part->end_svma))
                        jumps->svma[jumps->n++] = at;
        }
}

static int compare_svma(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

/* The piece of code that most of them are in. */
static bool choose_bound(const struct function_bounds *bounds, const struct jumps *jumps,
                         struct function_bound *ret_other)
{
        size_t most = SPLIT_FUNCTION_JUMPS_MIN - 1, n;

        for (size_t i = 0; i < jumps->n; i += n) {
                const struct function_bound *bound = function_bounds_find(bounds, jumps->svma[i]);

                for (n = 1; bound && i + n < jumps->n && jumps->svma[i + n] < bound->end_svma; n++)
                        ;
                if (bound && n > most) {
                        most = n;
                        *ret_other = *bound;
                }
        }
        return most >= SPLIT_FUNCTION_JUMPS_MIN;
}

static void find_all_jumps(const struct elf_image *image, bool is_arm, const struct function_bound *part,
                           struct jumps *jumps)
{
        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *segment = &image->segments[i];
                const Elf_Data *data = segment->executable && segment->file_off <= INT64_MAX
                                               ? elf_getdata_rawchunk(image->elf, (int64_t)segment->file_off,
                                                                      segment->file_bytes, ELF_T_BYTE)
                                               : NULL;

                if (data && data->d_buf)
                        find_jumps(data->d_buf, data->d_size, segment->svma, is_arm, part, jumps);
        }
        qsort(jumps->svma, jumps->n, sizeof(*jumps->svma), compare_svma);
}

bool split_function_find(const struct elf_image *image, const struct function_bound *part,
                         struct function_bound *ret_other)
{
        struct function_bounds bounds = { .n_rows = 0 };
        struct jumps jumps = { .svma = NULL };
        bool found = false;
        GElf_Ehdr header;

        if (!gelf_getehdr(image->elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB ||
            (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
                return false;
        jumps.svma = malloc(JUMPS_MAX * sizeof(*jumps.svma));
        if (jumps.svma && function_bounds_load(&bounds, image) == 0) {
                find_all_jumps(image, header.e_machine == EM_AARCH64, part, &jumps);
                found = choose_bound(&bounds, &jumps, ret_other);
        }
        function_bounds_deinit(&bounds);
        free(jumps.svma);
        return found;
}
