/* SPDX-License-Identifier: MIT */
/*
 * relay_peer.c: the user of a connection's other end, wherever in the kernel's table; an end that no process
 * has any more has no user
 */
#include "base/io.h"
#include "sampler/relay/relay_server.h"
#include "tests/unit/unit_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_OTHERS  20000
#define PEER_PORT 0x9abc
#define OWN_PORT  0x1f96

static struct sockaddr_in address_of(uint16_t port)
{
        return (struct sockaddr_in){ .sin_family = AF_INET,
                                     .sin_port = htons(port),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void put_line(FILE *table, unsigned from, unsigned to, unsigned state, unsigned uid, unsigned inode)
{
        uint32_t loopback = htonl(INADDR_LOOPBACK);

        (void)fprintf(
                table,
                "%4u: %08X:%04X %08X:%04X %02X 00000000:00000000 00:00000000 00000000 %5u        0 %u 1 "
                "0000000000000000 20 4 30 10 -1\n",
                from, loopback, from, loopback, to, state, uid, inode);
}

/* A table with the connection after @n_before others. */
static int make_table(unsigned n_before, unsigned state, unsigned uid, unsigned inode)
{
        int fd = memfd_create("tcp", MFD_CLOEXEC);
        FILE *table = fdopen(dup(fd), "w");

        ck_assert(fd >= 0 && table);
        (void)fprintf(table, "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   "
                             "uid  timeout inode\n");
        for (unsigned i = 0; i < n_before; i++)
                put_line(table, i % 30000, 80, 1, 7, 1);
        put_line(table, OWN_PORT, PEER_PORT, 1, 8, 2); /* the own end */
        put_line(table, PEER_PORT, OWN_PORT, state, uid, inode);
        ck_assert_int_eq(fclose(table), 0);
        return fd;
}

static int find_in(int fd, uint32_t *ret_uid)
{
        struct sockaddr_in peer = address_of(PEER_PORT), own = address_of(OWN_PORT);

        return relay_peer_find_tcp_user(fd, &peer, &own, ret_uid);
}

/* Lines lie across every place where a piece ends. */
START_LOOP_TEST(a_long_table_is_read_to_its_end, 0, 8)
{
        static const unsigned n_before[] = { 0, 1, 400, 440, 480, 1000, 7500, N_OTHERS };
        int fd = make_table(n_before[_i], 1, 1234, 99);
        uint32_t uid = 0;

        ck_assert_int_eq(find_in(fd, &uid), 0);
        ck_assert_uint_eq(uid, 1234);
        (void)close(fd);
}
END_TEST

START_TEST(every_line_is_found)
{
        for (unsigned n = 300; n < 700; n += 7) {
                int fd = make_table(n, 1, n, 99);
                uint32_t uid = 0;

                ck_assert_int_eq(find_in(fd, &uid), 0);
                ck_assert_uint_eq(uid, n);
                (void)close(fd);
        }
}
END_TEST

/* The kernel shows user 0 of them: that is not root. */
START_TEST(an_end_that_was_closed_has_no_user)
{
        static const unsigned states[][2] = { { 5, 0 }, { 4, 0 }, { 6, 0 }, { 1, 0 }, { 5, 99 } };

        for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
                int fd = make_table(3, states[i][0], 0, states[i][1]);
                uint32_t uid = 77;

                ck_assert_int_eq(find_in(fd, &uid), -ENOENT);
                ck_assert_uint_eq(uid, 77);
                (void)close(fd);
        }
}
END_TEST

START_TEST(what_is_no_table_has_no_user)
{
        static const char *const texts[] = { "",
                                             "no newline",
                                             "\n\n\n",
                                             " 0100007F:9ABC 0100007F:1F96 \n",
                                             " 0100007F:9ABC 0100007F:1F96 01 a b c\n",
                                             " 0100007F:9ABC 0100007F:1F96 01 a b c 12 0\n",
                                             " 0100007F:9ABC 0100007F:1F96 01 a b c 4294967296 0 5 \n" };
        uint32_t uid = 77;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                int fd = memfd_create("tcp", MFD_CLOEXEC);

                ck_assert_int_eq(io_write_all(fd, texts[i], strlen(texts[i]), NULL), 0);
                ck_assert_int_lt(find_in(fd, &uid), 0);
                (void)close(fd);
        }
        ck_assert_int_lt(find_in(-1, &uid), 0);
        ck_assert_uint_eq(uid, 77);
}
END_TEST

START_TEST(a_socketpair_is_of_this_user)
{
        int ends[2];
        uint32_t uid = 77;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        ck_assert_int_eq(relay_peer_find_user(ends[0], -1, &uid), 0);
        ck_assert_uint_eq(uid, geteuid());
        ck_assert_int_lt(relay_peer_find_user(-1, -1, &uid), 0);
        (void)close(ends[0]);
        (void)close(ends[1]);
}
END_TEST
