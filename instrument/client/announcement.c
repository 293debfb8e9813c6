/* SPDX-License-Identifier: MIT */
#include "instrument/client/client.h"

#include "instrument/client_abi.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int send_fd(int socket_fd, int fd)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr header; /* for its alignment */
        } control;
        char byte = 0;
        struct iovec data = { .iov_base = &byte, .iov_len = 1 };
        struct msghdr message = {
                .msg_iov = &data,
                .msg_iovlen = 1,
                .msg_control = control.bytes,
                .msg_controllen = sizeof(control.bytes),
        };
        struct cmsghdr *rights;

        memset(&control, 0, sizeof(control));
        rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
        if (fd < 0) {
                message.msg_control = NULL;
                message.msg_controllen = 0;
        }
        return sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The PID in an address with CLIENT_ABI_ADDRESS_PREFIX; 0 for any other address. */
static uint64_t pid_in(const char *address)
{
        static const char prefix[] = CLIENT_ABI_ADDRESS_PREFIX;
        const char *at = address + sizeof(prefix) - 1;
        uint64_t pid = 0;

        if (strncmp(address, prefix, sizeof(prefix) - 1) != 0)
                return 0;
        for (; *at >= '0' && *at <= '9' && pid <= INT32_MAX; at++)
                pid = pid * 10 + (uint64_t)(*at - '0');
        return pid;
}

/*
 * Any process may bind the name once the recorder has ended, and every process can read it.  So the client
 * asks the kernel who listens: it must be our own user or root, and the recorder itself where its PID can
 * be seen.  The kernel shows a PID of another namespace as 0, and a user of another namespace as one who is
 * neither our own nor root.
 */
static bool is_recorder(int socket_fd, const char *address)
{
        struct ucred peer = { .pid = 0 };
        socklen_t n = sizeof(peer);
        uint64_t pid = pid_in(address);

        if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || n != sizeof(peer))
                return false;
        if (peer.uid != geteuid() && peer.uid != 0)
                return false;
        return pid == 0 || peer.pid == 0 || pid == (uint64_t)peer.pid;
}

int announcement_send(const char *address, int fd)
{
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        size_t n = strlen(address);
        int socket_fd, r;

        if (n < 2 || address[0] != '@' || n > sizeof(to.sun_path))
                return -EINVAL;
        memcpy(to.sun_path + 1, address + 1, n - 1); /* an abstract address begins with a NUL */

        /* A backlog that is full must not hold the program up. */
        socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (socket_fd < 0)
                return -errno;
        if (connect(socket_fd, (const struct sockaddr *)&to,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
                r = -errno;
        else
                r = is_recorder(socket_fd, address) ? send_fd(socket_fd, fd) : -ECONNREFUSED;
        (void)close(socket_fd);
        return r;
}
