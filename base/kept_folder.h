/* SPDX-License-Identifier: MIT */
/*
 * base/kept_folder.h - a folder of files that can be made again: it has an owner and a bound, and the oldest
 * files are removed first
 *
 * Way of the data:  index_cache, timeline_cache, table_store -> [kept_folder] -> files
 *
 * Files are written under a name that ends in KEPT_FOLDER_PART_SUFFIX, and renamed when they are complete.
 */
#ifndef BASE_KEPT_FOLDER_H
#define BASE_KEPT_FOLDER_H

#include <stdint.h>

struct error;

#define KEPT_FOLDER_PART_SUFFIX ".part" /* of an incomplete file; one that is an hour old was abandoned */

struct kept_folder {
        int fd;                        /* -1 = none */
        uint32_t owner_uid, owner_gid; /* of the folder and of all files in it */
};

/*
 * kept_folder_open() - make the folder if it is not there, with all folders above it
 * It must belong to the owner, and no other user may be able to write into it.  When root works for a user,
 * it looks for the folder and makes it with that user's rights, so that no link in the path leads root
 * elsewhere.
 * Returns 0, -EPERM, -ENOTDIR, -errno.
 */
int kept_folder_open(struct kept_folder *f, const char *path, uint32_t uid, uint32_t gid, struct error *err);
void kept_folder_close(struct kept_folder *f);

/* Gives a file that root has made to the owner of the folder.  Call it for each new file. */
void kept_folder_give(const struct kept_folder *f, int fd);

/*
 * kept_folder_remove_oldest() - removes the oldest files until those whose names end in @suffix have
 * @bytes_max at most
 * A file is as old as its last change.  @newest is not removed; abandoned parts are.
 */
void kept_folder_remove_oldest(const struct kept_folder *f, const char *suffix, const char *newest,
                               uint64_t bytes_max);

#endif /* BASE_KEPT_FOLDER_H */
