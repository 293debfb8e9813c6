/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/image_code.h"

#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/function_bounds.h"

#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <string.h>

#define EXPORTS_MAX        256 /* that are compared */
#define OTHER_BOUNDS_SHARE 16  /* 1 function in so many may differ: assembly describes itself in parts */

bool image_code_is_there(const struct elf_image *image)
{
        for (size_t i = 0; i < image->n_segments; i++)
                if (image->segments[i].executable && image->segments[i].file_bytes > 0)
                        return true;
        return false;
}

static const uint8_t *bytes_of(const struct elf_image *image, const struct elf_image_segment *segment)
{
        size_t n_bytes;
        const char *bytes = elf_rawfile(image->elf, &n_bytes);

        if (!bytes || segment->file_off > n_bytes || segment->file_bytes > n_bytes - segment->file_off)
                return NULL;
        return (const uint8_t *)bytes + segment->file_off;
}

/* Stripping changes the ELF header, which older linkers put into the segment of the code. */
static size_t count_header_bytes(const struct elf_image_segment *segment)
{
        if (segment->file_off >= sizeof(Elf64_Ehdr))
                return 0;
        return segment->file_bytes < sizeof(Elf64_Ehdr) - segment->file_off
                       ? (size_t)segment->file_bytes
                       : (size_t)(sizeof(Elf64_Ehdr) - segment->file_off);
}

static bool has_segment(const struct elf_image *image, const struct elf_image_segment *wanted,
                        const uint8_t *bytes)
{
        size_t skip = count_header_bytes(wanted);

        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                const uint8_t *own = bytes_of(image, s);

                if (s->executable == wanted->executable && s->file_off == wanted->file_off &&
                    s->svma == wanted->svma && s->file_bytes == wanted->file_bytes)
                        return own && memcmp(own + skip, bytes + skip, s->file_bytes - skip) == 0;
        }
        return false;
}

static bool is_zero(const uint8_t *bytes, uint64_t n_bytes)
{
        return bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)n_bytes - 1) == 0;
}

bool image_code_is_equal(const struct elf_image *a, const struct elf_image *b)
{
        for (size_t i = 0; i < a->n_segments; i++) {
                const struct elf_image_segment *s = &a->segments[i];
                const uint8_t *bytes = bytes_of(a, s);

                if (s->executable && (!bytes || !has_segment(b, s, bytes)))
                        return false;
                if (!s->executable && !s->writable && bytes && s->file_bytes > 0 &&
                    !is_zero(bytes, s->file_bytes) && !has_segment(b, s, bytes))
                        return false;
        }
        return image_code_is_there(a);
}

/*
 * Finds a mapping of @module that is as long as @segment in pages of some size; on return true @segment has
 * the place of that mapping.
 */
static bool find_place(struct elf_image_segment *segment, const struct trace_dictionary *d, uint32_t module)
{
        static const uint64_t page_sizes[] = { 4096, 16384, 65536 };

        if (segment->memory_bytes > UINT64_MAX / 4 || segment->svma > UINT64_MAX / 4)
                return false;
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MAPPINGS); i++) {
                const struct trace_mapping *row = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS, i);

                for (size_t k = 0; k < sizeof(page_sizes) / sizeof(page_sizes[0]); k++) {
                        uint64_t in_page = segment->svma % page_sizes[k];
                        uint64_t n_pages = (in_page + segment->memory_bytes + page_sizes[k] - 1) /
                                           page_sizes[k];

                        if (row->module != module || row->length_bytes != n_pages * page_sizes[k] ||
                            row->file_offset_bytes > UINT64_MAX / 4)
                                continue;
                        segment->file_off = row->file_offset_bytes + in_page;
                        segment->file_bytes = segment->memory_bytes;
                        return true;
                }
        }
        return false;
}

bool image_code_place(struct elf_image *image, const struct trace_dictionary *dictionary, uint32_t module)
{
        struct elf_image_segment *code = NULL;

        for (size_t i = 0; i < image->n_segments; i++) {
                if (!image->segments[i].executable) {
                        image->segments[i].file_bytes = 0; /* its place is that of another file */
                        continue;
                }
                if (code)
                        return false;
                code = &image->segments[i];
        }
        return code && find_place(code, dictionary, module);
}

/* ------------------------------------------------------------------ a file with debug information only */

#define ALLOC_FLAGS (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)

static bool has_same_segments(const struct elf_image *a, const struct elf_image *b)
{
        if (a->n_segments != b->n_segments)
                return false;
        for (size_t i = 0; i < a->n_segments; i++)
                if (a->segments[i].svma != b->segments[i].svma ||
                    a->segments[i].memory_bytes != b->segments[i].memory_bytes ||
                    a->segments[i].executable != b->segments[i].executable ||
                    a->segments[i].writable != b->segments[i].writable)
                        return false;
        return true;
}

/* The next section that is loaded, with its name. */
static Elf_Scn *next_loaded(Elf *elf, Elf_Scn *section, GElf_Shdr *ret_header, const char **ret_name)
{
        size_t names;

        if (elf_getshdrstrndx(elf, &names) != 0)
                return NULL;
        while ((section = elf_nextscn(elf, section)))
                if (gelf_getshdr(section, ret_header) && (ret_header->sh_flags & SHF_ALLOC)) {
                        *ret_name = elf_strptr(elf, names, ret_header->sh_name);
                        return section;
                }
        return NULL;
}

/*
 * True if all loaded sections agree in order, name, address, length and rights, and the code of @debug has
 * no bytes.
 */
static bool has_same_sections(Elf *code, Elf *debug)
{
        Elf_Scn *a = NULL, *b = NULL;
        const char *name_a = NULL, *name_b = NULL;
        bool is_without_code = false;
        GElf_Shdr in_a, in_b;

        for (;;) {
                a = next_loaded(code, a, &in_a, &name_a);
                b = next_loaded(debug, b, &in_b, &name_b);
                if (!a || !b)
                        return !a && !b && is_without_code;
                if (!name_a || !name_b || strcmp(name_a, name_b) != 0 || in_a.sh_addr != in_b.sh_addr ||
                    in_a.sh_size != in_b.sh_size ||
                    (in_a.sh_flags & ALLOC_FLAGS) != (in_b.sh_flags & ALLOC_FLAGS))
                        return false;
                if ((in_b.sh_flags & SHF_EXECINSTR) && in_b.sh_type != SHT_NOBITS)
                        return false;
                is_without_code |= (in_b.sh_flags & SHF_EXECINSTR) != 0;
        }
}

/* The symbols of a table; NULL if there is no such table. */
static Elf_Data *find_symbols(Elf *elf, uint32_t type, size_t *ret_n, size_t *ret_names)
{
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while ((section = elf_nextscn(elf, section)))
                if (gelf_getshdr(section, &header) && header.sh_type == type && header.sh_entsize > 0) {
                        Elf_Data *data = elf_getdata(section, NULL);

                        *ret_n = data ? data->d_size / header.sh_entsize : 0;
                        *ret_names = header.sh_link;
                        return data;
                }
        return NULL;
}

/*
 * Counts the function symbols whose bounds agree with the unwind information, and those whose bounds differ
 * from it.
 */
static int count_bounds(const struct elf_image *image, Elf *debug, size_t *ret_n_equal, size_t *ret_n_other)
{
        struct function_bounds bounds = { .rows = NULL };
        size_t n_symbols = 0, names;
        Elf_Data *symbols = find_symbols(debug, SHT_SYMTAB, &n_symbols, &names);
        int r = function_bounds_load(&bounds, image);

        *ret_n_equal = *ret_n_other = 0;
        for (size_t i = 0; r == 0 && symbols && i < n_symbols && i <= INT32_MAX; i++) {
                const struct function_bound *bound;
                GElf_Sym symbol;

                if (!gelf_getsym(symbols, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
                    symbol.st_size == 0)
                        continue;
                bound = function_bounds_find(&bounds, symbol.st_value);
                if (bound && bound->start_svma == symbol.st_value &&
                    bound->end_svma - bound->start_svma == symbol.st_size)
                        ++*ret_n_equal;
                else if (bound)
                        ++*ret_n_other;
        }
        function_bounds_deinit(&bounds);
        return r;
}

/* True if the functions that @code exports have the same names and places in @debug. */
static bool has_same_exports(Elf *code, Elf *debug)
{
        size_t n_exports = 0, n_symbols = 0, export_names = 0, symbol_names = 0;
        Elf_Data *exports = find_symbols(code, SHT_DYNSYM, &n_exports, &export_names);
        Elf_Data *symbols = find_symbols(debug, SHT_SYMTAB, &n_symbols, &symbol_names);

        for (size_t i = 0, n = 0; exports && i < n_exports && i <= INT32_MAX && n < EXPORTS_MAX; i++) {
                const char *wanted;
                bool found = false;
                GElf_Sym export, symbol;

                if (!gelf_getsym(exports, (int)i, &export) || export.st_shndx == SHN_UNDEF ||
                    GELF_ST_TYPE(export.st_info) != STT_FUNC)
                        continue;
                wanted = elf_strptr(code, export_names, export.st_name);
                for (size_t k = 0; wanted && !found && k < n_symbols && k <= INT32_MAX; k++) {
                        const char *name = gelf_getsym(symbols, (int)k, &symbol) &&
                                                           symbol.st_value == export.st_value
                                                   ? elf_strptr(debug, symbol_names, symbol.st_name)
                                                   : NULL;

                        /* A linker may put a version into the name: "read@@GLIBC_2.2.5". */
                        found = name && strncmp(name, wanted, strcspn(name, "@")) == 0 &&
                                wanted[strcspn(name, "@")] == '\0';
                }
                if (!found)
                        return false;
                n++;
        }
        return true;
}

int image_code_is_described(const struct elf_image *image, const struct elf_image *debug)
{
        size_t n_equal, n_other;
        int r;

        if (!has_same_segments(image, debug) || !has_same_sections(image->elf, debug->elf) ||
            !has_same_exports(image->elf, debug->elf))
                return 0;
        r = count_bounds(image, debug->elf, &n_equal, &n_other);
        return r < 0 ? r : n_equal > 0 && n_other <= n_equal / OTHER_BOUNDS_SHARE;
}
