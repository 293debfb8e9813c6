/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/table_process.h - builds unwind tables in a child without rights
 *
 * Way of the data:  module_file (a descriptor) -> [table_process] -> unwind_module as bytes -> code_tables
 *
 * The files belong to the profiled program and may be made to break a parser.
 * So they are parsed in a child that has no capabilities, no files and little
 * memory (base/confinement.h).  It gets descriptors through a socket and
 * forks once more for each: harm that a file does to its parser ends with that file, and reaches no other.
 * The bytes that come back are foreign bytes, which unwind_module_decode() checks.  With them comes a
 * random number that only the process for that file knows, so no process can answer for another file.  The
 * recorder has threads by then and must not fork itself.
 *
 * Requests are answered in their order, each exactly once, while the child lives.  The landmarks of a file
 * come before its answer: to find them takes less than to build a table, and samples need them.  A file whose
 * table was kept (table_store.h) is not parsed: the child looks for it, and the recorder reads it.
 */
#ifndef SAMPLER_TABLES_TABLE_PROCESS_H
#define SAMPLER_TABLES_TABLE_PROCESS_H

#include "base/byte_buffer.h"
#include "sampler/tables/table_store.h"
#include "symbolize/images/module_landmarks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_PROCESS_WAITING_MAX 32                    /* requests that wait for their answers */
#define TABLE_PROCESS_ANSWER_MAX  (UINT32_C(192) << 20) /* bytes; the largest table has less */

struct error;

struct table_request {
        uint32_t id;             /* the caller's, not 0 */
        uint32_t build_id_bytes; /* 0 = not known */
        uint64_t secret;         /* table_process_ask() sets it */
        int64_t written_ns;      /* file_written_ns() of the content that was mapped; 0 = not known */
        /* the file must have this build-id, else it is another file */
        uint8_t build_id[TABLE_STORE_BUILD_ID_MAX];
};

enum table_status {
        TABLE_STATUS_BUILT = 0, /* the bytes of a module follow */
        /* the file has no unwind information, or is no ELF file: code made at run time */
        TABLE_STATUS_NOTHING,
        TABLE_STATUS_OTHER_FILE, /* the file has another build-id than was expected, or was written since */
        TABLE_STATUS_FAILED,     /* the file is damaged, of another machine, or killed its builder */
        /* the file has landmarks: they come ahead of its answer, which has one of the values above */
        TABLE_STATUS_LANDMARKS,
};

struct table_answer {
        uint32_t id;
        enum table_status status;
        struct module_landmarks landmarks; /* LANDMARKS */
        bool was_kept;                     /* BUILT: by an earlier recording */
        const uint8_t *bytes; /* BUILT: for unwind_module_decode(); borrowed until the next call */
        size_t n_bytes;
};

struct table_process {
        pid_t pid; /* 0 = none */
        int fd;    /* nonblocking socket: readable when an answer or a part of one is there; -1 = closed */
        int request_fd;              /* socket to the child alone */
        struct byte_buffer received; /* of the answer that is coming, or was handed out last */
        size_t answer_bytes;         /* of the whole answer that is coming; 0 = none is */
        bool is_handed_out;          /* the bytes in `received` */
        struct table_waiting {
                uint64_t secret;
                uint32_t id;
        } waiting[TABLE_PROCESS_WAITING_MAX]; /* requests without an answer yet, a ring */
        uint32_t first_waiting, n_waiting;
        bool has_landmarks;        /* landmarks of the answer that is coming were handed out */
        struct table_store *store; /* borrowed; NULL = none */
};

/*
 * table_process_start() - forks the child; the caller has one thread at this moment
 * @store:  where tables were kept, and may be; borrowed as long as @p is; NULL = nowhere
 * @run_as_uid, @run_as_gid:  when root: the user that the child becomes; 0 = it stays root, without
 *                            capabilities
 * Returns 0 or -errno.
 */
int table_process_start(struct table_process *p, struct table_store *store, uint32_t run_as_uid,
                        uint32_t run_as_gid, struct error *err);

/* The reply to a request, which a process of its own fills in. */
struct table_reply {
        int fd; /* socket to the recorder, borrowed */
        uint32_t id;
        uint64_t secret;
        struct byte_buffer bytes; /* of the module, if it is BUILT */
};

/* Sends the landmarks at once; to be called once at most.  Returns 0 or -errno. */
int table_reply_send_landmarks(const struct table_reply *reply, const struct module_landmarks *landmarks);

/* The work on a file.  Tests give another task than table_process_start() does. */
typedef enum table_status table_process_task(const struct table_request *request, int file_fd,
                                             struct table_reply *reply);
int table_process_start_task(struct table_process *p, struct table_store *store, uint32_t run_as_uid,
                             uint32_t run_as_gid, table_process_task *task, struct error *err);

/* jit_frames.c, in the child: was the file made by jit_frames_file()? */
bool jit_frames_is_file(int fd);

/*
 * Also in jit_frames.c: makes a table with addresses of the process, as the bytes of an unwind_module
 * without segments.
 */
enum table_status jit_frames_build(int fd, struct byte_buffer *out);

/* Tells the child to end, without waiting for that. */
void table_process_hang_up(struct table_process *p);

/* Ends and reaps the child.  A struct that was never started (all 0) is fine. */
void table_process_stop(struct table_process *p);

/*
 * table_process_ask() - hands a file over
 * @file_fd:  stays the caller's
 * Returns 0; -EAGAIN if the child has enough to do for now; -EPIPE if it is gone; -errno.
 */
int table_process_ask(struct table_process *p, const struct table_request *request, int file_fd);

/*
 * table_process_next() - takes the next answer that has come completely
 * Returns 1; 0 if no answer is there yet; -EPIPE if the child is gone and -EBADMSG if it sends malformed
 * data: then `fd` is closed, and no more comes; -ENOMEM.  Never blocks, and takes in a few megabytes at a
 * time at most.
 */
int table_process_next(struct table_process *p, struct table_answer *ret_answer);

#endif /* SAMPLER_TABLES_TABLE_PROCESS_H */
