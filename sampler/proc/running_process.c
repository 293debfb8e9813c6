/* SPDX-License-Identifier: MIT */
#include "sampler/proc/running_process.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAT_BYTES_MAX         4096
#define STATUS_BYTES_MAX       65536
#define NAME_BYTES_MAX         4096
#define COMMAND_LINE_BYTES_MAX (UINT32_C(1) << 22) /* the kernel's own limit is below that */
#define COMMAND_LINE_SHOWN     4096
#define PATH_BYTES             64
#define KERNEL_THREAD_FLAG     UINT64_C(0x00200000) /* PF_KTHREAD of the kernel */

/* Fields of /proc/PID/stat, counted from the state, which is field 0. */
enum { FIELD_PARENT = 1, FIELD_FLAGS = 6, FIELD_CPU = 36 };

/* ---- what it is ---------------------------------------------------------------------------------------- */

/* Reads field @field as a number; the state is field 0.  Returns 0 or -EBADMSG. */
static int number_of_field(const char *state, unsigned field, uint64_t *ret_number)
{
        const char *at = state;
        char *end;

        for (unsigned i = 0; i < field; i++) {
                at = strchr(at, ' ');
                if (!at)
                        return -EBADMSG;
                at++;
        }
        *ret_number = strtoull(at, &end, 10);
        return end == at ? -EBADMSG : 0;
}

/*
 * "42 (a name) S 1 42 42 0 -1 4194304 ...": the name may hold anything, so it ends at the last parenthesis.
 */
int running_process_parse(const char *text, struct running_process *ret_process)
{
        const char *name = strchr(text, '(');
        const char *behind = strrchr(text, ')');
        struct running_process p = { .pid = (uint32_t)strtoul(text, NULL, 10) };
        uint64_t parent_pid, flags, cpu;
        size_t name_bytes;

        if (!name || !behind || behind < name || behind[1] != ' ' || behind[2] == '\0')
                return -EBADMSG;
        if (number_of_field(behind + 2, FIELD_PARENT, &parent_pid) < 0 ||
            number_of_field(behind + 2, FIELD_FLAGS, &flags) < 0)
                return -EBADMSG;
        name++;
        name_bytes = (size_t)(behind - name);
        if (name_bytes >= sizeof(p.name))
                name_bytes = sizeof(p.name) - 1;
        memcpy(p.name, name, name_bytes);
        p.parent_pid = (uint32_t)parent_pid;
        p.is_waiting = behind[2] != 'R';
        if (number_of_field(behind + 2, FIELD_CPU, &cpu) == 0)
                p.cpu = (uint32_t)cpu;
        p.is_kernel_thread = (flags & KERNEL_THREAD_FLAG) != 0;
        *ret_process = p;
        return 0;
}

/* Returns 0; -ESRCH, -EBADMSG, -ENOMEM, -errno. */
static int read_stat(const char *path, struct running_process *ret_process)
{
        struct byte_buffer text = { .data = NULL };
        int r = io_read_file(AT_FDCWD, path, STAT_BYTES_MAX, &text, NULL);

        if (r == 0)
                r = running_process_parse((const char *)text.data, ret_process);
        byte_buffer_deinit(&text);
        return r == -ENOENT ? -ESRCH : r;
}

int running_process_read(uint32_t pid, struct running_process *ret_process, struct error *err)
{
        char path[PATH_BYTES];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%u/stat", pid);
        r = read_stat(path, ret_process);
        if (r == -ESRCH)
                return error_set(err, r, "no process %u", pid);
        return r < 0 ? error_set(err, r, "%s cannot be read", path) : 0;
}

int running_process_read_thread(uint32_t pid, uint32_t tid, struct running_process *ret_thread)
{
        char path[PATH_BYTES];

        (void)snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
        return read_stat(path, ret_thread);
}

int running_process_add_name(uint32_t pid, uint32_t tid, struct byte_buffer *text)
{
        char path[PATH_BYTES];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
        r = io_read_file(AT_FDCWD, path, NAME_BYTES_MAX, text, NULL);
        if (r == 0 && text->used_bytes > 0 && text->data[text->used_bytes - 1] == '\n')
                text->used_bytes--;
        return r;
}

/* The number after @name in /proc/PID/status; 0 if there is none. */
static uint32_t read_status(uint32_t pid, const char *name)
{
        struct byte_buffer text = { .data = NULL };
        char path[PATH_BYTES];
        const char *at = NULL;
        uint32_t number = 0;

        (void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
        if (io_read_file(AT_FDCWD, path, STATUS_BYTES_MAX, &text, NULL) == 0)
                at = strstr((const char *)text.data, name);
        if (at)
                number = (uint32_t)strtoul(at + strlen(name), NULL, 10);
        byte_buffer_deinit(&text);
        return number;
}

/* Tries the least demanding event of a thread: one that reports its mappings.  Returns 0 or -errno. */
static int try_event(uint32_t tid)
{
        struct perf_event_attr attr = { .size = sizeof(attr),
                                        .type = PERF_TYPE_SOFTWARE,
                                        .config = PERF_COUNT_SW_DUMMY,
                                        .disabled = 1,
                                        .exclude_kernel = 1,
                                        .exclude_hv = 1,
                                        .mmap = 1 };
        long fd = syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0)
                return -errno;
        (void)close((int)fd);
        return 0;
}

/*
 * Tries the threads of a program in turn: the first one may have ended before the others.  Returns 0,
 * -ESRCH if all have, or -errno.
 */
static int try_threads(uint32_t pid, struct error *err)
{
        struct running_numbers threads = { .numbers = NULL };
        int r = running_numbers_read(&threads, pid, err);

        for (size_t i = 0; r == 0 && i < threads.n_numbers; i++) {
                r = try_event(threads.numbers[i]);
                if (r != -ESRCH)
                        break;
                r = i + 1 < threads.n_numbers ? 0 : -ESRCH;
        }
        running_numbers_deinit(&threads);
        return r;
}

struct user_words {
        char text[32];
};

static struct user_words name_user(uid_t uid)
{
        struct user_words words = { .text = "root" };

        if (uid != 0)
                (void)snprintf(words.text, sizeof(words.text), "user %u", uid);
        return words;
}

static int explain_refusal(const struct running_process *p, int code, struct error *err)
{
        char path[PATH_BYTES];
        struct stat st;

        (void)snprintf(path, sizeof(path), "/proc/%u", p->pid);
        if (code == -ESRCH || stat(path, &st) < 0)
                return error_set(err, -ESRCH, "process %u (%s) has ended", p->pid, p->name);
        if (st.st_uid != geteuid())
                return error_set(err, -EACCES, "not permitted to record process %u (%s): it is owned by %s",
                                 p->pid, p->name, name_user(st.st_uid).text);
        return error_set(err, -EACCES,
                         "not permitted to record process %u (%s): it has privileges that you lack, or "
                         "kernel.perf_event_paranoid forbids it",
                         p->pid, p->name);
}

int running_process_check(uint32_t pid, struct error *err)
{
        struct running_process p = { .pid = pid };
        uint32_t own_pid;
        int r = running_process_read(pid, &p, err);

        if (r < 0)
                return r;
        own_pid = read_status(pid, "\nTgid:\t");
        if (own_pid == (uint32_t)getpid())
                return error_set(err, -EINVAL, "process %u is hyprof itself", pid);
        if (p.is_kernel_thread)
                return error_set(err, -EINVAL, "process %u (%s) is a kernel thread, not a program", pid,
                                 p.name);
        if (own_pid != 0 && own_pid != pid)
                return error_set(err, -EINVAL,
                                 "%u is a thread of process %u, which -p %u records as a whole; "
                                 "-t %u records the thread alone",
                                 pid, own_pid, own_pid, pid);
        r = try_threads(pid, err);
        if (r == -ESRCH || r == -EACCES || r == -EPERM)
                return explain_refusal(&p, r, err);
        return r == -ENOMEM ? r : 0; /* the event set explains other errors better */
}

uint32_t running_process_user(uint32_t pid)
{
        return read_status(pid, "\nUid:");
}

uint32_t running_process_parent(uint32_t pid)
{
        return read_status(pid, "\nPPid:\t");
}

uint32_t running_process_of_thread(uint32_t tid)
{
        return read_status(tid, "\nTgid:\t");
}

int running_process_check_thread(uint32_t tid, struct error *err)
{
        struct running_process p = { .pid = tid };
        uint32_t pid;
        int r = running_process_read(tid, &p, NULL);

        if (r == -ESRCH)
                return error_set(err, r, "no thread %u", tid);
        if (r < 0)
                return error_set(err, r, "/proc/%u/stat cannot be read", tid);
        pid = running_process_of_thread(tid);
        if (pid == (uint32_t)getpid())
                return error_set(err, -EINVAL, "thread %u belongs to hyprof itself", tid);
        if (p.is_kernel_thread)
                return error_set(err, -EINVAL, "thread %u (%s) is a kernel thread, not a thread of a program",
                                 tid, p.name);
        r = try_event(tid);
        if (r == -ESRCH)
                return error_set(err, r, "thread %u (%s) has ended", tid, p.name);
        if (r == -EACCES || r == -EPERM)
                return explain_refusal(&p, r, err);
        return 0;
}

/* ---- lists of numbers ---------------------------------------------------------------------------------- */

void running_numbers_deinit(struct running_numbers *list)
{
        free(list->numbers);
        *list = (struct running_numbers){ .numbers = NULL };
}

static int add_number(struct running_numbers *list, const char *name)
{
        int r;

        if (name[0] < '1' || name[0] > '9')
                return 0;
        r = array_reserve(&list->numbers, &list->capacity, list->n_numbers + 1, sizeof(*list->numbers));
        if (r == 0)
                list->numbers[list->n_numbers++] = (uint32_t)strtoul(name, NULL, 10);
        return r;
}

int running_numbers_read(struct running_numbers *list, uint32_t pid, struct error *err)
{
        char path[PATH_BYTES] = "/proc";
        const struct dirent *entry;
        int r = 0;
        DIR *dir;

        list->n_numbers = 0;
        if (pid != 0)
                (void)snprintf(path, sizeof(path), "/proc/%u/task", pid);
        dir = opendir(path);
        if (!dir)
                return errno == ENOENT ? error_set(err, -ESRCH, "no process %u", pid)
                                       : error_errno(err, "%s", path);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
        while (r == 0 && (entry = readdir(dir)) != NULL)
                r = add_number(list, entry->d_name);
        (void)closedir(dir);
        return r < 0 ? error_set(err, r, "no memory for a list of processes") : 0;
}

/* ---- its words ----------------------------------------------------------------------------------------- */

void running_process_add_command_line(uint32_t pid, struct byte_buffer *text)
{
        struct byte_buffer words = { .data = NULL };
        struct running_process p = { .pid = pid };
        char path[PATH_BYTES];
        size_t n_bytes;

        (void)snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
        (void)io_read_file(AT_FDCWD, path, COMMAND_LINE_BYTES_MAX, &words, NULL);
        n_bytes = words.used_bytes < COMMAND_LINE_SHOWN ? words.used_bytes : COMMAND_LINE_SHOWN;
        while (n_bytes > 0 && words.data[n_bytes - 1] == '\0')
                n_bytes--;
        for (size_t i = 0; i < n_bytes; i++)
                byte_buffer_add_u8(text, words.data[i] == '\0' ? ' ' : words.data[i]);
        byte_buffer_deinit(&words);
        if (n_bytes == 0 && running_process_read(pid, &p, NULL) == 0)
                byte_buffer_add(text, p.name, strlen(p.name));
}
