/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_address.h"

#include "base/error.h"
#include "base/io.h"
#include "sampler/pace/pace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define QUEUE_LENGTH 8
#define PORT_MAX     65535

/* ---- words --------------------------------------------------------------------------------------------- */

static int parse_port(const char *text, uint16_t *ret)
{
        char *end;
        unsigned long number = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || *end != '\0' || number > PORT_MAX)
                return -EINVAL;
        *ret = (uint16_t)number;
        return 0;
}

static bool is_loopback(const char *host)
{
        struct in_addr address;

        if (host[0] == '\0' || strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
            strcmp(host, "[::1]") == 0)
                return true;
        return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

int relay_address_parse(const char *text, struct relay_address *ret, struct error *err)
{
        const char *colon = strrchr(text, ':');
        char host[RELAY_ADDRESS_BYTES];

        *ret = (struct relay_address){ .path = "" };
        if (strchr(text, '/')) {
                if (snprintf(ret->path, sizeof(ret->path), "%s", text) >= (int)sizeof(ret->path))
                        return error_set(err, -EINVAL, "%s: longer than the path of a socket can be", text);
                return 0;
        }
        if (parse_port(colon ? colon + 1 : text, &ret->port) < 0)
                return error_set(err, -EINVAL,
                                 "%s: expected a port, HOST:PORT, or the path of a socket with a / in it",
                                 text);
        (void)snprintf(host, sizeof(host), "%.*s", colon ? (int)(colon - text) : 0, text);
        if (!is_loopback(host))
                return error_set(err, -EPERM,
                                 "%s is not this machine: only its own ports and sockets are used", host);
        return 0;
}

/* ---- sockets ------------------------------------------------------------------------------------------- */

union any_address {
        struct sockaddr any;
        struct sockaddr_in port;
        struct sockaddr_un path;
};

static socklen_t encode(const struct relay_address *a, union any_address *ret)
{
        memset(ret, 0, sizeof(*ret));
        if (a->path[0] != '\0') {
                ret->path.sun_family = AF_UNIX;
                memcpy(ret->path.sun_path, a->path, sizeof(ret->path.sun_path));
                return sizeof(ret->path);
        }
        ret->port.sin_family = AF_INET;
        ret->port.sin_port = htons(a->port);
        ret->port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return sizeof(ret->port);
}

static int open_socket(const struct relay_address *a, struct error *err)
{
        int fd = socket(a->path[0] != '\0' ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return fd < 0 ? error_errno(err, "socket") : fd;
}

static int refuse_address(const struct relay_address *a, struct error *err)
{
        if (errno == EAGAIN || errno == EINPROGRESS)
                errno = ETIMEDOUT;
        return a->path[0] != '\0' ? error_errno(err, "%s", a->path) : error_errno(err, "port %u", a->port);
}

int relay_address_connect(const struct relay_address *a, struct error *err)
{
        static const struct timeval patience = { .tv_sec = PACE_RELAY_CONNECT_S }, endless = { .tv_sec = 0 };
        static const int one = 1;
        union any_address to;
        socklen_t n = encode(a, &to);
        int fd = open_socket(a, err);
        int r;

        if (fd < 0)
                return fd;
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)); /* of connect(2), too */
        if (connect(fd, &to.any, n) < 0) {
                r = refuse_address(a, err);
                io_close(&fd);
                return r;
        }
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &endless, sizeof(endless));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
                         sizeof(one)); /* fails for a Unix socket, where it is not needed */
        return fd;
}

/* Removes a socket on which no process listens any more; a used socket, and a file, stay. */
static void remove_stale(const struct relay_address *a)
{
        struct stat status;
        int fd;

        if (lstat(a->path, &status) < 0 || !S_ISSOCK(status.st_mode))
                return;
        fd = relay_address_connect(a, NULL);
        if (fd == -ECONNREFUSED)
                (void)unlink(a->path);
        io_close(&fd);
}

int relay_address_listen(struct relay_address *a, struct error *err)
{
        static const int one = 1;
        union any_address at;
        socklen_t n = encode(a, &at);
        mode_t mask;
        int fd, r = 0;

        if (a->path[0] != '\0')
                remove_stale(a);
        fd = open_socket(a, err);
        if (fd < 0)
                return fd;
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        mask = umask(0177);
        if (bind(fd, &at.any, n) < 0 || listen(fd, QUEUE_LENGTH) < 0)
                r = refuse_address(a, err);
        (void)umask(mask);
        n = sizeof(at);
        if (r == 0 && a->path[0] == '\0' && getsockname(fd, &at.any, &n) == 0)
                a->port = ntohs(at.port.sin_port);
        if (r < 0) {
                io_close(&fd);
                return r;
        }
        return fd;
}

void relay_address_remove(const struct relay_address *a)
{
        if (a->path[0] != '\0')
                (void)unlink(a->path);
}
