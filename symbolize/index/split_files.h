/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/split_files.h - the .dwo and .dwp files of one image
 *
 * Way of the data:  debug_files -> [split_files] -> code_index
 *
 * A program of thousands of objects has as many .dwo files: each is opened when
 * its unit is asked for, mapped, and kept.  A file is recognised by the id of
 * its unit, so that one of another build is not believed.
 */
#ifndef SYMBOLIZE_INDEX_SPLIT_FILES_H
#define SYMBOLIZE_INDEX_SPLIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPLIT_FILES_MAX 16384 /* .dwo files of one image; further ones are not opened */

struct debug_sections;
struct elf_image;
struct split_file;
struct split_view;
struct symbol_search;

/* Where to look. */
struct split_files_place {
        const struct elf_image *image;
        const char *path;                   /* of the image; NULL = it is in no folder */
        const char *debug_path;             /* of its separate debug file, or NULL */
        const struct symbol_search *search; /* NULL = the machine's own folders */
};

/* The attributes of a unit's skeleton. */
struct split_files_unit {
        const char *name;      /* DW_AT_dwo_name */
        const char *directory; /* DW_AT_comp_dir, or NULL */
        uint64_t dwo_id;
};

/* All zero means not found yet. */
struct split_files {
        struct split_file *files; /* heap list: those that are open */
        size_t n_files;
        struct split_view **views; /* heap: the files that were found */
        size_t n_views, views_capacity;
        struct split_file *package; /* the .dwp, in `files` too; NULL = there is none */
        bool is_package_searched;
};

void split_files_deinit(struct split_files *s);

/* The unit's sections, owned by @s.  Returns 1, 0 if there is no file with the unit, -ENOMEM. */
int split_files_find(struct split_files *s, const struct split_files_place *place,
                     const struct split_files_unit *unit, const struct debug_sections **ret_sections);

/*
 * split_unit_find() - the unit of one id in a .dwo
 * DWARF 5 has the id in the head of the unit, GNU's DWARF 4 in its first entry.
 * @ret_offset, @ret_bytes:  of the unit in INFO
 * Returns 1, or 0 if it is not there.
 */
int split_unit_find(const struct debug_sections *sections, uint64_t dwo_id, size_t *ret_offset,
                    size_t *ret_bytes);

#endif /* SYMBOLIZE_INDEX_SPLIT_FILES_H */
