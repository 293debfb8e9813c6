/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_module.h"

#include "base/bytes.h"
#include "base/error.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/frame_sections.h"
#include "symbolize/elf/go_functions.h"
#include "unwind/plt_frames.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_rule.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define SIGRETURNS_MAX          8 /* trampolines in one file; a C library has one */
#define CONTEXT_STARTS_MAX      4
#define DYNAMIC_NAMES_BYTES_MAX (UINT32_C(1) << 22) /* larger tables of names are not searched */

struct source {
        struct unwind_table_source table;
        struct cfi_section sections[FRAME_SECTIONS_MAX];
        struct unwind_code_range *code; /* heap */
        struct unwind_code_range sigreturns[SIGRETURNS_MAX];
        struct unwind_code_range context_starts[CONTEXT_STARTS_MAX];
        struct plt_section plts[PLT_SECTIONS_MAX];
        struct go_functions go;
};

static Elf_Data *read_chunk(const struct elf_image *image, uint64_t file_off, uint64_t n_bytes)
{
        return n_bytes == 0 || file_off > INT64_MAX
                       ? NULL
                       : elf_getdata_rawchunk(image->elf, (int64_t)file_off, n_bytes, ELF_T_BYTE);
}

/* True for a file that needs no other, such as the C library. */
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
                data = read_chunk(image, header.p_offset, header.p_filesz);
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

/* True if @name is the name of a dynamic symbol of this file or of another file. */
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
        size_t n_function_bytes; /* of the code that they begin */
};

/* Finds up to @n_max places with such code.  Returns how many. */
static size_t find_code(const struct elf_image *image, const struct unwind_module *module,
                        const struct known_code *code, struct unwind_code_range *ret_ranges, size_t n_max)
{
        size_t n_found = 0;

        for (size_t i = 0; i < module->n_segments; i++) {
                const struct elf_image_part *segment = &module->segments[i];
                Elf_Data *data = read_chunk(image, segment->file_off, segment->file_bytes);
                const uint8_t *at = data ? data->d_buf : NULL;
                size_t left = data ? data->d_size : 0;

                while (left > 0 && n_found < n_max) {
                        const uint8_t *found = memmem(at, left, code->bytes, code->n_bytes);
                        uint64_t start_svma;

                        if (!found)
                                break;
                        start_svma = segment->svma + (uint64_t)(found - (const uint8_t *)data->d_buf);
                        ret_ranges[n_found++] = (struct unwind_code_range){
                                .start_svma = start_svma, .end_svma = start_svma + code->n_function_bytes
                        };
                        left -= (size_t)(found - at) + 1;
                        at = found + 1;
                }
        }
        return n_found;
}

/*
 * Signal trampolines: C libraries have one, and so have programs that install handlers without a C library
 * (Go).
 */
static void find_sigreturns(struct source *s, const struct elf_image *image,
                            const struct unwind_module *module)
{
        const struct unwind_machine *m = s->table.machine;
        const struct known_code codes[] = {
                { m->sigreturn_code, m->n_sigreturn_code_bytes, m->n_sigreturn_code_bytes },
                { m->short_sigreturn_code, m->n_short_sigreturn_code_bytes, m->n_short_sigreturn_code_bytes },
        };

        for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]) && codes[i].n_bytes > 0; i++)
                s->table.n_sigreturns += find_code(image, module, &codes[i],
                                                   s->sigreturns + s->table.n_sigreturns,
                                                   SIGRETURNS_MAX - s->table.n_sigreturns);
        s->table.sigreturns = s->sigreturns;
}

/*
 * Finds code that has no description, or no useful one: signal trampolines, and the function that a context
 * of makecontext(3) returns to, whose entry does not cover the byte before it.
 */
static void find_known_code(struct source *s, const struct elf_image *image,
                            const struct unwind_module *module)
{
        const struct unwind_machine *m = s->table.machine;
        const struct known_code start = { m->context_start_code, m->n_context_start_code_bytes,
                                          m->n_context_start_bytes };

        if (!is_small(module))
                return;
        find_sigreturns(s, image, module);
        if (start.n_bytes > 0 && (needs_no_other(image) || has_dynamic_name(image, "makecontext")))
                s->table.n_context_starts = find_code(image, module, &start, s->context_starts,
                                                      CONTEXT_STARTS_MAX);
        s->table.context_starts = s->context_starts;
}

static int take_segments(struct source *s, const struct elf_image *image, struct unwind_module *module)
{
        uint64_t first_svma = elf_image_first_code(image);

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
                /* Entries of lower addresses are of functions that the linker discarded. */
                if (range.start_svma < first_svma)
                        range.start_svma = first_svma < range.end_svma ? first_svma : range.end_svma;
                s->code[s->table.n_code++] = range;
                module->segments[module->n_segments++] = (struct elf_image_part){
                        .file_off = from->file_off, .file_bytes = from->file_bytes, .svma = from->svma
                };
        }
        s->table.code = s->code;
        return 0;
}

/*
 * Go's own .debug_frame, unless it was stripped, describes all functions of Go's own table.
 */
static bool has_debug_frame(const struct source *s)
{
        for (size_t i = 0; i < s->table.n_sections; i++)
                if (s->table.sections[i].is_debug_frame)
                        return true;
        return false;
}

static bool is_go_name(const char *name, const char *wanted)
{
        size_t n = strlen(wanted);

        return strncmp(name, wanted, n) == 0 && (name[n] == '\0' || strcmp(name + n, ".abi0") == 0);
}

/*
 * Functions of Go's runtime that switch to the stack of their thread.  The linker describes them as if they
 * did not switch, so the old contents of that stack would be taken for their callers.  Functions that never
 * return to their goroutine are the root, as in Go's own call stacks.
 */
static void find_go_code(struct source *s)
{
        static const struct {
                const char *name;
                uint8_t cfa;
        } functions[] = { { "runtime.systemstack", UNWIND_CFA_GO_SYSTEM },
                          { "runtime.asmcgocall", UNWIND_CFA_GO_C },
                          { "runtime.mcall", UNWIND_CFA_GO_ROOT },
                          { "runtime.morestack", UNWIND_CFA_GO_ROOT } };

        if (!s->table.machine->is_return_address_saved)
                return;
        for (uint32_t i = 0; i < s->go.n_functions && s->table.n_go_code < UNWIND_GO_CODES_MAX; i++) {
                struct go_function f;

                if (!go_functions_get(&s->go, i, &f))
                        continue;
                for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++)
                        if (is_go_name(f.name, functions[k].name))
                                s->table.go_code[s->table.n_go_code++] = (struct unwind_go_code){
                                        .range = { .start_svma = f.start_svma, .end_svma = f.end_svma },
                                        .cfa = functions[k].cfa
                                };
        }
}

static int build_table(struct source *s, const struct elf_image *image, struct unwind_module *module,
                       struct error *err)
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
        if (take_segments(s, image, module) < 0)
                return error_set(err, -ENOMEM, "no memory for %zu segments", image->n_segments);
        s->table.n_sections = frame_sections_find(image, s->sections);
        s->table.sections = s->sections;
        s->table.n_plts = plt_frames_find(image, s->plts);
        s->table.plts = s->plts;
        if (go_functions_open(&s->go, image))
                find_go_code(s);
        s->table.go = !has_debug_frame(s) && s->go.bytes ? &s->go : NULL;
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
        r = build_table(&source, image, module, err);
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
