/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_directory.h - an index as a complete file: its head, its pages, and the directory after
 * them
 *
 * Way of the data:  timeline_index -> [timeline_directory] -> file of the cache ->
 *                   [timeline_directory] -> timeline_index
 *
 * The file is foreign when it is opened: each length and number is checked, the head and the directory
 * have a checksum, and each page has one that is checked when it is first read.
 * docs/understand/timeline.md has the format.
 */
#ifndef TIMELINE_TIMELINE_DIRECTORY_H
#define TIMELINE_TIMELINE_DIRECTORY_H

#include <stdint.h>

struct error;
struct timeline_index;

#define TIMELINE_VERSION 10

/* Which trace an index was made from.  No padding: kept and compared as numbers. */
struct timeline_identity {
        uint64_t device, inode, size_bytes, mtime_ns, ctime_ns;
        uint64_t content; /* of the first and last 64 KiB */
};

/* The identity of the file @fd.  Returns 0, -errno of fstat(2) and read(2). */
int timeline_identity_read(int fd, struct timeline_identity *ret_identity, struct error *err);

/*
 * timeline_directory_save() - make the file complete
 * The index may go on growing; then the caller saves it again.
 * Returns 0, -ENOMEM, -errno of write(2).
 */
int timeline_directory_save(struct timeline_index *t, const struct timeline_identity *identity,
                            struct error *err);

/*
 * timeline_directory_open() - an index from a file, for questions; it does not grow
 * @fd:        the index's from now on, also after a failure
 * @identity:  of the trace as it is now; NULL = any trace
 * Returns 0, -ESTALE (made from another trace, or by another version), -EBADMSG, -ENODATA, -ENOMEM, -errno of
 * read(2).  To be deinitialised in any case.
 */
int timeline_directory_open(struct timeline_index *t, int fd, const struct timeline_identity *identity,
                            struct error *err);

#endif /* TIMELINE_TIMELINE_DIRECTORY_H */
