/* SPDX-License-Identifier: MIT */
#include "symbolize/images/image_finder.h"

#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/image_code.h"
#include "symbolize/images/module_candidates.h"
#include "symbolize/images/module_images.h"
#include "symbolize/images/trace_origin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A file system stamps a change with a clock that advances only every few milliseconds, and our clock may
 * be slewed by 500 in a million.  So a file counts as changed only if the change is this much later than
 * the mapping.
 */
#define CHANGE_SLACK_NS UINT64_C(100000000)

#define OTHERS_MAX 8 /* modules with the same build-id that are examined */

#define NS_PER_SECOND UINT64_C(1000000000)

/* One search. */
struct lookup {
        const struct image_finder *finder;
        const struct trace_module *module;
        uint32_t id;
        uint32_t mapped_id;   /* its mappings place the code; same build-id as the module */
        const char *build_id; /* not NUL-terminated */
        size_t build_id_bytes;
        struct elf_image *parts; /* what the trace keeps, if that is not whole */
        struct found_image best;
};

/* ---- what the trace keeps ------------------------------------------------------------------------------ */

static bool has_build_id(const struct lookup *l, const struct elf_image *image)
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
         * The loader's mapping may have its note at another place than the one we look at; only a different
         * note means another file.
         */
        if (l->build_id_bytes > 0 && image->build_id_bytes > 0 && !has_build_id(l, image)) {
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
        /* The file was already another one during the recording, or was overwritten again and again. */
        if ((kept && kept->state == TRACE_IMAGE_TOO_LATE) || l->module->content != 0)
                return IMAGE_SOURCE_DIFFERS;
        return status.st_dev == l->module->device && status.st_ino == l->module->inode &&
                               !was_changed(l, &status)
                       ? IMAGE_SOURCE_FILE
                       : IMAGE_SOURCE_DIFFERS;
}

static enum image_source judge(const struct lookup *l, int fd, struct elf_image *image)
{
        enum image_source source;

        if (l->build_id_bytes > 0)
                source = image && has_build_id(l, image) ? IMAGE_SOURCE_FILE : IMAGE_SOURCE_DIFFERS;
        else if (image && l->parts)
                source = image_code_is_equal(l->parts, image) ? IMAGE_SOURCE_FILE : IMAGE_SOURCE_DIFFERS;
        else
                source = judge_inode(l, fd);
        if (source == IMAGE_SOURCE_FILE && !image)
                return IMAGE_SOURCE_NONE; /* it is the file, and it is broken */
        if (source == IMAGE_SOURCE_FILE && !image_code_is_there(image))
                return image_code_place(image, l->finder->dictionary, l->mapped_id) ? IMAGE_SOURCE_DEBUG
                                                                                    : IMAGE_SOURCE_NONE;
        return source;
}

/* Keeps the file if it is the best so far.  @is_any: it is no other version of the module's file. */
static int try_file(struct lookup *l, const char *path, bool is_any)
{
        struct found_image found = { .fd = -1 };

        if (regular_file_open(path, &found.fd, NULL) < 0)
                return 0;
        (void)elf_image_open(found.fd, &found.image, NULL);
        found.source = judge(l, found.fd, found.image);
        if (found.source > l->best.source && !(is_any && found.source <= IMAGE_SOURCE_DIFFERS)) {
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
                r = more < 0 ? more : try_file(l, path, candidates.is_any_file);
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
        /*
         * If the trace does not tell the build-id of its vdso, that can only be the one vdso of the machine
         * it is from.
         */
        if (l->build_id_bytes > 0 ? has_build_id(l, image) : !(search && search->is_other_machine)) {
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

/* Finds the image of @module alone; the mappings of @mapped tell where its code is. */
static int find_own(const struct image_finder *f, uint32_t module, uint32_t mapped,
                    struct found_image *ret_image)
{
        struct lookup l = { .finder = f, .id = module, .mapped_id = mapped, .best = { .fd = -1 } };
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

/* How much a file says of its functions: debug information, a whole symbol table, neither. */
static int count_names(const struct found_image *found)
{
        if (!found->image)
                return 0;
        if (debug_file_has_debug_info(found->image->elf))
                return 2;
        return debug_file_find_section(found->image->elf, ".symtab") ? 1 : 0;
}

/* True if addresses of @module can be looked up in @other, which has the code or the places of functions. */
static bool speaks_for(const struct image_finder *f, uint32_t module, bool needs_code,
                       struct found_image *other)
{
        if (other->source < IMAGE_SOURCE_DEBUG)
                return false;
        if (image_code_is_there(other->image))
                return other->source >= IMAGE_SOURCE_FILE;
        other->source = IMAGE_SOURCE_DEBUG;
        return !needs_code && image_code_place(other->image, f->dictionary, module);
}

/*
 * Other files with the same build-id may have been mapped as well, such as the one that this file was
 * stripped from.  Their code is the same, so the file with the most names is used.
 */
static int try_others(const struct image_finder *f, uint32_t module, bool needs_code,
                      struct found_image *best)
{
        const struct trace_module *own = trace_dictionary_row(f->dictionary, TRACE_TABLE_MODULES, module);
        uint32_t n = trace_dictionary_count(f->dictionary, TRACE_TABLE_MODULES), n_tried = 0;
        int r = 0;

        if (own->build_id == 0)
                return 0;
        for (uint32_t i = 1; i <= n && r == 0 && n_tried < OTHERS_MAX && count_names(best) < 2; i++) {
                const struct trace_module *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_MODULES, i);
                struct found_image found = { .fd = -1 };

                if (i == module || row->build_id != own->build_id || row->kind != own->kind)
                        continue;
                n_tried++;
                r = find_own(f, i, module, &found);
                if (r == 0 && count_names(&found) > count_names(best) &&
                    speaks_for(f, module, needs_code, &found)) {
                        struct found_image other = *best;

                        *best = found;
                        found = other;
                }
                found_image_close(&found);
        }
        return r;
}

static int find_best(const struct image_finder *f, uint32_t module, bool needs_code,
                     struct found_image *ret_image)
{
        struct found_image best = { .fd = -1 };
        int r = find_own(f, module, module, &best);

        if (r == 0)
                r = try_others(f, module, needs_code, &best);
        if (r < 0)
                found_image_close(&best);
        else
                *ret_image = best;
        return r;
}

int image_finder_find(const struct image_finder *f, uint32_t module, struct found_image *ret_image)
{
        return find_best(f, module, false, ret_image);
}

int image_finder_find_code(const struct image_finder *f, uint32_t module, struct found_image *ret_image)
{
        return find_best(f, module, true, ret_image);
}

void found_image_close(struct found_image *image)
{
        elf_image_close(image->image);
        io_close(&image->fd);
        free(image->path);
        *image = (struct found_image){ .fd = -1 };
}
