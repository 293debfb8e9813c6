/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/elf_image.c: build-id and addresses of well-formed files of any class;
 * damaged ones are refused
 */
#include "base/error.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 0x3000
#define NOTE_AT    0x200
#define ID_BYTES   20

/* A shared object: a data segment that shares a page of the file with the code after it, and a build-id. */
struct small_elf {
        Elf64_Ehdr header;
        Elf64_Phdr segments[3];
};

struct small_note {
        Elf64_Nhdr header;
        char name[4];
        uint8_t build_id[ID_BYTES];
};

static void fill_small_elf(uint8_t *bytes)
{
        struct small_elf elf = {
                .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                            .e_type = ET_DYN,
                            .e_machine = EM_X86_64,
                            .e_version = EV_CURRENT,
                            .e_phoff = offsetof(struct small_elf, segments),
                            .e_ehsize = sizeof(Elf64_Ehdr),
                            .e_phentsize = sizeof(Elf64_Phdr),
                            .e_phnum = 3,
                            .e_shentsize = sizeof(Elf64_Shdr) },
                .segments = { { .p_type = PT_LOAD,
                                .p_flags = PF_R,
                                .p_offset = 0,
                                .p_vaddr = 0x400000,
                                .p_filesz = 0x1800,
                                .p_memsz = 0x1800,
                                .p_align = 0x1000 },
                              { .p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_offset = 0x1000,
                                .p_vaddr = 0x402000,
                                .p_filesz = 0x1000,
                                .p_memsz = 0x1000,
                                .p_align = 0x1000 },
                              { .p_type = PT_NOTE,
                                .p_flags = PF_R,
                                .p_offset = NOTE_AT,
                                .p_vaddr = 0x400200,
                                .p_filesz = sizeof(struct small_note),
                                .p_memsz = sizeof(struct small_note),
                                .p_align = 4 } },
        };
        struct small_note note = { .header = { sizeof("GNU"), ID_BYTES, NT_GNU_BUILD_ID }, .name = "GNU" };

        for (uint8_t i = 0; i < ID_BYTES; i++)
                note.build_id[i] = i;
        memset(bytes, 0, FILE_BYTES);
        memcpy(bytes, &elf, sizeof(elf));
        memcpy(bytes + NOTE_AT, &note, sizeof(note));
}

START_TEST(test_build_id_and_addresses)
{
        static const struct {
                uint64_t file_off, svma;
                bool is_there;
        } wanted[] = {
                { 0, 0x400000, true },      { 0xfff, 0x400fff, true },  { 0x1000, 0x402000, true },
                { 0x17ff, 0x4027ff, true }, { 0x1fff, 0x402fff, true }, { 0x2000, 0, false },
                { UINT64_MAX, 0, false },
        };
        uint8_t bytes[FILE_BYTES];
        struct elf_image *image;
        uint64_t svma;

        fill_small_elf(bytes);
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, NULL), 0);
        ck_assert_uint_eq(image->build_id_bytes, ID_BYTES);
        ck_assert_uint_eq(image->build_id[7], 7);
        ck_assert_uint_eq(image->n_segments, 2);
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
                ck_assert(elf_image_find_svma(image, wanted[i].file_off, &svma) == wanted[i].is_there);
                if (wanted[i].is_there)
                        ck_assert_uint_eq(svma, wanted[i].svma);
        }
        elf_image_close(image);
}
END_TEST

/* Without sections, a segment of code that holds the file's header begins after it. */
START_TEST(test_first_code)
{
        uint8_t bytes[FILE_BYTES];
        struct elf_image *image;
        struct small_elf elf;

        fill_small_elf(bytes);
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, NULL), 0);
        ck_assert_uint_eq(elf_image_first_code(image), 0x402000);
        elf_image_close(image);
        memcpy(&elf, bytes, sizeof(elf));
        elf.segments[0].p_flags |= PF_X;
        elf.segments[0].p_vaddr = 0;
        memcpy(bytes, &elf, sizeof(elf));
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, NULL), 0);
        ck_assert_uint_eq(elf_image_first_code(image), sizeof(Elf64_Ehdr));
        elf_image_close(image);
}
END_TEST

START_TEST(test_32_bit_big_endian)
{
        const Elf32_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2MSB, EV_CURRENT },
                                    .e_type = htobe16(ET_EXEC),
                                    .e_machine = htobe16(EM_PPC),
                                    .e_version = htobe32(EV_CURRENT),
                                    .e_phoff = htobe32(sizeof(Elf32_Ehdr)),
                                    .e_ehsize = htobe16(sizeof(Elf32_Ehdr)),
                                    .e_phentsize = htobe16(sizeof(Elf32_Phdr)),
                                    .e_phnum = htobe16(1) };
        const Elf32_Phdr segment = { .p_type = htobe32(PT_LOAD),
                                     .p_offset = htobe32(0x100),
                                     .p_vaddr = htobe32(0x10000100),
                                     .p_filesz = htobe32(0x80),
                                     .p_memsz = htobe32(0x80),
                                     .p_flags = htobe32(PF_X) };
        uint8_t bytes[0x200] = { 0 };
        struct elf_image *image;
        uint64_t svma = 0;

        memcpy(bytes, &header, sizeof(header));
        memcpy(bytes + sizeof(header), &segment, sizeof(segment));
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, NULL), 0);
        ck_assert(elf_image_find_svma(image, 0x110, &svma));
        ck_assert_uint_eq(svma, 0x10000110);
        ck_assert_uint_eq(image->build_id_bytes, 0);
        elf_image_close(image);
}
END_TEST

/* loop test: headers and note are cut at each byte; what opens has the whole build-id or none */
START_LOOP_TEST(test_cut_anywhere, 0, NOTE_AT + (int)sizeof(struct small_note) + 1)
{
        uint8_t bytes[FILE_BYTES];
        uint8_t *cut = malloc((size_t)_i + 1);
        struct elf_image *image = NULL;

        fill_small_elf(bytes);
        ck_assert_ptr_nonnull(cut);
        memcpy(cut, bytes, (size_t)_i);
        if ((size_t)_i < sizeof(struct small_elf)) {
                ck_assert_int_eq(elf_image_open_memory(cut, (size_t)_i, &image, NULL), -EBADMSG);
        } else {
                ck_assert_int_eq(elf_image_open_memory(cut, (size_t)_i, &image, NULL), 0);
                ck_assert_uint_eq(image->build_id_bytes,
                                  (size_t)_i < NOTE_AT + sizeof(struct small_note) ? 0 : ID_BYTES);
                elf_image_close(image);
        }
        free(cut);
}
END_TEST

START_TEST(test_what_is_no_program_is_refused)
{
        uint8_t bytes[FILE_BYTES];
        struct elf_image *image = NULL;
        struct error err = ERROR_NONE;

        fill_small_elf(bytes);
        bytes[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, &err), -EBADMSG);
        fill_small_elf(bytes);
        memset(bytes + offsetof(Elf64_Ehdr, e_phoff), 0xff, 8);
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, &err), -EBADMSG);
        fill_small_elf(bytes);
        bytes[0] = 'X';
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, &err), -EBADMSG);
        ck_assert_int_gt((int)strlen(err.text), 0);
}
END_TEST

START_TEST(test_build_id_of_unusual_length)
{
        uint8_t bytes[FILE_BYTES];
        struct elf_image *image;
        uint32_t too_long = ELF_IMAGE_BUILD_ID_MAX + 4;

        fill_small_elf(bytes);
        memcpy(bytes + NOTE_AT + offsetof(Elf64_Nhdr, n_descsz), &too_long, sizeof(too_long));
        ck_assert_int_eq(elf_image_open_memory(bytes, sizeof(bytes), &image, NULL), 0);
        ck_assert_uint_eq(image->build_id_bytes, 0);
        elf_image_close(image);
}
END_TEST

START_TEST(test_own_program_by_descriptor)
{
        struct elf_image *image;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_uint_gt(image->n_segments, 1);
        elf_image_close(image);
        ck_assert_int_ge(fcntl(fd, F_GETFD), 0); /* borrowed, still open */
        (void)close(fd);
}
END_TEST

START_TEST(test_vdso)
{
        struct elf_image *image;
        int r = elf_image_open_vdso(&image, NULL);

        ck_assert(r == 0 || r == -ENODATA);
        if (r < 0)
                return;
        ck_assert_uint_ge(image->n_segments, 1);
        ck_assert_uint_gt(image->build_id_bytes, 0);
        elf_image_close(image);
}
END_TEST

START_TEST(test_only_regular_files_are_opened)
{
        char folder[] = "/tmp/hyprof-elf-XXXXXX";
        char path[64];
        int fd = -1;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(path, sizeof(path), "%s/fifo", folder);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        ck_assert_int_eq(regular_file_open(path, &fd, NULL), -EINVAL); /* open(2) would wait for a writer */
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(regular_file_open(path, &fd, NULL), -ENOENT);
        ck_assert_int_eq(symlink("/dev/null", path), 0);
        ck_assert_int_eq(regular_file_open(path, &fd, NULL), -EINVAL);
        ck_assert_int_eq(regular_file_open(folder, &fd, NULL), -EINVAL);
        ck_assert_int_eq(fd, -1);
        ck_assert_int_eq(regular_file_open("/proc/self/exe", &fd, NULL), 0);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        (void)close(fd);
        (void)unlink(path);
        (void)rmdir(folder);
}
END_TEST
