/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/trace/meta_value.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/replaced_file.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "format/attachment_chunk.h"
#include "format/event_decoder.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/import_list.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LETTER_REPAIR = OPTION_LONG_ONLY };

struct arguments {
        bool mend;
        struct output_options output;
};

/* The findings of reading the whole trace. */
struct findings {
        uint64_t n_chunks, n_events;
        uint64_t n_unknown_events; /* of a newer version of the format */
        uint64_t n_indexes;        /* of the chunks, 0 or 1 */
        uint64_t whole_bytes;      /* up to the last whole chunk */
        enum trace_ending ending;
        bool finished;                           /* the recording ran to its end: the trace states when */
        uint32_t n_attachments;                  /* rows */
        uint32_t incomplete;                     /* the first attachment that lacks bytes; 0 = none does */
        uint64_t incomplete_bytes, wanted_bytes; /* of it */
        const char *result;           /* "intact", "cut off", "still being written", "damaged", .. */
        char words[ERROR_TEXT_BYTES]; /* the fault; "" = nothing is */
};

static const struct option_row option_rows[] = {
        { LETTER_REPAIR, "repair", NULL,
          "replace a trace that is cut off by its intact part, with an index; the old file is kept as TRACE.unrepaired" },
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_INPUT,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof check",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about = "Reads a whole trace and says whether anything is wrong with it.\n"
                 "TRACE is a file; default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = intact, or repaired now; 1 = cut off, damaged, still being\n"
                   "written, not a trace, or unreadable; 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        if (letter == LETTER_REPAIR) {
                args->mend = true;
                return 0;
        }
        return output_options_take(&args->output, letter, value) < 0 ? -EINVAL : 0;
}

static int count_events(const struct trace_reader *reader, const struct trace_item *item, struct findings *f,
                        struct error *err)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = event_decoder_init(&decoder, trace_reader_dictionary(reader), item->body, item->body_bytes,
                                   err);

        while (r >= 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1)
                while ((r = event_decoder_next(&decoder, &event, err)) == 1)
                        f->n_events++;
        if (r >= 0)
                f->n_unknown_events += decoder.n_unknown_ops;
        return r;
}

static int count_part(const struct trace_reader *reader, const struct trace_item *item,
                      struct attachment_tally *tally, struct error *err)
{
        const struct trace_dictionary *d = trace_reader_dictionary(reader);
        struct attachment_chunk part;
        int r = attachment_chunk_decode(d, item->body, item->body_bytes, &part, err);

        return r < 0 ? r : attachment_tally_add(tally, d, &part, err);
}

static void find_incomplete(const struct trace_dictionary *d, const struct attachment_tally *tally,
                            struct findings *f)
{
        const struct trace_attachment *row;

        f->n_attachments = trace_dictionary_count(d, TRACE_TABLE_ATTACHMENTS);
        f->incomplete = attachment_tally_find_incomplete(tally, d, 0);
        if (f->incomplete == 0)
                return;
        row = trace_dictionary_row(d, TRACE_TABLE_ATTACHMENTS, f->incomplete);
        f->incomplete_bytes = attachment_tally_get(tally, f->incomplete);
        f->wanted_bytes = row->size_bytes;
}

/* Reads the whole trace, and lets @writer, if any, adopt each whole chunk. */
static int read_all(struct trace_reader *reader, struct trace_writer *writer, struct findings *ret_findings,
                    struct error *err)
{
        struct findings f = { .n_chunks = 1 }; /* the FILE chunk was read when it was opened */
        struct attachment_tally tally = { .n_bytes = NULL };
        struct trace_item item;
        int r;

        while ((r = trace_reader_next(reader, &item, err)) == 1) {
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        r = count_events(reader, &item, &f, err);
                else if (item.header.kind == TRACE_CHUNK_ATTACHMENT)
                        r = count_part(reader, &item, &tally, err);
                if (r < 0) {
                        (void)error_prefix(err, r, "chunk at byte %" PRIu64, item.file_offset_bytes);
                        break;
                }
                if (writer && item.header.kind != TRACE_CHUNK_INDEX)
                        trace_writer_adopt(writer, &item.header);
                f.n_chunks++;
                f.n_indexes += item.header.kind == TRACE_CHUNK_INDEX;
        }
        f.ending = trace_reader_ending(reader, NULL, &f.whole_bytes);
        f.finished = meta_value_find(trace_reader_dictionary(reader), "end_raw_ns").n_bytes > 0 &&
                     meta_value_find(trace_reader_dictionary(reader), "ring_goes_on").n_bytes == 0;
        find_incomplete(trace_reader_dictionary(reader), &tally, &f);
        attachment_tally_deinit(&tally);
        *ret_findings = f;
        return r;
}

/* The first @n_bytes of the trace, byte for byte. */
static int copy_whole_chunks(const char *path, uint64_t n_bytes, int to_fd, struct error *err)
{
        uint8_t bytes[1 << 12];
        size_t got = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        int r = fd < 0 ? error_errno(err, "%s", path) : 0;

        for (uint64_t at = 0; r == 0 && at < n_bytes; at += got) {
                uint64_t left = n_bytes - at;

                r = io_pread_full(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes), at, &got, err);
                if (r == 0 && got == 0)
                        r = error_set(err, -EBUSY, "the file has become shorter");
                if (r == 0)
                        r = io_write_all(to_fd, bytes, got, err);
        }
        io_close(&fd);
        return r;
}

/*
 * Reads the whole new file: it may replace the trace only if its contents are those that were found in the
 * trace.
 */
static int verify(int fd, const struct findings *wanted, struct error *err)
{
        struct trace_reader *reader = NULL;
        struct findings f = { .n_chunks = 0 };
        char path[32];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = trace_reader_open(path, &reader, err);
        if (r < 0)
                return r;
        r = read_all(reader, NULL, &f, err);
        trace_reader_close(reader);
        if (r < 0)
                return r;
        if (f.ending != TRACE_ENDING_WHOLE || f.n_events != wanted->n_events ||
            f.n_chunks - f.n_indexes != wanted->n_chunks - wanted->n_indexes ||
            f.n_attachments != wanted->n_attachments)
                return error_set(err, -EIO,
                                 "the new file differs from the data written to it: %" PRIu64
                                 " events in %" PRIu64 " chunks",
                                 f.n_events, f.n_chunks);
        return 0;
}

/* Writes the intact part of the trace to the new file, with an index.  @ret_findings: what that part has. */
static int write_repaired(const char *path, int fd, struct findings *ret_findings, struct error *err)
{
        struct trace_reader *reader = NULL;
        struct trace_writer *writer = NULL;
        int r = trace_reader_open(path, &reader, err);

        if (r == 0)
                r = trace_writer_reopen(fd, &writer, err);
        if (r < 0)
                goto out;
        trace_writer_adopt(writer, trace_reader_first_header(reader));
        r = read_all(reader, writer, ret_findings, err);
        if (r == 0)
                r = copy_whole_chunks(path, trace_writer_count_bytes(writer), fd, err);
        if (r == 0)
                r = trace_writer_finish(writer, err);
out:
        trace_writer_free(writer);
        trace_reader_close(reader);
        return r;
}

static int check_regular(const char *path, struct error *err)
{
        struct stat status;

        if (strcmp(path, "-") == 0)
                return error_set(err, -ESPIPE, "standard input: only a file can be repaired");
        if (stat(path, &status) < 0)
                return error_errno(err, "%s", path);
        return S_ISREG(status.st_mode) ? 0 : error_set(err, -ESPIPE, "%s: only a file can be repaired", path);
}

/*
 * The trace itself is never written to: a new file takes its place once it has been read again, and the old
 * file stays under another name.
 * @ret_findings:  those of the written part
 * @ret_kept:      heap: path of the old one
 */
static int repair(const char *path, struct findings *ret_findings, char **ret_kept, struct error *err)
{
        struct replaced_file file = { .fd = -1, .folder_fd = -1 };
        struct findings f = { .n_chunks = 0 };
        int r = check_regular(path, err);

        if (r == 0)
                r = replaced_file_open(&file, path, &(struct replaced_file_options){ .is_recording = true },
                                       err);
        if (r < 0)
                return r;
        r = write_repaired(path, file.fd, &f, err);
        if (r == 0)
                r = verify(file.fd, &f, err);
        if (r < 0)
                (void)error_prefix(err, r, "%s: not repaired, and unchanged", path);
        else
                r = replaced_file_commit_and_keep(&file, ret_kept, err);
        replaced_file_close(&file);
        if (r == 0) {
                ret_findings->n_chunks = f.n_chunks;
                ret_findings->n_events = f.n_events;
        }
        return r;
}

/*
 * An attachment that lacks bytes is a fault only if the recording ran to its end: not if the recording was
 * interrupted and repaired since, and not in a dump of a recording that still runs.
 * Returns 0 or -EBADMSG.
 */
static int judge_attachments(struct findings *f)
{
        if (f->incomplete == 0)
                return 0;
        (void)snprintf(f->words, sizeof(f->words), "attachment %" PRIu32 " has %s of %s bytes", f->incomplete,
                       text_number_count(f->incomplete_bytes).text, text_number_count(f->wanted_bytes).text);
        return f->finished ? -EBADMSG : 0;
}

/*
 * Judges @code, the result of read_all(), with its @words.  Returns 0 or -errno, and fills in the verdict.
 */
static int judge(struct findings *f, int code, const char *words)
{
        int r = code;

        f->result = "unreadable";
        if (r == 0 && f->ending == TRACE_ENDING_WHOLE) {
                r = judge_attachments(f);
                f->result = r == 0 ? "intact" : "damaged";
                return r;
        }
        if (r == 0)
                f->result = f->ending == TRACE_ENDING_DAMAGED   ? "damaged"
                            : f->ending == TRACE_ENDING_GROWING ? "still being written"
                                                                : "cut off";
        (void)snprintf(f->words, sizeof(f->words), "%s", words);
        return r < 0 ? r : -ENODATA;
}

/* ------------------------------------------------------------------ the answer */

/* "intact: 36 chunks, 1,234 events, 12.1 KB, 2 attachments" */
static void describe(const struct findings *f, char *words, size_t n_bytes)
{
        char attachments[256] = "", reason[sizeof(f->words) + 8] = "";

        if (f->n_attachments != 0)
                (void)snprintf(attachments, sizeof(attachments), ", %s",
                               text_number_counted(f->n_attachments, "attachments").text);
        if (f->words[0] != '\0')
                (void)snprintf(reason, sizeof(reason), "; %s", f->words);
        (void)snprintf(words, n_bytes, "%s: %s%s, %s, %s%s%s", f->result,
                       strcmp(f->result, "repaired") == 0 ? "kept are " : "",
                       text_number_counted(f->n_chunks, "chunks").text,
                       text_number_counted(f->n_events, "events").text,
                       text_number_bytes(f->whole_bytes).text, attachments, reason);
}

/* clang-format off */
#define CHECK_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "trace", "trace", view_words(path), "its file")                                        \
        COLUMN(STRING, "result", "result", view_words(f->result), NULL,                                       \
               .one_of = "intact|cut off|still being written|damaged|unreadable|repaired")                    \
        COLUMN(COUNT, "n_chunks", "chunks", view_number(f->n_chunks), NULL)                                   \
        COLUMN(COUNT, "n_events", "events", view_number(f->n_events), NULL)                                   \
        COLUMN(BYTES, "whole_bytes", "intact up to", view_number(f->whole_bytes), "up to the last whole chunk") \
        COLUMN(COUNT, "n_attachments", "attachments", view_number(f->n_attachments), NULL)                    \
        COLUMN(STRING, "words", "problem", view_words(f->words), "what is wrong")
/* clang-format on */

/* The sentence has it all for people. */
static const struct view_column columns[] = { CHECK_COLUMNS(VIEW_COLUMN) };
static const struct answer_part traces_part = ANSWER_TABLE(
        "traces", columns, "a trace; text and Markdown have the answer alone, which says the same");
const struct answer_schema check_schema = {
        .name = "hyprof.check/2",
        .command = "hyprof check --json",
        .parts = (const struct answer_part *const[]){ &traces_part, &import_list_files_part,
                                                      &import_list_losses_part, NULL },
};

/* Fills the document of one trace. */
static void fill(struct view_document *d, const struct findings *f, const char *path,
                 const struct trace_dictionary *dictionary)
{
        char words[ERROR_TEXT_BYTES + 1200];
        struct view_table *t;

        describe(f, words, sizeof(words));
        view_document_set_answer(d, (struct text_view){ words, strlen(words) });
        t = view_document_add_part(d, &traces_part, NULL);
        CHECK_COLUMNS(VIEW_CELL)
        import_list_add(d, dictionary);
}

/* Returns the exit status. */
static int print_answer(const struct findings *f, const char *path, const struct trace_dictionary *dictionary,
                        const struct output_options *output)
{
        struct view_document d;
        int status;

        view_document_init(&d, check_schema.name);
        fill(&d, f, path, dictionary);
        status = output_options_print(output, &d);
        view_document_deinit(&d);
        return status;
}

/* Returns 0 or -errno, after a complaint. */
static int repair_file(struct findings *f, const char *path)
{
        struct error err = ERROR_NONE;
        char *kept = NULL;
        int r = repair(path, f, &kept, &err);

        if (r < 0) {
                complain("error: %s", err.text);
                if (r == -ESPIPE)
                        complain_try_repair(path);
                return r;
        }
        f->result = "repaired";
        complain("the old file is kept as %s", kept);
        free(kept);
        return 0;
}

/* Failures of reading name the file, faults in the file do not. */
static bool names_file(const char *words, const char *path)
{
        return strncmp(words, path, strlen(path)) == 0;
}

static int check(const char *path, const struct arguments *args)
{
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        struct findings f = { .n_chunks = 0 };
        const char *words;
        int r = trace_reader_open(path, &reader, &err);

        if (r < 0) {
                complain_of_trace(r, path, &err);
                return EXIT_STATUS_FAILED;
        }
        r = read_all(reader, NULL, &f, &err);
        complain_of_newer(path, trace_reader_version(reader), f.n_unknown_events);
        (void)trace_reader_ending(reader, &words, NULL);
        r = judge(&f, r, r < 0 ? err.text : words);
        if (f.words[0] != '\0')
                complain("%s: %s%s%s", r < 0 ? "error" : "warning", names_file(f.words, path) ? "" : path,
                         names_file(f.words, path) ? "" : ": ", f.words);
        if (r == -ENODATA && f.ending == TRACE_ENDING_GROWING)
                complain_try("hyprof check again when the recording has ended");
        else if (r == -ENODATA && args->mend)
                r = repair_file(&f, path);
        else if (r == -ENODATA)
                complain_try_repair(path);
        if (print_answer(&f, path, trace_reader_dictionary(reader), &args->output) != EXIT_STATUS_OK)
                r = -EIO;
        trace_reader_close(reader);
        return r < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

static int check_trace(void *context, struct common_options *common)
{
        struct arguments *args = context;

        if (output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(&args->output);
        if (command_frame_confine(args->mend ? COMMAND_WRITES_BESIDE : COMMAND_PRINTS, common, NULL) < 0)
                return EXIT_STATUS_FAILED;
        return check(common->trace, args);
}

const struct option_table *cmd_check_options(void)
{
        return &table;
}

int cmd_check(int argc, char **argv)
{
        struct arguments args = { .mend = false };
        const struct command_frame frame = { .table = &table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .run = check_trace };

        output_options_init(&args.output);
        return command_frame_run(&frame, argc, argv);
}
