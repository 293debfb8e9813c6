/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jit_objects.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "sampler/keep/elf_header.h"
#include "sampler/pace/pace.h"
#include "sampler/proc/process_memory.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTOR_BYTES   24 /* version, action, relevant entry, first entry */
#define ENTRY_BYTES        32 /* next, previous, the object's address and length */
#define INTERFACE_VERSION  1
#define MARK_BEGIN_BYTES   1024 /* that tell objects at one place apart: the header, and ... */
#define MARK_END_BYTES     4096 /* ... the headers of its sections with their addresses */
#define MARKED             64   /* first objects of the list, whose marks are always checked */
#define SECTION_ADDRESS_AT 16   /* in a section header */

struct entry {
        uint64_t avma, next_avma;
        uint64_t bytes_avma, n_bytes;
};

void jit_objects_init(struct jit_objects *list, uint32_t pid, uint64_t descriptor_avma)
{
        *list = (struct jit_objects){ .pid = pid, .descriptor_avma = descriptor_avma };
}

void jit_objects_deinit(struct jit_objects *list)
{
        for (size_t i = 0; i < list->n_objects; i++)
                free(list->objects[i].parts);
        free(list->objects);
        jit_objects_init(list, list->pid, list->descriptor_avma);
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static bool read_entry(uint32_t pid, uint64_t avma, struct entry *ret_entry)
{
        const struct process_memory memory = process_memory_of(pid);
        uint8_t bytes[ENTRY_BYTES];
        struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));

        if (avma == 0 || !process_memory_read_all(&memory, avma, bytes, sizeof(bytes)))
                return false;
        ret_entry->avma = avma;
        ret_entry->next_avma = bytes_u64(&in);
        (void)bytes_u64(&in);
        ret_entry->bytes_avma = bytes_u64(&in);
        ret_entry->n_bytes = bytes_u64(&in);
        return true;
}

/*
 * A hash of the object's first and last bytes: two objects of the same length at the same place differ
 * there, or are the same.
 */
static uint64_t mark_of(uint32_t pid, const struct entry *entry)
{
        const struct process_memory memory = process_memory_of(pid);
        uint8_t bytes[MARK_BEGIN_BYTES + MARK_END_BYTES] = { 0 };
        size_t n_begin = entry->n_bytes < MARK_BEGIN_BYTES ? entry->n_bytes : MARK_BEGIN_BYTES;
        size_t n_end = entry->n_bytes < MARK_END_BYTES ? entry->n_bytes : MARK_END_BYTES;
        uint64_t end_avma = entry->bytes_avma + entry->n_bytes - n_end;

        (void)process_memory_read(&memory, entry->bytes_avma, bytes, n_begin);
        (void)process_memory_read(&memory, end_avma, bytes + n_begin, n_end);
        return content_hash(bytes, n_begin + n_end);
}

/*
 * The descriptor, and a mark that differs when the list has changed: a program that adds or removes an object
 * changes the descriptor, but may come back to the same addresses.
 */
static bool read_descriptor(const struct jit_objects *list, uint64_t *ret_first_avma, uint64_t *ret_mark)
{
        struct {
                uint8_t descriptor[DESCRIPTOR_BYTES];
                struct entry first;
                uint64_t first_mark;
        } all = { .first_mark = 0 };
        const struct process_memory memory = process_memory_of(list->pid);
        struct byte_reader in = byte_reader_of(all.descriptor, sizeof(all.descriptor));

        if (!process_memory_read_all(&memory, list->descriptor_avma, all.descriptor, sizeof(all.descriptor)))
                return false;
        if (bytes_u32(&in) != INTERFACE_VERSION)
                return false;
        (void)bytes_u32(&in); /* the present action */
        (void)bytes_u64(&in); /* to which entry */
        *ret_first_avma = bytes_u64(&in);
        if (read_entry(list->pid, *ret_first_avma, &all.first))
                all.first_mark = mark_of(list->pid, &all.first);
        *ret_mark = content_hash(&all, sizeof(all));
        return true;
}

/* ---- an object ----------------------------------------------------------------------------------------- */

/* Lists where the object's sections of code are. */
static int read_parts(struct jit_object *object, const struct elf_header *header, const uint8_t *bytes)
{
        size_t capacity = 0;

        for (uint32_t i = 0; i < header->n_sections && object->n_parts < JIT_OBJECTS_PARTS_MAX; i++) {
                const uint8_t *at = bytes + header->sections_off + (size_t)i * ELF_HEADER_SECTION_BYTES;
                struct elf_header_section s;
                struct jit_object_part part;

                elf_header_section_read(at, &s);
                if (!(s.flags & SHF_ALLOC) || !(s.flags & SHF_EXECINSTR) || s.type == SHT_NOBITS ||
                    s.svma == 0 || s.n_bytes == 0 || s.file_off > object->n_bytes ||
                    s.n_bytes > object->n_bytes - s.file_off ||
                    __builtin_add_overflow(s.svma, s.n_bytes, &part.end_avma))
                        continue;
                part.start_avma = s.svma;
                part.file_off = s.file_off;
                if (array_reserve(&object->parts, &capacity, object->n_parts + 1, sizeof(part)) < 0)
                        return -ENOMEM;
                object->parts[object->n_parts++] = part;
        }
        return 0;
}

/* The same code at another place has the same hash. */
static int hash_content(struct jit_object *object, const struct elf_header *header,
                        const struct byte_buffer *bytes)
{
        size_t table_bytes = (size_t)header->n_sections * ELF_HEADER_SECTION_BYTES;
        uint8_t *copy = malloc(bytes->used_bytes);

        if (!copy)
                return -ENOMEM;
        memcpy(copy, bytes->data, bytes->used_bytes);
        for (size_t at = 0; at < table_bytes; at += ELF_HEADER_SECTION_BYTES)
                memset(copy + header->sections_off + at + SECTION_ADDRESS_AT, 0, sizeof(uint64_t));
        object->content = content_hash(copy, bytes->used_bytes);
        free(copy);
        return 0;
}

/* Lists the code segments of an object that is already linked. */
static int read_segments(struct jit_object *object, const struct elf_header *header)
{
        const struct elf_header_segment *s;
        size_t capacity = 0, at = 0;

        while ((s = elf_header_next_code(header, &at))) {
                if (array_reserve(&object->parts, &capacity, object->n_parts + 1, sizeof(*object->parts)) < 0)
                        return -ENOMEM;
                if (s->svma != 0 && s->file_off + s->file_bytes <= object->n_bytes)
                        object->parts[object->n_parts++] =
                                (struct jit_object_part){ s->svma, s->svma + s->file_bytes, s->file_off };
        }
        return 0;
}

/* Reads what the entry leads to.  Returns 1, 0 if it is no object with code, -ENOMEM. */
static int read_object(uint32_t pid, struct jit_object *object, struct byte_buffer *bytes)
{
        const struct process_memory memory = process_memory_of(pid);
        struct elf_header header;
        uint64_t sections_end;
        int r;

        if (object->n_bytes < ELF_HEADER_BYTES || object->n_bytes > JIT_OBJECTS_BYTES_MAX)
                return 0;
        r = process_memory_append(&memory, object->bytes_avma, object->n_bytes, bytes);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (elf_header_read(bytes->data, bytes->used_bytes, &header) < 0)
                return 0;
        sections_end = header.sections_off + (uint64_t)header.n_sections * ELF_HEADER_SECTION_BYTES;
        if (sections_end > object->n_bytes)
                return 0;
        r = hash_content(object, &header, bytes);
        if (r == 0)
                r = read_parts(object, &header, bytes->data);
        if (r == 0 && object->n_parts == 0)
                r = read_segments(object, &header);
        return r < 0 ? r : object->n_parts > 0;
}

/* ---- changes ------------------------------------------------------------------------------------------- */

/*
 * The program's list has the order of `objects`, or the reverse order if new objects are put at its
 * beginning: so the search starts beside the object that was found last, and goes on in both directions.
 */
static struct jit_object *find_object(struct jit_objects *list, const struct entry *entry)
{
        size_t place = list->place < list->n_objects ? list->place : list->n_objects;

        for (size_t distance = 0; distance <= list->n_objects; distance++) {
                size_t after = place + distance, before = place - distance;

                if (after < list->n_objects && list->objects[after].entry_avma == entry->avma)
                        list->place = after;
                else if (distance <= place && before < list->n_objects &&
                         list->objects[before].entry_avma == entry->avma)
                        list->place = before;
                else
                        continue;
                return &list->objects[list->place];
        }
        return NULL;
}

static int remove_object(struct jit_objects *list, struct jit_object *object,
                         const struct jit_objects_sink *sink)
{
        int r = object->n_parts > 0 ? sink->remove(sink->context, list, object) : 0;

        free(object->parts);
        *object = list->objects[--list->n_objects];
        return r;
}

/* An object without code is remembered as well; otherwise it would be read each time. */
static int add_object(struct jit_objects *list, const struct entry *entry,
                      const struct jit_objects_sink *sink)
{
        struct jit_object object = { .entry_avma = entry->avma,
                                     .bytes_avma = entry->bytes_avma,
                                     .n_bytes = entry->n_bytes,
                                     .is_seen = true };
        struct byte_buffer bytes = { .data = NULL };
        int r = array_reserve(&list->objects, &list->capacity, list->n_objects + 1, sizeof(object));

        object.mark = mark_of(list->pid, entry);
        if (r == 0)
                r = read_object(list->pid, &object, &bytes);
        if (r == 1)
                r = sink->add(sink->context, list, &object, &bytes);
        byte_buffer_deinit(&bytes);
        if (r < 0)
                free(object.parts);
        else
                list->objects[list->n_objects++] = object;
        return r;
}

/* New objects are put at the list's begin, so that is where reused memory may look like an old object. */
static bool is_same(uint32_t pid, const struct jit_object *object, const struct entry *entry, size_t place)
{
        return object->bytes_avma == entry->bytes_avma && object->n_bytes == entry->n_bytes &&
               (place >= MARKED || object->mark == mark_of(pid, entry));
}

bool jit_objects_go_takes(struct jit_objects_go *go, uint64_t now_ns)
{
        uint64_t way_ns = now_ns - go->began_ns;

        if (go->n_new == PACE_JIT_OBJECTS || (go->n_new > 0 && now_ns > go->until_ns))
                return false;
        if (go->n_new++ == 0)
                go->until_ns = now_ns + (way_ns > PACE_JIT_OBJECTS_NS ? way_ns : PACE_JIT_OBJECTS_NS);
        return true;
}

/*
 * Goes along the list.  Returns 1 at its end, 2 if it is too long, 0 if it was not followed to its end,
 * -ENOMEM.
 */
static int follow(struct jit_objects *list, uint64_t first_avma, const struct jit_objects_sink *sink)
{
        struct jit_objects_go go = { .began_ns = clock_raw_ns() };
        uint64_t at_avma = first_avma;
        int r = 0;

        for (size_t i = 0; i < JIT_OBJECTS_MAX && at_avma != 0; i++) {
                struct entry entry;
                struct jit_object *known;

                if (!read_entry(list->pid, at_avma, &entry))
                        return 0;
                known = find_object(list, &entry);
                if (known && known->is_seen)
                        return 1; /* a circle */
                if (known && is_same(list->pid, known, &entry, i)) {
                        known->is_seen = true;
                } else if (!jit_objects_go_takes(&go, clock_raw_ns())) {
                        return 0;
                } else {
                        if (known)
                                r = remove_object(list, known, sink);
                        if (r == 0)
                                r = add_object(list, &entry, sink);
                        if (r < 0)
                                return r;
                }
                at_avma = entry.next_avma;
        }
        return at_avma == 0 ? 1 : 2;
}

int jit_objects_update(struct jit_objects *list, const struct jit_objects_sink *sink)
{
        uint64_t first_avma, mark;
        int r;

        if (!read_descriptor(list, &first_avma, &mark) || mark == list->mark)
                return 0;
        for (size_t i = 0; i < list->n_objects; i++)
                list->objects[i].is_seen = false;
        r = follow(list, first_avma, sink);
        if (r <= 0)
                return r;
        for (size_t i = r == 1 ? list->n_objects : 0; i > 0 && r >= 0; i--)
                if (!list->objects[i - 1].is_seen)
                        r = remove_object(list, &list->objects[i - 1], sink);
        list->mark = mark;
        return r < 0 ? r : 0;
}
