/* SPDX-License-Identifier: MIT */
#include "sampler/code/image_modules.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "sampler/code/memory_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define FILES_MAX 65536 /* modules that are looked through for the file of an image */

/*
 * "[image 3f0c91d2]": the first four bytes of its build-id, or of the number that stands
 * for its mapped bytes.
 */
int image_modules_add(struct trace_dictionary *d, struct trace_module *row, uint64_t mapped,
                      uint32_t *ret_module)
{
        uint32_t head = (uint32_t)(mapped >> 32);
        char name[24];
        int r;

        row->kind = TRACE_MODULE_IMAGE;
        (void)snprintf(name, sizeof(name), "[image %08" PRIx32 "]", head);
        r = trace_dictionary_add_string(d, name, strlen(name), &row->path);
        return r == 0 ? trace_dictionary_add(d, TRACE_TABLE_MODULES, row, ret_module) : r;
}

int image_modules_add_build_id(struct trace_dictionary *d, const struct memory_image *image,
                               uint32_t *ret_module)
{
        struct trace_module row = { .kind = TRACE_MODULE_IMAGE };
        uint64_t head = 0;
        int r = trace_dictionary_add_string(d, image->build_id, image->build_id_bytes, &row.build_id);

        for (size_t i = 0; i < sizeof(uint32_t); i++)
                head = head << 8 | (i < image->build_id_bytes ? image->build_id[i] : 0);
        return r == 0 ? image_modules_add(d, &row, head << 32, ret_module) : r;
}

/*
 * The file that an image is of, by its build-id; 0 = it is not known.  A program may copy its own code into
 * huge pages, where its mapping of the file was.
 */
uint32_t image_modules_find_file(const struct trace_dictionary *d, const struct memory_image *image)
{
        uint32_t n = image->build_id_bytes > 0 ? trace_dictionary_count(d, TRACE_TABLE_MODULES) : 0;

        for (uint32_t id = 1; id <= n && id <= FILES_MAX; id++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, id);
                size_t n_bytes;
                const char *build_id = trace_dictionary_string(d, row->build_id, &n_bytes);

                if (row->kind == TRACE_MODULE_FILE && n_bytes == image->build_id_bytes &&
                    memcmp(build_id, image->build_id, n_bytes) == 0)
                        return id;
        }
        return 0;
}

/* Bytes in memory without a name, for the builder of unwind tables; -1 if that cannot be. */
int image_modules_hold(const struct byte_buffer *bytes)
{
        int fd = memfd_create("image", MFD_CLOEXEC);

        if (fd >= 0 && io_write_all(fd, bytes->data, bytes->used_bytes, NULL) < 0)
                io_close(&fd);
        return fd;
}
