/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/argument_words.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/recording/control_socket.h"
#include "view/document/view_document.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA        "hyprof.ctl/1"
#define VERBS         "status|pause|resume|stop|dump|mark"
#define RECORDERS_MAX 64 /* that are looked at; a user has few at a time */
#define VALUE_BYTES   512

/* A recorder that answers. */
struct found_recorder {
        char path[CONTROL_SOCKET_PATH];
        char status[CONTROL_SOCKET_BYTES];
};

struct arguments {
        struct output_options output;
        struct found_recorder *recorders; /* RECORDERS_MAX of them */
        size_t n_recorders;
};

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof ctl",
        .operands = "[PID] " VERBS " [TEXT]",
        .n_operands_max = 3,
        .about =
                "Controls a recording that is running.  PID is that of the recorder or of the command that it\n"
                "records; it may be left out if you have one recording.\n"
                "\n"
                "  status     what is recorded, since when, and how much of it there is\n"
                "  pause      take no samples, and let programs begin nothing new; context switches go on\n"
                "  resume     go on\n"
                "  stop       end the recording, and keep the trace; the command runs on\n"
                "  dump       write what the ring holds now (hyprof record --ring)\n"
                "  mark TEXT  put a message at this moment\n"
                "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = done; 1 = there is no such recording, or it refused; 2 = usage\n",
        .stray_advice = "hyprof ctl mark 'a text in quotes'",
};

static int cmd_ctl_take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = output_options_take(&args->output, letter, value);

        return r < 0 ? r : 0;
}

/* ---- recorders ----------------------------------------------------------------------------------------- */

/* The value of a key in a status; empty if it has none. */
static void cmd_ctl_find(const char *status, const char *key, char ret_value[VALUE_BYTES])
{
        size_t key_bytes = strlen(key);

        ret_value[0] = '\0';
        for (const char *line = status; line && line[0] != '\0';) {
                const char *end = strchr(line, '\n');
                size_t n = end ? (size_t)(end - line) : strlen(line);

                if (n > key_bytes && memcmp(line, key, key_bytes) == 0 && line[key_bytes] == ' ') {
                        (void)snprintf(ret_value, VALUE_BYTES, "%.*s", (int)(n - key_bytes - 1),
                                       line + key_bytes + 1);
                        return;
                }
                line = end ? end + 1 : NULL;
        }
}

static uint64_t cmd_ctl_number(const char *status, const char *key)
{
        char value[VALUE_BYTES];

        cmd_ctl_find(status, key, value);
        return strtoull(value, NULL, 10);
}

/* Only sockets are of interest, and a socket of a killed recorder is removed. */
static void cmd_ctl_try(struct arguments *args, const char *folder, int folder_fd, const char *name)
{
        struct found_recorder *found = &args->recorders[args->n_recorders];
        size_t n = strlen(name), ending = strlen(CONTROL_SOCKET_ENDING);
        struct stat status;
        int r;

        if (args->n_recorders == RECORDERS_MAX || n <= ending ||
            strcmp(name + n - ending, CONTROL_SOCKET_ENDING) != 0 ||
            fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(status.st_mode) ||
            snprintf(found->path, sizeof(found->path), "%s/%s", folder, name) >= (int)sizeof(found->path))
                return;
        r = control_socket_ask(found->path, "status", found->status, NULL);
        if (r == -ECONNREFUSED)
                (void)unlinkat(folder_fd, name, 0);
        args->n_recorders += r == 0;
}

/* $XDG_RUNTIME_DIR usually is /run/user/UID, so that two of the folders are the same one. */
static bool cmd_ctl_is_new(int folder_fd, struct stat *all, size_t *n)
{
        if (fstat(folder_fd, &all[*n]) < 0)
                return false;
        for (size_t i = 0; i < *n; i++)
                if (all[i].st_dev == all[*n].st_dev && all[i].st_ino == all[*n].st_ino)
                        return false;
        (*n)++;
        return true;
}

static void cmd_ctl_find_in(struct arguments *args, const char *folder, int *folder_fd)
{
        DIR *entries = fdopendir(*folder_fd);
        const struct dirent *entry;

        if (!entries)
                return;
        *folder_fd = -1; /* is closed with the entries */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        while ((entry = readdir(entries)))
                cmd_ctl_try(args, folder, dirfd(entries), entry->d_name);
        (void)closedir(entries);
}

static void cmd_ctl_find_all(struct arguments *args)
{
        char folder[CONTROL_SOCKET_PATH];
        struct stat looked_at[CONTROL_SOCKET_FOLDERS];
        size_t n = 0;

        for (unsigned i = 0; i < CONTROL_SOCKET_FOLDERS; i++) {
                int fd = control_socket_folder(i, folder) == 0 ? control_socket_open_folder(folder, NULL)
                                                               : -1;

                if (fd >= 0 && cmd_ctl_is_new(fd, looked_at, &n))
                        cmd_ctl_find_in(args, folder, &fd);
                io_close(&fd);
        }
}

static bool cmd_ctl_is(const struct found_recorder *found, uint64_t pid)
{
        return cmd_ctl_number(found->status, "recorder_pid") == pid ||
               cmd_ctl_number(found->status, "program_pid") == pid;
}

static void cmd_ctl_list(const struct arguments *args, const char *verb)
{
        char trace[VALUE_BYTES];

        complain("error: you have %zu recordings; say which by its process", args->n_recorders);
        for (size_t i = 0; i < args->n_recorders; i++) {
                cmd_ctl_find(args->recorders[i].status, "trace", trace);
                complain("process %" PRIu64 " writes %s",
                         cmd_ctl_number(args->recorders[i].status, "recorder_pid"), trace);
        }
        complain_try("hyprof ctl %" PRIu64 " %s", cmd_ctl_number(args->recorders[0].status, "recorder_pid"),
                     verb);
}

/* The recorder that is meant; NULL after a complaint. */
static const struct found_recorder *cmd_ctl_choose(struct arguments *args, uint64_t pid, const char *verb)
{
        const struct found_recorder *found = NULL;
        size_t n = 0;

        cmd_ctl_find_all(args);
        for (size_t i = 0; i < args->n_recorders; i++)
                if (pid == 0 || cmd_ctl_is(&args->recorders[i], pid)) {
                        found = &args->recorders[i];
                        n++;
                }
        if (n == 1)
                return found;
        if (n > 1) {
                cmd_ctl_list(args, verb);
                return NULL;
        }
        if (pid != 0)
                complain("error: process %" PRIu64 " records nothing of yours, and is not recorded by you",
                         pid);
        else
                complain("error: you have no recording that is running");
        complain_try("hyprof record -- COMMAND");
        return NULL;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static const struct {
        const char *key, *title;
        enum view_type type;
} facts[] = {
        { "recorder_pid", "recorder", VIEW_ID },   { "program_pid", "program", VIEW_ID },
        { "state", "state", VIEW_STRING },         { "elapsed_ns", "for", VIEW_DURATION },
        { "paused_ns", "paused", VIEW_DURATION },  { "n_pauses", "pauses", VIEW_COUNT },
        { "n_marks", "marks", VIEW_COUNT },        { "n_samples", "samples", VIEW_COUNT },
        { "n_zones", "zones", VIEW_COUNT },        { "n_lost", "lost", VIEW_COUNT },
        { "file_bytes", "trace has", VIEW_BYTES }, { "mode", "mode", VIEW_STRING },
        { "trace", "trace", VIEW_STRING },
};

static int cmd_ctl_print_status(struct output_options *output, const char *status)
{
        struct view_document d;
        char value[VALUE_BYTES];
        int code;

        view_document_init(&d, SCHEMA);
        for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
                cmd_ctl_find(status, facts[i].key, value);
                if (facts[i].type == VIEW_STRING)
                        view_document_add_string(&d, facts[i].key, facts[i].title,
                                                 (struct text_view){ value, strlen(value) });
                else
                        view_document_add_number(&d, facts[i].key, facts[i].title, facts[i].type,
                                                 strtoull(value, NULL, 10));
        }
        code = output_options_print(output, &d);
        view_document_deinit(&d);
        return code;
}

static int cmd_ctl_send(const struct found_recorder *to, const char *verb, const char *text, bool quiet)
{
        char request[CONTROL_SOCKET_BYTES], answer[CONTROL_SOCKET_BYTES];
        struct error err = ERROR_NONE;

        if (snprintf(request, sizeof(request), text ? "%s %s" : "%s", verb, text) >= (int)sizeof(request)) {
                complain("error: the text has more than %d bytes", CONTROL_SOCKET_BYTES - 16);
                return EXIT_STATUS_USAGE;
        }
        if (control_socket_ask(to->path, request, answer, &err) < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        if (strncmp(answer, "ok", 2) != 0) {
                complain("%.200s", answer);
                return EXIT_STATUS_FAILED;
        }
        if (!quiet)
                complain("%.200s", answer[2] == ' ' ? answer + 3 : answer);
        return EXIT_STATUS_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int cmd_ctl_refuse(const char *words, const char *what)
{
        complain("error: %s%s", words, what);
        complain_try("hyprof ctl --help");
        return EXIT_STATUS_USAGE;
}

/* [PID] VERB [TEXT]; NULL = all is well. */
static const char *cmd_ctl_parse(char **operands, int n, uint64_t *ret_pid, const char **ret_verb,
                                 const char **ret_text)
{
        int at = 0;

        *ret_pid = 0;
        *ret_text = NULL;
        if (n > 0 && option_parse_number(operands[0], 1, INT32_MAX, ret_pid) == 0)
                at++;
        if (at == n)
                return "what to do is missing: " VERBS;
        *ret_verb = operands[at++];
        if (argument_words_find(VERBS, *ret_verb) < 0)
                return "expected one of " VERBS ", not ";
        if (strcmp(*ret_verb, "mark") == 0) {
                if (at == n || operands[at][0] == '\0')
                        return "mark needs a text";
                *ret_text = operands[at++];
        }
        if (at < n) {
                *ret_verb = operands[at];
                return "unexpected argument ";
        }
        return NULL;
}

static int cmd_ctl_run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        const struct found_recorder *to;
        const char *verb = "", *text, *wrong;
        uint64_t pid;

        if (output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        wrong = cmd_ctl_parse(common->operands, common->n_operands, &pid, &verb, &text);
        if (wrong)
                return cmd_ctl_refuse(wrong, wrong[strlen(wrong) - 1] == ' ' ? verb : "");
        args->recorders = calloc(RECORDERS_MAX, sizeof(*args->recorders));
        if (!args->recorders) {
                complain("error: no memory");
                return EXIT_STATUS_FAILED;
        }
        to = cmd_ctl_choose(args, pid, verb);
        if (!to)
                return EXIT_STATUS_FAILED;
        if (strcmp(verb, "status") != 0)
                return cmd_ctl_send(to, verb, text, common->quiet);
        output_options_complete(&args->output);
        return cmd_ctl_print_status(&args->output, to->status);
}

const struct option_table *cmd_ctl_options(void)
{
        return &table;
}

int cmd_ctl(int argc, char **argv)
{
        struct arguments args = { .n_recorders = 0 };
        const struct command_frame frame = {
                .table = &table, .take = cmd_ctl_take_option, .context = &args, .run = cmd_ctl_run
        };
        int status;

        output_options_init(&args.output);
        status = command_frame_run(&frame, argc, argv);
        free(args.recorders);
        return status;
}
