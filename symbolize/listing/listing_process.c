/* SPDX-License-Identifier: MIT */
/*
 * The child's message: the byte 0 and the listing, or the byte 1 and the failure, which is a code as a
 * varint and a text.
 */
#include "symbolize/listing/listing_process.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/child_answer.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/listing/listing_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SENT_LISTING = 0, SENT_FAILURE = 1 };

struct question {
        const struct listing_request *request;
        listing_process_task *task;
};

/* Runs as the child. */
static int run_child(void *context, int pipe_fd)
{
        const struct question *q = context;
        struct code_listing listing;
        struct byte_buffer out = { .data = NULL };
        struct error err = ERROR_NONE;
        int r = confinement_enter((struct confinement_user){ 0, 0 }, &pipe_fd, 1, &err);

        code_listing_init(&listing);
        if (r == 0)
                r = q->task(q->request, &listing, &err);
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
        struct question question = { .request = request, .task = task };
        struct byte_buffer in = { .data = NULL };
        struct byte_reader reader;
        int r = child_answer_take("the disassembler", run_child, &question, LISTING_PROCESS_BYTES_MAX, &in,
                                  err);

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
