/* SPDX-License-Identifier: MIT */
/*
 * instrument/region_inbox.c, client/announcement.c: a descriptor arrives whole, with its sender's
 * PID, even after its end
 */
#include "instrument/region_inbox.h"

#include "base/error.h"
#include "base/io.h"
#include "instrument/client/client.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void open_inbox(struct region_inbox *inbox)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(region_inbox_open(inbox, &err) == 0, "%s", err.text);
        ck_assert_int_eq(inbox->address[0], '@');
        ck_assert_uint_gt(strlen(inbox->address), 1);
}

/* A memfd with the text "whole" in it. */
static int make_file(void)
{
        int fd = memfd_create("test", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pwrite(fd, "whole", 5, 0), 5);
        return fd;
}

START_TEST(test_outlives_its_sender)
{
        struct region_inbox inbox;
        struct pollfd ready;
        char text[6] = "";
        uint32_t pid;
        int fd, status;
        pid_t child;

        open_inbox(&inbox);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                announcement_send(inbox.address, make_file());
                _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);

        ready = (struct pollfd){ .fd = inbox.fd, .events = POLLIN };
        ck_assert_int_eq(poll(&ready, 1, 0), 1);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 1);
        ck_assert_uint_eq(pid, (uint32_t)child);
        ck_assert_int_eq(pread(fd, text, 5, 0), 5);
        ck_assert_str_eq(text, "whole");
        io_close(&fd);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 0);
        region_inbox_close(&inbox);
}
END_TEST

/* A process connects and sends nothing; the next one is not held up. */
START_TEST(test_empty_senders_are_passed_over)
{
        struct region_inbox inbox;
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        uint32_t pid;
        int file = make_file();
        int mute = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        int fd;

        open_inbox(&inbox);
        memcpy(to.sun_path + 1, inbox.address + 1, strlen(inbox.address) - 1);
        ck_assert_int_eq(connect(mute, (const struct sockaddr *)&to,
                                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(inbox.address))),
                         0);
        announcement_send(inbox.address, file);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 1);
        ck_assert_uint_eq(pid, (uint32_t)getpid());
        io_close(&fd);
        io_close(&mute);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 0);
        ck_assert_uint_eq(inbox.n_held, 0);
        io_close(&file);
        region_inbox_close(&inbox);
}
END_TEST

/* A program could not make a region. */
START_TEST(test_a_sender_without_a_region)
{
        struct region_inbox inbox;
        uint32_t pid;
        int fd = 0;

        open_inbox(&inbox);
        ck_assert_int_eq(announcement_send(inbox.address, -1), 0);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 1);
        ck_assert_uint_eq(pid, (uint32_t)getpid());
        ck_assert_int_eq(fd, -1);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 0);
        region_inbox_close(&inbox);
}
END_TEST

/* A program is interrupted between connecting and sending: what it sends then is not lost. */
START_TEST(test_slow_sender)
{
        struct region_inbox inbox;
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        struct pollfd ready;
        uint32_t pid;
        int go[2], fd, status;
        pid_t child;

        open_inbox(&inbox);
        ck_assert_int_eq(pipe(go), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                union {
                        char bytes[CMSG_SPACE(sizeof(int))];
                        struct cmsghdr header;
                } control = { .bytes = "" };
                char byte = 0;
                struct iovec data = { .iov_base = &byte, .iov_len = 1 };
                struct msghdr message = { .msg_iov = &data,
                                          .msg_iovlen = 1,
                                          .msg_control = control.bytes,
                                          .msg_controllen = sizeof(control.bytes) };
                struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
                int slow = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
                int file = make_file();

                memcpy(to.sun_path + 1, inbox.address + 1, strlen(inbox.address) - 1);
                if (connect(slow, (const struct sockaddr *)&to,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(inbox.address))) != 0)
                        _exit(1);
                if (read(go[0], &byte, 1) != 1)
                        _exit(2);
                rights->cmsg_level = SOL_SOCKET;
                rights->cmsg_type = SCM_RIGHTS;
                rights->cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(rights), &file, sizeof(file));
                _exit(sendmsg(slow, &message, 0) == 1 ? 0 : 3);
        }
        ready = (struct pollfd){ .fd = inbox.fd, .events = POLLIN };
        ck_assert_int_eq(poll(&ready, 1, 10000), 1);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 0);
        ck_assert_uint_eq(inbox.n_held, 1);
        ck_assert_int_eq(write(go[1], "g", 1), 1);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 1);
        ck_assert_uint_eq(pid, (uint32_t)child);
        ck_assert_uint_eq(inbox.n_held, 0);
        io_close(&fd);
        (void)close(go[0]);
        (void)close(go[1]);
        region_inbox_close(&inbox);
}
END_TEST

/* Without a listener, or a valid address, the program continues as if none had been given. */
START_TEST(test_nobody_listens)
{
        static const char *const addresses[] = { "", "@", "hyprof", "@hyprof-nobody-listens-here" };
        int file = make_file();

        for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
                announcement_send(addresses[i], file);
        ck_assert_int_eq(fcntl(file, F_GETFD), FD_CLOEXEC);
        io_close(&file);
}
END_TEST

/* A process that became user @uid sends something: 1 if it arrives, 0 if not. */
static int send_as(struct region_inbox *inbox, uid_t uid)
{
        uint32_t pid;
        int fd, status, r;
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
                if (setresuid(uid, uid, uid) < 0)
                        _exit(77);
                announcement_send(inbox->address, make_file());
                _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        r = region_inbox_next(inbox, &pid, &fd);
        if (r == 1) {
                ck_assert_uint_eq(pid, (uint32_t)child);
                io_close(&fd);
        }
        return r;
}

/* Another user's region is turned away, but not by root, whose programs may become other users. */
START_TEST_IF(geteuid() == 0, test_other_users)
{
        struct region_inbox inbox;

        open_inbox(&inbox);
        ck_assert_int_eq(send_as(&inbox, 65534), 1);
        ck_assert_int_eq(seteuid(65533), 0);
        ck_assert_int_eq(send_as(&inbox, 65533), 1);
        ck_assert_int_eq(seteuid(0), 0);
        region_inbox_close(&inbox);
}
END_TEST

/* The recorder is no root, and root is another user. */
START_TEST_IF(geteuid() == 0, test_root_is_another_user)
{
        struct region_inbox inbox;
        uint32_t pid;
        int file = make_file();
        int fd;

        open_inbox(&inbox);
        announcement_send(inbox.address, file);
        ck_assert_int_eq(seteuid(65534), 0);
        ck_assert_int_eq(region_inbox_next(&inbox, &pid, &fd), 0);
        ck_assert_int_eq(seteuid(0), 0);
        region_inbox_close(&inbox);
        io_close(&file);
}
END_TEST

/*
 * A process of user @uid has bound @address, as anyone may when a recorder has ended.  Returns what
 * announcement_send() says, and in *@ret_got how many bytes that process got.
 */
static int announce_to(const char *address, uid_t uid, ssize_t *ret_got)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        int ready[2], file = make_file(), r, status;
        char byte;
        pid_t child;

        ck_assert_int_eq(pipe(ready), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), connection;

                memcpy(at.sun_path + 1, address + 1, strlen(address) - 1);
                if (setresuid(uid, uid, uid) < 0 ||
                    bind(listener, (const struct sockaddr *)&at,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address))) < 0 ||
                    listen(listener, 1) < 0 || write(ready[1], "r", 1) != 1)
                        _exit(77);
                connection = accept(listener, NULL, NULL);
                _exit(connection >= 0 && recv(connection, &byte, 1, 0) == 1 ? 1 : 0);
        }
        (void)close(ready[1]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        (void)close(ready[0]);
        r = announcement_send(address, file);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        *ret_got = WEXITSTATUS(status);
        io_close(&file);
        return r;
}

/* A client with the address of a recorder that has ended sends its memory to no other process. */
START_TEST(test_another_process_listens)
{
        char address[ANNOUNCEMENT_ADDRESS_BYTES];
        ssize_t got;

        /* The null case: a process of our own user, and no PID to compare it with. */
        (void)snprintf(address, sizeof(address), "@of-%d-other", (int)getpid());
        ck_assert_int_eq(announce_to(address, geteuid(), &got), 0);
        ck_assert_int_eq((int)got, 1);
        /* It is not this process, though of the same user. */
        (void)snprintf(address, sizeof(address), CLIENT_ABI_ADDRESS_PREFIX "%d-0", (int)getpid());
        ck_assert_int_eq(announce_to(address, geteuid(), &got), -ECONNREFUSED);
        ck_assert_int_eq((int)got, 0);
}
END_TEST

/* Nor to another user: of an ordinary user's program, and of root's. */
START_TEST_IF(geteuid() == 0, test_another_user_listens)
{
        char address[ANNOUNCEMENT_ADDRESS_BYTES];
        ssize_t got;

        (void)snprintf(address, sizeof(address), "@of-%d-another", (int)getpid());
        ck_assert_int_eq(announce_to(address, 65534, &got), -ECONNREFUSED);
        ck_assert_int_eq((int)got, 0);
        ck_assert_int_eq(seteuid(65533), 0);
        ck_assert_int_eq(announce_to(address, 65533, &got), 0);
        ck_assert_int_eq((int)got, 1);
        ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* Two recorders never have one name, and a client can tell that it is this one. */
START_TEST(test_names_tell_who_listens)
{
        struct region_inbox inbox, other;
        char prefix[ANNOUNCEMENT_ADDRESS_BYTES];

        open_inbox(&inbox);
        open_inbox(&other);
        (void)snprintf(prefix, sizeof(prefix), CLIENT_ABI_ADDRESS_PREFIX "%d-", (int)getpid());
        ck_assert_int_eq(strncmp(inbox.address, prefix, strlen(prefix)), 0);
        ck_assert_str_ne(inbox.address, other.address);
        region_inbox_close(&inbox);
        region_inbox_close(&other);
}
END_TEST
