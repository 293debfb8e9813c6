/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/image_finder.h"

#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/image_code.h"
#include "symbolize/symbols/module_candidates.h"
#include "symbolize/symbols/module_images.h"
#include "symbolize/symbols/trace_origin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A file system stamps a change with a clock that stands still for some milliseconds, and ours may be slewed
 * by 500 in a million: a change is one that came so much later than the mapping.
 */
#define CHANGE_SLACK_NS UINT64_C(100000000)

#define NS_PER_SECOND UINT64_C(1000000000)

/* One search. */
struct lookup {
        const struct image_finder *finder;
        const struct trace_module *module;
        uint32_t id;
        const char *build_id; /* not NUL-terminated */
        size_t build_id_bytes;
        struct elf_image *parts; /* what the trace keeps, if that is not whole */
        struct found_image best;
};

/* ---- what the trace keeps ------------------------------------------------------------------------------ */

static bool image_finder_has_build_id(const struct lookup *l, const struct elf_image *image)
{
        return image->build_id_bytes == l->build_id_bytes &&
               memcmp(image->build_id, l->build_id, l->build_id_bytes) == 0;
}

/* Returns 0; *@ret_image stays as it is if the trace keeps nothing that can be used. */
static int open_kept(const struct lookup *l, struct elf_image **ret_image, bool *ret_is_whole)
{
        const struct image_finder *f = l->finder;
        const struct trace_module_image *row = module_images_find(f->images, f->dictionary, l->id);
        const struct trace_attachment *attachment;
        struct elf_image *image = NULL;
        struct spooled_image bytes;
        int r;

        if (!row || row->attachment == 0 || !f->spool ||
            image_spool_map(f->spool, f->dictionary, row->attachment, &bytes, NULL) != 1)
                return 0;
        r = elf_image_open_memory(bytes.bytes, bytes.n_bytes, &image, NULL);
        image_spool_unmap(&bytes);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        /*
         * The loader's mapping may have its note elsewhere than where we look; a different note
         * means another file.
         */
        if (l->build_id_bytes > 0 && image->build_id_bytes > 0 && !image_finder_has_build_id(l, image)) {
                elf_image_close(image);
                return 0;
        }
        attachment = trace_dictionary_row(f->dictionary, TRACE_TABLE_ATTACHMENTS, row->attachment);
        *ret_is_whole = attachment->kind != TRACE_ATTACHMENT_MODULE_PARTS;
        *ret_image = image;
        return 0;
}

/* ---- files --------------------------------------------------------------------------------------------- */

static bool was_changed(const struct lookup *l, const struct stat *status)
{
        uint64_t changed_ns = (uint64_t)status->st_ctim.tv_sec * NS_PER_SECOND +
                              (uint64_t)status->st_ctim.tv_nsec;
        uint64_t mapped_ns;

        return trace_origin_find_realtime(l->finder->dictionary, l->id, &mapped_ns) &&
               changed_ns > mapped_ns + CHANGE_SLACK_NS;
}

/* For a module without a build-id. */
static enum image_source judge_inode(const struct lookup *l, int fd)
{
        const struct image_finder *f = l->finder;
        const struct trace_module_image *kept = module_images_find(f->images, f->dictionary, l->id);
        const struct symbol_search *search = f->search;
        struct stat status;

        if (l->module->inode == 0 || (search && search->is_other_machine) || fstat(fd, &status) < 0)
                return IMAGE_SOURCE_UNCHECKED;
        /* It was another one already while it was recorded, or was written over again and again. */
        if ((kept && kept->state == TRACE_IMAGE_TOO_LATE) || l->module->content != 0)
                return IMAGE_SOURCE_DIFFERS;
        return status.st_dev == l->module->device && status.st_ino == l->module->inode &&
                               !was_changed(l, &status)
                       ? IMAGE_SOURCE_FILE
                       : IMAGE_SOURCE_DIFFERS;
}

static enum image_source image_finder_judge(const struct lookup *l, int fd, struct elf_image *image)
{
        enum image_source source;

        if (l->build_id_bytes > 0)
                source = image && image_finder_has_build_id(l, image) ? IMAGE_SOURCE_FILE
                                                                      : IMAGE_SOURCE_DIFFERS;
        else if (image && l->parts)
                source = image_code_is_equal(l->parts, image) ? IMAGE_SOURCE_FILE : IMAGE_SOURCE_DIFFERS;
        else
                source = judge_inode(l, fd);
        if (source == IMAGE_SOURCE_FILE && !image)
                return IMAGE_SOURCE_NONE; /* it is the file, and it is broken */
        if (source == IMAGE_SOURCE_FILE && !image_code_is_there(image))
                return image_code_place(image, l->finder->dictionary, l->id) ? IMAGE_SOURCE_DEBUG
                                                                             : IMAGE_SOURCE_NONE;
        return source;
}

/* Keeps the file if it is the best so far. */
static int image_finder_try_file(struct lookup *l, const char *path)
{
        struct found_image found = { .fd = -1 };

        if (regular_file_open(path, &found.fd, NULL) < 0)
                return 0;
        (void)elf_image_open(found.fd, &found.image, NULL);
        found.source = image_finder_judge(l, found.fd, found.image);
        if (found.source > l->best.source) {
                found.path = strdup(path);
                if (!found.path) {
                        found_image_close(&found);
                        return -ENOMEM;
                }
                if (found.source <= IMAGE_SOURCE_DIFFERS) {
                        elf_image_close(found.image);
                        found.image = NULL;
                        io_close(&found.fd);
                }
                found_image_close(&l->best);
                l->best = found;
                return 0;
        }
        found_image_close(&found);
        return 0;
}

static int try_files(struct lookup *l)
{
        struct module_candidates candidates;
        const char *path;
        int r = module_candidates_init(&candidates, l->finder->dictionary, l->module, l->finder->search);

        while (r == 0 && l->best.source < IMAGE_SOURCE_FILE) {
                int more = module_candidates_next(&candidates, &path);

                if (more == 0)
                        break;
                r = more < 0 ? more : image_finder_try_file(l, path);
        }
        module_candidates_deinit(&candidates);
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static void take_vdso(struct lookup *l)
{
        const struct symbol_search *search = l->finder->search;
        struct elf_image *image = NULL;

        if (elf_image_open_vdso(&image, NULL) < 0)
                return;
        /* A trace that does not tell its build-id can only mean the one vdso that there is on its machine. */
        if (l->build_id_bytes > 0 ? image_finder_has_build_id(l, image)
                                  : !(search && search->is_other_machine)) {
                found_image_close(&l->best);
                l->best = (struct found_image){ .image = image, .source = IMAGE_SOURCE_MACHINE, .fd = -1 };
                return;
        }
        elf_image_close(image);
}

static void take_parts(struct lookup *l)
{
        if (!l->parts || l->best.source >= IMAGE_SOURCE_PARTS)
                return;
        found_image_close(&l->best);
        l->best = (struct found_image){ .image = l->parts, .source = IMAGE_SOURCE_PARTS, .fd = -1 };
        l->parts = NULL;
}

int image_finder_find(const struct image_finder *f, uint32_t module, struct found_image *ret_image)
{
        struct lookup l = { .finder = f, .id = module, .best = { .fd = -1 } };
        struct elf_image *kept = NULL;
        bool is_whole = false;
        int r;

        l.module = trace_dictionary_row(f->dictionary, TRACE_TABLE_MODULES, module);
        l.build_id = trace_dictionary_string(f->dictionary, l.module->build_id, &l.build_id_bytes);
        r = open_kept(&l, &kept, &is_whole);
        if (r < 0)
                return r;
        if (kept && is_whole) {
                *ret_image = (struct found_image){ .image = kept, .source = IMAGE_SOURCE_KEPT, .fd = -1 };
                return 0;
        }
        l.parts = kept;
        r = try_files(&l);
        if (l.module->kind == TRACE_MODULE_VDSO && l.module->generation != TRACE_MODULE_VDSO_32 &&
            l.best.source < IMAGE_SOURCE_DEBUG)
                take_vdso(&l);
        take_parts(&l);
        elf_image_close(l.parts);
        if (r < 0)
                found_image_close(&l.best);
        else
                *ret_image = l.best;
        return r;
}

void found_image_close(struct found_image *image)
{
        elf_image_close(image->image);
        io_close(&image->fd);
        free(image->path);
        *image = (struct found_image){ .fd = -1 };
}
