/* SPDX-License-Identifier: MIT */
#include "sampler/merge/flight_recorder.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "sampler/kernel/host_clocks.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/dump_head.h"
#include "sampler/merge/ring_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define CAUSE_SIGNAL  "SIGUSR2"
#define CAUSE_REQUEST "hyprof ctl dump"
#define CAUSE_END     "the end of the recording"

int flight_recorder_open(struct flight_recorder *f, const struct flight_options *options,
                         struct trace_dictionary *dictionary, struct error *err)
{
        sigset_t signals;

        *f = (struct flight_recorder){ .options = options, .dictionary = dictionary, .signal_fd = -1 };
        if (!options)
                return 0;
        chunk_ring_init(&f->ring, &options->ring);
        zone_trigger_init(&f->trigger, options->rules, options->n_rules, dictionary);
        (void)sigemptyset(&signals);
        (void)sigaddset(&signals, SIGUSR2);
        (void)pthread_sigmask(SIG_BLOCK, &signals, NULL); /* cannot fail for these arguments */
        f->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        return f->signal_fd < 0 ? error_errno(err, "signalfd") : 0;
}

void flight_recorder_close(struct flight_recorder *f)
{
        if (!f->options)
                return;
        io_close(&f->signal_fd);
        zone_trigger_deinit(&f->trigger);
        chunk_ring_deinit(&f->ring);
        f->options = NULL;
}

struct zone_trigger *flight_recorder_trigger(struct flight_recorder *f)
{
        return f->options && f->options->n_rules > 0 ? &f->trigger : NULL;
}

/* ---- why ----------------------------------------------------------------------------------------------- */

static bool read_signals(struct flight_recorder *f)
{
        struct signalfd_siginfo info;
        bool some = false;

        while (read(f->signal_fd, &info, sizeof(info)) == sizeof(info))
                some = true;
        return some;
}

/*
 * True if everything that was in the ring at the last dump has been replaced.  Otherwise the next dump
 * would mostly hold the same events.
 */
static bool has_refilled(const struct flight_recorder *f, struct collector *m)
{
        uint64_t keep_ns = f->options->ring.keep_ns;

        if (f->refilled_ns == 0 || writer_thread_dropped_ns(m->writer) >= f->refilled_ns)
                return true;
        return keep_ns > 0 && m->until_ns >= f->refilled_ns && m->until_ns - f->refilled_ns >= keep_ns;
}

/* Returns true if one of the instances that were too long is a reason for a dump. */
static bool take_hits(struct flight_recorder *f, struct collector *m)
{
        struct zone_trigger_hit hit;
        uint64_t n = zone_trigger_take(&f->trigger, &hit);

        f->totals.n_hits += n;
        f->totals.n_hits_without += n;
        if (n == 0 || f->step != FLIGHT_IDLE || f->totals.n_triggered >= f->options->n_triggered_max ||
            !has_refilled(f, m))
                return false;
        f->totals.n_hits_without--;
        f->totals.n_triggered++;
        f->refilled_ns = m->until_ns;
        (void)snprintf(f->cause, sizeof(f->cause), "%.80s: an instance of %.3f ms on thread %" PRIu32,
                       hit.rule->words, (double)(hit.end_ns - hit.begin_ns) / (double)NS_PER_MS, hit.tid);
        return true;
}

static bool is_wanted(struct flight_recorder *f, struct collector *m)
{
        f->signalled = read_signals(f) || f->signalled;
        if (take_hits(f, m))
                return true;
        if ((!f->signalled && !f->requested) || f->step != FLIGHT_IDLE)
                return false;
        (void)snprintf(f->cause, sizeof(f->cause), "%s", f->signalled ? CAUSE_SIGNAL : CAUSE_REQUEST);
        f->signalled = f->requested = false;
        return true;
}

void flight_recorder_want(struct flight_recorder *f)
{
        f->requested = true;
}

bool flight_recorder_is_busy(const struct flight_recorder *f)
{
        return f->requested || f->signalled || f->step != FLIGHT_IDLE;
}

/* ---- step by step -------------------------------------------------------------------------------------- */

static int ask(struct flight_recorder *f, struct collector *m, struct error *err)
{
        int r = host_clocks_add(f->dictionary); /* the last readings of this dump */

        if (r == 0)
                r = collector_flush(m);
        f->dump = (struct flight_dump){ .cause = f->cause, .end_ns = m->until_ns };
        if (r == 0)
                r = writer_thread_ask_snapshot(m->writer, m->until_ns);
        f->step = FLIGHT_ASKED;
        return r < 0 ? error_set(err, r, "cannot hand chunks to the writer") : 0;
}

/* Reports the end of a dump, whether it succeeded or failed. */
static void tell(struct flight_recorder *f, const struct error *failure)
{
        f->step = FLIGHT_IDLE;
        f->dump.failure = failure;
        f->totals.n_dumps += failure == NULL;
        f->totals.n_failed += failure != NULL;
        f->options->on_dump(f->options->context, &f->dump);
}

/* Before the dump's events come the table rows that they refer to, and the dump's own rows. */
static int put_dump(struct flight_recorder *f, struct collector *m,
                    const struct writer_thread_snapshot *snapshot, bool is_last, struct error *err)
{
        struct ring_dump *dump = ring_dump_new(f->dump.writer);
        struct dump_head head = { .keep = f->options->keep,
                                  .cause = f->dump.cause,
                                  .pauses = is_last ? "" : f->pauses,
                                  .start_ns = f->start_ns,
                                  .from_ns = f->start_ns,
                                  .end_ns = f->dump.end_ns,
                                  .n_open = snapshot->n_open,
                                  .is_cut = snapshot->is_cut,
                                  .is_last = is_last };
        int r = dump ? 0 : -ENOMEM;

        if (snapshot->is_cut && snapshot->from_ns > head.from_ns)
                head.from_ns = snapshot->from_ns;
        f->dump.from_ns = head.from_ns;
        if (r == 0) {
                dump->goes_on = is_last;
                r = dump_head_add(&head, f->dictionary, dump);
        }
        if (r == 0)
                r = collector_flush_tables(m);
        f->dump.n_strings = trace_dictionary_count(f->dictionary, TRACE_TABLE_STRINGS);
        f->dump.n_frames = trace_dictionary_count(f->dictionary, TRACE_TABLE_FRAMES);
        if (r == 0)
                r = writer_thread_put_dump(m->writer, dump);
        if (r < 0) {
                ring_dump_free(dump);
                return error_set(err, r, "cannot describe what the ring holds");
        }
        f->step = FLIGHT_WRITING;
        return 0;
}

/*
 * Begins a dump.  Returns 0, also if there is no file for the dump; -errno if the recording cannot go on.
 */
static int begin(struct flight_recorder *f, struct collector *m,
                 const struct writer_thread_snapshot *snapshot, struct error *err)
{
        struct error failure = ERROR_NONE;
        int fd, r = f->options->open_file(f->options->context, &fd, &failure);

        if (r == 0)
                r = trace_writer_new(fd, &f->dump.writer, &failure);
        if (r == 0)
                return put_dump(f, m, snapshot, false, err);
        tell(f, &failure);
        return 0;
}

/* Takes the dumps that are done by now or, with @wait, all dumps that were begun. */
static int go_on(struct flight_recorder *f, struct collector *m, bool wait, struct error *err)
{
        struct writer_thread_snapshot snapshot;
        struct ring_dump *done;
        int r = 0;

        if (f->step == FLIGHT_ASKED && writer_thread_take_snapshot(m->writer, wait, &snapshot))
                r = begin(f, m, &snapshot, err);
        if (r < 0 || f->step != FLIGHT_WRITING)
                return r;
        done = writer_thread_take_dump(m->writer, wait);
        if (!done)
                return 0;
        tell(f, done->failure.code < 0 ? &done->failure : NULL);
        ring_dump_free(done);
        return 0;
}

/* Reports a full table once: a recording that goes on for days may fill its tables. */
static void tell_full(struct flight_recorder *f)
{
        const char *table = f->full_told ? NULL : trace_dictionary_find_full(f->dictionary);

        if (!table)
                return;
        f->full_told = true;
        f->options->on_full(f->options->context, table);
}

int flight_recorder_cycle(struct flight_recorder *f, struct collector *m, struct error *err)
{
        int r;

        if (!f->options)
                return 0;
        tell_full(f);
        r = go_on(f, m, false, err);
        if (r == 0 && is_wanted(f, m))
                r = ask(f, m, err);
        return r;
}

int flight_recorder_finish(struct flight_recorder *f, struct collector *m, struct trace_writer *writer,
                           struct error *err)
{
        struct writer_thread_snapshot snapshot;
        struct ring_dump *done;
        int r;

        if (!f->options)
                return 0;
        r = go_on(f, m, true, err);
        (void)take_hits(f, m); /* the last cycle's instances are in the final trace */
        (void)snprintf(f->cause, sizeof(f->cause), CAUSE_END);
        if (r < 0)
                return r;
        r = ask(f, m, err);
        if (r < 0)
                return r;
        if (!writer_thread_take_snapshot(m->writer, true, &snapshot))
                return error_set(err, -EINTR, "the ring was not written");
        f->dump.writer = writer;
        r = put_dump(f, m, &snapshot, true, err);
        if (r < 0)
                return r;
        done = writer_thread_take_dump(m->writer, true);
        if (!done)
                return error_set(err, -EINTR, "gave up waiting for the reader of the trace");
        r = done->failure.code;
        if (r < 0)
                (void)error_set(err, r, "%s", done->failure.text);
        ring_dump_free(done);
        f->totals.events_bytes_peak = f->ring.events_bytes_peak; /* the writer has nothing to do any more */
        f->totals.kept_bytes = f->ring.kept_bytes;
        f->totals.was_full = f->ring.was_full;
        return r;
}
