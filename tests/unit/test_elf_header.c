/* SPDX-License-Identifier: MIT */
/*
 * Headers of an ELF image say how long it is and where its code lies; at every cut they say
 * less, never something else.
 */
#include "sampler/keep/elf_header.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct made_image image;

static void setup(void)
{
        made_image_init(&image, &(struct made_image_options){ .seed = 5, .has_build_id = true });
}

START_TEST(reads_what_is_there)
{
        const struct elf_header_segment *code;
        struct elf_header header;
        uint64_t svma;
        size_t at = 0;

        ck_assert_int_eq(elf_header_read(image.bytes, image.n_bytes, &header), 0);
        ck_assert_uint_eq(header.type, ET_DYN);
        ck_assert_uint_eq(header.n_segments, 5);
        ck_assert_uint_eq(header.n_sections, 3);
        ck_assert_uint_eq(header.n_bytes, 64 + 5 * 56);
        ck_assert_uint_eq(elf_header_count_bytes(&header), image.n_bytes);
        code = elf_header_next_code(&header, &at);
        ck_assert_ptr_nonnull(code);
        ck_assert_uint_eq(code->svma, MADE_IMAGE_CODE_SVMA);
        ck_assert_uint_eq(code->file_off, MADE_IMAGE_CODE_OFF);
        ck_assert_ptr_null(elf_header_next_code(&header, &at));
        ck_assert(elf_header_find_svma(&header, MADE_IMAGE_CODE_OFF + 3, &svma));
        ck_assert_uint_eq(svma, MADE_IMAGE_CODE_SVMA + 3);
        ck_assert(!elf_header_find_svma(&header, MADE_IMAGE_CODE_OFF + MADE_IMAGE_CODE_BYTES, &svma));
}
END_TEST

START_TEST(a_cut_header_is_not_enough)
{
        struct elf_header header;

        for (size_t n = 0; n < 64 + 5 * 56; n++) {
                uint8_t *cut = malloc(n ? n : 1); /* of its own, so that a sanitizer sees a byte too many */

                memcpy(cut, image.bytes, n);
                ck_assert_int_eq(elf_header_read(cut, n, &header), -ENODATA);
                free(cut);
        }
        ck_assert_int_eq(elf_header_read(image.bytes, 64 + 5 * 56, &header), 0);
}
END_TEST

/* Where, how many bytes of ones, and whether the header is none any more. */
static const struct {
        size_t at, n_bytes;
        bool is_refused;
} damages[] = {
        { 0, 1, true },   { 4, 1, true },   { 5, 1, true },   { 16, 2, true },  { 18, 2, true },
        { 32, 8, true },  { 40, 8, true },  { 54, 2, true },  { 56, 2, true },  { 58, 2, true },
        { 72, 8, true },  { 80, 8, true },  { 96, 8, true },  { 104, 8, true }, { 24, 8, false },
        { 60, 2, false }, { 62, 2, false }, { 88, 8, false },
};

START_LOOP_TEST(what_cannot_be_is_refused, 0, sizeof(damages) / sizeof(damages[0]))
{
        struct elf_header header;
        int r;

        memset(image.bytes + damages[_i].at, 0xff, damages[_i].n_bytes);
        r = elf_header_read(image.bytes, image.n_bytes, &header);
        if (damages[_i].is_refused)
                ck_assert_int_lt(r, 0);
        else
                ck_assert_int_eq(r, 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup);
