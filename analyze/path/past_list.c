/* SPDX-License-Identifier: MIT */
#include "analyze/path/past_list.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Spans that are looked at for one that another one ended too late. */
#define TAKEN_LOOK_MAX 64

static uint64_t time_of(const struct past_list *list, size_t item_bytes, size_t i)
{
        uint64_t time_ns;

        memcpy(&time_ns, (const char *)list->items + i * item_bytes, sizeof(time_ns));
        return time_ns;
}

/* Uses the room of dropped items again, if that costs no more than seven moves for each that is added. */
static int make_room(struct past_list *list, size_t item_bytes)
{
        char *items = list->items;

        if (list->n < list->capacity)
                return 0;
        if (list->first < list->n / 8 || list->first == 0)
                return array_reserve(&list->items, &list->capacity, list->n + 1, item_bytes);
        memmove(items, items + list->first * item_bytes, past_list_count(list) * item_bytes);
        list->n -= list->first;
        list->first = 0;
        return 0;
}

/* @ret_at: where the item is then */
static int insert(struct past_list *list, size_t item_bytes, const void *item, size_t *ret_at)
{
        uint64_t time_ns;
        size_t at;
        char *items;

        memcpy(&time_ns, item, sizeof(time_ns));
        if (make_room(list, item_bytes) < 0)
                return -ENOMEM;
        at = list->n;
        while (at > list->first && time_of(list, item_bytes, at - 1) > time_ns) {
                if (list->n - at == PAST_LIST_LATE_MAX)
                        return 1;
                at--;
        }
        items = list->items;
        memmove(items + (at + 1) * item_bytes, items + at * item_bytes, (list->n - at) * item_bytes);
        memcpy(items + at * item_bytes, item, item_bytes);
        list->n++;
        *ret_at = at;
        return 0;
}

int past_list_insert(struct past_list *list, size_t item_bytes, const void *item)
{
        size_t at;

        return insert(list, item_bytes, item, &at);
}

size_t past_list_before(const struct past_list *list, size_t item_bytes, uint64_t time_ns)
{
        if (time_ns == 0 || list->n == list->first)
                return list->first;
        return list->first + array_count_to((const char *)list->items + list->first * item_bytes,
                                            past_list_count(list), item_bytes, 0, time_ns - 1);
}

void past_list_trim(struct past_list *list, size_t item_bytes, uint64_t time_ns)
{
        list->first = past_list_before(list, item_bytes, time_ns);
}

void past_list_deinit(struct past_list *list)
{
        free(list->items);
        *list = (struct past_list){ .items = NULL };
}

/* ------------------------------------------------------------------ spans */

static struct past_span *find_open(const struct past_list *list, uint32_t id)
{
        struct past_span *spans = list->items;
        uint32_t n_left = list->n_open;

        for (size_t i = list->n; i-- > list->first && n_left != 0 && list->n - i <= PAST_LIST_LOOK_MAX;) {
                if (spans[i].end_ns != UINT64_MAX)
                        continue;
                if (id == 0 || spans[i].id == id)
                        return &spans[i];
                n_left--;
        }
        return NULL;
}

/* Those that last end where the next one begins. */
static void end_all_but_last(struct past_list *list)
{
        struct past_span *spans = list->items;
        uint32_t n_left = list->n_open - (spans[list->n - 1].end_ns == UINT64_MAX);

        for (size_t i = list->n - 1; i-- > list->first && n_left != 0 && list->n - i <= PAST_LIST_LOOK_MAX;) {
                if (spans[i].end_ns != UINT64_MAX)
                        continue;
                spans[i].end_ns = spans[i + 1].begin_ns;
                list->n_open--;
                n_left--;
        }
}

int past_list_open(struct past_list *list, uint64_t time_ns, uint32_t id, bool is_alone)
{
        const struct past_span span = { .begin_ns = time_ns, .end_ns = UINT64_MAX, .id = id };
        struct past_span *known = find_open(list, id);
        size_t at;
        int r;

        if (known) {
                known->n_times += known->n_times != UINT32_MAX;
                return 0;
        }
        list->overlaps |= !is_alone && list->n_open != 0;
        r = insert(list, sizeof(span), &span, &at);
        if (r != 0)
                return r;
        list->n_open++;
        if (is_alone)
                end_all_but_last(list);
        return 0;
}

/* A span of @id that seemed to last longer, since another one began. */
static struct past_span *find_taken(const struct past_list *list, uint64_t time_ns, uint32_t id)
{
        size_t i = past_list_before(list, sizeof(struct past_span), time_ns + 1);
        struct past_span *spans = list->items;

        for (size_t n = 0; i-- > list->first && n < TAKEN_LOOK_MAX; n++)
                if (spans[i].id == id)
                        return spans[i].end_ns > time_ns ? &spans[i] : NULL;
        return NULL;
}

void past_list_close(struct past_list *list, uint64_t time_ns, uint32_t id)
{
        struct past_span *span = find_open(list, id);

        if (span && span->n_times != 0) {
                span->n_times--;
                return;
        }
        if (span)
                list->n_open--;
        else if (id != 0)
                span = find_taken(list, time_ns, id);
        if (span)
                span->end_ns = time_ns > span->begin_ns ? time_ns : span->begin_ns;
}

void past_list_trim_spans(struct past_list *list, uint64_t time_ns)
{
        struct past_span *spans = list->items;
        size_t n = 0;

        for (size_t i = list->first; i < list->n; i++)
                if (spans[i].end_ns >= time_ns)
                        spans[n++] = spans[i];
        list->first = 0;
        list->n = n;
}

void past_list_trim_alone(struct past_list *list, uint64_t time_ns)
{
        const struct past_span *spans = list->items;
        size_t n = past_list_before(list, sizeof(*spans), time_ns);

        for (; list->first + 1 < n; list->first++)
                list->n_open -= spans[list->first].end_ns == UINT64_MAX;
}

size_t past_spans(const struct past_list *list, uint64_t begin_ns, uint64_t end_ns, size_t *ret_first)
{
        const struct past_span *spans = list->items;
        size_t from = past_list_before(list, sizeof(*spans), begin_ns), to = from;

        while (to < list->n && spans[to].begin_ns < end_ns)
                to++;
        while (from > list->first && spans[from - 1].end_ns > begin_ns)
                from--;
        if (list->overlaps)
                for (size_t i = from, n = 0; i-- > list->first && n < PAST_LIST_LOOK_MAX; n++)
                        if (spans[i].end_ns > begin_ns)
                                from = i;
        *ret_first = from;
        return to;
}
