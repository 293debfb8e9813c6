/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/own_code.h - functions of the test itself as frames of a trace
 *
 * Way of the data:  /proc/self/maps -> [own_code] -> trace_dictionary -> symbolizer
 */
#ifndef TESTS_UNIT_OWN_CODE_H
#define TESTS_UNIT_OWN_CODE_H

#include <stdint.h>

struct trace_dictionary;

/* The trace's facts about the file, true or not. */
enum own_code_identity {
        OWN_CODE_BUILD_ID,
        OWN_CODE_INODE,
        OWN_CODE_OTHER_BUILD_ID,
        OWN_CODE_OTHER_INODE,
        OWN_CODE_NO_IDENTITY,
};

/* Adds the file at @path to the table MODULES; returns its id.  A test that fails here fails. */
uint32_t own_code_add_module(struct trace_dictionary *dictionary, const char *path,
                             enum own_code_identity identity);

/* The path of the running program; the caller frees it. */
char *own_code_path(void);

/* The byte of the mapped file that @address is. */
uint64_t own_code_file_offset(uint64_t address);

/* Adds a frame; returns its id. */
uint32_t own_code_add_frame(struct trace_dictionary *dictionary, uint32_t module, uint64_t offset,
                            uint32_t flags);

#endif /* TESTS_UNIT_OWN_CODE_H */
