/* SPDX-License-Identifier: MIT */
#include "import/rows/import_rows.h"

#include "base/array.h"
#include "base/error.h"
#include "import/rows/import_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_BYTES_MAX (UINT64_C(512) << 20) /* of all texts; further ones are left out */
#define STRINGS_MAX      (UINT32_C(1) << 26)
#define TRACK_DEPTH_MAX  16
#define LEFT_OUT_MAX     256 /* kinds of a file; the last one takes all others */

static struct import_file *file_now(struct import_rows *rows)
{
        return &rows->files[rows->n_files - 1];
}

static int out_of_memory(int code, struct error *err)
{
        return error_set(err, code, code == -EOVERFLOW ? "a table of the trace is full" : "out of memory");
}

/* ---- strings, clocks, tracks --------------------------------------------------------------------------- */

static struct import_recent_string describe_string(struct text_view text)
{
        struct import_recent_string ends = { .n_bytes = (uint32_t)text.n_bytes };

        if (text.n_bytes < sizeof(ends.first)) {
                memcpy(&ends.first, text.bytes, text.n_bytes);
                return ends;
        }
        memcpy(&ends.first, text.bytes, sizeof(ends.first));
        memcpy(&ends.last, text.bytes + text.n_bytes - sizeof(ends.last), sizeof(ends.last));
        return ends;
}

/*
 * Any odd number with bits all over spreads what differs over the upper bits of a product.  The ends one
 * after the other: names that differ in a number alone differ in few bits of one end.
 */
static struct import_recent_string *find_recent_string(struct import_rows *rows,
                                                       const struct import_recent_string *ends)
{
        const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
        uint64_t mixed = ((ends->first ^ ends->n_bytes) * odd + ends->last) * odd;

        return &rows->recent_strings[(mixed >> 48) % IMPORT_RECENT_STRINGS];
}

static bool is_recent(const struct import_rows *rows, const struct import_recent_string *recent,
                      const struct import_recent_string *ends, struct text_view text)
{
        const size_t n_ends = sizeof(ends->first) + sizeof(ends->last);

        if (recent->id == 0 || recent->first != ends->first || recent->last != ends->last ||
            recent->n_bytes != ends->n_bytes)
                return false;
        return text.n_bytes <= n_ends ||
               text_view_equal(trace_dictionary_text(rows->dictionary, recent->id), text);
}

/* Whether the strings may become more; if not, the text is counted as lost. */
static bool has_room(struct import_rows *rows, uint32_t file, struct text_view text)
{
        if (rows->n_string_bytes + text.n_bytes <= STRING_BYTES_MAX &&
            trace_dictionary_count(rows->dictionary, TRACE_TABLE_STRINGS) < STRINGS_MAX)
                return true;
        import_rows_lose(rows, file, "text beyond the memory for texts", 1);
        return false;
}

int import_rows_add_string(struct import_rows *rows, uint32_t file, struct text_view text, uint32_t *ret_id,
                           struct error *err)
{
        struct trace_dictionary *d = rows->dictionary;
        struct import_recent_string *recent, ends;
        uint32_t n_before;
        int r;

        *ret_id = 0;
        if (text.n_bytes == 0)
                return 0;
        ends = describe_string(text);
        recent = find_recent_string(rows, &ends);
        if (is_recent(rows, recent, &ends, text)) {
                *ret_id = recent->id;
                return 0;
        }
        if (!has_room(rows, file, text))
                return 0;
        n_before = trace_dictionary_count(d, TRACE_TABLE_STRINGS);
        r = trace_dictionary_add_string(d, text.bytes, text.n_bytes, ret_id);
        if (r < 0)
                return out_of_memory(r, err);
        if (trace_dictionary_count(d, TRACE_TABLE_STRINGS) > n_before)
                rows->n_string_bytes += text.n_bytes;
        ends.id = *ret_id;
        *recent = ends;
        return 0;
}

int import_rows_add_device_text(struct import_rows *rows, uint32_t file, struct text_view text,
                                uint32_t *ret_id, struct error *err)
{
        struct trace_dictionary *d = rows->dictionary;
        uint32_t n_before = trace_dictionary_count(d, TRACE_TABLE_STRINGS);
        int r;

        *ret_id = 0;
        if (text.n_bytes == 0 || !has_room(rows, file, text))
                return 0;
        r = rows->n_device_texts < IMPORT_DEVICE_TEXTS_KEPT
                    ? trace_dictionary_add_string(d, text.bytes, text.n_bytes, ret_id)
                    : trace_dictionary_pass_string(d, text.bytes, text.n_bytes, ret_id);
        if (r < 0)
                return out_of_memory(r, err);
        if (trace_dictionary_count(d, TRACE_TABLE_STRINGS) > n_before) {
                rows->n_string_bytes += text.n_bytes;
                rows->n_device_texts++;
        }
        return 0;
}

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        return import_rows_add_string(rows, (uint32_t)rows->n_files, text, ret_id, err);
}

int import_rows_text(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        int r;

        *ret_id = 0;
        if (text.n_bytes == 0)
                return 0;
        r = import_texts_add(rows->texts, text, ret_id, err);
        if (r != -EOVERFLOW)
                return r;
        import_rows_left_out(rows, "text beyond 32 GiB", 1);
        return 0;
}

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err)
{
        uint32_t name;
        int r = import_rows_string(rows, clock->name, &name, err);

        if (r == 0)
                r = import_clocks_add(&rows->clocks, clock, name, ret_id);
        if (r == -EOVERFLOW)
                return error_set(err, r, "%s: more than %d clocks", file_now(rows)->path, IMPORT_CLOCKS_MAX);
        if (r < 0)
                return out_of_memory(r, err);
        file_now(rows)->end_clock = *ret_id + 1;
        return 0;
}

int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err)
{
        int r;

        if (reading->clock == 0 || reading->clock > rows->clocks.n_clocks ||
            reading->host_begin > reading->host_end || reading->host < IMPORT_CLOCK_RAW ||
            reading->host > IMPORT_CLOCK_TSC) {
                import_rows_left_out(rows, "clock reading that makes no sense", 1);
                return 0;
        }
        r = import_clocks_add_reading(&rows->clocks, reading);
        return r < 0 ? out_of_memory(r, err) : 0;
}

static bool is_below_device(enum import_track_kind kind)
{
        return kind == IMPORT_TRACK_CORE || kind == IMPORT_TRACK_PROCESSOR || kind == IMPORT_TRACK_STREAM ||
               kind == IMPORT_TRACK_OTHER;
}

static unsigned find_depth(const struct import_rows *rows, uint32_t track)
{
        unsigned depth = 0;

        for (; track != 0 && depth <= TRACK_DEPTH_MAX; track = rows->tracks[track - 1].parent)
                depth++;
        return depth;
}

static void set_root(struct import_rows *rows, struct import_place *place, uint32_t id)
{
        const struct import_place *parent = place->parent != 0 ? &rows->tracks[place->parent - 1] : NULL;

        place->root = id;
        place->is_of_device = place->kind == IMPORT_TRACK_DEVICE;
        if (!parent || place->is_of_device || place->kind == IMPORT_TRACK_PROCESS)
                return;
        place->is_of_device = is_below_device(place->kind) && parent->is_of_device;
        place->root = parent->root;
}

static int add_track(struct import_rows *rows, const struct import_track *track, uint32_t name,
                     uint32_t *ret_id)
{
        struct import_place place = {
                .kind = track->kind,
                .parent = track->parent,
                .clock = track->clock,
                .file = (uint32_t)rows->n_files,
                .number = track->number,
                .has_number = track->has_number,
                .name = name,
        };

        if (place.parent > rows->n_tracks || place.clock == 0 || place.clock > rows->clocks.n_clocks ||
            find_depth(rows, place.parent) >= TRACK_DEPTH_MAX)
                place.parent = place.parent > rows->n_tracks ? 0 : rows->tracks[place.parent - 1].root;
        if (array_reserve(&rows->tracks, &rows->tracks_capacity, (size_t)rows->n_tracks + 1,
                          sizeof(*rows->tracks)) < 0)
                return -ENOMEM;
        set_root(rows, &place, rows->n_tracks + 1);
        rows->tracks[rows->n_tracks++] = place;
        file_now(rows)->n_tracks++;
        *ret_id = rows->n_tracks;
        return 0;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        bool is_of_host = track->kind == IMPORT_TRACK_PROCESS || track->kind == IMPORT_TRACK_THREAD;
        struct import_track_key key = {
                .number = track->has_number ? track->number : UINT64_MAX,
                .kind = (uint32_t)track->kind << 1 | track->has_number,
                .parent = track->parent,
                .file = is_of_host && track->has_number ? 0 : (uint32_t)rows->n_files,
                .clock = track->clock,
        };
        uint32_t name, id;
        int r;

        if (track->clock == 0 || track->clock > rows->clocks.n_clocks)
                return error_set(err, -EINVAL, "a track has no clock");
        r = import_rows_string(rows, track->name, &name, err);
        if (r < 0)
                return r;
        if (!track->has_number && name == 0) {
                r = add_track(rows, track, name, ret_id);
                return r < 0 ? out_of_memory(r, err) : 0;
        }
        key.name = track->has_number ? 0 : name;
        r = intern_add_row(&rows->track_keys, &key, &rows->tracks_by_key, &rows->tracks_by_key_capacity,
                           sizeof(*rows->tracks_by_key), &id);
        if (r == 1)
                r = add_track(rows, track, name, &rows->tracks_by_key[id - 1]);
        if (r < 0)
                return out_of_memory(r, err);
        *ret_id = rows->tracks_by_key[id - 1];
        if (name != 0)
                rows->tracks[*ret_id - 1].name = name;
        return 0;
}

int import_rows_name_track(struct import_rows *rows, uint32_t track, struct text_view name, struct error *err)
{
        uint32_t id;
        int r = import_rows_string(rows, name, &id, err);

        if (r == 0 && id != 0 && track != 0 && track <= rows->n_tracks)
                rows->tracks[track - 1].name = id;
        return r;
}

int import_rows_name_of(struct import_rows *rows, const struct import_place *track, uint32_t *ret_string)
{
        static const char *const words[] = {
                [IMPORT_TRACK_PROCESS] = "process",     [IMPORT_TRACK_THREAD] = "thread",
                [IMPORT_TRACK_DEVICE] = "device",       [IMPORT_TRACK_CORE] = "core",
                [IMPORT_TRACK_PROCESSOR] = "processor", [IMPORT_TRACK_STREAM] = "stream",
                [IMPORT_TRACK_OTHER] = "track",
        };
        char text[48];

        *ret_string = track->name;
        if (track->name != 0)
                return 0;
        if (track->has_number)
                (void)snprintf(text, sizeof(text), "%s %" PRIu64, words[track->kind], track->number);
        else
                (void)snprintf(text, sizeof(text), "%s", words[track->kind]);
        return trace_dictionary_add_string(rows->dictionary, text, strlen(text), ret_string);
}

int import_rows_namesake(struct import_rows *rows, uint64_t number, uint64_t who, uint32_t *ret_index,
                         struct error *err)
{
        int r = import_namesakes_find(&rows->namesakes, number, who, ret_index);

        return r < 0 ? out_of_memory(r, err) : 0;
}

/* ---- what happened ------------------------------------------------------------------------------------- */

static bool is_known(const struct import_rows *rows, uint32_t track)
{
        return track != 0 && track <= rows->n_tracks;
}

static int add_location(struct import_rows *rows, uint32_t name, uint32_t file, uint32_t line,
                        uint32_t *ret_id, struct error *err)
{
        struct trace_location location = { .name = name, .file = file, .line = line };
        struct import_recent_location *recent =
                &rows->recent_locations[(name + line) % IMPORT_RECENT_LOCATIONS];

        if (recent->id == 0 || recent->name != name || recent->file != file || recent->line != line) {
                enum trace_table table = TRACE_TABLE_LOCATIONS;
                /* A name that came after those of all locations has none: files with many have them once. */
                int r = name > rows->last_located
                                ? trace_dictionary_append_new(rows->dictionary, table, &location, ret_id)
                                : trace_dictionary_add(rows->dictionary, table, &location, ret_id);

                if (r < 0)
                        return out_of_memory(r, err);
                rows->last_located = name > rows->last_located ? name : rows->last_located;
                *recent = (struct import_recent_location){ name, file, line, *ret_id };
        }
        *ret_id = recent->id;
        return 0;
}

/* After the key that is @last of its span, which is the last one then; 0 = there is none. */
static int list_key(struct import_rows *rows, struct import_key key, uint32_t last, uint32_t *ret_number)
{
        uint32_t number = rows->n_keys + 1;

        if (array_reserve(&rows->keys, &rows->keys_capacity, number, sizeof(*rows->keys)) < 0)
                return -ENOMEM;
        rows->keys[number - 1] = (struct import_listed_key){ .key = key, .next = number };
        if (last != 0) {
                rows->keys[number - 1].next = rows->keys[last - 1].next;
                rows->keys[last - 1].next = number;
        }
        rows->n_keys = number;
        *ret_number = number;
        return 0;
}

int import_rows_add_key(struct import_rows *rows, struct import_key *key, struct import_key further,
                        struct error *err)
{
        uint32_t last = key->kind == IMPORT_KEYS ? (uint32_t)key->value : 0;
        int r = 0;

        if (key->kind == 0 || further.kind == 0) {
                *key = further.kind != 0 ? further : *key;
                return 0;
        }
        if (rows->n_keys > IMPORT_KEYS_MAX - 2) {
                import_rows_left_out(rows, "further keys of zones", 1);
                return 0;
        }
        if (last == 0)
                r = list_key(rows, *key, 0, &last);
        if (r == 0)
                r = list_key(rows, further, last, &last);
        if (r < 0)
                return out_of_memory(r, err);
        *key = (struct import_key){ IMPORT_KEYS, last };
        return 0;
}

bool import_rows_next_key(const struct import_rows *rows, struct import_key keys, uint32_t *at,
                          struct import_key *ret_key)
{
        const uint32_t last = (uint32_t)keys.value;

        if (keys.kind != IMPORT_KEYS) {
                *ret_key = keys;
                return keys.kind != 0 && (*at)++ == 0;
        }
        if (*at == last)
                return false;
        *at = rows->keys[(*at == 0 ? last : *at) - 1].next;
        *ret_key = rows->keys[*at - 1].key;
        return true;
}

static int note_keys(struct import_rows *rows, const struct import_place *place, struct import_key keys)
{
        struct import_key key;
        uint32_t at = 0;
        int r = 0;

        while (r == 0 && import_rows_next_key(rows, keys, &at, &key))
                r = import_key_spaces_note(&rows->key_spaces, rows->files[place->file - 1].set, key.kind,
                                           place->is_of_device);
        return r;
}

static int add_record(struct import_rows *rows, struct import_record *record, struct error *err)
{
        struct import_place *place = &rows->tracks[record->track - 1];
        struct placed_clock *clock = &rows->clocks.clocks[place->clock - 1];

        record->clock = (uint16_t)place->clock;
        clock->is_for_host = clock->is_for_host || !place->is_of_device;
        import_clocks_use(&rows->clocks, place->clock, record->begin,
                          record->kind == IMPORT_RECORD_SPAN ? record->end : record->begin);
        /* Moments of threads have no keys in a trace. */
        if (record->key_kind != 0 && (record->kind == IMPORT_RECORD_SPAN || place->is_of_device)) {
                int r = note_keys(rows, place, (struct import_key){ record->key_kind, record->key });

                if (r < 0)
                        return out_of_memory(r, err);
        }
        return import_sort_add(rows->sort, record, err);
}

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err)
{
        struct import_record record = {
                .begin = span->begin,
                .end = span->end,
                .key = span->key.value,
                .key_kind = span->key.kind,
                .track = span->track,
                .text = span->text,
                .kind = IMPORT_RECORD_SPAN,
        };
        int r;

        if (!is_known(rows, span->track) || span->begin > span->end) {
                import_rows_left_out(rows, "span that ends before it begins", 1);
                return 0;
        }
        if (span->id != 0 && span->key.kind == 0 && !rows->tracks[span->track - 1].is_of_device)
                record.key = (uint64_t)span->id << 32 | span->parent;
        r = add_location(rows, span->name, span->file, span->line, &record.what, err);
        if (r < 0)
                return r;
        file_now(rows)->n_spans++;
        return add_record(rows, &record, err);
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        struct import_record record = {
                .begin = value->time,
                .end = value->bits,
                .key = value->kind,
                .track = value->track,
                .kind = IMPORT_RECORD_VALUE,
        };
        int r;

        if (!is_known(rows, value->track))
                return error_set(err, -EINVAL, "a value has no track");
        r = import_tracks_plot(rows, value, &record.what, err);
        if (r < 0)
                return r;
        file_now(rows)->n_values++;
        return add_record(rows, &record, err);
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        struct import_record record = {
                .begin = instant->time,
                .end = instant->flow,
                .key = instant->key.value,
                .key_kind = instant->key.kind,
                .track = instant->track,
                .text = instant->text,
                .kind = IMPORT_RECORD_INSTANT,
        };
        int r;

        if (!is_known(rows, instant->track))
                return error_set(err, -EINVAL, "an instant has no track");
        r = add_location(rows, instant->name, 0, 0, &record.what, err);
        if (r < 0)
                return r;
        file_now(rows)->n_instants++;
        return add_record(rows, &record, err);
}

/* ---- about the file ------------------------------------------------------------------------------------ */

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        (void)snprintf(file_now(rows)->format, sizeof(file_now(rows)->format), "%s", format);
        return import_rows_string(rows, version, &file_now(rows)->version, err);
}

int import_rows_join_set(struct import_rows *rows, struct text_view name, struct error *err)
{
        struct import_file *now = file_now(rows);
        int r = import_rows_string(rows, name, &now->set_name, err);

        for (size_t i = 0; r == 0 && now->set_name != 0 && &rows->files[i] < now; i++)
                if (rows->files[i].set_name == now->set_name &&
                    strcmp(rows->files[i].format, now->format) == 0) {
                        now->set = (uint32_t)i + 1;
                        break;
                }
        return r;
}

void import_rows_written(struct import_rows *rows, uint64_t realtime_ns)
{
        file_now(rows)->written_ns = realtime_ns;
}

void import_rows_count_row(struct import_rows *rows)
{
        file_now(rows)->n_rows++;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        struct import_file *file = file_now(rows);

        if (file->n_malformed++ != 0)
                return;
        file->first_malformed_at = at;
        (void)snprintf(file->first_malformed, sizeof(file->first_malformed), "%s", why);
}

void import_rows_lose(struct import_rows *rows, uint32_t file, const char *kind, uint64_t n)
{
        struct import_file *of = &rows->files[file - 1];
        uint32_t string = 0;
        size_t i = 0;

        if (n == 0)
                return;
        if (trace_dictionary_add_string(rows->dictionary, kind, strlen(kind), &string) < 0) {
                rows->has_failed = true;
                return;
        }
        while (i < of->n_left_out && of->left_out[i].kind != string)
                i++;
        if (i == LEFT_OUT_MAX)
                i--;
        if (i == of->n_left_out) {
                if (array_reserve(&of->left_out, &of->left_out_capacity, i + 1, sizeof(*of->left_out)) < 0) {
                        rows->has_failed = true;
                        return;
                }
                of->left_out[of->n_left_out++] = (struct import_left_out){ .kind = string };
        }
        of->left_out[i].n += n;
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        import_rows_lose(rows, (uint32_t)rows->n_files, kind, n);
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        file_now(rows)->n_dropped += n;
}

void import_rows_binary(struct import_rows *rows, bool is_binary)
{
        file_now(rows)->is_binary = is_binary;
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        file_now(rows)->is_cut = true;
        file_now(rows)->cut_at = at;
}
