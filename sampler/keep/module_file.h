/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/module_file.h - the file of a mapping of another process, opened while it can be
 *
 * Way of the data:  perf_record (MMAP2), /proc/PID -> [module_file] -> code_tables
 *
 * In this order: /proc/PID/map_files (also deleted files, and those in no folder at all; needs
 * CAP_CHECKPOINT_RESTORE), at the range that the kernel reported or, where that has become another since,
 * at the one that /proc/PID/maps shows now; /proc/PID/root/PATH (the program's own view of the file
 * system); PATH, if the program has ended, or has another root by now, in which nothing has that name.  A
 * file other than the mapped one is skipped: it is compared by its device (which is another number in
 * stat(2) on btrfs, bcachefs and overlays), its inode and the inode's generation, where the kernel reported
 * that; where it reported the build-id, a file of that name is preferred, and the reader of the file has to
 * compare.  By its path, a file is opened only if the process's user can read it (everybody may, or it is
 * his), or if it is the very inode of that device.
 */
#ifndef SAMPLER_KEEP_MODULE_FILE_H
#define SAMPLER_KEEP_MODULE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct perf_mmap;

/*
 * module_file_open() - a descriptor to read the file of @mmap with
 * Only regular files and memfds are opened; never blocks.  The vdso comes from our own memory, in a memfd.
 * Returns a descriptor, the caller's; -ENOENT if it cannot be found any more, -EACCES, -errno.
 */
int module_file_open(uint32_t pid, const struct perf_mmap *mmap, struct error *err);

/* Code of the kernel's in each process. */
bool module_file_is_vdso(const struct perf_mmap *mmap);

/*
 * Is this the vdso of a 32-bit process?  It is another file than ours, at an address within 32 bits, and is
 * not opened.
 */
bool module_file_is_vdso_32(const struct perf_mmap *mmap);

#endif /* SAMPLER_KEEP_MODULE_FILE_H */
