/* SPDX-License-Identifier: MIT */
#include "cli/top/top_input.h"

#include "analyze/live/live_shown.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/files/cache_folder.h"
#include "format/trace_dictionary.h"
#include "format/trace_follow.h"
#include "format/trace_reader.h"
#include "symbolize/kernel/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_NS     (100 * NS_PER_MS)
#define PAUSE_NS    (NS_PER_S * 3 / 2) /* after such a pause of events, the clock goes on without them */
#define END_STEP_MS 50
#define END_STEPS   60 /* the recorder has 3 s to end by itself after a signal */
#define PIPE_BYTES  (1 << 20)

/* ---- opening ------------------------------------------------------------------------------------------- */

static void prepare(struct top_input *in)
{
        *in = (struct top_input){ .kallsyms_fd = -1, .words_fd = -1 };
        in->names.child_fd = -1;
}

static int follow(struct top_input *in, const struct trace_follow_options *options, struct error *err)
{
        struct live_names_options naming = { .kallsyms_fd = in->kallsyms_fd };
        int r = trace_follow_open(options, &in->follow, err);

        if (r < 0)
                return r;
        in->has_cache = cache_folder_open(&in->cache) && index_cache_prepare(&in->cache, NULL) == 0;
        naming.dictionary = trace_follow_dictionary(in->follow);
        naming.cache = in->has_cache ? &in->cache : NULL;
        live_names_init(&in->names, &naming);
        r = live_stats_init(&in->stats, naming.dictionary);
        return r < 0 ? error_set(err, r, "no memory for the last seconds") : 0;
}

int top_input_open(struct top_input *in, const char *path, struct error *err)
{
        const struct trace_follow_options options = { .path = path };

        prepare(in);
        in->kallsyms_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        return follow(in, &options, err);
}

/* The child's side: standard output is the trace. */
static _Noreturn void run_recording(top_recording *record, void *context, int trace_fd, int words_fd)
{
        int null_fd = words_fd >= 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (dup2(trace_fd, STDOUT_FILENO) < 0 || (words_fd >= 0 && dup2(words_fd, STDERR_FILENO) < 0) ||
            (null_fd >= 0 && dup2(null_fd, STDIN_FILENO) < 0))
                _exit(EXIT_FAILURE);
        exit(record(context)); /* NOLINT(concurrency-mt-unsafe): there is one thread */
}

int top_input_record(struct top_input *in, top_recording *record, void *context, bool keeps_words,
                     struct error *err)
{
        struct trace_follow_options options = { .path = "the recording" };
        int trace[2], words[2] = { -1, -1 };

        prepare(in);
        if (pipe2(trace, O_CLOEXEC) < 0 || (keeps_words && pipe2(words, O_CLOEXEC) < 0))
                return error_errno(err, "a pipe for the recording");
        (void)fcntl(trace[0], F_SETPIPE_SZ, PIPE_BYTES);
        in->kallsyms_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        in->recorder = fork();
        if (in->recorder == 0)
                run_recording(record, context, trace[1], words[1]);
        io_close(&trace[1]);
        io_close(&words[1]);
        in->words_fd = words[0];
        if (in->recorder < 0) {
                in->recorder = 0;
                io_close(&trace[0]);
                return error_errno(err, "fork of the recorder");
        }
        (void)setpgid(in->recorder, in->recorder);
        options.fd = trace[0];
        return follow(in, &options, err);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static bool has_ended(struct top_input *in)
{
        if (in->recorder > 0 && waitpid(in->recorder, &in->recorder_status, WNOHANG) == in->recorder)
                in->recorder = 0;
        return in->recorder == 0;
}

/* Discards the rest of the trace, because a recorder that waits to write it would not end. */
static void end_recorder(struct top_input *in)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGKILL };

        for (size_t k = 0; k < sizeof(signals) / sizeof(signals[0]) && !has_ended(in); k++) {
                (void)kill(-in->recorder, signals[k]);
                trace_follow_close(in->follow); /* its writes fail from now on */
                in->follow = NULL;
                for (int i = 0; i < END_STEPS && !has_ended(in); i++)
                        (void)poll(NULL, 0, END_STEP_MS);
        }
}

void top_input_close(struct top_input *in)
{
        end_recorder(in);
        live_shown_free(in->shown);
        live_names_deinit(&in->names);
        if (in->stats.dictionary)
                live_stats_deinit(&in->stats);
        trace_follow_close(in->follow);
        if (in->has_cache)
                index_cache_close(&in->cache);
        io_close(&in->kallsyms_fd);
        io_close(&in->words_fd);
}

/* ---- what comes ---------------------------------------------------------------------------------------- */

/* The latest bytes are kept. */
static void read_words(struct top_input *in)
{
        struct pollfd ready = { .fd = in->words_fd, .events = POLLIN };
        char bytes[TOP_INPUT_WORDS_BYTES / 2];
        ssize_t got;

        if (in->words_fd < 0 || poll(&ready, 1, 0) <= 0)
                return;
        got = read(in->words_fd, bytes, sizeof(bytes));
        if (got <= 0) {
                io_close(&in->words_fd);
                return;
        }
        if (in->n_words + (size_t)got > sizeof(in->words)) {
                size_t n_away = in->n_words + (size_t)got - sizeof(in->words);

                in->n_words -= n_away;
                memmove(in->words, in->words + n_away, in->n_words);
        }
        memcpy(in->words + in->n_words, bytes, (size_t)got);
        in->n_words += (size_t)got;
}

bool top_input_wait(struct top_input *in, int fd, int timeout_ms)
{
        struct pollfd fds[4] = { { .fd = fd, .events = POLLIN },
                                 { .fd = in->is_over ? -1 : trace_follow_fd(in->follow), .events = POLLIN },
                                 { .fd = in->words_fd, .events = POLLIN },
                                 { .fd = live_names_fd(&in->names), .events = POLLIN } };

        if (!in->is_over && fds[1].fd < 0 && timeout_ms > TRACE_FOLLOW_LOOK_MS)
                timeout_ms = TRACE_FOLLOW_LOOK_MS;
        return poll(fds, 4, timeout_ms) > 0 && fds[0].revents != 0;
}

static void note_end(struct top_input *in)
{
        const char *words;
        enum trace_follow_state state = trace_follow_state(in->follow, &words);

        if (state == TRACE_FOLLOW_PAUSED)
                return;
        in->is_over = true;
        (void)snprintf(in->ending, sizeof(in->ending), "%s", words);
}

/* Takes chunks for a while.  Returns 0 or -errno. */
static int take_chunks(struct top_input *in, struct error *err)
{
        uint64_t until_ns = clock_raw_ns() + STEP_NS;
        struct trace_item item;
        int r;

        while ((r = trace_follow_next(in->follow, &item, err)) == 1) {
                struct error cause = ERROR_NONE;

                r = live_stats_add(&in->stats, &item, &cause);
                if (r == -EBADMSG) {
                        in->is_over = true;
                        (void)snprintf(in->ending, sizeof(in->ending), "damaged: %.300s", cause.text);
                        return 0;
                }
                if (r < 0)
                        return error_set(err, r, "%s", cause.text);
                if (item.header.last_ns != 0) {
                        in->arrived_ns = clock_raw_ns();
                        in->latest_ns = item.header.last_ns;
                }
                if (clock_raw_ns() >= until_ns)
                        return 0;
        }
        if (r == 0)
                note_end(in);
        return r;
}

/* Lets the statistics advance in time: an idle program sends nothing, but its time passes all the same. */
static void let_time_pass(struct top_input *in)
{
        uint64_t pause_ns = clock_raw_ns() - in->arrived_ns;

        if (!in->is_over && in->latest_ns != 0 && pause_ns > PAUSE_NS)
                live_stats_advance(&in->stats, in->latest_ns + pause_ns - PAUSE_NS);
}

int top_input_step(struct top_input *in, struct error *err)
{
        int r = 0;

        read_words(in);
        if (!in->is_over)
                r = take_chunks(in, err);
        if (r < 0)
                return r;
        let_time_pass(in);
        (void)has_ended(in);
        r = live_names_step(&in->names);
        if (r == 1)
                r = live_shown_renew(trace_follow_dictionary(in->follow), &in->names, &in->shown);
        return r < 0 ? error_set(err, r, "names of functions: out of memory") : 0;
}

bool top_input_has_failed_early(const struct top_input *in)
{
        return in->is_over && in->latest_ns == 0 && in->ending[0] != '\0';
}
