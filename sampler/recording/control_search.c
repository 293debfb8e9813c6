/* SPDX-License-Identifier: MIT */
#include "sampler/recording/control_search.h"

#include "base/clock.h"
#include "base/io.h"
#include "sampler/pace/pace.h"
#include "sampler/proc/running_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what they say ------------------------------------------------------------------------------------- */

void control_recorder_find(const struct control_recorder *recorder, const char *key,
                           char ret_value[CONTROL_STATUS_VALUE])
{
        size_t key_bytes = strlen(key);

        ret_value[0] = '\0';
        for (const char *line = recorder->status; line && line[0] != '\0';) {
                const char *end = strchr(line, '\n');
                size_t n = end ? (size_t)(end - line) : strlen(line);

                if (n > key_bytes && memcmp(line, key, key_bytes) == 0 && line[key_bytes] == ' ') {
                        (void)snprintf(ret_value, CONTROL_STATUS_VALUE, "%.*s", (int)(n - key_bytes - 1),
                                       line + key_bytes + 1);
                        return;
                }
                line = end ? end + 1 : NULL;
        }
}

static uint64_t find_number(const struct control_recorder *recorder, const char *key)
{
        char value[CONTROL_STATUS_VALUE];

        control_recorder_find(recorder, key, value);
        return strtoull(value, NULL, 10);
}

bool control_recorder_is(const struct control_recorder *recorder, uint64_t pid)
{
        char attached[CONTROL_STATUS_VALUE];

        if (find_number(recorder, "recorder_pid") == pid || find_number(recorder, "program_pid") == pid)
                return true;
        control_recorder_find(recorder, "attached_pids", attached);
        for (char *at = attached, *end; at[0] != '\0'; at = end) {
                if (strtoull(at, &end, 10) == pid)
                        return true;
                if (end == at)
                        return false;
        }
        return false;
}

/* ---- where they are ------------------------------------------------------------------------------------ */

/*
 * Asks one recorder.  Files other than sockets are skipped, and a socket of a killed recorder is removed.
 */
static void ask_one(struct control_search *s, uint32_t uid, const char *folder, int folder_fd,
                    const char *name)
{
        struct control_recorder *found = &s->recorders[s->n_recorders];
        struct stat status;
        char *end;

        if (s->n_recorders == CONTROL_SEARCH_MAX)
                return;
        found->pid = strtoull(name, &end, 10);
        if (end == name || strcmp(end, CONTROL_SOCKET_ENDING) != 0 ||
            fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(status.st_mode) ||
            snprintf(found->path, sizeof(found->path), "%s/%s", folder, name) >= (int)sizeof(found->path))
                return;
        found->status[0] = '\0';
        found->uid = uid;
        found->fd = control_socket_call(found->path, uid, "status", NULL);
        if (found->fd == -ECONNREFUSED)
                (void)unlinkat(folder_fd, name, 0);
        /*
         * With -EAGAIN, so many requests wait already that there is no room for one more: the recorder is
         * silent.
         */
        s->n_recorders += found->fd >= 0 || found->fd == -EAGAIN;
}

/* $XDG_RUNTIME_DIR usually is /run/user/UID, so that two of the folders are the same one. */
static bool is_new_folder(int folder_fd, struct stat *all, size_t *n)
{
        if (fstat(folder_fd, &all[*n]) < 0)
                return false;
        for (size_t i = 0; i < *n; i++)
                if (all[i].st_dev == all[*n].st_dev && all[i].st_ino == all[*n].st_ino)
                        return false;
        (*n)++;
        return true;
}

static void ask_folder(struct control_search *s, uint32_t uid, const char *folder, int *folder_fd)
{
        DIR *entries = fdopendir(*folder_fd);
        const struct dirent *entry;

        if (!entries)
                return;
        *folder_fd = -1; /* is closed with the entries */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        while ((entry = readdir(entries)))
                ask_one(s, uid, folder, dirfd(entries), entry->d_name);
        (void)closedir(entries);
}

/*
 * Asks this user's recorders and those of @other_uid; if both are the same user, the folders are known
 * already.
 */
static void ask_all(struct control_search *s, uint32_t other_uid)
{
        const uint32_t uids[2] = { geteuid(), other_uid };
        char folder[CONTROL_SOCKET_PATH];
        struct stat looked_at[2 * CONTROL_SOCKET_FOLDERS];
        size_t n = 0;

        for (unsigned i = 0; i < 2 * CONTROL_SOCKET_FOLDERS; i++) {
                uint32_t uid = uids[i / CONTROL_SOCKET_FOLDERS];
                int fd = -1;

                if (control_socket_folder(i % CONTROL_SOCKET_FOLDERS, uid, folder) == 0)
                        fd = control_socket_open_folder(folder, uid, NULL);
                if (fd >= 0 && is_new_folder(fd, looked_at, &n))
                        ask_folder(s, uid, folder, &fd);
                io_close(&fd);
        }
}

/* ---- answers ------------------------------------------------------------------------------------------- */

/* Asks a recorder again that was too busy to read the question.  Returns 0 or -errno. */
static int ask_again(struct control_recorder *recorder)
{
        io_close(&recorder->fd);
        recorder->status[0] = '\0';
        recorder->fd = control_socket_call(recorder->path, recorder->uid, "status", NULL);
        /* With -EAGAIN the recorder is silent, as in ask_one(). */
        return recorder->fd < 0 && recorder->fd != -EAGAIN ? recorder->fd : 0;
}

/* A recorder that has ended meanwhile is removed from the list. */
static void take(struct control_search *s, size_t i)
{
        struct control_recorder *recorder = &s->recorders[i];
        int r = control_socket_take(recorder->fd, recorder->status, NULL);

        if (control_socket_may_retry(r, recorder->status)) {
                r = ask_again(recorder);
                if (r == 0)
                        return;
        }
        if (r == -EAGAIN)
                return;
        io_close(&recorder->fd);
        if (r < 0)
                *recorder = s->recorders[--s->n_recorders];
}

/* Waits for answers; returns true if some may have come. */
static bool wait_for_answers(const struct control_search *s, uint64_t until_ns)
{
        struct pollfd fds[CONTROL_SEARCH_MAX];
        uint64_t now_ns = clock_raw_ns();
        bool some_open = false;

        for (size_t i = 0; i < s->n_recorders; i++) {
                fds[i] = (struct pollfd){ .fd = s->recorders[i].fd, .events = POLLIN };
                some_open = some_open || fds[i].fd >= 0;
        }
        return some_open && now_ns < until_ns &&
               (poll(fds, s->n_recorders, (int)((until_ns - now_ns) / NS_PER_MS) + 1) > 0 || errno == EINTR);
}

/* A recorder whose own number is @pid is the only one to wait for. */
static void keep(struct control_search *s, uint64_t pid)
{
        for (size_t i = 0; i < s->n_recorders; i++) {
                if (s->recorders[i].pid != pid)
                        continue;
                for (size_t j = 0; j < s->n_recorders; j++)
                        if (j != i)
                                io_close(&s->recorders[j].fd);
                s->recorders[0] = s->recorders[i];
                s->n_recorders = 1;
        }
}

static bool has_answered(const struct control_search *s, uint64_t pid)
{
        for (size_t i = 0; i < s->n_recorders; i++)
                if (control_recorder_is(&s->recorders[i], pid))
                        return true;
        return false;
}

void control_search_run(struct control_search *s, uint64_t pid)
{
        uint64_t until_ns = clock_raw_ns() + PACE_CONTROL_WAIT_MS * NS_PER_MS;
        bool found = false;

        s->n_recorders = 0;
        ask_all(s, pid != 0 && geteuid() == 0 ? running_process_user((uint32_t)pid) : geteuid());
        if (pid != 0)
                keep(s, pid);
        while (wait_for_answers(s, until_ns)) {
                for (size_t i = s->n_recorders; i-- > 0;)
                        if (s->recorders[i].fd >= 0)
                                take(s, i);
                if (pid != 0 && !found && has_answered(s, pid)) {
                        uint64_t others_ns = clock_raw_ns() + PACE_CONTROL_OTHERS_MS * NS_PER_MS;

                        found = true;
                        until_ns = others_ns < until_ns ? others_ns : until_ns;
                }
        }
        for (size_t i = 0; i < s->n_recorders; i++)
                io_close(&s->recorders[i].fd);
}
