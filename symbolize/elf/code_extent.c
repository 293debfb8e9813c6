/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/code_extent.h"

#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#define REX_W 8

/*
 * The operands of each opcode: . none; b, w, 3, d, q an immediate of 1, 2, 3, 4 or 8 bytes; m an operand
 * that a ModRM byte describes; M and D such an operand and an immediate of 1 or 4 bytes; x no known
 * instruction.
 */
static const char one_byte[] = "mmmmbdxxmmmmbdxx" /* 00 */
                               "mmmmbdxxmmmmbdxx"
                               "mmmmbdxxmmmmbdxx"
                               "mmmmbdxxmmmmbdxx"
                               "xxxxxxxxxxxxxxxx" /* 40: prefixes */
                               "................"
                               "xxxmxxxxdDbM...."
                               "bbbbbbbbbbbbbbbb"
                               "MDxMmmmmmmmmmmmm" /* 80 */
                               "..........x....."
                               "qqqq....bd......"
                               "bbbbbbbbdddddddd"
                               "MMw.xxMD3.w..bx." /* c0 */
                               "mmmmxxx.mmmmmmmm"
                               "bbbbbbbbddxb...."
                               "x.xx..mm......mm";

/* The same after 0f. */
static const char two_byte[] = "mmmmx..x..x.xmxx" /* 00 */
                               "mmmmmmmmmmmmmmmm"
                               "mmmmxxxxmmmmmmmm"
                               "......xxmxMxxxxx" /* 38 and 3a have one byte more */
                               "mmmmmmmmmmmmmmmm" /* 40 */
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "MMMMmmm.mmxxmmmm"
                               "dddddddddddddddd" /* 80 */
                               "mmmmmmmmmmmmmmmm"
                               "...mMmxx...mMmmm"
                               "mmmmmmmmmmMmmmmm"
                               "mmMmMMMm........" /* c0 */
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm";

struct instruction {
        const uint8_t *operands; /* after the opcode */
        uint8_t opcode;          /* of one byte; 0f stands for all others */
        uint8_t second;          /* after 0f */
        char follows;            /* as in the tables */
        bool is_wide, is_16_bit;
        size_t n_bytes; /* 0 = unknown */
};

/*
 * The prefix of a vector instruction comes before the opcode, and its last bits say which table the opcode
 * is in.
 */
static const uint8_t *decode_vector(const uint8_t *at, const uint8_t *end, struct instruction *i)
{
        ptrdiff_t n = at[0] == 0xc5 ? 2 : at[0] == 0xc4 ? 3 : 4;
        uint8_t table;

        if (end - at < n + 1)
                return NULL;
        table = at[0] == 0xc5 ? 1 : at[1] & 7;
        i->opcode = 0x0f;
        i->second = at[n];
        i->follows = 'x';
        if (table == 1)
                i->follows = two_byte[at[n]];
        else if (table == 2 || table == 3)
                i->follows = table == 2 ? 'm' : 'M';
        return at + n + 1;
}

static const uint8_t *decode_opcode(const uint8_t *at, const uint8_t *end, struct instruction *i)
{
        static const uint8_t prefixes[] = {
                0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65
        };

        for (; at < end && memchr(prefixes, *at, sizeof(prefixes)); at++)
                i->is_16_bit |= *at == 0x66;
        if (at < end && (*at & 0xf0) == 0x40)
                i->is_wide = *at++ & REX_W;
        if (at >= end)
                return NULL;
        if (*at == 0xc4 || *at == 0xc5 || *at == 0x62)
                return decode_vector(at, end, i);
        i->opcode = *at++;
        i->follows = one_byte[i->opcode];
        if (i->opcode != 0x0f)
                return at;
        if (end - at < 2)
                return NULL;
        i->second = *at++;
        i->follows = two_byte[i->second];
        return i->second == 0x38 || i->second == 0x3a ? at + 1 : at;
}

/*
 * Counts the bytes of the operand that a ModRM byte describes, including that byte; 0 if they are not
 * there.
 */
static size_t count_operand(const uint8_t *at, const uint8_t *end)
{
        uint8_t mod, base;
        size_t n = 1;

        if (at >= end)
                return 0;
        mod = *at >> 6;
        base = *at & 7;
        if (mod == 3)
                return n;
        if (base == 4) {
                if (end - at < 2)
                        return 0;
                base = at[1] & 7;
                n++;
        }
        if (mod == 1)
                return n + 1;
        return mod == 2 || base == 5 ? n + 4 : n;
}

static size_t count_immediate(const struct instruction *i)
{
        bool is_test = (i->opcode == 0xf6 || i->opcode == 0xf7) && (*i->operands >> 3 & 7) < 2;

        switch (i->follows) {
        case 'b':
        case 'M':
                return 1;
        case 'w':
                return 2;
        case '3':
                return 3;
        case 'd':
        case 'D':
                if ((i->opcode & 0xf8) == 0xb8 && i->is_wide)
                        return 8;
                /* A jump or call has 4 bytes always. */
                return i->is_16_bit && i->opcode != 0x0f && (i->opcode & 0xfe) != 0xe8 ? 2 : 4;
        case 'q':
                return 8;
        default:
                return !is_test ? 0 : i->opcode == 0xf6 ? 1 : i->is_16_bit ? 2 : 4;
        }
}

static struct instruction decode(const uint8_t *bytes, size_t n_left)
{
        const uint8_t *end = bytes + n_left;
        struct instruction i = { .n_bytes = 0 };
        size_t n = 0;

        i.operands = decode_opcode(bytes, end, &i);
        if (!i.operands || i.operands > end || i.follows == 'x')
                return i;
        if (i.follows == 'm' || i.follows == 'M' || i.follows == 'D') {
                n = count_operand(i.operands, end);
                if (n == 0)
                        return i;
        }
        n += (size_t)(i.operands - bytes) + (n > 0 || i.follows != '.' ? count_immediate(&i) : 0);
        i.n_bytes = n <= n_left ? n : 0;
        return i;
}

/* Returns, unconditional jumps, and instructions that stop a program. */
static bool is_last(const struct instruction *i)
{
        switch (i->opcode) {
        case 0xc2: /* ret */
        case 0xc3:
        case 0xca: /* of another segment */
        case 0xcb:
        case 0xcc: /* int3, also as padding */
        case 0xcf: /* iret */
        case 0xe9: /* jmp */
        case 0xeb:
        case 0xf4: /* hlt */
                return true;
        case 0xff:
                return (*i->operands >> 3 & 7) == 4 || (*i->operands >> 3 & 7) == 5;
        case 0x0f:
                return i->second == 0x0b; /* ud2 */
        default:
                return false;
        }
}

/* Where a short jump leads, counted from its own end; 0 for other instructions. */
static int8_t find_jump(const struct instruction *i)
{
        bool is_short = (i->opcode & 0xf0) == 0x70 || i->opcode == 0xeb || (i->opcode & 0xfc) == 0xe0;

        return (int8_t)(is_short ? *i->operands : 0);
}

size_t code_extent_count_x86(const uint8_t *bytes, size_t n_bytes)
{
        size_t at = 0, furthest = 0; /* that a jump leads to */

        while (at < n_bytes) {
                struct instruction i = decode(bytes + at, n_bytes - at);
                int8_t distance;

                if (i.n_bytes == 0)
                        return at;
                at += i.n_bytes;
                distance = find_jump(&i);
                if (distance > 0 && at + (size_t)distance > furthest)
                        furthest = at + (size_t)distance;
                if (is_last(&i) && at > furthest)
                        return at;
        }
        return n_bytes;
}

uint64_t code_extent_find_end(const struct elf_image *image, uint64_t svma, uint64_t end_svma)
{
        uint64_t n_bytes = end_svma > svma ? end_svma - svma : 0;
        Elf_Data *data = NULL;
        GElf_Ehdr header;

        if (!gelf_getehdr(image->elf, &header) || header.e_machine != EM_X86_64)
                return svma;
        n_bytes = n_bytes < CODE_EXTENT_BYTES_MAX ? n_bytes : CODE_EXTENT_BYTES_MAX;
        for (size_t i = 0; i < image->n_segments && !data; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                uint64_t from = svma - s->svma;

                if (!s->executable || svma < s->svma || from >= s->file_bytes ||
                    s->file_off > (uint64_t)INT64_MAX - from)
                        continue;
                if (n_bytes > s->file_bytes - from)
                        n_bytes = s->file_bytes - from;
                if (n_bytes > 0)
                        data = elf_getdata_rawchunk(image->elf, (int64_t)(s->file_off + from), n_bytes,
                                                    ELF_T_BYTE);
        }
        return data && data->d_buf ? svma + code_extent_count_x86(data->d_buf, data->d_size) : svma;
}
