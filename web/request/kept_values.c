/* SPDX-License-Identifier: MIT */
#include "web/request/kept_values.h"

#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "base/kept_folder.h"
#include "view/document/json_value.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The head of the file and the head of its first chunk; the chunk's checksum covers when and where the
 * trace was recorded.
 */
#define TRACE_HEAD_BYTES 100

static const struct {
        const char *name;
        bool is_of_trace;
} names[N_KEPT_NAMES] = {
        [KEPT_NOTES] = { "notes", true },  [KEPT_TRACKS] = { "tracks", true },
        [KEPT_THEME] = { "theme", false }, [KEPT_GHOSTS] = { "ghosts", false },
        [KEPT_HINT] = { "hint", false },
};

struct kept_file_name {
        char text[48];
};

bool kept_values_find_name(struct text_view name, enum kept_name *ret_name)
{
        for (unsigned i = 0; i < N_KEPT_NAMES; i++)
                if (text_view_is(name, names[i].name)) {
                        *ret_name = (enum kept_name)i;
                        return true;
                }
        return false;
}

static struct kept_file_name kept_file_name_of(const struct kept_values *k, enum kept_name name)
{
        struct kept_file_name file;

        if (names[name].is_of_trace)
                (void)snprintf(file.text, sizeof(file.text), "%016" PRIx64 ".%s", k->trace_key,
                               names[name].name);
        else
                (void)snprintf(file.text, sizeof(file.text), "%s", names[name].name);
        return file;
}

/* Returns 0, or -errno: the buffer is empty then. */
static int read_value(struct byte_buffer *ret, int folder_fd, const char *file)
{
        int fd = openat(folder_fd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        struct stat status;
        uint8_t *room = NULL;
        ssize_t n = -1;

        if (fd < 0)
                return -errno;
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
            status.st_size > 0 && (uint64_t)status.st_size <= KEPT_VALUE_BYTES_MAX)
                room = byte_buffer_reserve(ret, (size_t)status.st_size);
        if (room)
                n = pread(fd, room, (size_t)status.st_size, 0);
        if (n > 0)
                ret->used_bytes = (size_t)n;
        io_close(&fd);
        return n > 0 ? 0 : -EINVAL;
}

void kept_values_identify(struct kept_values *k, int trace_fd)
{
        uint8_t head[TRACE_HEAD_BYTES];

        if (k->is_identified || pread(trace_fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
                return;
        k->trace_key = content_hash(head, sizeof(head));
        k->is_identified = true;
}

void kept_values_init(struct kept_values *k, const char *folder, int trace_fd)
{
        int fd;

        *k = (struct kept_values){ .folder = folder };
        kept_values_identify(k, trace_fd);
        fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd < 0)
                return;
        for (unsigned i = 0; i < N_KEPT_NAMES; i++)
                if (k->is_identified || !names[i].is_of_trace)
                        (void)read_value(&k->values[i], fd, kept_file_name_of(k, (enum kept_name)i).text);
        io_close(&fd);
}

void kept_values_deinit(struct kept_values *k)
{
        for (unsigned i = 0; i < N_KEPT_NAMES; i++)
                byte_buffer_deinit(&k->values[i]);
}

int kept_values_set(struct kept_values *k, enum kept_name name, struct text_view text, struct error *err)
{
        struct byte_buffer fresh = { .data = NULL };

        if (text.n_bytes > KEPT_VALUE_BYTES_MAX)
                return error_set(err, -EFBIG, "more than %" PRIu64 " KiB of %s are not kept",
                                 KEPT_VALUE_BYTES_MAX / 1024, names[name].name);
        byte_buffer_add(&fresh, text.bytes, text.n_bytes);
        if (fresh.failed)
                return error_set(err, -ENOMEM, "no memory for %s", names[name].name);
        byte_buffer_deinit(&k->values[name]);
        k->values[name] = fresh;
        return 0;
}

/* Other processes and later reads see the former value or the new one, never a part. */
static int write_value(const struct kept_folder *folder, const char *file, const struct byte_buffer *value,
                       struct error *err)
{
        struct kept_file_name part;
        int fd, r;

        (void)snprintf(part.text, sizeof(part.text), "%.24s-%ld" KEPT_FOLDER_PART_SUFFIX, file,
                       (long)getpid());
        (void)unlinkat(folder->fd, part.text, 0);
        fd = openat(folder->fd, part.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(err, "%s", part.text);
        r = io_write_all(fd, value->data, value->used_bytes, err);
        io_close(&fd);
        if (r == 0 && renameat(folder->fd, part.text, folder->fd, file) < 0)
                r = error_errno(err, "%s", file);
        if (r < 0)
                (void)unlinkat(folder->fd, part.text, 0);
        return r;
}

int kept_values_save(const struct kept_values *k, enum kept_name name, struct error *err)
{
        struct kept_file_name file = kept_file_name_of(k, name);
        struct kept_folder folder;
        int r;

        if (!k->folder)
                return error_set(err, -ENOENT, "there is no folder for %s: set XDG_STATE_HOME",
                                 names[name].name);
        if (names[name].is_of_trace && !k->is_identified)
                return error_set(err, -ENODATA, "the trace has only begun: %s are not kept yet",
                                 names[name].name);
        r = kept_folder_open(&folder, k->folder, geteuid(), getegid(), err);
        if (r < 0)
                return r;
        r = write_value(&folder, file.text, &k->values[name], err);
        if (r == 0 && names[name].is_of_trace)
                kept_folder_remove_oldest(&folder, strchr(file.text, '.'), file.text, KEPT_VALUES_BYTES_MAX);
        kept_folder_close(&folder);
        return r;
}

void kept_values_put(const struct kept_values *k, struct byte_buffer *out)
{
        json_t *object = json_object();
        char *text;

        for (unsigned i = 0; object && i < N_KEPT_NAMES; i++)
                if (k->values[i].used_bytes > 0)
                        (void)json_object_set_new(
                                object, names[i].name,
                                json_value_string((struct text_view){ (const char *)k->values[i].data,
                                                                      k->values[i].used_bytes }));
        text = object ? json_dumps(object, JSON_COMPACT) : NULL;
        json_decref(object);
        byte_buffer_add(out, text ? text : "{}", text ? strlen(text) : 2);
        free(text);
}
