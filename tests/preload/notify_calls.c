/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: lets another process answer some system calls of this process, its threads and
 * children
 *
 * NOTIFY_CALLS=N,N...  the numbers of these calls
 * NOTIFY_SOCKET=FD     a socket; the descriptor that reports the calls is sent there (seccomp_unotify(2))
 * NOTIFY_IN=NAME       programs with another name are left alone
 *
 * It begins when the loader is done, so a call that fails is one of the program or of its
 * libraries.  Programs that this one starts are concerned from their first instruction on;
 * tests/tools/fail_calls.c tells them apart by name.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX 64

static int install(const char *numbers)
{
        struct sock_filter code[2 * CALLS_MAX + 2];
        struct sock_fprog program = { .filter = code };
        unsigned short n = 0;

        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        for (const char *at = numbers; *at != '\0' && n < 2 * CALLS_MAX; at += *at == ',') {
                char *end;
                unsigned int number = (unsigned int)strtoul(at, &end, 10);

                code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
                code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
                at = end;
        }
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        program.len = n;
        /* A signal that a program sends itself must not repeat a call, which would be counted twice. */
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                            &program);
}

static void send_descriptor(int to, int fd)
{
        char byte = 0;
        struct iovec piece = { .iov_base = &byte, .iov_len = 1 };
        _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = { 0 };
        struct mmsghdr message = { .msg_hdr = { .msg_iov = &piece,
                                                .msg_iovlen = 1,
                                                .msg_control = room,
                                                .msg_controllen = sizeof(room) } };
        struct cmsghdr *head = CMSG_FIRSTHDR(&message.msg_hdr);

        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &fd, sizeof(fd));
        /* sendmsg() may be one of the calls that wait for an answer already. */
        if (sendmmsg(to, &message, 1, 0) != 1)
                _exit(126);
}

__attribute__((constructor)) static void begin(void)
{
        const char *numbers = getenv("NOTIFY_CALLS"), *to = getenv("NOTIFY_SOCKET"),
                   *in = getenv("NOTIFY_IN");
        int fd;

        if (!numbers || !to || !in || strcmp(program_invocation_short_name, in) != 0)
                return;
        fd = install(numbers);
        if (fd < 0)
                _exit(126);
        send_descriptor((int)strtol(to, NULL, 10), fd);
        (void)close(fd);
        (void)close((int)strtol(to, NULL, 10));
        (void)unsetenv("LD_PRELOAD");
        (void)unsetenv("NOTIFY_CALLS");
        (void)unsetenv("NOTIFY_SOCKET");
        (void)unsetenv("NOTIFY_IN");
}
