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

static bool is_word(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A line of a format is "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;". */
static bool parse_field(const char *line, struct tracepoint_field *ret_field)
{
        const char *type = line + strlen("\tfield:"), *end, *at;
        unsigned offset_bytes, size_bytes, is_signed;

        if (strncmp(line, "\tfield:", strlen("\tfield:")) != 0)
                return false;
        end = type + strcspn(type, ";\n");
        if (sscanf(end, ";\toffset:%u;\tsize:%u;\tsigned:%u;", &offset_bytes, /* NOLINT(cert-err34-c) */
                   &size_bytes, &is_signed) != 3 ||
            offset_bytes > UINT16_MAX || size_bytes > UINT16_MAX)
                return false;
        *ret_field = (struct tracepoint_field){ .offset_bytes = offset_bytes,
                                                .size_bytes = size_bytes,
                                                .is_signed = is_signed != 0,
                                                .is_located = strncmp(type, "__data_loc ", 11) == 0,
                                                .is_array = memchr(type, '[', (size_t)(end - type)) != NULL };
        if (end[-1] == ']')
                while (end > type && *end != '[')
                        end--;
        for (at = end; at > type && is_word(at[-1]);)
                at--;
        ret_field->name = at;
        ret_field->name_bytes = (size_t)(end - at);
        if (ret_field->is_located)
                type += 11;
        ret_field->is_text = ret_field->is_array && strncmp(type, "char", 4) == 0 && !is_word(type[4]);
        return at < end;
}

static int read_format(const struct event_places *places, const char *text, struct byte_buffer *format,
                       struct error *err)
{
        const char *colon = strchr(text, ':'), *root = NULL;
        char path[PATH_BYTES];
        uint64_t id;
        int r = tracepoint_find(places, text, strlen(text), &id, err);

        if (r == 0)
                r = tracepoint_find_root(places, &root, err);
        if (r < 0)
                return r == -ESRCH ? -EINVAL : r;
        if (snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", root, (int)(colon - text), text,
                     colon + 1) >= (int)sizeof(path))
                return error_set(err, -ENAMETOOLONG, "cannot read the tracepoint %s", text);
        r = io_read_file(AT_FDCWD, path, FORMAT_BYTES_MAX, format, NULL);
        if (r == 0)
                byte_buffer_add_u8(format, '\0');
        if (r == 0 && format->failed)
                r = -ENOMEM;
        return r < 0 ? error_set(err, r, "cannot read the fields of the tracepoint %s", text) : 0;
}

int tracepoint_visit_fields(const struct event_places *places, const char *text, tracepoint_field_taker *take,
                            void *context, struct error *err)
{
        struct byte_buffer format = { .data = NULL };
        struct tracepoint_field field;
        int r = read_format(places, text, &format, err);
        const char *line = (const char *)format.data;

        while (r == 0 && line) {
                if (parse_field(line, &field))
                        r = take(context, &field);
                line = strchr(line, '\n');
                line += line ? 1 : 0;
        }
        byte_buffer_deinit(&format);
        return r;
}

struct wanted_field {
        const char *name;
        uint32_t offset_bytes;
};

static int match(void *context, const struct tracepoint_field *field)
{
        struct wanted_field *wanted = context;

        wanted->offset_bytes = field->offset_bytes;
        return !field->is_array && strlen(wanted->name) == field->name_bytes &&
               memcmp(wanted->name, field->name, field->name_bytes) == 0;
}

int tracepoint_find_field(const struct event_places *places, const char *text, const char *field,
                          uint32_t *ret_offset_bytes, struct error *err)
{
        struct wanted_field wanted = { .name = field };
        int r = tracepoint_visit_fields(places, text, match, &wanted, err);

        if (r < 0)
                return r;
        if (r == 0)
                return error_set(err, -ENOENT, "cannot find '%s' in the tracepoint %s", field, text);
        *ret_offset_bytes = wanted.offset_bytes;
        return 0;
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
