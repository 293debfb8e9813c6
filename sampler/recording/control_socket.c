/* SPDX-License-Identifier: MIT */
#include "sampler/recording/control_socket.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define QUEUE_LENGTH 128

/* ---- where --------------------------------------------------------------------------------------------- */

int control_socket_folder(unsigned i, uint32_t uid, char ret_path[CONTROL_SOCKET_PATH])
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *runtime = uid == geteuid() ? getenv("XDG_RUNTIME_DIR") : NULL;
        struct stat status;
        char parent[CONTROL_SOCKET_PATH];
        int n;

        if (i == 2)
                n = snprintf(ret_path, CONTROL_SOCKET_PATH, "/tmp/hyprof-%u", uid);
        else if (i == 1)
                n = snprintf(parent, sizeof(parent), "/run/user/%u", uid);
        else
                n = snprintf(parent, sizeof(parent), "%s", runtime && runtime[0] == '/' ? runtime : "");
        if (i < 2) {
                if (n <= 0 || n >= (int)sizeof(parent) || stat(parent, &status) < 0 || status.st_uid != uid)
                        return -ENOENT;
                n = snprintf(ret_path, CONTROL_SOCKET_PATH, "%.98s/hyprof", parent);
        }
        /* The path leaves room for the name of a socket. */
        return n < CONTROL_SOCKET_PATH - 24 ? 0 : -ENOENT;
}

int control_socket_open_folder(const char *path, uint32_t uid, struct error *err)
{
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat status;
        int r = fd;

        if (fd < 0)
                return error_errno(err, "%s", path);
        if (fstat(fd, &status) < 0)
                r = error_errno(err, "%s", path);
        else if (status.st_uid != uid)
                r = error_set(err, -EPERM, "%s: it belongs to another user", path);
        else if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
                r = error_set(err, -EPERM, "%s: other users have rights in it; chmod 700 takes them", path);
        if (r < 0)
                io_close(&fd);
        return r;
}

/*
 * The socket gets its final name only when it listens: a socket that refuses connections is taken for that
 * of a killed recorder.  The folder is the user's alone, so no other user can connect before the mode is
 * set.
 */
static int bind_name(int fd, const char *path, struct error *err)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        int r = 0;

        (void)snprintf(at.sun_path, sizeof(at.sun_path), "%.100s.new", path);
        (void)unlink(at.sun_path); /* of an earlier process with our number */
        if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
                return error_errno(err, "%s", path);
        if (chmod(at.sun_path, 0600) < 0 || listen(fd, QUEUE_LENGTH) < 0 || rename(at.sun_path, path) < 0) {
                r = error_errno(err, "%s", path);
                (void)unlink(at.sun_path);
        }
        return r;
}

static int open_in(struct control_socket *s, const char *folder, struct error *err)
{
        int folder_fd, r;

        (void)mkdir(folder, 0700); /* opening it reports what is wrong */
        folder_fd = control_socket_open_folder(folder, geteuid(), err);
        if (folder_fd < 0)
                return folder_fd;
        io_close(&folder_fd);
        (void)snprintf(s->path, sizeof(s->path), "%.80s/%d" CONTROL_SOCKET_ENDING, folder, (int)getpid());
        s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (s->fd < 0)
                return error_errno(err, "socket");
        r = bind_name(s->fd, s->path, err);
        if (r < 0)
                control_socket_close(s);
        return r;
}

int control_socket_open(struct control_socket *s, struct error *err)
{
        char folder[CONTROL_SOCKET_PATH];
        int r = -ENOENT;

        *s = (struct control_socket)CONTROL_SOCKET_NONE;
        for (unsigned i = 0; r < 0 && i < CONTROL_SOCKET_FOLDERS; i++)
                if (control_socket_folder(i, geteuid(), folder) == 0)
                        r = open_in(s, folder, err);
        return r;
}

void control_socket_close(struct control_socket *s)
{
        for (size_t i = 0; i < s->n_held; i++)
                io_close(&s->held[i]);
        s->n_held = 0;
        if (s->fd >= 0)
                (void)unlink(s->path);
        io_close(&s->fd);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* True if the other end is this user, or root. */
static bool is_of(int connection, uint32_t uid)
{
        struct ucred peer = { .pid = 0 };
        socklen_t n = sizeof(peer);

        return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
               (peer.uid == uid || peer.uid == 0);
}

void control_socket_answer(int *connection, const char *words)
{
        if (*connection >= 0)
                (void)!send(*connection, words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
        io_close(connection);
}

static void hold(struct control_socket *s, int connection)
{
        if (s->n_held == CONTROL_SOCKET_HELD_MAX) { /* the oldest has had the most time to say something */
                control_socket_answer(&s->held[0], CONTROL_SOCKET_BUSY);
                s->n_held--;
                memmove(s->held, s->held + 1, s->n_held * sizeof(s->held[0]));
        }
        s->held[s->n_held++] = connection;
}

static void accept_new(struct control_socket *s)
{
        struct pollfd fd = { .fd = s->fd, .events = POLLIN };

        for (unsigned n = 0; n < QUEUE_LENGTH && poll(&fd, 1, 0) > 0; n++) {
                int connection = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (connection < 0)
                        return;
                if (is_of(connection, geteuid()))
                        hold(s, connection);
                else
                        io_close(&connection);
        }
}

int control_socket_next(struct control_socket *s, char *ret_text, int *ret_connection)
{
        if (s->fd < 0)
                return 0;
        accept_new(s);
        for (size_t i = 0; i < s->n_held;) {
                ssize_t n = recv(s->held[i], ret_text, CONTROL_SOCKET_BYTES - 1, MSG_DONTWAIT);

                if (n < 0 && errno == EAGAIN) {
                        i++;
                        continue;
                }
                *ret_connection = s->held[i];
                s->n_held--;
                memmove(s->held + i, s->held + i + 1, (s->n_held - i) * sizeof(s->held[0]));
                if (n > 0) {
                        ret_text[n] = '\0';
                        return 1;
                }
                io_close(ret_connection);
        }
        return 0;
}

/* ---- the other side ------------------------------------------------------------------------------------ */

int control_socket_call(const char *path, uint32_t uid, const char *request, struct error *err)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int r = fd;

        if (fd < 0)
                return error_errno(err, "socket");
        if (snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= (int)sizeof(at.sun_path))
                r = error_set(err, -ENAMETOOLONG, "%s: too long for a socket", path);
        else if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
                r = error_errno(err, "%s", path);
        else if (!is_of(fd, uid))
                r = error_set(err, -EPERM, "%s: another user listens there", path);
        else if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
                r = error_errno(err, "send to %s", path);
        if (r < 0)
                io_close(&fd);
        return r;
}

int control_socket_take(int fd, char *ret_answer, struct error *err)
{
        ssize_t n = recv(fd, ret_answer, CONTROL_SOCKET_BYTES - 1, 0);

        if (n < 0)
                return error_errno(err, "receive the recorder's answer");
        if (n == 0)
                return error_set(err, -EPIPE, "the recorder ended without an answer");
        ret_answer[n] = '\0';
        return 0;
}

bool control_socket_may_retry(int code, const char *answer)
{
        return code == -ECONNRESET || (code == 0 && strcmp(answer, CONTROL_SOCKET_BUSY) == 0);
}

/* One try of control_socket_ask(). */
static int ask_once(const char *path, uint32_t uid, const char *request, int wait_ms, char *ret_answer,
                    struct error *err)
{
        int fd = control_socket_call(path, uid, request, err);
        struct pollfd answer = { .fd = fd, .events = POLLIN };
        int r = fd < 0 ? fd : 0;

        if (r == 0 && poll(&answer, 1, wait_ms) == 0)
                r = error_set(err, -ETIMEDOUT,
                              "the recorder has not answered for %d ms: it is stopped or busy", wait_ms);
        if (r == 0)
                r = control_socket_take(fd, ret_answer, err);
        io_close(&fd);
        return r;
}

/* Repeats the request where needed: a busy recorder closes connections whose request it has not read. */
int control_socket_ask(const char *path, uint32_t uid, const char *request, int wait_ms, char *ret_answer,
                       struct error *err)
{
        uint64_t until_ns = wait_ms < 0 ? UINT64_MAX : clock_raw_ns() + (uint64_t)wait_ms * NS_PER_MS;

        for (;;) {
                struct error why = ERROR_NONE;
                int r = ask_once(path, uid, request, wait_ms, ret_answer, &why);
                bool is_late = clock_raw_ns() >= until_ns;

                if (!is_late && (r == -EAGAIN || control_socket_may_retry(r, ret_answer))) {
                        (void)poll(NULL, 0, PACE_CONTROL_RETRY_MS);
                        continue;
                }
                if (r == 0 && control_socket_may_retry(0, ret_answer))
                        return error_set(err, -EBUSY, "the recorder is busy: too many commands at once");
                return r < 0 ? error_set(err, r, "%s", why.text) : 0;
        }
}
