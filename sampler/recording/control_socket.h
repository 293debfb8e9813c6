/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/control_socket.h - the socket by which the recorder's user controls a recording
 *
 * Way of the data:  hyprof ctl -> [control_socket] -> recorder_control -> recorder
 *
 * A socket of mode 0600 in a folder of the user's: $XDG_RUNTIME_DIR/hyprof, else /run/user/UID/hyprof, else
 * /tmp/hyprof-UID, named after the recorder's PID.  A connection carries one request, a text of
 * CONTROL_SOCKET_BYTES at most, and one answer.  Peers of other users are not heard.
 */
#ifndef SAMPLER_RECORDING_CONTROL_SOCKET_H
#define SAMPLER_RECORDING_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

#define CONTROL_SOCKET_BYTES    4096
#define CONTROL_SOCKET_FOLDERS  3
#define CONTROL_SOCKET_HELD_MAX 64 /* connections that have sent nothing yet; a new one replaces the oldest */
#define CONTROL_SOCKET_BUSY     "busy" /* the answer to the replaced one, if its peer still reads */
#define CONTROL_SOCKET_PATH     108
#define CONTROL_SOCKET_ENDING   ".ctl"

struct control_socket {
        int fd; /* -1 = there is none */
        int held[CONTROL_SOCKET_HELD_MAX];
        size_t n_held;
        char path[CONTROL_SOCKET_PATH];
};

#define CONTROL_SOCKET_NONE \
        {                   \
                .fd = -1    \
        }

/* Makes the socket, in the first of the folders that can be used.  Returns 0 or -errno. */
int control_socket_open(struct control_socket *s, struct error *err);
void control_socket_close(struct control_socket *s);

/*
 * control_socket_next() - a request that has come; never blocks
 * @ret_text:        CONTROL_SOCKET_BYTES of room; NUL-terminated, and may hold anything
 * @ret_connection:  for the answer; the caller's
 * Returns 1, or 0 when there is no more.
 */
int control_socket_next(struct control_socket *s, char *ret_text, int *ret_connection);

/* Answers and closes *@connection.  A peer that has gone away loses its answer. */
void control_socket_answer(int *connection, const char *words);

/*
 * The folders in which recorders of a user have their sockets, best first.  Two of them may be the same.
 * @i:    less than CONTROL_SOCKET_FOLDERS
 * @uid:  of another user than ours, $XDG_RUNTIME_DIR is not known
 * Returns 0 or -ENOENT.
 */
int control_socket_folder(unsigned i, uint32_t uid, char ret_path[CONTROL_SOCKET_PATH]);

/*
 * control_socket_open_folder() - opens one of these folders, for both sides: it is a folder and no link, it
 * belongs to the user @uid, and no one else has rights in it, so that its sockets are of the user's
 * recorders
 * Returns the descriptor, the caller's; -EPERM if it belongs to anyone else; -ENOENT, -ENOTDIR, -errno.
 */
int control_socket_open_folder(const char *path, uint32_t uid, struct error *err);

/*
 * control_socket_call() - the other side: a request to the recorder of the user @uid at @path
 * Never blocks.  Returns a descriptor, the caller's, that is readable when the answer is there; -ECONNREFUSED
 * or -ENOENT where no recorder listens; -EPERM if another user listens, who is sent nothing; -EAGAIN if the
 * recorder has not taken earlier calls; -errno.
 */
int control_socket_call(const char *path, uint32_t uid, const char *request, struct error *err);

/*
 * control_socket_take() - the answer to a call
 * @ret_answer:  CONTROL_SOCKET_BYTES of room; NUL-terminated
 * Never blocks.  Returns 0; -EAGAIN if there is none yet; -EPIPE if the recorder ended; -errno.
 */
int control_socket_take(int fd, char *ret_answer, struct error *err);

/*
 * Whether the recorder has not read a request, which may be made again: @code of control_socket_take(),
 * with -ECONNRESET, says that it was not read, or the @answer is CONTROL_SOCKET_BUSY.
 */
bool control_socket_may_retry(int code, const char *answer);

/*
 * Calls and takes, again and again while the recorder is busy.
 * @wait_ms:  how long it may block; -1 = as long as it takes
 * Returns as these two; -ETIMEDOUT; -EBUSY.
 */
int control_socket_ask(const char *path, uint32_t uid, const char *request, int wait_ms, char *ret_answer,
                       struct error *err);

#endif /* SAMPLER_RECORDING_CONTROL_SOCKET_H */
