/* SPDX-License-Identifier: MIT */
#include "symbolize/index/symbol_table.h"

#include "base/array.h"
#include "base/error.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/go_functions.h"
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

static int symbol_table_compare_numbers(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

/* A second name that glibc gives functions for calls within itself: "__GI___clone3" is __clone3. */
static bool is_inner_name(const char *name)
{
        return strncmp(name, "__GI_", 5) == 0;
}

/* The best name of an address first; 0 = they are as good. */
static int symbol_table_compare_names(const struct symbol_table_entry *x, const struct symbol_table_entry *y)
{
        int r = symbol_table_compare_numbers(x->size_bytes == 0, y->size_bytes == 0);

        if (r == 0)
                r = symbol_table_compare_numbers(is_inner_name(x->name), is_inner_name(y->name));
        if (r == 0)
                r = symbol_table_compare_numbers(x->binding, y->binding);
        if (r == 0)
                r = symbol_table_compare_numbers(strspn(x->name, "_"), strspn(y->name, "_"));
        return r;
}

/* By address; at one address the best name first. */
static int compare_entries(const void *a, const void *b)
{
        const struct symbol_table_entry *x = a, *y = b;
        int r = symbol_table_compare_numbers(x->svma, y->svma);

        if (r == 0)
                r = symbol_table_compare_names(x, y);
        return r != 0 ? r : symbol_table_compare_numbers(x->order, y->order);
}

static int add_alias(struct symbol_table *table, const struct symbol_table_entry *alias)
{
        if (array_reserve(&table->aliases, &table->aliases_capacity, table->n_aliases + 1,
                          sizeof(*table->aliases)) < 0)
                return -ENOMEM;
        table->aliases[table->n_aliases++] = *alias;
        return 0;
}

/* Leaves the first entry of each address; the longest size among them is kept. */
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
                if (symbol_table_compare_names(&last[-1], &entry) == 0)
                        r = add_alias(table, &entry);
                if (last[-1].size_bytes < entry.size_bytes)
                        last[-1].size_bytes = entry.size_bytes;
        }
        table->n_entries = n_kept;
        if (table->n_aliases > 0) /* a table may be built twice */
                qsort(table->aliases, table->n_aliases, sizeof(*table->aliases), compare_entries);
        return r;
}

int symbol_table_build(struct symbol_table *table)
{
        uint64_t sized_end = 0; /* where the sized symbols so far end */

        if (table->n_entries == 0)
                return 0;
        qsort(table->entries, table->n_entries, sizeof(*table->entries), compare_entries);
        if (set_aliases_apart(table) < 0)
                return -ENOMEM;

        for (size_t i = 0; i < table->n_entries; i++) {
                const struct symbol_table_entry *entry = &table->entries[i];
                uint64_t end;

                if (entry->size_bytes > 0) {
                        if (__builtin_add_overflow(entry->svma, entry->size_bytes, &end))
                                continue;
                        sized_end = end > sized_end ? end : sized_end;
                } else if (entry->svma < sized_end) {
                        continue; /* a label within a function */
                } else {
                        end = entry->section_end;
                        if (i + 1 < table->n_entries && entry[1].svma < end)
                                end = entry[1].svma;
                }
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

/* The place in the aliases of the first one at @svma or after it. */
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

        return at < table->n_aliases && table->aliases[at].svma == entry->svma;
}

void symbol_table_choose(struct symbol_table *table, const struct symbol_table_entry *entry, const char *name)
{
        size_t at = find_aliases(table, entry->svma);

        for (; name && at < table->n_aliases && table->aliases[at].svma == entry->svma; at++)
                if (strcmp(table->aliases[at].name, name) == 0)
                        table->entries[entry - table->entries].name = table->aliases[at].name;
}

/* ".L12" of an assembler, and the "$x", "$d.3" by which ARM and RISC-V tell code from data. */
static bool is_label(const char *name)
{
        return name[0] == '.' || (name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]));
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

/* True if @symbol may name code.  A symbol without a type does if it stands in a section of code. */
static bool is_function(const GElf_Sym *symbol, const GElf_Shdr *section)
{
        switch (GELF_ST_TYPE(symbol->st_info)) {
        case STT_FUNC:
        case STT_GNU_IFUNC:
                return true;
        case STT_NOTYPE:
                return section->sh_flags & SHF_EXECINSTR;
        default:
                return false;
        }
}

/* The symbols of one section; those of a 32-bit ARM have the instruction set in their lowest bit. */
static int symbol_table_load_section(struct symbol_table *table, const struct debug_files_symbols *source)
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
                if (!name || !*name || is_label(name))
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
                                     });
        }
        return r;
}

/* Stubs for ifuncs of the module itself are named after the function that chooses. */
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

int symbol_table_load(struct symbol_table *table, struct debug_files *files, struct error *err)
{
        struct debug_files_symbols sources[DEBUG_FILES_SYMBOL_SOURCES];
        size_t n_sources = debug_files_find_symbols(files, sources);
        int r = 0;

        for (size_t i = 0; i < n_sources && r == 0; i++)
                r = symbol_table_load_section(table, &sources[i]);
        if (r < 0)
                goto fail;
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
