/* SPDX-License-Identifier: MIT */
/*
 * Three generations: the recorder; the child, which waits for files and is as small as the recorder was
 * when it started; and one grandchild for each file whose table was not kept, which parses that file.  A
 * grandchild costs some tenths of a millisecond, about as much as building the table of a C library, once
 * for each file.
 *
 * The sockets preserve packet boundaries.  Each packet of an answer says to which request it belongs, so an
 * answer that is cut short because its sender was killed does no harm: the child then reports the failure.
 * Requests have a socket of their own, which grandchildren do not have: a grandchild that a malicious file
 * has taken over knows the secret of no other request.
 */
#include "sampler/tables/table_process.h"

#include "base/call_filter.h"
#include "base/child_end.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"
#include "sampler/keep/file_versions.h"
#include "sampler/pace/pace.h"
#include "sampler/tables/table_store.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/module_landmarks.h"
#include "unwind/unwind_module.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE_BYTES    65536               /* of an answer in one packet */
#define SEND_BYTES     (4 << 20)           /* buffered for a slow reader, where that is permitted */
#define KEEP_BYTES     (UINT32_C(1) << 20) /* of memory for the next answer */
#define CHILD_PRIORITY (-10)               /* as of nice(1): samples wait for tables */
#define PROCESS_NAME   "hyprof-tables"

/* Status in a packet: the bytes of a built table are in the store, at the offset that follows. */
#define STATUS_KEPT (TABLE_STATUS_LANDMARKS + 1)

/* The beginning of each packet of an answer. */
struct packet {
        uint32_t id;      /* of the request; 0 = the child's report after its start */
        int32_t status;   /* enum table_status; after the start: 0 or -errno */
        uint64_t n_bytes; /* of the whole answer; what follows here is a part of it */
        uint64_t secret;  /* of the request */
};

/* -------------------------------------------------------------- the grandchild */

static bool has_build_id(const struct elf_image *image, const struct table_request *request)
{
        size_t n_bytes = image->build_id_bytes < TABLE_STORE_BUILD_ID_MAX ? image->build_id_bytes
                                                                          : TABLE_STORE_BUILD_ID_MAX;

        return n_bytes == request->build_id_bytes && memcmp(image->build_id, request->build_id, n_bytes) == 0;
}

static bool is_elf(int file_fd)
{
        static const char magic[] = { 0x7f, 'E', 'L', 'F' };
        char bytes[sizeof(magic)];

        return pread(file_fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
               memcmp(bytes, magic, sizeof(magic)) == 0;
}

static int send_packet(int fd, const struct packet *packet, void *bytes, size_t n_bytes)
{
        struct packet copy = *packet;
        struct iovec parts[2] = { { .iov_base = &copy, .iov_len = sizeof(copy) },
                                  { .iov_base = bytes, .iov_len = n_bytes } };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
        ssize_t sent;

        do
                sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        return sent < 0 ? -errno : 0;
}

int table_reply_send_landmarks(const struct table_reply *reply, const struct module_landmarks *landmarks)
{
        const struct packet packet = { .id = reply->id,
                                       .status = TABLE_STATUS_LANDMARKS,
                                       .secret = reply->secret };
        struct module_landmarks copy = *landmarks;

        return send_packet(reply->fd, &packet, &copy, sizeof(copy));
}

/* Finds when the file's content was written; 0 = not known. */
static int64_t find_written_ns(int file_fd)
{
        struct stat status;

        return fstat(file_fd, &status) == 0 ? file_written_ns(&status) : 0;
}

static enum table_status read_tables(const struct table_request *request, int file_fd,
                                     struct table_reply *reply)
{
        enum table_status status = TABLE_STATUS_FAILED;
        struct unwind_module *module = NULL;
        struct elf_image *image = NULL;
        struct module_landmarks landmarks;

        if (!is_elf(file_fd))
                return jit_frames_is_file(file_fd) ? jit_frames_build(file_fd, &reply->bytes)
                                                   : TABLE_STATUS_NOTHING;
        /* The file is not mapped: the program may truncate it during the read. */
        if (elf_image_open_unmapped(file_fd, &image, NULL) < 0)
                return TABLE_STATUS_FAILED;
        if (request->build_id_bytes > 0 && !has_build_id(image, request)) {
                elf_image_close(image);
                return TABLE_STATUS_OTHER_FILE;
        }
        module_landmarks_find(image, &landmarks);
        if (module_landmarks_are_there(&landmarks))
                (void)table_reply_send_landmarks(reply, &landmarks);
        if (unwind_module_build(image, &module, NULL) == 0) {
                status = module->table ? TABLE_STATUS_BUILT : TABLE_STATUS_NOTHING;
                if (module->table)
                        unwind_module_encode(module, &reply->bytes);
        }
        unwind_module_free(module);
        elf_image_close(image);
        return status;
}

static enum table_status build(const struct table_request *request, int file_fd, struct table_reply *reply)
{
        int64_t written_ns = request->written_ns != 0 ? request->written_ns : find_written_ns(file_fd);
        enum table_status status = read_tables(request, file_fd, reply);

        /*
         * The program may have written the next kernel into the file meanwhile: a table of the new content
         * finds wrong callers.
         */
        return find_written_ns(file_fd) == written_ns ? status : TABLE_STATUS_OTHER_FILE;
}

static int send_answer(const struct table_reply *reply, enum table_status status)
{
        struct packet packet = { .id = reply->id, .status = (int32_t)status, .secret = reply->secret };
        int r = 0;

        if (status != TABLE_STATUS_BUILT)
                return send_packet(reply->fd, &packet, NULL, 0);
        packet.n_bytes = reply->bytes.used_bytes;
        for (size_t at = 0; at < reply->bytes.used_bytes && r == 0; at += PIECE_BYTES) {
                size_t left = reply->bytes.used_bytes - at;

                r = send_packet(reply->fd, &packet, reply->bytes.data + at,
                                left < PIECE_BYTES ? left : PIECE_BYTES);
        }
        return r;
}

/* Limits the processor time for a file, and the total time in case its file system does not answer. */
static void limit_time(void)
{
        struct rlimit limit = { .rlim_cur = PACE_TABLES_CPU_S, .rlim_max = PACE_TABLES_CPU_S };

        (void)setrlimit(RLIMIT_CPU, &limit); /* lower than what it has, so permitted */
        (void)alarm(PACE_TABLES_FILE_S);
}

static _Noreturn void run_grandchild(struct table_reply *reply, const struct table_request *request,
                                     int file_fd, table_process_task *task, pid_t parent)
{
        enum table_status status;

        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
                _exit(EXIT_FAILURE);
        limit_time();
        (void)call_filter_enter(CALL_FILTER_BAN_FILES, NULL); /* the kernel may lack it */
        status = task(request, file_fd, reply);
        if (status == TABLE_STATUS_BUILT && (reply->bytes.failed || reply->bytes.used_bytes == 0))
                status = TABLE_STATUS_FAILED;
        (void)alarm(0); /* the reader takes its time */
        _exit(send_answer(reply, status) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* ------------------------------------------------------------------- the child */

/*
 * Receives the next request and its file, -1 if no descriptor came with it.
 * Returns 1, 0 when the recorder is gone, -errno.
 */
static int receive_request(int fd, struct table_request *ret_request, int *ret_file_fd)
{
        _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))];
        struct iovec part = { .iov_base = ret_request, .iov_len = sizeof(*ret_request) };
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
        };
        const struct cmsghdr *header;
        ssize_t got;

        do
                got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        while (got < 0 && errno == EINTR);
        if (got <= 0)
                return got < 0 ? -errno : 0;
        if (got != sizeof(*ret_request))
                return -EBADMSG;
        *ret_file_fd = -1;
        header = CMSG_FIRSTHDR(&message);
        if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
            header->cmsg_len == CMSG_LEN(sizeof(int)))
                memcpy(ret_file_fd, CMSG_DATA(header), sizeof(int));
        return 1;
}

/*
 * Waits until the grandchild has ended.  Returns whether it succeeded; if the recorder is gone, the
 * grandchild is killed.
 */
static bool wait_for_grandchild(int fd, pid_t pid)
{
        struct pollfd fds[2] = { { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
                                 { .fd = fd } };
        int status;

        while (fds[0].fd >= 0 && poll(fds, 2, -1) < 0)
                if (errno != EINTR)
                        break;
        if (fds[0].fd >= 0 && fds[1].revents)
                (void)kill(pid, SIGKILL);
        io_close(&fds[0].fd);
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return false;
        return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/*
 * Returns whether the file's table was in the store and the recorder was told where.  The table is read
 * here first, so that the recorder does not wait for the disk.
 */
static bool send_kept(struct table_reply *reply, struct table_store *store,
                      const struct table_request *request, int file_fd)
{
        struct packet packet = { .id = reply->id, .status = STATUS_KEPT, .secret = reply->secret };
        struct table_store_entry entry;
        struct table_store_key key;
        uint64_t offset_bytes;
        bool is_kept = table_store_identify(store, file_fd, request->build_id, request->build_id_bytes,
                                            &key) &&
                       table_store_find(store, &key, &entry, &offset_bytes, &reply->bytes) == 1;

        byte_buffer_deinit(&reply->bytes);
        if (!is_kept)
                return false;
        packet.n_bytes = entry.n_bytes;
        /* If the recorder does not take the packets, it is gone, as the next request will show. */
        if (entry.has_landmarks)
                (void)table_reply_send_landmarks(reply, &entry.landmarks);
        (void)send_packet(reply->fd, &packet, &offset_bytes, sizeof(offset_bytes));
        return true;
}

struct child_sockets {
        int answer_fd, request_fd;
};

static int answer_requests(struct child_sockets sockets, struct table_store *store, table_process_task *task)
{
        struct table_request request;
        pid_t self = getpid();
        int file_fd = -1;
        int r;

        while ((r = receive_request(sockets.request_fd, &request, &file_fd)) == 1) {
                struct table_reply reply = { .fd = sockets.answer_fd,
                                             .id = request.id,
                                             .secret = request.secret };
                bool is_sent = store && file_fd >= 0 && send_kept(&reply, store, &request, file_fd);
                pid_t pid = is_sent || file_fd < 0 ? -1 : fork();

                if (pid == 0) {
                        io_close(&sockets.request_fd);
                        if (store)
                                table_store_close(store);
                        run_grandchild(&reply, &request, file_fd, task, self);
                }
                io_close(&file_fd);
                if (is_sent || (pid > 0 && wait_for_grandchild(sockets.answer_fd, pid)))
                        continue;
                r = send_answer(&reply, TABLE_STATUS_FAILED);
                if (r < 0)
                        return r;
        }
        return r;
}

static _Noreturn void run_child(struct confinement_user user, struct child_sockets sockets,
                                struct table_store *store, table_process_task *task)
{
        struct error err = ERROR_NONE;
        struct packet hello = { .id = 0 };
        int fds[3] = { sockets.answer_fd, sockets.request_fd, store ? store->fd : -1 };
        int r;

        /* Detach from the terminal: keys typed there are for the command. */
        (void)setsid();
        (void)setpriority(PRIO_PROCESS, 0, CHILD_PRIORITY); /* if it is permitted */
        (void)prctl(PR_SET_NAME, PROCESS_NAME, 0, 0, 0);
        r = confinement_enter(user, fds, 3, &err);
        if (store)
                store->fd = fds[2];
        (void)landlock_restrict(LANDLOCK_BAN_FILES); /* the process gets all that it reads by descriptor */
        hello.status = r;
        if (send_packet(fds[0], &hello, err.text, strlen(err.text)) == 0 && r == 0)
                r = answer_requests((struct child_sockets){ fds[0], fds[1] }, store, task);
        _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* ---------------------------------------------------------------- the recorder */

/* Receives the child's first report: it has given up its rights, or why it could not. */
static int receive_hello(int fd, struct error *err)
{
        char words[ERROR_TEXT_BYTES];
        struct packet hello = { .id = 0 };
        struct iovec parts[2] = { { .iov_base = &hello, .iov_len = sizeof(hello) },
                                  { .iov_base = words, .iov_len = sizeof(words) - 1 } };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
        ssize_t got;

        do
                got = recvmsg(fd, &message, 0);
        while (got < 0 && errno == EINTR);
        if (got < (ssize_t)sizeof(hello))
                return error_set(err, -EPIPE, "builder of unwind tables: died at its start");
        words[(size_t)got - sizeof(hello)] = '\0';
        return hello.status < 0 ? error_set(err, hello.status, "builder of unwind tables: %s", words) : 0;
}

/* Returns 0 or -errno; sockets that were opened stay open even then. */
static int make_sockets(int answers[2], int requests[2], struct error *err)
{
        const int send_bytes = SEND_BYTES;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, answers) < 0 ||
            socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests) < 0)
                return error_errno(err, "socket to the builder of unwind tables");
        (void)setsockopt(answers[1], SOL_SOCKET, SO_SNDBUFFORCE, &send_bytes, sizeof(send_bytes));
        return 0;
}

int table_process_start_task(struct table_process *p, struct table_store *store, uint32_t run_as_uid,
                             uint32_t run_as_gid, table_process_task *task, struct error *err)
{
        int answers[2] = { -1, -1 }, requests[2] = { -1, -1 };
        int r;

        *p = (struct table_process){ .fd = -1, .request_fd = -1, .store = store };
        r = make_sockets(answers, requests, err);
        if (r < 0)
                goto fail;
        p->pid = fork();
        if (p->pid == 0)
                run_child((struct confinement_user){ run_as_uid, run_as_gid },
                          (struct child_sockets){ answers[1], requests[1] }, store, task);
        if (p->pid < 0) {
                r = error_errno(err, "fork");
                p->pid = 0;
                goto fail;
        }
        io_close(&answers[1]);
        io_close(&requests[1]);
        r = receive_hello(answers[0], err);
        if (r == 0 && fcntl(answers[0], F_SETFL, O_NONBLOCK) < 0)
                r = error_errno(err, "socket to the builder of unwind tables");
        if (r < 0)
                goto fail;
        p->fd = answers[0];
        p->request_fd = requests[0];
        return 0;

fail:
        for (int i = 0; i < 2; i++) {
                io_close(&answers[i]);
                io_close(&requests[i]);
        }
        table_process_stop(p);
        return r;
}

int table_process_start(struct table_process *p, struct table_store *store, uint32_t run_as_uid,
                        uint32_t run_as_gid, struct error *err)
{
        return table_process_start_task(p, store, run_as_uid, run_as_gid, build, err);
}

void table_process_hang_up(struct table_process *p)
{
        if (p->pid > 0) {
                io_close(&p->fd);
                io_close(&p->request_fd);
        }
}

/*
 * The child notices that its socket is closed, ends its current work, and exits.  If it runs as another
 * user and we have given up our rights, we cannot kill it; then it dies with us.
 */
void table_process_stop(struct table_process *p)
{
        table_process_hang_up(p);
        if (p->pid > 0)
                child_end_within(p->pid, PACE_TABLES_REAP_MS);
        byte_buffer_deinit(&p->received);
        *p = (struct table_process){ .fd = -1, .request_fd = -1 };
}

/* Returns 0 or -errno. */
static int send_request(int fd, struct table_request *request, int file_fd)
{
        _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))] = { 0 };
        struct iovec part = { .iov_base = request, .iov_len = sizeof(*request) };
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
        };
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);

        header->cmsg_len = CMSG_LEN(sizeof(int));
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(header), &file_fd, sizeof(int));
        return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int table_process_ask(struct table_process *p, const struct table_request *request, int file_fd)
{
        struct table_request copy = *request;
        int r;

        assert(request->id != 0);
        if (p->fd < 0)
                return -EPIPE;
        if (p->n_waiting == TABLE_PROCESS_WAITING_MAX)
                return -EAGAIN;
        if (getrandom(&copy.secret, sizeof(copy.secret), 0) != (ssize_t)sizeof(copy.secret))
                return -errno;
        r = send_request(p->request_fd, &copy, file_fd);
        if (r == -EAGAIN || r == -ENOBUFS || r == -EINTR || (r == -ETOOMANYREFS && p->n_waiting > 0))
                return -EAGAIN;
        if (r < 0)
                return r == -ECONNRESET || r == -ENOTCONN ? -EPIPE : r;
        p->waiting[(p->first_waiting + p->n_waiting++) % TABLE_PROCESS_WAITING_MAX] =
                (struct table_waiting){ .secret = copy.secret, .id = request->id };
        return 0;
}

/* Forgets the answer that the caller had until now; the memory of a large one is freed. */
static void forget_answer(struct table_process *p)
{
        if (p->received.capacity_bytes > KEEP_BYTES)
                byte_buffer_deinit(&p->received);
        byte_buffer_clear(&p->received);
        p->answer_bytes = 0;
        p->is_handed_out = false;
}

static int hand_out(struct table_process *p, enum table_status status, struct table_answer *ret_answer)
{
        *ret_answer = (struct table_answer){ .id = p->waiting[p->first_waiting].id, .status = status };
        if (status == TABLE_STATUS_BUILT) {
                ret_answer->bytes = p->received.data;
                ret_answer->n_bytes = p->received.used_bytes;
        }
        p->is_handed_out = true;
        p->has_landmarks = false;
        p->first_waiting = (p->first_waiting + 1) % TABLE_PROCESS_WAITING_MAX;
        p->n_waiting--;
        return 1;
}

/* Landmarks come once, before all else of an answer.  Returns 1, -EBADMSG. */
static int take_landmarks(struct table_process *p, size_t part_bytes, struct table_answer *ret_answer)
{
        struct table_answer answer = { .id = p->waiting[p->first_waiting].id,
                                       .status = TABLE_STATUS_LANDMARKS };

        if (p->has_landmarks || p->answer_bytes > 0 || part_bytes != sizeof(answer.landmarks))
                return -EBADMSG;
        memcpy(&answer.landmarks, p->received.data, sizeof(answer.landmarks));
        *ret_answer = answer;
        p->has_landmarks = true;
        return 1;
}

/* Reads a table that was kept.  Returns 1, -EBADMSG, -ENOMEM. */
static int take_kept(struct table_process *p, const struct packet *packet, size_t part_bytes,
                     struct table_answer *ret_answer)
{
        uint64_t offset_bytes;
        bool is_read;

        if (!p->store || p->answer_bytes > 0 || part_bytes != sizeof(offset_bytes) ||
            packet->n_bytes > TABLE_STORE_ENTRY_MAX)
                return -EBADMSG;
        memcpy(&offset_bytes, p->received.data, sizeof(offset_bytes));
        is_read = table_store_read(p->store, offset_bytes, packet->n_bytes, &p->received);
        if (p->received.failed)
                return -ENOMEM;
        (void)hand_out(p, is_read ? TABLE_STATUS_BUILT : TABLE_STATUS_FAILED, ret_answer);
        ret_answer->was_kept = is_read;
        return 1;
}

/*
 * Takes one packet; its part of an answer already lies behind `received`.  Returns 1 for a whole answer, 0,
 * -EBADMSG.
 */
static int take_packet(struct table_process *p, const struct packet *packet, size_t part_bytes,
                       struct table_answer *ret_answer)
{
        const struct table_waiting *waiting = &p->waiting[p->first_waiting];

        /* A grandchild died after it had sent everything, or it answers for another file. */
        if (p->n_waiting == 0 || packet->id != waiting->id || packet->secret != waiting->secret)
                return 0;
        if (packet->status == TABLE_STATUS_LANDMARKS)
                return take_landmarks(p, part_bytes, ret_answer);
        if (packet->status == STATUS_KEPT)
                return take_kept(p, packet, part_bytes, ret_answer);
        if (packet->status != TABLE_STATUS_BUILT) {
                if (packet->status < 0 || packet->status > TABLE_STATUS_FAILED || part_bytes > 0)
                        return -EBADMSG;
                return hand_out(p, (enum table_status)packet->status, ret_answer);
        }
        if (part_bytes == 0 || packet->n_bytes > TABLE_PROCESS_ANSWER_MAX ||
            (p->answer_bytes > 0 && packet->n_bytes != p->answer_bytes) ||
            part_bytes > packet->n_bytes - p->received.used_bytes)
                return -EBADMSG;
        p->answer_bytes = (size_t)packet->n_bytes;
        p->received.used_bytes += part_bytes;
        /* Reserves all at once: growing step by step would copy the bytes. */
        if (p->received.used_bytes == part_bytes &&
            !byte_buffer_reserve(&p->received, p->answer_bytes - part_bytes + PIECE_BYTES))
                return -ENOMEM;
        return p->received.used_bytes == p->answer_bytes ? hand_out(p, TABLE_STATUS_BUILT, ret_answer) : 0;
}

/* Returns 1 with an answer, 0 after a packet that completed none, -EAGAIN, -EPIPE, -EBADMSG, -ENOMEM. */
static int receive_packet(struct table_process *p, struct table_answer *ret_answer)
{
        struct packet packet;
        struct iovec parts[2] = { { .iov_base = &packet, .iov_len = sizeof(packet) },
                                  { .iov_base = byte_buffer_reserve(&p->received, PIECE_BYTES),
                                    .iov_len = PIECE_BYTES } };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
        ssize_t got;

        if (!parts[1].iov_base)
                return -ENOMEM;
        do
                got = recvmsg(p->fd, &message, MSG_DONTWAIT);
        while (got < 0 && errno == EINTR);
        if (got < 0 && errno == EAGAIN)
                return -EAGAIN;
        if (got <= 0)
                return -EPIPE;
        if (got < (ssize_t)sizeof(packet) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
                return -EBADMSG;
        return take_packet(p, &packet, (size_t)got - sizeof(packet), ret_answer);
}

int table_process_next(struct table_process *p, struct table_answer *ret_answer)
{
        int r = 0;

        if (p->is_handed_out)
                forget_answer(p);
        if (p->fd < 0)
                return -EPIPE;
        for (unsigned i = 0; r == 0 && i < PACE_TABLES_PIECES; i++)
                r = receive_packet(p, ret_answer);
        if (r == -EAGAIN)
                return 0;
        if (r == -EPIPE || r == -EBADMSG)
                io_close(&p->fd);
        return r;
}
