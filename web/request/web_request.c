/* SPDX-License-Identifier: MIT */
#include "web/request/web_request.h"

#include "base/error.h"
#include "web/request/query_reader.h"

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
        { "model", WEB_REQUEST_MODEL },       { "lanes", WEB_REQUEST_LANES },
        { "find", WEB_REQUEST_FIND },         { "strings", WEB_REQUEST_STRINGS },
        { "stack", WEB_REQUEST_STACK },       { "answer", WEB_REQUEST_ANSWER },
        { "jobs", WEB_REQUEST_JOBS },         { "kept", WEB_REQUEST_KEPT },
        { "keep", WEB_REQUEST_KEEP },         { "search", WEB_REQUEST_SEARCH },
        { "launches", WEB_REQUEST_LAUNCHES }, { "nearby", WEB_REQUEST_NEARBY },
        { "compare", WEB_REQUEST_COMPARE },   { "picture", WEB_REQUEST_PICTURE },
        { "arrows", WEB_REQUEST_ARROWS },
};

enum host_kind {
        HOST_FOREIGN, /* stops DNS rebinding: a foreign name for this machine */
        HOST_PLAIN,   /* 127.0.0.1 or localhost: others may have used this origin */
        HOST_OWN
};

static bool is_host(const char *host, const char *name, uint16_t port)
{
        char own[sizeof(((struct web_site *)0)->name) + sizeof(":65535")];

        (void)snprintf(own, sizeof(own), "%s:%u", name, (unsigned)port);
        return strcmp(host, own) == 0;
}

static enum host_kind host_kind_of(const char *host, const struct web_site *site)
{
        if (!host)
                return HOST_FOREIGN;
        if (is_host(host, site->name, site->port))
                return HOST_OWN;
        return is_host(host, "127.0.0.1", site->port) || is_host(host, "localhost", site->port)
                       ? HOST_PLAIN
                       : HOST_FOREIGN;
}

/* A program sends no origin; a foreign page sends another one. */
static bool is_own_origin(const char *origin, const struct web_site *site)
{
        static const char scheme[] = "http://";

        if (!origin)
                return true;
        return strncmp(origin, scheme, strlen(scheme)) == 0 &&
               is_host(origin + strlen(scheme), site->name, site->port);
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
        SEEN_WHAT = 64,
        SEEN_NAME = 128,
        SEEN_TEXT = 256,
        SEEN_RANK = 512,
        SEEN_COUNT = 1024,
        SEEN_KIND = 2048
};

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
        request->is_backwards = text_view_is(value, "previous");
        return request->is_backwards || text_view_is(value, "next")
                       ? 0
                       : error_set(err, -EINVAL, "direction is neither next nor previous");
}

static int take_kept_name(struct web_request *request, struct text_view value, struct error *err)
{
        return kept_values_find_name(value, &request->kept_name)
                       ? 0
                       : error_set(err, -EINVAL, "nothing of this name is kept");
}

static int take_text(const char *name, char *ret, size_t max, struct text_view value, struct error *err)
{
        if (value.n_bytes == 0 || value.n_bytes > max)
                return error_set(err, -EINVAL, "%s has %zu bytes: 1 to %zu are possible", name, value.n_bytes,
                                 max);
        memcpy(ret, value.bytes, value.n_bytes);
        ret[value.n_bytes] = '\0';
        return 0;
}

/* Others, of SEARCH alone.  Returns the bit of the parameter, 0 if it is none of these, or -EINVAL. */
static int take_search_pair(struct web_request *request, struct text_view name, struct text_view value,
                            struct error *err)
{
        int r;

        if (text_view_is(name, "text")) {
                r = take_text("text", request->text, WEB_REQUEST_TEXT_MAX, value, err);
                return r < 0 ? r : SEEN_TEXT;
        }
        if (text_view_is(name, "kind")) {
                r = take_text("kind", request->name_kind, sizeof(request->name_kind) - 1, value, err);
                return r < 0 ? r : SEEN_KIND;
        }
        if (!text_view_is(name, "count"))
                return 0;
        request->wants_counts = text_view_is(value, "1");
        return request->wants_counts ? SEEN_COUNT : error_set(err, -EINVAL, "count is nonsense");
}

static bool names_ids(struct text_view name)
{
        return text_view_is(name, "ids") || text_view_is(name, "lanes") || text_view_is(name, "lane") ||
               text_view_is(name, "id");
}

/* Parameters that are numbers.  Returns the bit of the parameter, 0 if it is none of these, or -EINVAL. */
static int take_number_pair(struct web_request *request, struct text_view name, struct text_view value,
                            struct error *err)
{
        uint64_t number = 0;
        int r;

        if (text_view_is(name, "from")) {
                r = take_number("from", value, QUERY_NUMBER_MAX, &request->from_ns, err);
                return r < 0 ? r : SEEN_FROM;
        }
        if (text_view_is(name, "to")) {
                r = take_number("to", value, QUERY_NUMBER_MAX, &request->to_ns, err);
                return r < 0 ? r : SEEN_TO;
        }
        if (text_view_is(name, "at")) {
                r = take_number("at", value, QUERY_NUMBER_MAX, &request->at_ns, err);
                return r < 0 ? r : SEEN_AT;
        }
        if (text_view_is(name, "rank")) {
                r = take_number("rank", value, QUERY_NUMBER_MAX, &request->rank, err);
                return r < 0 ? r : SEEN_RANK;
        }
        if (text_view_is(name, "bucket")) {
                r = take_number("bucket", value, WEB_BUCKET_MAX, &number, err);
                request->bucket_log2 = (uint32_t)number;
                return r < 0 ? r : SEEN_BUCKET;
        }
        if (!text_view_is(name, "what"))
                return 0;
        r = take_number("what", value, UINT32_MAX - 1, &number, err);
        request->what = (uint32_t)number;
        return r < 0 ? r : SEEN_WHAT;
}

/* Returns the bit of the parameter or -EINVAL. */
static int take_pair(struct web_request *request, struct text_view name, struct text_view value,
                     struct error *err)
{
        int r = take_number_pair(request, name, value, err);

        if (r == 0)
                r = take_search_pair(request, name, value, err);
        if (r != 0)
                return r;
        if (text_view_is(name, "direction")) {
                r = take_direction(request, value, err);
                return r < 0 ? r : SEEN_DIRECTION;
        }
        if (text_view_is(name, "name")) {
                r = take_kept_name(request, value, err);
                return r < 0 ? r : SEEN_NAME;
        }
        if (names_ids(name)) {
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
        case WEB_REQUEST_ARROWS:
                r = check_seen(seen,
                               SEEN_FROM | SEEN_TO |
                                       (request->kind == WEB_REQUEST_LANES ? SEEN_BUCKET | SEEN_IDS : 0),
                               0, err);
                if (r == 0 && request->from_ns >= request->to_ns)
                        r = error_set(err, -EINVAL, "from is not before to");
                return r;
        case WEB_REQUEST_FIND:
                return check_seen(seen, SEEN_IDS | SEEN_AT | SEEN_DIRECTION, SEEN_WHAT, err);
        case WEB_REQUEST_LAUNCHES:
                r = check_seen(seen, SEEN_IDS | SEEN_AT | SEEN_WHAT, 0, err);
                return r == 0 && request->n_ids != 1 ? error_set(err, -EINVAL, "one lane at a time") : r;
        case WEB_REQUEST_SEARCH:
                r = check_seen(seen, SEEN_TEXT | SEEN_AT | SEEN_DIRECTION,
                               SEEN_RANK | SEEN_COUNT | SEEN_KIND | SEEN_WHAT, err);
                if (r == 0 && !(seen & SEEN_KIND) != !(seen & SEEN_WHAT))
                        r = error_set(err, -EINVAL, "kind and what are given together");
                return r;
        case WEB_REQUEST_STRINGS:
        case WEB_REQUEST_STACK:
        case WEB_REQUEST_PICTURE:
                r = check_seen(seen, SEEN_IDS, request->kind == WEB_REQUEST_STRINGS ? SEEN_KIND : 0, err);
                if (r == 0 && request->kind != WEB_REQUEST_STRINGS && request->n_ids != 1)
                        r = error_set(err, -EINVAL, "one stack or picture at a time");
                return r;
        case WEB_REQUEST_KEEP:
                return check_seen(seen, SEEN_NAME, 0, err);
        case WEB_REQUEST_START:
        case WEB_REQUEST_FORWARD:
        case WEB_REQUEST_FILE:
        case WEB_REQUEST_MODEL:
        case WEB_REQUEST_ANSWER:
        case WEB_REQUEST_JOBS:
        case WEB_REQUEST_KEPT:
        case WEB_REQUEST_NEARBY:
        case WEB_REQUEST_COMPARE:
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

/*
 * Whether this is a name of one of our files: letters, digits, '_', '-', '.'; no path can be made of these.
 */
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
                if (text_view_is((struct text_view){ name, n_bytes }, kinds[i].name)) {
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

static bool is_post(enum web_request_kind kind)
{
        return kind == WEB_REQUEST_KEEP || kind == WEB_REQUEST_COMPARE;
}

/*
 * Pages are served only under the site's own name.  Service workers get nothing, because they would outlive
 * the viewer.
 */
static int check_host_kind(const struct web_request *request, enum host_kind host,
                           const struct web_request_head *head, const struct web_site *site,
                           struct error *err)
{
        bool is_page = request->kind == WEB_REQUEST_START || request->kind == WEB_REQUEST_FORWARD ||
                       request->kind == WEB_REQUEST_FILE;

        if (host == HOST_PLAIN && is_page)
                return error_set(
                        err, -EPERM,
                        "programs may ask %s for data; the page is at the address that hyprof view prints",
                        head->host);
        if (head->is_for_worker)
                return error_set(err, -EPERM, "the viewer has no service worker");
        if (is_post(request->kind) && !is_own_origin(head->origin, site))
                return error_set(err, -EPERM, "the request is from another page");
        return 0;
}

/* Whether a request says by a folder that it is about the trace before; pages and answers are about both. */
static bool take_side(struct web_request *request, const char *name, size_t n_bytes)
{
        static const char folder[] = "before/";

        if (n_bytes < strlen(folder) || memcmp(name, folder, strlen(folder)) != 0)
                return find_kind(request, name, n_bytes);
        request->side = WEB_SIDE_BEFORE;
        if (!find_kind(request, name + strlen(folder), n_bytes - strlen(folder)))
                return false;
        return request->kind >= WEB_REQUEST_MODEL && request->kind <= WEB_REQUEST_KEEP &&
               request->kind != WEB_REQUEST_ANSWER && request->kind != WEB_REQUEST_JOBS;
}

/* Reads the kind of a request and what comes after the '?'.  Returns 200 or 404. */
static int read_target(struct web_request *ret, const char *name, const char **ret_query, struct error *err)
{
        const char *query = strchr(name, '?');
        size_t n_name = query ? (size_t)(query - name) : strlen(name);

        *ret_query = query ? query + 1 : "";
        if (n_name == 0) {
                ret->kind = WEB_REQUEST_FORWARD;
                return STATUS_OK;
        }
        if (name[0] == '/' && take_side(ret, name + 1, n_name - 1))
                return STATUS_OK;
        (void)error_set(err, -ENOENT, "the viewer has no such page");
        return STATUS_UNKNOWN;
}

int web_request_parse(struct web_request *ret, const struct web_site *site,
                      const struct web_request_head *head, struct error *err)
{
        enum host_kind host = host_kind_of(head->host, site);
        const char *query;
        int status;

        *ret = (struct web_request){ .what = UINT32_MAX };
        web_question_init(&ret->question);
        if (host == HOST_FOREIGN) {
                (void)error_set(err, -EPERM, "the request is for another host");
                return STATUS_FORBIDDEN;
        }
        if (head->target[0] != '/' || !is_own_token(head->target + 1, site->token)) {
                (void)error_set(err, -EPERM,
                                "the token in the address is wrong: use the address that hyprof view prints");
                return STATUS_FORBIDDEN;
        }
        status = read_target(ret, head->target + 1 + WEB_TOKEN_BYTES, &query, err);
        if (strcmp(head->method, is_post(ret->kind) ? "POST" : "GET") != 0) {
                (void)error_set(err, -EINVAL, "only GET is answered, and POST to keep or to compare");
                return STATUS_METHOD;
        }
        if (status != STATUS_OK)
                return status;
        if (check_host_kind(ret, host, head, site, err) < 0)
                return STATUS_FORBIDDEN;
        if (ret->kind == WEB_REQUEST_FORWARD)
                return STATUS_OK;
        return status_of(read_query(ret, query, err));
}

void web_request_deinit(struct web_request *request)
{
        web_question_deinit(&request->question);
}
