/* SPDX-License-Identifier: MIT */
/*
 * Runs a command again and again, and lets another system call of hyprof fail each time, in any of its
 * threads and children.
 *
 * usage: fail_calls [OPTION]... LIBRARY COMMAND...
 *
 * -c CALL,CALL...  these rows of the table alone
 * -s STEP          every STEP-th failure is tried; 1 = all
 * -l LIMIT_S       a try that lasts longer did not end (60)
 * -x "STATUS..."   the exit statuses that are right ("0 1")
 * -o               the command prints the same each time, or says on standard error why not
 * -a COMMAND       run by sh after each try, with the exit status as TRIED_STATUS; it fails for a finding
 * -t COMM          in this thread or child alone
 * -n NUMBER        this call of each alone
 * -e ERROR         this error alone: EIO, SHORT; with "+" after it also in all later calls
 *
 * LIBRARY is notify_calls.so.  A failure is a call, the name of the thread or process that makes it
 * ("hyprof-writer"), its number among the calls of that name, and an error of the table.  In every eighth
 * try all later calls fail as well.  Writing to standard error never fails.  Prints a line for each try
 * that ended by a signal, did not end, left a process, failed without a word, or had another status; then
 * how many there were.  Exit status: 0 = no such line.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_BYTES   4096
#define ALL_EVERY     8
#define COMMS_MAX     32
#define NUMBERS_MAX   5
#define PAGE_BYTES    4096
#define LISTENERS_MAX 4
#define LEFT_MS       5000 /* for children, once the command has ended */
#define SHORT         (-1) /* half of what was asked for */

#ifdef SYS_open
#define OLD_OPEN  SYS_open
#define OLD_FORKS SYS_fork, SYS_vfork
#else
#define OLD_OPEN  SYS_openat
#define OLD_FORKS SYS_clone, SYS_clone
#endif

static const struct call {
        const char *name;
        long numbers[NUMBERS_MAX];
        int errors[6]; /* 0 ends them */
} calls[] = {
        { "openat", { SYS_openat, OLD_OPEN }, { EINTR, EIO, EMFILE, ENOMEM } },
        { "mmap", { SYS_mmap, SYS_mremap }, { ENOMEM } },
        { "read", { SYS_read, SYS_pread64 }, { EINTR, EIO, SHORT } },
        { "write", { SYS_write, SYS_pwrite64, SYS_writev }, { EINTR, EIO, ENOSPC, SHORT } },
        { "ioctl", { SYS_ioctl }, { EINTR, EIO, ENOMEM } },
        { "perf_event_open", { SYS_perf_event_open }, { EMFILE, ENOMEM, EINTR } },
        { "clone", { SYS_clone, SYS_clone3, OLD_FORKS }, { EAGAIN, ENOMEM } },
        { "socket", { SYS_socket, SYS_socketpair }, { EMFILE, ENOMEM } },
        { "memfd_create", { SYS_memfd_create }, { EMFILE, ENOMEM } },
        { "pipe2", { SYS_pipe2, SYS_eventfd2, SYS_epoll_create1, SYS_timerfd_create }, { EMFILE } },
        { "sendmsg", { SYS_sendmsg, SYS_recvmsg }, { EINTR, ENOMEM } },
        { "ftruncate", { SYS_ftruncate, SYS_fallocate, SYS_renameat2, SYS_linkat }, { EINTR, EIO, ENOSPC } },
        { "bpf", { SYS_bpf }, { ENOMEM, EPERM } },
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

struct comm {
        char name[16];
        long n_calls[N_CALLS];
};

/* Which call fails; call NULL = none, and those that are wanted are counted. */
struct failure {
        const struct call *call;
        char comm[16];
        long at;
        int error;
        bool all;       /* and all after it */
        char file[128]; /* that the last of them was about, if it was one */
};

struct outcome {
        int status; /* as of waitpid(2) */
        bool too_long;
        bool left;               /* a process was left */
        char words[WORDS_BYTES]; /* the begin of its standard error */
        uint64_t printed;        /* a hash of its standard output */
};

static struct {
        const char *wanted, *statuses, *after, *only, *error;
        long step, limit_ms, number;
        bool is_same;
} options = { .statuses = "0 1", .step = 1, .limit_ms = 60000 };

static struct comm comms[COMMS_MAX];
static size_t n_comms;
static uint64_t wanted_print;

static void fail(const char *what)
{
        (void)fprintf(stderr, "fail_calls: %s: %s\n", what, strerror(errno));
        exit(2);
}

static long now_ms(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static size_t row_of(long number)
{
        for (size_t i = 0; i < N_CALLS; i++)
                for (size_t n = 0; n < NUMBERS_MAX; n++)
                        if (calls[i].numbers[n] == number && (n == 0 || number != 0))
                                return i;
        return 0;
}

/* The counters of the thread's name; the last one is for those that find no room. */
static struct comm *comm_of(uint32_t tid)
{
        char path[40], name[16] = "";
        ssize_t n;
        int fd;
        size_t i;

        (void)snprintf(path, sizeof(path), "/proc/%u/comm", tid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : read(fd, name, sizeof(name) - 1);
        if (fd >= 0)
                (void)close(fd);
        name[n > 0 ? n - 1 : 0] = '\0';
        for (i = 0; i < n_comms && strcmp(comms[i].name, name) != 0; i++)
                ;
        if (i == n_comms && n_comms < COMMS_MAX)
                memcpy(comms[n_comms++].name, name, sizeof(name));
        return &comms[i < COMMS_MAX ? i : COMMS_MAX - 1];
}

/* Where the peer sees single bytes, not messages, and neither half would wait. */
static bool may_be_short(int fd, bool reads)
{
        struct stat s;
        int type = 0;
        socklen_t n_bytes = sizeof(type);
        struct pollfd p = { .fd = fd, .events = reads ? POLLIN : POLLOUT };

        if (fstat(fd, &s) < 0 || poll(&p, 1, 0) != 1 || !(p.revents & p.events))
                return false;
        if (S_ISSOCK(s.st_mode))
                return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n_bytes) == 0 && type == SOCK_STREAM;
        return S_ISREG(s.st_mode) || S_ISFIFO(s.st_mode);
}

/* Makes half of the call in its place.  Returns false if that is not possible: nothing was done. */
static bool make_short(const struct seccomp_notif *call, struct seccomp_notif_resp *answer)
{
        static char bytes[1 << 16];
        size_t n = call->data.args[2] / 2 < sizeof(bytes) ? call->data.args[2] / 2 : sizeof(bytes);
        struct iovec ours = { .iov_base = bytes, .iov_len = n };
        struct iovec theirs = { .iov_base = (void *)(uintptr_t)call->data.args[1], .iov_len = n };
        bool reads = call->data.nr == SYS_read || call->data.nr == SYS_pread64;
        bool placed = call->data.nr == SYS_pread64 || call->data.nr == SYS_pwrite64;
        off_t at = (off_t)call->data.args[3];
        ssize_t done = -1;
        int process, fd = -1;

        if (n == 0 || call->data.nr == SYS_writev)
                return false;
        process = (int)syscall(SYS_pidfd_open, call->pid, 0);
        if (process < 0) /* a thread: its process has the same descriptors */
                process = (int)syscall(SYS_pidfd_open, call->pid, O_EXCL);
        if (process >= 0)
                fd = (int)syscall(SYS_pidfd_getfd, process, (int)call->data.args[0], 0);
        if (fd >= 0 && may_be_short(fd, reads)) {
                if (reads)
                        done = placed ? pread(fd, bytes, n, at) : read(fd, bytes, n);
                else if (process_vm_readv((pid_t)call->pid, &ours, 1, &theirs, 1, 0) == (ssize_t)n)
                        done = placed ? pwrite(fd, bytes, n, at) : write(fd, bytes, n);
                ours.iov_len = theirs.iov_len = done > 0 ? (size_t)done : 0;
                if (reads && done > 0 && process_vm_writev((pid_t)call->pid, &ours, 1, &theirs, 1, 0) != done)
                        fail("process_vm_writev");
        }
        if (fd >= 0)
                (void)close(fd);
        if (process >= 0)
                (void)close(process);
        if (done >= 0)
                answer->val = done;
        return done >= 0;
}

/* A path is in the memory of the process, where the next page may be missing; others have a descriptor. */
static void describe(const struct seccomp_notif *call, struct failure *f)
{
        char path[64];
        uintptr_t at = (uintptr_t)call->data.args[1];
        size_t room = sizeof(f->file) - 1, first = PAGE_BYTES - at % PAGE_BYTES;
        struct iovec ours = { .iov_base = f->file, .iov_len = room };
        struct iovec theirs[2] = { { .iov_base = (void *)at, .iov_len = first < room ? first : room },
                                   { .iov_base = (void *)(at + first), .iov_len = room } };
        ssize_t n;

        (void)snprintf(path, sizeof(path), "/proc/%u/fd/%d", call->pid, (int)call->data.args[0]);
        n = call->data.nr == SYS_openat
                    ? process_vm_readv((pid_t)call->pid, &ours, 1, theirs, first < room ? 2 : 1, 0)
                    : readlink(path, f->file, room);
        f->file[n > 0 ? n : 0] = '\0';
}

/* Counters and timers of the kernel have no disk: what is read and written there is interrupted at most. */
static bool is_possible(const struct seccomp_notif *call, const struct failure *f)
{
        bool moves_bytes = call->data.nr == SYS_read || call->data.nr == SYS_write;

        return !moves_bytes || f->error == EINTR ||
               strncmp(f->file, "anon_inode:", strlen("anon_inode:")) != 0;
}

static void answer_call(int listener, struct failure *f)
{
        struct seccomp_notif call = { 0 };
        struct seccomp_notif_resp answer = { 0 };

        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
                return;
        answer.id = call.id;
        answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        if (call.data.nr != SYS_write || call.data.args[0] != STDERR_FILENO) {
                struct comm *c = comm_of(call.pid);
                size_t row = row_of(call.data.nr);
                long n = ++c->n_calls[row];
                bool fails = f->call == &calls[row] && strcmp(c->name, f->comm) == 0 &&
                             (n == f->at || (f->all && n > f->at));

                if (fails)
                        describe(&call, f);
                if (fails && is_possible(&call, f) && (f->error != SHORT || make_short(&call, &answer))) {
                        answer.flags = 0;
                        answer.error = f->error == SHORT ? 0 : -f->error;
                }
        }
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static int receive_descriptor(int from)
{
        char byte;
        struct iovec piece = { .iov_base = &byte, .iov_len = 1 };
        _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
        struct msghdr message = {
                .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
        };
        int fd;

        if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
                return -1;
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
        return fd;
}

static bool is_chosen(const char *name)
{
        size_t n = strlen(name);

        for (const char *at = options.wanted; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
                if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
                        return true;
        return !options.wanted;
}

static void add_numbers(const struct call *call, char *text, size_t room)
{
        for (size_t n = 0; n < NUMBERS_MAX && (n == 0 || call->numbers[n] != 0); n++) {
                size_t used = strlen(text);

                (void)snprintf(text + used, room - used, "%s%ld", used > 0 ? "," : "", call->numbers[n]);
        }
}

static void start(const char *library, const struct failure *f, char **command, const int fds[3])
{
        char numbers[320] = "", socket_number[24];
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (size_t i = 0; i < N_CALLS; i++)
                if (f->call ? f->call == &calls[i] : is_chosen(calls[i].name))
                        add_numbers(&calls[i], numbers, sizeof(numbers));
        (void)snprintf(socket_number, sizeof(socket_number), "%d", fds[2]);
        if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(fds[0], STDOUT_FILENO) < 0 ||
            dup2(fds[1], STDERR_FILENO) < 0 || fcntl(fds[2], F_SETFD, 0) < 0 ||
            setenv("LD_PRELOAD", library, 1) < 0 || setenv("NOTIFY_CALLS", numbers, 1) < 0 ||
            setenv("NOTIFY_SOCKET", socket_number, 1) < 0 || setenv("NOTIFY_IN", "hyprof", 1) < 0)
                _exit(126);
        (void)execvp(command[0], command);
        _exit(126);
}

/* Answers calls until no process is left that could make one.  Returns false if that takes too long. */
static bool attend(int inbox, pid_t pid, struct failure *f, struct outcome *o)
{
        struct pollfd p[2 + LISTENERS_MAX] = { { .fd = (int)syscall(SYS_pidfd_open, pid, 0),
                                                 .events = POLLIN },
                                               { .fd = inbox, .events = POLLIN } };
        nfds_t n = 2;
        long until = now_ms() + options.limit_ms;
        bool ended = false;
        nfds_t n_open = 0;

        if (p[0].fd < 0)
                fail("pidfd_open");
        while (!ended || n_open > 0) {
                long left = until - now_ms();

                if (left <= 0 || (poll(p, n, (int)left) < 0 && errno != EINTR))
                        break;
                if (p[0].revents) {
                        ended = waitpid(pid, &o->status, 0) == pid;
                        (void)close(p[0].fd);
                        p[0].fd = -1;
                        until = now_ms() + LEFT_MS;
                }
                if (p[1].revents) {
                        p[n] = (struct pollfd){ .fd = receive_descriptor(inbox), .events = POLLIN };
                        if (p[n].fd < 0 || n == 1 + LISTENERS_MAX)
                                p[1].fd = -1;
                        else
                                n++, n_open++;
                }
                for (nfds_t i = 2; i < n; i++) {
                        if (p[i].revents & POLLIN)
                                answer_call(p[i].fd, f);
                        else if (p[i].revents) {
                                (void)close(p[i].fd);
                                p[i].fd = -1;
                                n_open--;
                        }
                }
        }
        o->too_long = !ended;
        o->left = ended && n_open > 0;
        if (!ended && (kill(pid, SIGKILL) < 0 || waitpid(pid, &o->status, 0) < 0))
                fail("kill");
        for (nfds_t i = 0; i < n; i++)
                if (i != 1 && p[i].fd >= 0)
                        (void)close(p[i].fd);
        return !o->too_long && !o->left;
}

/* Processes that the command left became our children. */
static void end_children(void)
{
        char path[64];
        int pid;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
        for (;;) {
                FILE *list = fopen(path, "re");

                if (!list)
                        fail(path);
                while (fscanf(list, "%d", &pid) == 1)
                        (void)kill(pid, SIGKILL);
                (void)fclose(list);
                if (waitpid(-1, NULL, 0) < 0)
                        return;
        }
}

static uint64_t hash_of(int fd)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        unsigned char bytes[4096];
        ssize_t n;
        off_t at = 0;

        while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
                at += n;
                for (ssize_t i = 0; i < n; i++)
                        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
        }
        return hash;
}

static struct outcome run(const char *library, struct failure *f, char **command)
{
        struct outcome o = { .status = 0 };
        int inbox[2], fds[3] = { memfd_create("out", MFD_CLOEXEC), memfd_create("err", MFD_CLOEXEC) };
        pid_t pid;

        if (fds[0] < 0 || fds[1] < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, inbox) < 0)
                fail("descriptors");
        fds[2] = inbox[1];
        f->file[0] = '\0';
        n_comms = 0;
        memset(comms, 0, sizeof(comms));
        pid = fork();
        if (pid < 0)
                fail("fork");
        if (pid == 0)
                start(library, f, command, fds);
        (void)close(inbox[1]);
        (void)attend(inbox[0], pid, f, &o);
        end_children();
        if (pread(fds[1], o.words, sizeof(o.words) - 1, 0) < 0)
                fail("read");
        o.printed = hash_of(fds[0]);
        (void)close(inbox[0]);
        (void)close(fds[0]);
        (void)close(fds[1]);
        return o;
}

static bool is_right_status(int status)
{
        char text[128], number[16];

        (void)snprintf(text, sizeof(text), " %s ", options.statuses);
        (void)snprintf(number, sizeof(number), " %d ", status);
        return strstr(text, number) != NULL;
}

static bool is_fine_after(const struct outcome *o)
{
        char number[16];
        int status;

        if (!options.after)
                return true;
        (void)snprintf(number, sizeof(number), "%d", WEXITSTATUS(o->status));
        (void)setenv("TRIED_STATUS", number, 1);
        status = system(options.after); /* NOLINT(cert-env33-c): the test's own words */
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Its defect; NULL = none. */
static const char *judge(const struct outcome *o, bool is_fine)
{
        if (o->too_long)
                return "did not end";
        if (o->left)
                return "left a process";
        if (WIFSIGNALED(o->status))
                return "ended by a signal";
        if (strstr(o->words, "Sanitizer") || strstr(o->words, "Assertion"))
                return "a defect by its own words";
        if (!is_right_status(WEXITSTATUS(o->status)))
                return "another exit status";
        if (WEXITSTATUS(o->status) != 0 && o->words[0] == '\0')
                return "failed without a word";
        if (options.is_same && WEXITSTATUS(o->status) == 0 && o->words[0] == '\0' &&
            o->printed != wanted_print)
                return "printed something else without a word";
        if (!is_fine)
                return "what it left is wrong";
        return NULL;
}

static const char *error_name(int error)
{
        return error == SHORT ? "SHORT" : strerrorname_np(error);
}

static void try_one(const char *library, struct failure *f, char **command, long counts[2])
{
        struct outcome o = run(library, f, command);
        bool is_fine = is_fine_after(&o);
        const char *wrong = judge(&o, is_fine);

        counts[0]++;
        if (!wrong)
                return;
        counts[1]++;
        (void)printf("%s %ld%s of %s (%s), %s: %s (status %#x): %s\n", f->call->name, f->at,
                     f->all ? " and all after it" : "", f->comm, f->file, error_name(f->error), wrong,
                     (unsigned)o.status, o.words);
}

static bool is_wanted(const struct failure *f)
{
        size_t n = options.error ? strcspn(options.error, "+") : 0;

        return (options.number == 0 || f->at == options.number) &&
               (!options.error ||
                (strncmp(options.error, error_name(f->error), n) == 0 && error_name(f->error)[n] == '\0'));
}

/* All failures of one call in one thread or child, which has made @n of them. */
static void try_comm(const char *library, struct failure *f, long n, char **command, long counts[2])
{
        static long place; /* among all failures */

        (void)printf("# %s of %s: %ld\n", f->call->name, f->comm, n);
        for (f->at = 1; f->at <= n; f->at++) {
                for (size_t e = 0; f->call->errors[e] != 0; e++) {
                        f->error = f->call->errors[e];
                        if (!is_wanted(f) || place++ % options.step != 0)
                                continue;
                        f->all = f->error != EINTR &&
                                 (options.error ? strchr(options.error, '+') != NULL
                                                : counts[0] % ALL_EVERY == ALL_EVERY - 1);
                        try_one(library, f, command, counts);
                }
        }
}

static void try_all(const char *library, char **command, long counts[2])
{
        struct failure f = { .call = NULL };
        struct comm found[COMMS_MAX];
        struct outcome o = run(library, &f, command);
        size_t n_found = n_comms;

        if (o.too_long || o.left || !WIFEXITED(o.status) || !is_fine_after(&o)) {
                (void)fprintf(stderr, "the command fails by itself: status %#x: %s\n", (unsigned)o.status,
                              o.words);
                exit(2);
        }
        wanted_print = o.printed;
        memcpy(found, comms, sizeof(found));
        for (size_t row = 0; row < N_CALLS; row++) {
                f.call = &calls[row];
                for (size_t i = 0; i < n_found; i++) {
                        memcpy(f.comm, found[i].name, sizeof(f.comm));
                        if (found[i].n_calls[row] > 0 && strncmp(f.comm, "hyprof", strlen("hyprof")) == 0 &&
                            (!options.only || strcmp(f.comm, options.only) == 0))
                                try_comm(library, &f, found[i].n_calls[row], command, counts);
                }
        }
}

int main(int argc, char **argv)
{
        long counts[2] = { 0, 0 }; /* tries, findings */
        int c;

        while ((c = getopt(argc, argv, "+c:s:l:x:oa:t:n:e:")) != -1) {
                switch (c) {
                case 'c':
                        options.wanted = optarg;
                        break;
                case 's':
                        options.step = strtol(optarg, NULL, 10);
                        break;
                case 'l':
                        options.limit_ms = strtol(optarg, NULL, 10) * 1000;
                        break;
                case 'x':
                        options.statuses = optarg;
                        break;
                case 'o':
                        options.is_same = true;
                        break;
                case 'a':
                        options.after = optarg;
                        break;
                case 't':
                        options.only = optarg;
                        break;
                case 'n':
                        options.number = strtol(optarg, NULL, 10);
                        break;
                case 'e':
                        options.error = optarg;
                        break;
                default:
                        return 2;
                }
        }
        if (argc - optind < 2 || options.step < 1) {
                (void)fprintf(stderr, "usage: fail_calls [OPTION]... LIBRARY COMMAND...\n");
                return 2;
        }
        (void)setvbuf(stdout, NULL, _IOLBF, 0);
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                fail("prctl");
        try_all(argv[optind], argv + optind + 1, counts);
        (void)printf("%ld tries, %ld wrong\n", counts[0], counts[1]);
        return counts[1] > 0 || counts[0] == 0;
}
