/* SPDX-License-Identifier: MIT */
/*
 * base/kept_folder.h - a folder of files that can be made again: it has an owner and a bound, and the oldest
 * files go first
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
 * It must belong to the owner, and no other user may be able to write into it.  Root that works for a user
 * looks for it
 * and makes it with the user's rights, so that no name in it leads root astray.
 * Returns 0, -EPERM, -ENOTDIR, -errno.
 */
int kept_folder_open(struct kept_folder *f, const char *path, uint32_t uid, uint32_t gid, struct error *err);
void kept_folder_close(struct kept_folder *f);

/* Files that root makes for another user belong to that user: to be called for each new file. */
void kept_folder_give(const struct kept_folder *f, int fd);

/*
 * kept_folder_remove_oldest() - until the files whose names end in @suffix have @bytes_max at most
 * The age is that of the last change of the file.  @newest: is not removed.  Abandoned parts go as well.
 */
void kept_folder_remove_oldest(const struct kept_folder *f, const char *suffix, const char *newest,
                               uint64_t bytes_max);

#endif /* BASE_KEPT_FOLDER_H */
