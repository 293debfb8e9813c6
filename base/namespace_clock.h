/* SPDX-License-Identifier: MIT */
/*
 * base/namespace_clock.h - how far a time namespace sets a process's monotonic clocks ahead
 *
 * Way of the data:  /proc -> [namespace_clock] -> clock, the client's ticks
 *
 * The kernel stamps its records with the machine's clock, in every namespace.  So traces use that clock:
 * clock_gettime(2) less this offset.  All of it is in a header, because the client is linked without base.
 */
#ifndef BASE_NAMESPACE_CLOCK_H
#define BASE_NAMESPACE_CLOCK_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file states the offsets of future children; they are our own if both links name one namespace. */
static inline int namespace_clock_is_of_children(void)
{
        char own[64], children[64];
        ssize_t n = readlink("/proc/self/ns/time", own, sizeof(own));

        return n > 0 && readlink("/proc/self/ns/time_for_children", children, sizeof(children)) == n &&
               memcmp(own, children, (size_t)n) == 0;
}

/*
 * namespace_clock_offset_ns() - the offset of CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW; 0 outside of time
 * namespaces, or if it is unknown.  Makes about three system calls; async-signal-safe, keeps errno.
 */
static inline int64_t namespace_clock_offset_ns(void)
{
        char text[256]; /* "monotonic -5 250000000\nboottime ..." */
        int saved_errno = errno;
        int fd = namespace_clock_is_of_children() ? open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC)
                                                  : -1;
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
        const char *at;
        char *end;
        int64_t seconds, ns, offset_ns = 0;

        if (fd >= 0)
                (void)close(fd);
        text[n > 0 ? n : 0] = '\0';
        at = strstr(text, "monotonic");
        if (at) {
                seconds = strtoll(at + strlen("monotonic"), &end, 10);
                ns = strtoll(end, NULL, 10);
                if (__builtin_mul_overflow(seconds, INT64_C(1000000000), &offset_ns) ||
                    __builtin_add_overflow(offset_ns, ns, &offset_ns))
                        offset_ns = 0;
        }
        errno = saved_errno;
        return offset_ns;
}

#endif /* BASE_NAMESPACE_CLOCK_H */
