/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_intake.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "format/trace_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONES_MAX 4096 /* the nesting depth up to which a recorder follows zones */

/* ---- the other side ------------------------------------------------------------------------------------ */

/* Returns 0; -EPIPE if the connection ends before, -errno. */
static int receive(struct relay_intake *t, void *to, size_t n, struct error *err)
{
        size_t got = 0;
        int r = io_read_full(t->socket_fd, to, n, &got, err);

        if (r == -ECONNRESET)
                got = 0;
        else if (r < 0)
                return r;
        t->wire_bytes += got;
        return got == n ? 0 : error_set(err, -EPIPE, "the connection ended before the recording did");
}

/*
 * A failed send is no error: if the recorder was killed, the next reads return what it had sent, and then
 * the end.
 */
static void send_number(struct relay_intake *t, uint64_t number)
{
        uint8_t bytes[RELAY_ACK_BYTES];

        relay_position_encode(number, bytes);
        if (!t->is_unheard)
                t->is_unheard = send(t->socket_fd, bytes, sizeof(bytes), MSG_NOSIGNAL) != sizeof(bytes);
}

/*
 * Waits for the next chunk, and asks for the recorder's clock meanwhile.  A new file has its first chunk
 * before anything is asked.
 */
static void await_chunk(struct relay_intake *t)
{
        struct pollfd come = { .fd = t->socket_fd, .events = POLLIN };

        while (t->place.file_bytes != 0) {
                uint64_t until_ns = relay_exchange_until(&t->exchange, clock_raw_ns());

                if (until_ns == 0) {
                        send_number(t, relay_exchange_ask(&t->exchange, clock_raw_ns()));
                        until_ns = UINT64_MAX;
                }
                if (until_ns == UINT64_MAX)
                        return;
                if (poll(&come, 1, (int)(until_ns / NS_PER_MS) + 1) != 0)
                        return;
        }
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

static int put_body(struct relay_intake *t, struct trace_chunk_header header, struct error *err)
{
        if (t->body.failed)
                return error_set(err, -ENOMEM, "no memory for a chunk");
        header.codec = 0;
        return trace_writer_put(t->writer, header, t->body.data, t->body.used_bytes, err);
}

/*
 * Writes rows of a table to which the taker adds; their first id is the next one in this file.
 * @table:  LOSSES or EXCHANGES
 */
static int put_rows(struct relay_intake *t, uint16_t table, const struct byte_buffer *raw, uint32_t n_rows,
                    struct error *err)
{
        uint32_t *n_before = table == TRACE_TABLE_LOSSES ? &t->place.n_loss_rows : &t->n_exchange_rows;
        struct trace_chunk_header header = { .kind = table, .n_items = n_rows };
        struct byte_reader in = byte_reader_of(raw->data, raw->used_bytes);

        (void)bytes_varint(&in);
        byte_buffer_clear(&t->body);
        byte_buffer_add_varint(&t->body, (uint64_t)*n_before + 1);
        byte_buffer_add(&t->body, in.at, in.left);
        *n_before += n_rows;
        return put_body(t, header, err);
}

static int put_exchange(struct relay_intake *t, const struct trace_exchange *row, struct error *err)
{
        struct byte_buffer rows = { .data = NULL };
        struct trace_dictionary d;
        uint32_t id, n_rows = 0;
        int r;

        trace_dictionary_init(&d, 0);
        r = trace_dictionary_add(&d, TRACE_TABLE_EXCHANGES, row, &id);
        if (r == 0)
                r = trace_dictionary_encode(&d, TRACE_TABLE_EXCHANGES, &rows, &n_rows);
        if (r < 0)
                (void)error_set(err, r, "no memory for readings of clocks");
        else
                r = put_rows(t, TRACE_TABLE_EXCHANGES, &rows, n_rows, err);
        byte_buffer_deinit(&rows);
        trace_dictionary_deinit(&d);
        return r;
}

static int take_time(struct relay_intake *t, struct error *err)
{
        struct trace_exchange row;
        int r = relay_exchange_take(&t->exchange, t->raw.data, t->raw.used_bytes, t->came_ns, &row);

        if (r < 0)
                return error_set(err, r, "the other side answers what was not asked");
        return r == 1 ? put_exchange(t, &row, err) : 0;
}

static int add_loss(struct trace_dictionary *d, enum trace_loss_reason reason, uint64_t count,
                    uint64_t time_ns)
{
        struct trace_loss row = { .reason = reason, .count = count, .time_ns = time_ns };
        uint32_t id;

        return count > 0 ? trace_dictionary_add(d, TRACE_TABLE_LOSSES, &row, &id) : 0;
}

static int put_gap(struct relay_intake *t, struct error *err)
{
        struct byte_buffer rows = { .data = NULL };
        struct trace_dictionary d;
        uint32_t n_rows = 0;
        int r;

        trace_dictionary_init(&d, 0);
        r = add_loss(&d, TRACE_LOSS_NOT_TAKEN, t->gap.n_dropped, t->gap.last_ns);
        if (r == 0)
                r = add_loss(&d, TRACE_LOSS_TAKEN_BEFORE, t->gap.n_taken, t->gap.last_ns);
        if (r == 0)
                r = trace_dictionary_encode(&d, TRACE_TABLE_LOSSES, &rows, &n_rows);
        if (r < 0)
                (void)error_set(err, r, "no memory for what was lost");
        else if (n_rows > 0)
                r = put_rows(t, TRACE_TABLE_LOSSES, &rows, n_rows, err);
        t->place.n_own_rows += r == 0 ? n_rows : 0;
        t->n_dropped += t->gap.n_dropped;
        t->n_taken += t->gap.n_taken;
        byte_buffer_deinit(&rows);
        trace_dictionary_deinit(&d);
        return r;
}

/* Turns one run of a STATES chunk into events that drop all zones open before and begin those open now. */
static int reopen_thread(struct event_decoder *decoder, uint32_t thread, struct event_encoder *encoder,
                         uint64_t *locations, struct error *err)
{
        struct trace_event event, begin = { .op = TRACE_OP_ZONE_BEGIN };
        size_t n_open = 0;
        bool is_first = true;
        int r;

        event_encoder_begin_run(encoder, thread);
        while ((r = event_decoder_next(decoder, &event, err)) == 1) {
                if (is_first) {
                        struct trace_event gone = { .op = TRACE_OP_ZONES_GONE, .time_ns = event.time_ns };

                        event_encoder_add(encoder, &gone);
                        is_first = false;
                }
                begin.time_ns =
                        event.time_ns; /* the time of the thread's last event, for all of its states */
                if (event.op == TRACE_OP_ZONE_BEGIN) {
                        if (n_open < ZONES_MAX)
                                locations[n_open] = event.zone_begin.location;
                        n_open++;
                } else if (event.op == TRACE_OP_ZONE_END) {
                        n_open -= n_open > 0;
                } else if (event.op == TRACE_OP_THREAD_NAME || event.op == TRACE_OP_SWITCH_IN ||
                           event.op == TRACE_OP_SWITCH_OUT) {
                        event_encoder_add(encoder, &event);
                }
        }
        for (size_t i = 0; i < n_open && i < ZONES_MAX; i++) {
                begin.zone_begin.location = locations[i];
                event_encoder_add(encoder, &begin);
        }
        event_encoder_end_run(encoder);
        return r;
}

static __attribute__((noinline)) int reopen_all(struct relay_intake *t,
                                                const struct trace_dictionary *any_ids,
                                                struct event_encoder *encoder, struct error *err)
{
        struct event_decoder decoder;
        struct event_run run;
        int r = event_decoder_init(&decoder, any_ids, t->raw.data, t->raw.used_bytes, err);

        while (r >= 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1)
                r = reopen_thread(&decoder, run.thread, encoder, t->zones, err);
        return r;
}

/* Writes, after a gap, events that restore the state of the STATES chunk. */
static int put_states(struct relay_intake *t, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        /* a dictionary without rows, in which any id is valid: readers of the trace check ids */
        struct trace_dictionary any_ids;
        struct event_encoder encoder;
        int r;

        trace_dictionary_init(&any_ids, 0);
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                any_ids.tables[i].n_items = INTERN_ITEMS_MAX;
        event_encoder_init(&encoder);
        r = reopen_all(t, &any_ids, &encoder, err);
        byte_buffer_clear(&t->body);
        if (r == 0) {
                r = event_encoder_take(&encoder, &t->body, &header.first_ns, &header.last_ns,
                                       &header.n_items);
                if (r < 0)
                        (void)error_set(err, r, "no memory for events");
        }
        if (r == 0 && header.n_items > 0)
                r = put_body(t, header, err);
        event_encoder_deinit(&encoder);
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                any_ids.tables[i].n_items = 0;
        trace_dictionary_deinit(&any_ids);
        return r;
}

static int take_gap(struct relay_intake *t, const struct trace_chunk_header *header, struct error *err)
{
        struct byte_reader in = byte_reader_of(t->raw.data, t->raw.used_bytes);
        struct relay_gap gap = { .first_ns = header->first_ns, .last_ns = header->last_ns };

        gap.n_dropped = bytes_u64(&in);
        gap.n_taken = bytes_u64(&in);
        gap.position = bytes_u64(&in);
        if (in.short_read || gap.position < t->place.position ||
            (t->has_gap && (gap.position < t->gap.position ||
                            __builtin_add_overflow(gap.n_dropped, t->gap.n_dropped, &gap.n_dropped) ||
                            __builtin_add_overflow(gap.n_taken, t->gap.n_taken, &gap.n_taken))))
                return error_set(err, -EBADMSG, "the other side sent a gap that makes no sense");
        t->gap = gap; /* the chunk after a gap may be dropped too: then a second gap comes */
        t->has_gap = true;
        return 0;
}

/* A checked chunk; `raw` is its body. */
static int take_chunk(struct relay_intake *t, const struct trace_chunk_header *header, struct error *err)
{
        const struct trace_item item = { .header = *header,
                                         .header_bytes = t->in.data,
                                         .stored = t->in.data + TRACE_CHUNK_HEADER_BYTES };
        int r = 0;

        if (header->kind == RELAY_GAP_KIND)
                return take_gap(t, header, err);
        if (header->kind == RELAY_TIME_KIND)
                return take_time(t, err);
        if (t->has_gap) {
                t->has_gap = false;
                t->place.position = t->gap.position;
                t->place.reopens = 1;
                r = put_gap(t, err);
        }
        if (r == 0 && t->place.reopens && header->kind == TRACE_CHUNK_STATES) {
                t->place.reopens = 0;
                r = put_states(t, err);
        }
        if (r < 0)
                return r;
        t->place.position += t->in.used_bytes;
        if (header->kind == TRACE_CHUNK_INDEX) {
                struct trace_exchange row;

                t->is_complete = true;
                if (relay_exchange_take_rest(&t->exchange, &row) == 1)
                        r = put_exchange(t, &row, err);
                return r < 0 ? r : trace_writer_finish(t->writer, err);
        }
        if (header->kind != TRACE_TABLE_LOSSES && header->kind != TRACE_TABLE_EXCHANGES)
                return trace_writer_copy(t->writer, &item, err);
        return put_rows(t, header->kind, &t->raw, header->n_items, err);
}

/* The first chunk of a trace is its FILE chunk, and no later one is. */
static int check_kind(const struct relay_intake *t, const struct trace_chunk_header *header,
                      struct error *err)
{
        bool is_first = t->place.file_bytes == 0;

        if (is_first == (header->kind == TRACE_CHUNK_FILE))
                return 0;
        return error_set(err, -EBADMSG, "the other side sends no trace");
}

static int next_chunk(struct relay_intake *t, struct error *err)
{
        struct trace_chunk_header header;
        uint8_t *at;
        int r;

        byte_buffer_clear(&t->in);
        at = byte_buffer_reserve(&t->in, TRACE_CHUNK_HEADER_BYTES);
        if (!at)
                return error_set(err, -ENOMEM, "no memory for a chunk");
        await_chunk(t);
        r = receive(t, at, TRACE_CHUNK_HEADER_BYTES, err);
        if (r < 0)
                return r;
        t->came_ns = clock_raw_ns();
        t->in.used_bytes = TRACE_CHUNK_HEADER_BYTES;
        r = trace_chunk_decode_header(at, TRACE_CHUNK_HEADER_BYTES, &header, err);
        if (r < 0)
                return error_prefix(err, r, "the other side sends no trace");
        r = check_kind(t, &header, err);
        if (r < 0)
                return r;
        at = byte_buffer_reserve(&t->in, header.stored_bytes);
        if (!at)
                return error_set(err, -ENOMEM, "no memory for a chunk");
        r = receive(t, at, header.stored_bytes, err);
        if (r < 0)
                return r;
        t->in.used_bytes += header.stored_bytes;
        r = trace_chunk_decode_body(&header, t->in.data, t->in.data + TRACE_CHUNK_HEADER_BYTES, &t->raw, err);
        if (r < 0)
                return error_prefix(err, r, "the received data is damaged");
        r = take_chunk(t, &header, err);
        t->n_chunks += r == 0;
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* Takes in the chunks that the file has so far, for the index at its end. */
static int adopt_file(struct relay_intake *t, struct error *err)
{
        uint8_t bytes[TRACE_CHUNK_HEADER_BYTES];
        struct trace_chunk_header header = { .stored_bytes = 0 };
        uint64_t at;
        size_t got;
        int r;

        for (at = 0; at < t->place.file_bytes;
             at += TRACE_CHUNK_HEADER_BYTES + (uint64_t)header.stored_bytes) {
                r = io_pread_full(t->file_fd, bytes, sizeof(bytes), at, &got, err);
                if (r < 0)
                        return r;
                r = trace_chunk_decode_header(bytes, got, &header, err);
                if (r < 0)
                        return r;
                trace_writer_adopt(t->writer, &header);
                t->n_exchange_rows += header.kind == TRACE_TABLE_EXCHANGES ? header.n_items : 0;
        }
        if (at != t->place.file_bytes)
                return error_set(err, -EBADMSG, "the trace does not end with a chunk where it was left");
        if (ftruncate(t->file_fd, (off_t)t->place.file_bytes) < 0 ||
            lseek(t->file_fd, (off_t)t->place.file_bytes, SEEK_SET) < 0)
                return error_errno(err, "the trace");
        return 0;
}

static int take_answer(struct relay_intake *t, const struct relay_hello *asked, struct error *err)
{
        uint8_t bytes[RELAY_HELLO_BYTES];
        struct relay_hello answer;
        int r = receive(t, bytes, sizeof(bytes), err);

        if (r < 0)
                return r;
        if (relay_hello_decode(bytes, false, &answer) < 0)
                return error_set(err, -EBADMSG, "what answers there is no recorder");
        if (answer.status == RELAY_BUSY)
                return error_set(err, -EBUSY, "another capture is connected to this recording");
        if (answer.status == RELAY_STALE)
                return error_set(err, -ESTALE,
                                 "the file is of another recording, or another capture has gone on with it");
        if (answer.status == RELAY_FOREIGN)
                return error_set(err, -EACCES, "the recorder hears only its own user and root");
        if (answer.status == RELAY_CROWDED)
                return error_set(err, -EUSERS,
                                 "too many connections to the recorder do not say what they want");
        t->is_resumed = answer.status == RELAY_RESUMED;
        if (answer.status > RELAY_CROWDED || t->is_resumed != (asked->recording != 0) ||
            (t->is_resumed && answer.position != asked->position))
                return error_set(err, -EBADMSG, "the recorder's answer makes no sense");
        t->place.recording = answer.recording;
        t->place.generation = answer.generation;
        t->exchange.is_answered = (answer.features & RELAY_FEATURE_TIME) != 0;
        return 0;
}

static struct relay_hello hello_of(const struct relay_place *place)
{
        return (struct relay_hello){ .recording = place->recording,
                                     .generation = place->generation,
                                     .position = place->position };
}

int relay_intake_ask(int socket_fd, const struct relay_place *place, struct error *err)
{
        struct relay_hello hello = hello_of(place);
        uint8_t bytes[RELAY_HELLO_BYTES];

        relay_hello_encode(&hello, true, bytes);
        if (send(socket_fd, bytes, sizeof(bytes), MSG_NOSIGNAL) != sizeof(bytes))
                return error_errno(err, "the connection");
        return 0;
}

int relay_intake_begin(struct relay_intake *t, int socket_fd, int file_fd, int place_fd,
                       const struct relay_place *place, struct error *err)
{
        struct relay_hello hello = hello_of(place);
        int r;

        *t = (struct relay_intake){
                .socket_fd = socket_fd, .file_fd = file_fd, .place_fd = place_fd, .place = *place
        };
        t->zones = calloc(ZONES_MAX, sizeof(*t->zones));
        if (!t->zones)
                return error_set(err, -ENOMEM, "no memory");
        r = take_answer(t, &hello, err);
        if (r == 0)
                r = trace_writer_reopen(file_fd, &t->writer, err);
        return r == 0 ? adopt_file(t, err) : r;
}

void relay_intake_measure(struct relay_intake *t, struct boot_number taker)
{
        t->exchange.taker = taker;
}

int relay_intake_next(struct relay_intake *t, struct error *err)
{
        int r = next_chunk(t, err);

        if (r < 0 || t->has_gap)
                return r < 0 ? r : 1;
        t->place.file_bytes = trace_writer_count_bytes(t->writer);
        /*
         * The place is written after the file's bytes: if the process is killed in between, the file is
         * longer, and is cut back.
         */
        r = relay_place_write(t->place_fd, &t->place, err);
        if (r == 0)
                send_number(t, t->place.position);
        if (t->is_complete)
                return 0; /* the trace is complete, even if writing or sending the place failed */
        return r < 0 ? r : 1;
}

void relay_intake_deinit(struct relay_intake *t)
{
        trace_writer_free(t->writer);
        free(t->zones);
        byte_buffer_deinit(&t->in);
        byte_buffer_deinit(&t->raw);
        byte_buffer_deinit(&t->body);
}

/* ------------------------------------------------------------------ how far it goes */

#define PLACE_MAGIC UINT64_C(0x3143414c50505948) /* "HYPPLAC1" */

/*
 * A new file may get the inode number of a removed one at once: its birth time, where the file system has
 * it, differs.
 */
uint64_t relay_place_identify(int file_fd)
{
        struct statx status = { .stx_mask = 0 };
        uint64_t facts[3] = { 0 };

        if (statx(file_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) < 0)
                return 0;
        facts[0] = status.stx_ino;
        if (status.stx_mask & STATX_BTIME) {
                facts[1] = (uint64_t)status.stx_btime.tv_sec;
                facts[2] = status.stx_btime.tv_nsec;
        }
        return content_hash(facts, sizeof(facts));
}

int relay_place_decode(const uint8_t bytes[RELAY_PLACE_BYTES], struct relay_place *ret)
{
        struct byte_reader in = byte_reader_of(bytes, RELAY_PLACE_BYTES);
        uint64_t magic = bytes_u64(&in);

        ret->recording = bytes_u64(&in);
        ret->generation = bytes_u32(&in);
        ret->n_loss_rows = bytes_u32(&in);
        ret->n_own_rows = bytes_u32(&in);
        ret->reopens = bytes_u32(&in);
        ret->position = bytes_u64(&in);
        ret->file_bytes = bytes_u64(&in);
        ret->file_id = bytes_u64(&in);
        return magic == PLACE_MAGIC && bytes_u64(&in) == content_hash(bytes, RELAY_PLACE_BYTES - 8)
                       ? 0
                       : -EBADMSG;
}

int relay_place_read(int place_fd, int file_fd, struct relay_place *ret)
{
        uint8_t bytes[RELAY_PLACE_BYTES];
        struct relay_place place;
        struct stat status;
        size_t got = 0;

        if (io_pread_full(place_fd, bytes, sizeof(bytes), 0, &got, NULL) < 0 || got < sizeof(bytes) ||
            relay_place_decode(bytes, &place) < 0)
                return -EBADMSG;
        if (fstat(file_fd, &status) < 0 || place.file_id != relay_place_identify(file_fd))
                return -ESTALE;
        if (place.file_bytes == 0)
                return 0;
        if ((uint64_t)status.st_size < place.file_bytes)
                return -ENODATA;
        *ret = place;
        return 1;
}

int relay_place_write(int place_fd, const struct relay_place *place, struct error *err)
{
        struct byte_buffer bytes = { .data = NULL };
        ssize_t n;
        int r = 0;

        byte_buffer_add_u64(&bytes, PLACE_MAGIC);
        byte_buffer_add_u64(&bytes, place->recording);
        byte_buffer_add_u32(&bytes, place->generation);
        byte_buffer_add_u32(&bytes, place->n_loss_rows);
        byte_buffer_add_u32(&bytes, place->n_own_rows);
        byte_buffer_add_u32(&bytes, place->reopens);
        byte_buffer_add_u64(&bytes, place->position);
        byte_buffer_add_u64(&bytes, place->file_bytes);
        byte_buffer_add_u64(&bytes, place->file_id);
        if (!bytes.failed)
                byte_buffer_add_u64(&bytes, content_hash(bytes.data, bytes.used_bytes));
        if (bytes.failed) {
                byte_buffer_deinit(&bytes);
                return error_set(err, -ENOMEM, "no memory");
        }
        n = pwrite(place_fd, bytes.data, bytes.used_bytes, 0);
        if (n < 0)
                r = error_errno(err, "the file beside the trace");
        else if ((size_t)n < bytes.used_bytes)
                r = error_set(err, -ENOSPC, "the file beside the trace: a part was written");
        byte_buffer_deinit(&bytes);
        return r;
}
