/* SPDX-License-Identifier: MIT */
/*
 * web/request/web_request.h - what a request to the viewer asks for, or the status with which it is refused
 *
 * Way of the data:  libmicrohttpd -> [web_request] -> http_server
 *
 * Pure: no file, no clock; the same bytes get the same judgement.  Everything but the site may come from a
 * stranger: another page in the same browser, another user of the machine.
 */
#ifndef WEB_REQUEST_WEB_REQUEST_H
#define WEB_REQUEST_WEB_REQUEST_H

#include "base/text_view.h"
#include "web/request/kept_values.h"
#include "web/request/web_question.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_TOKEN_BYTES 32 /* hex digits */
#define WEB_NAME_SUFFIX ".localhost"

#define WEB_REQUEST_LANES_MAX   1000
#define WEB_REQUEST_STRINGS_MAX 1000
#define WEB_REQUEST_FILE_MAX    64   /* bytes of the name of a page */
#define WEB_REQUEST_TEXT_MAX    1000 /* bytes of what is searched for */
#define WEB_BUCKET_MAX          52   /* 2^52 ns is two months */

struct error;

/*
 * The server's own address: http://NAME.localhost:PORT/TOKEN/
 * The name is as new as the token, and no secret: resolvers may learn it.
 */
struct web_site {
        char token[WEB_TOKEN_BYTES + 1];
        char name[WEB_TOKEN_BYTES + sizeof(WEB_NAME_SUFFIX)]; /* with the suffix, without the port */
        uint16_t port;
};

enum web_request_kind {
        WEB_REQUEST_START,   /* the page */
        WEB_REQUEST_FORWARD, /* the same without the '/' at the end: the browser is redirected */
        WEB_REQUEST_FILE,    /* a script or the style; `file` may still not exist */
        WEB_REQUEST_MODEL,
        WEB_REQUEST_LANES,
        WEB_REQUEST_FIND,
        WEB_REQUEST_ARROWS,   /* of all zones, between two times */
        WEB_REQUEST_LAUNCHES, /* the zones at the other end of a zone's arrows */
        WEB_REQUEST_SEARCH,
        WEB_REQUEST_STRINGS,
        WEB_REQUEST_STACK,
        WEB_REQUEST_PICTURE, /* of a frame */
        WEB_REQUEST_ANSWER,
        WEB_REQUEST_JOBS,
        WEB_REQUEST_KEPT,   /* all that is kept for the page */
        WEB_REQUEST_KEEP,   /* the body is to be kept under `kept_name` */
        WEB_REQUEST_NEARBY, /* traces to compare with */
        WEB_REQUEST_COMPARE /* the body is the name of one of them */
};

struct web_request {
        enum web_request_kind kind;
        enum web_side side; /* the trace that it is about, but for ANSWER: that says so itself */
        char file[WEB_REQUEST_FILE_MAX + 1];
        uint64_t from_ns, to_ns; /* of LANES and ARROWS */
        uint64_t at_ns, rank;    /* of FIND, LAUNCHES and SEARCH: from where */
        uint32_t bucket_log2;
        uint32_t ids[WEB_REQUEST_LANES_MAX]; /* lanes, strings, a stack */
        size_t n_ids;
        uint32_t what; /* of FIND and SEARCH: only this; UINT32_MAX = any; of LAUNCHES */
        bool is_backwards, wants_counts;
        char name_kind[16];                  /* of SEARCH and STRINGS: of what kind numbers are; "" = none */
        char text[WEB_REQUEST_TEXT_MAX + 1]; /* of SEARCH */
        enum kept_name kept_name;            /* of KEEP */
        struct web_question question;        /* of ANSWER; owned */
};

/* The parts of a head that decide about the request, unchanged; NULL = the head lacks the part. */
struct web_request_head {
        const char *method, *host, *target;
        const char *origin;
        bool is_for_worker; /* the script is to become a service worker */
};

/*
 * web_request_parse() - judge a request and read what it asks for
 * The site's name gets everything; 127.0.0.1 and localhost get data only, for programs that do not resolve
 * the name: a page at such an origin could be listened to by a service worker of another user's.
 * Returns 200, or with words 403 (the host is not this site's, or the token is wrong), 405 (not GET, but for
 * KEEP and COMPARE, which are POST), 404 (no such thing), 403 (a page is asked for by another name, a worker,
 * a foreign origin), 400 (nonsense), 500 (no memory), in this order.  @ret is to be deinitialised in any
 * case.
 */
int web_request_parse(struct web_request *ret, const struct web_site *site,
                      const struct web_request_head *head, struct error *err);
void web_request_deinit(struct web_request *request);

#endif /* WEB_REQUEST_WEB_REQUEST_H */
