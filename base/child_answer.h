/* SPDX-License-Identifier: MIT */
/*
 * base/child_answer.h - what a child of this process answers: all that it writes to a pipe until it ends
 *
 * Way of the data:  child (hostile files) -> pipe -> [child_answer] -> symbolize
 *
 * For work with hostile files: the child gives up its rights itself (confinement.h), and its answer is as
 * hostile as they are.  Blocks.  The process must have one thread.
 */
#ifndef BASE_CHILD_ANSWER_H
#define BASE_CHILD_ANSWER_H

#include <stddef.h>

struct byte_buffer;
struct error;

/* In the child.  Returns its exit status. */
typedef int child_answer_run(void *context, int pipe_fd);

/*
 * child_answer_take() - fork, and read to the end
 * @who:        for messages: "the disassembler"
 * @bytes_max:  a child that sends more is ended
 * @ret_bytes:  may be a part, if the child died while it wrote
 * The child has ended, or is killed, when this returns.
 * Returns 0; -EPROTO with how the child ended if it sent nothing; -EBADMSG if it sends too much; -ENOMEM,
 * -errno.
 */
int child_answer_take(const char *who, child_answer_run *run, void *context, size_t bytes_max,
                      struct byte_buffer *ret_bytes, struct error *err);

#endif /* BASE_CHILD_ANSWER_H */
