/* SPDX-License-Identifier: MIT */
#include "symbolize/debug/supplement_link.h"

#include "base/bytes.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/debug/debug_file_search.h"
#include "symbolize/elf/byte_order.h"

#include <gelf.h>
#include <string.h>

#define SUP_VERSION  5
#define CHECKSUM_MAX 64

/* The contents of a .debug_sup. */
struct sup {
        bool is_supplement; /* the file is one that others refer to */
        const char *name;
        const uint8_t *checksum;
        size_t checksum_bytes;
};

/* A string with its NUL.  If the NUL is missing, NULL, and the reader stays failed. */
static const char *take_string(struct byte_reader *r)
{
        const uint8_t *end = memchr(r->at, '\0', r->left);

        if (!end) {
                r->short_read = true;
                return NULL;
        }
        return (const char *)bytes_take(r, (size_t)(end - r->at) + 1);
}

static bool read_sup(Elf *elf, struct sup *ret_sup)
{
        size_t n_bytes;
        const uint8_t *bytes = debug_file_find_bytes(elf, ".debug_sup", &n_bytes);
        struct byte_reader r;
        const uint8_t *version;
        GElf_Ehdr header;

        if (!bytes || !gelf_getehdr(elf, &header))
                return false;
        r = byte_reader_of(bytes, n_bytes);
        version = bytes_take(&r, 2);
        ret_sup->is_supplement = bytes_u8(&r) != 0;
        ret_sup->name = take_string(&r);
        ret_sup->checksum_bytes = bytes_varint(&r);
        ret_sup->checksum = bytes_take(&r, ret_sup->checksum_bytes);
        return !r.short_read &&
               byte_order_read(version, 2, header.e_ident[EI_DATA] == ELFDATA2MSB) == SUP_VERSION &&
               ret_sup->checksum_bytes > 0 && ret_sup->checksum_bytes <= CHECKSUM_MAX;
}

int supplement_link_read(Elf *elf, struct debug_file_reference *ret_reference)
{
        size_t n_bytes;
        const uint8_t *bytes = debug_file_find_bytes(elf, ".gnu_debugaltlink", &n_bytes);
        struct sup sup;

        if (bytes) {
                struct byte_reader r = byte_reader_of(bytes, n_bytes);
                const char *name = take_string(&r);

                if (!name || r.left == 0)
                        return 0;
                *ret_reference =
                        (struct debug_file_reference){ .name = name, .id = r.at, .id_bytes = r.left };
                return 1;
        }
        if (!read_sup(elf, &sup) || sup.is_supplement)
                return 0;
        *ret_reference = (struct debug_file_reference){
                .name = sup.name, .id = sup.checksum, .id_bytes = sup.checksum_bytes, .is_checksum = true
        };
        return 1;
}

bool supplement_link_has_checksum(Elf *elf, const uint8_t *checksum, size_t checksum_bytes)
{
        struct sup sup;

        return read_sup(elf, &sup) && sup.is_supplement && sup.checksum_bytes == checksum_bytes &&
               memcmp(sup.checksum, checksum, checksum_bytes) == 0;
}
