/* SPDX-License-Identifier: MIT */
#include "sampler/recording/attachment.h"
#include "sampler/merge/kernel_side.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/events/event_set.h"
#include "sampler/proc/cgroup_folder.h"
#include "sampler/proc/process_filter.h"
#include "sampler/zones/zone_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The most rounds of the search for threads, which ends after a round that finds no new one.  Threads that
 * were started before their starter had its events are found in the next round.  A program that starts
 * threads without end has new ones in each round.
 */
#define ROUNDS_MAX      10
#define WORDS_BYTES_MAX 200

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD: of one thread, not of its process */

static int hold_process(uint32_t pid, struct attached_process *ret_process, struct error *err)
{
        /* The process is held before it is looked at, so that it stays the same one. */
        int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
        int code = errno;
        int r = running_process_check(pid, err);

        *ret_process = (struct attached_process){ .pid = pid, .pid_fd = fd };
        if (r == 0 && fd < 0) {
                errno = code;
                r = error_errno(err, "open a pidfd of process %u", pid);
        }
        return r;
}

/* Before Linux 6.9 only the thread's process can be held. */
static int hold_thread(uint32_t tid, struct attached_process *ret_process, struct error *err)
{
        int fd = (int)syscall(SYS_pidfd_open, (pid_t)tid, PIDFD_OF_THREAD);
        uint32_t pid = running_process_of_thread(tid);
        int r = running_process_check_thread(tid, err);

        if (fd < 0 && pid != 0)
                fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
        *ret_process = (struct attached_process){ .pid = pid, .tid = tid, .pid_fd = fd };
        if (r == 0 && fd < 0)
                r = error_set(err, -ESRCH, "thread %u has ended", tid);
        return r;
}

int attachment_open(struct attachment *a, const struct attachment_options *options, struct error *err)
{
        size_t n = options->n_pids + options->n_tids;
        int r = 0;

        *a = (struct attachment){ .options = *options, .named = calloc(n + 1, sizeof(*a->named)) };
        intern_init(&a->refused, sizeof(uint32_t), 0);
        intern_init(&a->tids, sizeof(uint32_t), 0);
        if (!a->named)
                return error_set(err, -ENOMEM, "no memory for %zu processes", n);
        for (size_t i = 0; r == 0 && i < options->n_pids; i++)
                r = hold_process(options->pids[i], &a->named[a->n_named++], err);
        for (size_t i = 0; r == 0 && i < options->n_tids; i++)
                r = hold_thread(options->tids[i], &a->named[a->n_named++], err);
        return r;
}

void attachment_close(struct attachment *a)
{
        for (size_t i = 0; i < a->n_named; i++)
                io_close(&a->named[i].pid_fd);
        free(a->named);
        free(a->found);
        intern_deinit(&a->refused);
        intern_deinit(&a->tids);
        *a = (struct attachment){ .named = NULL };
}

/* True if a thread that is held only through its process has ended. */
static bool thread_is_gone(const struct attached_process *p)
{
        return p->tid != 0 && running_process_of_thread(p->tid) != p->pid;
}

bool attachment_has_ended(struct attachment *a)
{
        bool ended = a->n_named > 0;

        for (size_t i = 0; i < a->n_named; i++) {
                struct pollfd fd = { .fd = a->named[i].pid_fd, .events = POLLIN };

                if (fd.fd >= 0 && (poll(&fd, 1, 0) == 1 || thread_is_gone(&a->named[i])))
                        io_close(&a->named[i].pid_fd);
                ended = ended && a->named[i].pid_fd < 0;
        }
        return ended;
}

/* ---- whom it is about ---------------------------------------------------------------------------------- */

static bool is_named(const struct attachment *a, uint32_t pid)
{
        for (size_t i = 0; i < a->n_named; i++)
                if (a->named[i].pid == pid)
                        return true;
        return false;
}

/* True if only single threads of this process are recorded. */
static bool is_thread(const struct attachment *a, uint32_t pid)
{
        for (size_t i = 0; i < a->n_named; i++)
                if (a->named[i].pid == pid && a->named[i].tid == 0)
                        return false;
        return is_named(a, pid);
}

static bool is_found(const struct attachment *a, uint32_t pid)
{
        for (size_t i = 0; i < a->n_found; i++)
                if (a->found[i].pid == pid)
                        return true;
        return false;
}

/*
 * True if any process above @p is one of the named ones.  Numbers that were read one after the other may go
 * in a circle.
 */
static bool is_below_named(const struct attachment *a, const struct running_process *all, size_t n_all,
                           const struct running_process *p)
{
        uint32_t above = p->parent_pid;

        for (size_t n_steps = 0; n_steps < n_all && above != 0; n_steps++) {
                size_t i = 0;

                if (is_named(a, above))
                        return true;
                while (i < n_all && all[i].pid != above)
                        i++;
                above = i < n_all ? all[i].parent_pid : 0;
        }
        return false;
}

/* Reads all processes there are, as far as they can be read: only children tell who their parents are. */
static int read_all(struct running_process **ret_all, size_t *ret_n, struct error *err)
{
        struct running_numbers pids = { .numbers = NULL };
        struct running_process *all = NULL;
        size_t n = 0;
        int r = running_numbers_read(&pids, 0, err);

        if (r == 0 && pids.n_numbers > 0) {
                all = calloc(pids.n_numbers, sizeof(*all));
                if (!all)
                        r = error_set(err, -ENOMEM, "no memory for a list of processes");
        }
        for (size_t i = 0; r == 0 && i < pids.n_numbers; i++)
                n += running_process_read(pids.numbers[i], &all[n], NULL) == 0;
        running_numbers_deinit(&pids);
        if (r < 0)
                return r;
        *ret_all = all;
        *ret_n = n;
        return 0;
}

/*
 * Finds the named processes and all their descendants, each after its parent.  hyprof itself may be a child
 * of one of them, such as a shell; neither hyprof nor its own children belong to the recording.
 */
static void find_named(struct attachment *a, const struct running_process *all, size_t n_all)
{
        bool with_children = !a->options.no_children && a->options.n_pids > 0;
        size_t n_before;

        /* A named process below another named one comes with that one's children. */
        for (size_t i = 0; i < n_all; i++)
                if (is_named(a, all[i].pid) && !(with_children && is_below_named(a, all, n_all, &all[i])))
                        a->found[a->n_found++] = all[i];
        do {
                n_before = a->n_found;
                for (size_t i = 0; with_children && i < n_all; i++)
                        if (!is_thread(a, all[i].parent_pid) && is_found(a, all[i].parent_pid) &&
                            !is_found(a, all[i].pid) && all[i].pid != (uint32_t)getpid())
                                a->found[a->n_found++] = all[i];
        } while (a->n_found > n_before);
}

/* Finds the processes in the cgroup, or all processes, except for hyprof's own. */
static int find_many(struct attachment *a, const struct running_process *all, size_t n_all, struct error *err)
{
        struct running_numbers pids = { .numbers = NULL };
        int r = 0;

        if (a->options.cgroup_path)
                r = cgroup_folder_read_pids(a->options.cgroup_path, &pids, err);
        for (size_t i = 0; r == 0 && i < n_all; i++) {
                bool is_in = !a->options.cgroup_path;

                for (size_t k = 0; !is_in && k < pids.n_numbers; k++)
                        is_in = pids.numbers[k] == all[i].pid;
                if (is_in && !process_filter_is_own(a->options.filter, all[i].pid))
                        a->found[a->n_found++] = all[i];
        }
        running_numbers_deinit(&pids);
        return r;
}

/* Fills `found` with all processes that the recording is about, as they are now. */
static int find_processes(struct attachment *a, struct error *err)
{
        struct running_process *all = NULL;
        size_t n_all = 0;
        int r = read_all(&all, &n_all, err);

        if (r == 0 && array_reserve(&a->found, &a->found_capacity, n_all, sizeof(*a->found)) < 0)
                r = error_set(err, -ENOMEM, "no memory for a list of processes");
        a->n_found = 0;
        if (r == 0 && (a->options.whole_machine || a->options.cgroup_path))
                r = find_many(a, all, n_all, err);
        else if (r == 0)
                find_named(a, all, n_all);
        free(all);
        return r;
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Leaves only those threads in the list whose events were not opened yet.  Returns 0 or -ENOMEM. */
static int keep_new(struct attachment *a, struct running_numbers *threads)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < threads->n_numbers; i++) {
                uint32_t tid = threads->numbers[i], id;
                int r = intern_add(&a->tids, &tid, sizeof(tid), &id);

                if (r < 0)
                        return r;
                if (r == 1)
                        threads->numbers[n_kept++] = tid;
        }
        threads->n_numbers = n_kept;
        return 0;
}

/* Leaves only the threads that were named, or only the others. */
static void keep_named(const struct attachment *a, struct running_numbers *threads, bool named)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < threads->n_numbers; i++) {
                bool is_one = false;

                for (size_t k = 0; k < a->n_named; k++)
                        is_one = is_one || a->named[k].tid == threads->numbers[i];
                if (is_one == named)
                        threads->numbers[n_kept++] = threads->numbers[i];
        }
        threads->n_numbers = n_kept;
}

/*
 * Opens events of a process of which single threads are recorded: the other threads only report its
 * mappings.
 */
static int add_single_threads(const struct attachment *a, struct event_set *events,
                              const struct running_process *p, struct running_numbers *threads,
                              struct error *err)
{
        struct running_numbers others = { .numbers = NULL };
        int n = running_numbers_read(&others, p->pid, err), r = n;

        keep_named(a, threads, true);
        keep_named(a, &others, false);
        if (r == 0)
                r = n = event_set_add(events, threads->numbers, threads->n_numbers, err);
        if (r >= 0 && n > 0)
                r = event_set_watch(events, others.numbers, others.n_numbers, err);
        running_numbers_deinit(&others);
        return r < 0 ? r : n;
}

/* Returns how many threads were new and got their events, or -errno. */
static int add_threads(struct attachment *a, struct event_set *events, const struct running_process *p,
                       struct error *err)
{
        struct running_numbers threads = { .numbers = NULL };
        uint32_t id;
        int r = running_numbers_read(&threads, p->pid, err);

        if (r == 0 && keep_new(a, &threads) < 0)
                r = error_set(err, -ENOMEM, "no memory for a list of threads");
        if (r == 0)
                r = is_thread(a, p->pid) ? add_single_threads(a, events, p, &threads, err)
                                         : event_set_add(events, threads.numbers, threads.n_numbers, err);
        running_numbers_deinit(&threads);
        if (r == -ESRCH)
                return 0; /* it has ended */
        /* A child that has become another user's process is skipped; a named process is not. */
        if ((r == -EACCES || r == -EPERM) && !is_named(a, p->pid))
                return intern_add(&a->refused, &p->pid, sizeof(p->pid), &id) == -ENOMEM ? -ENOMEM : 0;
        return r;
}

int attachment_add_events(struct attachment *a, struct event_set *events, struct error *err)
{
        size_t n_threads = 0;
        int n_new = 1;

        for (int round = 0; round < ROUNDS_MAX && n_new > 0; round++) {
                int r = find_processes(a, err);

                n_new = 0;
                for (size_t i = 0; r >= 0 && i < a->n_found; i++) {
                        uint32_t pid = a->found[i].pid;

                        if (intern_find(&a->refused, &pid, sizeof(pid)) != 0)
                                continue;
                        r = add_threads(a, events, &a->found[i], err);
                        n_new += r > 0 ? r : 0;
                }
                if (r < 0)
                        return r;
                n_threads += (size_t)n_new;
                if (round > 0 && n_new > 0)
                        event_set_expect_overlap(events);
        }
        if (n_threads > 0)
                return 0;
        if (a->refused.n_items > 0)
                return error_set(
                        err, -ESRCH,
                        "not permitted to record any of the %u processes there; 'sudo hyprof record ...' may",
                        a->refused.n_items);
        return error_set(err, -ESRCH, "all processes to be recorded have ended");
}

/* ---- what runs ----------------------------------------------------------------------------------------- */

/* Fills the filter where the kernel reports all processes; elsewhere the filter takes all. */
static int fill_filter(const struct attachment *a)
{
        struct process_filter *f = a->options.filter;
        int r = 0;

        if (f->everything)
                return 0;
        for (size_t i = 0; r == 0 && i < a->n_named; i++)
                if (a->named[i].tid != 0)
                        r = process_filter_add_thread(f, a->named[i].pid, a->named[i].tid);
        for (size_t i = 0; r == 0 && i < a->n_found; i++)
                if (!is_thread(a, a->found[i].pid))
                        r = process_filter_add_process(f, a->found[i].pid);
        return r;
}

int attachment_add_processes(struct attachment *a, struct kernel_side *samples, struct zone_source *zones,
                             uint64_t time_ns, struct error *err)
{
        int r = find_processes(a, err);

        if (r < 0)
                return r;
        r = fill_filter(a);
        for (size_t i = 0; r == 0 && i < a->n_found; i++) {
                const struct running_process *p = &a->found[i];
                bool has_region;

                if (intern_find(&a->refused, &p->pid, sizeof(p->pid)) != 0)
                        continue;
                r = process_intake_add(p, a->options.filter, samples, time_ns, &has_region);
                if (r == 0 && has_region)
                        r = zone_source_open(zones, p->pid);
        }
        return r < 0 ? error_set(err, r, "no memory for the processes that run") : 0;
}

void attachment_add_words(const struct attachment *a, struct byte_buffer *text)
{
        size_t begin_bytes = text->used_bytes;

        if (a->options.whole_machine)
                byte_buffer_add(text, "the whole machine", strlen("the whole machine"));
        if (a->options.cgroup_path) {
                byte_buffer_add(text, "cgroup ", strlen("cgroup "));
                byte_buffer_add(text, a->options.cgroup_path, strlen(a->options.cgroup_path));
        }
        for (size_t i = 0; i < a->n_named; i++) {
                struct running_process p = { .name = "ended" };
                uint32_t number = a->named[i].tid != 0 ? a->named[i].tid : a->named[i].pid;
                char words[RUNNING_PROCESS_NAME_BYTES + 64];

                if (text->used_bytes - begin_bytes > WORDS_BYTES_MAX) {
                        byte_buffer_add(text, ", ...", 5);
                        break;
                }
                (void)running_process_read(number, &p, NULL);
                (void)snprintf(words, sizeof(words), "%s%s %u (%s)", i > 0 ? ", " : "",
                               a->named[i].tid != 0 ? "thread" : "process", number, p.name);
                byte_buffer_add(text, words, strlen(words));
        }
        if (a->refused.n_items > 0) {
                char words[64];

                (void)snprintf(words, sizeof(words), "; not permitted: %u children", a->refused.n_items);
                byte_buffer_add(text, words, strlen(words));
        }
}
