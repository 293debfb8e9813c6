/* SPDX-License-Identifier: MIT */
#include "cli/record/dump_opener.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/files/output_file.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAME_SECOND_MAX 100  /* files of one second */
#define MODE_OF_SPARES  0600 /* others may look into that folder */

/* The answer; with a descriptor if `code` is 0. */
struct answer {
        int code;
        int spare_code; /* why the folder failed, if the file is in the spare one; or 0 */
        char name[DUMP_OPENER_NAME_BYTES];
};

/* ---- the child ----------------------------------------------------------------------------------------- */

/* The file's name in two parts, between which the time goes. */
struct name_parts {
        const char *stem, *ending;
        int stem_bytes;
};

static struct name_parts divide(const char *path)
{
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        const char *dot = strrchr(name, '.');

        if (!dot || dot == name)
                dot = name + strlen(name);
        return (struct name_parts){ .stem = name, .ending = dot, .stem_bytes = (int)(dot - name) };
}

/* Returns a descriptor or -errno. */
static int make_file(int folder_fd, mode_t mode, const struct name_parts *parts, char *ret_name)
{
        time_t now = time(NULL);
        struct tm local;
        char stamp[32];
        int fd = -1;

        if (!localtime_r(&now, &local) || strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local) == 0)
                return -EOVERFLOW;
        for (unsigned i = 1; fd < 0 && i <= SAME_SECOND_MAX; i++) {
                char number[16] = "";

                if (i > 1)
                        (void)snprintf(number, sizeof(number), "-%u", i);
                if (snprintf(ret_name, DUMP_OPENER_NAME_BYTES, "%.*s.%s%s%s", parts->stem_bytes, parts->stem,
                             stamp, number, parts->ending) >= DUMP_OPENER_NAME_BYTES)
                        return -ENAMETOOLONG;
                fd = openat(folder_fd, ret_name,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode);
                if (fd < 0 && errno != EEXIST)
                        return -errno;
        }
        return fd < 0 ? -EEXIST : fd;
}

/* Consumes @file_fd, if it is one. */
static int send_answer(int fd, struct answer *answer, int file_fd)
{
        _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))] = { 0 };
        struct iovec part = { .iov_base = answer, .iov_len = sizeof(*answer) };
        struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
        ssize_t sent;

        if (file_fd >= 0) {
                struct cmsghdr *header;

                message.msg_control = control;
                message.msg_controllen = sizeof(control);
                header = CMSG_FIRSTHDR(&message);
                header->cmsg_len = CMSG_LEN(sizeof(int));
                header->cmsg_level = SOL_SOCKET;
                header->cmsg_type = SCM_RIGHTS;
                memcpy(CMSG_DATA(header), &file_fd, sizeof(int));
        }
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        io_close(&file_fd);
        return sent == (ssize_t)sizeof(*answer) ? 0 : -EPIPE;
}

/* Signals of the terminal are meant for others; this process ends when its socket is closed. */
static void leave_signals_alone(void)
{
        sigset_t all;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* Makes a file and removes it.  Returns 0 or -errno. */
static int prove(int folder_fd, const struct name_parts *parts)
{
        char name[DUMP_OPENER_NAME_BYTES];
        int fd = make_file(folder_fd, OUTPUT_FILE_MODE, parts, name);

        if (fd < 0)
                return fd;
        io_close(&fd);
        return unlinkat(folder_fd, name, 0) < 0 ? -errno : 0;
}

/*
 * Gives up all rights that are not needed to create files.  The trace itself was opened with all rights of
 * root, so root keeps the capability that opens the same folder.  A user for whom root works opens all
 * files without it.
 */
static int prepare(int folder_fd, const struct name_parts *parts)
{
        bool is_root = geteuid() == 0;
        int r = is_root ? privileges_drop_all_but(CAP_DAC_OVERRIDE, NULL) : privileges_drop(NULL);

        if (r == 0)
                r = prove(folder_fd, parts);
        if (r == -EACCES && is_root && privileges_raise(CAP_DAC_OVERRIDE))
                return prove(folder_fd, parts);
        if (is_root && privileges_drop(NULL) < 0)
                return -EPERM;
        return r;
}

static int make_somewhere(const struct dump_opener *o, const struct name_parts *parts, struct answer *answer)
{
        int fd = make_file(o->folder_fd, OUTPUT_FILE_MODE, parts, answer->name);

        if (fd >= 0 && o->mode != 0)
                (void)fchmod(fd, o->mode); /* fails where the file system has no modes */
        if (fd >= 0 || o->spare_fd < 0)
                return fd;
        answer->spare_code = fd;
        fd = make_file(o->spare_fd, MODE_OF_SPARES, parts, answer->name);
        return fd >= 0 ? fd : answer->spare_code; /* if both fail, the reason is that of the wanted folder */
}

static void serve(int fd, const struct dump_opener *o, const char *path)
{
        const struct name_parts parts = divide(path);
        struct answer proof = { .code = 0 };
        char question;
        ssize_t got;

        leave_signals_alone();
        (void)prctl(PR_SET_NAME, "hyprof-files", 0, 0, 0);
        tzset();
        proof.code = prepare(o->folder_fd, &parts);
        if (send_answer(fd, &proof, -1) < 0 || proof.code < 0)
                return;
        while ((got = recv(fd, &question, 1, 0)) == 1 || (got < 0 && errno == EINTR)) {
                struct answer answer = { .code = 0 };
                int file_fd;

                if (got < 0)
                        continue;
                file_fd = make_somewhere(o, &parts, &answer);
                if (file_fd < 0)
                        answer.code = file_fd;
                if (send_answer(fd, &answer, file_fd) < 0)
                        return;
        }
}

/* ---- the parent ---------------------------------------------------------------------------------------- */

static int open_folder(const char *path, struct error *err)
{
        const char *slash = strrchr(path, '/');
        char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
        int fd;

        if (!folder)
                return error_set(err, -ENOMEM, "no memory for a path");
        fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                fd = error_errno(err, "%s", folder);
        free(folder);
        return fd;
}

/* Returns 0 or -errno. */
static int await_proof(struct dump_opener *o, const char *path, struct error *err)
{
        struct answer answer = { .code = -EPIPE };
        ssize_t got;

        do
                got = recv(o->fd, &answer, sizeof(answer), 0);
        while (got < 0 && errno == EINTR);
        if (got != (ssize_t)sizeof(answer))
                answer.code = -EPIPE;
        if (answer.code == 0)
                return 0;
        return error_set(err, answer.code, "no dump can be written beside %s: %s", path,
                         strerrordesc_np(-answer.code));
}

int dump_opener_start(struct dump_opener *o, const char *path, unsigned mode, struct error *err)
{
        int fds[2], r;

        *o = (struct dump_opener){
                .fd = -1, .folder_fd = open_folder(path, err), .spare_fd = -1, .mode = mode
        };
        if (o->folder_fd < 0)
                return o->folder_fd;
        o->spare_fd = open(io_temporary_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
                r = error_errno(err, "socketpair");
                dump_opener_stop(o);
                return r;
        }
        o->pid = fork();
        if (o->pid == 0) {
                io_close(&fds[0]);
                serve(fds[1], o, path);
                _exit(0);
        }
        io_close(&fds[1]);
        o->fd = fds[0];
        if (o->pid < 0) {
                r = error_errno(err, "fork");
                dump_opener_stop(o);
                return r;
        }
        r = await_proof(o, path, err);
        if (r < 0)
                dump_opener_stop(o);
        return r;
}

void dump_opener_stop(struct dump_opener *o)
{
        io_close(&o->fd);
        if (o->pid > 0)
                while (waitpid(o->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        io_close(&o->folder_fd);
        io_close(&o->spare_fd);
        *o = (struct dump_opener){ .fd = -1, .folder_fd = -1, .spare_fd = -1 };
}

static int take_descriptor(struct msghdr *message, int *ret_fd)
{
        const struct cmsghdr *header = CMSG_FIRSTHDR(message);

        if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
            header->cmsg_len != CMSG_LEN(sizeof(int)))
                return -EPROTO;
        memcpy(ret_fd, CMSG_DATA(header), sizeof(int));
        return 0;
}

int dump_opener_open(struct dump_opener *o, int *ret_fd, char *ret_name, bool *ret_is_spare,
                     struct error *err)
{
        _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))] = { 0 };
        struct answer answer;
        struct iovec part = { .iov_base = &answer, .iov_len = sizeof(answer) };
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
        };
        ssize_t got;

        if (o->fd < 0 || send(o->fd, "", 1, MSG_NOSIGNAL) != 1)
                return error_set(err, -EPIPE, "the process that makes files has ended");
        do
                got = recvmsg(o->fd, &message, MSG_CMSG_CLOEXEC);
        while (got < 0 && errno == EINTR);
        if (got != (ssize_t)sizeof(answer))
                return error_set(err, -EPIPE, "the process that makes files has ended");
        answer.name[sizeof(answer.name) - 1] = '\0';
        if (answer.code < 0)
                return error_set(err, answer.code, "%s: %s", answer.name, strerrordesc_np(-answer.code));
        if (take_descriptor(&message, ret_fd) < 0)
                return error_set(err, -EPROTO, "the process that opens files sent no descriptor");
        memcpy(ret_name, answer.name, sizeof(answer.name));
        *ret_is_spare = answer.spare_code < 0;
        if (*ret_is_spare)
                (void)error_set(err, answer.spare_code, "%s", strerrordesc_np(-answer.spare_code));
        return 0;
}

void dump_opener_remove(const struct dump_opener *o, const char *name, bool is_spare)
{
        (void)unlinkat(is_spare ? o->spare_fd : o->folder_fd, name, 0);
}
