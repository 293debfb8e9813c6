/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/module_symbols.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/mapped_path.h"
#include "format/trace_rows.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/function_bounds.h"
#include "symbolize/elf/go_functions.h"
#include "symbolize/elf/plt_table.h"
#include "symbolize/index/code_index.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/index/saved_index.h"
#include "symbolize/index/symbol_table.h"
#include "symbolize/symbols/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_TABLE_MIN   16384 /* functions; to read and sort so many takes some 10 ms */
#define UNNAMED_BYTES     512   /* of a name; a module's longer one is cut */
#define UNNAMED_END_BYTES 20    /* "+0x", 16 digits, NUL */

struct module_symbols {
        const struct elf_image *image;
        /* The contents of a saved index; without one, all of the following is used. */
        bool is_saved;
        struct saved_index saved;

        struct debug_files *files;
        struct symbol_table functions;
        /* heap; ids in symbol_names for entries of `functions`, 0 = not asked for yet */
        uint32_t *function_names;
        struct code_names symbol_names; /* readable names of `functions` */
        struct code_index *code;        /* NULL without debug information */

        struct go_functions go; /* of a Go program: lines where the debug information has none */

        const char *name; /* borrowed; of the module; NULL = functions without a symbol stay unnamed */
        /* loaded when a symbol has no size, or the first address without a symbol comes */
        struct function_bounds bounds;
        struct byte_buffer aliases;  /* of the latest function, with a NUL */
        char unnamed[UNNAMED_BYTES]; /* the latest name of a function without a symbol */

        struct code_place places[SYMBOLIZER_CHAIN_MAX];
        struct symbol found[SYMBOLIZER_CHAIN_MAX];
};

static int find_split(void *context, const char *name, const char *directory, uint64_t dwo_id,
                      const struct debug_sections **ret_sections)
{
        return debug_files_find_split(context, name, directory, dwo_id, ret_sections);
}

/* Debug information is an extra: without it, or with broken one, there are names still. */
static int load_code(struct module_symbols *module, struct error *err)
{
        struct code_index_source source = { .find_split = find_split, .context = module->files };

        if (debug_files_find_sections(module->files, &source.sections, &source.bias, NULL) <= 0)
                return 0;
        source.supplement = debug_files_find_supplement(module->files);
        source.first_svma = elf_image_first_code(module->image);
        return code_index_new(&source, &module->code, err);
}

/* Ada and Nim put functions with known names into each of their files. */
static void set_mangling(struct module_symbols *module)
{
        enum mangling mangling = MANGLING_ANY;

        for (size_t i = 0; i < module->functions.n_entries && mangling == MANGLING_ANY; i++)
                mangling = demangle_rules_mangling(module->functions.entries[i].name);
        module->symbol_names.mangling = mangling;
        if (module->code)
                code_index_names(module->code)->mangling = mangling;
}

/* One without debug information is out of date once there is a file with it. */
static bool open_saved(struct module_symbols *module, const struct module_symbols_options *options)
{
        module->is_saved =
                options->index &&
                saved_index_open(&module->saved, module->image, options->index, options->index_bytes) &&
                (saved_index_has_units(&module->saved) || !debug_files_have_separate(module->files));
        return module->is_saved;
}

int module_symbols_open(const struct elf_image *image, const struct module_symbols_options *options,
                        struct module_symbols **ret_module, struct error *err)
{
        struct module_symbols *module = calloc(1, sizeof(*module));
        int r;

        if (!module)
                return error_set(err, -ENOMEM, "no memory for the symbols of a module");
        module->image = image;
        module->name = options->name;
        code_names_init(&module->symbol_names);
        r = debug_files_open(image, options->path, options->search, &module->files, err);
        if (r == 0 && open_saved(module, options)) {
                *ret_module = module;
                return 0;
        }
        (void)go_functions_open(&module->go, image);
        if (r == 0)
                r = symbol_table_load(&module->functions, module->files, &module->bounds, err);
        if (r < 0)
                goto fail;
        module->function_names = calloc(module->functions.n_entries + 1, sizeof(*module->function_names));
        r = module->function_names ? load_code(module, err)
                                   : error_set(err, -ENOMEM, "no memory for the names of functions");
        if (r < 0)
                goto fail;
        set_mangling(module);
        *ret_module = module;
        return 0;

fail:
        module_symbols_close(module);
        return r;
}

bool module_symbols_is_saved(const struct module_symbols *module)
{
        return module->is_saved;
}

bool module_symbols_has_large_table(const struct module_symbols *module)
{
        return module->functions.n_entries >= LARGE_TABLE_MIN && !debug_files_have_separate(module->files);
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
        function_bounds_deinit(&module->bounds);
        byte_buffer_deinit(&module->aliases);
        free(module);
}

/* A symbol of unknown extent ends where the debug information has another function. */
static void choose_end(struct module_symbols *module, const struct symbol_table_entry *entry)
{
        if (module->code && entry->is_open_ended)
                symbol_table_end(&module->functions, entry,
                                 code_index_find_next(module->code, entry->svma, entry->end_svma));
}

/*
 * Among equally good names, the one in the debug information wins: gcc 14 adds others, for linking with the
 * output of older compilers, in which a lambda has another number.
 */
static void choose_name(struct module_symbols *module, const struct symbol_table_entry *entry)
{
        uint32_t n;

        if (!module->code || !symbol_table_has_aliases(&module->functions, entry))
                return;
        n = code_index_find(module->code, entry->svma, module->places, SYMBOLIZER_CHAIN_MAX);
        if (n > 0)
                symbol_table_choose(
                        &module->functions, entry,
                        code_names_linkage(code_index_names(module->code), module->places[n - 1].name));
}

/* Readable aliases, valid until the next call; NULL if there are none. */
static const char *find_aliases_of(struct module_symbols *module, const struct symbol_table_entry *entry)
{
        struct byte_buffer *aliases = &module->aliases;

        symbol_table_find_aliases(&module->functions, entry, &module->symbol_names, aliases);
        if (aliases->used_bytes == 0)
                return NULL;
        byte_buffer_add_u8(aliases, '\0');
        return aliases->failed ? NULL : (const char *)aliases->data;
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
        if (*name == 0) {
                choose_name(module, entry);
                choose_end(module, entry);
                (void)code_names_add(&module->symbol_names, entry->name, name);
        }
        if (entry->size_bytes == 0 && svma >= entry->end_svma)
                return false;
        *ret_function = (struct saved_function){
                .start_svma = entry->svma,
                .end_svma = entry->end_svma,
                .has_no_size = entry->size_bytes == 0,
                .name = *name ? code_names_show(&module->symbol_names, *name) : entry->name,
                .aliases = find_aliases_of(module, entry),
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

static struct code_declaration find_declaration(struct module_symbols *module, uint32_t id)
{
        return module->is_saved ? saved_index_declaration(&module->saved, id)
                                : code_names_declaration(code_index_names(module->code), id);
}

static const char *find_path(const struct module_symbols *module, uint32_t id)
{
        return module->is_saved ? saved_index_path(&module->saved, id)
                                : code_names_path(code_index_names(module->code), id);
}

char *module_symbols_copy_name(const char *path, size_t n_bytes)
{
        static const char ending[] = ".so";
        const size_t ending_bytes = sizeof(ending) - 1;
        const char *slash, *at;

        n_bytes = mapped_path_count(path, n_bytes);
        slash = n_bytes > 0 ? memrchr(path, '/', n_bytes - 1) : NULL;
        if (slash) {
                n_bytes -= (size_t)(slash + 1 - path);
                path = slash + 1;
        }
        /* The name leaves out the version: "libz.so.1.2.13" is "libz". */
        for (at = path; n_bytes > 0 && (at = memmem(at, n_bytes - (size_t)(at - path), ending, ending_bytes));
             at += ending_bytes)
                if (at > path && ((size_t)(at - path) + ending_bytes == n_bytes || at[ending_bytes] == '.')) {
                        n_bytes = (size_t)(at - path);
                        break;
                }
        return n_bytes > 0 ? strndup(path, n_bytes) : NULL;
}

/* NULL if no unwind information tells. */
static const struct function_bound *find_bound(struct module_symbols *module, uint64_t svma)
{
        (void)function_bounds_load(&module->bounds, module->image); /* without memory they have no names */
        return function_bounds_find(&module->bounds, svma);
}

/* "libruby-3.1+0x1a20", valid until the next call; NULL if nothing tells where the function begins. */
static const char *make_name(struct module_symbols *module, uint64_t svma)
{
        const struct function_bound *bound = module->name ? find_bound(module, svma) : NULL;

        if (!bound)
                return NULL;
        (void)snprintf(module->unnamed, sizeof(module->unnamed), "%.*s+0x%" PRIx64,
                       (int)sizeof(module->unnamed) - UNNAMED_END_BYTES, module->name, bound->start_svma);
        return module->unnamed;
}

/* A function may have several stubs, which people see as one. */
static bool is_stub(const char *name)
{
        size_t n_bytes = strlen(name);

        return n_bytes > sizeof(PLT_TABLE_SUFFIX) - 1 &&
               strcmp(name + n_bytes - (sizeof(PLT_TABLE_SUFFIX) - 1), PLT_TABLE_SUFFIX) == 0;
}

uint32_t module_symbols_find(struct module_symbols *module, uint64_t svma, const struct symbol **ret_symbols)
{
        struct saved_function function = { .name = NULL };
        bool is_function = find_function(module, svma, &function);
        uint32_t n = find_places(module, svma);
        bool is_known = is_function || n > 0;

        for (uint32_t i = 0; i < n; i++) {
                const struct code_place *place = &module->places[i];
                struct code_declaration declaration = find_declaration(module, place->name);
                const char *name = find_name(module, place->name);
                bool is_inlined = i + 1 < n;

                /* The symbol table knows which copy of the outermost function it is (".cold", ".isra.0"). */
                if (!is_inlined && function.name && (!function.has_no_size || !name))
                        name = function.name;
                module->found[i] = (struct symbol){
                        .function = name,
                        .file = find_path(module, place->path),
                        .line = place->line,
                        .column = place->column,
                        .flags = is_inlined ? TRACE_SYMBOL_INLINED : 0,
                        .declared_file = find_path(module, declaration.path),
                        .declared_line = declaration.line,
                        .instance = declaration.instance,
                };
        }
        if (n == 0) {
                struct go_place place = { .file = NULL };

                if (is_function && module->go.bytes)
                        (void)go_functions_find_place(&module->go, svma, &place);
                module->found[0] =
                        (struct symbol){ .function = function.name, .file = place.file, .line = place.line };
                n = 1;
        }
        if (function.name && module->found[n - 1].function == function.name && !is_stub(function.name)) {
                module->found[n - 1].start_svma = function.start_svma;
                module->found[n - 1].aliases = function.aliases;
        }
        if (!module->found[n - 1].function) {
                module->found[n - 1].function = make_name(module, svma);
                if (module->found[n - 1].function)
                        module->found[n - 1].flags |= TRACE_SYMBOL_UNNAMED;
                else if (!is_known)
                        return 0;
        }
        *ret_symbols = module->found;
        return n;
}

int module_symbols_find_range(struct module_symbols *module, uint64_t svma, struct function_range *ret_range)
{
        struct saved_function function = { .name = NULL };
        bool is_function = find_function(module, svma, &function);
        const struct function_bound *bound;
        struct function_range range;

        if (is_function && !function.has_no_size) {
                *ret_range = (struct function_range){ function.start_svma, function.end_svma };
                return 1;
        }
        if (module->is_saved
                    ? saved_index_find_extent(&module->saved, svma, &range.start_svma, &range.end_svma)
                    : module->code && code_index_find_extent(module->code, svma, &range.start_svma,
                                                             &range.end_svma)) {
                *ret_range = range;
                return 1;
        }
        if (is_function) {
                *ret_range = (struct function_range){ function.start_svma, function.end_svma };
                return 1;
        }
        bound = find_bound(module, svma);
        if (!bound)
                return 0;
        *ret_range = (struct function_range){ bound->start_svma, bound->end_svma };
        return 1;
}

int module_symbols_save(struct module_symbols *module, struct byte_buffer *out, struct error *err)
{
        const struct saved_content content = { .image = module->image,
                                               .functions = &module->functions,
                                               .code = module->code,
                                               .symbol_names = &module->symbol_names };
        int r;

        if (module->go.bytes && !module->code)
                return error_set(err, -EOVERFLOW,
                                 "the lines of a Go program are read as fast from the program");
        if (module->files && debug_files_are_of_folder(module->files))
                return error_set(err, -EOVERFLOW, "debug information that only its folder tells is not kept");
        if (module->is_saved)
                return error_set(err, -EALREADY, "the index of a module is saved already");
        r = module->code ? code_index_complete(module->code, err) : 0;
        for (size_t i = 0; r == 0 && i < module->functions.n_entries; i++) {
                choose_name(module, &module->functions.entries[i]);
                choose_end(module, &module->functions.entries[i]);
        }
        return r < 0 ? r : saved_index_write(&content, out, err);
}
