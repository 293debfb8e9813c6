/* SPDX-License-Identifier: MIT */
#include "instrument/client/announcement.h"

#include <errno.h>
#include <stddef.h>
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
        r = connect(socket_fd, (const struct sockaddr *)&to,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0
                    ? -errno
                    : send_fd(socket_fd, fd);
        (void)close(socket_fd);
        return r;
}
