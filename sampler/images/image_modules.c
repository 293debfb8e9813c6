/* SPDX-License-Identifier: MIT */
#include "sampler/images/code_images_parts.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_dictionary.h"
#include "sampler/images/memory_image.h"
#include "sampler/keep/build_id_note.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/proc/process_maps.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES_MAX 65536 /* modules that are looked through for the file of an image */

/*
 * The path of the module is "[image 3f0c91d2]": the first four bytes of the build-id, or of the number that
 * stands for the mapped bytes.
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

/* Whether the file at @path, as the recorder sees it, has the image's build-id. */
static bool is_file_of(const struct memory_image *image, const char *path)
{
        uint8_t *scratch = malloc(BUILD_ID_NOTE_SCRATCH_BYTES);
        const uint8_t *id = NULL;
        int fd = -1, n_bytes = 0;
        bool is_equal;

        if (scratch && regular_file_open(path, &fd, NULL) == 0)
                n_bytes = build_id_note_read(fd, scratch, &id);
        is_equal = n_bytes > 0 && (size_t)n_bytes == image->build_id_bytes &&
                   memcmp(id, image->build_id, image->build_id_bytes) == 0;
        io_close(&fd);
        free(scratch);
        return is_equal;
}

/* Whether a mapping of a file is around the image: it has its header, or touches its code. */
static bool is_around(const struct perf_mmap *mmap, const struct memory_image *image)
{
        uint64_t end_avma = mmap->start_avma + mmap->length_bytes;

        if (image->header_avma >= mmap->start_avma && image->header_avma < end_avma)
                return true;
        for (size_t i = 0; i < image->n_parts; i++)
                if (image->parts[i].start_avma == end_avma || image->parts[i].end_avma == mmap->start_avma)
                        return true;
        return false;
}

/*
 * Finds the path of the file whose code was moved into memory before the recording began: a file whose
 * other mappings still surround the hole, or the program's own file.  Returns its length, or 0.
 */
static size_t find_path(const struct memory_image *image, char path[PATH_MAX])
{
        char link[40];
        struct process_maps maps;
        struct perf_mmap mmap;
        size_t found = 0;
        ssize_t n;

        if (process_maps_open(&maps, image->memory.pid, NULL) == 0) {
                while (found == 0 && process_maps_next(&maps, &mmap) == 1) {
                        if (mmap.path_bytes == 0 || mmap.path_bytes >= PATH_MAX || mmap.path[0] != '/' ||
                            !is_around(&mmap, image))
                                continue;
                        memcpy(path, mmap.path, mmap.path_bytes);
                        path[mmap.path_bytes] = '\0';
                        found = is_file_of(image, path) ? mmap.path_bytes : 0;
                }
                process_maps_close(&maps);
        }
        (void)snprintf(link, sizeof(link), "/proc/%" PRIu32 "/exe", image->memory.pid);
        if (found > 0 || (n = readlink(link, path, PATH_MAX - 1)) <= 0)
                return found;
        path[n] = '\0';
        return is_file_of(image, path) ? (size_t)n : 0;
}

int image_modules_add_build_id(struct trace_dictionary *d, const struct memory_image *image,
                               uint32_t *ret_module)
{
        struct trace_module row = { .kind = TRACE_MODULE_IMAGE };
        char path[PATH_MAX];
        size_t path_bytes = find_path(image, path);
        uint64_t head = 0;
        int r = trace_dictionary_add_string(d, image->build_id, image->build_id_bytes, &row.build_id);

        for (size_t i = 0; i < sizeof(uint32_t); i++)
                head = head << 8 | (i < image->build_id_bytes ? image->build_id[i] : 0);
        if (r < 0 || path_bytes == 0)
                return r == 0 ? image_modules_add(d, &row, head << 32, ret_module) : r;
        row.kind = TRACE_MODULE_FILE;
        r = trace_dictionary_add_string(d, path, path_bytes, &row.path);
        return r == 0 ? trace_dictionary_add(d, TRACE_TABLE_MODULES, &row, ret_module) : r;
}

/*
 * The file of an image, by its build-id; 0 = it is not known.  A program may copy its own code into huge
 * pages that replace its mapping of the file.
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

/* A memfd with the bytes, for the builder of unwind tables; -1 on failure. */
int image_modules_hold(const struct byte_buffer *bytes)
{
        int fd = memfd_create("image", MFD_CLOEXEC);

        if (fd >= 0 && io_write_all(fd, bytes->data, bytes->used_bytes, NULL) < 0)
                io_close(&fd);
        return fd;
}
