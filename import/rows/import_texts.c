/* SPDX-License-Identifier: MIT */
#include "import/rows/import_texts.h"

#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_BYTES   UINT64_C(16) /* a text begins at a multiple of it, with its length */
#define LENGTH_BYTES sizeof(uint32_t)
#define UNITS_MAX    UINT64_C(0x7fffffff)
#define TAIL_BYTES   ((size_t)128 << 10) /* are written at once */
#define WINDOW_BYTES ((size_t)16 << 10)
#define N_WINDOWS    256
#define N_RECENT     1024
#define RECENT_BYTES 4096 /* a longer text is not looked for */

/* A text that was added; its hash says which, but for texts that someone made to have one hash. */
struct recent {
        uint64_t hash;
        uint32_t n_bytes, id; /* id: 0 = none */
};

struct window {
        uint64_t number; /* of the file, + 1; 0 = empty */
        size_t n_bytes;
        size_t place; /* of its bytes */
};

struct import_texts {
        int fd; /* -1 = none yet */
        bool is_own_fd;
        uint64_t n_file_bytes;
        uint8_t *tail; /* heap, TAIL_BYTES: what comes after the file's bytes */
        size_t n_tail_bytes;
        struct recent recent[N_RECENT];

        uint8_t *bytes; /* heap: of all windows */
        struct window windows[N_WINDOWS];
        struct byte_buffer room; /* a text that is in several windows */
};

int import_texts_new(struct import_texts **ret_texts, int fd, struct error *err)
{
        struct import_texts *t = calloc(1, sizeof(*t));

        if (!t)
                return error_set(err, -ENOMEM, "no memory for texts");
        t->fd = fd;
        t->tail = malloc(TAIL_BYTES);
        if (!t->tail) {
                import_texts_free(t);
                return error_set(err, -ENOMEM, "no memory for texts");
        }
        *ret_texts = t;
        return 0;
}

void import_texts_free(struct import_texts *texts)
{
        if (!texts)
                return;
        if (texts->is_own_fd)
                io_close(&texts->fd);
        free(texts->tail);
        free(texts->bytes);
        byte_buffer_deinit(&texts->room);
        free(texts);
}

/* ---- in ------------------------------------------------------------------------------------------------ */

static int append(struct import_texts *t, const void *bytes, size_t n_bytes, struct error *err)
{
        int r;

        if (t->fd < 0) {
                t->fd = io_open_unnamed(err);
                t->is_own_fd = true;
                if (t->fd < 0)
                        return error_prefix(err, t->fd, "texts");
        }
        r = io_pwrite_all(t->fd, bytes, n_bytes, t->n_file_bytes, err);
        if (r < 0)
                return error_prefix(err, r, "texts");
        t->n_file_bytes += n_bytes;
        return 0;
}

static int empty_tail(struct import_texts *t, struct error *err)
{
        int r = t->n_tail_bytes > 0 ? append(t, t->tail, t->n_tail_bytes, err) : 0;

        t->n_tail_bytes = 0;
        return r;
}

/* A text is whole in the tail, or whole in the file. */
static int put(struct import_texts *t, struct text_view text, size_t n_padded, struct error *err)
{
        uint32_t length = (uint32_t)text.n_bytes;
        uint8_t first[LENGTH_BYTES];
        uint64_t end;
        int r = n_padded > TAIL_BYTES - t->n_tail_bytes ? empty_tail(t, err) : 0;

        if (r < 0)
                return r;
        if (n_padded <= TAIL_BYTES) {
                uint8_t *to = t->tail + t->n_tail_bytes;

                memcpy(to, &length, LENGTH_BYTES);
                memcpy(to + LENGTH_BYTES, text.bytes, text.n_bytes);
                memset(to + LENGTH_BYTES + text.n_bytes, 0, n_padded - LENGTH_BYTES - text.n_bytes);
                t->n_tail_bytes += n_padded;
                return 0;
        }
        end = t->n_file_bytes + n_padded;
        memcpy(first, &length, LENGTH_BYTES);
        r = append(t, first, LENGTH_BYTES, err);
        if (r == 0)
                r = append(t, text.bytes, text.n_bytes, err);
        t->n_file_bytes = end;
        return r;
}

int import_texts_add(struct import_texts *t, struct text_view text, uint32_t *ret_id, struct error *err)
{
        uint64_t at = t->n_file_bytes + t->n_tail_bytes, hash;
        size_t n_padded = (text.n_bytes + LENGTH_BYTES + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
        bool is_short = text.n_bytes <= RECENT_BYTES;
        struct recent *recent;
        int r;

        hash = is_short ? content_hash(text.bytes, text.n_bytes) : 0;
        recent = &t->recent[hash % N_RECENT];
        if (is_short && recent->id != 0 && recent->hash == hash && recent->n_bytes == text.n_bytes) {
                *ret_id = recent->id;
                return 0;
        }
        if (text.n_bytes > UINT32_MAX || (at + n_padded) / UNIT_BYTES > UNITS_MAX)
                return error_set(err, -EOVERFLOW, "texts of more than 32 GiB");
        r = put(t, text, n_padded, err);
        if (r < 0)
                return r;
        *ret_id = IMPORT_TEXT_BIT | (uint32_t)(at / UNIT_BYTES);
        if (is_short)
                *recent = (struct recent){ hash, (uint32_t)text.n_bytes, *ret_id };
        return 0;
}

/* ---- out ----------------------------------------------------------------------------------------------- */

static uint8_t *bytes_of(const struct import_texts *t, const struct window *window)
{
        return t->bytes + window->place * WINDOW_BYTES;
}

static int make_windows(struct import_texts *t, struct error *err)
{
        t->bytes = malloc(N_WINDOWS * WINDOW_BYTES);
        if (!t->bytes)
                return error_set(err, -ENOMEM, "no memory for texts");
        for (size_t i = 0; i < N_WINDOWS; i++)
                t->windows[i].place = i;
        return 0;
}

/*
 * Reads a window of the file.  Texts that are read in their order are done with the window before it: its
 * place, which the processor has in its cache, is taken.
 */
static int fill(struct import_texts *t, struct window *window, uint64_t number, struct error *err)
{
        struct window *before = &t->windows[(number + N_WINDOWS - 1) % N_WINDOWS];
        int r;

        if (before->number == number) {
                size_t place = before->place;

                *before = (struct window){ .place = window->place };
                window->place = place;
        }
        r = io_pread_full(t->fd, bytes_of(t, window), WINDOW_BYTES, number * WINDOW_BYTES, &window->n_bytes,
                          err);
        window->number = r == 0 ? number + 1 : 0;
        return r < 0 ? error_prefix(err, r, "texts") : 0;
}

/* Bytes of the file from @at on: @ret_bytes is of at most @n_wanted, up to the end of a window. */
static int look(struct import_texts *t, uint64_t at, size_t n_wanted, struct text_view *ret_bytes,
                struct error *err)
{
        uint64_t number = at / WINDOW_BYTES;
        size_t inside = (size_t)(at % WINDOW_BYTES);
        struct window *window = &t->windows[number % N_WINDOWS];
        int r = t->bytes ? 0 : make_windows(t, err);

        if (r == 0 && window->number != number + 1)
                r = fill(t, window, number, err);
        if (r < 0)
                return r;
        if (inside >= window->n_bytes)
                return error_set(err, -EIO, "texts: the file ends too early");
        n_wanted = n_wanted < window->n_bytes - inside ? n_wanted : window->n_bytes - inside;
        *ret_bytes = (struct text_view){ (const char *)bytes_of(t, window) + inside, n_wanted };
        return 0;
}

static int read_file(struct import_texts *t, uint64_t at, struct text_view *ret_text, struct error *err)
{
        struct text_view part = { NULL, 0 };
        uint32_t length;
        int r = look(t, at, LENGTH_BYTES, &part, err);

        if (r < 0)
                return r;
        if (part.n_bytes < LENGTH_BYTES)
                return error_set(err, -EIO, "texts: the file ends too early");
        memcpy(&length, part.bytes, LENGTH_BYTES);
        at += LENGTH_BYTES;
        *ret_text = (struct text_view){ NULL, 0 };
        if (length == 0)
                return 0;
        r = look(t, at, length, ret_text, err);
        if (r < 0 || ret_text->n_bytes == length)
                return r;
        byte_buffer_clear(&t->room);
        for (size_t n = 0; n < length; n += part.n_bytes) {
                r = look(t, at + n, length - n, &part, err);
                if (r < 0)
                        return r;
                byte_buffer_add(&t->room, part.bytes, part.n_bytes);
        }
        if (t->room.failed)
                return error_set(err, -ENOMEM, "no memory for a text");
        *ret_text = (struct text_view){ (const char *)t->room.data, length };
        return 0;
}

/* A text of the file that is all in one window, which is here. */
static bool is_in_window(const struct import_texts *t, uint64_t at, struct text_view *ret_text)
{
        uint64_t number = at / WINDOW_BYTES;
        size_t inside = (size_t)(at % WINDOW_BYTES);
        const struct window *window = &t->windows[number % N_WINDOWS];
        const uint8_t *bytes;
        uint32_t length;

        /* A length is at a multiple of its bytes. */
        if (window->number != number + 1 || inside >= window->n_bytes)
                return false;
        bytes = bytes_of(t, window) + inside;
        memcpy(&length, bytes, LENGTH_BYTES);
        if (length > window->n_bytes - inside - LENGTH_BYTES)
                return false;
        *ret_text = (struct text_view){ (const char *)bytes + LENGTH_BYTES, length };
        return true;
}

int import_texts_get(struct import_texts *t, uint32_t id, struct text_view *ret_text, struct error *err)
{
        uint64_t at = (id & ~IMPORT_TEXT_BIT) * UNIT_BYTES;
        const uint8_t *bytes;
        uint32_t length;

        if (at < t->n_file_bytes && is_in_window(t, at, ret_text))
                return 0;
        if (at < t->n_file_bytes)
                return read_file(t, at, ret_text, err);
        bytes = t->tail + (at - t->n_file_bytes);
        memcpy(&length, bytes, LENGTH_BYTES);
        *ret_text = (struct text_view){ (const char *)bytes + LENGTH_BYTES, length };
        return 0;
}
