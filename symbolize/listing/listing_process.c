/* SPDX-License-Identifier: MIT */
/*
 * The child's message: the byte 0 and the listing, or the byte 1 and the failure, which is a code as a
 * varint and a text.
 */
#include "symbolize/listing/listing_process.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/listing/listing_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES 65536 /* at once */

enum { SENT_LISTING = 0, SENT_FAILURE = 1 };

/* Runs as the child; returns its exit status. */
static int run_child(const struct listing_request *request, listing_process_task *task, int pipe_fd)
{
        struct code_listing listing;
        struct byte_buffer out = { .data = NULL };
        struct error err = ERROR_NONE;
        int r = confinement_enter((struct confinement_user){ 0, 0 }, &pipe_fd, 1, &err);

        code_listing_init(&listing);
        if (r == 0)
                r = task(request, &listing, &err);
        if (r == 0) {
                byte_buffer_add_u8(&out, SENT_LISTING);
                code_listing_encode(&listing, &out);
        }
        if (out.failed)
                r = error_set(&err, -ENOMEM, "no memory for the instructions");
        if (r < 0) {
                byte_buffer_clear(&out);
                byte_buffer_add_u8(&out, SENT_FAILURE);
                byte_buffer_add_varint(&out, (uint64_t)-r);
                byte_buffer_add(&out, err.text, strlen(err.text));
        }
        r = out.failed ? -ENOMEM : io_write_all(pipe_fd, out.data, out.used_bytes, NULL);
        code_listing_deinit(&listing);
        byte_buffer_deinit(&out);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Reads everything that the child sends, to the end. */
static int receive(int pipe_fd, struct byte_buffer *in, struct error *err)
{
        size_t n_read = READ_BYTES;

        while (n_read == READ_BYTES) {
                uint8_t *at = byte_buffer_reserve(in, READ_BYTES);
                int r = at ? io_read_full(pipe_fd, at, READ_BYTES, &n_read, err)
                           : error_set(err, -ENOMEM, "no memory for the instructions");

                if (r < 0)
                        return r;
                in->used_bytes += n_read;
                if (in->used_bytes > LISTING_PROCESS_BYTES_MAX)
                        return error_set(err, -EBADMSG, "the disassembler sends too much");
        }
        return 0;
}

static int reap(pid_t pid, struct error *err)
{
        int status = 0;

        (void)kill(pid, SIGKILL); /* changes nothing for a child that is dying already */
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return error_set(err, -EPROTO, "the disassembler is not a child process");
        if (WIFSIGNALED(status))
                return error_set(err, -EPROTO, "the disassembler was ended by signal %d (%s)",
                                 WTERMSIG(status), sigdescr_np(WTERMSIG(status)));
        return error_set(err, -EPROTO, "the disassembler ended with status %d", WEXITSTATUS(status));
}

/* The text is shown to people, so control characters are replaced. */
static int take_failure(struct byte_reader *in, struct error *err)
{
        uint64_t code = bytes_varint(in);
        char words[ERROR_TEXT_BYTES];
        size_t n = 0;

        if (in->short_read || code == 0 || code > 4095)
                return error_set(err, -EBADMSG, "the disassembler sent no usable data");
        for (; n < in->left && n < sizeof(words) - 1; n++)
                words[n] = (char)(in->at[n] < ' ' || in->at[n] > '~' ? '?' : in->at[n]);
        words[n] = '\0';
        return error_set(err, -(int)code, "%s", words);
}

int listing_process_run_task(const struct listing_request *request, listing_process_task *task,
                             struct code_listing *ret_listing, struct error *err)
{
        struct byte_buffer in = { .data = NULL };
        struct byte_reader reader;
        int pipe_fds[2];
        pid_t pid;
        int r;

        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return error_errno(err, "pipe for the disassembler");
        pid = fork();
        if (pid == 0)
                _exit(run_child(request, task, pipe_fds[1]));
        r = pid < 0 ? error_errno(err, "fork of the disassembler") : 0;
        io_close(&pipe_fds[1]);
        if (r == 0)
                r = receive(pipe_fds[0], &in, err);
        io_close(&pipe_fds[0]);
        if (pid > 0) {
                struct error death = ERROR_NONE;
                int how = reap(pid, &death);

                if (r == 0 && in.used_bytes == 0)
                        r = error_set(err, how, "%s", death.text);
        }
        reader = byte_reader_of(in.data, in.used_bytes);
        if (r == 0 && bytes_u8(&reader) == SENT_LISTING)
                r = code_listing_decode(ret_listing, reader.at, reader.left, err);
        else if (r == 0)
                r = take_failure(&reader, err);
        byte_buffer_deinit(&in);
        return r;
}

int listing_process_run(const struct listing_request *request, struct code_listing *ret_listing,
                        struct error *err)
{
        return listing_process_run_task(request, listing_reader_run, ret_listing, err);
}
