/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/index_cache.h - indexes of large debug information, kept in a folder for the next time
 *
 * Way of the data:  symbolizer (child) -> pipe -> symbol_process -> [index_cache] -> folder
 *                   folder -> [index_cache] -> symbolizer (child) -> module_symbols
 *
 * The name of an entry is made from what the trace states about the module, the places where files are
 * looked for, and the content of the code if the trace keeps it; the entry holds the identity of the
 * file that it was made from, so the index of one file is never taken for that of another.  The names
 * cannot be made without a key that lies in the folder.  The child reads; only the parent, which looks
 * into no file of the program's, writes.
 */
#ifndef SYMBOLIZE_IMAGES_INDEX_CACHE_H
#define SYMBOLIZE_IMAGES_INDEX_CACHE_H

#include "base/content_hash.h"
#include "base/kept_folder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_CACHE_ENTRY_MIN (UINT64_C(1) << 17)   /* bytes: smaller ones are made again quickly */
#define INDEX_CACHE_ENTRY_MAX (UINT64_C(512) << 20) /* of one entry */
#define INDEX_CACHE_BYTES_MAX (UINT64_C(2) << 30)   /* of the folder: the oldest go first */

#define INDEX_CACHE_SPARES 4 /* entries that a recording can add */

struct byte_buffer;
struct error;
struct image_spool;
struct module_images;
struct symbol_search;
struct trace_dictionary;

/* Files that were made ahead. */
struct index_cache_spares {
        char files[INDEX_CACHE_SPARES][48]; /* "" = it was used */
};

struct index_cache {
        struct kept_folder folder;
        struct index_cache_spares *spares; /* heap; NULL = new files can be made */
        uint64_t bytes_max, entry_bytes_max;
        struct content_key key;
};

struct index_cache_name {
        char text[48];
};

/* An entry that is read. */
struct index_cache_entry {
        const uint8_t *bytes; /* of the index: foreign bytes.  NULL = there is none */
        size_t n_bytes;
        void *map;
        size_t map_bytes;
};

/* An entry that is written. */
struct index_cache_writer {
        int fd; /* -1 = none */
        uint64_t n_bytes;
        struct index_cache_name name;
        char file[48]; /* until it is whole */
};

/*
 * index_cache_open() - make the folder if it is not there, and read its key
 * The folder must belong to us, and no other user may be able to write into it.
 * Returns 0, -EPERM, -ENOTDIR, -errno.
 */
int index_cache_open(struct index_cache *c, const char *folder, struct error *err);

/*
 * index_cache_open_for() - the same for root that works for a user: the folder and its files are the user's
 * The folder is looked for and made with the user's rights, so that no name in it leads root astray.
 */
int index_cache_open_for(struct index_cache *c, const char *folder, uint32_t uid, uint32_t gid,
                         struct error *err);
void index_cache_close(struct index_cache *c);

/*
 * index_cache_prepare() - make files ahead, for a process that gives up the right to make any
 * Files that stay unused are removed at the close.  Returns 0 or -ENOMEM; without files nothing is added.
 */
int index_cache_prepare(struct index_cache *c, struct error *err);

/* The key of an entry; everything is borrowed. */
struct index_cache_subject {
        const struct trace_dictionary *dictionary;
        const struct module_images *images;
        const struct image_spool *spool;    /* NULL = nothing is kept */
        const struct symbol_search *search; /* NULL = all zero */
        uint32_t module;
};

/*
 * The name of its entry, which is the same in parent and child.  Returns false if the module can have no
 * entry.
 */
bool index_cache_name_of(const struct index_cache *c, const struct index_cache_subject *subject,
                         struct index_cache_name *ret_name);

/* Appends the beginning of an entry: the identity of the file @fd, or, with -1, a mark that there is none. */
void index_cache_add_identity(struct byte_buffer *out, int fd);

/* Maps the entry, if it was made of the file @fd (-1 = of none).  Returns 1 or 0. */
int index_cache_map(const struct index_cache *c, const struct index_cache_name *name, int fd,
                    struct index_cache_entry *ret_entry);
void index_cache_unmap(struct index_cache_entry *entry);

/*
 * Writing: begin, add, then commit or abort.  A failure of add ends it as abort does; other processes see the
 * entry only when it is whole.  Zero bytes are no entry.  Return 0 or -errno.
 */
int index_cache_begin(const struct index_cache *c, const struct index_cache_name *name,
                      struct index_cache_writer *ret_writer, struct error *err);
int index_cache_add(const struct index_cache *c, struct index_cache_writer *w, const void *bytes,
                    size_t n_bytes, struct error *err);
int index_cache_commit(const struct index_cache *c, struct index_cache_writer *w, struct error *err);
void index_cache_abort(const struct index_cache *c, struct index_cache_writer *w);

#endif /* SYMBOLIZE_IMAGES_INDEX_CACHE_H */
