/* SPDX-License-Identifier: MIT */
#include "sampler/recording/command_cgroup.h"

#include "base/byte_buffer.h"
#include "base/call_filter.h"
#include "base/child_end.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"
#include "sampler/pace/pace.h"
#include "sampler/proc/cgroup_folder.h"
#include "sampler/rights/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER_PREFIX  "hyprof-"
#define NAME_BYTES     32
#define NAMES_MAX      8
#define REMOVE_TRIES   64 /* a program may always have started one more child */
#define LIST_BYTES_MAX (UINT32_C(1) << 24)

/*
 * cgroups are folders that usually belong to root.  A process that has become a user and holds the
 * capability raises it for this time; a root process, which has it anyway, keeps it.  Returns whether the
 * capability is to be lowered again.
 */
static bool begin_change(void)
{
        return !privileges_has(CAP_DAC_OVERRIDE) && privileges_raise(CAP_DAC_OVERRIDE);
}

static void end_change(bool raised)
{
        if (raised)
                privileges_lower(CAP_DAC_OVERRIDE);
}

/* ---- the keeper ---------------------------------------------------------------------------------------- */

/* Moves every process of the folder @name into the parent folder.  Returns how many were there. */
static int move_up(int parent_fd, const char *name)
{
        struct byte_buffer text = { .data = NULL };
        int n_moved = 0;
        int from = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int to = openat(parent_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

        if (from >= 0 && to >= 0 && io_read_file(from, "cgroup.procs", LIST_BYTES_MAX, &text, NULL) == 0)
                for (const char *at = (const char *)text.data; *at != '\0'; n_moved++) {
                        size_t n_bytes = strcspn(at, "\n");

                        (void)io_write_all(to, at, n_bytes, NULL); /* or it has ended */
                        at += n_bytes + (at[n_bytes] == '\n');
                }
        byte_buffer_deinit(&text);
        io_close(&from);
        io_close(&to);
        return n_moved;
}

/*
 * Folders that the command made inside the folder are not ours: they stay, and then the folder stays as
 * well.
 */
static void remove_folder(int parent_fd, const char *name)
{
        for (int i = 0; i < REMOVE_TRIES; i++)
                if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno != EBUSY ||
                    move_up(parent_fd, name) == 0)
                        return;
}

/* Closes all descriptors except @fds, so that the keeper holds nothing else of the recording open. */
static void close_all_but(const int *fds, size_t n_fds)
{
        unsigned from = 0;

        while (true) {
                unsigned next = UINT_MAX;

                for (size_t i = 0; i < n_fds; i++)
                        if ((unsigned)fds[i] >= from && (unsigned)fds[i] < next)
                                next = (unsigned)fds[i];
                if (next > from)
                        (void)syscall(SYS_close_range, from, next == UINT_MAX ? next : next - 1, 0);
                if (next == UINT_MAX)
                        return;
                from = next + 1;
        }
}

/*
 * The keeper writes to one folder, which is root's, and needs one capability for that.  Where a step
 * fails, it keeps what it has; it reads nothing of the recorded program's.
 */
static void give_up_rights(int parent_fd)
{
        (void)confinement_bar_rights(NULL);
        (void)privileges_drop_all_but(CAP_DAC_OVERRIDE, NULL);
        (void)begin_change(); /* never lowered: this process does nothing else */
        (void)landlock_restrict_except(&parent_fd, 1, false);
        (void)call_filter_enter(CALL_FILTER_BAN_NETWORK, NULL);
}

static _Noreturn void keep(int parent_fd, const char *name, int sign_fd, int recorder_fd)
{
        struct pollfd fds[2] = { { .fd = sign_fd, .events = POLLIN },
                                 { .fd = recorder_fd, .events = POLLIN } };
        sigset_t all;
        const int needed[] = { parent_fd, sign_fd, recorder_fd };

        /* A Ctrl-C goes to the command and ends the recording, but must not end this process. */
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
        (void)setsid();
        (void)prctl(PR_SET_NAME, "hyprof-cgroup");
        close_all_but(needed, sizeof(needed) / sizeof(needed[0]));
        give_up_rights(parent_fd);
        while (poll(fds, 2, -1) < 0 && errno == EINTR)
                ;
        remove_folder(parent_fd, name);
        _exit(0);
}

static int start_keeper(struct command_cgroup *c, int parent_fd, const char *name, struct error *err)
{
        int sign[2] = { -1, -1 };
        int recorder_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
        int r = 0;

        if (recorder_fd < 0 || pipe2(sign, O_CLOEXEC) < 0) {
                r = error_errno(err, "pidfd and pipe");
                goto out;
        }
        c->keeper_pid = fork();
        if (c->keeper_pid == 0)
                keep(parent_fd, name, sign[0], recorder_fd);
        if (c->keeper_pid < 0) {
                c->keeper_pid = 0;
                r = error_errno(err, "fork");
                goto out;
        }
        c->keeper_fd = sign[1];
        sign[1] = -1;

out:
        io_close(&sign[0]);
        io_close(&sign[1]);
        io_close(&recorder_fd);
        return r;
}

/* ---- the folder ---------------------------------------------------------------------------------------- */

/* Removes the folders that killed recorders have left, if they are empty. */
static void sweep(int parent_fd)
{
        const struct dirent *entry;
        int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

        if (!dir) {
                io_close(&fd);
                return;
        }
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
        while ((entry = readdir(dir)) != NULL) {
                size_t n_prefix = strlen(FOLDER_PREFIX);
                long pid = strncmp(entry->d_name, FOLDER_PREFIX, n_prefix) == 0
                                   ? strtol(entry->d_name + n_prefix, NULL, 10)
                                   : 0;

                if (pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
                        (void)unlinkat(parent_fd, entry->d_name, AT_REMOVEDIR);
        }
        (void)closedir(dir);
}

/* An earlier recorder may have had our number, and its folder may still be in use. */
static int make_folder(int parent_fd, char *name)
{
        for (unsigned i = 0; i < NAMES_MAX; i++) {
                (void)snprintf(name, NAME_BYTES, i == 0 ? FOLDER_PREFIX "%d" : FOLDER_PREFIX "%d.%u",
                               (int)getpid(), i);
                if (mkdirat(parent_fd, name, 0755) == 0)
                        return 0;
                if (errno != EEXIST)
                        return -errno;
        }
        return -EEXIST;
}

/*
 * With pressure stall information, the kernel adds up times at each switch, sleep and wake-up, once for
 * each cgroup that the thread is in.  Only for this cgroup, the kernel stops that; the cgroups above it
 * count its threads as before.
 */
static void leave_out_pressure(int folder_fd)
{
        int fd = openat(folder_fd, "cgroup.pressure", O_WRONLY | O_CLOEXEC);

        if (fd >= 0) /* Linux 6.1 */
                (void)io_write_all(fd, "0", 1, NULL);
        io_close(&fd);
}

static int move_in(int folder_fd, pid_t pid)
{
        int fd = openat(folder_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
        char text[16];
        int r, n = snprintf(text, sizeof(text), "%d", (int)pid);

        if (fd < 0)
                return -errno;
        r = io_write_all(fd, text, (size_t)n, NULL);
        (void)close(fd);
        return r;
}

static int hold_folder(struct command_cgroup *c, int parent_fd, const char *name, struct error *err)
{
        c->fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (c->fd < 0)
                return error_errno(err, "cgroup %s", c->path);
        leave_out_pressure(c->fd);
        return start_keeper(c, parent_fd, name, err);
}

/* Returns a descriptor of the folder in which the command's cgroup is to be made, or -errno. */
static int open_parent(char *ret_path, struct error *err)
{
        struct cgroup_mount mount;
        int fd, r = cgroup_mount_read(&mount, err);

        if (r == 0)
                r = cgroup_mount_own_folder(&mount, ret_path, err);
        if (r < 0)
                return r;
        fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? error_errno(err, "cgroup %s", ret_path) : fd;
}

void command_cgroup_init(struct command_cgroup *c)
{
        *c = (struct command_cgroup){ .fd = -1, .keeper_fd = -1 };
}

int command_cgroup_open(struct command_cgroup *c, struct error *err)
{
        char parent[PATH_MAX], name[NAME_BYTES];
        int parent_fd, r;
        bool raised;

        command_cgroup_init(c);
        parent_fd = open_parent(parent, err);
        if (parent_fd < 0)
                return parent_fd;
        raised = begin_change();
        sweep(parent_fd);
        r = make_folder(parent_fd, name);
        if (r < 0) {
                (void)error_set(err, r, "make a cgroup in %s: %s", parent, strerrordesc_np(-r));
        } else if (snprintf(c->path, sizeof(c->path), "%s/%s", parent, name) >= (int)sizeof(c->path)) {
                r = error_set(err, -ENAMETOOLONG, "%s/%s: too long a name", parent, name);
                (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
        } else {
                r = hold_folder(c, parent_fd, name, err);
                if (r < 0)
                        remove_folder(parent_fd, name);
        }
        end_change(raised);
        (void)close(parent_fd);
        if (r < 0) {
                io_close(&c->fd);
                command_cgroup_init(c);
        }
        return r;
}

pid_t command_cgroup_fork(int cgroup_fd)
{
        struct clone_args args = { .flags = CLONE_INTO_CGROUP,
                                   .exit_signal = SIGCHLD,
                                   .cgroup = (unsigned)cgroup_fd };
        bool raised = begin_change();
        long pid = syscall(SYS_clone3, &args, sizeof(args));
        int code = pid < 0 ? -errno : 0;

        end_change(raised); /* of both */
        return pid < 0 ? code : (pid_t)pid;
}

int command_cgroup_add(const struct command_cgroup *c, pid_t pid, struct error *err)
{
        bool raised = begin_change();
        int r = move_in(c->fd, pid);

        end_change(raised);
        return r < 0 ? error_set(err, r, "move the command into cgroup %s: %s", c->path, strerrordesc_np(-r))
                     : 0;
}

int command_cgroup_find(struct command_cgroup *c, const char *name, struct error *err)
{
        int fd;

        command_cgroup_init(c);
        fd = cgroup_folder_open(name, c->path, err);
        if (fd < 0)
                return fd;
        c->fd = fd;
        return 0;
}

void command_cgroup_close(struct command_cgroup *c)
{
        io_close(&c->fd);
        if (c->keeper_pid > 0) {
                (void)io_write_all(c->keeper_fd, "", 1, NULL);
                child_end_within(c->keeper_pid,
                                 PACE_END_KEEPER_MS); /* what it leaves, the next recorder removes */
        }
        io_close(&c->keeper_fd);
        command_cgroup_init(c);
}
