/* SPDX-License-Identifier: MIT */
/*
 * The file is a header and entries, each aligned to 8 bytes.  The bytes of an entry are written before its
 * head, so an entry that a recorder did not finish has no head; the next recorder cuts it off.
 */
#include "sampler/tables/table_store.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "base/kept_folder.h"
#include "sampler/keep/build_id_note.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX      ".tables"
#define MAGIC       UINT64_C(0x31656c6261746868) /* "hhtable1" */
#define ENTRY_MAGIC UINT64_C(0x3179727465626174) /* "tabetry1" */

/* The beginning of the file. */
struct store_header {
        uint64_t magic;
        uint64_t build_id_bytes; /* of the hyprof that wrote it */
        uint8_t build_id[TABLE_STORE_BUILD_ID_MAX];
        uint64_t is_full; /* written later than the rest */
};

struct table_store_place {
        struct table_store_key key;
        uint64_t offset_bytes;
};

/* ---- opening ------------------------------------------------------------------------------------------- */

/* A callback of dl_iterate_phdr(), which begins with the program itself. */
static int find_own_build_id(struct dl_phdr_info *info, size_t size, void *context)
{
        struct store_header *header = context;
        const uint8_t *id;

        (void)size;
        for (unsigned i = 0; i < info->dlpi_phnum && header->build_id_bytes == 0; i++) {
                const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
                size_t n_bytes;

                if (segment->p_type != PT_NOTE)
                        continue;
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): it is an address of this process */
                n_bytes = build_id_note_find_in((const uint8_t *)(info->dlpi_addr + segment->p_vaddr),
                                                segment->p_memsz, &id);
                if (n_bytes > sizeof(header->build_id))
                        n_bytes = sizeof(header->build_id);
                if (n_bytes > 0)
                        memcpy(header->build_id, id, n_bytes);
                header->build_id_bytes = n_bytes;
        }
        return 1;
}

static struct store_header own_header(void)
{
        struct store_header header = { .magic = MAGIC };

        (void)dl_iterate_phdr(find_own_build_id, &header);
        return header;
}

/* Returns 1 with the length of the file, 0 if another hyprof wrote it or it is full, -errno. */
static int check_header(int fd, uint64_t *ret_bytes)
{
        struct store_header own = own_header(), header;
        struct stat status;
        size_t n_bytes;
        int r;

        if (fstat(fd, &status) < 0)
                return -errno;
        *ret_bytes = (uint64_t)status.st_size;
        r = io_pread_full(fd, &header, sizeof(header), 0, &n_bytes, NULL);
        return r < 0 ? r
                     : n_bytes == sizeof(header) && header.magic == own.magic && header.is_full == 0 &&
                               memcmp(&header, &own, sizeof(own)) == 0;
}

/*
 * A file that has a second hard link or belongs to another user is not ours to write to.  Returns the
 * descriptor, -ENOENT if there is no usable file, -errno.
 */
static int open_existing(const struct kept_folder *folder, const char *name)
{
        int fd = openat(folder->fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat status;
        uint64_t n_bytes;
        int r;

        if (fd < 0)
                return errno == ELOOP ? -ENOENT : -errno;
        if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != folder->owner_uid ||
            status.st_nlink != 1)
                r = 0;
        else
                r = check_header(fd, &n_bytes);
        if (r == 1) {
                (void)futimens(fd, NULL); /* as old as its last use */
                return fd;
        }
        io_close(&fd);
        return r == 0 ? -ENOENT : r;
}

/* Makes a file, which gets its name after its header is written. */
static int make_new(const struct kept_folder *folder, const char *name, const struct store_header *header,
                    struct error *err)
{
        char part[64];
        int fd, r;

        (void)snprintf(part, sizeof(part), "tables-%ld" KEPT_FOLDER_PART_SUFFIX, (long)getpid());
        (void)unlinkat(folder->fd, part, 0);
        fd = openat(folder->fd, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(err, "making a file for unwind tables");
        kept_folder_give(folder, fd);
        r = io_write_all(fd, header, sizeof(*header), err);
        if (r == 0 && renameat(folder->fd, part, folder->fd, name) < 0)
                r = error_errno(err, "making a file for unwind tables");
        if (r == 0)
                return fd;
        (void)unlinkat(folder->fd, part, 0);
        io_close(&fd);
        return r;
}

int table_store_open(struct table_store *s, const char *folder, uint32_t uid, uint32_t gid, struct error *err)
{
        const struct store_header header = own_header();
        struct kept_folder kept;
        struct timespec now;
        char name[64];
        int r;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        *s = (struct table_store){ .fd = -1,
                                   .opened_ns = now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec,
                                   .scanned_bytes = sizeof(header) };
        if (header.build_id_bytes == 0)
                return error_set(err, -ENOENT, "this hyprof has no build-id");
        r = kept_folder_open(&kept, folder, uid, gid, err);
        if (r < 0)
                return r;
        (void)snprintf(name, sizeof(name), "%016" PRIx64 SUFFIX, content_hash(&header, sizeof(header)));
        r = open_existing(&kept, name);
        if (r == -ENOENT) {
                r = make_new(&kept, name, &header, err);
                if (r >= 0)
                        kept_folder_remove_oldest(&kept, SUFFIX, name, TABLE_STORE_FOLDER_MAX);
        }
        s->fd = r < 0 ? -1 : r;
        kept_folder_close(&kept);
        return r < 0 ? r : 0;
}

void table_store_close(struct table_store *s)
{
        io_close(&s->fd);
        free(s->places);
        s->places = NULL;
        s->n_places = s->capacity = 0;
}

bool table_store_identify(const struct table_store *s, int file_fd, const uint8_t *build_id,
                          uint32_t build_id_bytes, struct table_store_key *ret_key)
{
        struct table_store_key key = { .build_id_bytes = build_id_bytes };
        struct statx status;

        if (s->fd < 0 || build_id_bytes == 0 || build_id_bytes > sizeof(key.build_id) ||
            statx(file_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0 ||
            !S_ISREG(status.stx_mode) || status.stx_nlink == 0)
                return false;
        key.device = makedev(status.stx_dev_major, status.stx_dev_minor);
        key.inode = status.stx_ino;
        key.file_bytes = status.stx_size;
        key.changed_ns = status.stx_ctime.tv_sec * (int64_t)NS_PER_S + status.stx_ctime.tv_nsec;
        memcpy(key.build_id, build_id, build_id_bytes);
        *ret_key = key;
        return key.changed_ns < s->opened_ns - (int64_t)PACE_TABLES_STABLE_NS;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static uint64_t entry_head_hash(const struct table_store_entry *entry)
{
        return content_hash(entry, offsetof(struct table_store_entry, hash));
}

/* Whether a whole entry begins at @at: 1, 0, -errno. */
static int read_entry_head(const struct table_store *s, uint64_t at, uint64_t file_bytes,
                           struct table_store_entry *ret_entry)
{
        size_t n_bytes;
        int r = io_pread_full(s->fd, ret_entry, sizeof(*ret_entry), at, &n_bytes, NULL);

        if (r < 0)
                return r;
        return n_bytes == sizeof(*ret_entry) && at + n_bytes <= file_bytes &&
               ret_entry->magic == ENTRY_MAGIC && ret_entry->hash == entry_head_hash(ret_entry) &&
               ret_entry->n_bytes <= TABLE_STORE_ENTRY_MAX && ret_entry->n_bytes <= file_bytes - at - n_bytes;
}

static uint64_t end_of(uint64_t at, const struct table_store_entry *entry)
{
        return (at + sizeof(*entry) + entry->n_bytes + 7) & ~UINT64_C(7);
}

/*
 * Takes in the entries that are new since the last scan.  Returns 0, -ENODATA if the file is no longer
 * usable, -errno.
 */
static int scan(struct table_store *s)
{
        struct table_store_entry entry;
        uint64_t file_bytes = 0;
        int r = check_header(s->fd, &file_bytes);

        if (r <= 0)
                return r < 0 ? r : -ENODATA;
        while (s->n_places < TABLE_STORE_PLACES_MAX) {
                r = read_entry_head(s, s->scanned_bytes, file_bytes, &entry);
                if (r <= 0)
                        return r;
                r = array_reserve(&s->places, &s->capacity, s->n_places + 1, sizeof(*s->places));
                if (r < 0)
                        return r;
                s->places[s->n_places++] = (struct table_store_place){ .key = entry.key,
                                                                       .offset_bytes = s->scanned_bytes };
                s->scanned_bytes = end_of(s->scanned_bytes, &entry);
        }
        return 0;
}

/* Finds the newest entry of a key: it was added because an earlier one is damaged. */
static const struct table_store_place *place_of(const struct table_store *s,
                                                const struct table_store_key *key)
{
        for (size_t i = s->n_places; i > 0; i--)
                if (memcmp(&s->places[i - 1].key, key, sizeof(*key)) == 0)
                        return &s->places[i - 1];
        return NULL;
}

bool table_store_read(const struct table_store *s, uint64_t offset_bytes, uint64_t n_bytes,
                      struct byte_buffer *bytes)
{
        size_t n_read = 0;
        uint8_t *to;

        byte_buffer_clear(bytes);
        to = byte_buffer_reserve(bytes, n_bytes);
        if (!to || io_pread_full(s->fd, to, n_bytes, offset_bytes, &n_read, NULL) < 0 || n_read != n_bytes)
                return false;
        bytes->used_bytes = n_bytes;
        return true;
}

/* Whether a whole entry is at @at, as it was written. */
static bool read_entry(const struct table_store *s, uint64_t at, struct table_store_entry *ret_entry,
                       struct byte_buffer *bytes)
{
        struct stat status;

        return fstat(s->fd, &status) == 0 &&
               read_entry_head(s, at, (uint64_t)status.st_size, ret_entry) == 1 &&
               table_store_read(s, at + sizeof(*ret_entry), ret_entry->n_bytes, bytes) &&
               content_hash(bytes->data, bytes->used_bytes) == ret_entry->bytes_hash;
}

int table_store_find(struct table_store *s, const struct table_store_key *key,
                     struct table_store_entry *ret_entry, uint64_t *ret_offset_bytes,
                     struct byte_buffer *bytes)
{
        const struct table_store_place *place;

        if (s->fd < 0 || (s->n_places == 0 && scan(s) < 0))
                return 0;
        place = place_of(s, key);
        if (!place || !read_entry(s, place->offset_bytes, ret_entry, bytes))
                return 0;
        *ret_offset_bytes = place->offset_bytes + sizeof(*ret_entry);
        return memcmp(&ret_entry->key, key, sizeof(*key)) == 0;
}

/* ---- adding -------------------------------------------------------------------------------------------- */

/*
 * The lock belongs to the open file description, which children share, and is released with it at the
 * latest.
 */
static bool set_lock(const struct table_store *s, short kind)
{
        struct flock lock = { .l_type = kind, .l_whence = SEEK_SET };

        return fcntl(s->fd, F_OFD_SETLK, &lock) == 0;
}

/*
 * Cuts off the bytes after the last whole entry: they belong to an unfinished one, and must not be taken
 * for entries.
 */
static bool cut_off_rest(const struct table_store *s)
{
        struct stat status;

        return s->n_places == TABLE_STORE_PLACES_MAX ||
               (fstat(s->fd, &status) == 0 && ((uint64_t)status.st_size <= s->scanned_bytes ||
                                               ftruncate(s->fd, (off_t)s->scanned_bytes) == 0));
}

bool table_store_begin(struct table_store *s)
{
        if (s->fd < 0 || !set_lock(s, F_WRLCK))
                return false;
        if (scan(s) == 0 && cut_off_rest(s))
                return true;
        table_store_end(s);
        return false;
}

/* The next recording begins anew. */
static int fill_up(const struct table_store *s)
{
        static const uint64_t one = 1;

        (void)io_pwrite_all(s->fd, &one, sizeof(one), offsetof(struct store_header, is_full), NULL);
        return -EFBIG;
}

static int write_entry(const struct table_store *s, const struct table_store_entry *entry,
                       const struct byte_buffer *bytes)
{
        int r = io_pwrite_all(s->fd, bytes->data, bytes->used_bytes, s->scanned_bytes + sizeof(*entry), NULL);

        if (r == 0)
                r = io_pwrite_all(s->fd, entry, sizeof(*entry), s->scanned_bytes, NULL);
        if (r < 0)
                (void)!ftruncate(s->fd, (off_t)s->scanned_bytes);
        return r;
}

int table_store_add(struct table_store *s, const struct table_store_key *key,
                    const struct module_landmarks *landmarks, const struct byte_buffer *bytes)
{
        struct table_store_entry entry;
        int r;

        if (bytes->failed)
                return -ENOMEM;
        if (bytes->used_bytes > TABLE_STORE_ENTRY_MAX)
                return -EFBIG;
        if (s->n_places == TABLE_STORE_PLACES_MAX ||
            s->scanned_bytes + sizeof(entry) + bytes->used_bytes > TABLE_STORE_BYTES_MAX)
                return fill_up(s);
        r = array_reserve(&s->places, &s->capacity, s->n_places + 1, sizeof(*s->places));
        if (r < 0)
                return r;
        memset(&entry, 0, sizeof(entry));
        entry.magic = ENTRY_MAGIC;
        entry.key = *key;
        entry.n_bytes = bytes->used_bytes;
        entry.bytes_hash = content_hash(bytes->data, bytes->used_bytes);
        entry.has_landmarks = landmarks != NULL;
        if (landmarks)
                memcpy(&entry.landmarks, landmarks, sizeof(*landmarks));
        entry.hash = entry_head_hash(&entry);
        r = write_entry(s, &entry, bytes);
        if (r < 0)
                return r;
        s->places[s->n_places++] = (struct table_store_place){ .key = *key,
                                                               .offset_bytes = s->scanned_bytes };
        s->scanned_bytes = end_of(s->scanned_bytes, &entry);
        return 0;
}

void table_store_end(struct table_store *s)
{
        (void)set_lock(s, F_UNLCK);
}
