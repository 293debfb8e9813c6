/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_program.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>

void fake_program_start(struct fake_program *p, uint32_t pid)
{
        struct client_abi_header h = fake_region_blob_header();

        *p = (struct fake_program){ .strings_bytes = 0 };
        h.pid = pid;
        h.control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILIES;
        fake_region_make(&p->region, &h, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

void fake_program_end(struct fake_program *p)
{
        fake_region_destroy(&p->region);
}

int fake_program_fd(const struct fake_program *p)
{
        int fd = fcntl(p->region.fd, F_DUPFD_CLOEXEC, 0);

        ck_assert_int_ge(fd, 0);
        return fd;
}

uint32_t fake_program_name(struct fake_program *p, const char *name)
{
        struct client_abi_header *h = p->region.header;
        struct client_abi_location *location;
        size_t n_bytes = strlen(name);

        ck_assert_uint_lt(h->n_locations, h->n_locations_max);
        ck_assert_uint_le(p->strings_bytes + n_bytes, h->strings_bytes);
        location = fake_region_location(&p->region, ++h->n_locations);
        memcpy(p->region.base + h->strings_offset + p->strings_bytes, name, n_bytes);
        location->name = p->strings_bytes | (uint64_t)n_bytes << CLIENT_ABI_STRING_OFFSET_BITS;
        location->ready = 1;
        p->strings_bytes += (uint32_t)n_bytes;
        return h->n_locations;
}

static void put_bytes(struct fake_program *p, uint32_t slot, const void *bytes, size_t n_bytes)
{
        struct client_abi_slot *s = fake_region_slot(&p->region, slot);
        uint8_t *ring = p->region.base + p->region.header->rings_offset + slot * FAKE_REGION_RING_BYTES;

        ck_assert_uint_le(s->head_bytes - s->tail_bytes + n_bytes, FAKE_REGION_RING_BYTES);
        for (size_t i = 0; i < n_bytes; i++)
                ring[(s->head_bytes + i) % FAKE_REGION_RING_BYTES] = ((const uint8_t *)bytes)[i];
        __atomic_store_n(&s->head_bytes, s->head_bytes + n_bytes, __ATOMIC_RELEASE);
}

static void put_word(struct fake_program *p, uint32_t slot, uint64_t word)
{
        put_bytes(p, slot, &word, sizeof(word));
}

static uint64_t pack(uint64_t low, uint64_t argument, enum client_abi_event kind)
{
        return (low & UINT32_MAX) | argument << CLIENT_ABI_ARG_SHIFT |
               (uint64_t)kind << CLIENT_ABI_EVENT_SHIFT;
}

void fake_program_put(struct fake_program *p, uint32_t slot, const struct fake_event *event)
{
        static const uint8_t zeros[CLIENT_ABI_WORD_BYTES];
        size_t n_bytes = event->n_words * sizeof(uint64_t) + event->text_bytes;
        uint64_t argument = event->kind >= CLIENT_ABI_EVENT_NEW_BYTES ? n_bytes : event->argument;

        if (p->ticks_high[slot] != (uint32_t)(event->time_ns >> 32)) {
                p->ticks_high[slot] = (uint32_t)(event->time_ns >> 32);
                put_word(p, slot, pack(p->ticks_high[slot], 0, CLIENT_ABI_EVENT_TIME));
        }
        if (event->kind == CLIENT_ABI_EVENT_MESSAGE || event->kind == CLIENT_ABI_EVENT_THREAD_NAME)
                argument = event->text_bytes;
        put_word(p, slot, pack(event->time_ns, argument, event->kind));
        put_bytes(p, slot, event->words, event->n_words * sizeof(uint64_t));
        put_bytes(p, slot, event->text, event->text_bytes);
        put_bytes(p, slot, zeros,
                  (CLIENT_ABI_WORD_BYTES - n_bytes % CLIENT_ABI_WORD_BYTES) % CLIENT_ABI_WORD_BYTES);
}

void fake_program_thread(struct fake_program *p, uint32_t slot, uint64_t time_ns, uint32_t tid)
{
        fake_program_put(p, slot,
                         &(struct fake_event){ .time_ns = time_ns,
                                               .kind = CLIENT_ABI_EVENT_THREAD,
                                               .words = { tid },
                                               .n_words = 1 });
}

void fake_program_begin(struct fake_program *p, uint32_t slot, uint64_t time_ns, uint32_t location)
{
        fake_program_put(p, slot,
                         &(struct fake_event){ .time_ns = time_ns,
                                               .kind = CLIENT_ABI_EVENT_ZONE_BEGIN,
                                               .argument = location });
}

void fake_program_finish(struct fake_program *p, uint32_t slot, uint64_t time_ns)
{
        fake_program_put(p, slot,
                         &(struct fake_event){ .time_ns = time_ns, .kind = CLIENT_ABI_EVENT_ZONE_END });
}

void fake_program_enter(struct fake_program *p, uint32_t slot, uint64_t time_ns, uint32_t fiber,
                        uint64_t n_open)
{
        fake_program_put(p, slot,
                         &(struct fake_event){ .time_ns = time_ns,
                                               .kind = CLIENT_ABI_EVENT_FIBER_ENTER,
                                               .argument = fiber,
                                               .words = { n_open },
                                               .n_words = 1 });
}

void fake_program_leave(struct fake_program *p, uint32_t slot, uint64_t time_ns)
{
        fake_program_put(p, slot,
                         &(struct fake_event){ .time_ns = time_ns, .kind = CLIENT_ABI_EVENT_FIBER_LEAVE });
}

void fake_program_blob(struct fake_program *p, uint32_t slot, uint64_t time_ns, const void *bytes,
                       size_t n_bytes)
{
        struct client_abi_header *h = p->region.header;
        uint64_t at = h->blobs_used_bytes;
        uint64_t *word = fake_region_blob_word(&p->region, at);
        size_t whole_bytes = (n_bytes + CLIENT_ABI_WORD_BYTES - 1) / CLIENT_ABI_WORD_BYTES *
                             CLIENT_ABI_WORD_BYTES;

        ck_assert_uint_le(at + CLIENT_ABI_BLOB_HEADER_BYTES + whole_bytes, h->blobs_bytes); /* never around */
        *word = at;
        memcpy(word + 1, bytes, n_bytes);
        __atomic_store_n(&h->blobs_used_bytes, at + CLIENT_ABI_BLOB_HEADER_BYTES + whole_bytes,
                         __ATOMIC_RELEASE);
        fake_program_put(p, slot,
                         &(struct fake_event){ .time_ns = time_ns,
                                               .kind = CLIENT_ABI_EVENT_BLOB,
                                               .words = { at, n_bytes },
                                               .n_words = 2 });
}

void fake_program_attach_source(struct fake_program *p, uint64_t time_ns, char letter)
{
        char text[3000];

        memset(text, letter, sizeof(text));
        fake_program_put(p, 0,
                         &(struct fake_event){ .time_ns = time_ns,
                                               .kind = CLIENT_ABI_EVENT_SOURCE_TEXT,
                                               .words = { 1 },
                                               .n_words = 1,
                                               .text = text,
                                               .text_bytes = sizeof(text) });
}
