/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/control_socket.c, control_search.c: any packet is a request that ends with a NUL, and any
 * answer is read as a status whose values have their room; a connection is lost by neither
 */
#include "base/io.h"
#include "sampler/recording/control_search.h"
#include "sampler/recording/control_socket.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(bool holds)
{
        if (!holds)
                abort();
}

/* A recorder's socket, at an address that the kernel chooses. */
static int listen_somewhere(struct sockaddr_un *at, socklen_t *n)
{
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
        *n = sizeof(*at);
        require(fd >= 0 && bind(fd, (const struct sockaddr *)at, sizeof(at->sun_family)) == 0 &&
                listen(fd, 1) == 0 && getsockname(fd, (struct sockaddr *)at, n) == 0);
        return fd;
}

/* The recorder reads the bytes, and answers with the same. */
static void take_request(const uint8_t *data, size_t n_bytes, char *answer)
{
        struct control_socket s = CONTROL_SOCKET_NONE;
        char text[CONTROL_SOCKET_BYTES];
        struct sockaddr_un at;
        socklen_t n_at;
        int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), connection = -1, r;

        s.fd = listen_somewhere(&at, &n_at);
        require(peer >= 0 && connect(peer, (const struct sockaddr *)&at, n_at) == 0);
        require(control_socket_next(&s, text, &connection) == 0 && s.n_held == 1);
        if (n_bytes > 0)
                require(send(peer, data, n_bytes, 0) == (ssize_t)n_bytes);
        else
                require(shutdown(peer, SHUT_WR) == 0);
        r = control_socket_next(&s, text, &connection);
        require(r == (n_bytes > 0) && s.n_held == 0);
        if (r == 1) {
                size_t n = n_bytes < sizeof(text) - 1 ? n_bytes : sizeof(text) - 1;

                require(text[n] == '\0' && memcmp(text, data, n) == 0);
                control_socket_answer(&connection, text);
        }
        require(connection == -1);
        if (control_socket_take(peer, answer, NULL) == 0)
                require(n_bytes > 0 && strcmp(answer, text) == 0);
        io_close(&peer);
        io_close(&s.fd);
}

static void read_status(const char *answer)
{
        static const char *const keys[] = { "recorder_pid", "state",         "elapsed_ns",
                                            "trace",        "attached_pids", "" };
        struct control_recorder *recorder = calloc(1, sizeof(*recorder));

        require(recorder);
        memcpy(recorder->status, answer, CONTROL_SOCKET_BYTES);
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
                char value[CONTROL_STATUS_VALUE];

                memset(value, 1, sizeof(value));
                control_recorder_find(recorder, keys[i], value);
                require(memchr(value, '\0', sizeof(value)));
                require(value[0] == '\0' || strstr(answer, value));
        }
        for (uint64_t pid = 0; pid < 20; pid++)
                (void)control_recorder_is(recorder, pid * pid * pid * pid);
        free(recorder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        char answer[CONTROL_SOCKET_BYTES] = "";

        take_request(data, n_bytes, answer);
        (void)control_socket_may_retry(0, answer);
        read_status(answer);
        return 0;
}
