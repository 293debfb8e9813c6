/* SPDX-License-Identifier: MIT */
/*
 * w_jit_heirs dump|map|exec FOLDER - one process has named code at an address; another, called "heir", has
 * its own code there
 *
 * dump    both go on with one jitdump in FOLDER, whose records say of which process they are: "old_code" and
 *         "heir_code"
 * map     the heir is forked first; then the map names "old_code", where it has code without a name
 * exec    the heir is the next program of the process, and has code without a name; the map names "old_code"
 * Each runs its code for half a second of processor time.  Exit status 2: there is no machine code for this
 * machine.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CODE_BYTES 4096
#define AT_AVMA    UINT64_C(0x510000000) /* the same in the next program */
#define NS_PER_S   UINT64_C(1000000000)

/* Counts its argument down to nothing. */
#if defined(__x86_64__)
static const uint8_t machine_code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
static const uint8_t machine_code[] = {
        0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6
};
#else
static const uint8_t machine_code[] = { 0 };
#endif

static uint8_t *place;

static void put_code(void)
{
        if (mprotect(place, CODE_BYTES, PROT_READ | PROT_WRITE) < 0)
                exit(EXIT_FAILURE);
        memcpy(place, machine_code, sizeof(machine_code));
        __builtin___clear_cache((char *)place, (char *)place + sizeof(machine_code));
        if (mprotect(place, CODE_BYTES, PROT_READ | PROT_EXEC) < 0)
                exit(EXIT_FAILURE);
}

static uint64_t heirs_now_ns(clockid_t clock)
{
        struct timespec t;

        (void)clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void run_code(void)
{
        void (*function)(uint64_t);
        uint64_t end_ns = heirs_now_ns(CLOCK_THREAD_CPUTIME_ID) + NS_PER_S / 2;

        memcpy(&function, &place, sizeof(function));
        while (heirs_now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                function(100000);
}

/* ---- a jitdump ----------------------------------------------------------------------------------------- */

static void put_words(FILE *file, uint32_t a, uint32_t b)
{
        const uint32_t words[] = { a, b };

        (void)fwrite(words, sizeof(words), 1, file);
}

static void put_number(FILE *file, uint64_t number)
{
        (void)fwrite(&number, sizeof(number), 1, file);
}

static FILE *begin_dump(const char *folder)
{
        char path[4096];
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, getpid());
        file = fopen(path, "we+");
        if (!file)
                exit(EXIT_FAILURE);
        put_words(file, 0x4a695444, 1);
        put_words(file, 40, 0);
        put_words(file, 0, (uint32_t)getpid());
        put_number(file, heirs_now_ns(CLOCK_MONOTONIC));
        put_number(file, 0);
        (void)fflush(file);
        if (mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
                exit(EXIT_FAILURE);
        return file;
}

static void add_load(FILE *file, const char *name)
{
        put_words(file, 0, (uint32_t)(16 + 40 + strlen(name) + 1));
        put_number(file, heirs_now_ns(CLOCK_MONOTONIC));
        put_words(file, (uint32_t)getpid(), (uint32_t)getpid());
        put_number(file, (uint64_t)(uintptr_t)place);
        put_number(file, (uint64_t)(uintptr_t)place);
        put_number(file, sizeof(machine_code));
        put_number(file, 1);
        (void)fwrite(name, strlen(name) + 1, 1, file);
        (void)fflush(file);
}

/* ---- a map --------------------------------------------------------------------------------------------- */

static void write_map(void)
{
        char path[64];
        FILE *file;

        (void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
        file = fopen(path, "we");
        if (!file)
                exit(EXIT_FAILURE);
        (void)fprintf(file, "%lx %zx old_code\n", (unsigned long)(uintptr_t)place, sizeof(machine_code));
        (void)fclose(file);
}

static void remove_map(void)
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
        (void)unlink(path);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static void be_heir(void)
{
        (void)prctl(PR_SET_NAME, "heir");
        put_code();
}

/* Both are named by one dump. */
static void share_dump(const char *folder)
{
        FILE *dump = begin_dump(folder);
        pid_t child;

        put_code();
        add_load(dump, "old_code");
        child = fork();
        if (child == 0) {
                be_heir();
                add_load(dump, "heir_code");
        }
        run_code();
        if (child == 0)
                _exit(EXIT_SUCCESS);
        (void)waitpid(child, NULL, 0);
        run_code();
}

static void fork_first(void)
{
        pid_t child = fork();

        if (child == 0) {
                be_heir();
                run_code();
                _exit(EXIT_SUCCESS);
        }
        put_code();
        write_map();
        run_code();
        (void)waitpid(child, NULL, 0);
        remove_map();
}

int main(int argc, char **argv)
{
        bool is_next = argc == 3 && strcmp(argv[1], "next") == 0;

        if (argc != 3)
                return EXIT_FAILURE;
        if (sizeof(machine_code) == 1)
                return 2;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): the address is the point */
        place = mmap((void *)(uintptr_t)AT_AVMA, CODE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (place == MAP_FAILED)
                return EXIT_FAILURE;
        if (is_next) {
                be_heir();
                run_code();
                remove_map();
                return EXIT_SUCCESS;
        }
        if (strcmp(argv[1], "dump") == 0) {
                share_dump(argv[2]);
                return EXIT_SUCCESS;
        }
        put_code(); /* there is code before the fork, too */
        if (strcmp(argv[1], "map") == 0) {
                fork_first();
                return EXIT_SUCCESS;
        }
        write_map();
        run_code();
        (void)execl("/proc/self/exe", "heir", "next", argv[2], NULL);
        return EXIT_FAILURE;
}
