/* SPDX-License-Identifier: MIT */
/*
 * A request to the viewer is refused unless its host, token, method, address and each parameter are right,
 * in this order.
 */
#include "base/error.h"
#include "tests/unit/unit_test.h"
#include "web/request/web_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN  "0123456789abcdef0123456789abcdef"
#define NAME   "fedcba9876543210fedcba9876543210.localhost"
#define HOST   NAME ":8080"
#define PREFIX "/" TOKEN "/"

static const struct web_site site = { .token = TOKEN, .name = NAME, .port = 8080 };

static int judge_head(struct web_request_head head)
{
        struct web_request *request = malloc(sizeof(*request));
        struct error err = ERROR_NONE;
        int status;

        ck_assert_ptr_nonnull(request);
        status = web_request_parse(request, &site, &head, &err);
        ck_assert_int_eq(status == 200, err.code == 0);
        web_request_deinit(request);
        free(request);
        return status;
}

static int judge(const char *method, const char *host, const char *target)
{
        return judge_head((struct web_request_head){ .method = method, .host = host, .target = target });
}

/* A page at an address that others can have had before might be listened to: see web_request.h. */
START_TEST(other_names_of_this_machine_get_data_only)
{
        static const char *const hosts[] = { "127.0.0.1:8080", "localhost:8080" };

        for (size_t i = 0; i < 2; i++) {
                ck_assert_int_eq(judge("GET", hosts[i], PREFIX "model"), 200);
                ck_assert_int_eq(judge("GET", hosts[i], PREFIX "answer?question=functions"), 200);
                ck_assert_int_eq(judge("GET", hosts[i], PREFIX), 403);
                ck_assert_int_eq(judge("GET", hosts[i], "/" TOKEN), 403);
                ck_assert_int_eq(judge("GET", hosts[i], PREFIX "shell.js"), 403);
        }
        ck_assert_int_eq(judge("GET", HOST, PREFIX "shell.js"), 200);
        ck_assert_int_eq(judge("GET", "0" NAME ":8080", PREFIX "model"), 403);
        ck_assert_int_eq(judge("GET", "x." NAME ":8080", PREFIX "model"), 403);
        ck_assert_int_eq(judge("GET", NAME, PREFIX "model"), 403);
}
END_TEST

START_TEST(only_the_page_itself_keeps_something_and_no_worker_stays)
{
        struct web_request_head head = { .method = "POST", .host = HOST, .target = PREFIX "keep?name=notes" };

        ck_assert_int_eq(judge_head(head), 200);
        head.origin = "http://" HOST;
        ck_assert_int_eq(judge_head(head), 200);
        head.origin = "http://127.0.0.1:8080";
        ck_assert_int_eq(judge_head(head), 403);
        head.origin = "null";
        ck_assert_int_eq(judge_head(head), 403);
        head.origin = NULL;
        head.target = PREFIX "compare";
        ck_assert_int_eq(judge_head(head), 200);
        head.origin = "http://127.0.0.1:8080";
        ck_assert_int_eq(judge_head(head), 403);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "compare"), 405);
        ck_assert_int_eq(judge("POST", HOST, PREFIX "nearby"), 405);
        head.origin = NULL;
        head.target = PREFIX "keep?name=../notes";
        ck_assert_int_eq(judge_head(head), 400);
        head.target = PREFIX "keep";
        ck_assert_int_eq(judge_head(head), 400);
        head.target = PREFIX "kept";
        ck_assert_int_eq(judge_head(head), 405);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "keep?name=notes"), 405);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "kept"), 200);
        head = (struct web_request_head){ .method = "GET", .host = HOST, .target = PREFIX "shell.js" };
        head.is_for_worker = true;
        ck_assert_int_eq(judge_head(head), 403);
}
END_TEST

START_LOOP_TEST(heads_are_judged, 0, 15)
{
        static const struct {
                int status;
                const char *method, *host, *target;
        } cases[] = {
                { 200, "GET", HOST, PREFIX },
                { 200, "GET", "localhost:8080", PREFIX "model" },
                { 403, "GET", "127.0.0.1:8081", PREFIX "model" },
                { 403, "GET", "127.0.0.1", PREFIX "model" },
                { 403, "GET", "evil.example:8080", PREFIX },
                { 403, "GET", NULL, PREFIX },
                { 403, "GET", HOST, "/" },
                { 403, "GET", HOST, "/0123456789abcdef0123456789abcde/" },
                { 403, "GET", HOST, "/0123456789abcdef0123456789abcdee/" },
                { 403, "GET", HOST, "/1123456789abcdef0123456789abcdef/" },
                { 403, "POST", HOST, "/" },
                { 405, "POST", HOST, PREFIX },
                { 405, "HEAD", HOST, PREFIX },
                { 200, "GET", HOST, "/" TOKEN },
                { 404, "GET", HOST, "/" TOKEN "x/" },
        };

        ck_assert_int_eq(judge(cases[_i].method, cases[_i].host, cases[_i].target), cases[_i].status);
}
END_TEST

START_LOOP_TEST(addresses_are_judged, 0, 42)
{
        static const struct {
                int status;
                const char *rest;
        } cases[] = {
                { 200, "model" },
                { 200, "page.css" },
                { 404, "../secret" },
                { 404, "a/b" },
                { 404, ".hidden" },
                { 404, "%2e%2e" },
                { 400, "model?x=1" },
                { 200, "lanes?from=0&to=1&bucket=0&ids=0" },
                { 200, "lanes?from=0&to=9007199254740992&bucket=52&ids=1,2,4294967295" },
                { 400, "lanes?from=1&to=1&bucket=0&ids=0" },
                { 400, "lanes?from=0&to=9007199254740993&bucket=0&ids=0" },
                { 400, "lanes?from=-1&to=1&bucket=0&ids=0" },
                { 400, "lanes?from=0&to=1e9&bucket=0&ids=0" },
                { 400, "lanes?from=0&to=99999999999999999999999&bucket=0&ids=0" },
                { 400, "lanes?from=0&to=1&bucket=53&ids=0" },
                { 400, "lanes?from=0&to=1&bucket=0&ids=" },
                { 400, "lanes?from=0&to=1&bucket=0&ids=1,,2" },
                { 400, "lanes?from=0&to=1&bucket=0&ids=4294967296" },
                { 400, "lanes?from=0&to=1&bucket=0" },
                { 400, "lanes?from=0&from=0&to=1&bucket=0&ids=0" },
                { 400, "lanes?from&to=1&bucket=0&ids=0" },
                { 400, "lanes?from=0&to=1&bucket=0&ids=0&what=1" },
                { 200, "find?lane=1&at=5&direction=next" },
                { 200, "find?lanes=1,2&at=5&direction=previous&what=3" },
                { 400, "find?lanes=1&at=5&direction=up" },
                { 200, "launches?lane=3&at=5&what=1" },
                { 200, "arrows?from=0&to=10" },
                { 400, "arrows?from=10&to=10" },
                { 400, "arrows?from=0" },
                { 400, "arrows?from=0&to=10&lane=1" },
                { 400, "launches?lane=3&at=5" },
                { 400, "launches?lanes=3,4&at=5&what=1" },
                { 400, "launches?lane=3&at=5&what=1&direction=next" },
                { 200, "search?text=item&at=5&direction=next" },
                { 200, "search?text=%41+b&at=5&rank=2&direction=previous&count=1" },
                { 200, "search?text=item&at=5&direction=next&kind=zones&what=7" },
                { 400, "search?text=item&at=5&direction=next&what=7" },
                { 400, "search?text=item&at=5&direction=next&kind=zones" },
                { 400, "search?text=item&at=5&direction=next&count=2" },
                { 400, "search?text=&at=5&direction=next" },
                { 400, "search?at=5&direction=next" },
                { 200, "strings?ids=1,2" },
                { 200, "strings?kind=texts&ids=1,2" },
                { 200, "stack?id=1" },
                { 400, "stack?id=1,2" },
                { 200, "jobs" },
                { 200, "answer?question=functions" },
                { 200, "answer?question=zone&zone=a%20b+c&from=0&to=5&job=7&histogram=1" },
                { 400, "answer" },
                { 200, "answer?question=path&zone=z1&thread=t1&at=5" },
                { 400, "answer?question=path&zone=z1&at=5ms" },
                { 400, "answer?question=why&zone=z1&at=5" },
                { 400, "answer?question=rm" },
                { 400, "answer?question=functions&question=zones" },
                { 400, "answer?question=zone" },
                { 400, "answer?question=zone&zone=" },
                { 400, "answer?question=zone&zone=%00" },
                { 400, "answer?question=zone&zone=%ff" },
                { 400, "answer?question=zone&zone=%4" },
                { 400, "answer?question=functions&from=5&to=5" },
                { 400, "answer?question=functions&output=x" },
                { 400, "answer?question=functions&severity=info" },
        };
        char target[512];

        (void)snprintf(target, sizeof(target), "%s%s", PREFIX, cases[_i].rest);
        ck_assert_int_eq(judge("GET", HOST, target), cases[_i].status);
}
END_TEST

/* One folder names the trace before; pages and answers have none of their own there. */
START_TEST(the_trace_before)
{
        struct web_request *request = malloc(sizeof(*request));
        const struct web_request_head head = { .method = "GET",
                                               .host = HOST,
                                               .target = PREFIX "before/model" };

        ck_assert_ptr_nonnull(request);
        ck_assert_int_eq(web_request_parse(request, &site, &head, NULL), 200);
        ck_assert_int_eq(request->kind, WEB_REQUEST_MODEL);
        ck_assert_int_eq(request->side, WEB_SIDE_BEFORE);
        web_request_deinit(request);
        free(request);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/kept"), 200);
        ck_assert_int_eq(judge("POST", HOST, PREFIX "before/keep?name=notes"), 200);
        ck_assert_int_eq(judge_head((struct web_request_head){ .method = "POST",
                                                               .host = HOST,
                                                               .origin = "null",
                                                               .target = PREFIX "before/keep?name=notes" }),
                         403);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/answer?question=functions"), 404);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/jobs"), 404);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/nearby"), 404);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/shell.js"), 404);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/"), 404);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "before/before/model"), 404);
        ck_assert_int_eq(judge("GET", HOST, PREFIX "after/model"), 404);
}
END_TEST

START_TEST(more_lanes_than_the_bound)
{
        char *target = malloc(16384);
        size_t n;

        ck_assert_ptr_nonnull(target);
        n = (size_t)sprintf(target, "%slanes?from=0&to=1&bucket=0&ids=0", PREFIX);
        for (int i = 1; i < WEB_REQUEST_LANES_MAX; i++)
                n += (size_t)sprintf(target + n, ",%d", i);
        ck_assert_int_eq(judge("GET", HOST, target), 200);
        strcpy(target + n, ",1");
        ck_assert_int_eq(judge("GET", HOST, target), 400);
        free(target);
}
END_TEST

START_TEST(values_are_decoded_and_keyed)
{
        static const char query[] = "question=zone&zone=a%2Fb%20%C3%A4&to=9&from=3&job=12";
        struct byte_buffer key = { .data = NULL };
        struct error err = ERROR_NONE;
        struct web_question q;

        web_question_init(&q);
        ck_assert_int_eq(web_question_parse(&q, query, strlen(query), &err), 0);
        ck_assert_str_eq(q.values[WEB_PARAMETER_ZONE], "a/b \xc3\xa4");
        ck_assert_uint_eq(q.from_ns, 3);
        ck_assert_uint_eq(q.to_ns, 9);
        ck_assert_uint_eq(q.job, 12);
        web_question_key(&q, &key);
        byte_buffer_add_u8(&key, '\0');
        ck_assert_str_eq((const char *)key.data, "zone&from=3&to=9&zone=a/b \xc3\xa4");
        byte_buffer_deinit(&key);
        web_question_deinit(&q);
}
END_TEST
