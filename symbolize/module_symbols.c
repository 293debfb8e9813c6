/* SPDX-License-Identifier: MIT */
#include "symbolize/module_symbols.h"

#include "base/error.h"
#include "format/trace_rows.h"
#include "symbolize/code_index.h"
#include "symbolize/debug_files.h"
#include "symbolize/elf_image.h"
#include "symbolize/saved_index.h"
#include "symbolize/symbol_table.h"
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct module_symbols {
        const struct elf_image *image;
        /* What a saved index says; without one all of what follows. */
        bool is_saved;
        struct saved_index saved;

        struct debug_files *files;
        struct symbol_table functions;
        uint32_t *
                function_names; /* heap; ids in symbol_names for entries of `functions`, 0 = not asked for yet */
        struct code_names symbol_names; /* readable names of `functions` */
        struct code_index *code;        /* NULL without debug information */

        struct code_place places[SYMBOLIZER_CHAIN_MAX];
        struct symbol found[SYMBOLIZER_CHAIN_MAX];
};

static int find_split(void *context, const char *name, const char *directory, uint64_t dwo_id,
                      const struct debug_sections **ret_sections)
{
        return debug_files_find_split(context, name, directory, dwo_id, ret_sections);
}

/* Linkers leave entries of discarded functions in, at address 0: there is no code, but for images that begin there. */
static uint64_t find_first_code(const struct elf_image *image)
{
        uint64_t first = UINT64_MAX;

        for (size_t i = 0; i < image->n_segments; i++)
                if (image->segments[i].executable && image->segments[i].svma < first)
                        first = image->segments[i].svma;
        return first == UINT64_MAX ? 1 : first;
}

/* Debug information is an extra: without it, or with broken one, there are names still. */
static int load_code(struct module_symbols *module, struct error *err)
{
        struct code_index_source source = { .find_split = find_split, .context = module->files };

        if (debug_files_find_sections(module->files, &source.sections, &source.bias, NULL) <= 0)
                return 0;
        source.supplement = debug_files_find_supplement(module->files);
        source.first_svma = find_first_code(module->image);
        return code_index_new(&source, &module->code, err);
}

int module_symbols_open(const struct elf_image *image, const struct module_symbols_options *options,
                        struct module_symbols **ret_module, struct error *err)
{
        struct module_symbols *module = calloc(1, sizeof(*module));
        int r;

        if (!module)
                return error_set(err, -ENOMEM, "no memory for the symbols of a module");
        module->image = image;
        code_names_init(&module->symbol_names);
        if (options->index && saved_index_open(&module->saved, image, options->index, options->index_bytes)) {
                module->is_saved = true;
                *ret_module = module;
                return 0;
        }
        r = debug_files_open(image, options->path, options->search, &module->files, err);
        if (r == 0)
                r = symbol_table_load(&module->functions, module->files, err);
        if (r < 0)
                goto fail;
        module->function_names = calloc(module->functions.n_entries + 1, sizeof(*module->function_names));
        r = module->function_names ? load_code(module, err)
                                   : error_set(err, -ENOMEM, "no memory for the names of functions");
        if (r < 0)
                goto fail;
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
        code_index_free(module->code);
        free(module->function_names);
        code_names_deinit(&module->symbol_names);
        symbol_table_deinit(&module->functions);
        debug_files_close(module->files);
        free(module);
}

/* The symbol at @svma and its readable name.  False if there is none. */
static bool find_function(struct module_symbols *module, uint64_t svma, struct saved_function *ret_function)
{
        const struct symbol_table_entry *entry;
        uint32_t *name;

        if (module->is_saved)
                return saved_index_find_function(&module->saved, svma, ret_function);
        entry = symbol_table_find(&module->functions, svma);
        if (!entry)
                return false;
        name = &module->function_names[entry - module->functions.entries];
        if (*name == 0)
                (void)code_names_add(&module->symbol_names, entry->name, name);
        *ret_function = (struct saved_function){
                .start_svma = entry->svma,
                .end_svma = entry->size_bytes ? entry->svma + entry->size_bytes : entry->section_end,
                .name = *name ? code_names_show(&module->symbol_names, *name) : entry->name,
        };
        return true;
}

static uint32_t find_places(struct module_symbols *module, uint64_t svma)
{
        if (module->is_saved)
                return saved_index_find(&module->saved, svma, module->places, SYMBOLIZER_CHAIN_MAX);
        return module->code ? code_index_find(module->code, svma, module->places, SYMBOLIZER_CHAIN_MAX) : 0;
}

static const char *find_name(struct module_symbols *module, uint32_t id)
{
        return module->is_saved ? saved_index_name(&module->saved, id)
                                : code_names_show(code_index_names(module->code), id);
}

static const char *find_path(const struct module_symbols *module, uint32_t id)
{
        return module->is_saved ? saved_index_path(&module->saved, id)
                                : code_names_path(code_index_names(module->code), id);
}

uint32_t module_symbols_find(struct module_symbols *module, uint64_t svma, const struct symbol **ret_symbols)
{
        struct saved_function function = { .name = NULL };
        bool is_function = find_function(module, svma, &function);
        uint32_t n = find_places(module, svma);

        for (uint32_t i = 0; i < n; i++) {
                const struct code_place *place = &module->places[i];
                bool is_inlined = i + 1 < n;

                /* The symbol table knows which copy of the outermost function it is (".cold", ".isra.0"). */
                module->found[i] = (struct symbol){
                        .function = !is_inlined && function.name ? function.name
                                                                 : find_name(module, place->name),
                        .file = find_path(module, place->path),
                        .line = place->line,
                        .column = place->column,
                        .flags = is_inlined ? TRACE_SYMBOL_INLINED : 0,
                };
        }
        if (n == 0) {
                if (!is_function)
                        return 0;
                module->found[0] = (struct symbol){ .function = function.name };
                n = 1;
        }
        *ret_symbols = module->found;
        return n;
}

int module_symbols_find_range(struct module_symbols *module, uint64_t svma, struct function_range *ret_range)
{
        struct saved_function function;

        if (!find_function(module, svma, &function))
                return 0;
        *ret_range = (struct function_range){ function.start_svma, function.end_svma };
        return 1;
}

int module_symbols_save(struct module_symbols *module, struct byte_buffer *out, struct error *err)
{
        const struct saved_content content = { .image = module->image,
                                               .functions = &module->functions,
                                               .code = module->code,
                                               .symbol_names = &module->symbol_names };
        int r;

        if (module->is_saved)
                return error_set(err, -EALREADY, "the index of a module is saved already");
        r = module->code ? code_index_complete(module->code, err) : 0;
        return r < 0 ? r : saved_index_write(&content, out, err);
}
