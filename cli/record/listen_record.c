/* SPDX-License-Identifier: MIT */
#include "cli/record/listen_record.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"
#include "view/text/text_number.h"
#include "web/server/server_confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_DEFAULT (UINT64_C(64) << 20)

/* "127.0.0.1:8086", or the path. */
static void name_address(const struct relay_address *a, char *ret, size_t n)
{
        if (a->path[0] != '\0')
                (void)snprintf(ret, n, "%s", a->path);
        else
                (void)snprintf(ret, n, "127.0.0.1:%u", a->port);
}

static int parse(const char *text, struct relay_address *ret)
{
        struct error err = ERROR_NONE;
        const char *colon = strrchr(text, ':');
        int r = relay_address_parse(text, ret, &err);

        if (r == 0)
                return EXIT_STATUS_OK;
        complain("error: --listen: %s", err.text);
        if (r == -EPERM)
                complain_try(
                        "--listen %s here, and on the other machine: ssh -L %s:127.0.0.1:%s THIS-MACHINE",
                        colon + 1, colon + 1, colon + 1);
        else
                complain_try("hyprof record --listen 8086 ...");
        return EXIT_STATUS_USAGE;
}

static int open_own_file(struct listen_record *l, const struct record_options *options, int *ret_fd)
{
        struct error err = ERROR_NONE;
        char path[32];

        *ret_fd = -1;
        if (!options->has_path)
                return EXIT_STATUS_OK;
        if (output_file_open(&l->file, options->path, options->mode, &err) == 0) {
                (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", l->file.fd);
                *ret_fd = l->file.created ? open(path, O_RDWR | O_CLOEXEC) : -1;
                if (*ret_fd >= 0)
                        return EXIT_STATUS_OK;
                (void)error_set(&err, -ESPIPE, "%s is not a file that takers could be given from",
                                options->path);
                output_file_discard(&l->file);
        }
        complain("error: cannot write the trace: %s", err.text);
        complain_try("hyprof record --listen %s -o FILE ..., with a FILE in a folder of yours",
                     options->listen);
        return EXIT_STATUS_RECORD_FAILED;
}

/* @is_chosen: the kernel chose the port, so the address is a result, and is printed with -q, too */
static void announce_address(const struct listen_record *l, bool quiet, bool is_chosen, const char *name)
{
        if (!quiet || is_chosen)
                complain("listening at %s", name);
        if (!quiet) {
                complain_next("hyprof capture %s -o FILE", name);
                if (l->relay.address.path[0] == '\0')
                        complain_next("ssh -L %u:127.0.0.1:%u THIS-MACHINE, and then the same there",
                                      l->relay.address.port, l->relay.address.port);
        }
}

static int wait_for_taker(struct listen_record *l, const struct record_options *options)
{
        struct error err = ERROR_NONE;

        if (options->no_wait || relay_process_wait_taker(&l->relay, &err) == 0)
                return EXIT_STATUS_OK;
        complain("error: %s", err.text);
        return EXIT_STATUS_RECORD_FAILED;
}

int listen_record_open(struct listen_record *l, struct record_options *options, struct output_file *ret_file)
{
        struct relay_address address;
        struct relay_options relay = {
                .address = &address,
                .bytes_max = options->listen_bytes ? options->listen_bytes : BUFFER_DEFAULT,
                .drops_newest = options->drops_newest,
                .confine = server_confinement_enter,
                .close = server_confinement_close,
        };
        struct error err = ERROR_NONE;
        char name[RELAY_ADDRESS_BYTES + 16];
        int status;

        *l = (struct listen_record){ .relay = { .pipe_fd = -1, .control_fd = -1 }, .file = { .fd = -1 } };
        *ret_file = (struct output_file){ .fd = -1 };
        status = parse(options->listen, &address);
        if (status == EXIT_STATUS_OK)
                status = open_own_file(l, options, &relay.file_fd);
        if (status != EXIT_STATUS_OK)
                return status;
        if (relay_process_start(&l->relay, &relay, &err) < 0) {
                complain("error: --listen %s: %s", options->listen, err.text);
                status = EXIT_STATUS_RECORD_FAILED;
        }
        io_close(&relay.file_fd);
        if (status != EXIT_STATUS_OK)
                return status;
        name_address(&l->relay.address, name, sizeof(name));
        if (!options->has_path) {
                (void)snprintf(l->words, sizeof(l->words), "the capture at %s", name);
                options->path = l->words;
        }
        if (!options->is_attended)
                announce_address(l, options->quiet, address.path[0] == '\0' && address.port == 0, name);
        status = wait_for_taker(l, options);
        *ret_file = (struct output_file){ .path = options->path, .fd = l->relay.pipe_fd };
        l->relay.pipe_fd = -1; /* it is the writer's */
        return status;
}

static void on_wait(void *context)
{
        const struct listen_record *l = context;
        char name[RELAY_ADDRESS_BYTES + 16];

        name_address(&l->relay.address, name, sizeof(name));
        complain("waiting until the trace is taken at %s; Ctrl-C ends that", name);
}

/* The command that attends is here for as long as it takes. */
static void wait_silently(void *context)
{
        (void)context;
}

/* A capture may have written what it had no time to confirm. */
static void complain_of_rest(const struct relay_report *report)
{
        if (report->n_unsure > 0)
                complain(
                        "error: no capture took the end of the recording: %s are lost with it; %s more were sent, and "
                        "not confirmed",
                        text_number_counted(report->n_waiting, "events").text,
                        text_number_count(report->n_unsure).text);
        else
                complain("error: no capture took the end of the recording: %s are lost with it",
                         text_number_counted(report->n_waiting, "events").text);
}

/* Returns false if a part of the trace is kept nowhere. */
static bool report_relay(const struct listen_record *l, const struct record_options *options)
{
        const struct relay_report *report = &l->relay.last;
        bool is_written = options->has_path && report->file_error == 0;

        if (report->file_error != 0)
                complain("warning: %s: %s; the rest was kept in memory", options->path,
                         strerrordesc_np(-report->file_error));
        if (report->n_dropped > 0)
                complain("warning: %s dropped: no capture took them in time; the trace counts them",
                         text_number_counted(report->n_dropped, "events were").text);
        if (!report->is_complete)
                complain_of_rest(report);
        else if (!options->quiet && !options->is_attended)
                complain("%s%s%s%s sent to %s", is_written ? "wrote " : "", is_written ? options->path : "",
                         is_written ? "; " : "", text_number_bytes(report->sent_bytes).text,
                         text_number_counted(report->n_takers, report->n_takers == 1 ? "capture" : "captures")
                                 .text);
        return report->is_complete;
}

bool listen_record_finish(struct listen_record *l, const struct record_options *options, int stop_fd,
                          bool recorded)
{
        struct error err = ERROR_NONE;
        bool is_safe;

        if (!recorded) {
                output_file_discard(&l->file);
                return true;
        }
        if (relay_process_end(&l->relay, options->linger_ns, stop_fd,
                              options->is_attended ? wait_silently : on_wait, l, &err) < 0) {
                complain("error: %s", err.text);
                is_safe = false;
        } else {
                is_safe = report_relay(l, options);
        }
        output_file_close(&l->file);
        return is_safe;
}

void listen_record_close(struct listen_record *l)
{
        relay_process_stop(&l->relay);
        if (l->file.fd >= 0)
                output_file_discard(&l->file);
}
