/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debug_sections.c: packed sections come out as they were, damaged and
 * endless ones give an error
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/debug/debug_sections.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define HAS_TOOLS (built_files_has("gcc") && built_files_has("objcopy"))

#define FILE_BYTES 65536

static struct built_files files;

static void setup(void)
{
        built_files_init(&files);
}

static void teardown(void)
{
        built_files_deinit(&files);
}

/* An open file with its sections. */
struct opened {
        int fd;
        Elf *elf;
        struct debug_sections sections;
        int r;
};

static struct opened open_sections(const char *name, bool split)
{
        struct opened o = { .fd = -1 };

        (void)elf_version(EV_CURRENT);
        ck_assert_int_eq(regular_file_open(built_files_path(&files, name), &o.fd, NULL), 0);
        o.elf = elf_begin(o.fd, ELF_C_READ_MMAP, NULL);
        ck_assert_ptr_nonnull(o.elf);
        o.r = debug_sections_load(&o.sections, o.elf, split, NULL);
        return o;
}

static void close_sections(struct opened *o)
{
        debug_sections_deinit(&o->sections);
        (void)elf_end(o->elf);
        io_close(&o->fd);
}

static void compile(const char *options)
{
        char command[512];

        built_files_write(&files, "a.c",
                          "struct point { long x, y; };\n"
                          "static int twice(int a) { return 2 * a; }\n"
                          "int main(int argc, char **argv) { struct point p = { argc, 1 };\n"
                          "return twice((int)p.x) + argv[0][0] + twice((int)p.y); }\n");
        (void)snprintf(command, sizeof(command), "gcc -g -O1 %s a.c -o a", options);
        ck_assert_msg(built_files_run(&files, command), "%s", command);
}

static const char *const ways[] = { "zlib", "zlib-gnu", "zlib-gabi" };

START_LOOP_TEST_IF(HAS_TOOLS, test_packed_by_objcopy, 0, sizeof(ways) / sizeof(ways[0]))
{
        struct opened plain, packed;
        unsigned n_unpacked = 0;
        char command[256];

        compile("");
        (void)snprintf(command, sizeof(command), "objcopy --compress-debug-sections=%s a b", ways[_i]);
        ck_assert(built_files_run(&files, command));
        plain = open_sections("a", false);
        packed = open_sections("b", false);
        ck_assert_int_eq(plain.r, 0);
        ck_assert_int_eq(packed.r, 0);
        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++) {
                const struct debug_section_bytes *x = &plain.sections.sections[i];
                const struct debug_section_bytes *y = &packed.sections.sections[i];

                ck_assert_ptr_null(x->unpacked);
                ck_assert_uint_eq(x->n_bytes, y->n_bytes);
                if (x->n_bytes > 0)
                        ck_assert_mem_eq(x->bytes, y->bytes, x->n_bytes);
                n_unpacked += y->unpacked != NULL;
        }
        ck_assert_uint_gt(plain.sections.sections[DEBUG_SECTION_INFO].n_bytes, 0);
        ck_assert_uint_gt(n_unpacked, 0);
        close_sections(&plain);
        close_sections(&packed);
}
END_TEST

START_TEST_IF(HAS_TOOLS, test_without_debug_information)
{
        struct opened o;

        compile("-g0");
        o = open_sections("a", false);
        ck_assert_int_eq(o.r, 0);
        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++)
                ck_assert_uint_eq(o.sections.sections[i].n_bytes, 0);
        close_sections(&o);
}
END_TEST

/* The names of a .dwo have a suffix, and types come in groups with sections of the same names. */
START_TEST_IF(HAS_TOOLS, test_split)
{
        struct opened o;

        compile("-gsplit-dwarf -gdwarf-5 -fdebug-types-section");
        ck_assert(built_files_run(&files, "[ -e a.dwo ] || mv *.dwo a.dwo"));
        o = open_sections("a.dwo", true);
        ck_assert_int_eq(o.r, 0);
        /* Version 5, DW_UT_split_compile: not the unit of a type. */
        ck_assert_uint_gt(o.sections.sections[DEBUG_SECTION_INFO].n_bytes, 7);
        ck_assert_uint_eq(o.sections.sections[DEBUG_SECTION_INFO].bytes[6], 5);
        ck_assert_ptr_nonnull(o.sections.sections[DEBUG_SECTION_STR_OFFSETS].bytes);
        ck_assert_ptr_null(o.sections.sections[DEBUG_SECTION_ADDR].bytes);
        close_sections(&o);
        o = open_sections("a", true);
        ck_assert_ptr_null(o.sections.sections[DEBUG_SECTION_INFO].bytes);
        close_sections(&o);
}
END_TEST

/* An ELF file in memory with one .debug_info, packed as a test wants it. */
struct small_elf {
        uint8_t bytes[FILE_BYTES];
        size_t n_bytes;
};

static void make_elf(struct small_elf *e, const void *section, size_t section_bytes, uint64_t flags)
{
        static const char names[] = "\0.debug_info\0.shstrtab";
        Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                              .e_type = ET_DYN,
                              .e_machine = EM_X86_64,
                              .e_version = EV_CURRENT,
                              .e_ehsize = sizeof(header),
                              .e_shentsize = sizeof(Elf64_Shdr),
                              .e_shnum = 3,
                              .e_shstrndx = 2 };
        Elf64_Shdr headers[3] = {
                { 0 },
                { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = flags, .sh_addralign = 1 },
                { .sh_name = 13, .sh_type = SHT_STRTAB, .sh_addralign = 1 }
        };

        headers[2].sh_offset = sizeof(header);
        headers[2].sh_size = sizeof(names);
        headers[1].sh_offset = headers[2].sh_offset + headers[2].sh_size;
        headers[1].sh_size = section_bytes;
        header.e_shoff = (headers[1].sh_offset + section_bytes + 7) & ~UINT64_C(7);
        e->n_bytes = header.e_shoff + sizeof(headers);
        ck_assert_uint_le(e->n_bytes, FILE_BYTES);
        memset(e->bytes, 0, sizeof(e->bytes));
        memcpy(e->bytes, &header, sizeof(header));
        memcpy(e->bytes + headers[2].sh_offset, names, sizeof(names));
        memcpy(e->bytes + headers[1].sh_offset, section, section_bytes);
        memcpy(e->bytes + header.e_shoff, headers, sizeof(headers));
}

/* @type and @unpacked_bytes as the head of the section says; returns what loading gives. */
static int load_packed(struct debug_sections *s, uint32_t type, uint64_t unpacked_bytes, const void *stream,
                       size_t stream_bytes)
{
        static struct small_elf file;
        static uint8_t section[FILE_BYTES / 2];
        Elf64_Chdr head = { .ch_type = type, .ch_size = unpacked_bytes, .ch_addralign = 1 };
        Elf *elf;
        int r;

        ck_assert_uint_le(sizeof(head) + stream_bytes, sizeof(section));
        memcpy(section, &head, sizeof(head));
        memcpy(section + sizeof(head), stream, stream_bytes);
        make_elf(&file, section, sizeof(head) + stream_bytes, SHF_COMPRESSED);
        (void)elf_version(EV_CURRENT);
        elf = elf_memory((char *)file.bytes, file.n_bytes);
        ck_assert_ptr_nonnull(elf);
        r = debug_sections_load(s, elf, false, NULL);
        (void)elf_end(elf);
        return r;
}

#define TYPE_ZLIB 1
#define TYPE_ZSTD 2

static const char text[] =
        "a section of debug information, a section of debug information, of debug information";

static size_t pack(uint32_t type, uint8_t *out, size_t out_bytes)
{
        uLongf used = out_bytes;

        if (type == TYPE_ZSTD)
                return ZSTD_compress(out, out_bytes, text, sizeof(text), 3);
        ck_assert_int_eq(compress(out, &used, (const Bytef *)text, sizeof(text)), Z_OK);
        return used;
}

/* loop test: zlib and zstd */
START_LOOP_TEST(test_packed_by_hand, 0, 2)
{
        uint32_t type = _i == 0 ? TYPE_ZLIB : TYPE_ZSTD;
        struct debug_sections s;
        uint8_t stream[512];
        size_t n_bytes = pack(type, stream, sizeof(stream));

        ck_assert_int_eq(load_packed(&s, type, sizeof(text), stream, n_bytes), 0);
        ck_assert_uint_eq(s.sections[DEBUG_SECTION_INFO].n_bytes, sizeof(text));
        ck_assert_mem_eq(s.sections[DEBUG_SECTION_INFO].bytes, text, sizeof(text));
        debug_sections_deinit(&s);
        /* Several streams, as linkers put them after one another. */
        memcpy(stream + n_bytes, stream, n_bytes);
        ck_assert_int_eq(load_packed(&s, type, 2 * sizeof(text), stream, 2 * n_bytes), 0);
        ck_assert_uint_eq(s.sections[DEBUG_SECTION_INFO].n_bytes, 2 * sizeof(text));
        ck_assert_mem_eq(s.sections[DEBUG_SECTION_INFO].bytes + sizeof(text), text, sizeof(text));
        debug_sections_deinit(&s);
}
END_TEST

/* loop test: a stream that is cut, changed, longer or shorter than it says gives an error and no bytes */
START_LOOP_TEST(test_damaged_stream, 0, 2)
{
        uint32_t type = _i == 0 ? TYPE_ZLIB : TYPE_ZSTD;
        struct debug_sections s;
        uint8_t stream[512];
        size_t n_bytes = pack(type, stream, sizeof(stream));

        for (size_t cut = 0; cut < n_bytes; cut++) {
                ck_assert_int_eq(load_packed(&s, type, sizeof(text), stream, cut), -EBADMSG);
                ck_assert_ptr_null(s.sections[DEBUG_SECTION_INFO].bytes);
        }
        ck_assert_int_eq(load_packed(&s, type, sizeof(text) - 1, stream, n_bytes), -EBADMSG);
        ck_assert_int_eq(load_packed(&s, type, sizeof(text) + 1, stream, n_bytes), -EBADMSG);
        stream[0] ^= 0xff;
        ck_assert_int_eq(load_packed(&s, type, sizeof(text), stream, n_bytes), -EBADMSG);
        ck_assert_int_eq(load_packed(&s, 3, sizeof(text), stream, n_bytes), -EBADMSG);
}
END_TEST

/* No memory is asked for that the stream cannot fill, and none over the limit. */
START_TEST(test_size_that_cannot_be)
{
        struct debug_sections s;
        uint8_t stream[512];
        size_t n_bytes = pack(TYPE_ZLIB, stream, sizeof(stream));

        ck_assert_int_eq(load_packed(&s, TYPE_ZLIB, UINT64_C(1) << 31, stream, n_bytes), -EBADMSG);
        ck_assert_int_eq(load_packed(&s, TYPE_ZSTD, UINT64_C(1) << 31, stream, n_bytes), -EBADMSG);
        ck_assert_int_eq(load_packed(&s, TYPE_ZLIB, DEBUG_SECTIONS_UNPACKED_MAX + 1, stream, n_bytes),
                         -EOVERFLOW);
        ck_assert_int_eq(load_packed(&s, TYPE_ZLIB, UINT64_MAX, stream, n_bytes), -EOVERFLOW);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
