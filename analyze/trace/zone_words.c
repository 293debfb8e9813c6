/* SPDX-License-Identifier: MIT */
#include "analyze/trace/zone_words.h"

#include "format/trace_event.h"

#include <errno.h>

void zone_words_deinit(struct zone_words *w)
{
        byte_buffer_deinit(&w->name);
        byte_buffer_deinit(&w->text);
}

void zone_words_clear(struct zone_words *w)
{
        byte_buffer_clear(&w->name);
        byte_buffer_clear(&w->text);
        w->value = 0;
        w->color = 0;
        w->has_value = w->has_color = w->any = false;
}

static void add_line(struct byte_buffer *text, const char *bytes, uint64_t n_bytes)
{
        size_t room = ZONE_WORDS_TEXT_MAX - text->used_bytes;

        if (text->used_bytes != 0 && room != 0) {
                byte_buffer_add(text, "\n", 1);
                room--;
        }
        byte_buffer_add(text, bytes, n_bytes < room ? (size_t)n_bytes : room);
}

int zone_words_add(struct zone_words *w, const struct trace_event *event)
{
        w->any = true;
        switch (event->op) {
        case TRACE_OP_ZONE_TEXT:
                add_line(&w->text, event->text, event->zone_text.text_bytes);
                break;
        case TRACE_OP_ZONE_NAME:
                byte_buffer_clear(&w->name);
                add_line(&w->name, event->text, event->zone_name.name_bytes);
                break;
        case TRACE_OP_ZONE_VALUE:
                w->value = event->zone_value.value;
                w->has_value = true;
                break;
        default:
                w->color = (uint32_t)event->zone_color.color;
                w->has_color = true;
                break;
        }
        return w->name.failed || w->text.failed ? -ENOMEM : 0;
}
