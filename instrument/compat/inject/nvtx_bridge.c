/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/nvtx_bridge.c - NVTX's ranges as zones, marks as messages
 *
 * Way of the data:  program -> nvtx_abi -> [nvtx_bridge] -> libhyprof
 *
 * A domain's name stands where the function's would.  A payload is a value of the zone, or a line of text
 * if it is no whole number; so is a category.
 */
#include "instrument/compat/inject/nvtx_abi.h"
#include "instrument/compat/inject/open_ranges.h"
#include "instrument/compat/inject/range_stack.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS_MAX        64 /* of a module */
#define TEXT_BYTES       1024
#define DEFAULT_CATEGORY UINT32_C(0)

/* Programs hold these as handles; they live as long as the process. */
struct nvtx_domain {
        struct inject_text name;
};

struct nvtx_string {
        struct inject_text text;
        const struct nvtx_domain *domain;
        struct hyprof_location *location; /* atomic; without a colour; NULL = not found yet */
};

static struct nvtx_domain whole_program;
static struct open_ranges ranges = { .device = HYPROF_DEVICE("NVTX ranges", 1.0, 0) };
static struct word_map categories; /* domain, number -> name on the heap */
static uint64_t n_ranges;          /* atomic; the number of the last one */

__attribute__((destructor)) static void finish(void)
{
        open_ranges_finish(&ranges);
}

static const struct nvtx_domain *domain_of(const void *handle)
{
        return handle ? handle : &whole_program;
}

/* Attributes that state another size have unknown contents. */
static const struct nvtx_event *known(const struct nvtx_event *event)
{
        static const struct nvtx_event nothing = { .size_bytes = sizeof(nothing) };

        return event && event->size_bytes >= sizeof(*event) ? event : &nothing;
}

static struct inject_text message_of(const struct nvtx_event *event, char room[INJECT_WIDE_BYTES])
{
        if (!event->message)
                return (struct inject_text){ .at = NULL };
        switch (event->message_type) {
        case NVTX_MESSAGE_ASCII:
                return inject_text_of(event->message);
        case NVTX_MESSAGE_WIDE:
                return inject_text_of_wide(event->message, room);
        case NVTX_MESSAGE_REGISTERED:
                return ((const struct nvtx_string *)event->message)->text;
        default:
                return (struct inject_text){ .at = NULL };
        }
}

static uint32_t color_of(const struct nvtx_event *event)
{
        return event->color_type == NVTX_COLOR_ARGB ? event->color & 0xffffff : 0;
}

static struct hyprof_location *location_of_text(const struct nvtx_domain *domain, struct inject_text text,
                                                uint32_t color)
{
        if (text.n_bytes == 0)
                text = inject_text_of("(no message)");
        return inject_location(text, domain->name, color);
}

static struct hyprof_location *location_of_string(struct nvtx_string *string, uint32_t color,
                                                  const struct nvtx_domain *domain)
{
        struct hyprof_location *location;

        if (color != 0 || string->domain != domain)
                return location_of_text(domain, string->text, color);
        location = __atomic_load_n(&string->location, __ATOMIC_RELAXED);
        if (INJECT_UNLIKELY(!location)) {
                location = location_of_text(domain, string->text, 0);
                __atomic_store_n(&string->location, location, __ATOMIC_RELAXED);
        }
        return location;
}

static __attribute__((noinline)) struct hyprof_location *location_of_message(const struct nvtx_domain *domain,
                                                                             const struct nvtx_event *event)
{
        char room[INJECT_WIDE_BYTES];

        return location_of_text(domain, message_of(event, room), color_of(event));
}

static inline struct hyprof_location *location_of(const struct nvtx_domain *domain,
                                                  const struct nvtx_event *event)
{
        if (event->message_type == NVTX_MESSAGE_REGISTERED && event->message)
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): what it points to is ours */
                return location_of_string((struct nvtx_string *)(uintptr_t)event->message, color_of(event),
                                          domain);
        return location_of_message(domain, event);
}

/* The payload as a whole number, or else as text, whose length is returned. */
static size_t print_payload(const struct nvtx_event *event, int64_t *ret_number, char text[TEXT_BYTES])
{
        double real = 0;
        float single;

        switch (event->payload_type) {
        case NVTX_PAYLOAD_U64:
        case NVTX_PAYLOAD_I64:
                *ret_number = (int64_t)event->payload;
                return 0;
        case NVTX_PAYLOAD_U32:
                *ret_number = (uint32_t)event->payload;
                return 0;
        case NVTX_PAYLOAD_I32:
                *ret_number = (int32_t)(uint32_t)event->payload;
                return 0;
        case NVTX_PAYLOAD_F64:
                memcpy(&real, &event->payload, sizeof(real));
                break;
        default:
                memcpy(&single, &event->payload, sizeof(single));
                real = (double)single;
                break;
        }
        return (size_t)snprintf(text, TEXT_BYTES, "payload %.9g", real);
}

static bool has_payload(const struct nvtx_event *event)
{
        return event->payload_type > NVTX_PAYLOAD_NONE && event->payload_type <= NVTX_PAYLOAD_F32;
}

static size_t print_category(const struct nvtx_domain *domain, const struct nvtx_event *event,
                             char text[TEXT_BYTES])
{
        const char *name = word_map_find(&categories,
                                         (struct word_key){ (uintptr_t)domain, event->category });
        int n = name ? snprintf(text, TEXT_BYTES, "category %s", name)
                     : snprintf(text, TEXT_BYTES, "category %u", event->category);

        return n < TEXT_BYTES ? (size_t)n : TEXT_BYTES - 1;
}

static __attribute__((noinline)) void put_details(hyprof_zone zone, const struct nvtx_domain *domain,
                                                  const struct nvtx_event *event)
{
        char text[TEXT_BYTES];
        int64_t number = 0;
        size_t n;

        if (has_payload(event)) {
                n = print_payload(event, &number, text);
                if (n > 0)
                        hyprof_zone_text(zone, text, n);
                else
                        hyprof_zone_value(zone, number);
        }
        if (event->category != DEFAULT_CATEGORY)
                hyprof_zone_text(zone, text, print_category(domain, event, text));
}

/* ---- ranges of threads --------------------------------------------------------------------------------- */

static __attribute__((noinline)) int push_recorded(const struct nvtx_domain *domain,
                                                   const struct nvtx_event *event)
{
        hyprof_zone zone;

        event = known(event);
        zone = hyprof_zone_begin(location_of(domain, event));
        if (event->payload_type != NVTX_PAYLOAD_NONE || event->category != DEFAULT_CATEGORY)
                put_details(zone, domain, event);
        return range_stack_push((uintptr_t)domain, zone);
}

/* The functions below cost little where no recorder is active: the rest is not inline for that reason. */
static int push_ex(const struct nvtx_event *event)
{
        return HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) ? push_recorded(&whole_program, event)
                                                    : range_stack_skip();
}

static int domain_push_ex(const void *domain, const struct nvtx_event *event)
{
        return HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) ? push_recorded(domain_of(domain), event)
                                                    : range_stack_skip();
}

static __attribute__((noinline)) int push_text(const char *text)
{
        return range_stack_begin((uintptr_t)&whole_program,
                                 location_of_text(&whole_program, inject_text_of(text), 0));
}

static int push_a(const char *text)
{
        return HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) ? push_text(text) : range_stack_skip();
}

static __attribute__((noinline)) int push_wide(const wchar_t *text)
{
        char room[INJECT_WIDE_BYTES];

        return range_stack_begin((uintptr_t)&whole_program,
                                 location_of_text(&whole_program, inject_text_of_wide(text, room), 0));
}

static int push_w(const wchar_t *text)
{
        return HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) ? push_wide(text) : range_stack_skip();
}

static int pop(void)
{
        return range_stack_end((uintptr_t)&whole_program);
}

static int domain_pop(const void *domain)
{
        return range_stack_end((uintptr_t)domain_of(domain));
}

/* ---- ranges of the process ----------------------------------------------------------------------------- */

static uint64_t start(struct hyprof_location *location)
{
        uint64_t number = __atomic_add_fetch(&n_ranges, 1, __ATOMIC_RELAXED);

        open_ranges_start(&ranges, (struct word_key){ .a = number }, location, 0);
        return number;
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_event *event)
{
        return start(hyprof_is_recording() ? location_of(domain_of(domain), known(event)) : NULL);
}

static uint64_t start_ex(const struct nvtx_event *event)
{
        return domain_start_ex(NULL, event);
}

static uint64_t start_a(const char *text)
{
        return start(location_of_text(&whole_program, inject_text_of(text), 0));
}

static uint64_t start_w(const wchar_t *text)
{
        char room[INJECT_WIDE_BYTES];

        return start(location_of_text(&whole_program, inject_text_of_wide(text, room), 0));
}

static void end(uint64_t number)
{
        open_ranges_end(&ranges, (struct word_key){ .a = number });
}

static void domain_end(const void *domain, uint64_t number)
{
        (void)domain;
        end(number);
}

/* ---- marks --------------------------------------------------------------------------------------------- */

static void domain_mark_ex(const void *handle, const struct nvtx_event *event)
{
        const struct nvtx_domain *domain = domain_of(handle);
        char room[INJECT_WIDE_BYTES], line[4 * TEXT_BYTES], text[TEXT_BYTES];
        struct inject_text message;
        int64_t number = 0;
        int n;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_))
                return;
        event = known(event);
        message = message_of(event, room);
        if (message.n_bytes > TEXT_BYTES)
                message.n_bytes = TEXT_BYTES;
        n = snprintf(line, sizeof(line), "%.*s%s%.*s", (int)domain->name.n_bytes,
                     domain->name.at ? domain->name.at : "", domain->name.at ? ": " : "",
                     (int)message.n_bytes, message.at ? message.at : "");
        if (has_payload(event)) {
                bool is_text = print_payload(event, &number, text) > 0;

                n += is_text ? snprintf(line + n, sizeof(line) - (size_t)n, ", %s", text)
                             : snprintf(line + n, sizeof(line) - (size_t)n, ", payload %lld",
                                        (long long)number);
        }
        if (event->category != DEFAULT_CATEGORY) {
                (void)print_category(domain, event, text);
                n += snprintf(line + n, sizeof(line) - (size_t)n, ", %s", text);
        }
        hyprof_message(line, (size_t)n, HYPROF_SEVERITY_INFO, color_of(event));
}

static void mark_ex(const struct nvtx_event *event)
{
        domain_mark_ex(NULL, event);
}

static void mark_a(const char *text)
{
        hyprof_mark(text);
}

static void mark_w(const wchar_t *text)
{
        char room[INJECT_WIDE_BYTES];
        struct inject_text message = inject_text_of_wide(text, room);

        hyprof_message(message.at, message.n_bytes, HYPROF_SEVERITY_INFO, 0);
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* At most TEXT_BYTES - 1, so that lines with it are bounded. */
static struct inject_text copy_text(struct inject_text text)
{
        char *copy;

        if (text.n_bytes >= TEXT_BYTES)
                text.n_bytes = TEXT_BYTES - 1;
        copy = text.at ? inject_allocate(text.n_bytes + 1) : NULL;
        if (!copy)
                return (struct inject_text){ .at = NULL };
        memcpy(copy, text.at, text.n_bytes);
        text.at = copy;
        return text;
}

/* The first name of a category counts. */
static void name_category(const void *domain, uint32_t category, struct inject_text name)
{
        struct word_key key = { (uintptr_t)domain_of(domain), category };

        if (!word_map_find(&categories, key))
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): the copy is ours */
                (void)word_map_keep(&categories, key, (void *)(uintptr_t)copy_text(name).at);
}

static void domain_name_category_a(const void *domain, uint32_t category, const char *name)
{
        name_category(domain, category, inject_text_of(name));
}

static void domain_name_category_w(const void *domain, uint32_t category, const wchar_t *name)
{
        char room[INJECT_WIDE_BYTES];

        name_category(domain, category, inject_text_of_wide(name, room));
}

static void name_category_a(uint32_t category, const char *name)
{
        domain_name_category_a(NULL, category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
        domain_name_category_w(NULL, category, name);
}

/* A thread can only give itself a name; that of another one is a fact about the program. */
static void name_thread_a(uint32_t tid, const char *name)
{
        char key[32];

        if (tid == (uint32_t)syscall(SYS_gettid)) {
                hyprof_thread_name(name);
                return;
        }
        (void)snprintf(key, sizeof(key), "thread %u", tid);
        hyprof_program_value(key, name);
}

static void name_thread_w(uint32_t tid, const wchar_t *name)
{
        char room[INJECT_WIDE_BYTES + 1];
        struct inject_text text = inject_text_of_wide(name, room);

        room[text.n_bytes] = '\0';
        name_thread_a(tid, room);
}

static struct nvtx_string *register_string(const void *domain, struct inject_text text)
{
        struct nvtx_string *string = inject_allocate(sizeof(*string));

        if (string)
                *string = (struct nvtx_string){ .text = copy_text(text), .domain = domain_of(domain) };
        return string;
}

static struct nvtx_string *register_string_a(const void *domain, const char *text)
{
        return register_string(domain, inject_text_of(text));
}

static struct nvtx_string *register_string_w(const void *domain, const wchar_t *text)
{
        char room[INJECT_WIDE_BYTES];

        return register_string(domain, inject_text_of_wide(text, room));
}

static struct nvtx_domain *create_domain(struct inject_text name)
{
        struct nvtx_domain *domain = inject_allocate(sizeof(*domain));

        if (domain)
                *domain = (struct nvtx_domain){ .name = copy_text(name) };
        return domain;
}

static struct nvtx_domain *create_domain_a(const char *name)
{
        return create_domain(inject_text_of(name));
}

static struct nvtx_domain *create_domain_w(const wchar_t *name)
{
        char room[INJECT_WIDE_BYTES];

        return create_domain(inject_text_of_wide(name, room));
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

#define SLOT(number, function) [number] = (nvtx_function *)(function)

static nvtx_function *const core[] = {
        SLOT(NVTX_CORE_MARK_EX, mark_ex),
        SLOT(NVTX_CORE_MARK_A, mark_a),
        SLOT(NVTX_CORE_MARK_W, mark_w),
        SLOT(NVTX_CORE_RANGE_START_EX, start_ex),
        SLOT(NVTX_CORE_RANGE_START_A, start_a),
        SLOT(NVTX_CORE_RANGE_START_W, start_w),
        SLOT(NVTX_CORE_RANGE_END, end),
        SLOT(NVTX_CORE_RANGE_PUSH_EX, push_ex),
        SLOT(NVTX_CORE_RANGE_PUSH_A, push_a),
        SLOT(NVTX_CORE_RANGE_PUSH_W, push_w),
        SLOT(NVTX_CORE_RANGE_POP, pop),
        SLOT(NVTX_CORE_NAME_CATEGORY_A, name_category_a),
        SLOT(NVTX_CORE_NAME_CATEGORY_W, name_category_w),
        SLOT(NVTX_CORE_NAME_THREAD_A, name_thread_a),
        SLOT(NVTX_CORE_NAME_THREAD_W, name_thread_w),
};

static nvtx_function *const core2[] = {
        SLOT(NVTX_CORE2_MARK_EX, domain_mark_ex),
        SLOT(NVTX_CORE2_RANGE_START_EX, domain_start_ex),
        SLOT(NVTX_CORE2_RANGE_END, domain_end),
        SLOT(NVTX_CORE2_RANGE_PUSH_EX, domain_push_ex),
        SLOT(NVTX_CORE2_RANGE_POP, domain_pop),
        SLOT(NVTX_CORE2_NAME_CATEGORY_A, domain_name_category_a),
        SLOT(NVTX_CORE2_NAME_CATEGORY_W, domain_name_category_w),
        SLOT(NVTX_CORE2_REGISTER_STRING_A, register_string_a),
        SLOT(NVTX_CORE2_REGISTER_STRING_W, register_string_w),
        SLOT(NVTX_CORE2_DOMAIN_CREATE_A, create_domain_a),
        SLOT(NVTX_CORE2_DOMAIN_CREATE_W, create_domain_w),
};

/* Fills the slots that the program has.  Returns false if they are not where it says. */
static bool fill(const struct nvtx_callbacks *callbacks, uint32_t module, nvtx_function *const *functions,
                 unsigned n_functions)
{
        nvtx_function ***slots = NULL, **slot;
        unsigned n_slots = 0;

        if (!callbacks->get_table(module, &slots, &n_slots) || !slots)
                return true; /* an older one, without this module */
        for (unsigned i = 0; i < n_functions && i < n_slots; i++)
                if (functions[i] && (!inject_read(&slot, (const void *)(slots + i), sizeof(slot)) ||
                                     (slot && !inject_write((void *)slot, (const void *)&functions[i],
                                                            sizeof(functions[i])))))
                        return false;
        return n_slots <= SLOTS_MAX;
}

/* Called once for each copy of NVTX in the process.  Returns 0 to leave that copy as it is. */
/* NOLINTNEXTLINE(readability-identifier-naming): NVTX's name */
INJECT_EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table *get_export_table);

int InitializeInjectionNvtx2(nvtx_get_export_table *get_export_table)
{
        struct nvtx_callbacks callbacks = { .size_bytes = 0 };
        const void *table;

        if (!get_export_table || !inject_wants(INJECT_NVTX))
                return 0;
        table = get_export_table(NVTX_TABLE_CALLBACKS);
        if (!table || !inject_read(&callbacks, table, sizeof(callbacks)) ||
            callbacks.size_bytes < sizeof(callbacks) || !callbacks.get_table ||
            !fill(&callbacks, NVTX_MODULE_CORE, core, sizeof(core) / sizeof(core[0])) ||
            !fill(&callbacks, NVTX_MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]))) {
                inject_warn("NVTX: a library of the program states a layout that it does not have: "
                            "its ranges are not recorded");
                return 0;
        }
        inject_announce("NVTX", table);
        return 1;
}
