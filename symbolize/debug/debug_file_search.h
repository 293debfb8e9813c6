/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debug_file_search.h - looks for the separate debug file of an image, and for
 * what dwz took out of it
 *
 * Way of the data:  elf_image, symbol_search -> [debug_file_search] -> debug_files
 *
 * In the order of docs/understand/symbolization.md; a file is only believed if its build-id
 * or its checksum is the wanted one.
 */
#ifndef SYMBOLIZE_DEBUG_DEBUG_FILE_SEARCH_H
#define SYMBOLIZE_DEBUG_DEBUG_FILE_SEARCH_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_file;
struct elf_image;
struct symbol_search;

/* How one debug file refers to another, which holds a part of its debug information. */
struct debug_file_reference {
        const char *name;    /* NUL-terminated; may be "" */
        const uint8_t *id;   /* build-id, or the checksum of a .debug_sup */
        size_t id_bytes;     /* not 0 */
        const char *said_by; /* path of the file that has the reference; NULL = it is in no folder */
        bool is_checksum;    /* from a .debug_sup */
};

/*
 * debug_file_search_find() - the debug file of @image
 * @path:    of the image, NULL = it is in no folder
 * @search:  NULL = the machine's own folders
 * One with debug information is preferred to one with a symbol table alone.  Returns 1 or 0.
 */
int debug_file_search_find(const struct elf_image *image, const char *path,
                           const struct symbol_search *search, struct debug_file *ret_file);

/* The same for one with unwind tables, .eh_frame or .debug_frame, whatever else it has. */
int debug_file_search_find_tables(const struct elf_image *image, const char *path,
                                  const struct symbol_search *search, struct debug_file *ret_file);

/*
 * supplement_link_read() - read how a file refers to the one that dwz made of common parts
 * .gnu_debugaltlink, dwz's own: a name and a build-id.  .debug_sup of DWARF 5: a
 * name and a checksum, which the other file has in a section of the same name.
 * @ret_reference:  everything but `said_by`, borrowed from @elf
 * Returns 1, or 0 if the file refers to none.
 */
int supplement_link_read(Elf *elf, struct debug_file_reference *ret_reference);

/* The file that dwz made of what several debug files have in common.  Returns 1 or 0. */
int debug_file_search_find_supplement(const struct debug_file_reference *reference,
                                      const struct symbol_search *search, struct debug_file *ret_file);

#endif /* SYMBOLIZE_DEBUG_DEBUG_FILE_SEARCH_H */
