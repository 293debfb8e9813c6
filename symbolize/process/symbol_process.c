/* SPDX-License-Identifier: MIT */
#include "symbolize/process/symbol_process.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/kernel/kernel_symbols.h"
#include "symbolize/process/symbol_children.h"
#include "symbolize/symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>

/* Children that are working, and children whose output waits for its turn. */
#define SLOTS_MAX 32

/* Where the parent is. */
struct pool {
        const struct symbol_process_options *options;
        struct symbol_worker_options child;
        struct symbol_intake intake;
        uint64_t task_ns;
        uint32_t n_tasks, next_task; /* that gets a child next */
        uint32_t head;               /* the task that is taken in */
        bool head_has_begun;         /* something of it was taken in */
        uint32_t n_workers_max, n_failures;
        bool is_over;               /* no more children are started */
        struct error first_failure; /* of a module */
        struct symbol_worker slots[SLOTS_MAX];
        bool is_used[SLOTS_MAX];
};

static uint32_t count_cpus(void)
{
        cpu_set_t cpus;
        int n = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

        return n < 1 ? 1 : n > SYMBOL_PROCESS_WORKERS_MAX ? SYMBOL_PROCESS_WORKERS_MAX : (uint32_t)n;
}

static bool is_running(const struct pool *p, size_t slot)
{
        return p->is_used[slot] && p->slots[slot].pid != 0;
}

/* True if the turn of a child has not come and it has sent enough for now. */
static bool is_held(const struct pool *p, size_t slot)
{
        const struct symbol_worker *w = &p->slots[slot];

        return w->task != p->head && w->in.used_bytes >= SYMBOL_PROCESS_AHEAD_MAX;
}

/* ---- children ------------------------------------------------------------------------------------------ */

static uint32_t count_running(const struct pool *p)
{
        uint32_t n = 0;

        for (size_t i = 0; i < SLOTS_MAX; i++)
                n += is_running(p, i);
        return n;
}

/* Returns 0 also if fewer children than wanted can be started: those that run go on. */
static int start_workers(struct pool *p, struct error *err)
{
        uint32_t n_running = count_running(p);

        for (size_t i = 0; i < SLOTS_MAX && n_running < p->n_workers_max && !p->is_over; i++) {
                int r;

                if (p->is_used[i] || p->next_task == p->n_tasks)
                        continue;
                r = symbol_worker_start(&p->slots[i], &p->child, p->next_task, err);
                if (r < 0 && n_running == 0)
                        return r;
                if (r < 0) {
                        p->n_workers_max = n_running;
                        break;
                }
                p->slots[i].deadline_ns = clock_raw_ns() + p->task_ns;
                p->is_used[i] = true;
                p->next_task++;
                n_running++;
        }
        return 0;
}

static void stop_late_ones(struct pool *p)
{
        uint64_t now = clock_raw_ns();

        for (size_t i = 0; i < SLOTS_MAX; i++) {
                struct symbol_worker *w = &p->slots[i];

                if (!is_running(p, i) || is_held(p, i) || w->deadline_ns > now)
                        continue;
                symbol_worker_stop(w);
                (void)error_set(&w->why, -ETIME, "symbolizer: took more than %llu s",
                                (unsigned long long)(p->task_ns / NS_PER_S));
        }
}

/* Milliseconds to the next deadline; -1 = there is none. */
static int time_to_wait(const struct pool *p)
{
        uint64_t now = clock_raw_ns(), first = UINT64_MAX;

        for (size_t i = 0; i < SLOTS_MAX; i++)
                if (is_running(p, i) && !is_held(p, i) && p->slots[i].deadline_ns < first)
                        first = p->slots[i].deadline_ns;
        if (first == UINT64_MAX)
                return -1;
        return first <= now ? 0 : (int)((first - now) / NS_PER_MS + 1);
}

static void read_worker(struct symbol_worker *w)
{
        struct error err = ERROR_NONE;
        int r = symbol_worker_read(w, &err);

        if (r == 1)
                return;
        symbol_worker_stop(w);
        if (r < 0)
                w->why = err;
}

/* Waits until something was read, a child is late, or it is time to stop: -EINTR then. */
static int wait_for_workers(struct pool *p, struct error *err)
{
        struct pollfd fds[SLOTS_MAX + 1];
        size_t slots[SLOTS_MAX];
        nfds_t n = 0;
        int r;

        for (size_t i = 0; i < SLOTS_MAX; i++)
                if (is_running(p, i) && !is_held(p, i)) {
                        slots[n] = i;
                        fds[n++] = (struct pollfd){ .fd = p->slots[i].fd, .events = POLLIN };
                }
        fds[n] = (struct pollfd){ .fd = p->options->stop_fd, .events = POLLIN };
        r = poll(fds, n + 1, time_to_wait(p));
        if (r < 0)
                return errno == EINTR ? 0 : error_errno(err, "poll of the symbolizer");
        if (fds[n].revents)
                return error_set(err, -EINTR, "symbolizer: stopped");
        for (nfds_t i = 0; i < n; i++)
                if (fds[i].revents)
                        read_worker(&p->slots[slots[i]]);
        stop_late_ones(p);
        return 0;
}

/* ---- what they say ------------------------------------------------------------------------------------- */

static void note_failure(struct pool *p, const struct error *why)
{
        if (p->first_failure.code == 0) {
                p->first_failure = *why;
                if (p->intake.module != 0)
                        (void)error_set(&p->first_failure, why->code, "%s at module %u", why->text,
                                        p->intake.module);
        }
        p->n_failures++;
        /* If a child could not even begin its work, the next child would fail as well. */
        if (p->intake.module == 0 || p->n_failures == SYMBOL_PROCESS_DEATHS_MAX)
                p->is_over = true;
}

static void finish_head(struct pool *p, struct symbol_worker *w, size_t slot, const struct error *why)
{
        symbol_intake_end(&p->intake, why->code == 0);
        if (why->code != 0)
                note_failure(p, why);
        symbol_worker_deinit(w);
        p->is_used[slot] = false;
        p->head++;
        p->head_has_begun = false;
}

/*
 * Reads from the task whose turn it is.  Returns 1 if the task is over, 0 if there is more to come, or an
 * error of the parent itself.
 */
static int take_head(struct pool *p, size_t slot, struct error *err)
{
        struct symbol_worker *w = &p->slots[slot];
        struct error why = ERROR_NONE;
        bool is_ours = false;

        if (!p->head_has_begun) {
                symbol_intake_begin(&p->intake, w->task);
                w->deadline_ns = clock_raw_ns() + p->task_ns; /* it may have been held */
                p->head_has_begun = true;
        }
        if (symbol_intake_take(&p->intake, &w->in, &is_ours, &why) < 0 && is_ours)
                return error_set(err, why.code, "%s", why.text);
        if (why.code == 0 && !p->intake.is_at_end && w->pid != 0)
                return 0;
        symbol_worker_stop(w);
        if (why.code == 0 && !p->intake.is_at_end)
                why = w->why.code != 0 ? w->why : (struct error){ -EPROTO, "symbolizer: ended early" };
        finish_head(p, w, slot, &why);
        return 1;
}

/* As far as the turn has come. */
static int take_in_turn(struct pool *p, struct error *err)
{
        for (size_t i = 0; i < SLOTS_MAX; i++) {
                int r;

                if (!p->is_used[i] || p->slots[i].task != p->head)
                        continue;
                r = take_head(p, i, err);
                if (r <= 0)
                        return r;
                i = SIZE_MAX; /* the next one may lie before it */
        }
        return 0;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int work(struct pool *p, struct error *err)
{
        int r = 0;

        while (r == 0) {
                r = start_workers(p, err);
                if (r < 0 || count_running(p) == 0)
                        break;
                r = wait_for_workers(p, err);
                if (r == -EINTR) {
                        for (size_t i = 0; i < SLOTS_MAX; i++)
                                symbol_worker_stop(&p->slots[i]);
                        p->is_over = true;
                        (void)take_in_turn(p, NULL);
                } else if (r == 0) {
                        r = take_in_turn(p, err);
                }
        }
        return r;
}

static int run_pool(struct pool *p, struct error *err)
{
        int r = work(p, err);

        symbol_intake_end(&p->intake, false);
        for (size_t i = 0; i < SLOTS_MAX; i++)
                if (p->is_used[i])
                        symbol_worker_deinit(&p->slots[i]);
        if (p->options->ret_n_news)
                *p->options->ret_n_news = p->intake.n_news;
        if (r == 0 && p->first_failure.code != 0)
                r = error_set(err, p->first_failure.code, "%s", p->first_failure.text);
        return r;
}

static int run_one(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                   struct symbolizer *symbolizer, symbol_process_task *task, int kallsyms_fd,
                   struct error *err)
{
        struct pool *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return error_set(err, -ENOMEM, "no memory for the symbolizer");
        p->options = options;
        p->task_ns = (options->task_s ? options->task_s : SYMBOL_PROCESS_TASK_S_MAX) * NS_PER_S;
        p->n_workers_max = options->n_workers ? options->n_workers : count_cpus();
        p->n_tasks = symbolizer_count_tasks(symbolizer);
        p->child = (struct symbol_worker_options){
                .run = task,
                .symbolizer = symbolizer,
                .user = { options->run_as_uid, options->run_as_gid },
                .kallsyms_fd = kallsyms_fd,
                .spool_fd = options->spool ? options->spool->fd : -1,
                .cache_fd = options->cache ? options->cache->folder.fd : -1,
                .wants_findings = options->findings != NULL,
        };
        r = options->spool ? image_spool_seal(options->spool, err) : 0;
        if (r == 0)
                r = symbol_intake_init(&p->intake, dictionary, options, symbolizer, err);
        if (r == 0) {
                r = run_pool(p, err);
                symbol_intake_deinit(&p->intake);
        }
        free(p);
        return r;
}

int symbol_process_run_task(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                            symbol_process_task *task, struct error *err)
{
        int kallsyms_fd = options->kallsyms_fd > 0 ? options->kallsyms_fd : -1;
        struct symbolizer *symbolizer = NULL;
        struct symbolizer_options what = { .first_frame = options->first_frame,
                                           .search = options->search,
                                           .spool = options->spool,
                                           .cache = options->cache,
                                           .only_kernel = options->only_kernel,
                                           .is_at_end = options->is_at_end };
        int own_fd = -1;
        int r = symbolizer_new(dictionary, &what, &symbolizer, err);

        if (r < 0)
                return r;
        /* The parent opens this file because the child is not allowed to see the kernel's addresses. */
        if (kallsyms_fd < 0)
                kallsyms_fd = own_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        r = run_one(dictionary, options, symbolizer, task, kallsyms_fd, err);
        io_close(&own_fd);
        symbolizer_free(symbolizer);
        return r;
}

int symbol_process_run(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                       struct error *err)
{
        return symbol_process_run_task(dictionary, options, symbolizer_resolve, err);
}
