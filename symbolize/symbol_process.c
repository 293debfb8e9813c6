/* SPDX-License-Identifier: MIT */
#include "symbolize/symbol_process.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/confinement.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/symbol_stream.h"
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLUSH_BYTES 65536 /* the child writes when it has so many */
#define READ_BYTES  65536 /* the parent reads so many at once */

#define WORDS_BYTES_MAX 200 /* of the words of a child's failure */

/* The child's end of the pipe. */
struct sender {
        int fd;
        struct byte_buffer out;
};

/* The parent's side of one run. */
struct receiver {
        struct trace_dictionary *dictionary;
        const struct symbol_process_options *options;
        int kallsyms_fd;
        uint8_t *is_known; /* heap; bit by frame: a frame is answered once */
        uint32_t n_frames;
        uint32_t module;                     /* that the child works at; 0 before its first */
        bool is_at_end;                      /* the child said that it was done */
        int code;                            /* that the child ended with */
        struct symbol_stream_record *record; /* heap: the one being looked at */
};

static int flush(struct sender *sender, struct error *err)
{
        int r;

        if (sender->out.failed)
                return error_set(err, -ENOMEM, "no memory for symbols");
        r = io_write_all(sender->fd, sender->out.data, sender->out.used_bytes, err);
        byte_buffer_clear(&sender->out);
        return r;
}

/* Written at once: if the module kills the child, the parent knows which it was. */
static int send_module(void *context, uint32_t module, struct error *err)
{
        struct sender *sender = context;

        symbol_stream_encode_module(&sender->out, module);
        return flush(sender, err);
}

static int send_symbols(void *context, uint32_t frame, const struct symbol *symbols, uint32_t n_symbols,
                        struct error *err)
{
        struct sender *sender = context;

        symbol_stream_encode_symbols(&sender->out, frame, symbols, n_symbols);
        return sender->out.used_bytes < FLUSH_BYTES && !sender->out.failed ? 0 : flush(sender, err);
}

/* The life of the child, up to its exit status. */
static int run_child(const struct receiver *receiver, symbol_process_task *task, int pipe_fd)
{
        const struct symbol_process_options *options = receiver->options;
        struct error err = ERROR_NONE;
        struct sender sender = { .fd = -1 };
        int fds[2] = { pipe_fd, receiver->kallsyms_fd };
        int r = confinement_enter((struct confinement_user){ options->run_as_uid, options->run_as_gid }, fds,
                                  2, &err);

        sender.fd = fds[0];
        if (r == 0)
                r = task(receiver->dictionary,
                         &(struct symbolizer_options){ .first_frame = options->first_frame,
                                                       .first_module = receiver->module + 1,
                                                       .kallsyms_fd = fds[1] },
                         &(struct symbolizer_sink){ send_module, send_symbols, &sender }, &err);
        if (sender.out.failed)
                byte_buffer_clear(&sender.out);
        symbol_stream_encode_end(&sender.out, r, r < 0 ? err.text : NULL);
        return flush(&sender, NULL) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* @text of a child is shown to people one day: it gets in without control characters. */
static int error_set_foreign(struct error *err, int code, struct symbol_stream_text text)
{
        char words[WORDS_BYTES_MAX + 1];
        size_t n = 0;

        for (; n < text.n_bytes && n < WORDS_BYTES_MAX; n++)
                words[n] = (char)(text.bytes[n] < ' ' || text.bytes[n] > '~' ? '?' : text.bytes[n]);
        words[n] = '\0';
        return error_set(err, code, "symbolizer: %s", words);
}

static int add_string(struct trace_dictionary *dictionary, struct symbol_stream_text text, uint32_t *ret_id)
{
        if (text.bytes && text.n_bytes > 0)
                return trace_dictionary_add_string(dictionary, text.bytes, text.n_bytes, ret_id);
        *ret_id = 0;
        return 0;
}

static int add_row(struct trace_dictionary *dictionary, uint32_t frame, const struct symbol_stream_row *row)
{
        struct trace_symbol symbol = {
                .frame = frame, .line = row->line, .column = row->column, .flags = row->flags
        };
        uint32_t id;
        int r = add_string(dictionary, row->function, &symbol.function);

        if (r == 0)
                r = add_string(dictionary, row->file, &symbol.file);
        if (r == 0)
                r = trace_dictionary_add(dictionary, TRACE_TABLE_SYMBOLS, &symbol, &id);
        return r;
}

static int take_symbols(struct receiver *receiver, struct error *err)
{
        const struct symbol_stream_record *record = receiver->record;
        uint32_t frame = record->id;
        int r = 0;

        if (frame == 0 || frame < receiver->options->first_frame || frame > receiver->n_frames ||
            receiver->is_known[frame / 8] & 1U << frame % 8)
                return error_set(err, -EBADMSG, "symbolizer: frame %u was not asked for", frame);
        receiver->is_known[frame / 8] |= (uint8_t)(1U << frame % 8);
        for (uint32_t i = 0; i < record->n_rows && r == 0; i++)
                r = add_row(receiver->dictionary, frame, &record->rows[i]);
        return r < 0 ? error_set(err, r, "no room for the symbols of frame %u", frame) : 0;
}

static int take_record(struct receiver *receiver, struct error *err)
{
        const struct symbol_stream_record *record = receiver->record;

        switch (record->kind) {
        case SYMBOL_STREAM_MODULE:
                /* In ascending order; so the number of children is bounded too. */
                if (record->id <= receiver->module)
                        return error_set(err, -EBADMSG, "symbolizer: module %u comes after %u", record->id,
                                         receiver->module);
                receiver->module = record->id;
                return 0;
        case SYMBOL_STREAM_SYMBOLS:
                return take_symbols(receiver, err);
        case SYMBOL_STREAM_END:
                receiver->is_at_end = true;
                receiver->code = record->code;
                return record->code < 0 ? error_set_foreign(err, record->code, record->words) : 0;
        default:
                return error_set(err, -EBADMSG, "symbolizer: record of kind %d", (int)record->kind);
        }
}

/* All whole records in @in; what is left of it is kept for later. */
static int take_records(struct receiver *receiver, struct byte_buffer *in, struct error *err)
{
        struct byte_reader reader = byte_reader_of(in->data, in->used_bytes);
        int r;

        while ((r = symbol_stream_decode(&reader, receiver->record, err)) == 1 && !receiver->is_at_end) {
                r = take_record(receiver, err);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        if (reader.left > 0)
                memmove(in->data, reader.at, reader.left);
        in->used_bytes = reader.left;
        return 0;
}

/* Returns 0 when the pipe can be read, -EINTR when it is time to stop. */
static int wait_for_child(int pipe_fd, int stop_fd, struct error *err)
{
        struct pollfd fds[2] = { { .fd = pipe_fd, .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };

        while (poll(fds, 2, -1) < 0)
                if (errno != EINTR)
                        return error_errno(err, "poll of the symbolizer");
        return fds[1].revents ? error_set(err, -EINTR, "symbolizer: stopped") : 0;
}

/* Until the child closes its end of the pipe, or says something wrong, or it is time to stop. */
static int receive(struct receiver *receiver, int pipe_fd, struct error *err)
{
        struct byte_buffer in = { .data = NULL };
        uint64_t n_bytes = 0;
        int r = 0;

        while (r == 0 && !receiver->is_at_end) {
                uint8_t *at = byte_buffer_reserve(&in, READ_BYTES);
                ssize_t got;

                if (!at) {
                        r = error_set(err, -ENOMEM, "no memory for symbols");
                        break;
                }
                r = wait_for_child(pipe_fd, receiver->options->stop_fd, err);
                if (r < 0)
                        break;
                got = read(pipe_fd, at, READ_BYTES);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        r = error_errno(err, "reading from the symbolizer");
                if (got <= 0)
                        break;
                in.used_bytes += (size_t)got;
                n_bytes += (uint64_t)got;
                r = n_bytes > SYMBOL_PROCESS_BYTES_MAX
                            ? error_set(err, -EBADMSG, "symbolizer: it sends without end")
                            : take_records(receiver, &in, err);
        }
        byte_buffer_deinit(&in);
        return r;
}

/* Ends the child if it has not ended, and says how it did when that was before its work was done. */
static int reap(const struct receiver *receiver, pid_t pid, int r, struct error *err)
{
        int status = 0;

        (void)kill(pid, SIGKILL); /* changes nothing for one that is dying already */
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR) {
                        status = -1; /* the caller does not want to know of its children */
                        break;
                }
        if (r < 0 || receiver->is_at_end)
                return r;
        if (status != -1 && WIFSIGNALED(status))
                return error_set(err, -EPROTO, "symbolizer: killed by signal %d (%s) at module %u",
                                 WTERMSIG(status), sigdescr_np(WTERMSIG(status)), receiver->module);
        return error_set(err, -EPROTO, "symbolizer: ended with status %d at module %u",
                         status == -1 ? -1 : WEXITSTATUS(status), receiver->module);
}

static int run_one(struct receiver *receiver, symbol_process_task *task, struct error *err)
{
        int pipe_fds[2];
        pid_t pid;
        int r;

        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return error_errno(err, "pipe for the symbolizer");
        pid = fork();
        if (pid < 0) {
                r = error_errno(err, "fork of the symbolizer");
                io_close(&pipe_fds[0]);
                io_close(&pipe_fds[1]);
                return r;
        }
        if (pid == 0)
                _exit(run_child(receiver, task, pipe_fds[1]));
        io_close(&pipe_fds[1]);
        r = reap(receiver, pid, receive(receiver, pipe_fds[0], err), err);
        io_close(&pipe_fds[0]);
        return r;
}

/* A module that kills its child costs its own names: the next child goes on with the next module. */
static int run_all(struct receiver *receiver, symbol_process_task *task, struct error *err)
{
        struct error first_death = ERROR_NONE;
        int r = 0;

        for (unsigned n_deaths = 0; n_deaths < SYMBOL_PROCESS_DEATHS_MAX; n_deaths++) {
                uint32_t module_before = receiver->module;

                r = run_one(receiver, task, err);
                if (r != -EPROTO || receiver->is_at_end)
                        break;
                if (first_death.code == 0 && err)
                        first_death = *err;
                if (receiver->module == module_before)
                        break; /* died before its work began: so would the next */
        }
        if (r < 0 || first_death.code == 0)
                return r;
        *err = first_death;
        return first_death.code;
}

int symbol_process_run_task(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                            symbol_process_task *task, struct error *err)
{
        struct receiver receiver = {
                .dictionary = dictionary,
                .options = options,
                .kallsyms_fd = options->kallsyms_fd > 0 ? options->kallsyms_fd : -1,
                .n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES),
        };
        int own_fd = -1;
        int r;

        receiver.is_known = calloc((size_t)receiver.n_frames / 8 + 1, 1);
        receiver.record = calloc(1, sizeof(*receiver.record));
        if (!receiver.is_known || !receiver.record) {
                r = error_set(err, -ENOMEM, "no memory for symbols of %u frames", receiver.n_frames);
                goto end;
        }
        /* Here, because the child is not allowed to see the kernel's addresses. */
        if (receiver.kallsyms_fd < 0)
                receiver.kallsyms_fd = own_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        r = run_all(&receiver, task, err);
end:
        io_close(&own_fd);
        free(receiver.record);
        free(receiver.is_known);
        return r;
}

int symbol_process_run(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                       struct error *err)
{
        return symbol_process_run_task(dictionary, options, symbolizer_run, err);
}
