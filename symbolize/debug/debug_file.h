/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debug_file.h - one separate file of debug information, open
 *
 * Way of the data:  debug_file_search, split_files -> [debug_file] -> debug_files
 *
 * The author of the profiled program chose the file's name and bytes: only regular files are opened, up to a
 * size.  The file is mapped, its descriptor closed.
 */
#ifndef SYMBOLIZE_DEBUG_DEBUG_FILE_H
#define SYMBOLIZE_DEBUG_DEBUG_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_FILE_BYTES_MAX (UINT64_C(1) << 35) /* larger ones are not opened */

struct elf_image;

/* All zero is no file. */
struct debug_file {
        char *path;              /* heap */
        Elf *elf;                /* of `image`, or owned where that is NULL */
        struct elf_image *image; /* owned; NULL after debug_file_open_split() */
};

/*
 * debug_file_open() - open an executable, a shared object or a part that was split off one
 * @path:  heap, taken over, also after a failure; NULL = memory ran out
 * Returns 1, 0 if there is no such file or it is no ELF file.
 */
int debug_file_open(char *path, struct debug_file *ret_file);

/* The same for a file of sections alone, whatever it says that it is: a .dwo, a .dwp, what dwz made. */
int debug_file_open_split(char *path, struct debug_file *ret_file);

/* All zero is fine. */
void debug_file_close(struct debug_file *file);

bool debug_file_has_build_id(const struct debug_file *file, const uint8_t *build_id, size_t build_id_bytes);

/* True if the file has the checksum of a .gnu_debuglink. */
bool debug_file_has_checksum(const struct debug_file *file, uint32_t wanted);

/* The section of this name, or NULL; one without bytes in the file does not count.  Borrows from @elf. */
Elf_Scn *debug_file_find_section(Elf *elf, const char *name);

/* The section's bytes as they lie in the file; NULL if there are none or they are outside of the file. */
const uint8_t *debug_file_find_bytes(Elf *elf, const char *name, size_t *ret_bytes);

/* True if there is a .debug_info, in whatever way it is packed. */
bool debug_file_has_debug_info(Elf *elf);

/* A path made as by printf; NULL if memory ran out. */
char *debug_file_format_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* SYMBOLIZE_DEBUG_DEBUG_FILE_H */
