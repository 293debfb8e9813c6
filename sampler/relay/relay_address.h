/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_address.h - where a recorder listens: a port of this machine, or a socket in a folder
 *
 * Way of the data:  command line -> [relay_address] -> relay_process, relay_intake
 *
 * Other machines come through ssh -L, adb forward or a mounted socket, which bring their own keys: an
 * address that is not of this machine is refused.
 */
#ifndef SAMPLER_RELAY_RELAY_ADDRESS_H
#define SAMPLER_RELAY_RELAY_ADDRESS_H

#include <stdint.h>

struct error;

#define RELAY_ADDRESS_BYTES 108

struct relay_address {
        char path[RELAY_ADDRESS_BYTES]; /* empty = a port of 127.0.0.1 */
        uint16_t port;                  /* 0 = any that is free */
};

/*
 * relay_address_parse() - PORT, localhost:PORT, 127.x.y.z:PORT, [::1]:PORT, or a path with a slash
 * Returns 0; -EINVAL for a text that is not an address; -EPERM for one of another machine: @err names the
 * host.
 */
int relay_address_parse(const char *text, struct relay_address *ret, struct error *err);

/*
 * relay_address_listen() - a socket that listens; the port that was chosen is put into @a
 * A path gets mode 0600; a socket there on which no process listens any more is replaced.  Returns the
 * descriptor, or -errno.
 */
int relay_address_listen(struct relay_address *a, struct error *err);

/*
 * Connects, for two seconds at most.  Returns the descriptor, or -errno; -ECONNREFUSED and -ENOENT: no
 * process listens yet; -ETIMEDOUT: the one that listens accepts no connections.
 */
int relay_address_connect(const struct relay_address *a, struct error *err);

/* Removes the socket of a path. */
void relay_address_remove(const struct relay_address *a);

#endif /* SAMPLER_RELAY_RELAY_ADDRESS_H */
