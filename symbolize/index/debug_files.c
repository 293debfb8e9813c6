/* SPDX-License-Identifier: MIT */
#include "symbolize/index/debug_files.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/debug/debug_file_search.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/split_files.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ symbols in .gnu_debugdata */

/*
 * The ELF file with a symbol table that distributions pack into .gnu_debugdata.
 */

#define PACKED_SYMBOLS_BYTES_MAX (1U << 28) /* unpacked */

#define PIECE_BYTES      65536
#define MEMORY_BYTES_MAX (UINT64_C(128) << 20) /* of the decoder; `xz -9` asks for 65 MiB */

static bool unpack(const uint8_t *bytes, size_t n_bytes, struct byte_buffer *out)
{
        lzma_stream stream = LZMA_STREAM_INIT;
        lzma_ret r = lzma_stream_decoder(&stream, MEMORY_BYTES_MAX, LZMA_CONCATENATED);

        if (r != LZMA_OK)
                return false;
        stream.next_in = bytes;
        stream.avail_in = n_bytes;
        while (r == LZMA_OK && out->used_bytes <= PACKED_SYMBOLS_BYTES_MAX) {
                uint8_t *piece = byte_buffer_reserve(out, PIECE_BYTES);

                if (!piece)
                        break;
                stream.next_out = piece;
                stream.avail_out = PIECE_BYTES;
                r = lzma_code(&stream, LZMA_FINISH);
                out->used_bytes += PIECE_BYTES - stream.avail_out;
        }
        lzma_end(&stream);
        return r == LZMA_STREAM_END && out->used_bytes <= PACKED_SYMBOLS_BYTES_MAX;
}

/*
 * Unpacks .gnu_debugdata (xz).  Returns 1 with an image that the caller closes; 0 if no readable image is
 * there.
 */
static int open_packed_symbols(Elf *elf, struct elf_image **ret_image)
{
        struct byte_buffer out = { .data = NULL };
        size_t n_bytes;
        const uint8_t *bytes = debug_file_find_bytes(elf, ".gnu_debugdata", &n_bytes);
        int found;

        found = bytes && unpack(bytes, n_bytes, &out) &&
                elf_image_open_memory(out.data, out.used_bytes, ret_image, NULL) == 0;
        byte_buffer_deinit(&out);
        return found;
}

/* ------------------------------------------------------------------ files */

/* A file's sections, read when they are first asked for. */
struct lazy_sections {
        struct debug_sections sections;
        int outcome; /* 1 read, 0 there are none, negative: the error of reading */
        bool is_read;
};

struct debug_files {
        const struct elf_image *image;      /* borrowed */
        const char *path;                   /* borrowed; NULL = it is in no folder */
        const struct symbol_search *search; /* borrowed; NULL = the machine's own */
        struct debug_file separate;         /* all zero = there is none, or it was not read yet */
        struct debug_file supplement;
        struct elf_image *packed;
        bool is_separate_searched, is_supplement_searched, is_packed_read;
        struct lazy_sections main_sections, supplement_sections;
        struct split_files split;
};

int debug_files_open(const struct elf_image *image, const char *path, const struct symbol_search *search,
                     struct debug_files **ret_files, struct error *err)
{
        struct debug_files *files = calloc(1, sizeof(*files));

        if (!files)
                return error_set(err, -ENOMEM, "no memory for debug files");
        files->image = image;
        files->path = path;
        files->search = search;
        *ret_files = files;
        return 0;
}

void debug_files_close(struct debug_files *files)
{
        if (!files)
                return;
        split_files_deinit(&files->split);
        debug_sections_deinit(&files->main_sections.sections);
        debug_sections_deinit(&files->supplement_sections.sections);
        elf_image_close(files->packed);
        debug_file_close(&files->supplement);
        debug_file_close(&files->separate);
        free(files);
}

const struct elf_image *debug_files_image(const struct debug_files *files)
{
        return files->image;
}

static const struct debug_file *find_separate(struct debug_files *files)
{
        if (!files->is_separate_searched) {
                files->is_separate_searched = true;
                (void)debug_file_search_find(files->image, files->path, files->search, &files->separate);
        }
        return files->separate.elf ? &files->separate : NULL;
}

bool debug_files_have_separate(struct debug_files *files)
{
        return find_separate(files) != NULL;
}

#define FIRST_PAGE(svma) ((svma) & ~(uint64_t)0xfff)

/* Finds the code section of a file, which has the same size in an image and in its debug file. */
static bool find_text(const struct elf_image *image, GElf_Shdr *ret_header)
{
        return elf_image_find_section(image, ".text", ret_header) && ret_header->sh_flags & SHF_EXECINSTR;
}

/*
 * Both files state where they are loaded; a prelinked image was moved, by whole pages, after its debug file
 * was split off.  The first segment of a debug file may begin later than the image's, so code is compared
 * where both have it.
 */
static uint64_t count_bias(const struct elf_image *image, const struct elf_image *other)
{
        GElf_Shdr text, other_text;

        if (!other || image->n_segments == 0 || other->n_segments == 0)
                return 0;
        if (find_text(image, &text) && find_text(other, &other_text) && text.sh_size == other_text.sh_size)
                return text.sh_addr - other_text.sh_addr;
        return FIRST_PAGE(image->segments[0].svma) - FIRST_PAGE(other->segments[0].svma);
}

/* The file with the debug information, or NULL. */
static Elf *find_debug_elf(struct debug_files *files, uint64_t *ret_bias)
{
        const struct debug_file *separate;

        *ret_bias = 0;
        if (debug_file_has_debug_info(files->image->elf))
                return files->image->elf;
        separate = find_separate(files);
        if (!separate || !debug_file_has_debug_info(separate->elf))
                return NULL;
        *ret_bias = count_bias(files->image, separate->image);
        return separate->elf;
}

static int read_sections(struct lazy_sections *lazy, Elf *elf, struct error *err)
{
        if (lazy->is_read)
                return lazy->outcome;
        lazy->is_read = true;
        if (elf) {
                lazy->outcome = debug_sections_load(&lazy->sections, elf, false, err);
                if (lazy->outcome == 0)
                        lazy->outcome = 1;
        }
        return lazy->outcome;
}

int debug_files_find_sections(struct debug_files *files, const struct debug_sections **ret_sections,
                              uint64_t *ret_bias, struct error *err)
{
        uint64_t bias;
        Elf *elf = find_debug_elf(files, &bias);
        int r = read_sections(&files->main_sections, elf, err);

        if (r <= 0)
                return r;
        if (files->main_sections.sections.sections[DEBUG_SECTION_INFO].n_bytes == 0)
                return 0;
        *ret_sections = &files->main_sections.sections;
        *ret_bias = bias;
        return 1;
}

int debug_files_find_locations(struct debug_files *files, struct error *err)
{
        uint64_t bias;
        Elf *elf = find_debug_elf(files, &bias);

        return elf ? debug_sections_load_locations(&files->main_sections.sections, elf, err) : 0;
}

bool debug_files_are_of_folder(const struct debug_files *files)
{
        return files->separate.elf && files->image->build_id_bytes == 0;
}

/* The path of the file with the debug information, for a search beside that file. */
static const char *find_debug_path(const struct debug_files *files, const Elf *elf)
{
        return elf == files->image->elf ? files->path : files->separate.path;
}

static Elf *find_supplement_elf(struct debug_files *files)
{
        struct debug_file_reference reference;
        uint64_t bias;
        Elf *elf;

        if (files->is_supplement_searched)
                return files->supplement.elf;
        files->is_supplement_searched = true;
        elf = find_debug_elf(files, &bias);
        if (!elf || !supplement_link_read(elf, &reference))
                return NULL;
        reference.said_by = find_debug_path(files, elf);
        (void)debug_file_search_find_supplement(&reference, files->search, &files->supplement);
        return files->supplement.elf;
}

const struct debug_sections *debug_files_find_supplement(struct debug_files *files)
{
        Elf *elf = find_supplement_elf(files);

        return read_sections(&files->supplement_sections, elf, NULL) > 0
                       ? &files->supplement_sections.sections
                       : NULL;
}

int debug_files_find_split(struct debug_files *files, const char *name, const char *directory,
                           uint64_t dwo_id, const struct debug_sections **ret_sections)
{
        const struct split_files_place place = {
                .image = files->image,
                .path = files->path,
                .debug_path = files->separate.path,
                .search = files->search,
        };

        return split_files_find(&files->split, &place, &(struct split_files_unit){ name, directory, dwo_id },
                                ret_sections);
}

static bool add_table(struct debug_files_symbols *table, Elf *elf, GElf_Word type, uint64_t bias)
{
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while ((section = elf_nextscn(elf, section)))
                if (gelf_getshdr(section, &header) && header.sh_type == type) {
                        *table = (struct debug_files_symbols){ elf, section, bias };
                        return true;
                }
        return false;
}

static struct elf_image *find_packed(struct debug_files *files)
{
        if (!files->is_packed_read) {
                files->is_packed_read = true;
                (void)open_packed_symbols(files->image->elf, &files->packed);
        }
        return files->packed;
}

size_t debug_files_find_symbols(struct debug_files *files,
                                struct debug_files_symbols ret_tables[DEBUG_FILES_SYMBOL_SOURCES])
{
        const struct debug_file *separate;
        struct elf_image *packed;
        size_t n = 0;

        if (add_table(&ret_tables[0], files->image->elf, SHT_SYMTAB, 0))
                return 1;
        separate = find_separate(files);
        if (separate &&
            add_table(&ret_tables[0], separate->elf, SHT_SYMTAB, count_bias(files->image, separate->image)))
                return 1;
        n += add_table(&ret_tables[n], files->image->elf, SHT_DYNSYM, 0);
        packed = find_packed(files);
        if (packed)
                n += add_table(&ret_tables[n], packed->elf, SHT_SYMTAB, count_bias(files->image, packed));
        return n;
}
