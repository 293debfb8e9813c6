/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/debug_files.h - where the symbols and the debug information of a module are
 *
 * Way of the data:  elf_image -> [debug_files] -> symbol_table, code_index
 *
 * The file itself, the symbol table packed into its .gnu_debugdata, a separate
 * debug file by build-id or .gnu_debuglink, the supplementary file that dwz
 * makes, and what -gsplit-dwarf leaves in .dwo and .dwp files.  Every file is
 * opened by base/regular_file.h, and only believed if it belongs to the image.
 */
#ifndef SYMBOLIZE_INDEX_DEBUG_FILES_H
#define SYMBOLIZE_INDEX_DEBUG_FILES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_FILES_SYMBOL_SOURCES 3 /* symbol tables at most */

struct debug_sections;
struct elf_image;
struct error;
struct symbol_search;

struct debug_files;

/* One symbol table of an image. */
struct debug_files_symbols {
        Elf *elf;         /* that it is in */
        Elf_Scn *section; /* .symtab or .dynsym */
        uint64_t bias;    /* address of the image's file = address in the table + this */
};

/*
 * debug_files_open() - the files of one image
 * @path:    of the image, to look beside it; NULL looks only by build-id.  Borrowed, as @image and
 *           @search are, until the close.
 * @search:  NULL = the machine's own folders
 * Nothing is read yet.  Returns 0 or -ENOMEM.
 */
int debug_files_open(const struct elf_image *image, const char *path, const struct symbol_search *search,
                     struct debug_files **ret_files, struct error *err);

/* NULL is fine. */
void debug_files_close(struct debug_files *files);

/* The image itself. */
const struct elf_image *debug_files_image(const struct debug_files *files);

/*
 * debug_files_find_symbols() - the symbol tables that together name most, the best first
 * Returns their number: the whole table of the image or of its debug file, else the remaining part of it.
 */
size_t debug_files_find_symbols(struct debug_files *files,
                                struct debug_files_symbols ret_tables[DEBUG_FILES_SYMBOL_SOURCES]);

/*
 * debug_files_find_sections() - the debug information of the image
 * @ret_bias:  address of the image's file = address in the debug information + this
 * Returns 1; 0 if there is none; -EBADMSG, -EOVERFLOW, -ENOMEM.  *@ret_sections is owned by @files.
 */
int debug_files_find_sections(struct debug_files *files, const struct debug_sections **ret_sections,
                              uint64_t *ret_bias, struct error *err);

/* Adds the sections with the places of variables.  Returns 0, -EBADMSG, -EOVERFLOW, -ENOMEM. */
int debug_files_find_locations(struct debug_files *files, struct error *err);

/*
 * True if something was found in a debug file that only its folder identifies.  An image without a build-id
 * takes a file there that is like it, and another such file may lie there the next time.
 */
bool debug_files_are_of_folder(const struct debug_files *files);

/* True if the image has a separate debug file now. */
bool debug_files_have_separate(struct debug_files *files);

/* The supplementary file that dwz made (.gnu_debugaltlink, .debug_sup), or NULL; owned by @files. */
const struct debug_sections *debug_files_find_supplement(struct debug_files *files);

/*
 * debug_files_find_split() - the split part of a unit: of its .dwo, or of the image's .dwp
 * @name, @directory:  DW_AT_dwo_name and DW_AT_comp_dir of the skeleton, NUL-terminated;
 *                     @directory may be NULL
 * @dwo_id:            must be that of the split unit
 * @ret_sections:      INFO is this unit alone; of a .dwp narrowed to what the unit contributes: ABBREV, LINE,
 *                     STR_OFFSETS and RNGLISTS begin at its contribution; owned by @files
 * Returns 1, 0 if there is none that matches, -ENOMEM.
 */
int debug_files_find_split(struct debug_files *files, const char *name, const char *directory,
                           uint64_t dwo_id, const struct debug_sections **ret_sections);

#endif /* SYMBOLIZE_INDEX_DEBUG_FILES_H */
