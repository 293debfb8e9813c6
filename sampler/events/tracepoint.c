/* SPDX-License-Identifier: MIT */
#include "sampler/events/tracepoint.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "base/name_guess.h"
#include "sampler/events/event_places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES       512
#define FORMAT_BYTES_MAX 65536
#define MOUNT            "sudo mount -t tracefs none /sys/kernel/tracing"

/* Opens the folder of the events below @root: a descriptor, or -errno. */
static int open_events(const char *root)
{
        char path[PATH_BYTES];
        int fd;

        if (snprintf(path, sizeof(path), "%s/events", root) >= (int)sizeof(path))
                return -ENAMETOOLONG;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int tracepoint_find_root(const struct event_places *places, const char **ret_path, struct error *err)
{
        const char *const usual[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
        const char *const given[] = { places ? places->tracing : NULL };
        const char *const *paths = given[0] ? given : usual;
        size_t n_paths = given[0] ? 1 : 2;
        bool denied = false;

        for (size_t i = 0; i < n_paths; i++) {
                int fd = open_events(paths[i]);

                if (fd >= 0) {
                        io_close(&fd);
                        *ret_path = paths[i];
                        return 0;
                }
                denied = denied || fd == -EACCES;
        }
        if (denied)
                return error_set(err, -EACCES, "tracepoints need rights that you do not have; try sudo");
        return error_set(err, -ENOENT, "tracefs is not mounted, tracepoints have no names; try: " MOUNT);
}

/*
 * Whether @text may name a tracepoint or its group.  It becomes part of a path, so it must not have '/' or
 * '.'.
 */
static bool is_name(const char *text, size_t n_bytes)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

        for (size_t i = 0; i < n_bytes; i++)
                if (text[i] == '\0' || !strchr(letters, text[i]))
                        return false;
        return n_bytes > 0 && n_bytes < NAME_GUESS_BYTES;
}

static int read_id(const char *root, const char *text, size_t subsystem_bytes, size_t n_bytes,
                   uint64_t *ret_id)
{
        const char *name = text + subsystem_bytes + 1;
        size_t got = 0;
        char path[PATH_BYTES], digits[24], *end;
        int fd, r;

        if (snprintf(path, sizeof(path), "%s/events/%.*s/%.*s/id", root, (int)subsystem_bytes, text,
                     (int)(n_bytes - subsystem_bytes - 1), name) >= (int)sizeof(path))
                return -ENAMETOOLONG;
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = io_read_full(fd, digits, sizeof(digits) - 1, &got, NULL);
        io_close(&fd);
        digits[got] = '\0';
        *ret_id = strtoull(digits, &end, 10);
        return r < 0 ? r : (end == digits ? -EBADMSG : 0);
}

static bool has_group(const char *root, const char *text, size_t subsystem_bytes)
{
        char path[PATH_BYTES];

        return snprintf(path, sizeof(path), "%s/events/%.*s", root, (int)subsystem_bytes, text) <
                       (int)sizeof(path) &&
               access(path, F_OK) == 0;
}

static int offer(void *context, const char *subsystem, const char *name)
{
        char text[NAME_GUESS_BYTES];

        if (snprintf(text, sizeof(text), "%s:%s", subsystem, name) < (int)sizeof(text))
                name_guess_offer(context, text);
        return 0;
}

int tracepoint_find(const struct event_places *places, const char *text, size_t n_bytes, uint64_t *ret_id,
                    struct error *err)
{
        const char *colon = memchr(text, ':', n_bytes);
        size_t subsystem_bytes = colon ? (size_t)(colon - text) : n_bytes;
        struct name_guess guess;
        const char *root = NULL;
        int r;

        if (!colon || !is_name(text, subsystem_bytes) || !is_name(colon + 1, n_bytes - subsystem_bytes - 1))
                return error_set(err, -EINVAL, "'%.*s' is not a tracepoint", n_bytes > 80 ? 80 : (int)n_bytes,
                                 text);
        r = tracepoint_find_root(places, &root, err);
        if (r < 0)
                return r;
        r = read_id(root, text, subsystem_bytes, n_bytes, ret_id);
        if (r != -ENOENT)
                return r < 0 ? error_set(err, r, "cannot read the tracepoint %.*s", (int)n_bytes, text) : 0;
        name_guess_init(&guess, text, n_bytes);
        (void)tracepoint_visit(places, offer, &guess, NULL);
        (void)error_set(err, -EINVAL, "unknown tracepoint '%.*s'%s%s%s", (int)n_bytes, text,
                        guess.best[0] ? "; did you mean '" : "", guess.best, guess.best[0] ? "'?" : "");
        return has_group(root, text, subsystem_bytes) ? -ESRCH : -EINVAL;
}

/* A line of a format is "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;". */
static int find_offset(const char *format, const char *field, uint32_t *ret_offset_bytes)
{
        size_t field_bytes = strlen(field);

        for (const char *at = strstr(format, field); at; at = strstr(at + 1, field)) {
                unsigned offset_bytes;

                if (at == format || at[-1] != ' ' || at[field_bytes] != ';' ||
                    sscanf(at + field_bytes, "; offset:%u;", &offset_bytes) != 1 || /* NOLINT(cert-err34-c) */
                    offset_bytes > UINT16_MAX)
                        continue;
                *ret_offset_bytes = offset_bytes;
                return 0;
        }
        return -ENOENT;
}

int tracepoint_find_field(const struct event_places *places, const char *text, const char *field,
                          uint32_t *ret_offset_bytes, struct error *err)
{
        const char *colon = strchr(text, ':'), *root = NULL;
        struct byte_buffer format = { .data = NULL };
        char path[PATH_BYTES];
        int r;

        if (!colon || !is_name(text, (size_t)(colon - text)) || !is_name(colon + 1, strlen(colon + 1)))
                return error_set(err, -EINVAL, "'%.80s' is not a tracepoint", text);
        r = tracepoint_find_root(places, &root, err);
        if (r < 0)
                return r;
        if (snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", root, (int)(colon - text), text,
                     colon + 1) >= (int)sizeof(path))
                return error_set(err, -ENAMETOOLONG, "cannot read the tracepoint %s", text);
        r = io_read_file(AT_FDCWD, path, FORMAT_BYTES_MAX, &format, NULL);
        if (r == 0) {
                byte_buffer_add_u8(&format, '\0');
                r = format.failed ? -ENOMEM : find_offset((const char *)format.data, field, ret_offset_bytes);
        }
        byte_buffer_deinit(&format);
        return r < 0 ? error_set(err, r, "cannot find '%s' in the tracepoint %s", field, text) : 0;
}

/* Sorted names of folders; NULL if there are none. */
static struct dirent **list_folders(int dir_fd, const char *path, int *ret_n)
{
        struct dirent **entries = NULL;

        *ret_n = scandirat(dir_fd, path, &entries, NULL, alphasort);
        if (*ret_n < 0)
                *ret_n = 0;
        return entries;
}

static bool is_folder(const struct dirent *entry)
{
        return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static int visit_subsystem(int events_fd, const char *subsystem, tracepoint_taker *take, void *context)
{
        int n, r = 0;
        struct dirent **entries = list_folders(events_fd, subsystem, &n);

        for (int i = 0; i < n; i++) {
                if (r == 0 && is_folder(entries[i]))
                        r = take(context, subsystem, entries[i]->d_name);
                free(entries[i]);
        }
        free(entries);
        return r;
}

int tracepoint_visit(const struct event_places *places, tracepoint_taker *take, void *context,
                     struct error *err)
{
        struct dirent **entries;
        const char *root = NULL;
        int n, events_fd, r = tracepoint_find_root(places, &root, err);

        if (r < 0)
                return r;
        events_fd = open_events(root);
        if (events_fd < 0)
                return error_set(err, events_fd, "cannot read %s", root);
        entries = list_folders(events_fd, ".", &n);
        for (int i = 0; i < n; i++) {
                if (r == 0 && is_folder(entries[i]))
                        r = visit_subsystem(events_fd, entries[i]->d_name, take, context);
                free(entries[i]);
        }
        free(entries);
        io_close(&events_fd);
        return r;
}
