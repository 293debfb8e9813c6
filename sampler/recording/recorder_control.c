/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorder_state.h"

#include "base/clock.h"
#include "base/io.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/recording/recording_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEVERITY_INFO  2 /* of a message, as in <hyprof/moment.h> */
#define ANSWER_BYTES   CONTROL_SOCKET_BYTES
#define NUMBER_BYTES   11      /* of a PID, with its blank */
#define ATTACHED_MAX   256     /* processes that a status names in its one message */
#define MARKS_MAX      1000000 /* marks of a recording; a bound for loops in scripts */
#define SECONDS_OF(ns) ((double)(ns) / (double)NS_PER_S)
#define MARK_PAUSED    "recording paused"
#define MARK_RESUMED   "recording resumed"
#define NOT_BEGUN      "error: nothing is recorded before the delay (--delay) is over"

static int control_mark(struct recorder *r, const char *text)
{
        return collector_add_message(&r->merge, text, strlen(text), SEVERITY_INFO);
}

static uint64_t paused_in_all_ns(const struct recorder_control *c, uint64_t now_ns)
{
        return c->paused_sum_ns + (c->is_paused ? now_ns - c->paused_ns : 0);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static const char *control_state_name(const struct recorder *r)
{
        if (!r->merging)
                return "delayed";
        return r->control.is_paused ? "paused" : "recording";
}

/*
 * Lists the processes that -p and -t name and that have not ended; a process of several named threads is
 * listed once.
 */
static void list_attached(const struct attachment *a, char text[ATTACHED_MAX * NUMBER_BYTES + 1])
{
        uint32_t pids[ATTACHED_MAX];
        size_t n = 0, at = 0;

        text[0] = '\0';
        for (size_t i = 0; i < a->n_named && n < ATTACHED_MAX; i++) {
                size_t same = 0;

                while (same < n && pids[same] != a->named[i].pid)
                        same++;
                if (same < n || a->named[i].pid_fd < 0)
                        continue;
                pids[n++] = a->named[i].pid;
                at += (size_t)snprintf(text + at, NUMBER_BYTES + 1, " %" PRIu32, a->named[i].pid);
        }
}

static void answer_status(struct recorder *r, const char *text, char *answer)
{
        const struct recorder_control *c = &r->control;
        const struct recorder_progress *p = &r->result->progress;
        uint64_t now_ns = clock_raw_ns();
        char attached[ATTACHED_MAX * NUMBER_BYTES + 1];

        (void)text;
        list_attached(&r->scope.attachment, attached);
        (void)snprintf(
                answer, ANSWER_BYTES,
                "recorder_pid %d\nprogram_pid %d\nstate %s\nelapsed_ns %" PRIu64 "\npaused_ns %" PRIu64
                "\nn_pauses %" PRIu32 "\nn_marks %" PRIu32 "\nn_samples %" PRIu64 "\nn_zones %" PRIu64
                "\nn_lost %" PRIu64 "\nfile_bytes %" PRIu64 "\nmode %s\ntrace %.500s\nattached_pids%s\n",
                (int)getpid(), r->command.pid > 0 ? (int)r->command.pid : 0, control_state_name(r),
                now_ns - r->start_ns, paused_in_all_ns(c, now_ns), c->n_pauses, c->n_marks, p->n_samples,
                p->n_zones, p->n_lost, p->file_bytes, r->options->flight ? "ring" : "file",
                r->options->trace_name ? r->options->trace_name : "-", attached);
}

static void pause_recording(struct recorder *r, const char *text, char *answer)
{
        struct recorder_control *c = &r->control;

        (void)text;
        (void)snprintf(answer, ANSWER_BYTES, c->is_paused ? "ok already paused" : "ok paused");
        if (c->is_paused)
                return;
        event_set_pause(&r->events, true);
        zone_source_pause(&r->merge.zones, true);
        c->is_paused = true;
        c->paused_ns = clock_raw_ns();
        c->n_pauses++;
        (void)control_mark(r, MARK_PAUSED);
}

static void resume_recording(struct recorder *r, const char *text, char *answer)
{
        struct recorder_control *c = &r->control;
        uint64_t now_ns = clock_raw_ns();

        (void)text;
        (void)snprintf(answer, ANSWER_BYTES, c->is_paused ? "ok resumed" : "ok not paused");
        if (!c->is_paused)
                return;
        (void)control_mark(r, MARK_RESUMED);
        c->paused_sum_ns += now_ns - c->paused_ns;
        c->is_paused = false;
        zone_source_pause(&r->merge.zones, false);
        event_set_pause(&r->events, false);
}

static void stop_recording(struct recorder *r, const char *text, char *answer)
{
        (void)text;
        r->stop_ns = 0; /* has passed */
        r->control.is_stopped = true;
        (void)snprintf(answer, ANSWER_BYTES, "ok the recording ends");
}

static void control_add_mark(struct recorder *r, const char *text, char *answer)
{
        struct recorder_control *c = &r->control;

        if (text[0] == '\0') {
                (void)snprintf(answer, ANSWER_BYTES, "error: a mark has a text");
        } else if (c->n_marks >= MARKS_MAX) {
                (void)snprintf(answer, ANSWER_BYTES, "error: there are %d marks already", MARKS_MAX);
        } else if (control_mark(r, text) < 0) {
                (void)snprintf(answer, ANSWER_BYTES, "error: no room for the mark");
        } else {
                c->n_marks++;
                (void)snprintf(answer, ANSWER_BYTES, "ok marked");
        }
}

static const struct {
        const char *word;
        bool in_delay; /* also taken before anything is recorded */
        void (*take)(struct recorder *r, const char *text, char *answer);
} requests[] = {
        { "status", true, answer_status },     { "pause", false, pause_recording },
        { "resume", false, resume_recording }, { "stop", true, stop_recording },
        { "mark", false, control_add_mark },
};

static void control_take_request(struct recorder *r, const char *request, char *answer)
{
        size_t word_bytes = strcspn(request, " ");
        const char *text = request + word_bytes + (request[word_bytes] == ' ');

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                if (strlen(requests[i].word) != word_bytes ||
                    memcmp(requests[i].word, request, word_bytes) != 0)
                        continue;
                if (r->merging || requests[i].in_delay)
                        requests[i].take(r, text, answer);
                else
                        (void)snprintf(answer, ANSWER_BYTES, NOT_BEGUN);
                return;
        }
        (void)snprintf(answer, ANSWER_BYTES, "error: unknown request; this is hyprof %s", HYPROF_VERSION);
}

/* ---- dumps --------------------------------------------------------------------------------------------- */

/* Takes the connection over: the answer comes when the dump is written. */
static void ask_dump(struct recorder *r, int connection)
{
        struct recorder_control *c = &r->control;

        const char *refusal = NULL;

        if (!r->options->flight)
                refusal = "error: the whole recording goes into its file; dumps are of recordings with "
                          "--ring";
        else if (!r->merging)
                refusal = NOT_BEGUN;
        else if (c->dump_connection >= 0)
                refusal = "error: a dump is being written already";
        if (refusal) {
                control_socket_answer(&connection, refusal);
                return;
        }
        c->dump_connection = connection;
        c->n_dumps_before = r->flight.totals.n_dumps;
        c->n_failed_before = r->flight.totals.n_failed;
        flight_recorder_want(&r->flight);
}

static void answer_dump(struct recorder *r)
{
        struct recorder_control *c = &r->control;

        if (c->dump_connection < 0 || flight_recorder_is_busy(&r->flight))
                return;
        if (r->flight.totals.n_failed > c->n_failed_before)
                control_socket_answer(&c->dump_connection, "error: the dump could not be written");
        else if (r->flight.totals.n_dumps > c->n_dumps_before)
                control_socket_answer(&c->dump_connection, "ok written");
}

/* ---- both ---------------------------------------------------------------------------------------------- */

void recorder_control_cycle(struct recorder *r)
{
        char request[CONTROL_SOCKET_BYTES], answer[ANSWER_BYTES];
        int connection;

        answer_dump(r);
        while (control_socket_next(&r->control.socket, request, &connection) == 1) {
                if (strcmp(request, "dump") == 0) {
                        ask_dump(r, connection);
                        continue;
                }
                control_take_request(r, request, answer);
                control_socket_answer(&connection, answer);
        }
}

/* The detail of the notice PAUSED. */
static void describe_pauses(const struct recorder_control *c, uint64_t now_ns,
                            char ret_words[FLIGHT_RECORDER_PAUSES_BYTES])
{
        (void)snprintf(ret_words, FLIGHT_RECORDER_PAUSES_BYTES, "%" PRIu32 " time%s, %.3f s in all",
                       c->n_pauses, c->n_pauses == 1 ? "" : "s", SECONDS_OF(paused_in_all_ns(c, now_ns)));
}

void recorder_control_note_pauses(struct recorder *r, uint64_t now_ns)
{
        if (r->options->flight && r->control.n_pauses > 0)
                describe_pauses(&r->control, now_ns, r->flight.pauses);
}

void recorder_control_end(struct recorder *r, uint64_t now_ns)
{
        struct recorder_control *c = &r->control;
        char words[FLIGHT_RECORDER_PAUSES_BYTES];

        if (c->dump_connection >= 0)
                control_socket_answer(&c->dump_connection, "error: the recording ended before");
        control_socket_close(&c->socket);
        if (c->n_pauses == 0)
                return;
        describe_pauses(c, now_ns, words);
        (void)recording_facts_add_notice(r->dictionary, TRACE_NOTICE_PAUSED, words);
}
