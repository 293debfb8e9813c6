/* SPDX-License-Identifier: MIT */
#include "web/model/page_files.h"

#include "base/byte_buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * All files in one; each follows a line of this character and its name.  The Makefile says where the files
 * are.
 */
#define FILE_MARK '\001'

__asm__(".pushsection .rodata\n"
        ".global page_files_all, page_files_bytes\n"
        ".hidden page_files_all, page_files_bytes\n"
        "page_files_all:\n"
        ".incbin \"" PAGE_FILES_FILE "\"\n"
        "1: .balign 8\n"
        "page_files_bytes:\n"
        ".quad 1b - page_files_all\n"
        ".popsection\n");

extern const char page_files_all[];
extern const uint64_t page_files_bytes;

/* Goes through all files; the first call has `name.bytes` NULL.  Returns 1, 0 at the end. */
static int next_file(struct page_file *file)
{
        const char *end = page_files_all + page_files_bytes;
        const char *mark = file->name.bytes ? file->text.bytes + file->text.n_bytes : page_files_all;
        const char *line, *next;

        if (mark == end)
                return 0;
        line = memchr(mark, '\n', (size_t)(end - mark));
        next = memchr(mark + 1, FILE_MARK, (size_t)(end - mark) - 1);
        file->name = (struct text_view){ mark + 1, (size_t)(line - mark) - 1 };
        file->text = (struct text_view){ line + 1, (size_t)((next ? next : end) - line) - 1 };
        return 1;
}

int page_files_find(const char *name, struct page_file *ret_file)
{
        struct page_file file = { .name = { .bytes = NULL } };

        while (next_file(&file) == 1)
                if (text_view_is(file.name, name)) {
                        *ret_file = file;
                        return 1;
                }
        return 0;
}

int page_files_split(struct text_view ret_parts[3])
{
        static const char *const marks[] = { PAGE_STYLE_MARK, PAGE_SCRIPT_MARK };
        struct page_file page;
        const char *at, *end;

        if (!page_files_find(PAGE_DOCUMENT, &page))
                return -EBADMSG;
        at = page.text.bytes;
        end = at + page.text.n_bytes;
        for (int i = 0; i < 2; i++) {
                const char *mark = memmem(at, (size_t)(end - at), marks[i], strlen(marks[i]));

                if (!mark)
                        return -EBADMSG;
                ret_parts[i] = (struct text_view){ at, (size_t)(mark - at) };
                at = mark + strlen(marks[i]);
        }
        ret_parts[2] = (struct text_view){ at, (size_t)(end - at) };
        return 0;
}

static void add(struct byte_buffer *out, const char *words)
{
        byte_buffer_add(out, words, strlen(words));
}

void page_files_put_start(struct byte_buffer *out)
{
        struct text_view parts[3];

        if (page_files_split(parts) < 0) {
                add(out, "<!DOCTYPE html><title>hyprof</title><p>This hyprof was built without pages.");
                return;
        }
        byte_buffer_add(out, parts[0].bytes, parts[0].n_bytes);
        add(out, "<link rel=\"stylesheet\" href=\"" PAGE_STYLE "\">");
        byte_buffer_add(out, parts[1].bytes, parts[1].n_bytes);
        add(out, "<script src=\"" PAGE_SCRIPT "\"></script>");
        byte_buffer_add(out, parts[2].bytes, parts[2].n_bytes);
}
