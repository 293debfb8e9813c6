/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/jit_descriptor.h"

#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

static const char name[] = "__jit_debug_descriptor";

/*
 * Hardly any file has it, and some have a million symbols: so the names are searched first, as bytes.  A name
 * may be the end of a longer one.
 */
static bool jit_descriptor_find_name(const Elf_Data *names, size_t *ret_off)
{
        const char *bytes = names && names->d_buf ? names->d_buf : NULL;
        const char *found = bytes ? memmem(bytes, names->d_size, name, sizeof(name)) : NULL;

        if (found)
                *ret_off = (size_t)(found - bytes);
        return found != NULL;
}

static bool find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t *ret_svma)
{
        Elf_Scn *names = elf_getscn(elf, header->sh_link);
        Elf_Data *symbols;
        GElf_Sym symbol;
        size_t name_off;

        if (!names || !jit_descriptor_find_name(elf_rawdata(names, NULL), &name_off))
                return false;
        symbols = elf_getdata(section, NULL);
        for (int i = 0; symbols && i < INT_MAX && gelf_getsym(symbols, i, &symbol); i++) {
                if (symbol.st_name != name_off || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0)
                        continue;
                *ret_svma = symbol.st_value;
                return true;
        }
        return false;
}

int jit_descriptor_find(const struct elf_image *image, uint64_t *ret_svma)
{
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while ((section = elf_nextscn(image->elf, section)))
                if (gelf_getshdr(section, &header) &&
                    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
                    find_in_table(image->elf, section, &header, ret_svma))
                        return 1;
        return 0;
}
