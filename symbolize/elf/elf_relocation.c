/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/elf_relocation.h"

#include <elf.h>

enum operation { SET, SET_RELATIVE, ADD, SUBTRACT };

struct kind {
        uint16_t machine;
        uint8_t operation; /* enum operation */
        uint8_t n_bits;
        uint32_t type;
};

static const struct kind kinds[] = {
        { EM_X86_64, SET, 64, R_X86_64_64 },
        { EM_X86_64, SET, 32, R_X86_64_32 },
        { EM_X86_64, SET, 32, R_X86_64_32S },
        { EM_X86_64, SET_RELATIVE, 32, R_X86_64_PC32 },
        { EM_X86_64, SET_RELATIVE, 64, R_X86_64_PC64 },
        { EM_AARCH64, SET, 64, R_AARCH64_ABS64 },
        { EM_AARCH64, SET, 32, R_AARCH64_ABS32 },
        { EM_AARCH64, SET_RELATIVE, 64, R_AARCH64_PREL64 },
        { EM_AARCH64, SET_RELATIVE, 32, R_AARCH64_PREL32 },
        { EM_RISCV, SET, 64, R_RISCV_64 },
        { EM_RISCV, SET, 32, R_RISCV_32 },
        { EM_RISCV, SET_RELATIVE, 32, R_RISCV_32_PCREL },
        { EM_RISCV, SET, 32, R_RISCV_SET32 },
        { EM_RISCV, SET, 16, R_RISCV_SET16 },
        { EM_RISCV, SET, 8, R_RISCV_SET8 },
        { EM_RISCV, SET, 6, R_RISCV_SET6 },
        { EM_RISCV, ADD, 64, R_RISCV_ADD64 },
        { EM_RISCV, ADD, 32, R_RISCV_ADD32 },
        { EM_RISCV, ADD, 16, R_RISCV_ADD16 },
        { EM_RISCV, ADD, 8, R_RISCV_ADD8 },
        { EM_RISCV, SUBTRACT, 64, R_RISCV_SUB64 },
        { EM_RISCV, SUBTRACT, 32, R_RISCV_SUB32 },
        { EM_RISCV, SUBTRACT, 16, R_RISCV_SUB16 },
        { EM_RISCV, SUBTRACT, 8, R_RISCV_SUB8 },
        { EM_RISCV, SUBTRACT, 6, R_RISCV_SUB6 },
};

static const struct kind *find_kind(const struct elf_relocation *relocation)
{
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (kinds[i].machine == relocation->machine && kinds[i].type == relocation->type)
                        return &kinds[i];
        return NULL;
}

static uint64_t read_number(const uint8_t *at, unsigned n_bytes)
{
        uint64_t v = 0;

        for (unsigned i = 0; i < n_bytes; i++)
                v |= (uint64_t)at[i] << 8 * i;
        return v;
}

static void write_number(uint8_t *at, unsigned n_bytes, uint64_t v)
{
        for (unsigned i = 0; i < n_bytes; i++)
                at[i] = (uint8_t)(v >> 8 * i);
}

/* 32 bits, whether the machine calls them signed or not. */
static bool fits(uint64_t v, unsigned n_bits)
{
        return n_bits != 32 || v <= UINT32_MAX || v >= (uint64_t)INT32_MIN;
}

bool elf_relocation_apply(const struct elf_relocation *relocation, uint8_t *at, size_t n_bytes)
{
        const struct kind *kind = find_kind(relocation);
        unsigned width = kind ? (kind->n_bits + 7U) / 8U : 0;
        uint64_t old, new = relocation->value;
        uint64_t mask;

        if (!kind || width > n_bytes)
                return false;
        old = read_number(at, width);
        mask = kind->n_bits == 64 ? UINT64_MAX : (UINT64_C(1) << kind->n_bits) - 1;
        if (kind->operation == SET_RELATIVE)
                new -= relocation->place_svma;
        if (kind->operation <= SET_RELATIVE && !fits(new, kind->n_bits))
                return false;
        if (kind->operation == ADD)
                new = old + new;
        else if (kind->operation == SUBTRACT)
                new = old - new;
        write_number(at, width, (old & ~mask) | (new &mask));
        return true;
}
