/* SPDX-License-Identifier: MIT */
#include "symbolize/index/symbol_table.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "symbolize/elf/code_extent.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/function_bounds.h"
#include "symbolize/elf/go_functions.h"
#include "symbolize/index/code_names.h"
#include "symbolize/index/debug_files.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void symbol_table_deinit(struct symbol_table *table)
{
        free(table->entries);
        free(table->aliases);
        address_map_deinit(&table->ranges);
        plt_table_deinit(&table->stubs);
        *table = (struct symbol_table){ .entries = NULL };
}

int symbol_table_add(struct symbol_table *table, const struct symbol_table_entry *entry)
{
        if (table->n_entries >= ADDRESS_MAP_NONE ||
            array_reserve(&table->entries, &table->entries_capacity, table->n_entries + 1,
                          sizeof(*table->entries)) < 0)
                return -ENOMEM;
        table->entries[table->n_entries] = *entry;
        table->entries[table->n_entries].order = (uint32_t)table->n_entries;
        table->n_entries++;
        return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

/* A second name that glibc gives functions for calls within itself: "__GI___clone3" is __clone3. */
static bool is_inner_name(const char *name)
{
        return strncmp(name, "__GI_", 5) == 0;
}

/* The best name of an address first; 0 = they are as good. */
static int compare_names(const struct symbol_table_entry *x, const struct symbol_table_entry *y)
{
        int r = compare_numbers(x->is_object, y->is_object);

        if (r == 0)
                r = compare_numbers(x->size_bytes == 0, y->size_bytes == 0);
        if (r == 0)
                r = compare_numbers(is_inner_name(x->name), is_inner_name(y->name));
        if (r == 0)
                r = compare_numbers(x->binding, y->binding);
        if (r == 0)
                r = compare_numbers(strspn(x->name, "_"), strspn(y->name, "_"));
        return r;
}

/* By address; at one address the best name first. */
static int compare_entries(const void *a, const void *b)
{
        const struct symbol_table_entry *x = a, *y = b;
        int r = compare_numbers(x->svma, y->svma);

        if (r == 0)
                r = compare_names(x, y);
        return r != 0 ? r : compare_numbers(x->order, y->order);
}

static int add_alias(struct symbol_table *table, const struct symbol_table_entry *alias, bool is_as_good)
{
        if (array_reserve(&table->aliases, &table->aliases_capacity, table->n_aliases + 1,
                          sizeof(*table->aliases)) < 0)
                return -ENOMEM;
        table->aliases[table->n_aliases] = *alias;
        table->aliases[table->n_aliases++].is_as_good = is_as_good;
        return 0;
}

/* All names of an address share the facts that any one of them states about the code there. */
static void merge(struct symbol_table_entry *kept, const struct symbol_table_entry *other)
{
        if (kept->size_bytes < other->size_bytes)
                kept->size_bytes = other->size_bytes;
        kept->is_label &= other->is_label;
        kept->is_export &= other->is_export;
}

/* Keeps the first entry of each address, with the longest size there; the others become aliases. */
static int set_aliases_apart(struct symbol_table *table)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < table->n_entries && r == 0; i++) {
                const struct symbol_table_entry entry = table->entries[i];
                struct symbol_table_entry *last = table->entries + n_kept;

                if (n_kept == 0 || last[-1].svma != entry.svma) {
                        table->entries[n_kept++] = entry;
                        continue;
                }
                r = add_alias(table, &entry, compare_names(&last[-1], &entry) == 0);
                merge(&last[-1], &entry);
        }
        table->n_entries = n_kept;
        if (table->n_aliases > 0) /* a table may be built twice */
                qsort(table->aliases, table->n_aliases, sizeof(*table->aliases), compare_entries);
        return r;
}

/* Assemblers let the entry of a signal's trampoline begin one byte early: see the ABI's "S" augmentation. */
static bool is_begin_of_entry(const struct function_bound *bound, uint64_t svma)
{
        return svma - bound->start_svma <= 1;
}

/*
 * The end of a symbol without a size; its own address if it covers nothing.
 * @named_end:  where the earlier symbols without a size end
 */
static uint64_t find_end(const struct symbol_table *table, struct symbol_table_entry *entry,
                         const struct symbol_table_entry *next, uint64_t named_end)
{
        const struct function_bound *bound = table->bounds ? function_bounds_find(table->bounds, entry->svma)
                                                           : NULL;
        uint64_t end = entry->section_end, next_bound;

        if (bound && entry->is_label && (entry->svma < named_end || !is_begin_of_entry(bound, entry->svma)))
                return entry->svma;
        if (bound)
                return bound->end_svma;
        next_bound = table->bounds ? function_bounds_find_next(table->bounds, entry->svma) : UINT64_MAX;
        if (next && next->svma < end)
                end = next->svma;
        end = next_bound < end ? next_bound : end;
        if (entry->is_export)
                return table->image ? code_extent_find_end(table->image, entry->svma, end) : entry->svma;
        entry->is_open_ended = true;
        return end;
}

int symbol_table_build(struct symbol_table *table)
{
        uint64_t sized_end = 0; /* where the sized symbols so far end */
        uint64_t named_end = 0; /* where those without a size end */

        if (table->n_entries == 0)
                return 0;
        qsort(table->entries, table->n_entries, sizeof(*table->entries), compare_entries);
        if (set_aliases_apart(table) < 0)
                return -ENOMEM;

        for (size_t i = 0; i < table->n_entries; i++) {
                struct symbol_table_entry *entry = &table->entries[i];
                uint64_t end;

                entry->end_svma = entry->svma;
                if (entry->size_bytes > 0) {
                        if (__builtin_add_overflow(entry->svma, entry->size_bytes, &end))
                                continue;
                        sized_end = end > sized_end && !entry->is_object ? end : sized_end;
                } else if (entry->svma < sized_end) {
                        continue; /* a label within a function */
                } else {
                        end = find_end(table, entry, i + 1 < table->n_entries ? entry + 1 : NULL, named_end);
                        named_end = end > named_end ? end : named_end;
                }
                entry->end_svma = end > entry->svma ? end : entry->svma;
                if (address_map_add(&table->ranges, entry->svma, end, (uint32_t)i) < 0)
                        return -ENOMEM;
        }
        return address_map_build(&table->ranges);
}

const struct symbol_table_entry *symbol_table_find(const struct symbol_table *table, uint64_t svma)
{
        uint32_t at = address_map_find(&table->ranges, svma);

        return at == ADDRESS_MAP_NONE ? NULL : &table->entries[at];
}

void symbol_table_end(struct symbol_table *table, const struct symbol_table_entry *entry, uint64_t end_svma)
{
        table->entries[entry - table->entries].end_svma = end_svma;
}

/* The index of the first alias at @svma or after it. */
static size_t find_aliases(const struct symbol_table *table, uint64_t svma)
{
        size_t low = 0, high = table->n_aliases;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (table->aliases[middle].svma < svma)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

bool symbol_table_has_aliases(const struct symbol_table *table, const struct symbol_table_entry *entry)
{
        size_t at = find_aliases(table, entry->svma);

        for (; at < table->n_aliases && table->aliases[at].svma == entry->svma; at++)
                if (table->aliases[at].is_as_good)
                        return true;
        return false;
}

void symbol_table_choose(struct symbol_table *table, const struct symbol_table_entry *entry, const char *name)
{
        size_t at = find_aliases(table, entry->svma);

        for (; name && at < table->n_aliases && table->aliases[at].svma == entry->svma; at++)
                if (table->aliases[at].is_as_good && strcmp(table->aliases[at].name, name) == 0) {
                        const char *before = entry->name;

                        table->entries[entry - table->entries].name = table->aliases[at].name;
                        table->aliases[at].name = before;
                }
}

/* Whether @text is a whole line of @lines. */
static bool has_line(const struct byte_buffer *lines, const char *text, size_t n_bytes)
{
        const char *at = (const char *)lines->data, *end = at + lines->used_bytes;

        while (at < end) {
                const char *stop = memchr(at, '\n', (size_t)(end - at));
                size_t line_bytes = stop ? (size_t)(stop - at) : (size_t)(end - at);

                if (line_bytes == n_bytes && memcmp(at, text, n_bytes) == 0)
                        return true;
                at += line_bytes + 1;
        }
        return false;
}

/* The readable form of a name of the table, if memory allows. */
static const char *readable_name(struct code_names *names, const char *name)
{
        uint32_t id;

        return code_names_add(names, name, &id) == 0 && id != 0 ? code_names_show(names, id) : name;
}

#define ALIASES_READ_MAX 256 /* aliases of an address that are read to find different ones */

void symbol_table_find_aliases(const struct symbol_table *table, const struct symbol_table_entry *entry,
                               struct code_names *names, struct byte_buffer *out)
{
        const char *own = readable_name(names, entry->name);
        size_t first = find_aliases(table, entry->svma), n = 0;

        byte_buffer_clear(out);
        for (size_t at = first; at < table->n_aliases && table->aliases[at].svma == entry->svma &&
                                n < SYMBOL_TABLE_ALIASES_MAX && at - first < ALIASES_READ_MAX;
             at++) {
                const char *name = readable_name(names, table->aliases[at].name);
                size_t n_bytes = strlen(name);

                if (strcmp(name, own) == 0 || has_line(out, name, n_bytes))
                        continue;
                if (n++ > 0)
                        byte_buffer_add_u8(out, '\n');
                byte_buffer_add(out, name, n_bytes);
        }
}

/* "$x", "$d.3", "$xrv64gc": the marks by which ARM and RISC-V tell code from data. */
static bool is_mapping_mark(const char *name)
{
        return name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) &&
               (name[2] == '\0' || name[2] == '.' || strncmp(name + 2, "rv", 2) == 0);
}

/*
 * True for symbols that are meant for tools: marks, ".L12" of an assembler, and those that annobin adds,
 * some of which have a type.  Compilers also give such names to functions, but with a type:
 * ".omp_outlined.".
 */
static bool is_tool_symbol(const char *name, const GElf_Sym *symbol)
{
        if (strncmp(name, ".annobin", strlen(".annobin")) == 0)
                return true;
        return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && (name[0] == '.' || is_mapping_mark(name));
}

static enum symbol_binding binding_of(const GElf_Sym *symbol)
{
        switch (GELF_ST_BIND(symbol->st_info)) {
        case STB_LOCAL:
                return SYMBOL_BINDING_LOCAL;
        case STB_WEAK:
                return SYMBOL_BINDING_WEAK;
        default:
                return SYMBOL_BINDING_GLOBAL;
        }
}

/*
 * True if @symbol may name code.  A symbol without a type may, if it stands in a code section; so may an
 * object with a size in such a section: Dart exports all the code of a program as one object.
 */
static bool is_function(const GElf_Sym *symbol, const GElf_Shdr *section)
{
        switch (GELF_ST_TYPE(symbol->st_info)) {
        case STT_FUNC:
        case STT_GNU_IFUNC:
                return true;
        case STT_NOTYPE:
                return section->sh_flags & SHF_EXECINSTR;
        case STT_OBJECT:
                return section->sh_flags & SHF_EXECINSTR && symbol->st_size > 0;
        default:
                return false;
        }
}

/* The symbols of one section; those of a 32-bit ARM have the instruction set in their lowest bit. */
static int load_section(struct symbol_table *table, const struct debug_files_symbols *source)
{
        Elf_Data *data = elf_getdata(source->section, NULL);
        GElf_Shdr header, section;
        GElf_Ehdr file;
        size_t n_symbols;
        int r = 0;

        if (!data || !gelf_getshdr(source->section, &header) || !gelf_getehdr(source->elf, &file) ||
            header.sh_entsize == 0)
                return 0;
        n_symbols = data->d_size / header.sh_entsize;
        for (size_t i = 1; i < n_symbols && i <= INT32_MAX && r == 0; i++) {
                const char *name;
                GElf_Sym symbol;
                uint64_t svma;

                if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
                    !gelf_getshdr(elf_getscn(source->elf, symbol.st_shndx), &section) ||
                    !is_function(&symbol, &section))
                        continue;
                name = elf_strptr(source->elf, header.sh_link, symbol.st_name);
                if (!name || !*name || is_tool_symbol(name, &symbol))
                        continue;
                svma = symbol.st_value + source->bias;
                if (file.e_type == ET_REL)
                        svma += section.sh_addr;
                if (file.e_machine == EM_ARM && GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE)
                        svma &= ~UINT64_C(1);
                r = symbol_table_add(table,
                                     &(struct symbol_table_entry){
                                             .svma = svma,
                                             .size_bytes = symbol.st_size,
                                             .section_end = source->bias + section.sh_addr + section.sh_size,
                                             .name = name,
                                             .binding = binding_of(&symbol),
                                             .is_label = GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE,
                                             .is_object = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT,
                                             .is_export = header.sh_type == SHT_DYNSYM,
                                     });
        }
        return r;
}

/* A stub for an ifunc of the module itself is named after the resolver, the function that chooses. */
static int name_resolved_stubs(struct symbol_table *table)
{
        bool is_built = false;
        int r = 0;

        for (size_t i = 0; i < table->stubs.n_entries && r == 0; i++) {
                struct plt_entry *stub = &table->stubs.entries[i];
                const struct symbol_table_entry *resolver;

                if (stub->name_off != PLT_ENTRY_UNNAMED)
                        continue;
                if (!is_built)
                        r = symbol_table_build(table);
                is_built = true;
                resolver = r == 0 ? symbol_table_find(table, stub->resolver_svma) : NULL;
                if (resolver && resolver->svma == stub->resolver_svma &&
                    plt_table_add_name(&table->stubs, stub, resolver->name) == -ENOMEM)
                        r = -ENOMEM;
        }
        address_map_deinit(&table->ranges); /* more is added */
        return r;
}

static int add_stubs(struct symbol_table *table)
{
        int r = name_resolved_stubs(table);

        for (size_t i = 0; i < table->stubs.n_entries && r == 0; i++) {
                const struct plt_entry *stub = &table->stubs.entries[i];
                const char *name = plt_table_find_name(&table->stubs, stub);

                if (name)
                        r = symbol_table_add(table, &(struct symbol_table_entry){
                                                            .svma = stub->svma,
                                                            .size_bytes = stub->size_bytes,
                                                            .section_end = stub->svma + stub->size_bytes,
                                                            .name = name,
                                                            .binding = SYMBOL_BINDING_LOCAL,
                                                    });
        }
        return r;
}

static bool has_whole_table(const struct debug_files_symbols *sources, size_t n_sources)
{
        GElf_Shdr header;

        return n_sources > 0 && gelf_getshdr(sources[0].section, &header) && header.sh_type == SHT_SYMTAB;
}

/* Go's own table names all functions, whatever was stripped; symbols of the same addresses say the same. */
static int add_go_functions(struct symbol_table *table, const struct elf_image *image)
{
        struct go_functions go;
        int r = 0;

        if (!go_functions_open(&go, image))
                return 0;
        for (uint32_t i = 0; i < go.n_functions && r == 0; i++) {
                struct go_function f;

                if (go_functions_get(&go, i, &f))
                        r = symbol_table_add(table, &(struct symbol_table_entry){
                                                            .svma = f.start_svma,
                                                            .size_bytes = f.end_svma - f.start_svma,
                                                            .section_end = f.end_svma,
                                                            .name = f.name,
                                                            .binding = SYMBOL_BINDING_WEAK,
                                                    });
        }
        return r;
}

/*
 * Loads the bounds of functions, if some symbol does not state its size.  Without memory for them, no
 * bounds are known.
 */
static void load_bounds(struct symbol_table *table, const struct elf_image *image,
                        struct function_bounds *bounds)
{
        for (size_t i = 0; i < table->n_entries; i++)
                if (table->entries[i].size_bytes == 0) {
                        (void)function_bounds_load(bounds, image);
                        table->bounds = bounds;
                        table->image = image;
                        return;
                }
}

int symbol_table_load(struct symbol_table *table, struct debug_files *files, struct function_bounds *bounds,
                      struct error *err)
{
        struct debug_files_symbols sources[DEBUG_FILES_SYMBOL_SOURCES];
        size_t n_sources = debug_files_find_symbols(files, sources);
        int r = 0;

        for (size_t i = 0; i < n_sources && r == 0; i++)
                r = load_section(table, &sources[i]);
        if (r < 0)
                goto fail;
        load_bounds(table, debug_files_image(files), bounds);
        r = plt_table_load(&table->stubs, debug_files_image(files)->elf);
        if (r < 0)
                goto fail;
        r = add_stubs(table);
        if (r < 0)
                goto fail;
        if (!has_whole_table(sources, n_sources))
                r = add_go_functions(table, debug_files_image(files));
        if (r < 0)
                goto fail;
        r = symbol_table_build(table);
        if (r < 0)
                goto fail;
        return 0;

fail:
        return error_set(err, r, "no memory for %zu symbols", table->n_entries);
}
