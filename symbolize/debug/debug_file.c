/* SPDX-License-Identifier: MIT */
#include "symbolize/debug/debug_file.h"

#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/byte_order.h"
#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define NOTE_HEAD_BYTES 16 /* with the name, which is "GNU" */

/*
 * A .dwo file has sections only.  Its section table must lie within the file before libelf looks at it, as
 * for every file.
 */
static bool is_readable_object(Elf *elf, uint64_t file_bytes)
{
        size_t n_sections;
        GElf_Ehdr header;
        uint64_t table_bytes;

        if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
            elf_getshdrnum(elf, &n_sections) != 0)
                return false;
        return header.e_shoff <= file_bytes &&
               !__builtin_mul_overflow(n_sections, header.e_shentsize, &table_bytes) &&
               table_bytes <= file_bytes - header.e_shoff;
}

static int open_regular(const char *path, int *ret_fd, uint64_t *ret_bytes)
{
        struct stat status;
        int fd;

        if (regular_file_open(path, &fd, NULL) < 0)
                return 0;
        if (fstat(fd, &status) < 0 || status.st_size <= 0 ||
            (uint64_t)status.st_size > DEBUG_FILE_BYTES_MAX) {
                io_close(&fd);
                return 0;
        }
        *ret_fd = fd;
        *ret_bytes = (uint64_t)status.st_size;
        return 1;
}

/*
 * File descriptors are few, and a program may have thousands of split files: the file stays mapped, without
 * a descriptor.
 */
static bool let_go_of(Elf *elf)
{
        return elf_cntl(elf, ELF_C_FDREAD) == 0;
}

int debug_file_open(char *path, struct debug_file *ret_file)
{
        struct debug_file file = { .path = path };
        uint64_t file_bytes;
        int fd = -1;

        if (!path || !open_regular(path, &fd, &file_bytes) || elf_image_open(fd, &file.image, NULL) < 0)
                goto fail;
        file.elf = file.image->elf;
        if (!let_go_of(file.elf))
                goto fail;
        file.image->fd = -1;
        io_close(&fd);
        *ret_file = file;
        return 1;

fail:
        debug_file_close(&file);
        io_close(&fd);
        return 0;
}

int debug_file_open_split(char *path, struct debug_file *ret_file)
{
        struct debug_file file = { .path = path };
        uint64_t file_bytes;
        int fd = -1;

        if (!path || !open_regular(path, &fd, &file_bytes))
                goto fail;
        (void)elf_version(EV_CURRENT);
        file.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        if (!is_readable_object(file.elf, file_bytes) || !let_go_of(file.elf))
                goto fail;
        io_close(&fd);
        *ret_file = file;
        return 1;

fail:
        debug_file_close(&file);
        io_close(&fd);
        return 0;
}

void debug_file_close(struct debug_file *file)
{
        if (file->image)
                elf_image_close(file->image);
        else if (file->elf)
                (void)elf_end(file->elf);
        free(file->path);
        *file = (struct debug_file){ .path = NULL };
}

/*
 * True if a file that has sections alone has this note: sizes of name and description, type, "GNU", the
 * build-id.
 */
static bool has_note(Elf *elf, const uint8_t *build_id, size_t build_id_bytes)
{
        size_t n_bytes;
        const uint8_t *note = debug_file_find_bytes(elf, ".note.gnu.build-id", &n_bytes);
        GElf_Ehdr header;
        bool is_big;

        if (!note || !gelf_getehdr(elf, &header) || n_bytes != NOTE_HEAD_BYTES + build_id_bytes)
                return false;
        is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
        return byte_order_read(note + 4, 4, is_big) == build_id_bytes &&
               byte_order_read(note + 8, 4, is_big) == NT_GNU_BUILD_ID &&
               memcmp(note + NOTE_HEAD_BYTES, build_id, build_id_bytes) == 0;
}

bool debug_file_has_build_id(const struct debug_file *file, const uint8_t *build_id, size_t build_id_bytes)
{
        if (build_id_bytes == 0)
                return false;
        if (!file->image)
                return has_note(file->elf, build_id, build_id_bytes);
        return file->image->build_id_bytes == build_id_bytes &&
               memcmp(file->image->build_id, build_id, build_id_bytes) == 0;
}

bool debug_file_has_checksum(const struct debug_file *file, uint32_t wanted)
{
        size_t n_bytes = 0;
        const char *bytes = elf_rawfile(file->elf, &n_bytes);

        return bytes && crc32_z(0, (const uint8_t *)bytes, n_bytes) == wanted;
}

Elf_Scn *debug_file_find_section(Elf *elf, const char *name)
{
        Elf_Scn *section = NULL;
        size_t names_index;
        GElf_Shdr header;

        if (elf_getshdrstrndx(elf, &names_index) != 0)
                return NULL;
        while ((section = elf_nextscn(elf, section))) {
                const char *own;

                if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
                        continue;
                own = elf_strptr(elf, names_index, header.sh_name);
                if (own && strcmp(own, name) == 0)
                        return section;
        }
        return NULL;
}

const uint8_t *debug_file_find_bytes(Elf *elf, const char *name, size_t *ret_bytes)
{
        Elf_Scn *section = debug_file_find_section(elf, name);
        const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

        if (!data || !data->d_buf || data->d_size == 0)
                return NULL;
        *ret_bytes = data->d_size;
        return data->d_buf;
}

bool debug_file_has_debug_info(Elf *elf)
{
        return debug_file_find_section(elf, ".debug_info") || debug_file_find_section(elf, ".zdebug_info");
}

char *debug_file_format_path(const char *format, ...)
{
        va_list arguments;
        char *path = NULL;

        va_start(arguments, format);
        if (vasprintf(&path, format, arguments) < 0)
                path = NULL;
        va_end(arguments);
        return path;
}
