/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/index_cache.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/symbols/image_spool.h"
#include "symbolize/symbols/module_images.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEY_FILE     "key"
#define ENTRY_SUFFIX ".index"
#define PART_SUFFIX  ".part" /* of an incomplete entry; one this old was abandoned */
#define PART_AGE_S   3600

#define ENTRY_MAGIC      UINT64_C(0x3178646e69707968) /* "hypindx1" */
#define IDENTITY_NUMBERS 6                            /* the magic, and of the file: see below */
#define IDENTITY_BYTES   (sizeof(uint64_t) * IDENTITY_NUMBERS)

#define NS_PER_SECOND UINT64_C(1000000000)

/* ---- the folder ---------------------------------------------------------------------------------------- */

/* With all folders above it that are not there. */
static int index_cache_make_folder(const char *folder, struct error *err)
{
        char *path = strdup(folder);

        if (!path)
                return error_set(err, -ENOMEM, "no memory for a path");
        for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                (void)mkdir(path, 0700); /* the last one tells */
                *slash = '/';
        }
        (void)mkdir(path, 0700);
        free(path);
        return 0;
}

/* With the rights of its owner, for files only.  Returns the descriptor, or -errno. */
static int index_cache_open_folder(const struct index_cache *c, const char *folder, struct error *err)
{
        int fd, r;

        (void)setfsgid(c->owner_gid);
        (void)setfsuid(c->owner_uid);
        r = index_cache_make_folder(folder, err);
        fd = r == 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (r == 0 && fd < 0)
                r = error_errno(err, "%s", folder);
        (void)setfsuid(geteuid());
        (void)setfsgid(getegid());
        return r < 0 ? r : fd;
}

/* Files that root makes for another user belong to that user. */
static void index_cache_give(const struct index_cache *c, int fd)
{
        if (c->owner_uid != geteuid())
                (void)!fchown(fd, c->owner_uid, c->owner_gid); /* not all file systems have owners */
}

static int check_folder(const struct index_cache *c, int fd, const char *folder, struct error *err)
{
        struct stat status;

        if (fstat(fd, &status) < 0)
                return error_errno(err, "%s", folder);
        if (status.st_uid != c->owner_uid || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
                return error_set(err, -EPERM, "%s: others can write into it", folder);
        return 0;
}

static bool read_key(struct index_cache *c)
{
        size_t n_bytes = 0;
        int fd = openat(c->folder_fd, KEY_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        bool is_read = fd >= 0 && io_read_full(fd, c->key.bytes, sizeof(c->key.bytes), &n_bytes, NULL) == 0 &&
                       n_bytes == sizeof(c->key.bytes);

        io_close(&fd);
        return is_read;
}

/* Under its name it is whole from the beginning: two who make one at once have the same one afterwards. */
static int index_cache_make_key(struct index_cache *c, struct error *err)
{
        char name[48];
        int fd, r;

        if (getrandom(c->key.bytes, sizeof(c->key.bytes), 0) != (ssize_t)sizeof(c->key.bytes))
                return error_errno(err, "random bytes");
        (void)snprintf(name, sizeof(name), "key-%ld" PART_SUFFIX, (long)getpid());
        (void)unlinkat(c->folder_fd, name, 0);
        fd = openat(c->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(err, "making the key of the cache");
        index_cache_give(c, fd);
        r = io_write_all(fd, c->key.bytes, sizeof(c->key.bytes), err);
        io_close(&fd);
        if (r == 0 && linkat(c->folder_fd, name, c->folder_fd, KEY_FILE, 0) < 0 &&
            (errno != EEXIST || !read_key(c))) {
                /* One that is damaged, or a file system without links. */
                if (renameat(c->folder_fd, name, c->folder_fd, KEY_FILE) < 0)
                        r = error_errno(err, "making the key of the cache");
                else if (!read_key(c))
                        r = error_set(err, -EIO, "the key of the cache cannot be read");
        }
        (void)unlinkat(c->folder_fd, name, 0);
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

        *c = (struct index_cache){ .folder_fd = -1,
                                   .owner_uid = uid,
                                   .owner_gid = gid,
                                   .bytes_max = INDEX_CACHE_BYTES_MAX,
                                   .entry_bytes_max = INDEX_CACHE_ENTRY_MAX };
        r = index_cache_open_folder(c, folder, err);
        if (r < 0)
                return r;
        c->folder_fd = r;
        r = check_folder(c, c->folder_fd, folder, err);
        if (r == 0 && !read_key(c))
                r = index_cache_make_key(c, err);
        if (r < 0)
                index_cache_close(c);
        return r;
}

/* They are not kept open: descriptors may be few. */
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
                (void)unlinkat(c->folder_fd, file, 0);
                fd = openat(c->folder_fd, file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
                if (fd < 0)
                        file[0] = '\0';
                else
                        index_cache_give(c, fd);
                io_close(&fd);
        }
        return 0;
}

static void close_spares(struct index_cache *c)
{
        for (int i = 0; c->spares && i < INDEX_CACHE_SPARES; i++)
                if (c->spares->files[i][0] != '\0')
                        (void)unlinkat(c->folder_fd, c->spares->files[i], 0);
        free(c->spares);
        c->spares = NULL;
}

void index_cache_close(struct index_cache *c)
{
        close_spares(c);
        io_close(&c->folder_fd);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void index_cache_add_text(struct byte_buffer *out, const void *text, size_t n_bytes)
{
        byte_buffer_add_varint(out, n_bytes);
        byte_buffer_add(out, text, n_bytes);
}

/* A folder is what it is now, not how it is called: names are relative, and change their meaning. */
static void index_cache_add_folder(struct byte_buffer *out, const char *path)
{
        struct stat status = { .st_dev = 0 };

        if (path && stat(path, &status) < 0)
                status = (struct stat){ .st_dev = 0 };
        byte_buffer_add_u64(out, (uint64_t)status.st_dev);
        byte_buffer_add_u64(out, (uint64_t)status.st_ino);
}

/* All that decides which debug information is found. */
static void add_search(struct byte_buffer *out, const struct symbol_search *search)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *servers = getenv("DEBUGINFOD_URLS");

        byte_buffer_add_varint(out, search ? search->n_debug_dirs : 0);
        for (size_t i = 0; search && i < search->n_debug_dirs; i++)
                index_cache_add_folder(out, search->debug_dirs[i]);
        byte_buffer_add_u8(out, search && search->sysroot);
        if (search && search->sysroot)
                index_cache_add_folder(out, search->sysroot);
        index_cache_add_text(out, servers, servers ? strlen(servers) : 0);
}

/* Returns whether what the trace keeps of the module could be looked at. */
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

static void index_cache_add_module(struct byte_buffer *out, const struct trace_dictionary *d, uint32_t module)
{
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        size_t n_bytes;
        const char *text = trace_dictionary_string(d, row->path, &n_bytes);

        index_cache_add_text(out, text, n_bytes);
        text = trace_dictionary_string(d, row->build_id, &n_bytes);
        index_cache_add_text(out, text, n_bytes);
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

        index_cache_add_module(&facts, subject->dictionary, subject->module);
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
        int entry_fd = openat(c->folder_fd, name->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
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
                w->fd = openat(c->folder_fd, w->file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
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
        (void)unlinkat(c->folder_fd, w.file, 0);
        w.fd = openat(c->folder_fd, w.file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (w.fd < 0)
                return error_errno(err, "writing into the cache");
        index_cache_give(c, w.fd);
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
        (void)unlinkat(c->folder_fd, w->file, 0);
}

/* An entry of the folder. */
struct old_file {
        char name[64];
        uint64_t n_bytes;
        int64_t time_s;
};

struct old_files {
        struct old_file *files; /* heap */
        size_t n_files, capacity;
        uint64_t n_bytes;
};

static bool index_cache_ends_with(const char *name, const char *suffix)
{
        size_t n = strlen(name), n_suffix = strlen(suffix);

        return n >= n_suffix && strcmp(name + n - n_suffix, suffix) == 0;
}

static void take_file(const struct index_cache *c, struct old_files *all, const char *name)
{
        struct old_file file = { .n_bytes = 0 };
        struct stat status;

        if (strlen(name) >= sizeof(file.name) ||
            (!index_cache_ends_with(name, ENTRY_SUFFIX) && !index_cache_ends_with(name, PART_SUFFIX)) ||
            fstatat(c->folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
                return;
        if (index_cache_ends_with(name, PART_SUFFIX)) {
                if (status.st_mtim.tv_sec < time(NULL) - PART_AGE_S)
                        (void)unlinkat(c->folder_fd, name, 0);
                return;
        }
        if (array_reserve(&all->files, &all->capacity, all->n_files + 1, sizeof(*all->files)) < 0)
                return;
        memcpy(file.name, name, strlen(name) + 1);
        file.n_bytes = (uint64_t)status.st_size;
        file.time_s = status.st_mtim.tv_sec;
        all->files[all->n_files++] = file;
        all->n_bytes += file.n_bytes;
}

static int compare_ages(const void *a, const void *b)
{
        const struct old_file *x = a, *y = b;

        if (x->time_s != y->time_s)
                return x->time_s < y->time_s ? -1 : 1;
        return strcmp(x->name, y->name);
}

/* The oldest go, but not the one that was just made. */
static void remove_oldest(const struct index_cache *c, const char *newest)
{
        struct old_files all = { .files = NULL };
        int fd = openat(c->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
        const struct dirent *entry;

        if (!folder) {
                io_close(&fd);
                return;
        }
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        while ((entry = readdir(folder)))
                take_file(c, &all, entry->d_name);
        (void)closedir(folder);
        if (all.n_files > 0)
                qsort(all.files, all.n_files, sizeof(*all.files), compare_ages);
        for (size_t i = 0; i < all.n_files && all.n_bytes > c->bytes_max; i++) {
                if (strcmp(all.files[i].name, newest) == 0 ||
                    unlinkat(c->folder_fd, all.files[i].name, 0) < 0)
                        continue;
                all.n_bytes -= all.files[i].n_bytes;
        }
        free(all.files);
}

int index_cache_commit(const struct index_cache *c, struct index_cache_writer *w, struct error *err)
{
        if (w->n_bytes <= IDENTITY_BYTES) {
                index_cache_abort(c, w);
                return 0;
        }
        io_close(&w->fd);
        if (renameat(c->folder_fd, w->file, c->folder_fd, w->name.text) < 0) {
                int r = error_errno(err, "an entry of the cache");

                (void)unlinkat(c->folder_fd, w->file, 0);
                return r;
        }
        remove_oldest(c, w->name.text);
        return 0;
}
