/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/module_landmarks.h"

#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/*
 * Hardly any file has it, and some have a million symbols: so the names are searched first, as bytes.  A name
 * may be the end of a longer one.
 */
static bool module_landmarks_find_name(const Elf_Data *names, const char *name, size_t *ret_off)
{
        const char *bytes = names && names->d_buf ? names->d_buf : NULL;
        const char *found = bytes ? memmem(bytes, names->d_size, name, strlen(name) + 1) : NULL;

        if (found)
                *ret_off = (size_t)(found - bytes);
        return found != NULL;
}

static bool find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
                          GElf_Sym *ret_symbol)
{
        Elf_Scn *names = elf_getscn(elf, header->sh_link);
        Elf_Data *symbols;
        size_t name_off;

        if (!names || !module_landmarks_find_name(elf_rawdata(names, NULL), name, &name_off))
                return false;
        symbols = elf_getdata(section, NULL);
        for (int i = 0; symbols && i < INT_MAX && gelf_getsym(symbols, i, ret_symbol); i++)
                if (ret_symbol->st_name == name_off && ret_symbol->st_shndx != SHN_UNDEF &&
                    ret_symbol->st_value != 0)
                        return true;
        return false;
}

static bool module_landmarks_find_symbol(const struct elf_image *image, const char *name,
                                         GElf_Sym *ret_symbol)
{
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while ((section = elf_nextscn(image->elf, section)))
                if (gelf_getshdr(section, &header) &&
                    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
                    find_in_table(image->elf, section, &header, name, ret_symbol))
                        return true;
        return false;
}

void module_landmarks_find(const struct elf_image *image, struct module_landmarks *ret_landmarks)
{
        struct module_landmarks *found = ret_landmarks;
        GElf_Sym symbol, version, eval;

        *found = (struct module_landmarks){ .jit_svma = 0 };
        if (module_landmarks_find_symbol(image, "__jit_debug_descriptor", &symbol))
                found->jit_svma = symbol.st_value;
        if (!module_landmarks_find_symbol(image, "_PyRuntime", &symbol) ||
            !module_landmarks_find_symbol(image, "Py_Version", &version) ||
            !module_landmarks_find_symbol(image, "_PyEval_EvalFrameDefault", &eval))
                return;
        found->python_runtime_svma = symbol.st_value;
        found->python_version_svma = version.st_value;
        found->python_eval_svma = eval.st_value;
        found->python_eval_bytes = eval.st_size;
}
