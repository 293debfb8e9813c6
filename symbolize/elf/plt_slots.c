/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/plt_slots.h"

#include "base/array.h"
#include "symbolize/elf/plt_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void plt_slots_deinit(struct plt_slots *slots)
{
        free(slots->slots);
        free(slots->order);
        *slots = (struct plt_slots){ .slots = NULL };
}

/*
 * Relocations that are resolved when the module is loaded, to the address of a function
 * that is in the module.
 */
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

static int add_slot(struct plt_slots *slots, const struct plt_slot *slot)
{
        if (slots->n_slots >= PLT_TABLE_SLOTS_MAX)
                return 0;
        if (array_reserve(&slots->slots, &slots->slots_capacity, slots->n_slots + 1, sizeof(*slots->slots)) <
            0)
                return -ENOMEM;
        slots->slots[slots->n_slots++] = *slot;
        return 0;
}

static int add_to_order(struct plt_slots *slots, uint64_t svma)
{
        if (slots->n_order >= PLT_TABLE_SLOTS_MAX)
                return 0;
        if (array_reserve(&slots->order, &slots->order_capacity, slots->n_order + 1, sizeof(*slots->order)) <
            0)
                return -ENOMEM;
        slots->order[slots->n_order++] = svma;
        return 0;
}

static int load_section(struct plt_slots *slots, Elf_Scn *section, const GElf_Shdr *header, GElf_Half machine,
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
                r = add_slot(slots, &(struct plt_slot){ .svma = relocation.r_offset,
                                                        .addend = (uint64_t)relocation.r_addend,
                                                        .table = header->sh_link,
                                                        .symbol = (uint32_t)symbol });
        }
        return r;
}

static int compare_slots(const void *a, const void *b)
{
        const struct plt_slot *x = a, *y = b;

        return x->svma < y->svma ? -1 : x->svma > y->svma;
}

/* All relocations of the machines supported here are SHT_RELA, with an addend. */
int plt_slots_load(struct plt_slots *slots, Elf *elf)
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
                r = load_section(slots, section, &header, file.e_machine,
                                 name && strcmp(name, ".rela.plt") == 0);
        }
        if (r == 0 && slots->n_slots > 1)
                qsort(slots->slots, slots->n_slots, sizeof(*slots->slots), compare_slots);
        return r;
}

const struct plt_slot *plt_slots_find(const struct plt_slots *slots, uint64_t svma)
{
        const struct plt_slot wanted = { .svma = svma };

        if (slots->n_slots == 0)
                return NULL;
        return bsearch(&wanted, slots->slots, slots->n_slots, sizeof(*slots->slots), compare_slots);
}
