/* SPDX-License-Identifier: MIT */
#include "instrument/region_inbox.h"

#include "base/error.h"
#include "base/io.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int region_inbox_open(struct region_inbox *inbox, struct error *err)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        socklen_t n = sizeof(at);
        size_t name_bytes;
        int r;

        *inbox = (struct region_inbox){ .address = "" };
        inbox->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (inbox->fd < 0)
                return error_errno(err, "socket for client regions");
        /* An address of the family alone lets the kernel choose a free abstract one. */
        if (bind(inbox->fd, (const struct sockaddr *)&at, sizeof(at.sun_family)) < 0 ||
            getsockname(inbox->fd, (struct sockaddr *)&at, &n) < 0 || listen(inbox->fd, SOMAXCONN) < 0) {
                r = error_errno(err, "socket for client regions");
                io_close(&inbox->fd);
                return r;
        }
        name_bytes = n - offsetof(struct sockaddr_un, sun_path); /* with the NUL in front */
        if (name_bytes >= sizeof(inbox->address))
                name_bytes = sizeof(inbox->address) - 1;
        memcpy(inbox->address, at.sun_path, name_bytes);
        inbox->address[0] = '@';
        inbox->address[name_bytes] = '\0';
        return 0;
}

void region_inbox_close(struct region_inbox *inbox)
{
        io_close(&inbox->fd);
}

/* The descriptor in a message, or -1.  More than one is more than was asked for: the rest is closed. */
static int receive_fd(int connection)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr header; /* for its alignment */
        } control;
        char byte;
        struct iovec data = { .iov_base = &byte, .iov_len = 1 };
        struct msghdr message = {
                .msg_iov = &data,
                .msg_iovlen = 1,
                .msg_control = control.bytes,
                .msg_controllen = sizeof(control.bytes),
        };
        const struct cmsghdr *rights;
        int fd = -1;

        if (recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
                return -1;
        rights = CMSG_FIRSTHDR(&message);
        if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
            rights->cmsg_len == CMSG_LEN(sizeof(int)))
                memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
        return fd;
}

int region_inbox_next(struct region_inbox *inbox, uint32_t *ret_pid, int *ret_fd)
{
        int connection;

        while ((connection = accept4(inbox->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                struct ucred peer = { .pid = 0 };
                socklen_t n = sizeof(peer);
                int fd = receive_fd(connection);

                if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.pid <= 0 ||
                    peer.uid != geteuid())
                        io_close(&fd);
                io_close(&connection);
                if (fd < 0)
                        continue;
                *ret_pid = (uint32_t)peer.pid;
                *ret_fd = fd;
                return 1;
        }
        return 0;
}
