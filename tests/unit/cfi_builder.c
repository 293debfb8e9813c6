/* SPDX-License-Identifier: MIT */
#include "tests/unit/cfi_builder.h"

#include "base/error.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

void cfi_builder_init(struct cfi_builder *b)
{
        *b = (struct cfi_builder){ .is_64 = false };
}

void cfi_builder_deinit(struct cfi_builder *b)
{
        byte_buffer_deinit(&b->bytes);
}

static void put(struct cfi_builder *b, const void *bytes, size_t n_bytes)
{
        byte_buffer_add(&b->bytes, bytes, n_bytes);
        ck_assert(!b->bytes.failed);
}

static void put_number(struct cfi_builder *b, uint64_t value, size_t n_bytes)
{
        put(b, &value, n_bytes); /* these tests run on little endian */
}

static size_t begin_entry(struct cfi_builder *b)
{
        if (b->is_64)
                put_number(b, UINT32_MAX, 4);
        put_number(b, 0, b->is_64 ? 8 : 4);
        return b->bytes.used_bytes;
}

static void end_entry(struct cfi_builder *b, size_t from)
{
        uint64_t n_bytes = b->bytes.used_bytes - from;
        size_t width = b->is_64 ? 8 : 4;

        memcpy(b->bytes.data + from - width, &n_bytes, width);
}

void cfi_builder_add_cie(struct cfi_builder *b, const struct cfi_builder_cie *cie,
                         const uint8_t *instructions, size_t n_bytes)
{
        const char *augmentation = cie->augmentation ? cie->augmentation : "zR";
        uint8_t version = cie->version ? cie->version : 1;
        size_t from;

        b->cie_off = b->bytes.used_bytes;
        b->has_augmentation_data = augmentation[0] == 'z';
        from = begin_entry(b);
        put_number(b, b->is_debug_frame ? UINT64_MAX : 0, b->is_64 && b->is_debug_frame ? 8 : 4);
        put_number(b, version, 1);
        put(b, augmentation, strlen(augmentation) + 1);
        if (version == 4)
                put_number(b, 8, 2); /* bytes of an address, bytes of a segment */
        put_number(b, cie->code_align ? cie->code_align : 1, 1);
        put_number(b, (uint64_t)(cie->data_align ? cie->data_align : -8) & 0x7f, 1);
        put_number(b, cie->ra ? cie->ra : 16, 1);
        if (augmentation[0] == 'z') {
                size_t n_data = 0;

                for (const char *letter = augmentation + 1; *letter; letter++)
                        n_data += *letter == 'R' || *letter == 'L' ? 1 : *letter == 'P' ? 5 : 0;
                put_number(b, n_data, 1);
                for (const char *letter = augmentation + 1; *letter; letter++) {
                        if (*letter == 'R')
                                put_number(b, cie->encoding, 1);
                        else if (*letter == 'L')
                                put_number(b, 0xff, 1);
                        else if (*letter == 'P')
                                put_number(b, UINT64_C(0x12345678) << 8 | 0x9b, 5);
                }
        }
        put(b, instructions, n_bytes);
        end_entry(b, from);
}

void cfi_builder_add_fde(struct cfi_builder *b, uint64_t start_svma, uint64_t n_code_bytes,
                         const uint8_t *instructions, size_t n_bytes)
{
        size_t from = begin_entry(b);

        put_number(b, b->is_debug_frame ? b->cie_off : from - b->cie_off,
                   b->is_64 && b->is_debug_frame ? 8 : 4);
        put_number(b, start_svma, 8);
        put_number(b, n_code_bytes, 8);
        if (b->has_augmentation_data)
                put_number(b, 0, 1); /* bytes of it */
        put(b, instructions, n_bytes);
        end_entry(b, from);
}

void cfi_builder_add_zero(struct cfi_builder *b)
{
        put_number(b, 0, 4);
}

struct cfi_section cfi_builder_section(const struct cfi_builder *b)
{
        return (struct cfi_section){ .bytes = b->bytes.data,
                                     .n_bytes = b->bytes.used_bytes,
                                     .svma = CFI_BUILDER_SVMA,
                                     .is_debug_frame = b->is_debug_frame };
}

struct unwind_table *cfi_builder_table(const struct cfi_builder *b, const struct unwind_machine *machine)
{
        const struct unwind_code_range code = { .start_svma = 0x1000, .end_svma = 0x100000 };
        const struct cfi_section section = cfi_builder_section(b);
        const struct unwind_table_source source = {
                .machine = machine, .sections = &section, .n_sections = 1, .code = &code, .n_code = 1
        };
        struct unwind_table *table = NULL;
        struct error err = ERROR_NONE;

        ck_assert_msg(unwind_table_build(&source, &table, &err) == 0, "%s", err.text);
        return table;
}
