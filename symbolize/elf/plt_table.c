/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/plt_table.h"

#include "base/array.h"
#include "symbolize/elf/byte_order.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 32768 /* a longer name would not be demangled either */

#define X86_STUB_BYTES    16
#define X86_SHORT_BYTES   8 /* .plt.got without IBT */
#define X86_JUMP_BYTES    6 /* ff 25 and a distance of 4 bytes */
#define X86_PUSH          0x68
#define ENDBR64_BYTES     4
#define INSTRUCTION_BYTES 4

#define ARM_BTI_C       UINT32_C(0xd503245f)
#define ARM_ADRP_X16    UINT32_C(0x90000010)
#define ARM_ADRP_MASK   UINT32_C(0x9f00001f)
#define ARM_LDR_X17_X16 UINT32_C(0xf9400211)
#define ARM_LDR_MASK    UINT32_C(0xffc003ff)
#define ARM_BR_X17      UINT32_C(0xd61f0220)
#define ARM_STUB_MAX    32 /* with authentication of the pointer and the gap after it */
#define ARM_STUB_BYTES  16

#define RISCV_AUIPC_T3   UINT32_C(0x00000e17)
#define RISCV_AUIPC_MASK UINT32_C(0x00000fff)
#define RISCV_LD_T3_T3   UINT32_C(0x000e3e03)
#define RISCV_LD_MASK    UINT32_C(0x000fffff)
#define RISCV_STUB_BYTES 16

/* A slot of the GOT, and the function that it is for by the image's relocations. */
struct slot {
        uint64_t svma;
        uint64_t addend;
        uint32_t table;  /* section of the symbol table */
        uint32_t symbol; /* in it; 0 = the addend is the address of a resolver */
};

/* All zero is empty. */
struct slots {
        struct slot *slots; /* heap, by `svma` */
        size_t n_slots, slots_capacity;
        uint64_t *order; /* heap: slots in the order of the PLT's relocations */
        size_t n_order, order_capacity;
};

/* A section of stubs. */
struct stubs {
        struct plt_table *table;
        const struct slots *slots;
        Elf *elf;
        const uint8_t *bytes;
        size_t n_bytes;
        uint64_t svma;
        bool is_short; /* stubs of 8 bytes */
};

/* ------------------------------------------------------------------ slots */

static void free_slots(struct slots *slots)
{
        free(slots->slots);
        free(slots->order);
        *slots = (struct slots){ .slots = NULL };
}

/* True for relocations that the loader resolves by asking a function of the module, the resolver. */
static bool is_resolver(GElf_Half machine, uint32_t type)
{
        switch (machine) {
        case EM_X86_64:
                return type == R_X86_64_IRELATIVE;
        case EM_AARCH64:
                return type == R_AARCH64_IRELATIVE;
        case EM_RISCV:
                return type == R_RISCV_IRELATIVE;
        default:
                return false;
        }
}

static int add_slot(struct slots *slots, const struct slot *slot)
{
        if (slots->n_slots >= PLT_TABLE_SLOTS_MAX)
                return 0;
        if (array_reserve(&slots->slots, &slots->slots_capacity, slots->n_slots + 1, sizeof(*slots->slots)) <
            0)
                return -ENOMEM;
        slots->slots[slots->n_slots++] = *slot;
        return 0;
}

static int add_to_order(struct slots *slots, uint64_t svma)
{
        if (slots->n_order >= PLT_TABLE_SLOTS_MAX)
                return 0;
        if (array_reserve(&slots->order, &slots->order_capacity, slots->n_order + 1, sizeof(*slots->order)) <
            0)
                return -ENOMEM;
        slots->order[slots->n_order++] = svma;
        return 0;
}

static int load_relocations(struct slots *slots, Elf_Scn *section, const GElf_Shdr *header, GElf_Half machine,
                            bool is_of_plt)
{
        Elf_Data *data = elf_getdata(section, NULL);
        size_t n_relocations = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
        int r = 0;

        for (size_t i = 0; i < n_relocations && i < INT32_MAX && r == 0; i++) {
                GElf_Rela relocation;
                uint64_t symbol;

                if (!gelf_getrela(data, (int)i, &relocation))
                        break;
                if (is_of_plt)
                        r = add_to_order(slots, relocation.r_offset);
                symbol = GELF_R_SYM(relocation.r_info);
                if (r < 0 || (symbol == 0 && !is_resolver(machine, (uint32_t)GELF_R_TYPE(relocation.r_info))))
                        continue;
                r = add_slot(slots, &(struct slot){ .svma = relocation.r_offset,
                                                    .addend = (uint64_t)relocation.r_addend,
                                                    .table = header->sh_link,
                                                    .symbol = (uint32_t)symbol });
        }
        return r;
}

static int compare_slots(const void *a, const void *b)
{
        const struct slot *x = a, *y = b;

        return x->svma < y->svma ? -1 : x->svma > y->svma;
}

/* All relocations of the machines supported here are SHT_RELA, with an addend. */
static int load_slots(struct slots *slots, Elf *elf)
{
        Elf_Scn *section = NULL;
        size_t names_index;
        GElf_Ehdr file;
        int r = 0;

        if (!gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names_index) != 0)
                return 0;
        while (r == 0 && (section = elf_nextscn(elf, section))) {
                const char *name;
                GElf_Shdr header;

                if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
                    !(header.sh_flags & SHF_ALLOC))
                        continue;
                name = elf_strptr(elf, names_index, header.sh_name);
                r = load_relocations(slots, section, &header, file.e_machine,
                                     name && strcmp(name, ".rela.plt") == 0);
        }
        if (r == 0 && slots->n_slots > 1)
                qsort(slots->slots, slots->n_slots, sizeof(*slots->slots), compare_slots);
        return r;
}

/* NULL if nothing is known of it. */
static const struct slot *find_slot(const struct slots *slots, uint64_t svma)
{
        const struct slot wanted = { .svma = svma };

        if (slots->n_slots == 0)
                return NULL;
        return bsearch(&wanted, slots->slots, slots->n_slots, sizeof(*slots->slots), compare_slots);
}

/* ------------------------------------------------------------------ stubs */

void plt_table_deinit(struct plt_table *table)
{
        free(table->entries);
        byte_buffer_deinit(&table->names);
        *table = (struct plt_table){ .entries = NULL };
}

int plt_table_add_name(struct plt_table *table, struct plt_entry *entry, const char *name)
{
        size_t n_bytes = strnlen(name, NAME_BYTES_MAX);
        size_t at = table->names.used_bytes;

        if (n_bytes + sizeof(PLT_TABLE_SUFFIX) > PLT_TABLE_NAMES_MAX - at)
                return -EOVERFLOW;
        byte_buffer_add(&table->names, name, n_bytes);
        byte_buffer_add(&table->names, PLT_TABLE_SUFFIX, sizeof(PLT_TABLE_SUFFIX));
        if (table->names.failed)
                return -ENOMEM;
        entry->name_off = (uint32_t)at;
        return 0;
}

const char *plt_table_find_name(const struct plt_table *table, const struct plt_entry *entry)
{
        return entry->name_off == PLT_ENTRY_UNNAMED ? NULL
                                                    : (const char *)table->names.data + entry->name_off;
}

/* The name of the function that the relocation of @slot calls; NULL if that is damaged. */
static const char *find_symbol_name(Elf *elf, const struct slot *slot)
{
        Elf_Scn *section = elf_getscn(elf, slot->table);
        Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
        const char *name;
        GElf_Shdr header;
        GElf_Sym symbol;

        if (!data || slot->symbol > INT32_MAX || !gelf_getshdr(section, &header) ||
            !gelf_getsym(data, (int)slot->symbol, &symbol))
                return NULL;
        name = elf_strptr(elf, header.sh_link, symbol.st_name);
        return name && *name ? name : NULL;
}

/* Adds the stub at @offset, which jumps to where @slot points. */
static int add_stub(const struct stubs *stubs, size_t offset, size_t n_bytes, const struct slot *slot)
{
        struct plt_table *table = stubs->table;
        struct plt_entry entry = { .svma = stubs->svma + offset,
                                   .size_bytes = (uint32_t)n_bytes,
                                   .name_off = PLT_ENTRY_UNNAMED };
        const char *name = slot->symbol > 0 ? find_symbol_name(stubs->elf, slot) : NULL;
        int r = 0;

        if (slot->symbol == 0)
                entry.resolver_svma = slot->addend;
        else if (!name)
                return 0;
        else
                r = plt_table_add_name(table, &entry, name);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        if (array_reserve(&table->entries, &table->entries_capacity, table->n_entries + 1,
                          sizeof(*table->entries)) < 0)
                return -ENOMEM;
        table->entries[table->n_entries++] = entry;
        return 0;
}

/*
 * Finds the slot that a stub jumps through.  The jump may be anywhere in the stub: after endbr64, a bnd
 * prefix, or an instruction that another linker puts there.  The stub of lazy binding with IBT has no such
 * jump, but pushes the number of its relocation.
 */
static const struct slot *find_x86_slot(const struct stubs *stubs, size_t offset, size_t stub_bytes)
{
        static const uint8_t endbr64[ENDBR64_BYTES] = { 0xf3, 0x0f, 0x1e, 0xfa };
        const uint8_t *stub = stubs->bytes + offset;

        for (size_t i = 0; i + X86_JUMP_BYTES <= stub_bytes; i++) {
                const struct slot *slot;
                uint64_t next = stubs->svma + offset + i + X86_JUMP_BYTES;

                if (stub[i] != 0xff || stub[i + 1] != 0x25)
                        continue;
                slot = find_slot(stubs->slots,
                                 next + (uint64_t)(int32_t)byte_order_read(stub + i + 2, 4, false));
                if (slot)
                        return slot;
        }
        if (stub_bytes >= X86_STUB_BYTES && memcmp(stub, endbr64, sizeof(endbr64)) == 0 &&
            stub[ENDBR64_BYTES] == X86_PUSH) {
                uint64_t number = byte_order_read(stub + ENDBR64_BYTES + 1, 4, false);

                if (number < stubs->slots->n_order)
                        return find_slot(stubs->slots, stubs->slots->order[number]);
        }
        return NULL;
}

static int load_x86(const struct stubs *stubs)
{
        size_t stub_bytes = stubs->is_short ? X86_SHORT_BYTES : X86_STUB_BYTES;
        int r = 0;

        for (size_t at = 0; stubs->n_bytes - at >= stub_bytes && r == 0; at += stub_bytes) {
                const struct slot *slot = find_x86_slot(stubs, at, stub_bytes);

                if (slot)
                        r = add_stub(stubs, at, stub_bytes, slot);
        }
        return r;
}

/* The instruction at @offset. */
static uint32_t read_instruction(const struct stubs *stubs, size_t offset)
{
        return (uint32_t)byte_order_read(stubs->bytes + offset, INSTRUCTION_BYTES, false);
}

/* adrp x16, page of the slot; ldr x17, [x16, offset of the slot].  Before them `bti c`, perhaps. */
static uint64_t find_aarch64_slot(uint64_t svma, uint32_t adrp, uint32_t ldr)
{
        uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

        if ((adrp & ARM_ADRP_MASK) != ARM_ADRP_X16 || (ldr & ARM_LDR_MASK) != ARM_LDR_X17_X16)
                return 0;
        if (pages & UINT64_C(1) << 20)
                pages |= UINT64_MAX << 21;
        return (svma & ~UINT64_C(0xfff)) + (pages << 12) + (uint64_t)(ldr >> 10 & 0xfff) * 8;
}

/* auipc t3, the slot's distance; ld t3, its rest(t3). */
static uint64_t find_riscv_slot(uint64_t svma, uint32_t auipc, uint32_t ld)
{
        if ((auipc & RISCV_AUIPC_MASK) != RISCV_AUIPC_T3 || (ld & RISCV_LD_MASK) != RISCV_LD_T3_T3)
                return 0;
        return svma + (uint64_t)(int32_t)(auipc & 0xfffff000) + (uint64_t)((int32_t)ld >> 20);
}

/* The address after the jump that ends the stub at @offset. */
static size_t find_aarch64_end(const struct stubs *stubs, size_t offset)
{
        for (size_t at = offset; at - offset < ARM_STUB_MAX && stubs->n_bytes - at >= INSTRUCTION_BYTES;
             at += INSTRUCTION_BYTES)
                if (read_instruction(stubs, at) == ARM_BR_X17)
                        return at + INSTRUCTION_BYTES;
        return offset + ARM_STUB_BYTES;
}

static size_t find_riscv_end(const struct stubs *stubs, size_t offset)
{
        (void)stubs;
        return offset + RISCV_STUB_BYTES;
}

/* How the stubs of a machine are recognised. */
struct stub_shape {
        uint64_t (*find_slot)(uint64_t svma, uint32_t first, uint32_t second);
        size_t (*find_end)(const struct stubs *stubs, size_t offset);
        size_t stub_bytes; /* at least */
};

static const struct stub_shape aarch64_shape = { find_aarch64_slot, find_aarch64_end, ARM_STUB_BYTES };
static const struct stub_shape riscv_shape = { find_riscv_slot, find_riscv_end, RISCV_STUB_BYTES };

/* Stubs of two known instructions, possibly followed by more. */
static int load_pairs(const struct stubs *stubs, const struct stub_shape *shape)
{
        size_t at = 0;
        int r = 0;

        while (at < stubs->n_bytes && stubs->n_bytes - at >= shape->stub_bytes && r == 0) {
                uint64_t svma = shape->find_slot(stubs->svma + at, read_instruction(stubs, at),
                                                 read_instruction(stubs, at + INSTRUCTION_BYTES));
                const struct slot *slot = svma ? find_slot(stubs->slots, svma) : NULL;
                size_t start = at;

                if (!slot) {
                        at += INSTRUCTION_BYTES;
                        continue;
                }
                if (at >= INSTRUCTION_BYTES && read_instruction(stubs, at - INSTRUCTION_BYTES) == ARM_BTI_C)
                        start -= INSTRUCTION_BYTES;
                at = shape->find_end(stubs, at);
                r = add_stub(stubs, start, at - start, slot);
        }
        return r;
}

static int load_stubs(const struct stubs *stubs, GElf_Half machine)
{
        switch (machine) {
        case EM_X86_64:
                return load_x86(stubs);
        case EM_AARCH64:
                return load_pairs(stubs, &aarch64_shape);
        default: /* EM_RISCV */
                return load_pairs(stubs, &riscv_shape);
        }
}

static bool is_known(Elf *elf, GElf_Ehdr *ret_file)
{
        return gelf_getehdr(elf, ret_file) && ret_file->e_ident[EI_CLASS] == ELFCLASS64 &&
               (ret_file->e_machine == EM_X86_64 || ret_file->e_machine == EM_AARCH64 ||
                ret_file->e_machine == EM_RISCV);
}

/* .plt, .plt.sec, .plt.got, and .iplt of programs that are linked statically. */
static bool is_of_stubs(const GElf_Shdr *header, const char *name)
{
        return header->sh_type == SHT_PROGBITS && header->sh_flags & SHF_EXECINSTR && name &&
               (strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0);
}

/*
 * The linker states the size of a stub for .plt.got, but not for the .plt of a program that is linked
 * statically.
 */
static bool has_short_stubs(const GElf_Shdr *header)
{
        return header->sh_entsize == X86_SHORT_BYTES ||
               (header->sh_entsize == 0 && header->sh_addralign < X86_STUB_BYTES);
}

int plt_table_load(struct plt_table *table, Elf *elf)
{
        struct slots slots = { .slots = NULL };
        Elf_Scn *section = NULL;
        size_t names_index;
        GElf_Ehdr file;
        int r;

        if (!is_known(elf, &file) || elf_getshdrstrndx(elf, &names_index) != 0)
                return 0;
        r = load_slots(&slots, elf);
        while (r == 0 && slots.n_slots > 0 && (section = elf_nextscn(elf, section))) {
                const Elf_Data *data;
                GElf_Shdr header;

                if (!gelf_getshdr(section, &header) ||
                    !is_of_stubs(&header, elf_strptr(elf, names_index, header.sh_name)))
                        continue;
                data = elf_rawdata(section, NULL);
                if (data && data->d_buf)
                        r = load_stubs(&(struct stubs){ .table = table,
                                                        .slots = &slots,
                                                        .elf = elf,
                                                        .bytes = data->d_buf,
                                                        .n_bytes = data->d_size,
                                                        .svma = header.sh_addr,
                                                        .is_short = has_short_stubs(&header) },
                                       file.e_machine);
        }
        free_slots(&slots);
        return r;
}
