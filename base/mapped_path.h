/* SPDX-License-Identifier: MIT */
/*
 * base/mapped_path.h - the path that the kernel gives a mapped file
 *
 * Way of the data:  perf_record, rows of MODULES -> [mapped_path] -> code that opens or names the file
 */
#ifndef BASE_MAPPED_PATH_H
#define BASE_MAPPED_PATH_H

#include <stddef.h>
#include <string.h>

/* The length of the path without the " (deleted)" that follows it once the file has no name. */
static inline size_t mapped_path_count(const char *path, size_t n_bytes)
{
        static const char deleted[] = " (deleted)";
        const size_t n = sizeof(deleted) - 1;

        return n_bytes > n && memcmp(path + n_bytes - n, deleted, n) == 0 ? n_bytes - n : n_bytes;
}

#endif /* BASE_MAPPED_PATH_H */
