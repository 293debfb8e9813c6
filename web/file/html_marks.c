/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "timeline/timeline_index.h"
#include "view/document/json_value.h"
#include "web/file/html_file.h"
#include "web/file/html_parts.h"
#include "web/model/view_content.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

/* Pages write what the viewer keeps: a text of another form counts as nothing.  Owned, or NULL. */
static json_t *read_kept(struct text_view text, bool (*is_right)(const json_t *value))
{
        json_t *value = text.n_bytes > 0 ? json_loadb(text.bytes, text.n_bytes, JSON_ALLOW_NUL, NULL) : NULL;

        if (!value || is_right(value))
                return value;
        json_decref(value);
        return NULL;
}

static bool is_list(const json_t *value)
{
        return json_is_array(value);
}

static bool is_object(const json_t *value)
{
        return json_is_object(value);
}

static json_t *make_note(const struct html_note *note)
{
        return json_pack("{s:I,s:I,s:o*}", "from", (json_int_t)note->from_ns, "to", (json_int_t)note->to_ns,
                         "text", json_value_string((struct text_view){ note->text, strlen(note->text) }));
}

static int append(json_t *list, json_t *value)
{
        return value && json_array_append_new(list, value) == 0 ? 0 : -ENOMEM;
}

int html_marks_put_notes(const struct html_marks *marks, const struct html_redaction *redaction,
                         struct byte_buffer *out, struct error *err)
{
        json_t *list = read_kept(marks->kept_notes, is_list);
        int r = 0;

        if (!list && marks->n_notes == 0)
                return 0;
        if (!list)
                list = json_array();
        for (size_t i = 0; i < marks->n_notes && r == 0; i++)
                r = list ? append(list, make_note(&marks->notes[i])) : -ENOMEM;
        if (r == 0 && redaction)
                r = html_redaction_clean(redaction, list);
        if (r == 0)
                return view_model_print(list, out, err);
        json_decref(list);
        return error_set(err, r, "no memory for the notes");
}

static bool fits(const char *pin, struct text_view title)
{
        char text[TIMELINE_TITLE_MAX + 1];

        if (title.n_bytes > TIMELINE_TITLE_MAX)
                return false;
        if (title.n_bytes > 0)
                memcpy(text, title.bytes, title.n_bytes);
        text[title.n_bytes] = '\0';
        return fnmatch(pin, text, 0) == 0;
}

static bool is_there(const json_t *list, const char *key)
{
        for (size_t i = 0; i < json_array_size(list); i++) {
                const char *known = json_string_value(json_array_get(list, i));

                if (known && strcmp(known, key) == 0)
                        return true;
        }
        return false;
}

/* A key is that of a row on the page: see timeline_rows.js. */
static int add_pin(json_t *pinned, const struct timeline_index *index, const char *pin, struct error *err)
{
        char key[64];
        bool is_found = false;

        for (uint32_t i = 0; i < index->n_tracks; i++) {
                if (!fits(pin, timeline_index_title(index, i)))
                        continue;
                is_found = true;
                (void)snprintf(key, sizeof(key), "%s:%" PRIu32,
                               timeline_track_kind_name(index->tracks[i].kind), i);
                if (!is_there(pinned, key) && append(pinned, json_string(key)) < 0)
                        return error_set(err, -ENOMEM, "no memory for the pins");
        }
        return is_found ? 0 : error_set(err, -ENOENT, "--pin %s: no track has this name", pin);
}

int html_marks_put_tracks(const struct html_marks *marks, const struct timeline_index *index,
                          struct byte_buffer *out, struct error *err)
{
        json_t *tracks = read_kept(marks->kept_tracks, is_object);
        json_t *pinned;
        int r = 0;

        if (!tracks && marks->n_pins == 0)
                return 0;
        if (!tracks)
                tracks = json_object();
        if (!json_is_array(json_object_get(tracks, "pinned")))
                (void)json_object_set_new(tracks, "pinned", json_array());
        pinned = json_object_get(tracks, "pinned");
        if (!pinned)
                r = error_set(err, -ENOMEM, "no memory for the pins");
        for (size_t i = 0; i < marks->n_pins && r == 0; i++)
                r = add_pin(pinned, index, marks->pins[i], err);
        if (r == 0)
                return view_model_print(tracks, out, err);
        json_decref(tracks);
        return r;
}
