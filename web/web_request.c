/* SPDX-License-Identifier: MIT */
#include "web/web_request.h"

#include "base/error.h"
#include "web/query_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STATUS_OK        200
#define STATUS_BAD       400
#define STATUS_FORBIDDEN 403
#define STATUS_UNKNOWN   404
#define STATUS_METHOD    405
#define STATUS_INTERNAL  500

static const struct {
        const char *name;
        enum web_request_kind kind;
} kinds[] = {
        { "model", WEB_REQUEST_MODEL },     { "lanes", WEB_REQUEST_LANES }, { "find", WEB_REQUEST_FIND },
        { "strings", WEB_REQUEST_STRINGS }, { "stack", WEB_REQUEST_STACK }, { "answer", WEB_REQUEST_ANSWER },
        { "jobs", WEB_REQUEST_JOBS },
};

/* Another site's name that leads to this machine has its own name in the header: DNS rebinding ends here. */
static bool is_own_host(const char *host, uint16_t port)
{
        static const char *const names[] = { "127.0.0.1", "localhost" };
        char own[32];

        for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
                (void)snprintf(own, sizeof(own), "%s:%u", names[i], (unsigned)port);
                if (strcmp(host, own) == 0)
                        return true;
        }
        return false;
}

/* Takes as long whichever digit is wrong. */
static bool is_own_token(const char *token, const char *own)
{
        unsigned difference = 0;

        if (strnlen(token, WEB_TOKEN_BYTES) < WEB_TOKEN_BYTES)
                return false;
        for (size_t i = 0; i < WEB_TOKEN_BYTES; i++)
                difference |= (unsigned char)token[i] ^ (unsigned char)own[i];
        return difference == 0;
}

/*
 * ---- parameters -----------------------------------------------------------------------------------------
 */

enum seen {
        SEEN_FROM = 1,
        SEEN_TO = 2,
        SEEN_BUCKET = 4,
        SEEN_IDS = 8,
        SEEN_AT = 16,
        SEEN_DIRECTION = 32,
        SEEN_WHAT = 64
};

static bool web_request_is_word(struct text_view text, const char *word)
{
        return text.n_bytes == strlen(word) && memcmp(text.bytes, word, text.n_bytes) == 0;
}

static int take_ids(struct web_request *request, struct text_view value, struct error *err)
{
        int n = query_number_list(value, request->ids, WEB_REQUEST_LANES_MAX, err);

        if (n < 0)
                return n;
        request->n_ids = (size_t)n;
        return 0;
}

static int take_number(const char *name, struct text_view value, uint64_t max, uint64_t *ret,
                       struct error *err)
{
        return query_number(value, max, ret) == 0 ? 0 : error_set(err, -EINVAL, "%s is nonsense", name);
}

static int take_direction(struct web_request *request, struct text_view value, struct error *err)
{
        request->is_backwards = web_request_is_word(value, "previous");
        return request->is_backwards || web_request_is_word(value, "next")
                       ? 0
                       : error_set(err, -EINVAL, "direction is neither next nor previous");
}

/* Returns the bit of the parameter or -EINVAL. */
static int take_pair(struct web_request *request, struct text_view name, struct text_view value,
                     struct error *err)
{
        uint64_t number = 0;
        int r;

        if (web_request_is_word(name, "from")) {
                r = take_number("from", value, QUERY_NUMBER_MAX, &request->from_ns, err);
                return r < 0 ? r : SEEN_FROM;
        }
        if (web_request_is_word(name, "to")) {
                r = take_number("to", value, QUERY_NUMBER_MAX, &request->to_ns, err);
                return r < 0 ? r : SEEN_TO;
        }
        if (web_request_is_word(name, "at")) {
                r = take_number("at", value, QUERY_NUMBER_MAX, &request->at_ns, err);
                return r < 0 ? r : SEEN_AT;
        }
        if (web_request_is_word(name, "bucket")) {
                r = take_number("bucket", value, WEB_BUCKET_MAX, &number, err);
                request->bucket_log2 = (uint32_t)number;
                return r < 0 ? r : SEEN_BUCKET;
        }
        if (web_request_is_word(name, "what")) {
                r = take_number("what", value, UINT32_MAX - 1, &number, err);
                request->what = (uint32_t)number;
                return r < 0 ? r : SEEN_WHAT;
        }
        if (web_request_is_word(name, "direction")) {
                r = take_direction(request, value, err);
                return r < 0 ? r : SEEN_DIRECTION;
        }
        if (web_request_is_word(name, "ids") || web_request_is_word(name, "lanes") ||
            web_request_is_word(name, "lane") || web_request_is_word(name, "id")) {
                r = take_ids(request, value, err);
                return r < 0 ? r : SEEN_IDS;
        }
        return error_set(err, -EINVAL, "no parameter is called '%.*s'",
                         (int)(name.n_bytes < 40 ? name.n_bytes : 40), name.bytes);
}

static int take_query(struct web_request *request, const char *query, unsigned *ret_seen, struct error *err)
{
        struct text_view name, value;
        struct query_reader in;
        unsigned seen = 0;
        int r;

        query_reader_init(&in, query, strlen(query));
        while ((r = query_reader_next(&in, &name, &value, err)) == 1) {
                r = take_pair(request, name, value, err);
                if (r >= 0 && (seen & (unsigned)r))
                        r = error_set(err, -EINVAL, "a parameter is given twice");
                if (r < 0)
                        break;
                seen |= (unsigned)r;
        }
        query_reader_deinit(&in);
        *ret_seen = seen;
        return r;
}

static int check_seen(unsigned seen, unsigned must, unsigned may, struct error *err)
{
        if ((seen & must) != must)
                return error_set(err, -EINVAL, "a parameter is missing");
        if (seen & ~(must | may))
                return error_set(err, -EINVAL, "a parameter too many");
        return 0;
}

static int check_query(const struct web_request *request, unsigned seen, struct error *err)
{
        int r = 0;

        switch (request->kind) {
        case WEB_REQUEST_LANES:
                r = check_seen(seen, SEEN_FROM | SEEN_TO | SEEN_BUCKET | SEEN_IDS, 0, err);
                if (r == 0 && request->from_ns >= request->to_ns)
                        r = error_set(err, -EINVAL, "from is not before to");
                return r;
        case WEB_REQUEST_FIND:
                return check_seen(seen, SEEN_IDS | SEEN_AT | SEEN_DIRECTION, SEEN_WHAT, err);
        case WEB_REQUEST_STRINGS:
        case WEB_REQUEST_STACK:
                r = check_seen(seen, SEEN_IDS, 0, err);
                if (r == 0 && request->kind == WEB_REQUEST_STACK && request->n_ids != 1)
                        r = error_set(err, -EINVAL, "one stack at a time");
                return r;
        case WEB_REQUEST_START:
        case WEB_REQUEST_FORWARD:
        case WEB_REQUEST_FILE:
        case WEB_REQUEST_MODEL:
        case WEB_REQUEST_ANSWER:
        case WEB_REQUEST_JOBS:
                break;
        }
        return check_seen(seen, 0, 0, err);
}

/*
 * ---- all of it ------------------------------------------------------------------------------------------
 */

static int status_of(int r)
{
        return r >= 0 ? STATUS_OK : r == -ENOMEM ? STATUS_INTERNAL : STATUS_BAD;
}

/* The name of a file of ours: letters, digits, '_', '-', '.'; nothing with which a path could be made. */
static bool is_file_name(const char *name, size_t n_bytes)
{
        if (n_bytes == 0 || n_bytes > WEB_REQUEST_FILE_MAX || name[0] == '.')
                return false;
        for (size_t i = 0; i < n_bytes; i++) {
                char c = name[i];

                if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.'))
                        return false;
        }
        return true;
}

static bool find_kind(struct web_request *request, const char *name, size_t n_bytes)
{
        if (n_bytes == 0) {
                request->kind = WEB_REQUEST_START;
                return true;
        }
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (web_request_is_word((struct text_view){ name, n_bytes }, kinds[i].name)) {
                        request->kind = kinds[i].kind;
                        return true;
                }
        if (!is_file_name(name, n_bytes))
                return false;
        request->kind = WEB_REQUEST_FILE;
        memcpy(request->file, name, n_bytes);
        request->file[n_bytes] = '\0';
        return true;
}

static int read_query(struct web_request *request, const char *query, struct error *err)
{
        unsigned seen = 0;
        int r;

        if (request->kind == WEB_REQUEST_ANSWER)
                return web_question_parse(&request->question, query, strlen(query), err);
        r = take_query(request, query, &seen, err);
        return r < 0 ? r : check_query(request, seen, err);
}

int web_request_parse(struct web_request *ret, const struct web_site *site,
                      const struct web_request_head *head, struct error *err)
{
        const char *name, *query;
        size_t n_name;

        *ret = (struct web_request){ .what = UINT32_MAX };
        web_question_init(&ret->question);
        if (!is_own_host(head->host, site->port)) {
                (void)error_set(err, -EPERM, "the request is for another host");
                return STATUS_FORBIDDEN;
        }
        if (head->target[0] != '/' || !is_own_token(head->target + 1, site->token)) {
                (void)error_set(err, -EPERM,
                                "the token in the address is wrong: use the address that hyprof view prints");
                return STATUS_FORBIDDEN;
        }
        if (strcmp(head->method, "GET") != 0) {
                (void)error_set(err, -EINVAL, "only GET is answered");
                return STATUS_METHOD;
        }
        name = head->target + 1 + WEB_TOKEN_BYTES;
        query = strchr(name, '?');
        n_name = query ? (size_t)(query - name) : strlen(name);
        query = query ? query + 1 : "";
        if (n_name == 0) {
                ret->kind = WEB_REQUEST_FORWARD;
                return STATUS_OK;
        }
        if (name[0] != '/' || !find_kind(ret, name + 1, n_name - 1)) {
                (void)error_set(err, -ENOENT, "the viewer has no such page");
                return STATUS_UNKNOWN;
        }
        return status_of(read_query(ret, query, err));
}

void web_request_deinit(struct web_request *request)
{
        web_question_deinit(&request->question);
}
