/* SPDX-License-Identifier: MIT */
/* instrument/client/program_events.c - about the program: its threads, its settings, its source and code */
#include "instrument/client/location_table.h"
#include "instrument/client/payload_event.h"
#include "instrument/client/word_event.h"

#include <string.h>

/* False if the thread cannot write. */
static bool emit_payload(const struct payload_event *e)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_OTHER))
                return false;
        payload_event_put(t, e);
        thread_ring_leave(t, word);
        return true;
}

static bool emit_words(const struct word_event *e)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_OTHER))
                return false;
        word_event_put(t, e);
        thread_ring_leave(t, word);
        return true;
}

/* Keeps the name first, even if no events are wanted: a session that begins later repeats it. */
void hyprof_emit_thread_name(const char *name)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t n;

        if (!name || *name == '\0')
                return;
        (void)client_begin();
        if (client_self.other) {
                client_self.other->thread_name(name);
                return;
        }
        n = (uint32_t)strnlen(name, sizeof(t->name) - 1);
        t->name_bytes = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler that opens a session sees no half name */
        memcpy(t->name, name, n);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        t->name_bytes = n;

        if (client_control_word() & CLIENT_ABI_FAMILIES)
                (void)emit_payload(&(struct payload_event){
                        .loss = THREAD_RING_LOSS_OTHER,
                        .event = CLIENT_ABI_EVENT_THREAD_NAME,
                        .content = name,
                        .content_bytes = n,
                });
}
CLIENT_LINK_OWN(thread_name);

void hyprof_emit_thread_group(int32_t group)
{
        struct thread_ring *t = &thread_ring_self;

        (void)client_begin();
        if (client_self.other) {
                client_self.other->thread_group(group);
                return;
        }
        t->group = group;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        t->has_group = true;

        if (client_control_word() & CLIENT_ABI_FAMILIES)
                (void)emit_words(&(struct word_event){
                        .loss = THREAD_RING_LOSS_OTHER,
                        .event = CLIENT_ABI_EVENT_THREAD_GROUP,
                        .n_words = 1,
                        .words = { (uint64_t)(int64_t)group },
                });
}
CLIENT_LINK_OWN(thread_group);

/*
 * The name's length as the first word states it; a name whose length does not fit there is refused as too
 * long.
 */
static uint64_t length_word(size_t name_bytes)
{
        return name_bytes & UINT32_MAX;
}

void hyprof_emit_program_info(const char *key, size_t key_bytes, const char *text, size_t text_bytes)
{
        key_bytes = key ? key_bytes : 0;
        if (!emit_payload(&(struct payload_event){
                    .loss = THREAD_RING_LOSS_OTHER,
                    .event = CLIENT_ABI_EVENT_PROGRAM_INFO,
                    .n_words = 1,
                    .words = { length_word(key_bytes) },
                    .name = key,
                    .name_bytes = key_bytes,
                    .content = text,
                    .content_bytes = text ? text_bytes : 0,
            }))
                CLIENT_LINK_PASS_ON(program_info, key, key_bytes, text, text_bytes);
}
CLIENT_LINK_OWN(program_info);

void hyprof_emit_source_text(const char *file, size_t file_bytes, const char *text, size_t text_bytes)
{
        file_bytes = file ? file_bytes : 0;
        if (!emit_payload(&(struct payload_event){
                    .loss = THREAD_RING_LOSS_OTHER,
                    .event = CLIENT_ABI_EVENT_SOURCE_TEXT,
                    .n_words = 1,
                    .words = { length_word(file_bytes) },
                    .name = file,
                    .name_bytes = file_bytes,
                    .content = text,
                    .content_bytes = text ? text_bytes : 0,
            }))
                CLIENT_LINK_PASS_ON(source_text, file, file_bytes, text, text_bytes);
}
CLIENT_LINK_OWN(source_text);

void hyprof_emit_code_add(const void *address, size_t bytes, const char *name, size_t name_bytes,
                          const void *image, size_t image_bytes)
{
        name_bytes = name ? name_bytes : 0;
        if (!emit_payload(&(struct payload_event){
                    .loss = THREAD_RING_LOSS_OTHER,
                    .event = CLIENT_ABI_EVENT_CODE,
                    .n_words = 3,
                    .words = { (uintptr_t)address, bytes, length_word(name_bytes) },
                    .name = name,
                    .name_bytes = name_bytes,
                    .content = image,
                    .content_bytes = image ? image_bytes : 0,
            }))
                CLIENT_LINK_PASS_ON(code_add, address, bytes, name, name_bytes, image, image_bytes);
}
CLIENT_LINK_OWN(code_add);

void hyprof_emit_code_add_lines(const void *address, size_t bytes, struct hyprof_location *location,
                                const struct hyprof_code_line *lines, size_t n_lines)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word(), id;

        if (!location)
                return;
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_OTHER)) {
                CLIENT_LINK_PASS_ON_LATER(code_add_lines, address, bytes, location, lines, n_lines);
                return;
        }
        id = location_table_id(location);
        if (id != 0)
                payload_event_put(t, &(struct payload_event){
                                             .loss = THREAD_RING_LOSS_OTHER,
                                             .event = CLIENT_ABI_EVENT_CODE_LINES,
                                             .n_words = 3,
                                             .words = { (uintptr_t)address, bytes, id },
                                             .content = lines,
                                             .content_bytes = lines ? n_lines * sizeof(*lines) : 0,
                                     });
        else
                thread_ring_count_loss(t, THREAD_RING_LOSS_OTHER);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(code_add_lines);

void hyprof_emit_code_remove(const void *address, size_t bytes)
{
        if (!emit_words(&(struct word_event){
                    .loss = THREAD_RING_LOSS_OTHER,
                    .event = CLIENT_ABI_EVENT_CODE_GONE,
                    .n_words = 2,
                    .words = { (uintptr_t)address, bytes },
            }))
                CLIENT_LINK_PASS_ON(code_remove, address, bytes);
}
CLIENT_LINK_OWN(code_remove);

uint64_t hyprof_emit_now_ns(void)
{
        return ticks_kernel_ns();
}

/* No event: only the thread's counter grows. */
void hyprof_emit_unrecorded(enum hyprof_unrecorded_ what)
{
        static const enum thread_ring_loss kinds[] = { THREAD_RING_LOSS_NO_PICTURE,
                                                       THREAD_RING_LOSS_NO_DEVICE_ZONE,
                                                       THREAD_RING_LOSS_NO_EVENT };
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if ((unsigned)what >= sizeof(kinds) / sizeof(kinds[0]) || !thread_ring_enter(t, word, kinds[what])) {
                CLIENT_LINK_PASS_ON_LATER(unrecorded, what);
                return;
        }
        thread_ring_count_loss(t, kinds[what]);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(unrecorded);
