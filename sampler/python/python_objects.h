/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_objects.h - objects of Python in another process's memory -> their bytes
 *
 * Way of the data:  python_reader -> [python_objects] -> python_functions
 *
 * All is hostile: lengths are bounded, and nothing of it is an address of ours.
 */
#ifndef SAMPLER_PYTHON_PYTHON_OBJECTS_H
#define SAMPLER_PYTHON_PYTHON_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#define PYTHON_TEXT_MAX  1024                /* characters of a name or a path; the rest is left out */
#define PYTHON_LINES_MAX (UINT32_C(1) << 20) /* bytes of a code object's line table */

struct python_objects;
struct python_reader;

/* A code object, without what it refers to. */
struct python_code {
        uint64_t file_avma, name_avma, lines_avma; /* of a str, a str, a bytes */
        uint64_t instructions_avma;
        uint64_t identity; /* as python_identity() */
        uint32_t first_line;
};

/* Returns 0, or -EFAULT if it cannot be read. */
int python_code_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                     struct python_code *ret_code);

/*
 * python_text_read() - a str, as UTF-8
 * @to: PYTHON_TEXT_MAX * 4 bytes
 * Returns how many bytes of it could be read, or -EFAULT, -EBADMSG.
 */
int python_text_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                     char *to);

/*
 * python_bytes_read() - a bytes
 * @ret_bytes: heap, the caller's; NULL if it is empty
 * Returns 0; 1 if only its beginning could be read; -EFAULT, -EBADMSG (too long), -ENOMEM.
 */
int python_bytes_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                      uint8_t **ret_bytes, size_t *ret_n_bytes);

#endif /* SAMPLER_PYTHON_PYTHON_OBJECTS_H */
