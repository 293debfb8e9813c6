/* SPDX-License-Identifier: MIT */
#include "web/model/view_search.h"

#include "base/error.h"
#include "base/text_view.h"
#include "timeline/timeline_hits.h"
#include "timeline/timeline_index.h"
#include "web/model/view_content.h"
#include "web/request/web_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As pages call what has no name: web/pages/model.js. */
static const char no_zone[] = "[no name]";
static const char no_function[] = "[unresolved]";

static void search_forget(struct view_search *s)
{
        for (size_t i = 0; i < SEARCH_KINDS; i++) {
                free(s->names[i].bits);
                free(s->names[i].counts);
                s->names[i] = (struct search_names){ .n = 0 };
        }
        byte_buffer_clear(&s->text);
}

void view_search_deinit(struct view_search *s)
{
        search_forget(s);
        byte_buffer_deinit(&s->text);
}

/* ---- which names --------------------------------------------------------------------------------------- */

static char in_small(char c)
{
        if (c >= 'A' && c <= 'Z')
                return (char)(c - 'A' + 'a');
        return c;
}

/* @text is in small letters. */
static bool has_text(struct text_view name, struct text_view text)
{
        for (size_t i = 0; i + text.n_bytes <= name.n_bytes; i++) {
                size_t n = 0;

                while (n < text.n_bytes && in_small(name.bytes[i + n]) == text.bytes[n])
                        n++;
                if (n == text.n_bytes)
                        return true;
        }
        return false;
}

static struct text_view member_of(const json_t *object, const char *key)
{
        const json_t *value = json_object_get(object, key);

        return (struct text_view){ json_string_value(value), json_string_length(value) };
}

static bool is_of_file(struct text_view text)
{
        return memchr(text.bytes, '.', text.n_bytes) || memchr(text.bytes, '/', text.n_bytes);
}

static bool has_location(const json_t *location, struct text_view text)
{
        const char *const keys[] = { "name", "function", "place" };
        struct text_view name = { .n_bytes = 0 };

        for (size_t i = 0; i < 3 && name.n_bytes == 0; i++)
                name = member_of(location, keys[i]);
        if (name.n_bytes == 0)
                name = (struct text_view){ no_zone, sizeof(no_zone) - 1 };
        return has_text(name, text) || (is_of_file(text) && has_text(member_of(location, "place"), text));
}

static bool has_function(const json_t *function, struct text_view text)
{
        struct text_view name = member_of(function, "name");

        if (name.n_bytes == 0)
                name = (struct text_view){ no_function, sizeof(no_function) - 1 };
        return has_text(name, text) || (is_of_file(text) && has_text(member_of(function, "module"), text));
}

/* Room for @n names.  Returns 0 or -ENOMEM. */
static int names_reserve(struct search_names *names, uint32_t first, uint32_t n)
{
        names->bits = calloc((size_t)n / 64 + 1, sizeof(*names->bits));
        names->counts = calloc((size_t)n + 1, sizeof(*names->counts));
        names->first = first;
        names->n = n;
        return names->bits && names->counts ? 0 : -ENOMEM;
}

static void names_add(struct search_names *names, uint32_t what)
{
        uint32_t i = what - names->first;

        names->bits[i / 64] |= UINT64_C(1) << i % 64;
        names->ref_bits |= timeline_ref_bit(what);
}

/* Takes over the list. */
static int match_list(struct search_names *names, json_t *list, uint32_t first, struct text_view text,
                      bool (*matches)(const json_t *, struct text_view))
{
        size_t n = json_array_size(list);
        int r = list ? names_reserve(names, first, (uint32_t)n) : -ENOMEM;

        for (size_t i = 0; i < n && r == 0; i++)
                if (matches(json_array_get(list, i), text))
                        names_add(names, first + (uint32_t)i);
        json_decref(list);
        return r;
}

static int match_strings(struct search_names *names, const struct intern *strings, struct text_view text)
{
        int r = names_reserve(names, 1, strings->n_items);

        for (uint32_t what = 1; what <= strings->n_items && r == 0; what++) {
                struct text_view string = { .n_bytes = 0 };

                string.bytes = intern_get(strings, what, &string.n_bytes);
                if (has_text(string, text))
                        names_add(names, what);
        }
        return r;
}

/* "frame 1,234" and "1234"; 0 = no number of a frame. */
static uint32_t frame_of(struct text_view text)
{
        size_t i = text_view_begins_with(text, "frame ") ? strlen("frame ") : 0;
        uint64_t number = 0;

        for (; i < text.n_bytes && number < UINT32_MAX; i++) {
                if (text.bytes[i] == ',')
                        continue;
                if (text.bytes[i] < '0' || text.bytes[i] > '9')
                        return 0;
                number = number * 10 + (uint64_t)(text.bytes[i] - '0');
        }
        return number < UINT32_MAX ? (uint32_t)number : 0;
}

static int match_frame(struct search_names *names, struct text_view text)
{
        uint32_t frame = frame_of(text);
        int r = names_reserve(names, frame, frame != 0);

        if (r == 0 && frame != 0)
                names_add(names, frame);
        return r;
}

/* Names of a trace that grows come with the time, so they are matched anew. */
static int search_prepare(struct view_search *s, const struct view_content *c, const char *text,
                          struct error *err)
{
        struct text_view small;
        int r;

        if (c->is_whole && s->text.used_bytes > 0 && strcmp((const char *)s->text.data, text) == 0)
                return 0;
        search_forget(s);
        byte_buffer_add(&s->text, text, strlen(text) + 1);
        if (s->text.failed)
                return error_set(err, -ENOMEM, "no memory for a search");
        small = (struct text_view){ (const char *)s->text.data, strlen(text) };
        for (size_t i = 0; i < small.n_bytes; i++)
                s->text.data[i] = (uint8_t)in_small(text[i]);
        r = match_list(&s->names[SEARCH_ZONES], view_model_list_locations(c), 1, small, has_location);
        if (r == 0)
                r = match_list(&s->names[SEARCH_GHOSTS], view_model_list_functions(c), 0, small,
                               has_function);
        if (r == 0)
                r = match_strings(&s->names[SEARCH_MESSAGES], &c->index->messages, small);
        if (r == 0)
                r = match_strings(&s->names[SEARCH_TEXTS], &c->index->zone_texts, small);
        if (r == 0)
                r = match_frame(&s->names[SEARCH_FRAMES], small);
        if (r < 0) {
                search_forget(s);
                return error_set(err, r, "no memory for a search");
        }
        memcpy(s->text.data, text, small.n_bytes);
        return 0;
}

/* ---- what is wanted of which lanes --------------------------------------------------------------------- */

static const enum search_kind search_kinds[TIMELINE_LANE_KIND_COUNT] = {
        [TIMELINE_LANE_ZONES] = SEARCH_ZONES,   [TIMELINE_LANE_DEVICE] = SEARCH_ZONES,
        [TIMELINE_LANE_GHOSTS] = SEARCH_GHOSTS, [TIMELINE_LANE_MESSAGES] = SEARCH_MESSAGES,
        [TIMELINE_LANE_FRAMES] = SEARCH_FRAMES, [TIMELINE_LANE_TEXTS] = SEARCH_TEXTS,
};

static const char *const search_kind_names[] = { "zones", "ghosts", "messages", "frames", "texts" };

static bool is_searched_lane(size_t kind)
{
        return kind == TIMELINE_LANE_ZONES || search_kinds[kind] != SEARCH_ZONES ||
               kind == TIMELINE_LANE_DEVICE;
}

/* By kind of lane: which names are wanted, and where their hits are counted. */
struct search_lanes {
        struct timeline_wanted wanted[TIMELINE_LANE_KIND_COUNT];
        uint64_t *by_what[TIMELINE_LANE_KIND_COUNT];
};

static void set_lanes(const struct view_search *s, struct search_lanes *ret)
{
        *ret = (struct search_lanes){ .wanted = { { .n = 0 } } };
        for (size_t i = 0; i < TIMELINE_LANE_KIND_COUNT; i++) {
                const struct search_names *names = &s->names[search_kinds[i]];

                if (!is_searched_lane(i) || names->ref_bits == 0)
                        continue;
                ret->wanted[i] = (struct timeline_wanted){ names->bits, names->first, names->n,
                                                           names->ref_bits };
                ret->by_what[i] = names->counts;
        }
}

static bool is_name_of(const char *kind, size_t lane_kind)
{
        return is_searched_lane(lane_kind) && strcmp(kind, search_kind_names[search_kinds[lane_kind]]) == 0;
}

/* ---- the reply ----------------------------------------------------------------------------------------- */

struct search_name {
        uint64_t count;
        enum search_kind kind;
        uint32_t what;
};

static int compare_names(const void *a, const void *b)
{
        const struct search_name *x = a, *y = b;

        if (x->count != y->count)
                return x->count > y->count ? -1 : 1;
        if (x->kind != y->kind)
                return x->kind < y->kind ? -1 : 1;
        return x->what < y->what ? -1 : x->what > y->what;
}

/* Names without hits are left out.  Heap; NULL without memory. */
static struct search_name *collect_names(const struct view_search *s, size_t *ret_n)
{
        struct search_name *names;
        size_t n = 0, capacity = 1;

        for (size_t kind = 0; kind < SEARCH_KINDS; kind++)
                for (uint32_t i = 0; i < s->names[kind].n; i++)
                        capacity += s->names[kind].counts[i] != 0;
        names = calloc(capacity, sizeof(*names));
        for (size_t kind = 0; kind < SEARCH_KINDS && names; kind++)
                for (uint32_t i = 0; i < s->names[kind].n; i++)
                        if (s->names[kind].counts[i] != 0)
                                names[n++] = (struct search_name){ s->names[kind].counts[i],
                                                                   (enum search_kind)kind,
                                                                   s->names[kind].first + i };
        *ret_n = n;
        return names;
}

static int add_names(const struct view_search *s, json_t *reply)
{
        size_t n = 0;
        struct search_name *names = collect_names(s, &n);
        json_t *list = json_array();

        if (!names || !list) {
                free(names);
                json_decref(list);
                return -ENOMEM;
        }
        qsort(names, n, sizeof(*names), compare_names);
        for (size_t i = 0; i < n && i < VIEW_SEARCH_NAMES_MAX; i++)
                (void)json_array_append_new(
                        list, json_pack("{s:s,s:I,s:I}", "kind", search_kind_names[names[i].kind], "what",
                                        (json_int_t)names[i].what, "count", (json_int_t)names[i].count));
        free(names);
        (void)json_object_set_new(reply, "names", list);
        return json_object_set_new(reply, "n_names", json_integer((json_int_t)n)) == 0 ? 0 : -ENOMEM;
}

static int add_counts(struct view_content *c, const struct search_lanes *lanes, uint64_t at_ns, json_t *reply,
                      struct error *err)
{
        struct timeline_hit_counts counts = { .by_what = lanes->by_what };
        int r;

        for (size_t kind = 0; kind < SEARCH_KINDS; kind++)
                memset(c->search.names[kind].counts, 0, c->search.names[kind].n * sizeof(uint64_t));
        r = timeline_hits_count(c->index, lanes->wanted, at_ns, &counts, err);
        if (r < 0)
                return r;
        (void)json_object_set_new(reply, "n_hits", json_integer((json_int_t)counts.n));
        (void)json_object_set_new(reply, "n_before", json_integer((json_int_t)counts.n_before));
        (void)json_object_set_new(reply, "is_least",
                                  json_boolean(c->index->n_texts_left_out > 0 || c->index->n_left_out > 0));
        r = add_names(&c->search, reply);
        return r < 0 ? error_set(err, r, "no memory for a search") : 0;
}

/* The next hit of one name; @place: from where, then its place among all hits. */
static int find_only(struct view_content *c, const struct web_request *request,
                     const struct search_lanes *lanes, struct timeline_hit_place *place,
                     struct timeline_found *ret_found, struct error *err)
{
        const uint64_t bit = 1;
        struct timeline_wanted only[TIMELINE_LANE_KIND_COUNT] = { { .n = 0 } };
        int r;

        for (size_t i = 0; i < TIMELINE_LANE_KIND_COUNT; i++)
                if (is_name_of(request->name_kind, i))
                        only[i] = (struct timeline_wanted){ &bit, request->what, 1,
                                                            timeline_ref_bit(request->what) };
        r = timeline_hits_step(c->index, only, place, request->is_backwards, ret_found, err);
        if (r != 1)
                return r;
        r = timeline_hits_place(c->index, lanes->wanted, ret_found, place, err);
        return r < 0 ? r : 1;
}

static json_t *describe_found(const struct timeline_found *found, uint64_t rank)
{
        return json_pack("{s:I,s:I,s:I,s:I,s:I}", "lane", (json_int_t)found->lane, "begin_ns",
                         (json_int_t)found->begin_ns, "end_ns", (json_int_t)found->end_ns, "what",
                         (json_int_t)found->what, "rank", (json_int_t)rank);
}

int view_search_put(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                    struct error *err)
{
        struct timeline_hit_place place = { request->at_ns, request->rank };
        struct timeline_found found = { .lane = 0 };
        struct search_lanes lanes;
        json_t *reply;
        int r = c->index ? search_prepare(&c->search, c, request->text, err)
                         : error_set(err, -EINVAL, "there is no index yet");

        if (r < 0)
                return r;
        set_lanes(&c->search, &lanes);
        if (request->what != UINT32_MAX)
                r = find_only(c, request, &lanes, &place, &found, err);
        else
                r = timeline_hits_step(c->index, lanes.wanted, &place, request->is_backwards, &found, err);
        if (r < 0)
                return r;
        reply = json_pack("{s:o*}", "found", r == 1 ? describe_found(&found, place.rank) : json_null());
        r = reply && request->wants_counts
                    ? add_counts(c, &lanes, r == 1 ? found.begin_ns : request->at_ns, reply, err)
                    : 0;
        if (r == 0)
                return view_model_print(reply, out, err);
        json_decref(reply);
        return r;
}
