/* SPDX-License-Identifier: MIT */
#include "symbolize/images/module_landmarks.h"

#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/split_function.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/*
 * Hardly any file has the symbol, and some files have a million symbols, so the string table is searched
 * first, as bytes.  A name may be the end of a longer one.
 */
static bool find_name(const Elf_Data *names, const char *name, size_t *ret_off)
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

        if (!names || !find_name(elf_rawdata(names, NULL), name, &name_off))
                return false;
        symbols = elf_getdata(section, NULL);
        for (int i = 0; symbols && i < INT_MAX && gelf_getsym(symbols, i, ret_symbol); i++)
                if (ret_symbol->st_name == name_off && ret_symbol->st_shndx != SHN_UNDEF &&
                    ret_symbol->st_value != 0)
                        return true;
        return false;
}

static bool find_symbol(const struct elf_image *image, const char *name, GElf_Sym *ret_symbol)
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

/* CPython 3.11 and later have their state in a section of its own. */
static bool has_python_section(const struct elf_image *image)
{
        GElf_Shdr header;

        return elf_image_find_section(image, ".PyRuntime", &header) != NULL;
}

static void find_rest(const struct elf_image *image, struct module_landmarks *found)
{
        const struct function_bound eval = { .start_svma = found->python_eval_svma,
                                             .end_svma = found->python_eval_svma + found->python_eval_bytes };
        struct function_bound rest;

        if (!split_function_find(image, &eval, &rest))
                return;
        found->python_rest_svma = rest.start_svma;
        found->python_rest_bytes = rest.end_svma - rest.start_svma;
}

static void find_python(const struct elf_image *image, struct module_landmarks *found)
{
        bool has_runtime, has_version, has_eval;
        GElf_Sym runtime, version, eval, old;

        has_eval = find_symbol(image, "_PyEval_EvalFrameDefault", &eval);
        has_runtime = find_symbol(image, "_PyRuntime", &runtime);
        has_version = find_symbol(image, "Py_Version", &version);
        if (has_eval && has_runtime && has_version) {
                found->python_runtime_svma = runtime.st_value;
                found->python_version_svma = version.st_value;
                found->python_eval_svma = eval.st_value;
                found->python_eval_bytes = eval.st_size;
                find_rest(image, found);
        } else if (!has_version && find_symbol(image, "PyEval_EvalFrameEx", &old)) {
                found->python_is_old = true;
        } else {
                found->python_is_stripped = has_python_section(image);
        }
}

static struct elf_image_part first_code(const struct elf_image *image)
{
        for (size_t i = 0; i < image->n_segments; i++)
                if (image->segments[i].executable)
                        return (struct elf_image_part){ .file_off = image->segments[i].file_off,
                                                        .file_bytes = image->segments[i].file_bytes,
                                                        .svma = image->segments[i].svma };
        return (struct elf_image_part){ .file_bytes = 0 };
}

void module_landmarks_find(const struct elf_image *image, struct module_landmarks *ret_landmarks)
{
        GElf_Sym symbol;

        *ret_landmarks = (struct module_landmarks){ .code = first_code(image) };
        if (find_symbol(image, "__jit_debug_descriptor", &symbol))
                ret_landmarks->jit_svma = symbol.st_value;
        find_python(image, ret_landmarks);
}
