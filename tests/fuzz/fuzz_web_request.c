/* SPDX-License-Identifier: MIT */
/*
 * web/request/web_request.c, web_question.c, query_reader.c: any request is read or refused, and a question
 * means the same when it is read again
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "web/request/web_request.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The first line is the method, the second the host; the rest is the address, after the token if it begins
 * with '@'.
 */
static char *take_line(char **at)
{
        char *line = *at, *end = strchr(line, '\n');

        if (end) {
                *end = '\0';
                *at = end + 1;
        } else {
                *at = line + strlen(line);
        }
        return line;
}

static void check(const struct web_request *request)
{
        const struct web_question *q = &request->question;

        if (request->n_ids > WEB_REQUEST_LANES_MAX || request->bucket_log2 > WEB_BUCKET_MAX ||
            strpbrk(request->file, "/\\"))
                abort();
        for (unsigned i = 0; request->kind == WEB_REQUEST_ANSWER && i < WEB_PARAMETER_COUNT; i++)
                if (q->values[i] && (*q->values[i] == '\0' || strlen(q->values[i]) > WEB_QUESTION_VALUE_MAX))
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct web_site site = { .token = TOKEN, .name = "x.localhost", .port = 80 };
        struct byte_buffer target = { .data = NULL };
        struct web_request *request = malloc(sizeof(*request));
        char *text = malloc(size + 1), *at = text;
        struct web_request_head head = { .origin = NULL };

        if (!request || !text)
                abort();
        memcpy(text, data, size);
        text[size] = '\0';
        head.method = take_line(&at);
        head.host = take_line(&at);
        if (*at == '@') {
                byte_buffer_add(&target, "/" TOKEN, strlen("/" TOKEN));
                at++;
        }
        byte_buffer_add(&target, at, strlen(at) + 1);
        head.target = (const char *)target.data;
        if (web_request_parse(request, &site, &head, NULL) == 200)
                check(request);
        web_request_deinit(request);
        byte_buffer_deinit(&target);
        free(request);
        free(text);
        return 0;
}
