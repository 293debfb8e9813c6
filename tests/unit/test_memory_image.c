/* SPDX-License-Identifier: MIT */
/*
 * An image that was put into memory without the loader is found from its code, and all of it
 * where the program has it.
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "format/trace_spec.h"
#include "sampler/images/image_identity.h"
#include "sampler/images/image_search.h"
#include "sampler/images/image_source.h"
#include "sampler/images/memory_image.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/image_reader.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROOM_BYTES  ((size_t)0x8000)
#define PAYLOAD_MAX (UINT64_C(1) << 24)
#define CONSTANT_AT 0x700 /* in the segment that can only be read */
#define COPY_SHIFT  24    /* a copy in the heap begins at no page */

/* However slow the machine is: searches end at what they look for, or at the end of memory. */
#ifndef __SANITIZE_ADDRESS__
#define SEARCH_NS (3600 * NS_PER_S)
#else
#define SEARCH_NS (20 * NS_PER_MS) /* whose memory takes minutes to search */
#endif

static struct made_image image;
static struct memory_image found;
static struct byte_buffer bytes;
static uint8_t *base;
static uint8_t *copy;
static struct image_identities ids;

static uint64_t address_of(const void *p)
{
        return (uint64_t)(uintptr_t)p;
}

/* The image that a process has no second time: what test is it of? */
static void make(bool has_build_id)
{
        struct made_image_options options = { .seed = (uint8_t)getpid(), .has_build_id = has_build_id };

        made_image_init(&image, &options);
}

static void setup(void)
{
        base = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert(base != MAP_FAILED);
        make(false);
        copy = NULL;
        UNIT_TEST_SPOIL(ids);
        image_identities_init(&ids);
}

static void teardown(void)
{
        (void)munmap(base, ROOM_BYTES);
        free(copy);
        byte_buffer_deinit(&bytes);
        image_identities_deinit(&ids);
}

static struct memory_image_place place_of_code(void)
{
        uint64_t start_avma = address_of(base) + MADE_IMAGE_CODE_SVMA;

        return (struct memory_image_place){ .pid = (uint32_t)getpid(),
                                            .start_avma = start_avma,
                                            .end_avma = start_avma + MADE_IMAGE_PAGE_BYTES,
                                            .avma = start_avma };
}

static int find(uint64_t search_ns)
{
        struct memory_image_place place = place_of_code();

        place.search_ns = search_ns;
        return memory_image_find(&place, &found);
}

static void keep_copy(void)
{
        copy = malloc(image.n_bytes + COPY_SHIFT);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy + COPY_SHIFT, image.bytes, image.n_bytes);
}

/* The test's own images must not be found. */
static void forget_image(void)
{
        memset(image.bytes, 0, sizeof(image.bytes));
}

/* The image is in memory, and is found. */
static void load(void)
{
        made_image_load(&image, base, false);
        ck_assert_int_eq(find(0), 1);
}

/* Beside its file in the heap, which begins at no page. */
static void load_beside_copy(void)
{
        keep_copy();
        load();
        forget_image();
}

static uint32_t read_all(void)
{
        struct code_source source;
        uint32_t kind = 0;

        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(source.read(source.source, PAYLOAD_MAX, &bytes, &kind, NULL), 0);
        source.free(source.source);
        return kind;
}

START_TEST(is_found_by_its_header)
{
        load();
        ck_assert_uint_eq(found.base_avma, address_of(base));
        ck_assert_uint_eq(found.header_avma, address_of(base));
        ck_assert_uint_eq(found.n_parts, 1);
        ck_assert_uint_eq(found.parts[0].start_avma, address_of(base) + MADE_IMAGE_CODE_SVMA);
        ck_assert_uint_eq(found.parts[0].end_avma - found.parts[0].start_avma, MADE_IMAGE_CODE_BYTES);
        ck_assert_uint_eq(found.parts[0].file_off, MADE_IMAGE_CODE_OFF);
        ck_assert_uint_eq(found.build_id_bytes, 0);
        ck_assert_uint_ne(found.content, 0);
}
END_TEST

START_TEST(is_the_same_wherever_it_lies)
{
        uint64_t content;

        load();
        content = found.content;
        memset(base, 0, ROOM_BYTES);
        base += MADE_IMAGE_PAGE_BYTES;
        load();
        base -= MADE_IMAGE_PAGE_BYTES;
        ck_assert_uint_eq(found.content, content);
        ck_assert_uint_eq(found.base_avma, address_of(base) + MADE_IMAGE_PAGE_BYTES);
}
END_TEST

START_TEST(tells_its_build_id)
{
        make(true);
        load();
        ck_assert_uint_eq(found.build_id_bytes, 20);
        ck_assert_uint_eq(found.build_id[19], (uint8_t)getpid());
}
END_TEST

START_TEST(its_bytes_have_its_build_id)
{
        make(true);
        load();
        ck_assert(memory_image_has_build_id(&found, image.bytes, image.n_bytes));
        ck_assert(
                !memory_image_has_build_id(&found, image.bytes, sizeof(Elf64_Ehdr))); /* cut off before it */
        found.build_id[19] ^= 1;
        ck_assert(!memory_image_has_build_id(&found, image.bytes, image.n_bytes));
        found.build_id_bytes = 0; /* it is known to have none */
        ck_assert(memory_image_has_build_id(&found, image.bytes, image.n_bytes));
}
END_TEST

/* Whatever lies behind the parts that it has. */
START_TEST(its_code_is_that_of_its_parts)
{
        load();
        found.parts[found.n_parts] = (struct memory_image_part){ .start_avma = 8, .end_avma = 16 };
        ck_assert(memory_image_has_code(&found, image.bytes, image.n_bytes));
        image.bytes[MADE_IMAGE_CODE_OFF + MADE_IMAGE_CODE_BYTES - 1] ^= 1;
        ck_assert(!memory_image_has_code(&found, image.bytes, image.n_bytes));
}
END_TEST

/* The pages between its segments cannot be read, as where a loader reserves memory first. */
START_TEST(gaps_do_not_hide_the_header)
{
        made_image_load(&image, base, false);
        ck_assert_int_eq(mprotect(base + MADE_IMAGE_PAGE_BYTES, MADE_IMAGE_PAGE_BYTES, PROT_NONE), 0);
        ck_assert_int_eq(find(0), 1);
        ck_assert_uint_eq(found.header_avma, address_of(base));
}
END_TEST

/* The header of other code lies below. */
START_TEST(another_header_is_none)
{
        made_image_load(&image, base, false);
        memset(base + MADE_IMAGE_CODE_SVMA, 0, MADE_IMAGE_CODE_BYTES);
        base += 2 * MADE_IMAGE_PAGE_BYTES;
        ck_assert_int_eq(find(0), 0);
        base -= 2 * MADE_IMAGE_PAGE_BYTES;
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
START_TEST(is_read_whole_from_the_heap)
{
        load_beside_copy();
        ck_assert_uint_eq(read_all(), TRACE_ATTACHMENT_MODULE_FILE);
        ck_assert_uint_eq(bytes.used_bytes, 0x1640 + 3 * sizeof(Elf64_Shdr));
        ck_assert_int_eq(memcmp(bytes.data, copy + COPY_SHIFT, bytes.used_bytes), 0);
}
END_TEST
#endif

#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
START_TEST(without_a_header_its_copy_tells)
{
        made_image_load(&image, base, true);
        keep_copy();
        forget_image();
        ck_assert_int_eq(find(0), 0);
        ck_assert_int_eq(find(SEARCH_NS), 1);
        ck_assert_uint_eq(found.copy_avma, address_of(copy) + COPY_SHIFT);
        ck_assert_uint_eq(found.base_avma, address_of(base));
        ck_assert_uint_eq(read_all(), TRACE_ATTACHMENT_MODULE_FILE);
        ck_assert_int_eq(memcmp(bytes.data, copy + COPY_SHIFT, bytes.used_bytes), 0);
}
END_TEST
#endif

/* The same code, and another name or constant beside it. */
START_TEST(constants_tell_images_apart)
{
        uint64_t content;

        load();
        content = found.content;
        ck_assert_int_eq(memory_image_is_unchanged(&found), 1);
        base[CONSTANT_AT] ^= 1;
        ck_assert_int_eq(memory_image_is_unchanged(&found), 0);
        ck_assert_int_eq(find(0), 1);
        ck_assert_uint_ne(found.content, content);
        base[CONSTANT_AT] ^= 1;
        base[MADE_IMAGE_DATA_SVMA] ^= 1; /* what can be written is another everywhere */
        ck_assert_int_eq(find(0), 1);
        ck_assert_uint_eq(found.content, content);
}
END_TEST

/* Another image was loaded there, with the same code.  The header is in no segment of constants. */
START_TEST(another_header_is_another_image)
{
        Elf64_Phdr segment;
        size_t at = offsetof(Elf64_Ehdr, e_flags), segment_at = sizeof(Elf64_Ehdr);

        memcpy(&segment, image.bytes + segment_at, sizeof(segment));
        ck_assert_uint_eq(segment.p_type, PT_LOAD);
        segment.p_flags |= PF_W;
        memcpy(image.bytes + segment_at, &segment, sizeof(segment));
        load();
        base[at] ^= 1;
        ck_assert_int_eq(memory_image_is_unchanged(&found), 0);
        base[at] ^= 1;
        ck_assert_int_eq(memory_image_is_unchanged(&found), 1);
        memset(base, 0, sizeof(Elf64_Ehdr));
        ck_assert_int_eq(memory_image_is_unchanged(&found), 0);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
#define UNMAPPED_AT 0x1603   /* in the names of sections */

START_TEST(other_constants_are_no_copy)
{
        made_image_load(&image, base, false);
        keep_copy();
        copy[COPY_SHIFT + CONSTANT_AT] ^= 1;
        forget_image();
        ck_assert_int_eq(find(0), 1);
        ck_assert_uint_eq(read_all(), TRACE_ATTACHMENT_MODULE_PARTS);
}
END_TEST

static uint64_t last_avma;

static struct image_identity identify_in(struct image_identities *of, uint64_t writable_bytes,
                                         bool is_wanted(const struct image_identity *))
{
        const struct image_identity_look look = { .image = &found,
                                                  .may_search = true,
                                                  .search_ns = SEARCH_NS,
                                                  .is_writable = writable_bytes > 0,
                                                  .whole_bytes_max = writable_bytes,
                                                  .near_avma = &last_avma };
        struct image_identity identity;

        byte_buffer_clear(&bytes);
        ck_assert_int_eq(image_identities_find(of, &look, &bytes, &identity), 0);
        ck_assert(is_wanted(&identity));
        return identity;
}

static struct image_identity identify(struct image_identities *of,
                                      bool is_wanted(const struct image_identity *))
{
        return identify_in(of, 0, is_wanted);
}

static bool is_whole(const struct image_identity *identity)
{
        (void)identity;
        return bytes.used_bytes > 0;
}

static bool is_ambiguous(const struct image_identity *identity)
{
        return identity->is_ambiguous && !identity->copy.is_sought;
}

/* Parts that are not mapped - lines, names of local functions - tell images apart as well. */
START_TEST(all_bytes_tell_images_apart)
{
        uint64_t first;

        load_beside_copy();
        first = identify(&ids, is_whole).content;
        ck_assert_uint_eq(identify(&ids, is_whole).content, first);
        copy[COPY_SHIFT + UNMAPPED_AT] ^= 1; /* the program has unloaded it, and loaded another one */
        ck_assert_uint_ne(identify(&ids, is_whole).content, first);
}
END_TEST

/*
 * Memory that is written unseen may hold the first or the second of two images: from then on its image is
 * known by what is mapped.  So is one whose whole is too large to be read at each look.
 */
START_TEST(what_can_be_written_is_known_by_an_only_whole)
{
        struct image_identity identity;

        load_beside_copy();
        ck_assert_uint_eq(identify_in(&ids, 1, is_ambiguous).copy.avma, 0);
        ck_assert_uint_eq(bytes.used_bytes, 0);
        identity = identify_in(&ids, PAYLOAD_MAX, is_whole);
        ck_assert(!identity.is_ambiguous);
        ck_assert_uint_eq(identity.copy.avma, address_of(copy) + COPY_SHIFT);
        ck_assert_int_eq(image_copy_is_unchanged(&identity.copy, &found), 1);
        copy[COPY_SHIFT + UNMAPPED_AT] ^= 1;
        ck_assert_int_eq(image_copy_is_unchanged(&identity.copy, &found), 0);
        identity = identify_in(&ids, PAYLOAD_MAX, is_ambiguous);
        ck_assert_uint_eq(bytes.used_bytes, 0);
        copy[COPY_SHIFT + UNMAPPED_AT] ^= 1;
        ck_assert_uint_eq(identify_in(&ids, PAYLOAD_MAX, is_ambiguous).content, identity.content);
}
END_TEST

/* The first is where it was; the second came beside it. */
START_TEST(a_second_whole_is_found)
{
        struct image_identity identity;
        uint8_t *other;

        load_beside_copy();
        identity = identify(&ids, is_whole);
        ck_assert_int_eq(image_copy_is_only(&identity.copy, &found, SEARCH_NS), 1);
        other = copy;
        copy = malloc(image.n_bytes + COPY_SHIFT);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy + COPY_SHIFT, other + COPY_SHIFT, image.n_bytes);
        copy[COPY_SHIFT + UNMAPPED_AT] ^= 1;
        ck_assert_int_eq(image_copy_is_only(&identity.copy, &found, SEARCH_NS), 0);
        ck_assert_int_eq(image_copy_is_unchanged(&identity.copy, &found), 1);
        free(other);
}
END_TEST

/* The image is looked at while there is no time to search for its whole. */
static struct image_identity identify_without_search(struct image_identities *of)
{
        const struct image_identity_look look = { .image = &found, .near_avma = &last_avma };
        struct image_identity identity;

        byte_buffer_clear(&bytes);
        ck_assert_int_eq(image_identities_find(of, &look, &bytes, &identity), 0);
        return identity;
}

/* Recordings that are merged may have the same PID and bytes: only a whole tells that two images are one. */
START_TEST(one_that_is_not_whole_is_its_recordings)
{
        struct image_identities others;

        image_identities_init(&others);
        load_beside_copy();
        ck_assert_uint_ne(identify_without_search(&ids).content, identify_without_search(&others).content);
        ck_assert_uint_eq(identify(&ids, is_whole).content, identify(&others, is_whole).content);
        image_identities_deinit(&others);
}
END_TEST

/* A copy of the whole that differs in what is not mapped. */
static void keep_twin(void)
{
        const uint8_t *first = copy;

        copy = malloc(image.n_bytes + COPY_SHIFT);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy + COPY_SHIFT, first + COPY_SHIFT, image.n_bytes);
        copy[COPY_SHIFT + UNMAPPED_AT] ^= 1;
}

/* An image was unloaded, and its whole stayed where it was; then one of the same mapped bytes was loaded. */
START_TEST(a_whole_that_stayed_is_not_the_next_image)
{
        uint8_t *first;

        load_beside_copy();
        (void)identify(&ids, is_whole);
        first = copy;
        keep_twin();
        (void)identify(&ids, is_ambiguous);
        ck_assert_uint_eq(bytes.used_bytes, 0);
        ck_assert(identify_without_search(&ids).is_ambiguous);
        free(first);
}
END_TEST

/* A program that loads an image again and again, faster than all of its memory can be searched. */
START_TEST(an_image_that_is_loaded_again_has_its_names)
{
        uint64_t number;

        load_beside_copy();
        number = identify(&ids, is_whole).content;
        for (int i = 0; i < 40; i++) {
                struct image_identity identity;

                last_avma = 0; /* or where another image was found */
                identity = identify_without_search(&ids);
                ck_assert_uint_eq(identity.content, number);
                ck_assert(!identity.is_ambiguous);
                ck_assert_uint_eq(bytes.used_bytes, image.n_bytes);
        }
}
END_TEST

/* Two that are alike were seen, one after the other: which of them it is needs a search. */
START_TEST(of_two_that_were_seen_neither_is_taken_unsearched)
{
        uint64_t number;

        load_beside_copy();
        number = identify(&ids, is_whole).content;
        copy[COPY_SHIFT + UNMAPPED_AT] ^= 1;
        ck_assert_uint_ne(identify_without_search(&ids).content, number); /* another one lies where it was */
        ck_assert(identify_without_search(&ids).is_ambiguous);
        ck_assert_uint_eq(bytes.used_bytes, 0);
}
END_TEST

START_TEST(of_two_wholes_it_is_none)
{
        uint8_t *other;

        made_image_load(&image, base, false);
        keep_copy();
        other = copy;
        other[COPY_SHIFT + UNMAPPED_AT] ^= 1;
        keep_copy();
        forget_image();
        ck_assert_int_eq(find(0), 1);
        (void)identify(&ids, is_ambiguous);
        ck_assert_uint_eq(bytes.used_bytes, 0);
        free(other);
}
END_TEST
#endif

/* One byte of the code is another one. */
START_TEST(other_code_is_no_copy)
{
        made_image_load(&image, base, true);
        keep_copy();
        forget_image();
        base[MADE_IMAGE_CODE_SVMA + MADE_IMAGE_CODE_BYTES - 1] ^= 1;
        ck_assert_int_eq(find(SEARCH_NS), 0);
}
END_TEST

/* A linker may put its names of sections behind the headers; all of that is within the limit, or nothing. */
START_TEST(sections_behind_their_headers_are_read)
{
        const struct image_search_limits none = { .bytes_max = 0 };
        const size_t header_at = 0x1640 + 2 * sizeof(Elf64_Shdr), names_at = 0x1640 + 3 * sizeof(Elf64_Shdr);
        struct code_source source;
        Elf64_Shdr names;
        uint64_t avma = 0;

        make(true);
        memcpy(&names, image.bytes + header_at, sizeof(names));
        memcpy(image.bytes + names_at, image.bytes + names.sh_offset, names.sh_size);
        names.sh_offset = names_at;
        memcpy(image.bytes + header_at, &names, sizeof(names));
        image.n_bytes = names_at + names.sh_size;
        load_beside_copy();
        found.copy_avma = address_of(copy) + COPY_SHIFT;
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(image_source_search(source.source, &none, image.n_bytes - 1, &bytes, &avma), 0);
        ck_assert_uint_eq(bytes.used_bytes, 0);
        ck_assert_int_eq(image_source_search(source.source, &none, image.n_bytes, &bytes, &avma), 1);
        ck_assert_uint_eq(avma, found.copy_avma);
        ck_assert_uint_eq(bytes.used_bytes, image.n_bytes);
        ck_assert_mem_eq(bytes.data, copy + COPY_SHIFT, image.n_bytes);
        source.free(source.source);
}
END_TEST

START_TEST(what_is_mapped_is_put_together)
{
        struct elf_image *elf;
        uint64_t svma;

        load();
        forget_image();
        ck_assert_uint_eq(read_all(), TRACE_ATTACHMENT_MODULE_PARTS);
        ck_assert_int_eq(
                memcmp(bytes.data + MADE_IMAGE_CODE_OFF, base + MADE_IMAGE_CODE_SVMA, MADE_IMAGE_CODE_BYTES),
                0);
        ck_assert_int_eq(elf_image_open_memory(bytes.data, bytes.used_bytes, &elf, NULL), 0);
        ck_assert(elf_image_find_svma(elf, MADE_IMAGE_CODE_OFF, &svma));
        ck_assert_uint_eq(svma, MADE_IMAGE_CODE_SVMA);
        elf_image_close(elf);
}
END_TEST

START_TEST(limits_and_ends_are_said)
{
        struct byte_buffer out = { .data = NULL };
        struct code_source source;
        uint32_t kind;

        load();
        forget_image();
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(source.read(source.source, 64, &out, &kind, NULL), -EFBIG);
        ck_assert_int_eq(munmap(base, ROOM_BYTES), 0);
        ck_assert_int_eq(source.read(source.source, PAYLOAD_MAX, &out, &kind, NULL), -ENOENT);
        ck_assert_uint_eq(out.used_bytes, 0);
        ck_assert_int_eq(find(SEARCH_NS), 0);
        source.free(source.source);
        byte_buffer_deinit(&out);
        base = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
END_TEST

/* Bytes that were read at once stay, whatever becomes of the memory; and their copy is found by them. */
START_TEST(what_is_held_outlives_its_memory)
{
        struct code_source source;
        uint32_t kind = 0;

        load();
        forget_image();
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_uint_eq(image_source_held(source.source)->used_bytes, 0);
        ck_assert_int_eq(image_source_hold(source.source, 64), -EFBIG);
        ck_assert_uint_eq(image_source_held(source.source)->used_bytes, 0);
        ck_assert_int_eq(image_source_hold(source.source, PAYLOAD_MAX), 0);
        memset(base, 0, ROOM_BYTES);
        ck_assert_int_eq(source.read(source.source, PAYLOAD_MAX, &bytes, &kind, NULL), 0);
        ck_assert_uint_eq(kind, TRACE_ATTACHMENT_MODULE_PARTS);
        ck_assert_uint_ge(bytes.used_bytes, MADE_IMAGE_CODE_OFF + MADE_IMAGE_CODE_BYTES);
        source.free(source.source);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
START_TEST(a_copy_is_found_when_its_image_is_gone)
{
        struct image_search_limits limits = { .bytes_max = UINT64_MAX, .until_ns = UINT64_MAX };
        struct code_source source;
        uint64_t avma = 0;

        load_beside_copy();
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(image_source_hold(source.source, PAYLOAD_MAX), 0);
        memset(base, 0, ROOM_BYTES);
        ck_assert_int_eq(image_source_search(source.source, &limits, PAYLOAD_MAX, &bytes, &avma), 1);
        ck_assert_uint_eq(avma, address_of(copy) + COPY_SHIFT);
        ck_assert_int_eq(memcmp(bytes.data, copy + COPY_SHIFT, bytes.used_bytes), 0);
        memset(bytes.data, 0, bytes.used_bytes);
        copy[COPY_SHIFT + MADE_IMAGE_CODE_OFF] ^= 1; /* of other code it is no copy */
        limits.bytes_max = UINT64_C(1) << 28;
        ck_assert_int_eq(image_source_search(source.source, &limits, PAYLOAD_MAX, &bytes, &avma), 0);
        source.free(source.source);
}
END_TEST
#endif

#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
/* Another image with the same header lies there by now, and the program has that one whole as well. */
START_TEST(a_copy_of_what_came_later_is_none)
{
        const struct made_image_options other = { .seed = (uint8_t)(getpid() + 1) };
        struct code_source source;
        uint32_t kind = 0;

        load();
        made_image_init(&image, &other);
        made_image_load(&image, base, false);
        keep_copy();
        forget_image();
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(source.read(source.source, PAYLOAD_MAX, &bytes, &kind, NULL), -ENOENT);
        source.free(source.source);
}
END_TEST

/* The whole image is known by its code, also when nothing is mapped any more. */
START_TEST(a_copy_is_known_when_nothing_is_held)
{
        load_beside_copy();
        memset(base, 0, ROOM_BYTES);
        ck_assert_uint_eq(read_all(), TRACE_ATTACHMENT_MODULE_FILE);
        ck_assert_int_eq(memcmp(bytes.data, copy + COPY_SHIFT, bytes.used_bytes), 0);
}
END_TEST

/* The same code with another build-id. */
START_TEST(a_copy_of_another_build_id_is_none)
{
        struct code_source source;
        uint32_t kind = 0;

        make(true);
        load();
        found.build_id[3] ^= 1;
        keep_copy();
        forget_image();
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(source.read(source.source, PAYLOAD_MAX, &bytes, &kind, NULL), 0);
        ck_assert_uint_eq(kind, TRACE_ATTACHMENT_MODULE_PARTS);
        source.free(source.source);
}
END_TEST
#endif

/* Its code is another one than when it was found. */
START_TEST(what_has_changed_is_not_held)
{
        struct code_source source;

        load();
        forget_image();
        base[MADE_IMAGE_CODE_SVMA] ^= 1;
        ck_assert_int_eq(image_source_new(&found, &source), 0);
        ck_assert_int_eq(image_source_hold(source.source, PAYLOAD_MAX), -EFAULT);
        source.free(source.source);
}
END_TEST

/* The first result of a search with these limits in the test's own memory, as image_search_next() has it. */
static int search_once(const struct image_search_limits *limits, struct image_search_hit *ret_hit)
{
        struct process_memory memory = process_memory_of((uint32_t)getpid());
        struct image_search *search;
        int r;

        ck_assert_int_eq(image_search_new(&memory, limits, &search), 0);
        r = image_search_next(search, ret_hit);
        image_search_free(search);
        return r;
}

/* Around the place that is named, before all that lies below it. */
START_TEST(a_search_begins_near_a_place)
{
        struct image_search_limits limits = { .bytes_max = UINT64_MAX, .until_ns = UINT64_MAX };
        struct image_search_hit hit;
        uint8_t *page = mmap(NULL, MADE_IMAGE_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                             -1, 0);

        ck_assert(page != MAP_FAILED);
        keep_copy();
        memcpy(page, image.bytes, image.n_bytes);
        limits.near_avma = address_of(page);
        ck_assert_int_eq(search_once(&limits, &hit), 1);
        ck_assert_uint_eq(hit.avma, address_of(page));
        ck_assert_int_eq(munmap(page, MADE_IMAGE_BYTES_MAX), 0);
}
END_TEST

/* A thread that waits for its turn has not searched in that time. */
START_TEST(a_search_counts_processor_time)
{
        const struct timespec longer_than_limit = { .tv_nsec = (long)(210 * NS_PER_MS) };
        struct image_search_limits limits = { .bytes_max = UINT64_MAX };
        struct process_memory memory = process_memory_of((uint32_t)getpid());
        struct image_search *search;
        struct image_search_hit hit;

        keep_copy();
        limits.near_avma = address_of(copy);
        limits.until_thread_ns = clock_thread_ns() + 200 * NS_PER_MS;
        ck_assert_int_eq(image_search_new(&memory, &limits, &search), 0);
        ck_assert_int_eq(nanosleep(&longer_than_limit, NULL), 0);
        ck_assert_int_eq(image_search_next(search, &hit), 1);
        image_search_free(search);
        limits.until_thread_ns = clock_thread_ns();
        ck_assert_int_eq(search_once(&limits, &hit), 0);
}
END_TEST

START_TEST(a_search_keeps_its_limits)
{
        const struct image_search_limits none = { .bytes_max = 0, .until_ns = UINT64_MAX };
        const struct image_search_limits over = { .bytes_max = UINT64_MAX, .until_ns = 1 };
        struct image_search_hit hit;

        keep_copy();
        ck_assert_int_eq(search_once(&none, &hit), 0);
        ck_assert_int_eq(search_once(&over, &hit), 0);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
START_TEST(a_search_may_go_on_in_the_heap_alone)
{
        const struct image_search_limits all = { .bytes_max = UINT64_MAX, .until_ns = UINT64_MAX };
        struct process_memory memory = process_memory_of((uint32_t)getpid());
        struct image_search *search;
        struct image_search_hit hit;

        keep_copy();
        ck_assert_int_eq(image_search_new(&memory, &all, &search), 0);
        ck_assert_int_eq(image_search_next(search, &hit), 1);
        ck_assert(!image_search_has_heap(search));
#ifndef __SANITIZE_ADDRESS__ /* whose memory takes minutes to search */
        image_search_go_on_in_heap(search, UINT64_MAX / 2);
        while (image_search_next(search, &hit) == 1)
                ck_assert(!image_search_has_heap(search)); /* not in files */
        ck_assert(image_search_has_heap(search));
#endif
        image_search_free(search);
}
END_TEST
#endif

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
