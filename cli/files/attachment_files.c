/* SPDX-License-Identifier: MIT */
#include "cli/files/attachment_files.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"
#include "format/attachment_chunk.h"
#include "format/trace_reader.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX 100 /* of the name that the program gave: file systems allow 255 in all */

struct file_name {
        char text[NAME_BYTES_MAX + 32];
};

struct extraction {
        const struct trace_dictionary *dictionary; /* borrowed */
        int folder_fd;
        struct attachment_tally tally;
        int *fds; /* heap; by id - 1; -1 = not open: not yet, or already whole */
        uint32_t n_fds;
        size_t fds_capacity;
};

static bool is_plain(char c)
{
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '_' || c == '-';
}

/* The name begins with our own words, so that it is never a hidden file, an option, "." or "..". */
static struct file_name name_of(const struct extraction *x, uint32_t attachment)
{
        const struct trace_attachment *row = trace_dictionary_row(x->dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                  attachment);
        struct file_name name;
        size_t n_bytes;
        const char *given = trace_dictionary_string(x->dictionary, row->name, &n_bytes);
        const char *slash = n_bytes != 0 ? memrchr(given, '/', n_bytes) : NULL;
        size_t used;

        if (slash) {
                n_bytes -= (size_t)(slash + 1 - given);
                given = slash + 1;
        }
        if (n_bytes == 0) {
                given = "unnamed";
                n_bytes = strlen(given);
        }
        if (n_bytes > NAME_BYTES_MAX)
                n_bytes = NAME_BYTES_MAX;
        (void)snprintf(name.text, sizeof(name.text), "attachment-%" PRIu32 "-", attachment);
        used = strlen(name.text);
        for (size_t i = 0; i < n_bytes; i++) {
                name.text[used + i] = '_';
                if (is_plain(given[i]))
                        name.text[used + i] = given[i];
        }
        name.text[used + n_bytes] = '\0';
        return name;
}

static int create(struct extraction *x, uint32_t attachment, struct error *err)
{
        struct file_name name = name_of(x, attachment);
        int fd = openat(x->folder_fd, name.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

        return fd < 0 ? error_errno(err, "%s", name.text) : fd;
}

/* Where the descriptor of an attachment is kept; NULL without memory. */
static int *fd_of(struct extraction *x, uint32_t attachment)
{
        if (array_reserve(&x->fds, &x->fds_capacity, attachment, sizeof(*x->fds)) < 0 || !x->fds)
                return NULL;
        while (x->n_fds < attachment)
                x->fds[x->n_fds++] = -1;
        return &x->fds[attachment - 1];
}

static int add_part(struct extraction *x, const struct trace_item *item, struct error *err)
{
        const struct trace_attachment *row;
        struct attachment_chunk part;
        int r = attachment_chunk_decode(x->dictionary, item->body, item->body_bytes, &part, err);
        int *fd;

        if (r == 0)
                r = attachment_tally_add(&x->tally, x->dictionary, &part, err);
        if (r < 0)
                return r;
        if (part.n_bytes == 0)
                return 0;
        fd = fd_of(x, part.attachment);
        if (!fd)
                return error_set(err, -ENOMEM, "no memory for the attachments");
        if (part.offset_bytes == 0) {
                *fd = create(x, part.attachment, err);
                if (*fd < 0)
                        return *fd;
        }
        r = io_write_all(*fd, part.bytes, part.n_bytes, err);
        if (r < 0)
                return error_prefix(err, r, "%s", name_of(x, part.attachment).text);
        row = trace_dictionary_row(x->dictionary, TRACE_TABLE_ATTACHMENTS, part.attachment);
        if (attachment_tally_get(&x->tally, part.attachment) == row->size_bytes)
                io_close(fd);
        return 0;
}

/* Creates the empty files, and prints what there is to say about each file. */
static int finish(struct extraction *x, FILE *out, struct attachment_files_result *result, struct error *err)
{
        uint32_t n_attachments = trace_dictionary_count(x->dictionary, TRACE_TABLE_ATTACHMENTS);

        for (uint32_t id = 1; id <= n_attachments; id++) {
                const struct trace_attachment *row = trace_dictionary_row(x->dictionary,
                                                                          TRACE_TABLE_ATTACHMENTS, id);
                uint64_t n_bytes = attachment_tally_get(&x->tally, id);

                if (n_bytes == 0 && row->size_bytes != 0) {
                        result->n_absent++;
                        continue;
                }
                if (n_bytes == 0) {
                        int fd = create(x, id, err);

                        if (fd < 0)
                                return fd;
                        io_close(&fd);
                }
                result->n_written++;
                result->n_incomplete += n_bytes != row->size_bytes;
                (void)fprintf(out, "%s: %s", name_of(x, id).text, text_number_bytes(n_bytes).text);
                if (n_bytes != row->size_bytes)
                        (void)fprintf(out, " of %s", text_number_bytes(row->size_bytes).text);
                (void)fputc('\n', out);
        }
        return 0;
}

static int open_folder(const char *folder, struct error *err)
{
        int fd;

        if (mkdir(folder, 0777) < 0 && errno != EEXIST)
                return error_errno(err, "%s", folder);
        fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? error_errno(err, "%s", folder) : fd;
}

int attachment_files_extract(struct trace_reader *reader, const char *folder, FILE *out,
                             struct attachment_files_result *ret, struct error *err)
{
        struct extraction x = { .dictionary = trace_reader_dictionary(reader), .folder_fd = -1 };
        struct trace_item item;
        int r;

        *ret = (struct attachment_files_result){ .n_written = 0 };
        r = x.folder_fd = open_folder(folder, err);
        if (r < 0)
                return r;
        while ((r = trace_reader_next(reader, &item, err)) == 1) {
                if (item.header.kind != TRACE_CHUNK_ATTACHMENT)
                        continue;
                r = add_part(&x, &item, err);
                if (r < 0)
                        break;
        }
        if (r == 0)
                r = finish(&x, out, ret, err);
        for (uint32_t i = 0; i < x.n_fds; i++)
                io_close(&x.fds[i]);
        free(x.fds);
        attachment_tally_deinit(&x.tally);
        io_close(&x.folder_fd);
        return r;
}
