/* SPDX-License-Identifier: MIT */
/*
 * libdebuginfod is loaded when it is needed instead of linked: it brings in libcurl and some twenty more
 * libraries, which would slow down every start of hyprof, and it need not be installed at all.
 */
#include "symbolize/debug/debuginfod_message.h"

#include "base/byte_buffer.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "base/library_loader.h"
#include "base/regular_file.h"
#include "base/user_account.h"
#include "symbolize/debug/debuginfod_fetch.h"
#include "symbolize/elf/elf_image.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

#define LIBRARY_TIMEOUT_S 90
#define PROGRESS_BYTES    (UINT64_C(1) << 18) /* between two messages on one download */
#define NANOSECONDS       UINT64_C(1000000000)

/* As <elfutils/debuginfod.h> has them. */
typedef struct debuginfod_client library_client;
typedef int library_progress(library_client *client, long a, long b);
typedef int library_find(library_client *client, const unsigned char *build_id, int build_id_bytes,
                         char **ret_path);

struct library {
        library_client *(*begin)(void);
        library_find *find_debuginfo;
        library_find *find_executable;
        void (*set_progressfn)(library_client *client, library_progress *progress);
        void (*set_user_data)(library_client *client, void *data);
};

/* The state of the child. */
struct fetcher {
        const struct debuginfod_options *options;
        struct library library;
        library_client *client;
        int pipe_fd;
        struct byte_buffer out;
        uint32_t request;     /* that is being fetched */
        uint64_t deadline_ns; /* of it */
        uint64_t told_bytes;  /* in the last message on it */
        int stopped;          /* -errno of our own reason to stop a download, or 0 */
};

static void *find_function(void *handle, const char *name, bool *is_missing)
{
        void *function = library_loader_find(handle, name);

        if (!function)
                *is_missing = true;
        return function;
}

/* POSIX allows dlsym() to return the pointer of a function; C knows no such conversion. */
#define TAKE(name)                                                                        \
        do {                                                                              \
                void *function = find_function(handle, "debuginfod_" #name, &is_missing); \
                memcpy(&library->name, &function, sizeof(function));                      \
        } while (0)

static bool load_library(struct library *library)
{
        void *handle = library_loader_open(LIBRARY, true);
        bool is_missing = false;

        if (!handle)
                return false;
        TAKE(begin);
        TAKE(find_debuginfo);
        TAKE(find_executable);
        TAKE(set_progressfn);
        TAKE(set_user_data);
        return !is_missing;
}

static int send_message(struct fetcher *f, const struct debuginfod_message *message)
{
        byte_buffer_clear(&f->out);
        debuginfod_message_encode(&f->out, message);
        return f->out.failed ? -ENOMEM : io_write_all(f->pipe_fd, f->out.data, f->out.used_bytes, NULL);
}

static uint64_t read_clock_ns(void)
{
        struct timespec now = { 0 };

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

static uint64_t find_bytes_max(const struct fetcher *f)
{
        return f->options->file_bytes_max ? f->options->file_bytes_max : DEBUGINFOD_FILE_BYTES_MAX;
}

static void tell_progress(struct fetcher *f, uint64_t got_bytes, uint64_t total_bytes)
{
        if (got_bytes - f->told_bytes < PROGRESS_BYTES && got_bytes != total_bytes)
                return;
        f->told_bytes = got_bytes;
        if (send_message(f, &(struct debuginfod_message){ .kind = DEBUGINFOD_MESSAGE_PROGRESS,
                                                          .request = f->request,
                                                          .got_bytes = got_bytes,
                                                          .total_bytes = total_bytes }) < 0)
                f->stopped = -EPIPE;
}

typedef void *library_get_user_data(library_client *client);

/* A callback of the library gets only the library's own client. */
static struct fetcher *find_fetcher(library_client *client)
{
        void *function = library_loader_find(NULL, "debuginfod_get_user_data");
        library_get_user_data *get_user_data;

        memcpy(&get_user_data, &function, sizeof(function));
        return get_user_data(client);
}

/*
 * libdebuginfod calls this while it waits, and gives up if the result is not 0.  Once the size of the
 * download is known, @got and @total count its bytes; before that, @total is 0 and @got the number of
 * calls.
 */
static int watch(library_client *client, long got, long total)
{
        struct fetcher *f = find_fetcher(client);
        uint64_t got_bytes = got > 0 ? (uint64_t)got : 0;
        uint64_t total_bytes = total > 0 ? (uint64_t)total : 0;

        if (read_clock_ns() > f->deadline_ns)
                f->stopped = -ETIMEDOUT;
        else if (got_bytes > find_bytes_max(f) || total_bytes > find_bytes_max(f))
                f->stopped = -EFBIG;
        else if (total_bytes > 0 && got_bytes > f->told_bytes)
                tell_progress(f, got_bytes, total_bytes);
        return f->stopped != 0;
}

/* The cache holds whatever a server sent, and would be trusted for ever. */
static bool is_wanted_file(const struct debuginfod_request *request, int fd)
{
        struct elf_image *image;
        bool is_equal;

        if (elf_image_open_unmapped(fd, &image, NULL) < 0)
                return false;
        is_equal = image->build_id_bytes == request->build_id_bytes &&
                   memcmp(image->build_id, request->build_id, request->build_id_bytes) == 0;
        elf_image_close(image);
        return is_equal;
}

static uint32_t find_timeout_s(const struct fetcher *f)
{
        return f->options->file_timeout_s ? f->options->file_timeout_s : DEBUGINFOD_FILE_TIMEOUT_S;
}

static struct debuginfod_message fetch_one(struct fetcher *f, const struct debuginfod_request *request,
                                           char **ret_path)
{
        library_find *find = request->kind == DEBUGINFOD_EXECUTABLE ? f->library.find_executable
                                                                    : f->library.find_debuginfo;
        struct debuginfod_message message = { .kind = DEBUGINFOD_MESSAGE_RESULT, .request = f->request };
        int fd;

        f->deadline_ns = read_clock_ns() + find_timeout_s(f) * NANOSECONDS;
        f->told_bytes = 0;
        f->stopped = 0;
        fd = find(f->client, request->build_id, (int)request->build_id_bytes, ret_path);
        if (fd < 0) {
                message.code = f->stopped ? f->stopped : fd == -ETIME ? -ETIMEDOUT : fd;
                message.state = message.code == -ENOENT ? DEBUGINFOD_NOT_FOUND : DEBUGINFOD_FAILED;
                return message;
        }
        if (is_wanted_file(request, fd)) {
                message.state = DEBUGINFOD_FOUND;
                message.path = (const uint8_t *)*ret_path;
                message.path_bytes = (uint32_t)strnlen(*ret_path, DEBUGINFOD_PATH_BYTES_MAX);
        } else {
                message.state = DEBUGINFOD_WRONG;
                (void)unlink(*ret_path);
        }
        io_close(&fd);
        return message;
}

/* True for a failure that the next file would suffer as well, after the same wait. */
static bool is_lasting(const struct debuginfod_message *result)
{
        return result->state == DEBUGINFOD_FAILED && result->code != -EFBIG;
}

static int fetch_all(struct fetcher *f, const struct debuginfod_request *requests, size_t n_requests)
{
        for (size_t i = 0; i < n_requests; i++) {
                struct debuginfod_message result;
                char *path = NULL;
                bool is_last;
                int r;

                f->request = (uint32_t)i;
                result = fetch_one(f, &requests[i], &path);
                is_last = is_lasting(&result);
                r = send_message(f, &result);
                free(path);
                if (r < 0)
                        return r;
                if (is_last)
                        break;
        }
        return 0;
}

/*
 * The cache is in the home of the user that this process becomes: under sudo, the environment may name
 * another home.
 */
static void set_home(const struct debuginfod_options *options)
{
        struct user_account user;

        if (geteuid() != 0 || options->run_as_uid == 0)
                return;
        /* NOLINTBEGIN(concurrency-mt-unsafe): a process of one thread */
        if (user_account_find(&user, options->run_as_uid))
                (void)setenv("HOME", user.entry.pw_dir, 1);
        (void)unsetenv("XDG_CACHE_HOME");
        /* NOLINTEND(concurrency-mt-unsafe) */
}

/*
 * Newer libraries (0.192) do not call watch() while a server is silent: they give up after a timeout of
 * their own, 90 s unless DEBUGINFOD_TIMEOUT says otherwise, in each of three attempts.  If our timeout is
 * shorter, the library gets that one, for a single attempt.
 */
static void set_timeout(const struct fetcher *f)
{
        uint32_t timeout_s = find_timeout_s(f);
        char seconds[16];

        if (timeout_s >= LIBRARY_TIMEOUT_S)
                return;
        (void)snprintf(seconds, sizeof(seconds), "%" PRIu32, timeout_s);
        /* NOLINTBEGIN(concurrency-mt-unsafe): a process of one thread */
        (void)setenv("DEBUGINFOD_TIMEOUT", seconds, 1);
        (void)setenv("DEBUGINFOD_RETRY_LIMIT", "0", 1);
        /* NOLINTEND(concurrency-mt-unsafe) */
}

static int begin_fetch(struct fetcher *f)
{
        set_timeout(f);
        if (!load_library(&f->library))
                return -ENOTSUP;
        f->client = f->library.begin();
        if (!f->client)
                return -ENOMEM;
        f->library.set_user_data(f->client, f);
        f->library.set_progressfn(f->client, watch);
        return 0;
}

int debuginfod_client_main(const struct debuginfod_request *requests, size_t n_requests,
                           const struct debuginfod_options *options, int pipe_fd)
{
        struct fetcher f = { .options = options, .pipe_fd = pipe_fd };
        int fds[1] = { pipe_fd };
        int r;

        set_home(options);
        r = confinement_enter_writing((struct confinement_user){ options->run_as_uid, options->run_as_gid },
                                      fds, 1, find_bytes_max(&f), NULL);
        f.pipe_fd = fds[0];
        if (r == 0)
                r = begin_fetch(&f);
        if (r == 0)
                r = fetch_all(&f, requests, n_requests);
        return send_message(&f, &(struct debuginfod_message){ .kind = DEBUGINFOD_MESSAGE_END, .code = r }) < 0
                       ? EXIT_FAILURE
                       : EXIT_SUCCESS;
}
