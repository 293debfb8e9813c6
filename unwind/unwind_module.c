/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_module.h"

#include "base/bytes.h"
#include "base/error.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/frame_sections.h"
#include "symbolize/elf/go_functions.h"
#include "unwind/plt_frames.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define SIGRETURNS_MAX          8 /* trampolines in one file; a C library has one */
#define CONTEXT_STARTS_MAX      4
#define DYNAMIC_NAMES_BYTES_MAX (UINT32_C(1) << 22) /* of a file that is searched for one name */

struct source {
        struct unwind_table_source table;
        struct cfi_section sections[FRAME_SECTIONS_MAX];
        struct unwind_code_range *code; /* heap */
        uint64_t sigreturns[SIGRETURNS_MAX];
        uint64_t context_starts[CONTEXT_STARTS_MAX];
        struct plt_section plts[PLT_SECTIONS_MAX];
        struct go_functions go;
};

static Elf_Data *unwind_module_read_chunk(const struct elf_image *image, uint64_t file_off, uint64_t n_bytes)
{
        return n_bytes == 0 || file_off > INT64_MAX
                       ? NULL
                       : elf_getdata_rawchunk(image->elf, (int64_t)file_off, n_bytes, ELF_T_BYTE);
}

/* A file that needs no other: only there the C library's signal trampoline can be. */
static bool needs_no_other(const struct elf_image *image)
{
        size_t n_headers = 0;
        GElf_Phdr header;

        (void)elf_getphdrnum(image->elf, &n_headers);
        for (size_t i = 0; i < n_headers; i++) {
                struct byte_reader in;
                Elf_Data *data;

                if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_DYNAMIC)
                        continue;
                data = unwind_module_read_chunk(image, header.p_offset, header.p_filesz);
                if (!data)
                        return false;
                in = byte_reader_of(data->d_buf, data->d_size);
                while (in.left >= sizeof(Elf64_Dyn)) {
                        if (bytes_u64(&in) == DT_NEEDED)
                                return false;
                        (void)bytes_u64(&in);
                }
        }
        return true;
}

/* Is the name of a dynamic symbol, of its own or of another file? */
static bool has_dynamic_name(const struct elf_image *image, const char *name)
{
        Elf_Scn *section = NULL;

        while ((section = elf_nextscn(image->elf, section))) {
                GElf_Shdr header;
                Elf_Data *data;

                if (!gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB ||
                    !(header.sh_flags & SHF_ALLOC) || header.sh_size > DYNAMIC_NAMES_BYTES_MAX)
                        continue;
                data = elf_getdata(section, NULL);
                if (data && data->d_buf && memmem(data->d_buf, data->d_size, name, strlen(name) + 1))
                        return true;
        }
        return false;
}

static bool is_small(const struct unwind_module *module)
{
        uint64_t n_bytes = 0;

        for (size_t i = 0; i < module->n_segments; i++)
                n_bytes += module->segments[i].file_bytes < UNWIND_MODULE_SCAN_BYTES_MAX
                                   ? module->segments[i].file_bytes
                                   : UNWIND_MODULE_SCAN_BYTES_MAX;
        return n_bytes < UNWIND_MODULE_SCAN_BYTES_MAX;
}

/* Instructions that code begins with. */
struct known_code {
        const uint8_t *bytes;
        size_t n_bytes;
};

/* Where such instructions are, up to @n_max places.  Returns how many. */
static size_t unwind_module_find_code(const struct elf_image *image, const struct unwind_module *module,
                                      const struct known_code *code, uint64_t *ret_svmas, size_t n_max)
{
        size_t n_found = 0;

        for (size_t i = 0; i < module->n_segments; i++) {
                const struct elf_image_part *segment = &module->segments[i];
                Elf_Data *data = unwind_module_read_chunk(image, segment->file_off, segment->file_bytes);
                const uint8_t *at = data ? data->d_buf : NULL;
                size_t left = data ? data->d_size : 0;

                while (left > 0 && n_found < n_max) {
                        const uint8_t *found = memmem(at, left, code->bytes, code->n_bytes);

                        if (!found)
                                break;
                        ret_svmas[n_found++] = segment->svma +
                                               (uint64_t)(found - (const uint8_t *)data->d_buf);
                        left -= (size_t)(found - at) + 1;
                        at = found + 1;
                }
        }
        return n_found;
}

/*
 * Code that the C library does not describe, or not usefully: signal trampolines (musl), and the function
 * that a context of makecontext(3) returns to, whose entry does not cover the byte before it.
 */
static void find_known_code(struct source *s, const struct elf_image *image,
                            const struct unwind_module *module)
{
        const struct unwind_machine *m = s->table.machine;
        const struct known_code sigreturn = { m->sigreturn_code, m->n_sigreturn_code_bytes };
        const struct known_code start = { m->context_start_code, m->n_context_start_code_bytes };
        bool is_alone = needs_no_other(image);

        if (!is_small(module))
                return;
        if (is_alone)
                s->table.n_sigreturns = unwind_module_find_code(image, module, &sigreturn, s->sigreturns,
                                                                SIGRETURNS_MAX);
        if (start.n_bytes > 0 && (is_alone || has_dynamic_name(image, "makecontext")))
                s->table.n_context_starts = unwind_module_find_code(image, module, &start, s->context_starts,
                                                                    CONTEXT_STARTS_MAX);
        s->table.sigreturns = s->sigreturns;
        s->table.context_starts = s->context_starts;
}

static int unwind_module_take_segments(struct source *s, const struct elf_image *image,
                                       struct unwind_module *module)
{
        s->code = calloc(image->n_segments + 1, sizeof(*s->code));
        module->segments = calloc(image->n_segments + 1, sizeof(*module->segments));
        if (!s->code || !module->segments)
                return -ENOMEM;
        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *from = &image->segments[i];
                struct unwind_code_range range = { .start_svma = from->svma };

                if (!from->executable ||
                    __builtin_add_overflow(from->svma, from->file_bytes, &range.end_svma))
                        continue;
                s->code[s->table.n_code++] = range;
                module->segments[module->n_segments++] = (struct elf_image_part){
                        .file_off = from->file_off, .file_bytes = from->file_bytes, .svma = from->svma
                };
        }
        s->table.code = s->code;
        return 0;
}

/* Go's own, where it was not stripped, describes all that its table of functions does. */
static bool has_debug_frame(const struct source *s)
{
        for (size_t i = 0; i < s->table.n_sections; i++)
                if (s->table.sections[i].is_debug_frame)
                        return true;
        return false;
}

static int unwind_module_build_table(struct source *s, const struct elf_image *image,
                                     struct unwind_module *module, struct error *err)
{
        GElf_Ehdr header;
        int r;

        if (!gelf_getehdr(image->elf, &header))
                return error_set(err, -EBADMSG, "damaged ELF header");
        s->table.machine = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB
                                   ? unwind_machine_find(header.e_machine)
                                   : NULL;
        if (!s->table.machine)
                return error_set(err, -ENOTSUP, "no unwind rules for ELF machine %u, class %u",
                                 header.e_machine, header.e_ident[EI_CLASS]);
        s->table.entry_svma = header.e_entry;
        if (unwind_module_take_segments(s, image, module) < 0)
                return error_set(err, -ENOMEM, "no memory for %zu segments", image->n_segments);
        s->table.n_sections = frame_sections_find(image, s->sections);
        s->table.sections = s->sections;
        s->table.n_plts = plt_frames_find(image, s->plts);
        s->table.plts = s->plts;
        s->table.go = !has_debug_frame(s) && go_functions_open(&s->go, image) ? &s->go : NULL;
        find_known_code(s, image, module);
        r = unwind_table_build(&s->table, &module->table, err);
        return r == -ENODATA ? 0 : r;
}

int unwind_module_build(const struct elf_image *image, struct unwind_module **ret_module, struct error *err)
{
        struct unwind_module *module = calloc(1, sizeof(*module));
        struct source source = { .code = NULL };
        int r;

        if (!module)
                return error_set(err, -ENOMEM, "no memory for a module");
        r = unwind_module_build_table(&source, image, module, err);
        free(source.code);
        if (r < 0) {
                unwind_module_free(module);
                return r;
        }
        module->n_bytes = sizeof(*module) + module->n_segments * sizeof(*module->segments) +
                          (module->table ? module->table->n_bytes : 0);
        *ret_module = module;
        return 0;
}

void unwind_module_free(struct unwind_module *module)
{
        if (!module)
                return;
        unwind_table_free(module->table);
        free(module->segments);
        free(module);
}

bool unwind_module_find_bias(const struct unwind_module *module, uint64_t start_avma, uint64_t file_off,
                             uint64_t length_bytes, uint64_t *ret_bias)
{
        for (size_t i = 0; i < module->n_segments; i++)
                if (elf_image_part_find_bias(&module->segments[i], start_avma, file_off, length_bytes,
                                             ret_bias))
                        return true;
        return false;
}
