/* SPDX-License-Identifier: MIT */
/*
 * libdwfl asks two questions: where the module is (find_elf), and where its
 * debug file or the supplementary file of that is (find_debuginfo).  The
 * standard answers of libdwfl open() whatever a section of the program names.
 * That may be a FIFO, which blocks, or a device, so the answers are given here.
 */
#include "symbolize/debug_files.h"

#include "base/error.h"
#include "base/io.h"
#include "symbolize/elf_image.h"
#include "symbolize/regular_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_DIRECTORY    "/usr/lib/debug"
#define CRC_READ_BYTES     8192
#define CRC_POLYNOMIAL     UINT32_C(0xedb88320) /* CRC-32 of .gnu_debuglink, bits reversed */
#define DEBUG_FILE_CRC_MAX (UINT64_C(1) << 32)  /* bytes of a file that are summed up at most */

/* The directory part of @path with its last slash; 0 if it has none. */
static int count_directory(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? (int)(slash - path) + 1 : 0;
}

static void fill_crc_table(uint32_t table[256])
{
        for (uint32_t i = 0; i < 256; i++) {
                uint32_t c = i;

                for (int bit = 0; bit < 8; bit++)
                        c = c & 1 ? c >> 1 ^ CRC_POLYNOMIAL : c >> 1;
                table[i] = c;
        }
}

static bool has_crc(int fd, uint32_t wanted)
{
        uint8_t buffer[CRC_READ_BYTES];
        uint32_t table[256], crc = UINT32_MAX;
        uint64_t offset = 0;
        size_t got;

        fill_crc_table(table);
        do {
                if (io_pread_full(fd, buffer, sizeof(buffer), offset, &got, NULL) < 0 ||
                    offset > DEBUG_FILE_CRC_MAX)
                        return false;
                for (size_t i = 0; i < got; i++)
                        crc = table[(crc ^ buffer[i]) & 0xff] ^ crc >> 8;
                offset += got;
        } while (got == sizeof(buffer));
        return ~crc == wanted;
}

/* A debug file belongs to the image by its build-id; an image without one goes by the link's checksum. */
static bool belongs(const struct elf_image *image, int fd, uint32_t link_crc)
{
        struct elf_image *debug;
        bool equal;

        if (image->build_id_bytes == 0)
                return has_crc(fd, link_crc);
        if (elf_image_open(fd, &debug, NULL) < 0)
                return false;
        equal = debug->build_id_bytes == image->build_id_bytes &&
                memcmp(debug->build_id, image->build_id, image->build_id_bytes) == 0;
        elf_image_close(debug);
        return equal;
}

/* Opens @path, which is freed or handed on in @ret_path; -1 if it is not there or not the one. */
static int try_path(const struct elf_image *image, char *path, uint32_t link_crc, char **ret_path)
{
        int fd = -1;

        if (!path || regular_file_open(path, &fd, NULL) < 0) {
                free(path);
                return -1;
        }
        if (!belongs(image, fd, link_crc)) {
                free(path);
                io_close(&fd);
                return -1;
        }
        *ret_path = path;
        return fd;
}

static char *format_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *format_path(const char *format, ...)
{
        va_list arguments;
        char *path = NULL;

        va_start(arguments, format);
        if (vasprintf(&path, format, arguments) < 0)
                path = NULL;
        va_end(arguments);
        return path;
}

/* DEBUG_DIRECTORY/.build-id/ab/cdef.debug */
static char *format_build_id_path(const struct elf_image *image)
{
        char hex[2 * ELF_IMAGE_BUILD_ID_MAX + 1];

        for (size_t i = 0; i < image->build_id_bytes; i++)
                (void)snprintf(hex + 2 * i, 3, "%02x", image->build_id[i]);
        return format_path(DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", hex, hex + 2);
}

static int find_debug_file(const struct debug_files *files, const char *link, uint32_t link_crc,
                           char **ret_path)
{
        const struct elf_image *image = files->image;
        int directory_bytes;
        int fd = -1;

        if (image->build_id_bytes > 1)
                fd = try_path(image, format_build_id_path(image), 0, ret_path);
        /* The link is a name beside the file; one with a slash in it would lead anywhere. */
        if (fd >= 0 || !link || !*link || strchr(link, '/') || !files->path)
                return fd;
        directory_bytes = count_directory(files->path);
        fd = try_path(image, format_path("%.*s%s", directory_bytes, files->path, link), link_crc, ret_path);
        if (fd < 0)
                fd = try_path(image, format_path("%.*s.debug/%s", directory_bytes, files->path, link),
                              link_crc, ret_path);
        if (fd < 0 && files->path[0] == '/')
                fd = try_path(image,
                              format_path(DEBUG_DIRECTORY "%.*s%s", directory_bytes, files->path, link),
                              link_crc, ret_path);
        return fd;
}

/* dwz names the file of what several debug files have in common: absolute, or relative to the debug file. */
static int find_supplementary_file(const char *debug_path, const char *name, char **ret_path)
{
        bool is_relative = name[0] != '/' && debug_path;
        char *path = format_path("%.*s%s", is_relative ? count_directory(debug_path) : 0,
                                 is_relative ? debug_path : "", name);
        int fd = -1;

        if (!path || regular_file_open(path, &fd, NULL) < 0) {
                free(path);
                return -1;
        }
        *ret_path = path;
        return fd;
}

static int answer_find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           char **ret_path, Elf **ret_elf)
{
        const struct debug_files *files = *user;

        (void)module;
        (void)name;
        (void)base;
        *ret_elf = elf_begin(files->image->fd, ELF_C_READ_MMAP, files->image->elf); /* counts a reference */
        *ret_path = files->path ? strdup(files->path) : NULL;
        return -1;
}

/* NOLINTNEXTLINE(readability-function-size): libdwfl's signature */
static int answer_find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                                 const char *path, const char *link, GElf_Word link_crc, char **ret_path)
{
        struct debug_files *files = *user;
        GElf_Word own_crc;
        const char *own_link = dwelf_elf_gnu_debuglink(files->image->elf, &own_crc);
        int fd;

        (void)module;
        (void)name;
        (void)base;
        /* libdwfl asks for the supplementary file in the same words, with the name that dwz gave it. */
        if (!link || link == own_link)
                return find_debug_file(files, link, link_crc, ret_path);
        fd = find_supplementary_file(path, link, ret_path);
        files->is_supplementary_missing = fd < 0;
        return fd;
}

/* NOLINTNEXTLINE(readability-function-size): libdwfl's signature */
static int answer_section_address(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                                  const char *section, GElf_Word index, const GElf_Shdr *header,
                                  Dwarf_Addr *ret_address)
{
        (void)module;
        (void)user;
        (void)name;
        (void)base;
        (void)section;
        (void)index;
        (void)header;
        *ret_address = (Dwarf_Addr)-1L; /* only relocatable files have such, and none is opened */
        return DWARF_CB_OK;
}

static const Dwfl_Callbacks callbacks = {
        .find_elf = answer_find_elf,
        .find_debuginfo = answer_find_debuginfo,
        .section_address = answer_section_address,
};

/* libdwfl wants to know what the module spans in memory: it is reported where its file says. */
static int report_module(struct debug_files *files, struct error *err)
{
        const struct elf_image *image = files->image;
        uint64_t start = UINT64_MAX, end = 0;
        void **user;

        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                uint64_t segment_end;

                if (__builtin_add_overflow(s->svma, s->memory_bytes, &segment_end))
                        return error_set(err, -EBADMSG, "ELF segment %zu goes around the address space", i);
                start = s->svma < start ? s->svma : start;
                end = segment_end > end ? segment_end : end;
        }
        if (start >= end)
                return error_set(err, -EBADMSG, "ELF file without a segment to load");

        dwfl_report_begin(files->dwfl);
        files->module = dwfl_report_module(files->dwfl, "image", start, end);
        if (!files->module || !dwfl_module_info(files->module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
                return error_set(err, -ENOMEM, "libdwfl: %s", dwfl_errmsg(-1));
        *user = files;
        (void)dwfl_report_end(files->dwfl, NULL, NULL);
        if (!dwfl_module_getelf(files->module, &files->bias))
                return error_set(err, -EBADMSG, "libdwfl: %s", dwfl_errmsg(-1));
        return 0;
}

int debug_files_open(const struct elf_image *image, const char *path, struct debug_files **ret_files,
                     struct error *err)
{
        struct debug_files *files = calloc(1, sizeof(*files));
        int r;

        if (!files)
                return error_set(err, -ENOMEM, "no memory for debug files");
        files->image = image;
        files->path = path;
        files->dwfl = dwfl_begin(&callbacks);
        if (!files->dwfl) {
                r = error_set(err, -ENOMEM, "libdwfl: %s", dwfl_errmsg(-1));
                goto fail;
        }
        r = report_module(files, err);
        if (r < 0)
                goto fail;
        *ret_files = files;
        return 0;

fail:
        debug_files_close(files);
        return r;
}

void debug_files_close(struct debug_files *files)
{
        if (!files)
                return;
        if (files->dwfl)
                dwfl_end(files->dwfl);
        free(files);
}

/* True if the debug information refers to no other file, or that one is there and is the right one. */
static bool is_whole(const struct debug_files *files, Dwarf *dwarf)
{
        const void *wanted, *build_id;
        const char *name;
        ssize_t wanted_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &wanted);
        Dwarf *supplement;

        if (wanted_bytes <= 0)
                return wanted_bytes == 0;
        if (files->is_supplementary_missing)
                return false; /* do not even ask: libdw would go and open it itself */
        supplement = dwarf_getalt(dwarf);
        return supplement && dwelf_elf_gnu_build_id(dwarf_getelf(supplement), &build_id) == wanted_bytes &&
               memcmp(build_id, wanted, (size_t)wanted_bytes) == 0;
}

Dwarf *debug_files_find_dwarf(struct debug_files *files, uint64_t *ret_bias)
{
        Dwarf_Addr bias;
        Dwarf *dwarf = dwfl_module_getdwarf(files->module, &bias);

        if (!dwarf || !is_whole(files, dwarf))
                return NULL;
        *ret_bias = bias - files->bias;
        return dwarf;
}
