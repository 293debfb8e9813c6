/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/cfi_section.h"

#include "base/bytes.h"

#include <string.h>

/* Encodings of addresses (Linux Standard Base, "DWARF Exception Header Encoding"). */
#define PE_FORMAT   0x0f
#define PE_ABSPTR   0x00
#define PE_ULEB128  0x01
#define PE_UDATA2   0x02
#define PE_UDATA4   0x03
#define PE_UDATA8   0x04
#define PE_SLEB128  0x09
#define PE_SDATA2   0x0a
#define PE_SDATA4   0x0b
#define PE_SDATA8   0x0c
#define PE_RELATIVE 0x70
#define PE_PCREL    0x10
#define PE_INDIRECT 0x80
#define PE_OMIT     0xff

#define NO_CIE SIZE_MAX

/* The extent of an entry: after its length comes the word that gives its kind, then the contents. */
struct entry {
        size_t id_off;      /* of the word */
        size_t content_off; /* after the word */
        size_t end_off;
        uint64_t id; /* the word */
        bool is_cie;
};

static struct byte_reader reader_at(const struct cfi_section *s, size_t off, size_t end_off)
{
        return byte_reader_of(s->bytes + off, end_off - off);
}

bool cfi_pointer_read(const struct cfi_section *section, uint8_t encoding, size_t *off, size_t end_off,
                      uint64_t *ret_value)
{
        struct byte_reader in = reader_at(section, *off, end_off);
        uint64_t value;

        switch (encoding & PE_FORMAT) {
        case PE_ABSPTR:
        case PE_UDATA8:
        case PE_SDATA8:
                value = bytes_u64(&in);
                break;
        case PE_ULEB128:
                value = bytes_varint(&in);
                break;
        case PE_SLEB128:
                value = (uint64_t)bytes_sleb128(&in);
                break;
        case PE_UDATA2:
                value = bytes_u16(&in);
                break;
        case PE_SDATA2:
                value = (uint64_t)(int64_t)(int16_t)bytes_u16(&in);
                break;
        case PE_UDATA4:
                value = bytes_u32(&in);
                break;
        case PE_SDATA4:
                value = (uint64_t)(int64_t)(int32_t)bytes_u32(&in);
                break;
        default:
                return false;
        }
        if (in.short_read || encoding & PE_INDIRECT)
                return false;
        if ((encoding & PE_RELATIVE) == PE_PCREL)
                value += section->svma + *off;
        else if ((encoding & PE_RELATIVE) != 0)
                return false;
        *off = end_off - in.left;
        *ret_value = value;
        return true;
}

/* Steps over an entry.  Returns 1, or 0 at the end of the readable part. */
static int read_entry(const struct cfi_section *s, size_t at, struct entry *ret_entry)
{
        struct byte_reader in = reader_at(s, at, s->n_bytes);
        struct entry e = { .is_cie = false };
        bool is_64 = false;
        uint64_t length;

        length = bytes_u32(&in);
        if (length == UINT32_MAX) {
                is_64 = true;
                length = bytes_u64(&in);
        }
        if (in.short_read || length > in.left)
                return 0;
        e.id_off = s->n_bytes - in.left;
        e.end_off = e.id_off + length;
        e.content_off = e.id_off;
        if (length > 0) {
                in = reader_at(s, e.id_off, e.end_off);
                e.id = is_64 && s->is_debug_frame ? bytes_u64(&in) : bytes_u32(&in);
                if (in.short_read)
                        e.id = 1; /* no CIE is there */
                e.content_off = e.end_off - in.left;
                e.is_cie = s->is_debug_frame ? e.id == (is_64 ? UINT64_MAX : UINT32_MAX) : e.id == 0;
        }
        *ret_entry = e;
        return 1;
}

/* Steps over one letter of the augmentation.  Returns false if it is not known what follows the letter. */
static bool read_augmentation(const struct cfi_section *s, char letter, size_t *off, size_t end_off,
                              struct cfi_cie *cie)
{
        uint64_t ignored;
        uint8_t encoding;

        switch (letter) {
        case 'R':
        case 'L':
        case 'P':
                if (*off >= end_off)
                        return false;
                encoding = s->bytes[(*off)++];
                if (letter == 'R')
                        cie->pointer_encoding = encoding;
                if (letter != 'P' || encoding == PE_OMIT)
                        return true;
                /* The personality's value is of no interest, only how long it is. */
                return cfi_pointer_read(s, encoding & PE_FORMAT, off, end_off, &ignored);
        case 'S':
                cie->is_signal_frame = true;
                return true;
        case 'B': /* return addresses are signed with the second key */
        case 'G': /* the stack is tagged */
                return true;
        default:
                return false;
        }
}

static bool read_augmentations(const struct cfi_section *s, const char *letters, struct byte_reader *in,
                               size_t end_off, struct cfi_cie *cie)
{
        uint64_t n_bytes = bytes_varint(in);
        size_t off = end_off - in->left;
        size_t data_end_off;

        if (!bytes_take(in, n_bytes))
                return false;
        data_end_off = off + n_bytes;
        cie->has_augmentation_data = true;
        for (const char *letter = letters + 1; *letter; letter++)
                if (!read_augmentation(s, *letter, &off, data_end_off, cie))
                        return false;
        return true;
}

static bool read_cie(const struct cfi_section *s, const struct entry *e, struct cfi_cie *cie)
{
        struct byte_reader in = reader_at(s, e->content_off, e->end_off);
        uint8_t version = bytes_u8(&in);
        const char *letters = (const char *)in.at;
        const void *letters_end = in.left > 0 ? memchr(in.at, 0, in.left) : NULL;

        if ((version != 1 && version != 3 && version != 4) || !letters_end)
                return false;
        (void)bytes_take(&in, strlen(letters) + 1);
        if (version == 4) {
                uint8_t address_bytes = bytes_u8(&in);
                uint8_t segment_bytes = bytes_u8(&in);

                if (address_bytes != sizeof(uint64_t) || segment_bytes != 0)
                        return false;
        }
        if (strcmp(letters, "eh") == 0) /* gcc 2 */
                (void)bytes_u64(&in);
        else if (letters[0] != 0 && letters[0] != 'z')
                return false;
        cie->code_align = bytes_varint(&in);
        cie->data_align = bytes_sleb128(&in);
        cie->ra_register = version == 1 ? bytes_u8(&in) : (uint32_t)bytes_varint(&in);
        if (letters[0] == 'z' && !read_augmentations(s, letters, &in, e->end_off, cie))
                return false;
        cie->n_instruction_bytes = (uint32_t)in.left;
        cie->instructions_off = (uint32_t)(e->end_off - in.left);
        return !in.short_read && cie->ra_register < CFI_REGISTERS_MAX;
}

/* The CIE at @off, from the reader's cache if it is still there. */
static const struct cfi_cie *find_cie(struct cfi_reader *r, size_t off, uint32_t *ret_place)
{
        /* CIEs lie at multiples of 4 or 8. */
        uint32_t place = (uint32_t)((off >> 3 ^ off >> 7) % CFI_CIES_KEPT);
        struct cfi_cie *cie = &r->cies[place];
        struct entry e;

        *ret_place = place;
        if (cie->off == off)
                return cie;
        *cie = (struct cfi_cie){ .off = off };
        if (off < r->section.n_bytes && read_entry(&r->section, off, &e) && e.is_cie)
                cie->is_good = read_cie(&r->section, &e, cie);
        return cie;
}

static bool read_fde(struct cfi_reader *r, const struct entry *e, struct cfi_fde *ret_fde)
{
        const struct cfi_section *s = &r->section;
        uint64_t cie_off = s->is_debug_frame ? e->id : e->id_off - e->id;
        struct cfi_fde fde = { .start_svma = 0 };
        size_t off = e->content_off;
        uint64_t n_code_bytes;

        if (!s->is_debug_frame && e->id > e->id_off)
                return false;
        if (cie_off >= s->n_bytes)
                return false;
        fde.cie = find_cie(r, cie_off, &fde.cie_place);
        if (!fde.cie->is_good)
                return false;
        if (!cfi_pointer_read(s, fde.cie->pointer_encoding, &off, e->end_off, &fde.start_svma) ||
            !cfi_pointer_read(s, fde.cie->pointer_encoding & PE_FORMAT, &off, e->end_off, &n_code_bytes) ||
            __builtin_add_overflow(fde.start_svma, n_code_bytes, &fde.end_svma))
                return false;
        if (fde.cie->has_augmentation_data) {
                struct byte_reader in = reader_at(s, off, e->end_off);
                uint64_t n_bytes = bytes_varint(&in);

                if (!bytes_take(&in, n_bytes))
                        return false;
                off = e->end_off - in.left;
        }
        fde.instructions_off = (uint32_t)off;
        fde.n_instruction_bytes = (uint32_t)(e->end_off - off);
        *ret_fde = fde;
        return true;
}

void cfi_reader_init(struct cfi_reader *r, const struct cfi_section *section)
{
        *r = (struct cfi_reader){ .section = *section };
        if (r->section.n_bytes > CFI_SECTION_BYTES_MAX)
                r->section.n_bytes = CFI_SECTION_BYTES_MAX;
        for (size_t i = 0; i < CFI_CIES_KEPT; i++)
                r->cies[i].off = NO_CIE;
}

int cfi_reader_next(struct cfi_reader *r, struct cfi_fde *ret_fde)
{
        struct entry e;

        while (r->at < r->section.n_bytes) {
                if (!read_entry(&r->section, r->at, &e)) {
                        r->n_damaged++;
                        r->at = r->section.n_bytes;
                        return 0;
                }
                r->at = e.end_off;
                if (e.end_off == e.id_off) {
                        /*
                         * Linkers put an empty entry at the end of each of their inputs; more entries may
                         * follow.
                         */
                        if (r->section.ends_at_zero)
                                r->at = r->section.n_bytes;
                        continue;
                }
                if (e.is_cie)
                        continue;
                if (read_fde(r, &e, ret_fde))
                        return 1;
                r->n_damaged++;
        }
        return 0;
}
