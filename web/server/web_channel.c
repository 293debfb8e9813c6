/* SPDX-License-Identifier: MIT */
#include "web/server/web_channel.h"

#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct packet_head {
        uint32_t kind, id;
        int32_t number;
        uint32_t n_text_bytes;
};

/* Room for the descriptors of a packet, as the kernel wants it. */
union packet_control {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(WEB_CHANNEL_FDS * sizeof(int))];
};

void web_message_init(struct web_message *m, enum web_message_kind kind, uint32_t id)
{
        *m = (struct web_message){ .kind = kind, .id = id };
        for (int i = 0; i < WEB_CHANNEL_FDS; i++)
                m->fds[i] = -1;
}

void web_message_deinit(struct web_message *m)
{
        byte_buffer_deinit(&m->text);
        for (int i = 0; i < WEB_CHANNEL_FDS; i++)
                io_close(&m->fds[i]);
}

int web_channel_send(int fd, const struct web_message *m, struct error *err)
{
        struct packet_head head = { m->kind, m->id, m->number, (uint32_t)m->text.used_bytes };
        struct iovec parts[2] = { { &head, sizeof(head) }, { m->text.data, m->text.used_bytes } };
        union packet_control control = { .bytes = { 0 } };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
        ssize_t sent;

        if (m->text.used_bytes > WEB_CHANNEL_TEXT_MAX)
                return error_set(err, -EOVERFLOW, "a message is too long");
        if (m->fds[0] >= 0) {
                control.head.cmsg_level = SOL_SOCKET;
                control.head.cmsg_type = SCM_RIGHTS;
                control.head.cmsg_len = CMSG_LEN(sizeof(m->fds));
                memcpy(CMSG_DATA(&control.head), m->fds, sizeof(m->fds));
                message.msg_control = control.bytes;
                message.msg_controllen = sizeof(control.bytes);
        }
        do
                sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        return sent < 0 ? error_errno(err, "a message to the other process") : 0;
}

static void take_fds(struct web_message *m, struct msghdr *message)
{
        for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
                size_t n;

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                memcpy(m->fds, CMSG_DATA(c), (n < WEB_CHANNEL_FDS ? n : WEB_CHANNEL_FDS) * sizeof(int));
        }
}

int web_channel_receive(int fd, struct web_message *ret, struct error *err)
{
        struct packet_head head = { .kind = 0 };
        union packet_control control = { .bytes = { 0 } };
        struct iovec parts[2] = { { &head, sizeof(head) }, { .iov_len = WEB_CHANNEL_TEXT_MAX } };
        struct msghdr message = { .msg_iov = parts,
                                  .msg_iovlen = 2,
                                  .msg_control = control.bytes,
                                  .msg_controllen = sizeof(control.bytes) };
        ssize_t got;

        web_message_init(ret, WEB_MESSAGE_ASK, 0);
        parts[1].iov_base = byte_buffer_reserve(&ret->text, WEB_CHANNEL_TEXT_MAX);
        if (!parts[1].iov_base)
                return error_set(err, -ENOMEM, "no memory for a message");
        do
                got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        while (got < 0 && errno == EINTR);
        if (got < 0 && (errno == EAGAIN || errno == ECONNRESET))
                return errno == EAGAIN ? -EAGAIN : 0;
        if (got <= 0)
                return got == 0 ? 0 : error_errno(err, "a message of the other process");
        take_fds(ret, &message);
        if ((size_t)got < sizeof(head) || (size_t)got - sizeof(head) != head.n_text_bytes)
                return error_set(err, -EBADMSG, "a message of the other process is malformed");
        ret->kind = head.kind;
        ret->id = head.id;
        ret->number = head.number;
        ret->text.used_bytes = head.n_text_bytes;
        return 1;
}
