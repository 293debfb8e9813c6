/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/announcement.h - hand the region to the recorder that started this program
 *
 * Way of the data:  client -> [announcement] -> region_inbox
 * Specification:    docs/understand/client-abi.md, "How a recorder finds a region"
 *
 * The kernel tells a recorder of the region's mapping, but a program may have
 * ended before the recorder can open it.  A descriptor on its way through a
 * socket outlives its sender.
 */
#ifndef INSTRUMENT_CLIENT_ANNOUNCEMENT_H
#define INSTRUMENT_CLIENT_ANNOUNCEMENT_H

#define ANNOUNCEMENT_ADDRESS_BYTES 64

/*
 * announcement_send() - send a descriptor to a listening socket
 * @address:  "@name" for an abstract address of AF_UNIX; "" = no recorder waits, nothing is done
 * @fd: stays the caller's; -1 = the program has no region, and its events are lost: no descriptor is sent
 * Nothing is sent to a process of another user but root, nor to one that is not the recorder in the address.
 * Returns 0, -EINVAL if there is no address, -ECONNREFUSED if no process listens there or another one than
 * the recorder, -errno.  Never blocks: without it the recorder looks for the region itself.
 * Async-signal-safe.  Six system calls.
 */
int announcement_send(const char *address, int fd);

#endif /* INSTRUMENT_CLIENT_ANNOUNCEMENT_H */
