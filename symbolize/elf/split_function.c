/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/split_function.h"

#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TARGETS_MAX 65536               /* those after are not looked at */
#define BYTES_MAX   (UINT64_C(1) << 26) /* of all pieces that are looked at */

/* A piece of code. */
struct piece {
        const uint8_t *bytes; /* borrowed of the image */
        size_t n_bytes;
        uint64_t svma;
        bool is_arm;
};

/* The distance from the jump at @bytes to its target; 0 = the bytes are no known jump. */
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

/*
 * Finds the target of the next jump from *@at on, and steps over the jump.  Returns false if there is none.
 */
static bool next_jump(const struct piece *piece, size_t *at, uint64_t *ret_target)
{
        int64_t distance = 0;

        while (distance == 0 && *at < piece->n_bytes) {
                const uint8_t *bytes = piece->bytes + *at;
                size_t n_left = piece->n_bytes - *at;

                distance = piece->is_arm ? jump_distance_aarch64(bytes, n_left)
                                         : jump_distance_x86(bytes, n_left);
                *ret_target = piece->svma + *at + (uint64_t)distance;
                *at += piece->is_arm ? 4 : 1;
        }
        return distance != 0;
}

/* Returns false if the image does not have these bytes. */
static bool load_piece(const struct elf_image *image, const struct function_bound *bound,
                       struct piece *ret_piece)
{
        uint64_t n_bytes = bound->end_svma - bound->start_svma;

        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                uint64_t from = bound->start_svma - s->svma;
                Elf_Data *data = NULL;

                if (s->executable && bound->start_svma >= s->svma && from < s->file_bytes &&
                    n_bytes <= s->file_bytes - from && s->file_off <= (uint64_t)INT64_MAX - from)
                        data = elf_getdata_rawchunk(image->elf, (int64_t)(s->file_off + from), n_bytes,
                                                    ELF_T_BYTE);
                if (!data || !data->d_buf)
                        continue;
                ret_piece->bytes = data->d_buf;
                ret_piece->n_bytes = data->d_size;
                ret_piece->svma = bound->start_svma;
                return true;
        }
        return false;
}

static int compare_svma(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

/* Finds the targets of the jumps that leave the piece, in order.  Returns how many. */
static size_t find_jump_targets(const struct piece *piece, uint64_t *targets)
{
        uint64_t target;
        size_t at = 0, n = 0;

        while (n < TARGETS_MAX && next_jump(piece, &at, &target))
                if (target - piece->svma >= piece->n_bytes)
                        targets[n++] = target;
        qsort(targets, n, sizeof(*targets), compare_svma);
        return n;
}

/* Jumps to the beginning are calls. */
static size_t count_jumps_into(const struct piece *from, const struct function_bound *part)
{
        uint64_t target;
        size_t at = 0, n = 0;

        while (next_jump(from, &at, &target))
                n += target > part->start_svma && target < part->end_svma;
        return n;
}

/* Chooses the code that @part jumps to and that jumps back to @part more often than any other such code. */
static bool choose_bound(const struct elf_image *image, const struct function_bounds *bounds,
                         const struct function_bound *part, struct piece *piece,
                         struct function_bound *ret_other)
{
        uint64_t *targets = malloc(TARGETS_MAX * sizeof(*targets));
        size_t most = SPLIT_FUNCTION_JUMPS_MIN - 1;
        size_t n_targets = targets && load_piece(image, part, piece) ? find_jump_targets(piece, targets) : 0;
        uint64_t after = 0, n_bytes = 0;

        for (size_t i = 0; i < n_targets && n_bytes < BYTES_MAX; i++) {
                const struct function_bound *bound = targets[i] >= after
                                                             ? function_bounds_find(bounds, targets[i])
                                                             : NULL;
                size_t n = 0;

                if (!bound)
                        continue;
                after = bound->end_svma;
                n_bytes += bound->end_svma - bound->start_svma;
                if (bound->start_svma != part->start_svma && load_piece(image, bound, piece))
                        n = count_jumps_into(piece, part);
                if (n > most) {
                        most = n;
                        *ret_other = *bound;
                }
        }
        free(targets);
        return most >= SPLIT_FUNCTION_JUMPS_MIN;
}

bool split_function_find(const struct elf_image *image, const struct function_bound *part,
                         struct function_bound *ret_other)
{
        struct function_bounds bounds = { .n_rows = 0 };
        struct piece piece = { .bytes = NULL };
        bool found = false;
        GElf_Ehdr header;

        if (!gelf_getehdr(image->elf, &header) ||
            (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64) ||
            part->end_svma <= part->start_svma)
                return false;
        piece.is_arm = header.e_machine == EM_AARCH64;
        /* No bounds are known of big-endian files. */
        if (function_bounds_load(&bounds, image) == 0)
                found = choose_bound(image, &bounds, part, &piece, ret_other);
        function_bounds_deinit(&bounds);
        return found;
}
