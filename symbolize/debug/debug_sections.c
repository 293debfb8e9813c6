/* SPDX-License-Identifier: MIT */
/*
 * elfutils of 2022 does not know sections packed with zstd, and libelf's unpacking changes an Elf that
 * others hold as well.  So the sections are unpacked here, by the libraries that packed them.
 */
#define ZLIB_CONST /* its input is const */

#include "symbolize/debug/debug_sections.h"

#include "base/error.h"
#include "symbolize/elf/byte_order.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define SPLIT_SUFFIX   ".dwo"
#define PLAIN_PREFIX   ".debug_"
#define OLD_PREFIX     ".zdebug_" /* before SHF_COMPRESSED: "ZLIB", the size in 8 bytes, the stream */
#define OLD_MAGIC      "ZLIB"
#define OLD_HEAD_BYTES 12
#define CHDR32_BYTES   12 /* ch_type, ch_size, ch_addralign, of 4 bytes each */
#define CHDR64_BYTES   24 /* 4 bytes each: ch_type, a gap; 8 each: ch_size, ch_addralign */
#define PACKED_ZSTD    2  /* ELFCOMPRESS_ZSTD, which older headers do not name */
#define ZLIB_RATIO_MAX 1100
#define ZSTD_RATIO_MAX 45000 /* a block of 4 bytes can stand for 128 KiB of one value */
#define SECTION_MAX    UINT32_MAX
#define NAME_BYTES_MAX 32
#define SECTION_SLACK  4096 /* bytes that any packed section may unpack to, however small it is */

static const char *const names[DEBUG_SECTION_COUNT] = {
        [DEBUG_SECTION_INFO] = "info",         [DEBUG_SECTION_ABBREV] = "abbrev",
        [DEBUG_SECTION_LINE] = "line",         [DEBUG_SECTION_STR] = "str",
        [DEBUG_SECTION_LINE_STR] = "line_str", [DEBUG_SECTION_STR_OFFSETS] = "str_offsets",
        [DEBUG_SECTION_ADDR] = "addr",         [DEBUG_SECTION_RANGES] = "ranges",
        [DEBUG_SECTION_RNGLISTS] = "rnglists", [DEBUG_SECTION_TYPES] = "types",
        [DEBUG_SECTION_CU_INDEX] = "cu_index", [DEBUG_SECTION_LOC] = "loc",
        [DEBUG_SECTION_LOCLISTS] = "loclists",
};

/* The state while a struct debug_sections is read. */
struct load {
        struct debug_sections *sections;
        uint64_t unpacked_bytes; /* of all so far */
        bool is_64bit, is_split;
        bool wants_locations; /* else all but these */
};

/* The facts in the header of a packed section. */
struct packed {
        const uint8_t *bytes; /* the stream */
        size_t n_bytes;
        uint64_t unpacked_bytes;
        bool is_zstd;
};

/* The section that @name stands for, or DEBUG_SECTION_COUNT; @ret_is_old is for ".zdebug_". */
static enum debug_section find_place(const char *name, bool split, bool *ret_is_old)
{
        bool is_old = strncmp(name, OLD_PREFIX, strlen(OLD_PREFIX)) == 0;
        size_t n_bytes;

        if (!is_old && strncmp(name, PLAIN_PREFIX, strlen(PLAIN_PREFIX)) != 0)
                return DEBUG_SECTION_COUNT;
        name += strlen(is_old ? OLD_PREFIX : PLAIN_PREFIX);
        n_bytes = strnlen(name, NAME_BYTES_MAX);
        *ret_is_old = is_old;
        /* The index of a .dwp is its only section without the suffix. */
        if (split && strcmp(name, names[DEBUG_SECTION_CU_INDEX]) == 0)
                return DEBUG_SECTION_CU_INDEX;
        if (split) {
                if (n_bytes <= strlen(SPLIT_SUFFIX) ||
                    strcmp(name + n_bytes - strlen(SPLIT_SUFFIX), SPLIT_SUFFIX) != 0)
                        return DEBUG_SECTION_COUNT;
                n_bytes -= strlen(SPLIT_SUFFIX);
        }
        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++)
                if (strlen(names[i]) == n_bytes && memcmp(names[i], name, n_bytes) == 0)
                        return (enum debug_section)i;
        return DEBUG_SECTION_COUNT;
}

/* The header of a section with SHF_COMPRESSED.  Returns false if it is of an unknown kind. */
static bool read_header(const struct load *load, const Elf_Data *data, struct packed *ret_packed)
{
        const size_t head_bytes = load->is_64bit ? CHDR64_BYTES : CHDR32_BYTES;
        const uint8_t *head = data->d_buf;
        bool is_big = load->sections->is_big_endian;
        uint64_t type;

        if (data->d_size < head_bytes)
                return false;
        type = byte_order_read(head, 4, is_big);
        *ret_packed = (struct packed){
                .bytes = head + head_bytes,
                .n_bytes = data->d_size - head_bytes,
                .unpacked_bytes = load->is_64bit ? byte_order_read(head + 8, 8, is_big)
                                                 : byte_order_read(head + 4, 4, is_big),
                .is_zstd = type == PACKED_ZSTD,
        };
        return type == ELFCOMPRESS_ZLIB || type == PACKED_ZSTD;
}

/* Linkers may append several streams to each other. */
/* NOLINTNEXTLINE(readability-non-const-parameter): zlib writes through it */
static int unpack_zlib(const struct packed *packed, uint8_t *out)
{
        z_stream stream = {
                .next_in = packed->bytes,
                .avail_in = (uInt)packed->n_bytes,
                .next_out = out,
                .avail_out = (uInt)packed->unpacked_bytes,
        };
        int r;

        r = inflateInit(&stream);
        if (r != Z_OK)
                return r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
        do
                r = inflate(&stream, Z_FINISH);
        while (r == Z_STREAM_END && stream.avail_out > 0 && stream.avail_in > 0 &&
               inflateReset(&stream) == Z_OK);
        (void)inflateEnd(&stream);
        if (r == Z_MEM_ERROR)
                return -ENOMEM;
        return r == Z_STREAM_END && stream.avail_out == 0 ? 0 : -EBADMSG;
}

/* Returns 0, -EBADMSG, or -ENOMEM, which says nothing about the file. */
static int unpack_bytes(const struct packed *packed, uint8_t *out)
{
        size_t n_bytes;

        if (!packed->is_zstd)
                return unpack_zlib(packed, out);
        n_bytes = ZSTD_decompress(out, packed->unpacked_bytes, packed->bytes, packed->n_bytes);
        if (ZSTD_getErrorCode(n_bytes) == ZSTD_error_memory_allocation)
                return -ENOMEM;
        return n_bytes == packed->unpacked_bytes ? 0 : -EBADMSG;
}

static int unpack(struct load *load, const struct packed *packed, struct debug_section_bytes *section,
                  struct error *err)
{
        uint64_t ratio_max = packed->is_zstd ? ZSTD_RATIO_MAX : ZLIB_RATIO_MAX;
        uint8_t *out;
        int r;

        if (packed->n_bytes > SECTION_MAX || packed->unpacked_bytes > SECTION_MAX ||
            packed->unpacked_bytes > DEBUG_SECTIONS_UNPACKED_MAX - load->unpacked_bytes)
                return error_set(err, -EOVERFLOW, "debug section of %llu bytes unpacked",
                                 (unsigned long long)packed->unpacked_bytes);
        /* Do not allocate more memory than a stream of this size can fill. */
        if (packed->unpacked_bytes > packed->n_bytes * ratio_max + SECTION_SLACK)
                return error_set(err, -EBADMSG, "debug section of %zu bytes claims %llu unpacked",
                                 packed->n_bytes, (unsigned long long)packed->unpacked_bytes);
        out = malloc(packed->unpacked_bytes + 1);
        if (!out)
                return error_set(err, -ENOMEM, "no memory for a debug section of %llu bytes",
                                 (unsigned long long)packed->unpacked_bytes);
        r = unpack_bytes(packed, out);
        if (r < 0) {
                free(out);
                return error_set(err, r, "debug section of %zu bytes cannot be unpacked%s", packed->n_bytes,
                                 r == -ENOMEM ? ": no memory" : "");
        }
        load->unpacked_bytes += packed->unpacked_bytes;
        *section = (struct debug_section_bytes){ out, packed->unpacked_bytes, out };
        return 0;
}

static int load_section(struct load *load, Elf_Scn *source, const GElf_Shdr *header, bool is_old,
                        struct debug_section_bytes *section, struct error *err)
{
        const Elf_Data *data = elf_rawdata(source, NULL);
        struct packed packed;

        if (!data)
                return error_set(err, -EBADMSG, "debug section outside of the file: %s", elf_errmsg(-1));
        if (!data->d_buf || data->d_size == 0)
                return 0;
        if (header->sh_flags & SHF_COMPRESSED) {
                if (!read_header(load, data, &packed))
                        return error_set(err, -EBADMSG, "debug section packed in an unknown way");
                return unpack(load, &packed, section, err);
        }
        if (is_old && data->d_size > OLD_HEAD_BYTES &&
            memcmp(data->d_buf, OLD_MAGIC, strlen(OLD_MAGIC)) == 0) {
                const uint8_t *head = data->d_buf;

                packed = (struct packed){ .bytes = head + OLD_HEAD_BYTES,
                                          .n_bytes = data->d_size - OLD_HEAD_BYTES,
                                          .unpacked_bytes = byte_order_read(head + 4, 8, true) };
                return unpack(load, &packed, section, err);
        }
        *section = (struct debug_section_bytes){ data->d_buf, data->d_size, NULL };
        return 0;
}

/* True if the first unit in @section is a type of DWARF 5. */
static bool holds_type(const struct debug_section_bytes *section, bool is_big_endian)
{
        size_t at = 4; /* after the length */

        if (section->n_bytes >= 4 && byte_order_read(section->bytes, 4, false) == UINT32_MAX)
                at = 12;
        return section->n_bytes > at + 2 && byte_order_read(section->bytes + at, 2, is_big_endian) >= 5 &&
               (section->bytes[at + 2] == DW_UT_type || section->bytes[at + 2] == DW_UT_split_type);
}

/*
 * The first of several sections with the same name counts, unless it holds a type: in a .dwo each type has
 * its own section.
 */
static int take_section(struct load *load, Elf_Scn *source, const GElf_Shdr *header, const char *name,
                        struct error *err)
{
        struct debug_section_bytes *section;
        enum debug_section place;
        bool is_old = false;

        place = find_place(name, load->is_split, &is_old);
        if (place == DEBUG_SECTION_COUNT || header->sh_type == SHT_NOBITS ||
            (place == DEBUG_SECTION_LOC || place == DEBUG_SECTION_LOCLISTS) != load->wants_locations)
                return 0;
        section = &load->sections->sections[place];
        if (section->bytes) {
                if (place != DEBUG_SECTION_INFO || !holds_type(section, load->sections->is_big_endian))
                        return 0;
                free(section->unpacked);
                *section = (struct debug_section_bytes){ .bytes = NULL };
        }
        return load_section(load, source, header, is_old, section, err);
}

/* Reads the wanted sections.  Those that were read before a failure stay. */
static int load_all(struct load *load, Elf *elf, struct error *err)
{
        Elf_Scn *source = NULL;
        size_t names_index;
        GElf_Ehdr file;
        int r = 0;

        if (!gelf_getehdr(elf, &file))
                return error_set(err, -EBADMSG, "not an ELF file");
        if (elf_getshdrstrndx(elf, &names_index) != 0)
                return 0; /* no sections at all */
        load->sections->is_big_endian = file.e_ident[EI_DATA] == ELFDATA2MSB;
        load->is_64bit = file.e_ident[EI_CLASS] == ELFCLASS64;

        while (r == 0 && (source = elf_nextscn(elf, source))) {
                const char *name;
                GElf_Shdr header;

                if (!gelf_getshdr(source, &header))
                        continue;
                name = elf_strptr(elf, names_index, header.sh_name);
                if (name)
                        r = take_section(load, source, &header, name, err);
        }
        return r;
}

int debug_sections_load(struct debug_sections *s, Elf *elf, bool split, struct error *err)
{
        struct load load = { .sections = s, .is_split = split };
        int r;

        *s = (struct debug_sections){ .is_big_endian = false };
        r = load_all(&load, elf, err);
        if (r < 0)
                debug_sections_deinit(s);
        return r;
}

int debug_sections_load_locations(struct debug_sections *s, Elf *elf, struct error *err)
{
        struct load load = { .sections = s, .wants_locations = true };

        return load_all(&load, elf, err);
}

void debug_sections_deinit(struct debug_sections *s)
{
        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++)
                free(s->sections[i].unpacked);
        *s = (struct debug_sections){ .is_big_endian = false };
}
