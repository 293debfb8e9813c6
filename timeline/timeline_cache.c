/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_cache.h"

#include "analyze/walk/loaded_trace.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "timeline/timeline_index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_SUFFIX ".timeline"

struct timeline_entry_name {
        char text[48];
};

int timeline_cache_open(struct timeline_cache *c, const char *folder, uint32_t uid, uint32_t gid,
                        struct error *err)
{
        *c = (struct timeline_cache){ .bytes_max = TIMELINE_CACHE_BYTES_MAX };
        return kept_folder_open(&c->folder, folder, uid, gid, err);
}

void timeline_cache_close(struct timeline_cache *c)
{
        kept_folder_close(&c->folder);
}

/* A trace has one cache file, even if the content of the trace changes. */
static struct timeline_entry_name entry_name(const struct timeline_identity *identity, const char *suffix)
{
        const uint64_t numbers[] = { identity->device, identity->inode };
        struct timeline_entry_name name;

        (void)snprintf(name.text, sizeof(name.text), "%016" PRIx64 "%s",
                       content_hash(numbers, sizeof(numbers)), suffix);
        return name;
}

void timeline_cache_forget(const struct timeline_cache *c, const struct timeline_identity *identity)
{
        (void)unlinkat(c->folder.fd, entry_name(identity, ENTRY_SUFFIX).text, 0);
}

int timeline_cache_load(const struct timeline_cache *c, const struct timeline_identity *identity,
                        struct timeline_index *ret_index)
{
        struct timeline_entry_name name = entry_name(identity, ENTRY_SUFFIX);
        int fd = openat(c->folder.fd, name.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        struct stat status;
        int r;

        if (fd < 0)
                return 0;
        if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != c->folder.owner_uid) {
                io_close(&fd);
                return 0;
        }
        (void)futimens(fd, NULL); /* it is of use: others are older */
        r = timeline_directory_open(ret_index, fd, identity, NULL);
        if (r == 0)
                return 1;
        timeline_index_deinit(ret_index);
        if (r == -ESTALE || r == -EBADMSG || r == -ENODATA)
                timeline_cache_forget(c, identity);
        return 0;
}

/* Makes a file for a new index: in the cache under a temporary name, or else without a name. */
static int entry_begin(const struct timeline_cache *c, const struct timeline_entry_name *part,
                       struct error *err)
{
        int fd = -1;

        if (c) {
                (void)unlinkat(c->folder.fd, part->text, 0);
                fd = openat(c->folder.fd, part->text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            0600);
                if (fd >= 0)
                        kept_folder_give(&c->folder, fd);
        }
        return fd >= 0 ? fd : io_open_unnamed(err);
}

static struct timeline_entry_name part_name(const struct timeline_identity *identity, long number)
{
        char suffix[32];

        (void)snprintf(suffix, sizeof(suffix), "-%ld" KEPT_FOLDER_PART_SUFFIX, number);
        return entry_name(identity, suffix);
}

int timeline_cache_begin(const struct timeline_cache *c, const struct timeline_identity *identity,
                         long number, struct error *err)
{
        struct timeline_entry_name part = part_name(identity, number);

        return entry_begin(c, &part, err);
}

/*
 * Other processes see the file only when it is complete.  Its descriptor stays valid even if its name is
 * removed.
 */
static void entry_end(const struct timeline_cache *c, const struct timeline_identity *identity,
                      const struct timeline_entry_name *part, uint64_t size_bytes, bool is_good)
{
        struct timeline_entry_name name = entry_name(identity, ENTRY_SUFFIX);

        if (!is_good || size_bytes > c->bytes_max ||
            renameat(c->folder.fd, part->text, c->folder.fd, name.text) < 0)
                (void)unlinkat(c->folder.fd, part->text, 0);
        else
                kept_folder_remove_oldest(&c->folder, ENTRY_SUFFIX, name.text, c->bytes_max);
}

void timeline_cache_end(const struct timeline_cache *c, const struct timeline_identity *identity, long number,
                        bool is_good)
{
        struct timeline_entry_name part = part_name(identity, number);
        struct stat status;

        if (fstatat(c->folder.fd, part.text, &status, AT_SYMLINK_NOFOLLOW) == 0)
                entry_end(c, identity, &part, (uint64_t)status.st_size, is_good);
}

static int build_and_save(struct timeline_index *index, int fd, const struct timeline_identity *identity,
                          struct loaded_trace *trace, const struct timeline_build_options *options,
                          struct error *err)
{
        int r = timeline_index_init(index, fd, trace->start_ns, trace->end_ns - trace->start_ns);

        if (r < 0)
                return error_set(err, r, "the index of the time line: out of memory");
        r = timeline_builder_build(index, trace, options, err);
        return r < 0 ? r : timeline_directory_save(index, identity, err);
}

int timeline_cache_make(const struct timeline_cache *c, const struct timeline_identity *identity,
                        struct loaded_trace *trace, const struct timeline_build_options *options,
                        struct timeline_index *ret_index, struct error *err)
{
        struct timeline_entry_name part = part_name(identity, (long)getpid());
        int fd, r;

        if (c && timeline_cache_load(c, identity, ret_index) == 1)
                return 0;
        *ret_index = (struct timeline_index){ .pages = { .fd = -1 } };
        fd = entry_begin(c, &part, err);
        if (fd < 0)
                return fd;
        r = build_and_save(ret_index, fd, identity, trace, options, err);
        if (c)
                entry_end(c, identity, &part, ret_index->pages.size_bytes, r == 0);
        return r < 0 ? r : 1;
}
