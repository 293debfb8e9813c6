/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug_files.h - where the symbols and the debug information of a module are
 *
 * Way of the data:  elf_image -> [debug_files] -> symbol_table, line_table, inline_table
 *
 * The file itself, the symbol table packed into its .gnu_debugdata, and a
 * separate debug file by build-id or .gnu_debuglink, with the supplementary
 * file that dwz makes.  libdwfl puts them together; every file is opened here,
 * by symbolize/regular_file.h, and only believed if it belongs to the image.
 */
#ifndef SYMBOLIZE_DEBUG_FILES_H
#define SYMBOLIZE_DEBUG_FILES_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_image;
struct error;

struct debug_files {
        const struct elf_image *image; /* borrowed */
        const char *path;              /* borrowed; NULL for an image in memory */
        Dwfl *dwfl;
        Dwfl_Module *module;
        uint64_t bias;                 /* address of libdwfl = address of the file + this */
        bool is_supplementary_missing; /* the debug information refers to a file that is not there */
};

/*
 * debug_files_open() - the files of one image
 * @path:  of the image, to look beside it; NULL looks nowhere else.  Borrowed, as @image is, until the close.
 * Returns 0, -EBADMSG if libdwfl does not take the image, -ENOMEM.
 */
int debug_files_open(const struct elf_image *image, const char *path, struct debug_files **ret_files,
                     struct error *err);

/* NULL is fine. */
void debug_files_close(struct debug_files *files);

/*
 * debug_files_find_dwarf() - the debug information of the image, or NULL if there is none
 * @ret_bias:  address of the image's file = address in the debug information + this
 * Owned by @files.
 */
Dwarf *debug_files_find_dwarf(struct debug_files *files, uint64_t *ret_bias);

#endif /* SYMBOLIZE_DEBUG_FILES_H */
