/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/listing_reader.h"

#include "base/error.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/listing/branch_target.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/listing/disassembler.h"
#include "symbolize/listing/listing_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * For unknown functions: places close to each other are one part, which ends at this distance after the last.
 */
#define GUESS_GAP_BYTES  4096
#define GUESS_TAIL_BYTES 64

struct listing_reader {
        const struct listing_request *request;
        struct code_listing *listing;
        struct listing_image image; /* none is open: the code has no file */
        char *name;                 /* heap: of the module; NULL */
        struct module_symbols *module;
        struct disassembler *disassembler;
        uint16_t machine;
};

static int open_image(struct listing_reader *l, struct error *err)
{
        const struct listing_request *request = l->request;
        const char *path;
        int r = listing_image_open(&l->image, request, err);

        if (r < 0)
                return r;
        path = l->image.path ? l->image.path : request->path;
        l->machine = l->image.machine;
        l->name = request->path ? module_symbols_copy_name(request->path, strlen(request->path)) : NULL;
        r = module_symbols_open(
                l->image.image,
                &(struct module_symbols_options){ .path = path, .name = l->name, .search = request->search },
                &l->module, err);
        return r < 0 ? r : listing_image_open_disassembler(&l->image, &l->disassembler, err);
}

/* ---- instructions -------------------------------------------------------------------------------------- */

/* Sets the name of the function to which a jump or call leads out of the part. */
static int name_target(struct listing_reader *l, struct listing_instruction *row)
{
        const struct symbol *symbols;
        struct function_range range;
        uint32_t n_symbols = l->module ? module_symbols_find(l->module, row->target_svma, &symbols) : 0;
        int r;

        if (n_symbols == 0)
                return 0;
        r = code_listing_add_string(l->listing, symbols[n_symbols - 1].function, &row->target_name);
        if (r == 0 && row->target_name != 0 &&
            module_symbols_find_range(l->module, row->target_svma, &range) == 1 &&
            row->target_svma - range.start_svma <= UINT32_MAX)
                row->target_offset_bytes = (uint32_t)(row->target_svma - range.start_svma);
        return r;
}

static int add_instruction(struct listing_reader *l, const struct listing_part *part,
                           struct listing_instruction *row, const char *text)
{
        const struct symbol *symbols = NULL;
        uint32_t n_symbols;
        int r = code_listing_add_string(l->listing, text, &row->text);

        if (r == 0 && row->branch != BRANCH_NONE && row->target_svma - part->svma >= part->n_bytes)
                r = name_target(l, row);
        if (r < 0)
                return r;
        n_symbols = l->module ? module_symbols_find(l->module, row->svma, &symbols) : 0;
        return code_listing_add(l->listing, row, symbols, n_symbols);
}

/* @bytes are those of the part. */
static int add_part(struct listing_reader *l, const struct listing_part *part, const uint8_t *bytes)
{
        uint64_t at = 0;
        int r = l->listing->n_parts < CODE_LISTING_PARTS_MAX ? 0 : 1;

        if (r == 0)
                r = code_listing_add_part(l->listing, part);
        while (r == 0 && at < part->n_bytes) {
                struct listing_instruction row = { .svma = part->svma + at };
                char text[DISASSEMBLER_TEXT_BYTES];
                struct branch_target target;

                if (l->listing->n_instructions == CODE_LISTING_INSTRUCTIONS_MAX) {
                        l->listing->parts[l->listing->n_parts - 1].flags |= LISTING_PART_CUT;
                        return 0;
                }
                row.n_bytes = (uint32_t)disassembler_decode(l->disassembler, row.svma, bytes + at,
                                                            (size_t)(part->n_bytes - at), text);
                target = branch_target_decode(l->machine, row.svma, bytes + at, row.n_bytes);
                row.branch = target.kind;
                row.target_svma = target.svma;
                r = add_instruction(l, part, &row, text);
                at += row.n_bytes;
        }
        return r < 0 ? r : 0;
}

/* ---- parts of an image --------------------------------------------------------------------------------- */

/*
 * Finds the part that contains the place at @svma, the first place not listed yet.  The extents come from
 * the file, so they are checked.
 */
static bool find_part(struct listing_reader *l, uint64_t svma, size_t next, struct listing_part *ret_part)
{
        const struct elf_image_segment *segment = listing_image_find_segment(&l->image, svma);
        struct function_range range = { .start_svma = svma };
        uint64_t end_file_off;

        if (!segment)
                return false;
        *ret_part = (struct listing_part){ .flags = 0 };
        if (module_symbols_find_range(l->module, svma, &range) != 1 || range.start_svma > svma ||
            range.end_svma <= svma || range.start_svma < segment->svma) {
                uint64_t last_svma = svma, other_svma;

                for (size_t i = next; i < l->request->n_offsets; i++) {
                        if (!listing_image_find_svma(&l->image, l->request->offsets[i], &other_svma) ||
                            other_svma < last_svma || other_svma - last_svma > GUESS_GAP_BYTES)
                                break;
                        last_svma = other_svma;
                }
                range = (struct function_range){ svma, last_svma + GUESS_TAIL_BYTES };
                ret_part->flags = LISTING_PART_GUESSED;
        }
        if (range.end_svma - segment->svma > segment->file_bytes)
                range.end_svma = segment->svma + segment->file_bytes;
        if (range.end_svma - range.start_svma > LISTING_PART_BYTES_MAX) {
                range.end_svma = range.start_svma + LISTING_PART_BYTES_MAX;
                ret_part->flags |= LISTING_PART_CUT;
        }
        ret_part->svma = range.start_svma;
        ret_part->n_bytes = range.end_svma - range.start_svma;
        ret_part->file_off = segment->file_off + (range.start_svma - segment->svma);
        return !__builtin_add_overflow(ret_part->file_off, ret_part->n_bytes, &end_file_off) &&
               end_file_off <= l->image.file_bytes;
}

static int name_part(struct listing_reader *l, uint64_t svma, struct listing_part *part)
{
        const struct symbol *symbols;
        uint32_t n_symbols = module_symbols_find(l->module, svma, &symbols);

        if (n_symbols == 0)
                return 0;
        return code_listing_add_string(l->listing, symbols[n_symbols - 1].function, &part->name);
}

static int list_image(struct listing_reader *l, struct error *err)
{
        uint64_t end_svma = 0; /* of the part before */
        int r = 0;

        for (size_t i = 0; i < l->request->n_offsets && r == 0; i++) {
                uint64_t offset = l->request->offsets[i];
                struct listing_part part;
                const uint8_t *code;
                uint64_t svma;

                if (!listing_image_find_svma(&l->image, offset, &svma) || svma < end_svma)
                        continue;
                if (!find_part(l, svma, i, &part))
                        continue;
                code = l->image.file + part.file_off;
                if (l->request->region_bytes > 0)
                        part.file_off = offset - (svma - part.svma);
                r = name_part(l, svma, &part);
                if (r == 0)
                        r = add_part(l, &part, code);
                end_svma = part.svma + part.n_bytes;
        }
        if (r == 0 && l->listing->n_parts == 0)
                return error_set(err, -EBADMSG, "the image has no code at the sampled places");
        return r < 0 ? error_set(err, r, "no memory for the instructions") : 0;
}

/* ---- code without a file ------------------------------------------------------------------------------- */

static int machine_of(const char *name, struct disassembler_options *options)
{
        static const struct {
                const char *name;
                uint16_t machine;
                bool is_64_bit, is_big_endian;
        } machines[] = {
                { "x86_64", EM_X86_64, true, false },   { "i686", EM_386, false, false },
                { "aarch64", EM_AARCH64, true, false }, { "riscv64", EM_RISCV, true, false },
                { "ppc64le", EM_PPC64, true, false },   { "ppc64", EM_PPC64, true, true },
                { "s390x", EM_S390, true, true },       { "loongarch64", EM_LOONGARCH, true, false },
        };

        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
                if (name && strcmp(name, machines[i].name) == 0) {
                        options->machine = machines[i].machine;
                        options->is_64_bit = machines[i].is_64_bit;
                        options->is_big_endian = machines[i].is_big_endian;
                        return 0;
                }
        return -ENOTSUP;
}

static int list_bytes(struct listing_reader *l, struct error *err)
{
        const struct listing_request *request = l->request;
        struct disassembler_options options = { .intel_syntax = request->intel_syntax };
        struct listing_part part = { .svma = request->code_avma,
                                     .file_off = request->code_avma,
                                     .n_bytes = request->code_bytes };
        uint64_t end_avma;
        int r = machine_of(request->machine, &options);

        if (r < 0)
                return error_set(err, r, "no disassembler for the machine %s",
                                 request->machine ? request->machine : "of the recording");
        if (part.n_bytes > LISTING_PART_BYTES_MAX) {
                part.n_bytes = LISTING_PART_BYTES_MAX;
                part.flags = LISTING_PART_CUT;
        }
        if (__builtin_add_overflow(part.svma, part.n_bytes, &end_avma))
                return error_set(err, -EBADMSG, "the code lies beyond all addresses");
        l->machine = options.machine;
        r = disassembler_open(&options, &l->disassembler, err);
        if (r < 0)
                return r;
        r = code_listing_add_string(l->listing, request->name, &part.name);
        if (r == 0)
                r = add_part(l, &part, request->code);
        return r < 0 ? error_set(err, r, "no memory for the instructions") : 0;
}

int listing_reader_run(const struct listing_request *request, struct code_listing *ret_listing,
                       struct error *err)
{
        struct listing_reader l = { .request = request, .listing = ret_listing, .image = { .fd = -1 } };
        int r;

        if (request->code) {
                r = list_bytes(&l, err);
        } else {
                r = open_image(&l, err);
                if (r == 0)
                        r = list_image(&l, err);
        }
        disassembler_close(l.disassembler);
        module_symbols_close(l.module);
        listing_image_close(&l.image);
        free(l.name);
        return r;
}
