/* SPDX-License-Identifier: MIT */
#include "tests/unit/own_code.h"

#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/elf/elf_image.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fill_build_id(struct trace_dictionary *dictionary, const char *path, uint8_t first_byte_mask,
                          uint32_t *ret_string)
{
        uint8_t build_id[ELF_IMAGE_BUILD_ID_MAX];
        struct elf_image *image;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_uint_gt(image->build_id_bytes, 0);
        memcpy(build_id, image->build_id, image->build_id_bytes);
        build_id[0] ^= first_byte_mask;
        ck_assert_int_eq(trace_dictionary_add_string(dictionary, build_id, image->build_id_bytes, ret_string),
                         0);
        elf_image_close(image);
        io_close(&fd);
}

uint32_t own_code_add_module(struct trace_dictionary *dictionary, const char *path,
                             enum own_code_identity identity)
{
        struct trace_module module = { .kind = TRACE_MODULE_FILE };
        struct stat status = { .st_ino = 1 };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(dictionary, path, strlen(path), &module.path), 0);
        (void)stat(path, &status);
        switch (identity) {
        case OWN_CODE_BUILD_ID:
                fill_build_id(dictionary, path, 0, &module.build_id);
                break;
        case OWN_CODE_OTHER_BUILD_ID:
                fill_build_id(dictionary, path, 0xff, &module.build_id);
                break;
        case OWN_CODE_INODE:
        case OWN_CODE_OTHER_INODE:
                module.device = status.st_dev;
                module.inode = status.st_ino + (identity == OWN_CODE_OTHER_INODE);
                break;
        case OWN_CODE_NO_IDENTITY:
                break;
        }
        ck_assert_int_eq(trace_dictionary_add(dictionary, TRACE_TABLE_MODULES, &module, &id), 0);
        return id;
}

char *own_code_path(void)
{
        char *path = realpath("/proc/self/exe", NULL);

        ck_assert_ptr_nonnull(path);
        return path;
}

uint64_t own_code_file_offset(uint64_t address)
{
        FILE *maps = fopen("/proc/self/maps", "re");
        char line[PATH_MAX + 128];
        uint64_t file_offset = 0;
        bool is_found = false;

        ck_assert_ptr_nonnull(maps);
        while (!is_found && fgets(line, sizeof(line), maps)) {
                char *at = line;
                uint64_t start = strtoull(at, &at, 16);
                uint64_t end = strtoull(at + 1, &at, 16);
                uint64_t offset = strtoull(at + sizeof(" r-xp ") - 1, NULL, 16);

                is_found = start <= address && address < end;
                file_offset = address - start + offset;
        }
        (void)fclose(maps);
        ck_assert(is_found);
        return file_offset;
}

uint32_t own_code_add_frame(struct trace_dictionary *dictionary, uint32_t module, uint64_t offset,
                            uint32_t flags)
{
        struct trace_frame frame = { .offset = offset, .module = module, .flags = flags };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(dictionary, TRACE_TABLE_FRAMES, &frame, &id), 0);
        return id;
}
