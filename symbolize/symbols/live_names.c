/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/live_names.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "symbolize/symbols/symbol_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICENESS       10
#define READ_BYTES     65536
#define ROW_BYTES      20 /* frame, flags, line, bytes of the function, bytes of the file: 4 bytes each */
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

        if (n_frames <= n->n_frames)
                return 0;
        if (array_reserve(&n->frames, &n->frames_capacity, n_frames, sizeof(*n->frames)) < 0)
                return -ENOMEM;
        memset(n->frames + n->n_frames, 0, (n_frames - n->n_frames) * sizeof(*n->frames));
        n->n_frames = n_frames;
        return 0;
}

/* The next name of a frame: rows of a frame follow each other.  @is_first: a group of rows begins. */
static int add_name(struct live_names *n, uint32_t frame, bool is_first, const struct live_name *name)
{
        struct live_frame_names *of = &n->frames[frame - 1];

        /* Where names of another frame came in between, the rest of this one's is left out. */
        if (!is_first && (of->n >= FUNCTIONS_MAX || of->first + of->n != n->n_names + 1))
                return 0;
        if (array_reserve(&n->names, &n->names_capacity, (size_t)n->n_names + 1, sizeof(*n->names)) < 0)
                return -ENOMEM;
        n->names[n->n_names++] = *name;
        if (is_first)
                *of = (struct live_frame_names){ .first = n->n_names };
        of->n++;
        return 0;
}

/* The names of the trace itself.  Returns 1 if that is more than before, 0, -ENOMEM. */
static int live_names_take_symbols(struct live_names *n)
{
        const struct trace_dictionary *d = n->options.dictionary;
        uint32_t n_rows = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS);
        int r = n_rows > n->n_symbols;

        while (n->n_symbols < n_rows) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, ++n->n_symbols);
                const struct live_name name = { .function_at = row->function,
                                                .file_at = row->file,
                                                .line = row->line,
                                                .flags = row->flags,
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

static void put_text(struct byte_buffer *out, struct text_view text)
{
        byte_buffer_add(out, text.bytes, text.n_bytes < NAME_BYTES_MAX ? text.n_bytes : NAME_BYTES_MAX);
}

static void put_row(struct byte_buffer *out, const struct trace_dictionary *d, const struct trace_symbol *row)
{
        struct text_view function = trace_dictionary_text(d, row->function);
        struct text_view file = trace_dictionary_text(d, row->file);

        byte_buffer_add_u32(out, row->frame);
        byte_buffer_add_u32(out, row->flags);
        byte_buffer_add_u32(out, row->line);
        byte_buffer_add_u32(
                out, (uint32_t)(function.n_bytes < NAME_BYTES_MAX ? function.n_bytes : NAME_BYTES_MAX));
        byte_buffer_add_u32(out, (uint32_t)(file.n_bytes < NAME_BYTES_MAX ? file.n_bytes : NAME_BYTES_MAX));
        put_text(out, function);
        put_text(out, file);
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
        (void)signal(SIGINT, SIG_IGN); /* a terminal's Ctrl-C is the parent's to answer */
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
        uint32_t frame = bytes_u32(in), flags = bytes_u32(in), line = bytes_u32(in);
        uint32_t n_function = bytes_u32(in), n_file = bytes_u32(in);
        const char *text = (const char *)bytes_take(in, (size_t)n_function + n_file);

        if (in->short_read || !text)
                return 0;
        *ret = (struct live_names_row){ .frame = frame,
                                        .flags = flags,
                                        .line = line,
                                        .function = { text, n_function },
                                        .file = { text + n_function, n_file } };
        return 1;
}

/* One row.  Returns 1, 0 if it is not whole or of a frame that is not known, -ENOMEM. */
static int live_names_take_row(struct live_names *n, struct byte_reader *in, uint32_t *open_frame)
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
                                           .line = row.line,
                                           .flags = row.flags };
                if (n->text.failed || add_name(n, row.frame, row.frame != *open_frame, &name) < 0)
                        return -ENOMEM;
        }
        *open_frame = (row.flags & TRACE_SYMBOL_INLINED) != 0 ? row.frame : 0;
        return 1;
}

/* Whole rows.  Returns the bytes they have, or -ENOMEM. */
static ssize_t live_names_take_rows(struct live_names *n, const uint8_t *bytes, size_t n_bytes,
                                    uint32_t *open_frame)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        size_t n_taken = 0;
        int r = 1;

        while (in.left >= ROW_BYTES && (r = live_names_take_row(n, &in, open_frame)) == 1)
                n_taken = n_bytes - in.left;
        return r < 0 ? r : (ssize_t)n_taken;
}

/* All that a child sent, which has ended.  Returns 1 if there are new names, 0, -ENOMEM. */
static int take_input(struct live_names *n)
{
        uint32_t open_frame = 0;
        ssize_t r = live_names_take_rows(n, n->input.data, n->input.used_bytes, &open_frame);

        if (r > 0 && n->options.pass_on)
                n->options.pass_on(n->options.context, n->input.data, (size_t)r);
        return r < 0 ? (int)r : r > 0;
}

ssize_t live_names_feed(struct live_names *n, const uint8_t *bytes, size_t n_bytes)
{
        return reserve_frames(n) < 0 ? -ENOMEM : live_names_take_rows(n, bytes, n_bytes, &n->fed_frame);
}

static void live_names_rest(struct live_names *n)
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
                live_names_rest(n);
                return r;
        }
        return 0;
}

int live_names_step(struct live_names *n)
{
        int named, r;

        if (reserve_frames(n) < 0)
                return -ENOMEM;
        named = live_names_take_symbols(n);
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

struct text_view live_names_function(const struct live_names *n, uint32_t frame, uint32_t i)
{
        const struct live_name *name = &n->names[n->frames[frame - 1].first - 1 + i];

        if (name->is_of_trace)
                return trace_dictionary_text(n->options.dictionary, name->function_at);
        return (struct text_view){ .bytes = (const char *)n->text.data + name->function_at,
                                   .n_bytes = name->n_function };
}

struct text_view live_names_file(const struct live_names *n, uint32_t frame, uint32_t i, uint32_t *ret_line)
{
        const struct live_name *name = &n->names[n->frames[frame - 1].first - 1 + i];

        *ret_line = name->line;
        if (name->is_of_trace)
                return trace_dictionary_text(n->options.dictionary, name->file_at);
        return (struct text_view){ .bytes = (const char *)n->text.data + name->file_at,
                                   .n_bytes = name->n_file };
}
