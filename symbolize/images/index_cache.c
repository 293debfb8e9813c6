/* SPDX-License-Identifier: MIT */
#include "symbolize/images/index_cache.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/module_images.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_FILE     "key"
#define ENTRY_SUFFIX ".index"
#define PART_SUFFIX  KEPT_FOLDER_PART_SUFFIX

#define ENTRY_MAGIC      UINT64_C(0x3178646e69707968) /* "hypindx1" */
#define IDENTITY_NUMBERS 6                            /* the magic, and of the file: see below */
#define IDENTITY_BYTES   (sizeof(uint64_t) * IDENTITY_NUMBERS)

#define NS_PER_SECOND UINT64_C(1000000000)

/* ---- the folder ---------------------------------------------------------------------------------------- */

static bool read_key(struct index_cache *c)
{
        size_t n_bytes = 0;
        int fd = openat(c->folder.fd, KEY_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        bool is_read = fd >= 0 && io_read_full(fd, c->key.bytes, sizeof(c->key.bytes), &n_bytes, NULL) == 0 &&
                       n_bytes == sizeof(c->key.bytes);

        io_close(&fd);
        return is_read;
}

/*
 * The key gets its name only when it is complete, so two processes that make a key at the same time end up
 * with the same one.
 */
static int make_key(struct index_cache *c, struct error *err)
{
        char name[48];
        int fd, r;

        if (getrandom(c->key.bytes, sizeof(c->key.bytes), 0) != (ssize_t)sizeof(c->key.bytes))
                return error_errno(err, "random bytes");
        (void)snprintf(name, sizeof(name), "key-%ld" PART_SUFFIX, (long)getpid());
        (void)unlinkat(c->folder.fd, name, 0);
        fd = openat(c->folder.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(err, "making the key of the cache");
        kept_folder_give(&c->folder, fd);
        r = io_write_all(fd, c->key.bytes, sizeof(c->key.bytes), err);
        io_close(&fd);
        if (r == 0 && linkat(c->folder.fd, name, c->folder.fd, KEY_FILE, 0) < 0 &&
            (errno != EEXIST || !read_key(c))) {
                /* The existing key is damaged, or the file system has no links. */
                if (renameat(c->folder.fd, name, c->folder.fd, KEY_FILE) < 0)
                        r = error_errno(err, "making the key of the cache");
                else if (!read_key(c))
                        r = error_set(err, -EIO, "the key of the cache cannot be read");
        }
        (void)unlinkat(c->folder.fd, name, 0);
        return r;
}

int index_cache_open(struct index_cache *c, const char *folder, struct error *err)
{
        return index_cache_open_for(c, folder, geteuid(), getegid(), err);
}

int index_cache_open_for(struct index_cache *c, const char *folder, uint32_t uid, uint32_t gid,
                         struct error *err)
{
        int r;

        *c = (struct index_cache){ .bytes_max = INDEX_CACHE_BYTES_MAX,
                                   .entry_bytes_max = INDEX_CACHE_ENTRY_MAX };
        r = kept_folder_open(&c->folder, folder, uid, gid, err);
        if (r == 0 && !read_key(c))
                r = make_key(c, err);
        if (r < 0)
                index_cache_close(c);
        return r;
}

/* The spare files are not kept open: file descriptors may be few. */
int index_cache_prepare(struct index_cache *c, struct error *err)
{
        c->spares = calloc(1, sizeof(*c->spares));
        if (!c->spares)
                return error_set(err, -ENOMEM, "no memory for the cache");
        for (int i = 0; i < INDEX_CACHE_SPARES; i++) {
                char *file = c->spares->files[i];
                int fd;

                (void)snprintf(file, sizeof(c->spares->files[i]), "spare-%ld-%d" PART_SUFFIX, (long)getpid(),
                               i);
                (void)unlinkat(c->folder.fd, file, 0);
                fd = openat(c->folder.fd, file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
                if (fd < 0)
                        file[0] = '\0';
                else
                        kept_folder_give(&c->folder, fd);
                io_close(&fd);
        }
        return 0;
}

static void close_spares(struct index_cache *c)
{
        for (int i = 0; c->spares && i < INDEX_CACHE_SPARES; i++)
                if (c->spares->files[i][0] != '\0')
                        (void)unlinkat(c->folder.fd, c->spares->files[i], 0);
        free(c->spares);
        c->spares = NULL;
}

void index_cache_close(struct index_cache *c)
{
        close_spares(c);
        kept_folder_close(&c->folder);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void add_text(struct byte_buffer *out, const void *text, size_t n_bytes)
{
        byte_buffer_add_varint(out, n_bytes);
        byte_buffer_add(out, text, n_bytes);
}

/*
 * A folder is identified by device and inode, not by its name: names are relative, and change their
 * meaning.
 */
static void add_folder(struct byte_buffer *out, const char *path)
{
        struct stat status = { .st_dev = 0 };

        if (path && stat(path, &status) < 0)
                status = (struct stat){ .st_dev = 0 };
        byte_buffer_add_u64(out, (uint64_t)status.st_dev);
        byte_buffer_add_u64(out, (uint64_t)status.st_ino);
}

/* Adds all that decides which debug information is found. */
static void add_search(struct byte_buffer *out, const struct symbol_search *search)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *servers = getenv("DEBUGINFOD_URLS");

        byte_buffer_add_varint(out, search ? search->n_debug_dirs : 0);
        for (size_t i = 0; search && i < search->n_debug_dirs; i++)
                add_folder(out, search->debug_dirs[i]);
        byte_buffer_add_u8(out, search && search->sysroot);
        if (search && search->sysroot)
                add_folder(out, search->sysroot);
        add_text(out, servers, servers ? strlen(servers) : 0);
}

/* Adds what the trace keeps of the module.  Returns false if that could not be read. */
static bool add_content(struct byte_buffer *out, const struct index_cache *c,
                        const struct trace_dictionary *dictionary, const struct trace_module_image *kept,
                        const struct image_spool *spool)
{
        struct spooled_image image;
        struct content_number number;
        int r = 0;

        if (kept && kept->attachment != 0 && spool)
                r = image_spool_map(spool, dictionary, kept->attachment, &image, NULL);
        byte_buffer_add_u8(out, r == 1);
        if (r != 1)
                return r == 0;
        number = content_hash_keyed(&c->key, image.bytes, image.n_bytes);
        byte_buffer_add_u64(out, number.low);
        byte_buffer_add_u64(out, number.high);
        byte_buffer_add_u64(out, image.n_bytes);
        image_spool_unmap(&image);
        return true;
}

static void add_module(struct byte_buffer *out, const struct trace_dictionary *d, uint32_t module)
{
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        size_t n_bytes;
        const char *text = trace_dictionary_string(d, row->path, &n_bytes);

        add_text(out, text, n_bytes);
        text = trace_dictionary_string(d, row->build_id, &n_bytes);
        add_text(out, text, n_bytes);
        byte_buffer_add_u32(out, row->kind);
        byte_buffer_add_u64(out, row->device);
        byte_buffer_add_u64(out, row->inode);
        byte_buffer_add_u64(out, row->content);
}

bool index_cache_name_of(const struct index_cache *c, const struct index_cache_subject *subject,
                         struct index_cache_name *ret_name)
{
        const struct trace_module_image *kept = module_images_find(subject->images, subject->dictionary,
                                                                   subject->module);
        struct byte_buffer facts = { .data = NULL };
        bool is_good;

        add_module(&facts, subject->dictionary, subject->module);
        add_search(&facts, subject->search);
        is_good = add_content(&facts, c, subject->dictionary, kept, subject->spool) && !facts.failed;
        if (is_good) {
                struct content_number number = content_hash_keyed(&c->key, facts.data, facts.used_bytes);

                (void)snprintf(ret_name->text, sizeof(ret_name->text),
                               "%016" PRIx64 "%016" PRIx64 ENTRY_SUFFIX, number.high, number.low);
        }
        byte_buffer_deinit(&facts);
        return is_good;
}

void index_cache_add_identity(struct byte_buffer *out, int fd)
{
        struct stat status = { .st_dev = 0 };

        if (fd >= 0 && fstat(fd, &status) < 0)
                status = (struct stat){ .st_ino = UINT64_MAX };
        byte_buffer_add_u64(out, ENTRY_MAGIC);
        byte_buffer_add_u64(out, (uint64_t)status.st_dev);
        byte_buffer_add_u64(out, (uint64_t)status.st_ino);
        byte_buffer_add_u64(out, (uint64_t)status.st_size);
        byte_buffer_add_u64(out, (uint64_t)status.st_mtim.tv_sec * NS_PER_SECOND +
                                         (uint64_t)status.st_mtim.tv_nsec);
        byte_buffer_add_u64(out, (uint64_t)status.st_ctim.tv_sec * NS_PER_SECOND +
                                         (uint64_t)status.st_ctim.tv_nsec);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool is_made_of(const void *entry, int fd)
{
        struct byte_buffer identity = { .data = NULL };
        bool is_equal;

        index_cache_add_identity(&identity, fd);
        is_equal = !identity.failed && identity.used_bytes == IDENTITY_BYTES &&
                   memcmp(entry, identity.data, IDENTITY_BYTES) == 0;
        byte_buffer_deinit(&identity);
        return is_equal;
}

int index_cache_map(const struct index_cache *c, const struct index_cache_name *name, int fd,
                    struct index_cache_entry *ret_entry)
{
        int entry_fd = openat(c->folder.fd, name->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        struct stat status;
        void *map = MAP_FAILED;
        size_t n_bytes = 0;

        if (entry_fd >= 0 && fstat(entry_fd, &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_size > (off_t)IDENTITY_BYTES && (uint64_t)status.st_size <= c->entry_bytes_max) {
                n_bytes = (size_t)status.st_size;
                map = mmap(NULL, n_bytes, PROT_READ, MAP_PRIVATE, entry_fd, 0);
        }
        if (map != MAP_FAILED && !is_made_of(map, fd)) {
                (void)munmap(map, n_bytes);
                map = MAP_FAILED;
        }
        if (map != MAP_FAILED) {
                (void)futimens(entry_fd, NULL); /* it is of use: others are older */
                *ret_entry = (struct index_cache_entry){ .bytes = (const uint8_t *)map + IDENTITY_BYTES,
                                                         .n_bytes = n_bytes - IDENTITY_BYTES,
                                                         .map = map,
                                                         .map_bytes = n_bytes };
        }
        io_close(&entry_fd);
        return map != MAP_FAILED;
}

void index_cache_unmap(struct index_cache_entry *entry)
{
        if (entry->map)
                (void)munmap(entry->map, entry->map_bytes);
        *entry = (struct index_cache_entry){ .bytes = NULL };
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* Returns false if no more is left. */
static bool take_spare(const struct index_cache *c, struct index_cache_writer *w)
{
        for (int i = 0; i < INDEX_CACHE_SPARES; i++) {
                if (c->spares->files[i][0] == '\0')
                        continue;
                memcpy(w->file, c->spares->files[i], sizeof(w->file));
                c->spares->files[i][0] = '\0';
                w->fd = openat(c->folder.fd, w->file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
                return w->fd >= 0;
        }
        return false;
}

int index_cache_begin(const struct index_cache *c, const struct index_cache_name *name,
                      struct index_cache_writer *ret_writer, struct error *err)
{
        struct index_cache_writer w = { .name = *name };

        if (c->spares) {
                if (!take_spare(c, &w))
                        return error_set(err, -EMFILE, "no file is left for the cache");
                *ret_writer = w;
                return 0;
        }
        (void)snprintf(w.file, sizeof(w.file), "%.16s-%ld" PART_SUFFIX, name->text, (long)getpid());
        (void)unlinkat(c->folder.fd, w.file, 0);
        w.fd = openat(c->folder.fd, w.file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (w.fd < 0)
                return error_errno(err, "writing into the cache");
        kept_folder_give(&c->folder, w.fd);
        *ret_writer = w;
        return 0;
}

int index_cache_add(const struct index_cache *c, struct index_cache_writer *w, const void *bytes,
                    size_t n_bytes, struct error *err)
{
        int r = 0;

        if (w->n_bytes + n_bytes > c->entry_bytes_max)
                r = error_set(err, -EFBIG, "an index of more than %" PRIu64 " bytes", c->entry_bytes_max);
        if (r == 0)
                r = io_write_all(w->fd, bytes, n_bytes, err);
        if (r < 0)
                index_cache_abort(c, w);
        else
                w->n_bytes += n_bytes;
        return r;
}

void index_cache_abort(const struct index_cache *c, struct index_cache_writer *w)
{
        if (w->fd < 0)
                return;
        io_close(&w->fd);
        (void)unlinkat(c->folder.fd, w->file, 0);
}

int index_cache_commit(const struct index_cache *c, struct index_cache_writer *w, struct error *err)
{
        if (w->n_bytes <= IDENTITY_BYTES) {
                index_cache_abort(c, w);
                return 0;
        }
        io_close(&w->fd);
        if (renameat(c->folder.fd, w->file, c->folder.fd, w->name.text) < 0) {
                int r = error_errno(err, "an entry of the cache");

                (void)unlinkat(c->folder.fd, w->file, 0);
                return r;
        }
        kept_folder_remove_oldest(&c->folder, ENTRY_SUFFIX, w->name.text, c->bytes_max);
        return 0;
}
