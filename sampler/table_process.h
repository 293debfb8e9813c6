/* SPDX-License-Identifier: MIT */
/*
 * sampler/table_process.h - builds unwind tables in a child without rights
 *
 * Way of the data:  module_file (a descriptor) -> [table_process] -> unwind_module as bytes -> code_tables
 *
 * The files belong to the profiled program and may be made to break a parser.
 * So they are parsed in a child that has no capabilities, no files and little
 * memory (symbolize/confinement.h).  It gets descriptors through a socket and
 * sends bytes back, which unwind_module_decode() checks as foreign bytes.  If a
 * file kills it, its parent, as small and as powerless, starts another: the
 * recorder has threads by then and must not fork.
 */
#ifndef SAMPLER_TABLE_PROCESS_H
#define SAMPLER_TABLE_PROCESS_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_PROCESS_BUILD_ID_MAX 32 /* bytes of it that count */

struct error;

struct table_request {
        uint32_t id;             /* the caller's, not 0 */
        uint32_t build_id_bytes; /* 0 = not known */
        uint8_t build_id
                [TABLE_PROCESS_BUILD_ID_MAX]; /* the file must have this one, else it is another file */
};

enum table_status {
        TABLE_STATUS_BUILT = 0,  /* the bytes of a module follow */
        TABLE_STATUS_NOTHING,    /* the file has no unwind information */
        TABLE_STATUS_OTHER_FILE, /* another build-id than was expected */
        TABLE_STATUS_FAILED,     /* not readable as ELF, of another machine, or it killed the builder */
};

struct table_answer {
        uint32_t id;
        enum table_status status;
        const uint8_t *bytes; /* BUILT: for unwind_module_decode(); borrowed until the next call */
        size_t n_bytes;
};

struct table_process {
        pid_t pid; /* 0 = none */
        int fd;    /* nonblocking socket: readable when an answer or a part of one is there; -1 = closed */
        struct byte_buffer received;
        size_t answer_bytes; /* of the answer that was handed out last, at the front of `received` */
        uint32_t n_waiting;  /* requests without an answer yet */
};

/*
 * table_process_start() - forks the child; the caller has one thread at this moment
 * @run_as_uid, @run_as_gid:  when root: who the child becomes; 0 = stay, without capabilities
 * Returns 0 or -errno.
 */
int table_process_start(struct table_process *p, uint32_t run_as_uid, uint32_t run_as_gid, struct error *err);

/* Ends and reaps it. */
void table_process_stop(struct table_process *p);

/*
 * table_process_ask() - hands a file over
 * @file_fd:  stays the caller's
 * Returns 0; -EAGAIN if the child has enough to do for now; -EPIPE if it is gone; -errno.
 */
int table_process_ask(struct table_process *p, const struct table_request *request, int file_fd);

/*
 * table_process_next() - the next answer that is there whole
 * Returns 1; 0 if there is none yet; -EPIPE if the child is gone: there will be none any more; -EBADMSG, -ENOMEM.
 */
int table_process_next(struct table_process *p, struct table_answer *ret_answer);

#endif /* SAMPLER_TABLE_PROCESS_H */
