/* SPDX-License-Identifier: MIT */
/*
 * web/server/web_channel.c: the front reads or refuses any packet of the confined server, takes no more text
 * than there is, and keeps no descriptor; what is read is read again the same
 */
#include "base/error.h"
#include "base/io.h"
#include "web/server/web_channel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(bool holds)
{
        if (!holds)
                abort();
}

static bool is_same(const struct web_message *a, const struct web_message *b)
{
        return a->kind == b->kind && a->id == b->id && a->number == b->number &&
               a->text.used_bytes == b->text.used_bytes &&
               (a->text.used_bytes == 0 || memcmp(a->text.data, b->text.data, a->text.used_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct web_message message, again;
        struct error err = ERROR_NONE;
        int fds[2], before, after;

        require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
        before = dup(fds[0]); /* the lowest free number, which is the same where none was lost */
        require(before >= 0 && close(before) == 0);
        if (send(fds[0], data, n_bytes, 0) == (ssize_t)n_bytes) {
                int r = web_channel_receive(fds[1], &message, &err);

                require(r <= 1);
                if (r == 1) {
                        require(message.text.used_bytes <= n_bytes && message.fds[0] < 0);
                        require(web_channel_send(fds[0], &message, NULL) == 0);
                        require(web_channel_receive(fds[1], &again, NULL) == 1 && is_same(&message, &again));
                        web_message_deinit(&again);
                }
                web_message_deinit(&message);
        }
        after = dup(fds[0]);
        require(after == before);
        io_close(&after);
        io_close(&fds[0]);
        io_close(&fds[1]);
        return 0;
}
