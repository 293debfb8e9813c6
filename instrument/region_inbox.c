/* SPDX-License-Identifier: MIT */
#include "instrument/region_inbox.h"

#include "base/error.h"
#include "base/io.h"
#include "instrument/client_abi.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Binds an address that states the PID of the listener, which clients compare, and that no process can have
 * bound before, because the rest of it is random.
 */
static int bind_own_name(struct region_inbox *inbox)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        uint64_t number;
        int n;

        if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
                return -1;
        n = snprintf(inbox->address, sizeof(inbox->address), CLIENT_ABI_ADDRESS_PREFIX "%d-%016" PRIx64,
                     (int)getpid(), number);
        memcpy(at.sun_path + 1, inbox->address + 1, (size_t)n - 1); /* a NUL makes it abstract */
        return bind(inbox->fd, (const struct sockaddr *)&at,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n));
}

int region_inbox_open(struct region_inbox *inbox, struct error *err)
{
        int r;

        *inbox = (struct region_inbox){ .address = "" };
        inbox->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (inbox->fd < 0)
                return error_errno(err, "socket for client regions");
        if (bind_own_name(inbox) < 0 || listen(inbox->fd, SOMAXCONN) < 0) {
                r = error_errno(err, "socket for client regions");
                io_close(&inbox->fd);
                return r;
        }
        return 0;
}

void region_inbox_close(struct region_inbox *inbox)
{
        for (size_t i = 0; i < inbox->n_held; i++)
                io_close(&inbox->held[i].connection);
        inbox->n_held = 0;
        io_close(&inbox->fd);
}

/* The data of a connection so far. */
enum delivery { DELIVERY_NOT_YET, DELIVERY_NONE, DELIVERY_FD, DELIVERY_NO_REGION };

/* Only one descriptor was asked for: any others are closed. */
static enum delivery receive_fd(int connection, int *ret_fd)
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
        ssize_t n = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

        if (n < 0)
                return errno == EAGAIN ? DELIVERY_NOT_YET : DELIVERY_NONE;
        rights = CMSG_FIRSTHDR(&message);
        *ret_fd = -1;
        if (!rights)
                return n == 1 ? DELIVERY_NO_REGION : DELIVERY_NONE;
        if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
            rights->cmsg_len != CMSG_LEN(sizeof(int)))
                return DELIVERY_NONE;
        memcpy(ret_fd, CMSG_DATA(rights), sizeof(*ret_fd));
        return DELIVERY_FD;
}

/*
 * Returns the PID of the sender, or 0 if its user may not connect.  Root accepts every user: a program that
 * root records may become any user.
 */
static uint32_t pid_of(const struct region_inbox *inbox, int connection)
{
        struct ucred peer = { .pid = 0 };
        socklen_t n = sizeof(peer);

        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.pid <= 0 ||
            (peer.uid != geteuid() && geteuid() != 0 && !inbox->any_user))
                return 0;
        return (uint32_t)peer.pid;
}

static void forget_held(struct region_inbox *inbox, size_t i)
{
        io_close(&inbox->held[i].connection);
        inbox->n_held--;
        memmove(inbox->held + i, inbox->held + i + 1, (inbox->n_held - i) * sizeof(*inbox->held));
}

/*
 * Keeps a connection whose sender was interrupted.  If there is no room, the oldest is dropped, as it may
 * never send anything.
 */
static void hold(struct region_inbox *inbox, struct region_inbox_sender sender)
{
        if (inbox->n_held == REGION_INBOX_HELD_MAX)
                forget_held(inbox, 0);
        inbox->held[inbox->n_held++] = sender;
}

/* Looks at the held connections.  Returns 1 if one of them has sent by now. */
static int next_held(struct region_inbox *inbox, uint32_t *ret_pid, int *ret_fd)
{
        for (size_t i = 0; i < inbox->n_held;) {
                uint32_t pid = inbox->held[i].pid;
                enum delivery delivery = receive_fd(inbox->held[i].connection, ret_fd);

                if (delivery == DELIVERY_NOT_YET) {
                        i++;
                        continue;
                }
                forget_held(inbox, i);
                if (delivery != DELIVERY_NONE) {
                        *ret_pid = pid;
                        return 1;
                }
        }
        return 0;
}

/* The kernel makes a socket for accept4(2) before it checks for a waiting connection. */
static bool has_sender(const struct region_inbox *inbox)
{
        struct pollfd fd = { .fd = inbox->fd, .events = POLLIN };

        return poll(&fd, 1, 0) > 0;
}

int region_inbox_next(struct region_inbox *inbox, uint32_t *ret_pid, int *ret_fd)
{
        int connection;

        if (next_held(inbox, ret_pid, ret_fd) == 1)
                return 1;
        while (has_sender(inbox) &&
               (connection = accept4(inbox->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                uint32_t pid = pid_of(inbox, connection);
                enum delivery delivery = pid != 0 ? receive_fd(connection, ret_fd) : DELIVERY_NONE;

                if (delivery == DELIVERY_NOT_YET) {
                        hold(inbox, (struct region_inbox_sender){ .connection = connection, .pid = pid });
                        continue;
                }
                io_close(&connection);
                if (delivery != DELIVERY_NONE) {
                        *ret_pid = pid;
                        return 1;
                }
        }
        return 0;
}
