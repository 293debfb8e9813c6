/* SPDX-License-Identifier: MIT */
#include "symbolize/module_symbols.h"

#include "base/error.h"
#include "format/trace_rows.h"
#include "symbolize/debug_files.h"
#include "symbolize/demangle.h"
#include "symbolize/inline_table.h"
#include "symbolize/line_table.h"
#include "symbolize/symbol_table.h"
#include "symbolize/symbolizer.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Addresses come in order, so the function at one place of the chain is often that of the address before,
 * and so is its file: what was made of a text of the file's is kept for the next one.
 */
struct known_text {
        const char *source; /* borrowed from the files; told apart by its place in memory */
        char *text;         /* heap; NULL = the source as it is */
};

struct unit_inlines {
        struct inline_table table;
        bool is_loaded;
};

struct module_symbols {
        struct debug_files *files;
        struct symbol_table functions;
        struct line_table lines;      /* empty without debug information */
        struct unit_inlines *inlines; /* heap; one a unit of `lines` */
        struct known_text names[SYMBOLIZER_CHAIN_MAX];
        struct known_text paths[SYMBOLIZER_CHAIN_MAX];
        struct inline_call calls[SYMBOLIZER_CHAIN_MAX];
        struct symbol found[SYMBOLIZER_CHAIN_MAX];
};

/* Debug information is an extra: without it, or with broken one, there are names still. */
static void load_lines(struct module_symbols *module)
{
        uint64_t bias;
        Dwarf *dwarf = debug_files_find_dwarf(module->files, &bias);

        if (!dwarf)
                return;
        if (line_table_load(&module->lines, dwarf, bias, NULL) == 0)
                module->inlines = calloc(module->lines.n_units + 1, sizeof(*module->inlines));
        if (!module->inlines)
                line_table_deinit(&module->lines);
}

int module_symbols_open(const struct elf_image *image, const struct module_symbols_options *options,
                        struct module_symbols **ret_module, struct error *err)
{
        struct module_symbols *module = calloc(1, sizeof(*module));
        int r;

        if (!module)
                return error_set(err, -ENOMEM, "no memory for the symbols of a module");
        r = debug_files_open(image, options->path, &module->files, err);
        if (r < 0)
                goto fail;
        r = symbol_table_load(&module->functions, module->files, err);
        if (r < 0)
                goto fail;
        load_lines(module);
        *ret_module = module;
        return 0;

fail:
        module_symbols_close(module);
        return r;
}

void module_symbols_close(struct module_symbols *module)
{
        if (!module)
                return;
        for (size_t i = 0; i < SYMBOLIZER_CHAIN_MAX; i++) {
                free(module->names[i].text);
                free(module->paths[i].text);
        }
        for (size_t i = 0; module->inlines && i < module->lines.n_units; i++)
                inline_table_deinit(&module->inlines[i].table);
        free(module->inlines);
        line_table_deinit(&module->lines);
        symbol_table_deinit(&module->functions);
        debug_files_close(module->files);
        free(module);
}

/* Demangled and without the version that symbol tables add: "write@@GLIBC_2.2.5".  NULL = it stays as it is. */
static char *make_name(const char *mangled)
{
        const char *version = strchr(mangled, '@');
        char *bare, *name;

        if (!version || version == mangled)
                return demangle_name(mangled);
        bare = strndup(mangled, (size_t)(version - mangled));
        if (!bare)
                return NULL;
        name = demangle_name(bare);
        if (!name)
                return bare;
        free(bare);
        return name;
}

static const char *find_name(struct known_text *known, const char *mangled)
{
        if (mangled && known->source != mangled) {
                free(known->text);
                known->text = make_name(mangled);
                known->source = mangled;
        }
        return mangled && known->text ? known->text : mangled;
}

/* A relative @file is one of the directory that the unit was compiled in. */
static char *make_path(Dwarf_Die *unit, const char *file)
{
        Dwarf_Attribute attribute;
        const char *directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
        char *path;

        if (file[0] == '/' || !directory || asprintf(&path, "%s/%s", directory, file) < 0)
                return NULL;
        return path;
}

static const char *find_path(struct known_text *known, Dwarf_Die *unit, const char *file)
{
        if (known->source != file) {
                free(known->text);
                known->text = make_path(unit, file);
                known->source = file;
        }
        return known->text ? known->text : file;
}

static size_t find_calls(struct module_symbols *module, uint32_t unit, uint64_t svma)
{
        struct unit_inlines *inlines = &module->inlines[unit];
        Dwarf_Die *die = &module->lines.units[unit].die;

        if (!inlines->is_loaded) {
                inlines->is_loaded = true; /* also when it fails: it would fail again */
                if (inline_table_load(&inlines->table, die, module->lines.bias, NULL) < 0)
                        inline_table_deinit(&inlines->table);
        }
        return inline_table_find(&inlines->table, die, svma, module->calls, SYMBOLIZER_CHAIN_MAX);
}

uint32_t module_symbols_find(struct module_symbols *module, uint64_t svma, const struct symbol **ret_symbols)
{
        const struct symbol_table_entry *function = symbol_table_find(&module->functions, svma);
        uint32_t unit = line_table_find_unit(&module->lines, svma);
        struct line_position position = { .file = NULL };
        struct symbol *found = module->found;
        Dwarf_Die *die = NULL;
        size_t n = 0;

        if (unit != ADDRESS_MAP_NONE) {
                die = &module->lines.units[unit].die;
                position = line_table_find(&module->lines, unit, svma);
                n = find_calls(module, unit, svma);
        }
        if (n == 0) {
                if (!function && !position.file)
                        return 0;
                module->calls[0] = (struct inline_call){ .function = NULL };
                n = 1;
        }
        /* The symbol table knows which copy of the function it is (".cold", ".isra.0"). */
        if (function)
                module->calls[n - 1].function = function->name;

        for (size_t i = 0; i < n; i++) {
                found[i] = (struct symbol){
                        .function = find_name(&module->names[i], module->calls[i].function),
                        .file = position.file ? find_path(&module->paths[i], die, position.file) : NULL,
                        .line = position.line,
                        .column = position.column,
                        .flags = i + 1 < n ? TRACE_SYMBOL_INLINED : 0,
                };
                /* The next function out is at the place of this call. */
                position = (struct line_position){ module->calls[i].call_file, module->calls[i].call_line,
                                                   module->calls[i].call_column };
        }
        *ret_symbols = found;
        return (uint32_t)n;
}

int module_symbols_find_range(struct module_symbols *module, uint64_t svma, struct function_range *ret_range)
{
        const struct symbol_table_entry *entry = symbol_table_find(&module->functions, svma);

        if (!entry)
                return 0;
        *ret_range = (struct function_range){ entry->svma, entry->size_bytes ? entry->svma + entry->size_bytes
                                                                             : entry->section_end };
        return 1;
}

int module_symbols_save(struct module_symbols *module, struct byte_buffer *out, struct error *err)
{
        (void)module;
        (void)out;
        return error_set(err, -EOVERFLOW, "this index cannot be saved");
}
