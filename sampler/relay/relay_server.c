/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_server.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "format/trace_chunk.h"
#include "format/trace_spec.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WINDOW_BYTES (UINT64_C(8) << 20) /* bytes sent and not acknowledged: memory that a slow taker holds */

static void tell(struct relay_server *s, enum relay_news news)
{
        s->report.news = news;
        s->report.file_error = s->shelf.file_error;
        s->report.n_dropped = s->shelf.n_dropped;
        s->report.n_waiting = relay_shelf_count_waiting(&s->shelf,
                                                        s->whole_at > s->acked ? s->whole_at : s->acked);
        s->report.n_unsure = relay_shelf_count_waiting(&s->shelf, s->acked) - s->report.n_waiting;
        s->report.is_complete = s->shelf.is_complete && (s->acked >= s->shelf.end ||
                                                         (s->shelf.file_fd >= 0 && s->shelf.file_error == 0));
        (void)!send(s->control_fd, &s->report, sizeof(s->report), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- what comes from the recorder ---------------------------------------------------------------------- */

/* Returns 1 if a part came, 0 if there is nothing now, -errno. */
static int read_part(struct relay_server *s, uint8_t *to, size_t n)
{
        ssize_t got = read(s->input_fd, to, n);

        if (got < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        s->input_ended = got == 0;
        s->n_in += (size_t)got;
        return got > 0;
}

static int begin_chunk(struct relay_server *s)
{
        int r = trace_chunk_decode_header(s->header_bytes, s->n_in, &s->header, NULL);

        if (r < 0)
                return r;
        s->in = malloc(TRACE_CHUNK_HEADER_BYTES + (size_t)s->header.stored_bytes);
        if (!s->in)
                return -ENOMEM;
        memcpy(s->in, s->header_bytes, TRACE_CHUNK_HEADER_BYTES);
        return 0;
}

static int end_chunk(struct relay_server *s)
{
        uint8_t *bytes = s->in;
        uint32_t n_bytes = (uint32_t)s->n_in;

        s->in = NULL;
        s->n_in = 0;
        s->shelf.told_from = s->acked;
        s->shelf.told_to = s->next_at > s->sent_to ? s->next_at : s->sent_to;
        return relay_shelf_add(&s->shelf, &s->header, bytes, n_bytes, s->taker_fd >= 0 ? s->next_at : 0);
}

/* Passes on the bytes after the last chunk of a trace, which are for readers of files. */
static int pass_trailer(struct relay_server *s)
{
        uint8_t bytes[TRACE_TRAILER_BYTES];
        int r = read_part(s, bytes, sizeof(bytes));

        if (r == 1 && s->shelf.file_fd >= 0 && s->shelf.file_error == 0)
                s->shelf.file_error = io_write_all(s->shelf.file_fd, bytes, s->n_in, NULL);
        s->n_in = 0;
        return r;
}

static int take_input(struct relay_server *s)
{
        int r = 1;

        for (size_t n = 0; r == 1 && n < PACE_RELAY_READ_BYTES && !s->input_ended;) {
                size_t had = s->n_in;

                if (s->shelf.is_complete) {
                        r = pass_trailer(s);
                        continue;
                }
                if (!s->in && had < TRACE_CHUNK_HEADER_BYTES)
                        r = read_part(s, s->header_bytes + had, TRACE_CHUNK_HEADER_BYTES - had);
                else
                        r = read_part(s, s->in + had,
                                      TRACE_CHUNK_HEADER_BYTES + s->header.stored_bytes - had);
                n += s->n_in - had;
                if (r == 1 && !s->in && s->n_in == TRACE_CHUNK_HEADER_BYTES)
                        r = begin_chunk(s) < 0 ? -EBADMSG : 1;
                if (r == 1 && s->in && s->n_in == TRACE_CHUNK_HEADER_BYTES + (size_t)s->header.stored_bytes)
                        r = end_chunk(s) < 0 ? -ENOMEM : 1;
        }
        return r < 0 ? r : 0;
}

/* ---- what goes to the taker ---------------------------------------------------------------------------- */

static int choose_own(struct relay_server *s, uint8_t *bytes, size_t n_bytes)
{
        free(s->own);
        s->own = bytes;
        s->out = bytes;
        s->out_left = n_bytes;
        return 1;
}

/* Puts one chunk with @body, which is freed, into `out`. */
static int choose_chunk_of(struct relay_server *s, struct trace_chunk_header *header,
                           struct byte_buffer *body)
{
        struct byte_buffer out = { .data = NULL };
        int r = body->failed ? -ENOMEM
                             : trace_chunk_encode(header, body->data, body->used_bytes, 1, &out, NULL);

        byte_buffer_deinit(body);
        if (r < 0) {
                byte_buffer_deinit(&out);
                return r;
        }
        return choose_own(s, out.data, out.used_bytes);
}

static int choose_time(struct relay_server *s)
{
        struct trace_chunk_header header = { .kind = RELAY_TIME_KIND };
        struct byte_buffer body = { .data = NULL };

        s->has_question = false;
        s->sends_time = true;
        byte_buffer_add_u64(&body, s->time.asked_ns);
        byte_buffer_add_u64(&body, s->time.heard_ns);
        byte_buffer_add_u64(&body, clock_raw_ns());
        return choose_chunk_of(s, &header, &body);
}

static int choose_gap(struct relay_server *s)
{
        struct trace_chunk_header header = { .kind = RELAY_GAP_KIND,
                                             .first_ns = s->gap.first_ns,
                                             .last_ns = s->gap.last_ns };
        struct byte_buffer body = { .data = NULL };
        int r;

        byte_buffer_add_u64(&body, s->gap.n_dropped);
        byte_buffer_add_u64(&body, s->gap.n_taken);
        byte_buffer_add_u64(&body, s->next_at);
        r = choose_chunk_of(s, &header, &body);
        if (r < 0)
                return r;
        s->gap = (struct relay_gap){ .n_dropped = 0 };
        s->has_gap = false;
        return r;
}

/* Counts a chunk as missing: it is gone, or the STATES chunk that it needs is. */
static void pass_over(struct relay_server *s, const struct shelf_chunk *c)
{
        bool is_taken = c->state == SHELF_TAKEN && !shelf_chunk_is_there(c);

        if (is_taken)
                s->gap.n_taken += c->n_items;
        else
                s->gap.n_dropped += c->n_items;
        if (s->gap.first_ns == 0 || c->first_ns < s->gap.first_ns)
                s->gap.first_ns = c->first_ns;
        if (c->last_ns > s->gap.last_ns)
                s->gap.last_ns = c->last_ns;
        s->needs_states = s->has_gap = true;
        s->next_at = c->at + 1;
}

static int choose_chunk(struct relay_server *s, const struct shelf_chunk *c)
{
        uint8_t *bytes;
        size_t got = 0;
        int r = 0;

        s->next_at = s->last_end = c->at + c->n_bytes;
        if (s->next_at > s->sent_to)
                s->sent_to = s->next_at;
        if (c->bytes) {
                s->out = c->bytes;
                s->out_left = c->n_bytes;
                return 1;
        }
        bytes = malloc(c->n_bytes);
        r = bytes ? io_pread_full(s->shelf.file_fd, bytes, c->n_bytes, c->at, &got, NULL) : -ENOMEM;
        if (r == 0 && got == c->n_bytes)
                return choose_own(s, bytes, c->n_bytes);
        free(bytes);
        return r < 0 ? r : -EIO;
}

int relay_server_choose(struct relay_server *s)
{
        uint64_t window = s->shelf.bytes_max / 4 < WINDOW_BYTES ? s->shelf.bytes_max / 4 : WINDOW_BYTES;

        if (s->has_question) /* before all else: what waits on the way is time that is not known */
                return choose_time(s);
        /* At least one chunk is sent, however large; bytes of dropped chunks do not count as in flight. */
        if (s->last_end > s->acked && s->last_end - s->acked > window)
                return 0;
        for (size_t i = relay_shelf_find(&s->shelf, s->next_at); i < s->shelf.n_chunks; i++) {
                const struct shelf_chunk *c = &s->shelf.chunks[i];
                bool is_events = c->kind == TRACE_CHUNK_EVENTS;

                if ((is_events || c->kind == TRACE_CHUNK_STATES) &&
                    (!shelf_chunk_is_there(c) || (is_events && s->needs_states))) {
                        pass_over(s, c);
                        continue;
                }
                if (s->has_gap) { /* at once: the taker counts positions */
                        s->next_at = c->at;
                        return choose_gap(s);
                }
                if (c->kind == TRACE_CHUNK_STATES)
                        s->needs_states = false;
                return choose_chunk(s, c);
        }
        return 0;
}

static void lose_taker(struct relay_server *s)
{
        io_close(&s->taker_fd);
        free(s->own);
        s->own = NULL;
        s->out_left = 0;
        s->n_ack = 0;
        s->has_question = s->sends_time = false;
}

static void send_some(struct relay_server *s)
{
        for (size_t n = 0; n < PACE_RELAY_SEND_BYTES;) {
                ssize_t sent;

                if (s->out_left == 0) {
                        int r = relay_server_choose(s);

                        if (r < 0)
                                lose_taker(s);
                        if (r <= 0)
                                return;
                }
                sent = send(s->taker_fd, s->out, s->out_left, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (sent < 0) {
                        if (errno != EAGAIN && errno != EINTR)
                                lose_taker(s);
                        return;
                }
                s->out += sent;
                s->out_left -= (size_t)sent;
                s->report.sent_bytes += (uint64_t)sent;
                n += (size_t)sent;
                if (!s->sends_time) {
                        if (s->out_left == 0)
                                s->whole_at = s->next_at;
                        s->progress_ns = clock_raw_ns();
                }
                s->sends_time = s->sends_time && s->out_left > 0;
        }
}

/* ---- what comes from takers ---------------------------------------------------------------------------- */

int relay_server_take_hello(struct relay_server *s, const uint8_t bytes[RELAY_HELLO_BYTES],
                            struct relay_hello *ret_answer)
{
        struct relay_hello hello;
        bool goes_on;

        if (relay_hello_decode(bytes, true, &hello) < 0)
                return -EBADMSG;
        *ret_answer = (struct relay_hello){ .recording = s->recording,
                                            .generation = s->generation,
                                            .status = RELAY_FRESH,
                                            .features = RELAY_FEATURE_TIME };
        goes_on = hello.recording == s->recording && hello.generation == s->generation &&
                  hello.position >= s->acked && hello.position <= s->sent_to;
        if (s->taker_fd >= 0 && !goes_on) {
                ret_answer->status = RELAY_BUSY;
        } else if (hello.recording == 0) {
                ret_answer->generation = ++s->generation;
                s->next_at = s->sent_to = s->acked = 0;
        } else if (!goes_on) {
                ret_answer->status = RELAY_STALE;
        } else {
                ret_answer->status = RELAY_RESUMED;
                ret_answer->position = hello.position;
                s->next_at = s->acked = hello.position;
                relay_shelf_take(&s->shelf, s->acked);
        }
        if (ret_answer->status > RELAY_RESUMED)
                return 0;
        lose_taker(s); /* a taker goes on with its file: its earlier connection is dead */
        s->gap = (struct relay_gap){ .n_dropped = 0 };
        s->whole_at = s->last_end = s->next_at;
        s->needs_states = s->has_gap = false;
        return 0;
}

int relay_server_take_acks(struct relay_server *s, const uint8_t *bytes, size_t n_bytes)
{
        uint64_t before = s->acked;

        for (size_t i = 0; i < n_bytes; i++) {
                uint64_t position;

                s->ack[s->n_ack++] = bytes[i];
                if (s->n_ack < RELAY_ACK_BYTES)
                        continue;
                s->n_ack = 0;
                position = relay_position_decode(s->ack);
                if (position & RELAY_ASKS) {
                        s->time = (struct relay_time){ .asked_ns = position & ~RELAY_ASKS,
                                                       .heard_ns = clock_raw_ns() };
                        s->has_question = true;
                        continue;
                }
                if (position > s->whole_at)
                        return -EBADMSG;
                if (position > s->acked)
                        s->acked = position;
        }
        if (s->acked == before)
                return 0;
        s->progress_ns = clock_raw_ns(); /* the same position again is no progress */
        relay_shelf_take(&s->shelf, s->acked);
        return 0;
}

static void hear_taker(struct relay_server *s)
{
        uint8_t bytes[512];
        ssize_t n = sizeof(bytes);

        for (int i = 0; i < PACE_RELAY_HEAR && n == sizeof(bytes); i++) {
                n = recv(s->taker_fd, bytes, sizeof(bytes), MSG_DONTWAIT);
                if (n < 0 && (errno == EAGAIN || errno == EINTR))
                        return;
                if (n <= 0 || relay_server_take_acks(s, bytes, (size_t)n) < 0) {
                        lose_taker(s);
                        return;
                }
        }
}

static void forget_stranger(struct relay_server *s, size_t i, bool closes)
{
        if (closes)
                io_close(&s->strangers[i].fd);
        s->n_strangers--;
        memmove(s->strangers + i, s->strangers + i + 1, (s->n_strangers - i) * sizeof(s->strangers[0]));
}

static void answer_stranger(struct relay_server *s, size_t i)
{
        struct relay_stranger *stranger = &s->strangers[i];
        uint8_t bytes[RELAY_HELLO_BYTES];
        struct relay_hello answer;
        bool is_taker;

        if (s->taker_fd >= 0)
                hear_taker(s); /* if the taker has ended since poll(), this stranger may follow */
        if (relay_server_take_hello(s, stranger->bytes, &answer) < 0) {
                s->report.n_refused++;
                forget_stranger(s, i, true);
                return;
        }
        relay_hello_encode(&answer, false, bytes);
        is_taker = answer.status <= RELAY_RESUMED;
        s->report.n_refused += !is_taker;
        if (send(stranger->fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(bytes))
                is_taker = false;
        if (is_taker) {
                s->taker_fd = stranger->fd;
                s->progress_ns = clock_raw_ns();
                s->report.n_takers++;
                tell(s, RELAY_TAKER_CAME);
        }
        forget_stranger(s, i, !is_taker);
}

/* Reads the input of all strangers, and closes those that took too long. */
static void hear_strangers(struct relay_server *s, uint64_t now_ns)
{
        for (size_t i = s->n_strangers; i-- > 0;) {
                struct relay_stranger *stranger = &s->strangers[i];
                ssize_t n = recv(stranger->fd, stranger->bytes + stranger->n_bytes,
                                 RELAY_HELLO_BYTES - stranger->n_bytes, MSG_DONTWAIT);

                if (n > 0)
                        stranger->n_bytes += (size_t)n;
                if (stranger->n_bytes == RELAY_HELLO_BYTES) {
                        answer_stranger(s, i);
                } else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
                           now_ns > stranger->until_ns) {
                        s->report.n_refused++;
                        forget_stranger(s, i, true);
                }
        }
}

/* ---- who they are -------------------------------------------------------------------------------------- */

static bool is_welcome(const struct relay_server *s, int fd)
{
        uint32_t uid;

        return relay_peer_find_user(fd, s->tcp_fd, &uid) == 0 && (uid == s->uid || uid == 0);
}

/* Tells a stranger why it is refused, and nothing else. */
static void refuse_stranger(struct relay_server *s, int fd, enum relay_status why)
{
        const struct relay_hello answer = { .status = why };
        uint8_t bytes[RELAY_HELLO_BYTES];

        relay_hello_encode(&answer, false, bytes);
        (void)!send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
        io_close(&fd);
        s->report.n_refused++;
}

static void accept_stranger(struct relay_server *s, uint64_t now_ns)
{
        static const int one = 1;
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
                return;
        if (!is_welcome(s, fd)) {
                refuse_stranger(s, fd, RELAY_FOREIGN);
                return;
        }
        if (s->n_strangers == RELAY_STRANGERS_MAX) {
                refuse_stranger(s, fd, RELAY_CROWDED);
                return;
        }
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        s->strangers[s->n_strangers++] = (struct relay_stranger){ .fd = fd,
                                                                  .until_ns = now_ns + PACE_RELAY_HELLO_NS };
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/*
 * The only message of the recorder's process is an order to stop; the end of its connection means the same.
 */
static void hear_recorder(struct relay_server *s)
{
        char byte;
        ssize_t n = recv(s->control_fd, &byte, 1, MSG_DONTWAIT);

        s->quits = s->quits || n >= 0 || (errno != EAGAIN && errno != EINTR);
}

/* Reports progress, because --linger limits the time without it. */
static void tell_progress(struct relay_server *s, uint64_t now_ns)
{
        if (!s->input_ended || s->progress_ns <= s->told_ns || now_ns < s->told_ns + PACE_RELAY_PROGRESS_NS)
                return;
        s->told_ns = now_ns;
        tell(s, RELAY_GOES_ON);
}

static bool is_done(const struct relay_server *s, uint64_t now_ns)
{
        bool is_safe = s->shelf.file_fd >= 0 && s->shelf.file_error == 0;

        if (s->quits)
                return true;
        if (!s->input_ended)
                return false;
        /*
         * A taker closes the connection at the trace's end; a trace without an end is done once all is
         * acknowledged.
         */
        if (s->taker_fd < 0)
                return is_safe || s->acked >= s->shelf.end;
        if (!s->shelf.is_complete && s->out_left == 0 && s->acked >= s->shelf.end)
                return true;
        return is_safe && now_ns > s->progress_ns + PACE_RELAY_STALLED_NS;
}

static void wait_for_any(struct relay_server *s, struct pollfd *fds, size_t *ret_n)
{
        size_t n = 0;
        bool has_more = s->taker_fd >= 0 && (s->out_left > 0 || relay_server_choose(s) == 1);

        fds[n++] = (struct pollfd){ .fd = s->control_fd, .events = POLLIN };
        fds[n++] = (struct pollfd){ .fd = s->input_ended ? -1 : s->input_fd, .events = POLLIN };
        fds[n++] = (struct pollfd){ .fd = s->listen_fd, .events = POLLIN };
        fds[n++] = (struct pollfd){ .fd = s->taker_fd, .events = (short)(POLLIN | (has_more ? POLLOUT : 0)) };
        for (size_t i = 0; i < s->n_strangers; i++)
                fds[n++] = (struct pollfd){ .fd = s->strangers[i].fd, .events = POLLIN };
        *ret_n = n;
        (void)poll(fds, n, s->n_strangers > 0 || s->input_ended ? 100 : -1);
}

int relay_server_run(struct relay_server *s)
{
        struct pollfd fds[4 + RELAY_STRANGERS_MAX];
        size_t n;
        int r = 0;

        while (r == 0 && !is_done(s, clock_raw_ns())) {
                wait_for_any(s, fds, &n);
                if (fds[0].revents)
                        hear_recorder(s);
                if (fds[1].revents)
                        r = take_input(s);
                if (fds[3].revents & (POLLIN | POLLHUP | POLLERR))
                        hear_taker(s);
                if (s->taker_fd >= 0)
                        send_some(s);
                tell_progress(s, clock_raw_ns());
                hear_strangers(s, clock_raw_ns());
                if (fds[2].revents)
                        accept_stranger(s, clock_raw_ns());
        }
        lose_taker(s);
        tell(s, RELAY_ENDED);
        return r;
}
