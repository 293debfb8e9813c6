/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_server.h"

#include "base/io.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PIECE_BYTES     ((size_t)64 << 10)
#define TABLE_BYTES_MAX (UINT64_C(16) << 20) /* some 100,000 connections: reading them takes time */
#define ESTABLISHED     1

static const char *skip_fields(const char *at, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                at += strspn(at, " ");
                at += strcspn(at, " ");
        }
        return at;
}

static bool parse_number(const char **at, int base, unsigned long *ret)
{
        char *end;

        *ret = strtoul(*at, &end, base);
        if (end == *at || *end != ' ')
                return false;
        *at = end;
        return true;
}

/*
 * The fields of a line after both addresses: state, queues, timer, retransmissions, user, timeout, inode.
 * A closed end has no inode, and user 0: it belongs to no process, and not to root.
 */
static bool parse_owner(const char *at, uint32_t *ret_uid)
{
        unsigned long state, uid, inode;

        if (!parse_number(&at, 16, &state))
                return false;
        at = skip_fields(at, 3);
        if (!parse_number(&at, 10, &uid))
                return false;
        at = skip_fields(at, 1);
        if (!parse_number(&at, 10, &inode) || state != ESTABLISHED || inode == 0 || uid > UINT32_MAX)
                return false;
        *ret_uid = (uint32_t)uid;
        return true;
}

/* Reads the next piece after what is left of the last one.  Returns how much there is, or -errno. */
static ssize_t read_piece(int fd, char *piece, size_t n_left, uint64_t *offset)
{
        size_t got = 0;
        int r = io_pread_full(fd, piece + n_left, PIECE_BYTES - n_left, *offset, &got, NULL);

        *offset += got;
        if (r == 0 && got == 0)
                r = -ENOENT;
        return r < 0 ? r : (ssize_t)(n_left + got);
}

static int search_table(int fd, const char *wanted, char *piece, uint32_t *ret_uid)
{
        uint64_t offset = 0;
        size_t n_left = 0;

        while (offset < TABLE_BYTES_MAX) {
                ssize_t n = read_piece(fd, piece, n_left, &offset);
                const char *line;
                char *end;

                if (n < 0)
                        return (int)n;
                end = memrchr(piece, '\n', (size_t)n);
                if (!end)
                        return -EBADMSG;
                *end = '\0'; /* only whole lines are looked at */
                line = strstr(piece, wanted);
                if (line)
                        return parse_owner(line + strlen(wanted), ret_uid) ? 0 : -ENOENT;
                n_left = (size_t)(piece + n - (end + 1));
                memmove(piece, end + 1, n_left);
        }
        return -ENOENT;
}

int relay_peer_find_tcp_user(int tcp_fd, const struct sockaddr_in *peer, const struct sockaddr_in *own,
                             uint32_t *ret_uid)
{
        char wanted[64], *piece = malloc(PIECE_BYTES);
        int r;

        if (!piece)
                return -ENOMEM;
        (void)snprintf(wanted, sizeof(wanted), " %08" PRIX32 ":%04X %08" PRIX32 ":%04X ",
                       peer->sin_addr.s_addr, ntohs(peer->sin_port), own->sin_addr.s_addr,
                       ntohs(own->sin_port));
        r = search_table(tcp_fd, wanted, piece, ret_uid);
        free(piece);
        return r;
}

int relay_peer_find_user(int fd, int tcp_fd, uint32_t *ret_uid)
{
        union {
                struct sockaddr any;
                struct sockaddr_in port;
        } own = { .any.sa_family = AF_UNSPEC }, peer = { .any.sa_family = AF_UNSPEC };
        socklen_t n_own = sizeof(own), n_peer = sizeof(peer), n;
        struct ucred owner;

        if (getsockname(fd, &own.any, &n_own) < 0 || getpeername(fd, &peer.any, &n_peer) < 0)
                return -errno;
        if (own.any.sa_family == AF_INET)
                return relay_peer_find_tcp_user(tcp_fd, &peer.port, &own.port, ret_uid);
        n = sizeof(owner);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &n) < 0)
                return -errno;
        *ret_uid = owner.uid;
        return 0;
}
