/* SPDX-License-Identifier: MIT */
#include "symbolize/process/live_names.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "symbolize/process/symbol_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICENESS   10
#define READ_BYTES 65536
/* frame, flags, line, line and instance of the declaration, lengths of three texts: 4 bytes each; start: 8 */
#define ROW_BYTES      40
#define NAME_BYTES_MAX (UINT32_C(1) << 20)
#define FUNCTIONS_MAX  64 /* inlined into each other */

void live_names_init(struct live_names *n, const struct live_names_options *options)
{
        *n = (struct live_names){ .options = *options, .child_fd = -1 };
}

static void end_child(struct live_names *n)
{
        if (n->child > 0) {
                (void)kill(n->child, SIGKILL);
                while (waitpid(n->child, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        n->child = 0;
        io_close(&n->child_fd);
        byte_buffer_clear(&n->input);
}

void live_names_deinit(struct live_names *n)
{
        end_child(n);
        free(n->frames);
        free(n->names);
        byte_buffer_deinit(&n->text);
        byte_buffer_deinit(&n->input);
        *n = (struct live_names){ .child_fd = -1 };
}

/* ---- names --------------------------------------------------------------------------------------------- */

static int reserve_frames(struct live_names *n)
{
        uint32_t n_frames = trace_dictionary_count(n->options.dictionary, TRACE_TABLE_FRAMES);

        return array_reach(&n->frames, &n->frames_capacity, &n->n_frames, n_frames, sizeof(*n->frames));
}

/*
 * Adds the next name of a frame: the rows of a frame are adjacent.  @is_first: a new group of rows begins.
 */
static int add_name(struct live_names *n, uint32_t frame, bool is_first, const struct live_name *name)
{
        struct live_frame_names *of = &n->frames[frame - 1];

        /* If names of another frame came in between, the remaining names of this frame are left out. */
        if (!is_first && (of->n >= FUNCTIONS_MAX || of->first + of->n != n->n_names + 1))
                return 0;
        if (array_reserve(&n->names, &n->names_capacity, (size_t)n->n_names + 1, sizeof(*n->names)) < 0)
                return -ENOMEM;
        n->names[n->n_names++] = *name;
        n->has_places |= name->declared_line != 0 || name->start_svma != 0;
        if (is_first)
                *of = (struct live_frame_names){ .first = n->n_names };
        of->n++;
        return 0;
}

/* Takes in the names of the trace itself.  Returns 1 if there are more than before, 0, -ENOMEM. */
static int take_symbols(struct live_names *n)
{
        const struct trace_dictionary *d = n->options.dictionary;
        uint32_t n_rows = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS);
        int r = n_rows > n->n_symbols;

        while (n->n_symbols < n_rows) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, ++n->n_symbols);
                const struct live_name name = { .function_at = row->function,
                                                .file_at = row->file,
                                                .declared_at = row->declared_file,
                                                .line = row->line,
                                                .flags = row->flags,
                                                .declared_line = row->declared_line,
                                                .instance = row->instance,
                                                .start_svma = row->start_svma,
                                                .is_of_trace = true };

                if (add_name(n, row->frame, row->frame != n->open_frame, &name) < 0)
                        return -ENOMEM;
                n->open_frame = (row->flags & TRACE_SYMBOL_INLINED) != 0 ? row->frame : 0;
        }
        return r;
}

static bool is_named_by_trace(const struct live_names *n, uint32_t frame)
{
        const struct live_frame_names *of = &n->frames[frame - 1];

        return of->n > 0 && n->names[of->first - 1].is_of_trace;
}

/* ---- the child's side ---------------------------------------------------------------------------------- */

/* A string, cut to the length that a row can take. */
static struct text_view row_text(const struct trace_dictionary *d, uint32_t id)
{
        struct text_view text = trace_dictionary_text(d, id);

        if (text.n_bytes > NAME_BYTES_MAX)
                text.n_bytes = NAME_BYTES_MAX;
        return text;
}

static void put_row(struct byte_buffer *out, const struct trace_dictionary *d, const struct trace_symbol *row)
{
        struct text_view function = row_text(d, row->function), file = row_text(d, row->file);
        struct text_view declared = row_text(d, row->declared_file);

        byte_buffer_add_u32(out, row->frame);
        byte_buffer_add_u32(out, row->flags);
        byte_buffer_add_u32(out, row->line);
        byte_buffer_add_u32(out, (uint32_t)function.n_bytes);
        byte_buffer_add_u32(out, (uint32_t)file.n_bytes);
        byte_buffer_add_u32(out, (uint32_t)declared.n_bytes);
        byte_buffer_add_u32(out, row->declared_line);
        byte_buffer_add_u32(out, row->instance);
        byte_buffer_add_u64(out, row->start_svma);
        byte_buffer_add(out, function.bytes, function.n_bytes);
        byte_buffer_add(out, file.bytes, file.n_bytes);
        byte_buffer_add(out, declared.bytes, declared.n_bytes);
}

/* Symbolizes its own copy of the dictionary and sends the rows that this added. */
static _Noreturn void run_child(const struct live_names *n, int out_fd)
{
        struct trace_dictionary copy = *n->options.dictionary;
        uint32_t n_before = trace_dictionary_count(&copy, TRACE_TABLE_SYMBOLS);
        struct symbol_process_options options = { .first_frame = n->n_asked + 1,
                                                  .run_as_uid = n->options.run_as_uid,
                                                  .run_as_gid = n->options.run_as_gid,
                                                  .stop_fd = -1,
                                                  .kallsyms_fd = n->options.kallsyms_fd,
                                                  .search = n->options.search,
                                                  .cache = n->options.cache,
                                                  .n_workers = 1 };
        struct byte_buffer out = { .data = NULL };

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setpriority(PRIO_PROCESS, 0, NICENESS);
        (void)signal(SIGINT, SIG_IGN); /* the parent handles Ctrl-C of a terminal */
        (void)symbol_process_run(&copy, &options, NULL);
        for (uint32_t i = n_before + 1; i <= trace_dictionary_count(&copy, TRACE_TABLE_SYMBOLS); i++) {
                put_row(&out, &copy, trace_dictionary_row(&copy, TRACE_TABLE_SYMBOLS, i));
                if (out.used_bytes < READ_BYTES)
                        continue;
                if (out.failed || io_write_all(out_fd, out.data, out.used_bytes, NULL) < 0)
                        _exit(EXIT_FAILURE);
                byte_buffer_clear(&out);
        }
        _exit(out.failed || io_write_all(out_fd, out.data, out.used_bytes, NULL) < 0);
}

static void start_child(struct live_names *n)
{
        int ends[2];

        n->started_ns = clock_raw_ns();
        n->next_ns = n->started_ns + LIVE_NAMES_PERIOD_NS;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return;
        n->child = fork();
        if (n->child == 0)
                run_child(n, ends[1]);
        (void)close(ends[1]);
        n->child_fd = ends[0];
        if (n->child < 0)
                end_child(n);
        else
                n->n_asked = n->n_frames;
}

/* ---- the parent's side --------------------------------------------------------------------------------- */

static uint32_t keep_text(struct live_names *n, struct text_view text)
{
        uint32_t at = (uint32_t)n->text.used_bytes;

        byte_buffer_add(&n->text, text.bytes, text.n_bytes);
        return at;
}

int live_names_row_decode(struct byte_reader *in, struct live_names_row *ret)
{
        struct live_names_row row = { .frame = bytes_u32(in) };
        const char *text;

        row.flags = bytes_u32(in);
        row.line = bytes_u32(in);
        row.function.n_bytes = bytes_u32(in);
        row.file.n_bytes = bytes_u32(in);
        row.declared_file.n_bytes = bytes_u32(in);
        row.declared_line = bytes_u32(in);
        row.instance = bytes_u32(in);
        row.start_svma = bytes_u64(in);
        text = (const char *)bytes_take(in,
                                        row.function.n_bytes + row.file.n_bytes + row.declared_file.n_bytes);
        if (in->short_read || !text)
                return 0;
        row.function.bytes = text;
        row.file.bytes = text + row.function.n_bytes;
        row.declared_file.bytes = row.file.bytes + row.file.n_bytes;
        *ret = row;
        return 1;
}

/* Takes one row.  Returns 1, 0 if the row is incomplete or its frame is not known, -ENOMEM. */
static int take_row(struct live_names *n, struct byte_reader *in, uint32_t *open_frame)
{
        struct live_names_row row;
        struct live_name name;

        if (live_names_row_decode(in, &row) == 0 || row.frame == 0 || row.frame > n->n_frames ||
            n->text.used_bytes > UINT32_MAX / 2)
                return 0;
        if (!is_named_by_trace(n, row.frame)) {
                name = (struct live_name){ .function_at = keep_text(n, row.function),
                                           .n_function = (uint32_t)row.function.n_bytes,
                                           .file_at = keep_text(n, row.file),
                                           .n_file = (uint32_t)row.file.n_bytes,
                                           .declared_at = keep_text(n, row.declared_file),
                                           .n_declared = (uint32_t)row.declared_file.n_bytes,
                                           .line = row.line,
                                           .flags = row.flags,
                                           .declared_line = row.declared_line,
                                           .instance = row.instance,
                                           .start_svma = row.start_svma };
                if (n->text.failed || add_name(n, row.frame, row.frame != *open_frame, &name) < 0)
                        return -ENOMEM;
        }
        *open_frame = (row.flags & TRACE_SYMBOL_INLINED) != 0 ? row.frame : 0;
        return 1;
}

/* Takes whole rows.  Returns how many bytes they have, or -ENOMEM. */
static ssize_t take_rows(struct live_names *n, const uint8_t *bytes, size_t n_bytes, uint32_t *open_frame)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        size_t n_taken = 0;
        int r = 1;

        while (in.left >= ROW_BYTES && (r = take_row(n, &in, open_frame)) == 1)
                n_taken = n_bytes - in.left;
        return r < 0 ? r : (ssize_t)n_taken;
}

/*
 * Takes everything that a child sent, after the child ended.  Returns 1 if there are new names, 0, -ENOMEM.
 */
static int take_input(struct live_names *n)
{
        uint32_t open_frame = 0;
        ssize_t r = take_rows(n, n->input.data, n->input.used_bytes, &open_frame);

        if (r > 0 && n->options.pass_on)
                n->options.pass_on(n->options.context, n->input.data, (size_t)r);
        return r < 0 ? (int)r : r > 0;
}

ssize_t live_names_feed(struct live_names *n, const uint8_t *bytes, size_t n_bytes)
{
        return reserve_frames(n) < 0 ? -ENOMEM : take_rows(n, bytes, n_bytes, &n->fed_frame);
}

static void rest(struct live_names *n)
{
        uint64_t now_ns = clock_raw_ns(), rest_ns = LIVE_NAMES_REST * (now_ns - n->started_ns);

        n->next_ns = n->started_ns + LIVE_NAMES_PERIOD_NS;
        if (n->next_ns < now_ns + rest_ns)
                n->next_ns = now_ns + rest_ns;
}

/* Returns as live_names_step(). */
static int read_child(struct live_names *n)
{
        struct pollfd ready = { .fd = n->child_fd, .events = POLLIN };

        while (poll(&ready, 1, 0) > 0 && ready.revents != 0) {
                uint8_t *to = byte_buffer_reserve(&n->input, READ_BYTES);
                ssize_t got = to ? read(n->child_fd, to, READ_BYTES) : -1;
                int r = 0;

                if (got > 0) {
                        n->input.used_bytes += (size_t)got;
                        if (n->input.used_bytes <= LIVE_NAMES_BYTES_MAX)
                                continue;
                }
                if (got == 0)
                        r = take_input(n);
                end_child(n);
                rest(n);
                return r;
        }
        return 0;
}

int live_names_step(struct live_names *n)
{
        int named, r;

        if (reserve_frames(n) < 0)
                return -ENOMEM;
        named = take_symbols(n);
        if (named < 0)
                return named;
        r = n->child_fd >= 0 ? read_child(n) : 0;
        if (r < 0)
                return r;
        if (!n->options.is_off && n->child_fd < 0 && n->n_frames > n->n_asked && clock_raw_ns() >= n->next_ns)
                start_child(n);
        return named || r;
}

int live_names_fd(const struct live_names *n)
{
        return n->child_fd;
}

uint32_t live_names_count(const struct live_names *n, uint32_t frame)
{
        return frame == 0 || frame > n->n_frames ? 0 : n->frames[frame - 1].n;
}

static const struct live_name *name_of(const struct live_names *n, uint32_t frame, uint32_t i)
{
        return &n->names[n->frames[frame - 1].first - 1 + i];
}

/* @at, @n_bytes: as in struct live_name */
static struct text_view text_of(const struct live_names *n, const struct live_name *name, uint32_t at,
                                uint32_t n_bytes)
{
        if (name->is_of_trace)
                return trace_dictionary_text(n->options.dictionary, at);
        return (struct text_view){ .bytes = (const char *)n->text.data + at, .n_bytes = n_bytes };
}

struct text_view live_names_function(const struct live_names *n, uint32_t frame, uint32_t i)
{
        const struct live_name *name = name_of(n, frame, i);

        return text_of(n, name, name->function_at, name->n_function);
}

struct text_view live_names_file(const struct live_names *n, uint32_t frame, uint32_t i, uint32_t *ret_line)
{
        const struct live_name *name = name_of(n, frame, i);

        *ret_line = name->line;
        return text_of(n, name, name->file_at, name->n_file);
}

struct live_names_row live_names_describe(const struct live_names *n, uint32_t frame, uint32_t i)
{
        const struct live_name *name = name_of(n, frame, i);

        return (struct live_names_row){ .frame = frame,
                                        .flags = name->flags,
                                        .line = name->line,
                                        .declared_line = name->declared_line,
                                        .instance = name->instance,
                                        .start_svma = name->start_svma,
                                        .function = text_of(n, name, name->function_at, name->n_function),
                                        .file = text_of(n, name, name->file_at, name->n_file),
                                        .declared_file = text_of(n, name, name->declared_at,
                                                                 name->n_declared) };
}
