/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/itt_bridge.c - ITT's tasks as zones, its frames, markers, metadata and names
 *
 * Way of the data:  program -> itt_abi -> [itt_bridge] -> libhyprof
 *
 * Tasks of a thread are zones; overlapped tasks and regions, which may end elsewhere, are spans of a device.
 * A task with an id has it as a key, which joins it with the overlapped tasks that name it as their parent.
 */
#include "instrument/compat/inject/itt_abi.h"
#include "instrument/compat/inject/omp_region.h"
#include "instrument/compat/inject/open_ranges.h"
#include "instrument/compat/inject/range_stack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX 1024 /* of one copy; there are some 150 */
#define NAME_BYTES    64   /* of a function */
#define TEXT_BYTES    1024
#define OWN_MARK      0x68797066 /* in what we made, of the members that are reserved to us */

/* A string has it in its member `more` once its member `extra` says so; it lives as long as the process. */
struct known_string {
        const struct itt_domain *domain;
        struct hyprof_location *location; /* in that domain */
};

static struct word_map domains, strings; /* hash and length of the text -> what was made of it */
static struct word_map events;           /* number -> name on the heap */
static int n_events;                     /* atomic */

static struct open_ranges overlapped = { .device = HYPROF_DEVICE("ITT tasks", 1.0, 0),
                                         .space = HYPROF_NAME("ITT task") };
static struct open_ranges regions = { .device = HYPROF_DEVICE("ITT regions", 1.0, 0),
                                      .space = HYPROF_NAME("ITT task") };
static struct open_ranges frames = { .device = HYPROF_DEVICE("ITT frames", 1.0, 0) };

__attribute__((destructor)) static void finish(void)
{
        open_ranges_finish(&overlapped);
        open_ranges_finish(&regions);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static struct word_key key_of_text(const char *text)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        size_t n = 0;

        for (; text[n]; n++)
                hash = (hash ^ (unsigned char)text[n]) * UINT64_C(0x100000001b3);
        return (struct word_key){ hash, n };
}

static struct itt_domain *create_domain(const char *name)
{
        struct word_key key = key_of_text(name ? name : "");
        struct itt_domain *made = word_map_find(&domains, key);

        if (made || !name)
                return made;
        made = malloc(sizeof(*made));
        if (!made)
                return NULL;
        *made = (struct itt_domain){ .flags = 1, .name = strdup(name) };
        return word_map_keep(&domains, key, made);
}

static struct itt_string *create_string(const char *text)
{
        struct word_key key = key_of_text(text ? text : "");
        struct itt_string *made = word_map_find(&strings, key);

        if (made || !text)
                return made;
        made = malloc(sizeof(*made));
        if (!made)
                return NULL;
        *made = (struct itt_string){ .text = strdup(text) };
        return word_map_keep(&strings, key, made);
}

static struct inject_text domain_name(const struct itt_domain *domain)
{
        return inject_text_of(domain ? domain->name : NULL);
}

/* The string keeps its location, for the first domain that it is used in. */
static __attribute__((noinline)) struct hyprof_location *find_location(const struct itt_domain *domain,
                                                                       struct itt_string *string)
{
        const char *text = string && string->text ? string->text : "(no name)";
        struct hyprof_location *location = inject_location(inject_text_of(text), domain_name(domain), 0);
        struct known_string *known;
        void *none = NULL;

        if (!location || !domain || !string || string->extra == OWN_MARK)
                return location;
        known = malloc(sizeof(*known));
        if (!known)
                return location;
        *known = (struct known_string){ .domain = domain, .location = location };
        if (__atomic_compare_exchange_n(&string->more, &none, known, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
                __atomic_store_n(&string->extra, OWN_MARK, __ATOMIC_RELEASE);
        else
                free(known);
        return location;
}

/* Only while a recorder is active. */
static inline struct hyprof_location *location_of(const struct itt_domain *domain, struct itt_string *string)
{
        if (INJECT_LIKELY(string && __atomic_load_n(&string->extra, __ATOMIC_ACQUIRE) == OWN_MARK)) {
                const struct known_string *known = string->more;

                if (INJECT_LIKELY(known->domain == domain))
                        return known->location;
        }
        return find_location(domain, string);
}

/* 0 for no id. */
static uint64_t key_of_id(struct itt_id id)
{
        return id.d1 ^ id.d2 * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- tasks of a thread --------------------------------------------------------------------------------- */

static __attribute__((noinline)) void begin_task(const struct itt_domain *domain,
                                                 struct hyprof_location *location, uint64_t key)
{
        hyprof_zone zone = hyprof_zone_begin(location);

        if (key != 0)
                hyprof_zone_key(zone, &overlapped.space, key);
        (void)range_stack_push((uintptr_t)domain | 4, zone);
}

static struct hyprof_location *location_of_function(const struct itt_domain *domain, const void *function)
{
        char text[NAME_BYTES];
        Dl_info info;

        if (dladdr(function, &info) != 0 && info.dli_sname)
                return inject_location(inject_text_of(info.dli_sname), domain_name(domain), 0);
        (void)snprintf(text, sizeof(text), "%p", function);
        return inject_location(inject_text_of(text), domain_name(domain), 0);
}

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                       struct itt_string *name)
{
        (void)parent;
        if (HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                begin_task(domain, location_of(domain, name), key_of_id(id));
        else
                (void)range_stack_skip();
}

static void task_begin_fn(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                          const void *function)
{
        (void)parent;
        if (HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                begin_task(domain, location_of_function(domain, function), key_of_id(id));
        else
                (void)range_stack_skip();
}

static void task_end(const struct itt_domain *domain)
{
        (void)range_stack_end((uintptr_t)domain | 4);
}

/* The variants with a clock are called when it happens, and taken so. */
static void task_begin_ex(const struct itt_domain *domain, const void *clock, unsigned long long time,
                          struct itt_id id, struct itt_id parent, struct itt_string *name)
{
        (void)clock;
        (void)time;
        task_begin(domain, id, parent, name);
}

static void task_end_ex(const struct itt_domain *domain, const void *clock, unsigned long long time)
{
        (void)clock;
        (void)time;
        task_end(domain);
}

/* ---- ranges that may end anywhere ---------------------------------------------------------------------- */

static void start(struct open_ranges *ranges, const struct itt_domain *domain, struct itt_id id,
                  struct itt_id parent, struct itt_string *name)
{
        if (HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_))
                open_ranges_start(ranges, (struct word_key){ id.d1, id.d2 }, location_of(domain, name),
                                  key_of_id(parent));
}

static void begin_overlapped(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                             struct itt_string *name)
{
        start(&overlapped, domain, id, parent, name);
}

static void end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
        (void)domain;
        open_ranges_end(&overlapped, (struct word_key){ id.d1, id.d2 });
}

static void begin_overlapped_ex(const struct itt_domain *domain, const void *clock, unsigned long long time,
                                struct itt_id id, struct itt_id parent, struct itt_string *name)
{
        (void)clock;
        (void)time;
        begin_overlapped(domain, id, parent, name);
}

static void end_overlapped_ex(const struct itt_domain *domain, const void *clock, unsigned long long time,
                              struct itt_id id)
{
        (void)clock;
        (void)time;
        end_overlapped(domain, id);
}

static void region_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                         struct itt_string *name)
{
        start(&regions, domain, id, parent, name);
}

static void region_end(const struct itt_domain *domain, struct itt_id id)
{
        (void)domain;
        open_ranges_end(&regions, (struct word_key){ id.d1, id.d2 });
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/* libomp without OMPT: the region is a zone of the thread that begins it. */
static bool is_parallel(const struct itt_domain *domain, struct omp_region_name *ret_name)
{
        return domain && domain->name && omp_region_parse(domain->name, ret_name);
}

static void frame_begin(const struct itt_domain *domain, const struct itt_id *id)
{
        struct omp_region_name region;

        (void)id;
        if (is_parallel(domain, &region))
                (void)range_stack_begin((uintptr_t)domain | 4, omp_region_location("parallel", &region));
        else if (HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_))
                hyprof_frame_begin(hyprof_name_of(domain ? domain->name : NULL));
}

static void frame_end(const struct itt_domain *domain, const struct itt_id *id)
{
        struct omp_region_name region;

        (void)id;
        if (is_parallel(domain, &region))
                (void)range_stack_end((uintptr_t)domain | 4);
        else if (HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_))
                hyprof_frame_end(hyprof_name_of(domain ? domain->name : NULL));
}

static void frame_submit(const struct itt_domain *domain, const struct itt_id *id,
                         unsigned long long begin_ns, unsigned long long end_ns)
{
        unsigned long long now_ns = hyprof_now_ns();

        (void)id;
        if (HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_) && domain && begin_ns <= now_ns)
                open_ranges_add(&frames, hyprof_name_of(domain->name), begin_ns,
                                end_ns < now_ns ? end_ns : now_ns); /* ITT_TIME_NONE is later than all */
}

static unsigned long long get_timestamp(void)
{
        return hyprof_now_ns();
}

/* ---- moments and texts --------------------------------------------------------------------------------- */

/* A line about the innermost task of the domain, or a message if there is none. */
static void put_line(const struct itt_domain *domain, const char *text, size_t n_bytes)
{
        hyprof_zone zone = range_stack_top((uintptr_t)domain | 4);

        if (zone != 0)
                hyprof_zone_text(zone, text, n_bytes);
        else
                hyprof_message(text, n_bytes, HYPROF_SEVERITY_INFO, 0);
}

static size_t cut(int n)
{
        return n < 0 ? 0 : n < TEXT_BYTES ? (size_t)n : TEXT_BYTES - 1;
}

static void marker(const struct itt_domain *domain, struct itt_id id, const struct itt_string *name,
                   int scope)
{
        char text[TEXT_BYTES];
        int n;

        (void)id;
        (void)scope;
        if (!HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_) || !name)
                return;
        n = snprintf(text, sizeof(text), "%s%s%s", domain ? domain->name : "", domain ? ": " : "",
                     name->text);
        hyprof_message(text, cut(n), HYPROF_SEVERITY_INFO, 0);
}

static void marker_ex(const struct itt_domain *domain, const void *clock, unsigned long long time,
                      struct itt_id id, const struct itt_string *name, int scope)
{
        (void)clock;
        (void)time;
        marker(domain, id, name, scope);
}

static size_t size_of(enum itt_type type)
{
        return type == ITT_U16 || type == ITT_I16                      ? 2
               : type == ITT_U32 || type == ITT_I32 || type == ITT_F32 ? 4
                                                                       : 8;
}

static void metadata(const struct itt_domain *domain, struct itt_id id, const struct itt_string *key,
                     enum itt_type type, size_t n_values, const void *data)
{
        const char *at = data;
        char text[TEXT_BYTES];
        size_t n;

        (void)id;
        if (!hyprof_is_recording() || !key || !data)
                return;
        n = cut(snprintf(text, sizeof(text), "%s=", key->text));
        for (size_t i = 0; i < n_values && n < sizeof(text) - 1; i++, at += size_of(type)) {
                double real = 0;
                int64_t number;
                int more = itt_number(type, at, &number, &real)
                                   ? snprintf(text + n, sizeof(text) - n, "%s%lld", i > 0 ? "," : "",
                                              (long long)number)
                                   : snprintf(text + n, sizeof(text) - n, "%s%.9g", i > 0 ? "," : "", real);

                n = cut((int)n + more);
        }
        put_line(domain, text, n);
}

static void metadata_scoped(const struct itt_domain *domain, int scope, const struct itt_string *key,
                            enum itt_type type, size_t n_values, const void *data)
{
        (void)scope;
        metadata(domain, (struct itt_id){ 0, 0, 0 }, key, type, n_values, data);
}

/* @length: SIZE_MAX = it ends in NUL */
static void metadata_text(const struct itt_domain *domain, struct itt_id id, const struct itt_string *key,
                          const char *data, size_t length)
{
        char text[TEXT_BYTES];

        (void)id;
        if (!hyprof_is_recording() || !key || !data)
                return;
        length = strnlen(data, length < TEXT_BYTES ? length : TEXT_BYTES);
        put_line(domain, text, cut(snprintf(text, sizeof(text), "%s=%.*s", key->text, (int)length, data)));
}

static void metadata_text_scoped(const struct itt_domain *domain, int scope, const struct itt_string *key,
                                 const char *data, size_t length)
{
        (void)scope;
        metadata_text(domain, (struct itt_id){ 0, 0, 0 }, key, data, length);
}

/* ---- events, the older tasks --------------------------------------------------------------------------- */

static int create_event(const char *name, int n_bytes)
{
        int number = __atomic_add_fetch(&n_events, 1, __ATOMIC_RELAXED);
        char *copy = name && n_bytes > 0 ? strndup(name, (size_t)n_bytes) : NULL;

        if (copy && !word_map_put(&events, (struct word_key){ .a = (uint64_t)number }, copy))
                free(copy);
        return number;
}

static uintptr_t tag_of_event(int event)
{
        return (uintptr_t)(unsigned)event << 3 | 2; /* no address of a domain */
}

static int start_event(int event)
{
        const char *name = word_map_find(&events, (struct word_key){ .a = (uint64_t)event });
        struct hyprof_location *location = NULL;

        if (name && HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                location = hyprof_name_of(name);
        (void)range_stack_begin(tag_of_event(event), location);
        return 0;
}

static int end_event(int event)
{
        (void)range_stack_end(tag_of_event(event));
        return 0;
}

/* ---- threads and the recording ------------------------------------------------------------------------- */

static void set_thread_name(const char *name)
{
        hyprof_thread_name(name);
}

static int set_name_of_bytes(const char *name, int n_bytes)
{
        char *copy = name && n_bytes > 0 ? strndup(name, (size_t)n_bytes) : NULL;

        hyprof_thread_name(copy);
        free(copy);
        return 0;
}

static void pause_events(void)
{
        hyprof_pause();
}

static void resume_events(void)
{
        hyprof_resume();
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

#define ENTRY(name, function)                    \
        {                                        \
                name, (void (*)(void))(function) \
        }

/* clang-format off */
static const struct itt_entry entries[] = {
        ENTRY("domain_create", create_domain),
        ENTRY("string_handle_create", create_string),
        ENTRY("task_begin", task_begin),
        ENTRY("task_begin_fn", task_begin_fn),
        ENTRY("task_end", task_end),
        ENTRY("task_begin_ex", task_begin_ex),
        ENTRY("task_end_ex", task_end_ex),
        ENTRY("task_begin_overlapped", begin_overlapped),
        ENTRY("task_end_overlapped", end_overlapped),
        ENTRY("task_begin_overlapped_ex", begin_overlapped_ex),
        ENTRY("task_end_overlapped_ex", end_overlapped_ex),
        ENTRY("region_begin", region_begin),
        ENTRY("region_end", region_end),
        ENTRY("frame_begin_v3", frame_begin),
        ENTRY("frame_end_v3", frame_end),
        ENTRY("frame_submit_v3", frame_submit),
        ENTRY("get_timestamp", get_timestamp),
        ENTRY("marker", marker),
        ENTRY("marker_ex", marker_ex),
        ENTRY("metadata_add", metadata),
        ENTRY("metadata_add_with_scope", metadata_scoped),
        ENTRY("metadata_str_add", metadata_text),
        ENTRY("metadata_str_add_with_scope", metadata_text_scoped),
        ENTRY("event_create", create_event),
        ENTRY("event_start", start_event),
        ENTRY("event_end", end_event),
        ENTRY("thread_set_name", set_thread_name),
        ENTRY("thr_name_set", set_name_of_bytes),
        ENTRY("pause", pause_events),
        ENTRY("resume", resume_events),
        ENTRY("detach", pause_events),
        { NULL, NULL },
};

static void name_omp_region(const struct itt_domain *domain, const struct itt_id *id)
{
        (void)id;
        if (domain)
                ompt_bridge_name_region(domain->name);
}

/* For a copy whose library reports the same through OMPT. */
static const struct itt_entry omp_entries[] = {
        ENTRY("domain_create", create_domain),
        ENTRY("frame_begin_v3", name_omp_region),
        { NULL, NULL },
};
/* clang-format on */

static void *find_entry(const struct itt_entry *list, const char *name)
{
        for (; list->name; list++)
                if (strcmp(list->name, name) == 0)
                        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a function, as the slots have it */
                        return (void *)(uintptr_t)list->function;
        return NULL;
}

/* @name: without "__itt_" */
static void *find(const char *name)
{
        void *function = find_entry(entries, name);

        if (!function)
                function = find_entry(itt_sync_entries, name);
        return function ? function : find_entry(itt_counter_entries, name);
}

static bool has_known_layout(const struct itt_global *global)
{
        static const unsigned char magic[] = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 };
        struct itt_global copy;

        return global && inject_read(&copy, global, sizeof(copy)) &&
               memcmp(copy.magic, magic, sizeof(magic)) == 0 && copy.version_major == ITT_VERSION_MAJOR &&
               copy.functions;
}

/* The name may be shorter than what is read, and end where memory ends. */
static bool read_name(char name[NAME_BYTES], const char *from)
{
        size_t n = NAME_BYTES - 1;

        memset(name, 0, NAME_BYTES);
        while (n > 0 && !inject_read(name, from, n))
                n /= 2;
        return n > 0;
}

/* Puts a function into each slot.  Returns false if the list is not what it should be. */
static bool fill(const struct itt_function *list, enum inject_part part)
{
        static const char prefix[] = "__itt_";
        struct itt_function f;
        char name[NAME_BYTES];

        for (size_t i = 0; i < FUNCTIONS_MAX; i++) {
                void *function = NULL;

                if (!inject_read(&f, list + i, sizeof(f)))
                        return false;
                if (!f.name)
                        return i > 0;
                if (!read_name(name, f.name) || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
                        return false;
                if (part == INJECT_OMPT)
                        function = find_entry(omp_entries, name + sizeof(prefix) - 1);
                else if (part == INJECT_ITT)
                        function = find(name + sizeof(prefix) - 1);
                if (!function)
                        function = f.none;
                if (!inject_write((void *)f.slot, (const void *)&function, sizeof(function)))
                        return false;
        }
        return false;
}

/* Called once for each copy of ITT in the process. */
/* NOLINTNEXTLINE(readability-identifier-naming): ITT's name */
INJECT_EXPORT void __itt_api_init(struct itt_global *global, int groups);

void __itt_api_init(struct itt_global *global, int groups)
{
        enum inject_part part = ompt_bridge_covers(global) ? INJECT_OMPT
                                : inject_wants(INJECT_ITT) ? INJECT_ITT
                                                           : INJECT_NVTX;
        const char *failure = "ITT: a library of the program states a layout that it does not have: "
                              "its tasks are not recorded";

        (void)groups;
        if (!has_known_layout(global) || !fill(global->functions, part))
                inject_warn(failure);
        else if (part == INJECT_ITT)
                inject_announce("ITT", global);
}
