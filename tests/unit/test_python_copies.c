/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/python_frames.bpf.c: which code objects it copies, of a stack of Python in our own memory, when
 * we wake another thread
 */
#include "base/error.h"
#include "sampler/python/python_functions.h"
#include "sampler/python/python_layout.h"
#include "sampler/python/python_source.h"
#include "tests/unit/unit_test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION_3_11      0x030b02f0
#define MAPS_MAX          16
#define FRAMES_MAX        64
#define FRAME_WORDS       12
#define FIRST_NAMESPACE   UINT64_C(0xeffffffc) /* inode of the PID namespace that BPF's numbers are of */
#define MEMORY_BYTES      (UINT64_C(1) << 22)
#define ALIGNED_TEXT_KIND (1 << 2 | 1 << 5 | 1 << 6)

/* Words of what CPython 3.11 has in memory. */
enum {
        THREADS = 2,
        NATIVE_ID = 20,
        CFRAME = 7,
        LINK = 1,
        CODE = 4,
        PREVIOUS = 6,
        CODE_FILE = 14,
        CODE_NAME = 15,
        CODE_QUALIFIED_NAME = 16,
        CODE_LINES = 17,
        TEXT_LENGTH = 2,
        TEXT_STATE = 4,
        TEXT_DATA = 6
};

/* A str that is also taken for a bytes. */
struct fake_text {
        uint64_t words[16];
};

struct fake_code {
        uint64_t words[23];
        struct fake_text file, name, lines;
};

struct fake_python {
        uint64_t first_interpreter, interpreter[16], thread[32], link[4];
        uint64_t frames[FRAMES_MAX][FRAME_WORDS];
};

static struct python_source *source;
static struct python_process *process;
static int program_fd = -1;
static unsigned cpu;
static struct fake_python python;
static uint8_t *memory; /* of code objects */

static bool uses_map(const struct bpf_prog_info *info, const uint32_t *maps, uint32_t map)
{
        for (uint32_t i = 0; i < info->nr_map_ids && i < MAPS_MAX; i++)
                if (maps[i] == map)
                        return true;
        return false;
}

/* The program of the source that runs when a thread wakes another. */
static int open_program(void)
{
        struct bpf_map_info map;
        uint32_t n_bytes = sizeof(map), id = 0;

        memset(&map, 0, sizeof(map));
        if (bpf_obj_get_info_by_fd(python_source_map(source), &map, &n_bytes) != 0)
                return -1;
        while (bpf_prog_get_next_id(id, &id) == 0) {
                uint32_t maps[MAPS_MAX] = { 0 };
                struct bpf_prog_info info;
                int fd = bpf_prog_get_fd_by_id(id);

                memset(&info, 0, sizeof(info));
                info.map_ids = (uintptr_t)maps;
                info.nr_map_ids = MAPS_MAX;
                n_bytes = sizeof(info);
                if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &n_bytes) == 0 &&
                    uses_map(&info, maps, map.id) && strcmp(info.name, "on_waking") == 0)
                        return fd;
                if (fd >= 0)
                        (void)close(fd);
        }
        return -1;
}

static uint64_t avma_of(const void *at)
{
        return (uintptr_t)at;
}

static void begin(int argc, char **argv)
{
        struct error err = ERROR_NONE;
        struct stat status;

        (void)argc;
        (void)argv;
        if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino != FIRST_NAMESPACE)
                unit_test_skip_all("a PID namespace of its own");
        if (python_source_begin(0, PYTHON_HOOK_WAITS, &source, &err) < 0 || /* rings as small as may be */
            python_source_finish(source, &err) < 0)
                unit_test_skip_all(err.text);
}

static void set_process(void)
{
        static const uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        struct python_layout layout;
        struct stat status;

        ck_assert_int_eq(stat("/proc/self/ns/pid", &status), 0);
        ck_assert_int_eq(python_layout_find(VERSION_3_11, head, &layout), 0);
        python_source_processes(source)->n_entered = 1;
        process = &python_source_processes(source)->slots[(uint32_t)getpid() & (PYTHON_SLOTS - 1)];
        *process = (struct python_process){ .owner_entry = layout.owner_entry,
                                            .serial = (uint64_t)getpid() << 32,
                                            .interpreters_avma = avma_of(&python.first_interpreter),
                                            .namespace_device = status.st_dev,
                                            .namespace_inode = status.st_ino,
                                            .offsets = layout.walk,
                                            .objects = layout.objects };
        python.first_interpreter = avma_of(python.interpreter);
        python.interpreter[THREADS] = avma_of(python.thread);
        python.thread[NATIVE_ID] = (uint64_t)gettid();
        python.thread[CFRAME] = avma_of(python.link);
        python.link[LINK] = avma_of(python.frames[0]);
}

static void put_text(struct fake_text *text, const char *words)
{
        text->words[TEXT_LENGTH] = strlen(words);
        text->words[TEXT_STATE] = ALIGNED_TEXT_KIND;
        memcpy(&text->words[TEXT_DATA], words, strlen(words));
}

/* Frame @i runs a code object at @at. */
static struct fake_code *put_code(uint32_t i, void *at)
{
        struct fake_code *code = at;
        char path[32];

        (void)snprintf(path, sizeof(path), "/srv/%u.py", i);
        memset(code, 0, sizeof(*code));
        put_text(&code->file, path);
        put_text(&code->name, "work");
        put_text(&code->lines, "lines");
        code->words[CODE_FILE] = avma_of(&code->file);
        code->words[CODE_NAME] = code->words[CODE_QUALIFIED_NAME] = avma_of(&code->name);
        code->words[CODE_LINES] = avma_of(&code->lines);
        python.frames[i][CODE] = avma_of(code);
        python.frames[i][PREVIOUS] = 0;
        if (i > 0)
                python.frames[i - 1][PREVIOUS] = avma_of(python.frames[i]);
        return code;
}

/* A wake-up.  Others, by interrupts, may come before and after, but the stack does not change meanwhile. */
static void wake(void)
{
        struct bpf_test_run_opts options = { .sz = sizeof(options) };

        __atomic_store_n(&process->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
        ck_assert_int_eq(bpf_prog_test_run_opts(program_fd, &options), 0);
        __atomic_store_n(&process->pid, 0, __ATOMIC_RELEASE);
}

static uint32_t n_copied;

static void count_copies(void *context, const struct python_copies *copies)
{
        struct python_raw_frame frame;

        (void)context;
        for (uint32_t i = 0; i < copies->n_frames; i++) {
                memcpy(&frame, copies->frames + i * sizeof(frame), sizeof(frame));
                n_copied += (frame.code & PYTHON_CODE_COPIED) != 0;
        }
}

/* Empties the ring.  Returns how many code objects were copied since the last time. */
static uint32_t take_copies(void)
{
        const struct python_copies_sink sink = { .take = count_copies };
        const struct python_sample_key key = { .cpu = cpu, .time_ns = UINT64_MAX };
        static struct python_sample sample;

        n_copied = 0;
        python_source_look(source);
        (void)python_source_find(source, &key, PYTHON_FLAG_SWITCH, &sink, &sample);
        python_source_look(source);
        return n_copied;
}

static uint32_t wake_and_take(void)
{
        wake();
        return take_copies();
}

/* Each case is a process of its own, here on one CPU, so that all is in one ring. */
static void setup(void)
{
        cpu_set_t cpus;

        cpu = (unsigned)sched_getcpu();
        CPU_ZERO(&cpus);
        CPU_SET(cpu, &cpus);
        ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
        memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert(memory != MAP_FAILED);
        program_fd = open_program();
        ck_assert_int_ge(program_fd, 0);
        set_process();
        (void)take_copies();
}

UNIT_TEST_PLAN(.always_forks = true, .begin = begin, .setup = setup);

START_TEST(test_code_is_copied_once)
{
        put_code(0, memory);
        put_code(1, memory + 4096);
        ck_assert_uint_eq(wake_and_take(), 2);
        ck_assert_uint_eq(wake_and_take(), 0);
        process->serial++; /* another program */
        ck_assert_uint_eq(wake_and_take(), 2);
}
END_TEST

/* All of its parts are where those of the one before were. */
START_TEST(test_code_in_the_place_of_other_code_is_copied)
{
        struct fake_code *code = put_code(0, memory);

        ck_assert_uint_eq(wake_and_take(), 1);
        put_text(&code->file, "/srv/1.py");
        ck_assert_uint_eq(wake_and_take(), 1);
        ck_assert_uint_eq(wake_and_take(), 0);
}
END_TEST

/* Eight wake-ups of which each copies.  Returns how many samples were lost. */
static uint64_t fill_ring(void)
{
        uint64_t n_lost = python_source_count_lost(source);

        (void)take_copies();
        for (int i = 0; i < 8; i++) {
                process->serial++;
                wake();
        }
        return python_source_count_lost(source) - n_lost;
}

/*
 * The frames of the samples until the ring is read are more important than names, which can be read later.
 * A wake-up in an interrupt of ours is lost, too: on slow machines that is frequent, but not always.
 */
START_TEST(test_copies_leave_half_of_the_ring_to_frames)
{
        uint32_t n_first;

        for (uint32_t i = 0; i < FRAMES_MAX; i++)
                put_code(i, memory + i * sizeof(struct fake_code));
        for (int n_tries = 1; fill_ring() > 0; n_tries++)
                ck_assert_int_lt(n_tries, 100);
        n_first = take_copies();
        ck_assert_uint_gt(n_first, 0);
        ck_assert_uint_lt(n_first, 8 * FRAMES_MAX);
        for (uint32_t n = 0, i = 0; n < FRAMES_MAX; i++) { /* the rest comes later */
                ck_assert_uint_lt(i, 8);
                process->serial += i == 0;
                n += wake_and_take();
        }
}
END_TEST

START_TEST(test_two_code_objects_may_share_a_slot)
{
        uint32_t slot = python_seen_slot(avma_of(memory), process->serial);
        uint8_t *other = memory + sizeof(struct fake_code);

        while (python_seen_slot(avma_of(other), process->serial) != slot)
                ck_assert((other += 8) < memory + MEMORY_BYTES - sizeof(struct fake_code));
        put_code(0, memory);
        put_code(1, other);
        ck_assert_uint_eq(wake_and_take(), 2);
        ck_assert_uint_eq(wake_and_take(), 0);
}
END_TEST
