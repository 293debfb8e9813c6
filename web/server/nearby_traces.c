/* SPDX-License-Identifier: MIT */
#include "web/server/nearby_traces.h"

#include "base/error.h"
#include "base/io.h"
#include "format/trace_spec.h"
#include "view/document/json_value.h"
#include "web/model/trace_identity.h"
#include "web/model/view_content.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".hyp"

struct nearby_trace {
        char name[NAME_MAX + 1];
        uint64_t n_bytes;
        int64_t modified_ns;
};

struct nearby_list {
        struct nearby_trace traces[NEARBY_TRACES_MAX]; /* the newest first */
        size_t n;
};

static int open_folder(const char *trace, struct error *err)
{
        const char *slash = strrchr(trace, '/');
        char *folder = slash ? strndup(trace, slash > trace ? (size_t)(slash - trace) : 1) : strdup(".");
        int fd;

        if (!folder)
                return error_set(err, -ENOMEM, "no memory for the name of a folder");
        fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                (void)error_errno(err, "%s", folder);
        free(folder);
        return fd < 0 ? err->code : fd;
}

static bool has_suffix(const char *name)
{
        size_t n = strlen(name);

        return n > strlen(SUFFIX) && strcmp(name + n - strlen(SUFFIX), SUFFIX) == 0;
}

/* A plain file that begins as a trace does: the process that serves it reads no other. */
static bool is_trace(int folder_fd, const char *name, struct stat *ret_status)
{
        int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        uint32_t head = 0; /* little-endian, as this machine is */
        bool is_one = fd >= 0 && fstat(fd, ret_status) == 0 && S_ISREG(ret_status->st_mode) &&
                      pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) && head == TRACE_CHUNK_MAGIC;

        io_close(&fd);
        return is_one;
}

static void add(struct nearby_list *list, const char *name, const struct stat *status)
{
        int64_t modified_ns = status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec;
        size_t at = list->n;

        while (at > 0 && list->traces[at - 1].modified_ns < modified_ns)
                at--;
        if (at == NEARBY_TRACES_MAX)
                return;
        if (list->n < NEARBY_TRACES_MAX)
                list->n++;
        memmove(&list->traces[at + 1], &list->traces[at], (list->n - 1 - at) * sizeof(list->traces[0]));
        list->traces[at].n_bytes = (uint64_t)status->st_size;
        list->traces[at].modified_ns = modified_ns;
        (void)snprintf(list->traces[at].name, sizeof(list->traces[at].name), "%s", name);
}

static int read_folder(struct nearby_list *list, const char *trace, struct error *err)
{
        const char *slash = strrchr(trace, '/');
        const char *own = slash ? slash + 1 : trace;
        int fd = open_folder(trace, err);
        DIR *folder = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;
        struct stat status;

        if (fd >= 0 && !folder) {
                (void)error_errno(err, "the folder of %s", trace);
                io_close(&fd);
        }
        if (!folder)
                return err->code;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        while ((entry = readdir(folder)) != NULL)
                if (has_suffix(entry->d_name) && strcmp(entry->d_name, own) != 0 &&
                    is_trace(fd, entry->d_name, &status))
                        add(list, entry->d_name, &status);
        (void)closedir(folder);
        return 0;
}

int nearby_traces_put(const char *trace, bool is_compared, const char *failure, struct byte_buffer *out,
                      struct error *err)
{
        struct nearby_list *list = calloc(1, sizeof(*list));
        json_t *traces = json_array();
        int r = list && traces ? read_folder(list, trace, err)
                               : error_set(err, -ENOMEM, "no memory for a list of traces");

        for (size_t i = 0; list && r == 0 && i < list->n; i++) {
                /* A name that is no UTF-8 could not be told apart from others. */
                json_t *name = json_string(list->traces[i].name);

                if (name)
                        (void)json_array_append_new(
                                traces, json_pack("{s:o,s:I,s:I}", "name", name, "bytes",
                                                  (json_int_t)list->traces[i].n_bytes, "modified_s",
                                                  (json_int_t)(list->traces[i].modified_ns / 1000000000)));
        }
        free(list);
        if (r == 0) /* the words quote a path, which may be no UTF-8 */
                return view_model_print(
                        json_pack("{s:o,s:b,s:o*}", "traces", traces, "is_compared", (int)is_compared,
                                  "failure",
                                  json_value_string((struct text_view){ failure, strlen(failure) })),
                        out, err);
        json_decref(traces);
        return r;
}

int nearby_traces_find(const char *trace, struct text_view name, char **ret_path, struct error *err)
{
        const char *slash = strrchr(trace, '/');
        size_t n_folder = slash ? (size_t)(slash - trace) + 1 : 0;
        char text[NAME_MAX + 1];
        struct stat status;
        bool is_one;
        char *path;
        int fd;

        if (name.n_bytes == 0 || name.n_bytes > NAME_MAX || memchr(name.bytes, '/', name.n_bytes) ||
            memchr(name.bytes, '\0', name.n_bytes))
                return error_set(err, -EINVAL, "not the name of a trace");
        memcpy(text, name.bytes, name.n_bytes);
        text[name.n_bytes] = '\0';
        fd = open_folder(trace, err);
        if (fd < 0)
                return fd;
        is_one = has_suffix(text) && is_trace(fd, text, &status);
        io_close(&fd);
        if (!is_one)
                return error_set(err, -EINVAL, "%s: is no trace in the folder of the one that is shown",
                                 text);
        path = malloc(n_folder + name.n_bytes + 1);
        if (!path)
                return error_set(err, -ENOMEM, "no memory for the name of a trace");
        memcpy(path, trace, n_folder);
        memcpy(path + n_folder, text, name.n_bytes + 1);
        *ret_path = path;
        return 0;
}
