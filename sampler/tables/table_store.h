/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/table_store.h - the unwind tables of files that do not change, kept for the next recording
 *
 * Way of the data:  code_tables -> [table_store] -> a file in the cache -> [table_store] -> table_process
 *
 * There is one file for each build of hyprof.  Whole entries are added at its end, by one recorder at a
 * time; of two for one file the newer counts.  An entry counts for one file: for its build-id together with
 * device, inode, length and time of the last change.
 *
 * It belongs to the user that hyprof works for, so its bytes are foreign bytes: they are checked
 * against damage here, and by unwind_module_decode() as all tables are.
 */
#ifndef SAMPLER_TABLES_TABLE_STORE_H
#define SAMPLER_TABLES_TABLE_STORE_H

#include "symbolize/images/module_landmarks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_STORE_BUILD_ID_MAX 32 /* bytes of it that count */
/* of one file; the next recording begins a full file anew */
#define TABLE_STORE_BYTES_MAX (UINT64_C(128) << 20)
/* of all files, whenever one is made: the oldest go first */
#define TABLE_STORE_FOLDER_MAX (UINT64_C(256) << 20)
#define TABLE_STORE_ENTRY_MAX  (UINT64_C(48) << 20) /* bytes of one table; some 8 million rows */
#define TABLE_STORE_PLACES_MAX 16384                /* entries; more make a file full as well */

struct byte_buffer;
struct error;

/* The identity of a file, without padding. */
struct table_store_key {
        uint64_t device, inode, file_bytes;
        int64_t changed_ns; /* st_ctim, since 1970 */
        uint64_t build_id_bytes;
        uint8_t build_id[TABLE_STORE_BUILD_ID_MAX]; /* rest 0 */
};

/* An entry, as it lies in the file; the bytes of the table follow. */
struct table_store_entry {
        uint64_t magic;
        struct table_store_key key;
        uint64_t n_bytes;
        uint64_t bytes_hash;
        uint64_t has_landmarks;
        struct module_landmarks landmarks; /* foreign bytes; meaningless without `has_landmarks` */
        uint64_t hash;                     /* of all before it */
};

struct table_store_place;

struct table_store {
        int fd;            /* -1 = none */
        int64_t opened_ns; /* since 1970 */
        uint64_t scanned_bytes;
        struct table_store_place *places; /* heap; of the entries up to there */
        size_t n_places, capacity;
};

/*
 * table_store_open() - opens or makes the file of this build
 * @folder:  made if it is not there; it and the file must belong to @uid, see base/kept_folder.h
 * Returns 0; -ENOENT if this program has no build-id, which tells the tables of different builds apart;
 * -errno.  Then `fd` is -1, and the other functions do nothing.
 */
int table_store_open(struct table_store *s, const char *folder, uint32_t uid, uint32_t gid,
                     struct error *err);
void table_store_close(struct table_store *s);

/*
 * table_store_identify() - makes the key of an open file
 * @build_id:  as the kernel reported it; 0 bytes = it did not
 * Returns whether the table of this file may be kept: it has a build-id and a name, and was not changed
 * in the second before the store was opened, or later.  Does not wait for the server of a
 * network file system.
 */
bool table_store_identify(const struct table_store *s, int file_fd, const uint8_t *build_id,
                          uint32_t build_id_bytes, struct table_store_key *ret_key);

/*
 * table_store_find() - finds the entry of a file, and its table
 * @ret_offset_bytes:  where the table lies, for table_store_read()
 * @bytes:             overwritten
 * Returns 1; 0 if there is none, or it is damaged.
 */
int table_store_find(struct table_store *s, const struct table_store_key *key,
                     struct table_store_entry *ret_entry, uint64_t *ret_offset_bytes,
                     struct byte_buffer *bytes);

/*
 * Reads the bytes of a table that another process has found, unchecked.  Returns false if they are not
 * there.
 */
bool table_store_read(const struct table_store *s, uint64_t offset_bytes, uint64_t n_bytes,
                      struct byte_buffer *bytes);

/*
 * Entries are added between begin and end, while no other recorder adds any.  begin returns false if
 * another one adds at this moment, the file cannot be read, or there is no store; add returns 0, -EFBIG
 * when the file is full or the table is too large, -errno.
 */
bool table_store_begin(struct table_store *s);
int table_store_add(struct table_store *s, const struct table_store_key *key,
                    const struct module_landmarks *landmarks, const struct byte_buffer *bytes);
void table_store_end(struct table_store *s);

#endif /* SAMPLER_TABLES_TABLE_STORE_H */
