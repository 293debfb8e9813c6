/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/build_id_note.c: the build-id of files is found however linkers lay their notes out, at every
 * cut and in every broken header nothing is read beyond the bytes
 */
#include "base/io.h"
#include "sampler/keep/build_id_note.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/built_files.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BYTES 16384

/* The beginning of this program, which the linker gave a build-id. */
static size_t read_self(uint8_t *bytes)
{
        size_t n_bytes = 0;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_read_full(fd, bytes, FIRST_BYTES, &n_bytes, NULL), 0);
        io_close(&fd);
        return n_bytes;
}

START_TEST(test_self)
{
        static uint8_t bytes[FIRST_BYTES];
        size_t n_bytes = read_self(bytes);
        struct elf_image *image = NULL;
        const uint8_t *id = NULL;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_uint_gt(image->build_id_bytes, 0);
        ck_assert_uint_eq(build_id_note_find(bytes, n_bytes, &id), image->build_id_bytes);
        ck_assert_mem_eq(id, image->build_id, image->build_id_bytes);
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

START_TEST(test_cuts)
{
        static uint8_t bytes[FIRST_BYTES];
        size_t n_found = 0;

        (void)read_self(bytes);
        for (size_t n_bytes = 0; n_bytes < 4096; n_bytes++) {
                uint8_t *copy = malloc(n_bytes + 1); /* so that AddressSanitizer sees the end */
                const uint8_t *id = NULL;
                size_t n;

                memcpy(copy, bytes, n_bytes);
                n = build_id_note_find(copy, n_bytes, &id);
                if (n > 0) {
                        ck_assert(id >= copy);
                        ck_assert(id + n <= copy + n_bytes);
                        n_found++;
                }
                free(copy);
        }
        ck_assert_uint_gt(n_found, 0); /* the note is among these bytes */
}
END_TEST

START_TEST(test_broken)
{
        static uint8_t bytes[FIRST_BYTES], broken[FIRST_BYTES];
        uint64_t random = 7;
        size_t n_bytes = read_self(bytes);

        for (unsigned i = 0; i < 20000; i++) {
                const uint8_t *id = NULL;
                size_t n;

                memcpy(broken, bytes, n_bytes);
                for (unsigned j = 0; j < 4; j++)
                        broken[fixed_random_next(&random) % 1024] = (uint8_t)fixed_random_next(&random);
                n = build_id_note_find(broken, n_bytes, &id);
                if (n > 0) {
                        ck_assert(id >= broken);
                        ck_assert(id + n <= broken + n_bytes);
                }
        }
}
END_TEST

START_TEST(test_no_elf)
{
        static const uint8_t text[64] = "#!/bin/sh\necho no ELF file at all, but a script of some length\n";
        const uint8_t *id;

        ck_assert(!build_id_note_is_elf(text, sizeof(text)));
        ck_assert(!build_id_note_is_elf((const uint8_t *)"\177ELF", 4));
        ck_assert_uint_eq(build_id_note_find(text, sizeof(text), &id), 0);
}
END_TEST

/* ---- files made by hand -------------------------------------------------------------------------------- */

#define ID_BYTES  20
#define ID_FILL   0x5a
#define MADE_ROOM 65536

struct notes {
        uint8_t bytes[512];
        size_t n_bytes;
};

/* A note whose parts are aligned to @align bytes from the begin of the segment on. */
static void put_note(struct notes *notes, const char *name, uint32_t type, uint32_t desc_bytes, size_t align)
{
        const Elf64_Nhdr header = { .n_namesz = (uint32_t)strlen(name) + 1,
                                    .n_descsz = desc_bytes,
                                    .n_type = type };

        memcpy(notes->bytes + notes->n_bytes, &header, sizeof(header));
        notes->n_bytes += sizeof(header);
        memcpy(notes->bytes + notes->n_bytes, name, header.n_namesz);
        notes->n_bytes = (notes->n_bytes + header.n_namesz + align - 1) / align * align;
        memset(notes->bytes + notes->n_bytes, ID_FILL, desc_bytes);
        notes->n_bytes = (notes->n_bytes + desc_bytes + align - 1) / align * align;
}

/* A file with these notes at @notes_off, in the second of two segments of notes; its length. */
static size_t make_file(uint8_t *bytes, const struct notes *notes, uint64_t notes_off, uint64_t align)
{
        Elf64_Phdr segments[3] = { { .p_type = PT_LOAD, .p_filesz = 4096 },
                                   { .p_type = PT_NOTE, .p_offset = 4000, .p_filesz = 12, .p_align = 4 },
                                   { .p_type = PT_NOTE, .p_offset = notes_off, .p_align = align } };
        const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                                    .e_phoff = sizeof(header),
                                    .e_phentsize = sizeof(segments[0]),
                                    .e_phnum = 3 };

        segments[2].p_filesz = notes->n_bytes;
        memset(bytes, 0, MADE_ROOM);
        memcpy(bytes, &header, sizeof(header));
        memcpy(bytes + sizeof(header), segments, sizeof(segments));
        memcpy(bytes + notes_off, notes->bytes, notes->n_bytes);
        return (size_t)notes_off + notes->n_bytes;
}

/* Is the build-id found in a file of these bytes? */
static bool is_found(const uint8_t *bytes, size_t n_bytes)
{
        static uint8_t scratch[BUILD_ID_NOTE_SCRATCH_BYTES];
        uint8_t wanted[ID_BYTES];
        const uint8_t *id = NULL;
        int fd = memfd_create("notes", MFD_CLOEXEC);
        int n;

        ck_assert_int_eq(io_write_all(fd, bytes, n_bytes, NULL), 0);
        n = build_id_note_read(fd, scratch, &id);
        io_close(&fd);
        memset(wanted, ID_FILL, sizeof(wanted));
        return n == ID_BYTES && memcmp(id, wanted, sizeof(wanted)) == 0;
}

static const struct {
        const char *first_name;
        uint32_t first_type, first_bytes; /* of the note before it; 0 = there is none */
        size_t align;                     /* of the notes */
        uint64_t segment_align, notes_off;
} layouts[] = {
        { "GNU", 0, 0, 4, 4, 0x238 },                            /* alone */
        { "GNU", NT_GNU_ABI_TAG, 16, 4, 4, 0x238 },              /* GNU ld, gold */
        { "GNU", NT_GNU_PROPERTY_TYPE_0, 16, 4, 8, 0x2c8 },      /* mold */
        { "GNU", NT_GNU_PROPERTY_TYPE_0, 48, 8, 8, 0x2c8 },      /* as the specification has it */
        { "FreeBSD notes", 1, 4, 8, 8, 0x2c8 },                  /* a name that the two pad otherwise */
        { "stapsdt", 3, 17, 4, 4, 0x2c8 },                       /* odd lengths */
        { "stapsdt", 3, 17, 8, 8, 0x2c8 },                       /* the same */
        { "GNU", NT_GNU_PROPERTY_TYPE_0, 16, 4, 8, 0x6000 },     /* beyond the first bytes */
        { "GNU", NT_GNU_PROPERTY_TYPE_0, 16, 4, 8, 16384 - 40 }, /* across their end */
};

START_LOOP_TEST(test_layouts, 0, sizeof(layouts) / sizeof(layouts[0]))
{
        static uint8_t bytes[MADE_ROOM];
        struct notes notes = { .n_bytes = 0 };
        size_t n_bytes;

        if (layouts[_i].first_bytes > 0)
                put_note(&notes, layouts[_i].first_name, layouts[_i].first_type, layouts[_i].first_bytes,
                         layouts[_i].align);
        put_note(&notes, "GNU", NT_GNU_BUILD_ID, ID_BYTES, layouts[_i].align);
        put_note(&notes, "GNU", NT_GNU_ABI_TAG, 16, layouts[_i].align);
        n_bytes = make_file(bytes, &notes, layouts[_i].notes_off, layouts[_i].segment_align);
        ck_assert(is_found(bytes, n_bytes));
        bytes[layouts[_i].notes_off + notes.n_bytes - 1] ^= 1; /* another note */
        ck_assert(is_found(bytes, n_bytes));
}
END_TEST

/* The bytes of a build-id that are no note of their own, or lie beyond the segment, count for nothing. */
START_LOOP_TEST(test_what_is_no_build_id, 0, 3)
{
        static uint8_t bytes[MADE_ROOM];
        static const struct {
                const char *name;
                uint32_t type;
                bool is_cut;
        } cases[] = { { "GNU", NT_GNU_BUILD_ID, true },
                      { "Go", NT_GNU_BUILD_ID, false },
                      { "GNU", NT_GNU_BUILD_ID + 1, false } };
        struct notes notes = { .n_bytes = 0 };
        size_t n_bytes;

        put_note(&notes, cases[_i].name, cases[_i].type, ID_BYTES, 4);
        if (cases[_i].is_cut)
                notes.n_bytes -= ID_BYTES + 1;
        n_bytes = make_file(bytes, &notes, 0x238, 4);
        ck_assert(!is_found(bytes, n_bytes));
}
END_TEST

/* ---- files of the linkers at hand ---------------------------------------------------------------------- */

static const char *const linkers[] = { "bfd", "gold", "lld", "mold" };

START_LOOP_TEST(test_linkers, 0, sizeof(linkers) / sizeof(linkers[0]))
{
        static uint8_t scratch[BUILD_ID_NOTE_SCRATCH_BYTES];
        static uint8_t wanted[ID_BYTES];
        const uint8_t *id = NULL;
        struct built_files files;
        char command[256];

        memset(wanted, 0xab, sizeof(wanted));
        built_files_init(&files);
        built_files_write(&files, "a.c", "int main(void) { return 0; }");
        (void)snprintf(command, sizeof(command), "gcc -fuse-ld=%s -Wl,--build-id=0x%s a.c -o a", linkers[_i],
                       "abababababababababababababababababababab");
        if (built_files_run(&files, command)) {
                int fd = open(built_files_path(&files, "a"), O_RDONLY | O_CLOEXEC);

                ck_assert_int_eq(build_id_note_read(fd, scratch, &id), ID_BYTES);
                ck_assert_mem_eq(id, wanted, ID_BYTES);
                io_close(&fd);
        } else {
                printf("skipped: no linker %s\n", linkers[_i]);
        }
        built_files_deinit(&files);
}
END_TEST
