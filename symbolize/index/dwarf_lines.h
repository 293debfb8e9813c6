/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_lines.h - the line program of a unit: its files, and row after row
 *
 * Way of the data:  dwarf_units -> [dwarf_lines] -> code_unit_builder
 *
 * Versions 2 to 5.  Texts are borrowed from the sections.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_LINES_H
#define SYMBOLIZE_INDEX_DWARF_LINES_H

#include "symbolize/index/dwarf_units.h"

struct dwarf_line_file {
        const char *name;
        uint64_t directory; /* number in `directories` */
};

struct dwarf_line_row {
        uint64_t address; /* as the file states it */
        uint64_t file;    /* number of the file */
        uint32_t line, column;
        bool is_end; /* the address is past the sequence; the rest does not count */
};

struct dwarf_lines {
        struct dwarf_cursor program;
        const char *comp_dir;     /* of the unit; NULL = unknown */
        const char **directories; /* heap; [0] is that of the unit */
        size_t n_directories, directories_capacity;
        struct dwarf_line_file *files; /* heap; by number in DWARF 5; before that, by number - 1 */
        size_t n_files, files_capacity;
        const uint8_t *opcode_lengths; /* operands of opcode i + 1 */
        uint8_t version, address_bytes;
        uint8_t instruction_bytes, operations_max, line_range, opcode_base;
        int8_t line_base;
        uint32_t operation; /* within a bundle of instructions */
        struct dwarf_line_row state;
};

/*
 * dwarf_lines_load() - read the header of @unit's program
 * @lines:   zero, or used before: its memory is used again
 * @budget:  bytes of programs that may still be read, of the whole module; counted down
 * Returns 0; -EBADMSG, -ENOMEM: then @lines has no rows.
 */
int dwarf_lines_load(struct dwarf_lines *lines, const struct dwarf_unit *unit, uint64_t *budget);
void dwarf_lines_deinit(struct dwarf_lines *lines);

/* Runs the program up to its next row.  Returns 1, or 0 at the end. */
int dwarf_lines_next(struct dwarf_lines *lines, struct dwarf_line_row *ret_row);

/* The file with this number in rows and calls, or NULL. */
const struct dwarf_line_file *dwarf_lines_find_file(const struct dwarf_lines *lines, uint64_t number);

/* The folder of one of its files, or NULL. */
const char *dwarf_lines_directory(const struct dwarf_lines *lines, const struct dwarf_line_file *file);

#endif /* SYMBOLIZE_INDEX_DWARF_LINES_H */
