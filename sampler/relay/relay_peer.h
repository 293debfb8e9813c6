/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_peer.h - which user has the other end of a connection within this machine
 *
 * Way of the data:  relay_server (a connection), /proc/net/tcp -> [relay_peer] -> relay_server
 */
#ifndef SAMPLER_RELAY_RELAY_PEER_H
#define SAMPLER_RELAY_RELAY_PEER_H

#include <stdint.h>

struct sockaddr_in;

/*
 * relay_peer_find_user() - of a connected socket
 * @tcp_fd:  /proc/net/tcp, for a connection to a port; borrowed
 * Returns 0; -ENOENT if no process has the other end any more; -ENOMEM, -errno.
 */
int relay_peer_find_user(int fd, int tcp_fd, uint32_t *ret_uid);

/* Part of it, for tests: of the connection from @peer to @own. */
int relay_peer_find_tcp_user(int tcp_fd, const struct sockaddr_in *peer, const struct sockaddr_in *own,
                             uint32_t *ret_uid);

#endif /* SAMPLER_RELAY_RELAY_PEER_H */
