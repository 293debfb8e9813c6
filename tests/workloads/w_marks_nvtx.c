/* SPDX-License-Identifier: MIT */
/*
 * w_marks_nvtx - acts as a program with NVTX: it loads the library that NVTX_INJECTION64_PATH names, hands
 * it tables of slots, and calls what it finds there.  The layouts are declared here from NVTX's
 * documentation.
 *
 *      w_marks_nvtx N     N times two domains, in two threads and a child; then prints what it did
 *      w_marks_nvtx lie   states tables that it does not have, and goes on
 */
#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#define N_SLOTS 16

enum { CORE = 1, CORE2 = 5, CALLBACKS = 1 };
enum { ASCII = 1, REGISTERED = 3 };
enum { COLOR_ARGB = 1, PAYLOAD_I64 = 2, PAYLOAD_F64 = 3 };

struct attributes {
        uint16_t version, size;
        uint32_t category;
        int32_t color_type;
        uint32_t color;
        int32_t payload_type, reserved;
        union {
                int64_t number;
                double real;
        } payload;
        int32_t message_type;
        const void *message;
};

typedef void function(void);

static function *core[N_SLOTS], *core2[N_SLOTS];
static function **core_slots[N_SLOTS + 1], **core2_slots[N_SLOTS + 1];
static int is_lying;

static int get_table(uint32_t module, function ****ret_slots, unsigned *ret_n)
{
        if (module != CORE && module != CORE2)
                return 0;
        *ret_slots = module == CORE ? core_slots : core2_slots;
        if (is_lying)
                *ret_slots = (function ***)16; /* nothing is there */
        *ret_n = N_SLOTS;
        return 1;
}

static const void *get_export_table(uint32_t table)
{
        static const struct {
                size_t bytes;
                int (*get)(uint32_t, function ****, unsigned *);
        } callbacks = { sizeof(callbacks), get_table };

        return table == CALLBACKS ? &callbacks : NULL;
}

static int attach(void)
{
        const char *path = getenv("NVTX_INJECTION64_PATH");
        void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
        int (*begin)(const void *(*)(uint32_t)) = NULL;

        for (int i = 1; i < N_SLOTS; i++) {
                core_slots[i] = &core[i];
                core2_slots[i] = &core2[i];
        }
        if (library)
                *(void **)&begin = dlsym(library, "InitializeInjectionNvtx2");
        return begin ? begin(get_export_table) : 0;
}

/* The calls of NVTX's own headers: nothing happens where a slot is empty. */
#define CALL(table, slot, type, ...) ((table)[slot] ? ((type)(table)[slot])(__VA_ARGS__) : 0)

static void mark_a(const char *text)
{
        if (core[2])
                ((void (*)(const char *))core[2])(text);
}

static uint64_t start_a(const char *text)
{
        return CALL(core, 5, uint64_t(*)(const char *), text);
}

static void end(uint64_t id)
{
        if (core[7])
                ((void (*)(uint64_t))core[7])(id);
}

static int push_a(const char *text)
{
        return CALL(core, 9, int (*)(const char *), text);
}

static int push_w(const wchar_t *text)
{
        return CALL(core, 10, int (*)(const wchar_t *), text);
}

static int pop(void)
{
        return core[11] ? ((int (*)(void))core[11])() : 0;
}

static void name_thread(const char *name)
{
        if (core[14])
                ((void (*)(uint32_t, const char *))core[14])((uint32_t)syscall(SYS_gettid), name);
}

static void domain_mark(void *domain, const struct attributes *a)
{
        if (core2[1])
                ((void (*)(void *, const struct attributes *))core2[1])(domain, a);
}

static int domain_push(void *domain, const struct attributes *a)
{
        return CALL(core2, 4, int (*)(void *, const struct attributes *), domain, a);
}

static int domain_pop(void *domain)
{
        return CALL(core2, 5, int (*)(void *), domain);
}

static void name_category(void *domain, uint32_t category, const char *name)
{
        if (core2[8])
                ((void (*)(void *, uint32_t, const char *))core2[8])(domain, category, name);
}

static void *register_string(void *domain, const char *text)
{
        return core2[10] ? ((void *(*)(void *, const char *))core2[10])(domain, text) : NULL;
}

static void *create_domain(const char *name)
{
        return core2[12] ? ((void *(*)(const char *))core2[12])(name) : NULL;
}

static void *end_ranges(void *ids)
{
        name_thread("ender");
        for (uint64_t *id = ids; *id != 0; id++)
                end(*id);
        return NULL;
}

/* The child has the ranges of its parent as well; they are not its own. */
static void fork_once(void)
{
        pid_t child;

        (void)fflush(stdout);
        child = fork();
        if (child == 0) {
                uint64_t id = start_a("of the child");

                end(id);
                exit(0);
        }
        if (child > 0)
                (void)waitpid(child, NULL, 0);
}

static void run(int n)
{
        void *domain = create_domain("a domain"), *string = register_string(domain, "registered");
        struct attributes a = { .version = 3,
                                .size = sizeof(a),
                                .category = 3,
                                .color_type = COLOR_ARGB,
                                .color = 0xff112233,
                                .payload_type = PAYLOAD_I64,
                                .payload = { .number = -5 },
                                .message_type = REGISTERED,
                                .message = string };
        uint64_t ids[4] = { start_a("across"), start_a("across"), start_a("across"), 0 };
        int levels[4] = { 0, 0, 0, 0 };
        pthread_t ender;

        name_category(domain, 3, "of reading");
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("of the program itself");

                levels[0] = push_a("outer");
                levels[1] = domain_push(domain, &a);
                levels[2] = domain_push(domain, &a);
                levels[3] = push_w(L"wide \u00e4");
                (void)pop();
                (void)domain_pop(domain);
                (void)domain_pop(domain);
                (void)pop();
        }
        (void)start_a("never ended");
        fork_once();
        if (pthread_create(&ender, NULL, end_ranges, ids) == 0)
                (void)pthread_join(ender, NULL);
        mark_a("a mark");
        a.payload_type = PAYLOAD_F64;
        a.payload.real = 2.5;
        domain_mark(domain, &a);
        a.size = 8; /* the rest is not there */
        domain_mark(domain, &a);
        (void)printf("levels %d %d %d %d, then %d\n", levels[0], levels[1], levels[2], levels[3], pop());
}

int main(int argc, char **argv)
{
        int attached;

        name_thread("main one");
        is_lying = argc > 1 && strcmp(argv[1], "lie") == 0;
        attached = attach();
        (void)printf("attached %d\n", attached);
        name_thread("the main one");
        if (!attached) {
                memset((void *)core, 0, sizeof(core));
                memset((void *)core2, 0, sizeof(core2));
        }
        run(argc > 1 ? atoi(argv[1]) : 1);
        return 0;
}
