/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_layout.h"

#include <errno.h>
#include <string.h>

#define MINOR_OF(version) ((version) >> 16)
#define OFFSET_MAX        16384 /* no struct of an interpreter that we read from is larger */

#define GIL_BYTES 208 /* of struct _gil_runtime_state, 3.11 to 3.13 */

static const struct python_layout layout_of_3_11 = {
        .walk = { .interpreter_next = 0,
                  .interpreter_threads = 16,
                  .thread_next = 8,
                  .thread_native_id = 160,
                  .thread_frame = 56,
                  .link_frame = 8,
                  .frame_code = 32,
                  .frame_previous = 48,
                  .frame_instruction = 56,
                  .frame_owner = 69,
                  .frame_is_entry = 68,
                  .interpreter_gil = PYTHON_NO_OFFSET,
                  .gil_holder = 8,
                  .gil_locked = 16,
                  .gil_switches = 24,
                  .gil_bytes = GIL_BYTES,
                  .code_identity = 128 },
        .owner_entry = 255,
        .interpreters = 40,
        .current = 576,
        .gil = 360,
        .objects = { .code_file = 112,
                     .code_name = 128,
                     .code_lines = 136,
                     .code_first_line = 72,
                     .code_instructions = 184,
                     .bytes_length = 16,
                     .bytes_data = 32,
                     .text_length = 16,
                     .text_state = 32,
                     .text_ascii = 48,
                     .text_wide = 72 },
};

static const struct python_layout layout_of_3_12 = {
        .walk = { .interpreter_next = 0,
                  .interpreter_threads = 72,
                  .thread_next = 8,
                  .thread_native_id = 144,
                  .thread_frame = 56,
                  .link_frame = 0,
                  .frame_code = 0,
                  .frame_previous = 8,
                  .frame_instruction = 56,
                  .frame_owner = 70,
                  .frame_is_entry = PYTHON_NO_OFFSET,
                  .interpreter_gil = 384,
                  .gil_holder = 8,
                  .gil_locked = 16,
                  .gil_switches = 24,
                  .gil_bytes = GIL_BYTES,
                  .code_identity = 128 },
        .owner_entry = 3,
        .interpreters = 40,
        .objects = { .code_file = 112,
                     .code_name = 128,
                     .code_lines = 136,
                     .code_first_line = 68,
                     .code_instructions = 192,
                     .bytes_length = 16,
                     .bytes_data = 32,
                     .text_length = 16,
                     .text_state = 32,
                     .text_ascii = 40,
                     .text_wide = 56 },
};

/* The words of 3.13's struct _Py_DebugOffsets that are used, by their numbers. */
enum debug_word {
        WORD_COOKIE = 0,
        WORD_VERSION = 1,
        WORD_FREE_THREADED = 2,
        WORD_INTERPRETERS = 5,
        WORD_INTERPRETER_NEXT = 8,
        WORD_INTERPRETER_THREADS = 9,
        WORD_INTERPRETER_GIL = 14,
        WORD_GIL = 15,
        WORD_GIL_LOCKED = 17,
        WORD_GIL_HOLDER = 18,
        WORD_THREAD_NEXT = 21,
        WORD_THREAD_FRAME = 23,
        WORD_THREAD_NATIVE_ID = 25,
        WORD_FRAME_SIZE = 28,
        WORD_FRAME_PREVIOUS = 29,
        WORD_FRAME_CODE = 30,
        WORD_FRAME_INSTRUCTION = 31,
        WORD_FRAME_OWNER = 33,
        WORD_CODE_FILE = 35,
        WORD_CODE_NAME = 37,
        WORD_CODE_LINES = 38,
        WORD_CODE_FIRST_LINE = 39,
        WORD_CODE_INSTRUCTIONS = 43,
        WORD_BYTES_LENGTH = 65,
        WORD_BYTES_DATA = 66,
        WORD_TEXT_STATE = 68,
        WORD_TEXT_LENGTH = 69,
        WORD_TEXT_ASCII = 70,
        DEBUG_WORDS = 73
};

#define WIDE_EXTRA_BYTES \
        16 /* PyCompactUnicodeObject has the length and the pointer of its UTF-8 behind its base */

#define GIL_SWITCHES_AFTER_BYTES 8 /* the count follows `locked`, an int, where it is aligned */

_Static_assert(DEBUG_WORDS * sizeof(uint64_t) <= PYTHON_LAYOUT_HEAD_BYTES, "all of them are in the head");

static uint16_t offset_at(const uint64_t *words, enum debug_word word, uint64_t max, int *wrong)
{
        *wrong |= words[word] >= max;
        return (uint16_t)words[word];
}

/* Members of the main interpreter's GIL are given from the beginning of the interpreter. */
static uint16_t offset_in_gil(const uint64_t *words, enum debug_word word, int *wrong)
{
        *wrong |= words[word] < words[WORD_GIL] || words[word] - words[WORD_GIL] >= GIL_BYTES;
        return (uint16_t)(words[word] - words[WORD_GIL]);
}

static int read_debug_offsets(const uint8_t *head, struct python_layout *ret_layout)
{
        const uint64_t frame_max = PYTHON_FRAME_BYTES - sizeof(uint64_t) + 1;
        struct python_layout *l = ret_layout;
        uint64_t words[DEBUG_WORDS];
        int wrong = 0;

        memcpy(words, head, sizeof(words));
        if (memcmp(head, "xdebugpy", sizeof(uint64_t)) != 0)
                return -EBADMSG;
        if (words[WORD_FREE_THREADED] != 0)
                return -ENOTSUP;
        *l = (struct python_layout){ .owner_entry = 3 };
        l->interpreters = offset_at(words, WORD_INTERPRETERS, OFFSET_MAX, &wrong);
        l->walk.interpreter_next = offset_at(words, WORD_INTERPRETER_NEXT, OFFSET_MAX, &wrong);
        l->walk.interpreter_threads = offset_at(words, WORD_INTERPRETER_THREADS, OFFSET_MAX, &wrong);
        l->walk.thread_next = offset_at(words, WORD_THREAD_NEXT, OFFSET_MAX, &wrong);
        l->walk.thread_native_id = offset_at(words, WORD_THREAD_NATIVE_ID, OFFSET_MAX, &wrong);
        l->walk.thread_frame = offset_at(words, WORD_THREAD_FRAME, OFFSET_MAX, &wrong);
        l->walk.link_frame = PYTHON_NO_OFFSET;
        l->walk.frame_previous = offset_at(words, WORD_FRAME_PREVIOUS, frame_max, &wrong);
        l->walk.frame_code = offset_at(words, WORD_FRAME_CODE, frame_max, &wrong);
        l->walk.frame_instruction = offset_at(words, WORD_FRAME_INSTRUCTION, frame_max, &wrong);
        l->walk.frame_owner = offset_at(words, WORD_FRAME_OWNER, frame_max, &wrong);
        l->walk.frame_is_entry = PYTHON_NO_OFFSET;
        l->walk.interpreter_gil = offset_at(words, WORD_INTERPRETER_GIL, OFFSET_MAX, &wrong);
        l->walk.gil_holder = offset_in_gil(words, WORD_GIL_HOLDER, &wrong);
        l->walk.gil_locked = offset_in_gil(words, WORD_GIL_LOCKED, &wrong);
        l->walk.gil_switches = (uint16_t)(l->walk.gil_locked + GIL_SWITCHES_AFTER_BYTES);
        l->walk.gil_bytes = GIL_BYTES;
        l->walk.code_identity = offset_at(words, WORD_CODE_NAME, OFFSET_MAX, &wrong);
        l->objects.code_file = offset_at(words, WORD_CODE_FILE, OFFSET_MAX, &wrong);
        l->objects.code_name = offset_at(words, WORD_CODE_NAME, OFFSET_MAX, &wrong);
        l->objects.code_lines = offset_at(words, WORD_CODE_LINES, OFFSET_MAX, &wrong);
        l->objects.code_first_line = offset_at(words, WORD_CODE_FIRST_LINE, OFFSET_MAX, &wrong);
        l->objects.code_instructions = offset_at(words, WORD_CODE_INSTRUCTIONS, OFFSET_MAX, &wrong);
        l->objects.bytes_length = offset_at(words, WORD_BYTES_LENGTH, OFFSET_MAX, &wrong);
        l->objects.bytes_data = offset_at(words, WORD_BYTES_DATA, OFFSET_MAX, &wrong);
        l->objects.text_state = offset_at(words, WORD_TEXT_STATE, OFFSET_MAX, &wrong);
        l->objects.text_length = offset_at(words, WORD_TEXT_LENGTH, OFFSET_MAX, &wrong);
        l->objects.text_ascii = offset_at(words, WORD_TEXT_ASCII, OFFSET_MAX, &wrong);
        l->objects.text_wide = (uint16_t)(l->objects.text_ascii + WIDE_EXTRA_BYTES);
        return wrong ? -EBADMSG : 0;
}

int python_layout_find(uint64_t version, const uint8_t *head, struct python_layout *ret_layout)
{
        switch (MINOR_OF(version)) {
        case 0x030b:
                *ret_layout = layout_of_3_11;
                return 0;
        case 0x030c:
                *ret_layout = layout_of_3_12;
                return 0;
        case 0x030d:
                return read_debug_offsets(head, ret_layout);
        default:
                return -ENOTSUP;
        }
}
