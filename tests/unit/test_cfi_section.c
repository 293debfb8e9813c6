/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/cfi_section.c: entries of every kind are found; damaged ones are left out, and
 * nothing is read past the end
 */
#include "tests/unit/cfi_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const struct cfi_builder_cie cies[] = {
        { .version = 0 },
        { .augmentation = "" },
        { .version = 3, .augmentation = "zPLR" },
        { .augmentation = "zRS" },
        { .version = 3, .augmentation = "zRB" },
        { .version = 4, .augmentation = "zR" },
};

/* loop test: each of `cies`, in .eh_frame and in .debug_frame, with lengths of 4 and of 8 bytes */
START_LOOP_TEST(test_entries, 0, 4 * sizeof(cies) / sizeof(cies[0]))
{
        const struct cfi_builder_cie *cie = &cies[_i / 4];
        struct cfi_builder b;
        struct cfi_section section;
        struct cfi_reader reader;
        struct cfi_fde fde;

        cfi_builder_init(&b);
        b.is_debug_frame = _i & 1;
        b.is_64 = _i & 2;
        cfi_builder_add_cie(&b, cie, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&b, 0x2000, 0x30, CFI_BYTES(0x41, 0x0e, 16));
        cfi_builder_add_zero(&b);
        cfi_builder_add_fde(&b, 0x3000, 0x40, CFI_BYTES(0));
        section = cfi_builder_section(&b);

        cfi_reader_init(&reader, &section);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 1);
        ck_assert_uint_eq(fde.start_svma, 0x2000);
        ck_assert_uint_eq(fde.end_svma, 0x2030);
        ck_assert_uint_eq(fde.cie->ra_register, 16);
        ck_assert_int_eq(fde.cie->data_align, -8);
        ck_assert_uint_eq(fde.cie->code_align, 1);
        ck_assert(fde.cie->is_signal_frame == (cie->augmentation && strchr(cie->augmentation, 'S')));
        ck_assert_uint_eq(fde.cie->n_instruction_bytes, 5);
        ck_assert_uint_eq(section.bytes[fde.instructions_off + fde.n_instruction_bytes - 1], 16);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 1);
        ck_assert_uint_eq(fde.start_svma, 0x3000);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 0);
        ck_assert_uint_eq(reader.n_damaged, 0);

        /* Where the length of the section is a guess, a zero ends it. */
        section.ends_at_zero = true;
        cfi_reader_init(&reader, &section);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 1);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 0);
        cfi_builder_deinit(&b);
}
END_TEST

/* In a buffer of its own at every length: a sanitizer sees what is read past it. */
START_TEST(test_every_cut)
{
        struct cfi_builder b;
        struct cfi_section whole;

        cfi_builder_init(&b);
        cfi_builder_add_cie(&b, &cies[2], CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&b, 0x2000, 0x30, CFI_BYTES(0x41, 0x0e, 16));
        whole = cfi_builder_section(&b);
        for (size_t n = 0; n < whole.n_bytes; n++) {
                uint8_t *bytes = malloc(n + 1);
                struct cfi_section cut = whole;
                struct cfi_reader reader;
                struct cfi_fde fde;

                ck_assert_ptr_nonnull(bytes);
                memcpy(bytes, whole.bytes, n);
                cut.bytes = bytes;
                cut.n_bytes = n;
                cfi_reader_init(&reader, &cut);
                ck_assert_int_eq(cfi_reader_next(&reader, &fde), 0);
                ck_assert(n == 0 || reader.n_damaged == 1 || n == b.cie_off + whole.bytes[0] + 4U);
                free(bytes);
        }
        cfi_builder_deinit(&b);
}
END_TEST

/* loop test: CIEs that cannot be used, whose functions are left out */
static const struct cfi_builder_cie bad_cies[] = {
        { .version = 2 },          { .version = 5 }, { .augmentation = "q" },
        { .augmentation = "zRq" }, { .ra = 200 },    { .encoding = 0x80 }, /* indirect */
        { .encoding = 0x30 },                                              /* relative to data */
        { .encoding = 0x0f },
};

START_LOOP_TEST(test_unusable_cies, 0, sizeof(bad_cies) / sizeof(bad_cies[0]))
{
        struct cfi_builder b;
        struct cfi_section section;
        struct cfi_reader reader;
        struct cfi_fde fde;

        cfi_builder_init(&b);
        cfi_builder_add_cie(&b, &bad_cies[_i], CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&b, 0x2000, 0x30, CFI_BYTES(0));
        cfi_builder_add_cie(&b, &cies[0], CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&b, 0x3000, 0x30, CFI_BYTES(0));
        section = cfi_builder_section(&b);
        cfi_reader_init(&reader, &section);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 1);
        ck_assert_uint_eq(fde.start_svma, 0x3000);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 0);
        ck_assert_uint_eq(reader.n_damaged, 1);
        cfi_builder_deinit(&b);
}
END_TEST

START_TEST(test_code_beyond_the_end_of_addresses)
{
        struct cfi_builder b;
        struct cfi_section section;
        struct cfi_reader reader;
        struct cfi_fde fde;

        cfi_builder_init(&b);
        cfi_builder_add_cie(&b, &cies[0], CFI_BYTES(0x0c, 7, 8));
        cfi_builder_add_fde(&b, UINT64_MAX - 8, 0x30, CFI_BYTES(0));
        section = cfi_builder_section(&b);
        cfi_reader_init(&reader, &section);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 0);
        ck_assert_uint_eq(reader.n_damaged, 1);
        cfi_builder_deinit(&b);
}
END_TEST

static const struct {
        uint8_t encoding;
        uint8_t bytes[10];
        size_t n_bytes;
        uint64_t value;
} pointers[] = {
        { 0x00, { 1, 2, 3, 4, 5, 6, 7, 8 }, 8, UINT64_C(0x0807060504030201) },
        { 0x01, { 0x81, 0x02 }, 2, 257 },
        { 0x02, { 0xff, 0xff }, 2, 0xffff },
        { 0x03, { 0xff, 0xff, 0xff, 0xff }, 4, 0xffffffff },
        { 0x04, { 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 }, 8, 0xffffffff },
        { 0x09, { 0x7f }, 1, UINT64_MAX },
        { 0x0a, { 0xfe, 0xff }, 2, UINT64_MAX - 1 },
        { 0x0b, { 0xfe, 0xff, 0xff, 0xff }, 4, UINT64_MAX - 1 },
        { 0x1b, { 0xfe, 0xff, 0xff, 0xff }, 4, 0x5000 + 2 - 2 },
        { 0x10, { 0, 1 }, 8, 0x5000 + 2 + 256 },
};

/* loop test: each encoding of an address, at offset 2 of a section at 0x5000 */
START_LOOP_TEST(test_pointers, 0, sizeof(pointers) / sizeof(pointers[0]))
{
        size_t n_bytes = pointers[_i].n_bytes;
        uint8_t *bytes = malloc(n_bytes + 2);
        struct cfi_section section = { .bytes = bytes, .n_bytes = n_bytes + 2, .svma = 0x5000 };
        uint64_t value;
        size_t off = 2;

        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes + 2, pointers[_i].bytes, n_bytes);
        ck_assert(cfi_pointer_read(&section, pointers[_i].encoding, &off, section.n_bytes, &value));
        ck_assert_uint_eq(value, pointers[_i].value);
        ck_assert_uint_eq(off, section.n_bytes);
        for (size_t end = 2; end < section.n_bytes; end++) {
                off = 2;
                ck_assert(!cfi_pointer_read(&section, pointers[_i].encoding, &off, end, &value));
                ck_assert_uint_eq(off, 2);
        }
        free(bytes);
}
END_TEST
