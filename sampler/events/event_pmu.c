/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_pmu.h"

#include "base/error.h"
#include "base/io.h"
#include "base/name_guess.h"
#include "sampler/events/event_places.h"
#include "sampler/events/event_spec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES  1024 /* of a file in sysfs: terms of an event, a list of CPUs */
#define TERM_BYTES  64
#define CONFIG_BITS 64

/* ---- files --------------------------------------------------------------------------------------------- */

/* Whether the name is a plain file name and not a path. */
static bool is_plain_name(const char *name, size_t n_bytes)
{
        return n_bytes > 0 && n_bytes < EVENT_PMU_NAME_BYTES && name[0] != '.' &&
               !memchr(name, '/', n_bytes) && !memchr(name, '\0', n_bytes);
}

/* Reads the one line of a file.  Returns 0, -ENOENT, -errno. */
static int read_line(int dir_fd, const char *path, char line[LINE_BYTES])
{
        int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
        size_t n_bytes = 0;
        int r;

        if (fd < 0)
                return -errno;
        r = io_read_full(fd, line, LINE_BYTES - 1, &n_bytes, NULL);
        io_close(&fd);
        line[r < 0 ? 0 : n_bytes] = '\0';
        line[strcspn(line, "\n")] = '\0';
        return r;
}

/* Reads the one line of a file in one of the PMU's folders. */
static int read_file_of(const struct event_pmu *pmu, const char *folder, const char *name, size_t n_bytes,
                        char line[LINE_BYTES])
{
        char path[EVENT_PMU_NAME_BYTES + 16];

        if (!is_plain_name(name, n_bytes))
                return -ENOENT;
        (void)snprintf(path, sizeof(path), "%s/%.*s", folder, (int)n_bytes, name);
        return read_line(pmu->dir_fd, path, line);
}

/* Parses a number, decimal or with 0x, that nothing follows. */
static bool parse_number(const char *text, size_t n_bytes, uint64_t *ret_value)
{
        char digits[24], *end;

        if (n_bytes == 0 || n_bytes >= sizeof(digits) || text[0] < '0' || text[0] > '9')
                return false;
        memcpy(digits, text, n_bytes);
        digits[n_bytes] = '\0';
        errno = 0;
        *ret_value = strtoull(digits, &end, 0);
        return errno == 0 && *end == '\0';
}

/* ---- CPUs ---------------------------------------------------------------------------------------------- */

/* Parses a set of CPUs as the kernel writes it, such as "0-3,8"; CPUs without a bit in @spec are left out. */
static int parse_cpus(const char *text, struct event_spec *spec)
{
        while (true) {
                char *end;
                unsigned long first = strtoul(text, &end, 10), last = first;

                if (end == text)
                        return -EBADMSG;
                if (*end == '-') {
                        text = end + 1;
                        last = strtoul(text, &end, 10);
                        if (end == text)
                                return -EBADMSG;
                }
                for (unsigned long cpu = first; cpu <= last && cpu < EVENT_SPEC_CPUS_MAX; cpu++)
                        spec->cpus[cpu / 64] |= UINT64_C(1) << cpu % 64;
                if (*end != ',')
                        return *end == '\0' ? 0 : -EBADMSG;
                text = end + 1;
        }
}

static int read_cpus(const struct event_pmu *pmu, struct event_spec *spec, struct error *err)
{
        char line[LINE_BYTES] = "";
        int r = read_line(pmu->dir_fd, "cpus", line);

        if (r == -ENOENT)
                r = read_line(pmu->dir_fd, "cpumask", line);
        if (r < 0 || line[0] == '\0')
                return r == -ENOENT || r == 0 ? 0
                                              : error_set(err, r, "cannot read the CPUs of %s", pmu->name);
        spec->on_some_cpus = true;
        r = parse_cpus(line, spec);
        return r < 0 ? error_set(err, r, "the CPUs of %s: '%.40s'", pmu->name, line) : 0;
}

/* ---- terms --------------------------------------------------------------------------------------------- */

/* Finds the word of the attributes that a format describes, and steps past it. */
static uint64_t *find_config(struct event_spec *spec, const char **format)
{
        static const char *const names[] = { "config:", "config1:", "config2:" };

        for (size_t i = 0; i < 3; i++) {
                if (strncmp(*format, names[i], strlen(names[i])) != 0)
                        continue;
                *format += strlen(names[i]);
                return i == 0 ? &spec->config : (i == 1 ? &spec->config1 : &spec->config2);
        }
        return NULL;
}

/* Puts the lowest bits of @value where @format says, the first range first. */
static int put_bits(const char *format, uint64_t value, struct event_spec *spec)
{
        uint64_t *word = find_config(spec, &format);

        while (word) {
                char *end;
                unsigned long first = strtoul(format, &end, 10), last = first;

                if (end == format)
                        return -EBADMSG;
                if (*end == '-') {
                        format = end + 1;
                        last = strtoul(format, &end, 10);
                        if (end == format)
                                return -EBADMSG;
                }
                if (last >= CONFIG_BITS || first > last)
                        return -EBADMSG;
                for (unsigned long bit = first; bit <= last; bit++) {
                        *word = (*word & ~(UINT64_C(1) << bit)) | (value & 1) << bit;
                        value >>= 1;
                }
                if (*end != ',') {
                        if (*end != '\0')
                                return -EBADMSG;
                        return value == 0 ? 0 : -ERANGE;
                }
                format = end + 1;
        }
        return -ENOTSUP;
}

static int offer_event(void *context, const struct event_pmu *pmu, const char *event)
{
        (void)pmu;
        name_guess_offer(context, event);
        return 0;
}

static int refuse_term(const struct event_pmu *pmu, const char *name, size_t n_bytes, struct error *err)
{
        struct name_guess guess;

        name_guess_init(&guess, name, n_bytes);
        (void)event_pmu_visit_events(pmu, offer_event, &guess);
        return error_set(err, -EINVAL, "%s has no term or event '%.*s'%s%s%s", pmu->name,
                         n_bytes > TERM_BYTES ? TERM_BYTES : (int)n_bytes, name,
                         guess.best[0] ? ", did you mean '" : "", guess.best, guess.best[0] ? "'?" : "");
}

struct term {
        const char *name;
        size_t name_bytes;
        const char *value; /* NULL = none */
        size_t value_bytes;
};

static struct term cut_term(const char *text, size_t n_bytes)
{
        const char *equals = memchr(text, '=', n_bytes);
        struct term term = { .name = text, .name_bytes = equals ? (size_t)(equals - text) : n_bytes };

        if (equals) {
                term.value = equals + 1;
                term.value_bytes = n_bytes - term.name_bytes - 1;
        }
        return term;
}

static int apply_value(const struct event_pmu *pmu, const struct term *term, const char *format,
                       struct event_spec *spec, struct error *err)
{
        int name_bytes = (int)term->name_bytes;
        uint64_t value = 1;
        int r;

        if (term->value && !parse_number(term->value, term->value_bytes, &value))
                return error_set(err, -EINVAL, "%s: the value of %.*s is not a number: '%.*s'", pmu->name,
                                 name_bytes, term->name,
                                 term->value_bytes > TERM_BYTES ? TERM_BYTES : (int)term->value_bytes,
                                 term->value);
        r = put_bits(format, value, spec);
        if (r == -ERANGE)
                return error_set(err, -EINVAL, "%s: %#llx is too much for the bits of %.*s (%.40s)",
                                 pmu->name, (unsigned long long)value, name_bytes, term->name, format);
        return r < 0 ? error_set(err, -EINVAL, "%s: the bits of %.*s cannot be parsed: '%.40s'", pmu->name,
                                 name_bytes, term->name, format)
                     : 0;
}

static bool is_word(const struct term *term, const char *word)
{
        return strlen(word) == term->name_bytes && memcmp(term->name, word, term->name_bytes) == 0;
}

/* Takes the next of @left bytes of terms; 1, or 0 after the last. */
static int next_term(const char **at, size_t *left, struct term *ret_term)
{
        const char *comma;
        size_t n_bytes;

        if (!*at)
                return 0;
        comma = memchr(*at, ',', *left);
        n_bytes = comma ? (size_t)(comma - *at) : *left;
        *ret_term = cut_term(*at, n_bytes);
        *at = comma ? comma + 1 : NULL;
        *left -= comma ? n_bytes + 1 : n_bytes;
        return 1;
}

/* True if @terms give a value to the term @wanted. */
static bool has_term(const char *terms, size_t n_bytes, const struct term *wanted)
{
        struct term term;

        while (next_term(&terms, &n_bytes, &term) == 1)
                if (term.name_bytes == wanted->name_bytes &&
                    memcmp(term.name, wanted->name, term.name_bytes) == 0)
                        return true;
        return false;
}

/* Applies a term that has bits of its own.  Returns 1 when it is done, 0 if it is no such term, -errno. */
static int apply_term(const struct event_pmu *pmu, const struct term *term, struct event_spec *spec,
                      struct error *err)
{
        static const char *const words[] = { "config", "config1", "config2" };
        static const char *const formats[] = { "config:0-63", "config1:0-63", "config2:0-63" };
        char format[LINE_BYTES] = "";
        int r;

        if (term->name_bytes == 0 || term->name_bytes >= TERM_BYTES)
                return error_set(err, -EINVAL, "%s: a term without a name, or with a long one", pmu->name);
        for (size_t i = 0; i < 3; i++)
                if (is_word(term, words[i])) {
                        r = apply_value(pmu, term, formats[i], spec, err);
                        return r < 0 ? r : 1;
                }
        r = read_file_of(pmu, "format", term->name, term->name_bytes, format);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return error_set(err, r, "cannot read the terms of %s", pmu->name);
        r = apply_value(pmu, term, format, spec, err);
        return r < 0 ? r : 1;
}

/* A named event stands for the terms in its file; a value "?" in the file has to be given in @typed. */
static int apply_event(const struct event_pmu *pmu, const struct term *event, const char *typed,
                       size_t typed_bytes, struct event_spec *spec, struct error *err)
{
        char line[LINE_BYTES] = "";
        const char *terms = line;
        struct term term;
        size_t n_bytes;
        int r = read_file_of(pmu, "events", event->name, event->name_bytes, line);

        if (r < 0)
                return r == -ENOENT ? refuse_term(pmu, event->name, event->name_bytes, err)
                                    : error_set(err, r, "cannot read the event %.*s of %s",
                                                (int)event->name_bytes, event->name, pmu->name);
        n_bytes = strlen(line);
        while (next_term(&terms, &n_bytes, &term) == 1) {
                bool is_open = term.value_bytes == 1 && term.value[0] == '?';

                if (is_open && !has_term(typed, typed_bytes, &term))
                        return error_set(err, -EINVAL, "%s: %.*s needs a value: %.*s=...", pmu->name,
                                         (int)term.name_bytes, term.name, (int)term.name_bytes, term.name);
                r = is_open ? 1 : apply_term(pmu, &term, spec, err);
                if (r <= 0)
                        return r < 0 ? r : refuse_term(pmu, term.name, term.name_bytes, err);
        }
        return 0;
}

static int apply_terms(const struct event_pmu *pmu, const char *typed, size_t typed_bytes,
                       struct event_spec *spec, struct error *err)
{
        const char *terms = typed;
        size_t n_bytes = typed_bytes;
        struct term term;

        while (next_term(&terms, &n_bytes, &term) == 1) {
                int r = apply_term(pmu, &term, spec, err);

                if (r == 0 && !term.value)
                        r = apply_event(pmu, &term, typed, typed_bytes, spec, err);
                else if (r == 0 && (is_word(&term, "period") || is_word(&term, "freq")))
                        r = error_set(err, -EINVAL, "%s: set the rate of samples with -c or -F", pmu->name);
                else if (r == 0)
                        r = refuse_term(pmu, term.name, term.name_bytes, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

int event_pmu_apply(const struct event_pmu *pmu, const char *terms, size_t n_bytes, struct event_spec *spec,
                    struct error *err)
{
        spec->type = pmu->type;
        spec->unit = "events";
        if (n_bytes > 0) {
                int r = apply_terms(pmu, terms, n_bytes, spec, err);

                if (r < 0)
                        return r;
        }
        return read_cpus(pmu, spec, err);
}

/* ---- PMUs ---------------------------------------------------------------------------------------------- */

static const char *devices_of(const struct event_places *places)
{
        return places && places->devices ? places->devices : EVENT_PLACES_DEVICES;
}

/*
 * The PMU of the cores is "cpu" on a machine with one kind of cores; on ARM it is a PMU that says which
 * CPUs it has.
 */
static bool is_core(const struct event_pmu *pmu)
{
        return strcmp(pmu->name, "cpu") == 0 || faccessat(pmu->dir_fd, "cpus", F_OK, 0) == 0;
}

int event_pmu_open(struct event_pmu *pmu, const struct event_places *places, const char *name, size_t n_bytes,
                   struct error *err)
{
        int devices_fd = -1, r = -ENOENT;
        char line[LINE_BYTES] = "";
        uint64_t type;

        *pmu = (struct event_pmu){ .dir_fd = -1 };
        if (!is_plain_name(name, n_bytes))
                return -ENOENT;
        memcpy(pmu->name, name, n_bytes);
        devices_fd = open(devices_of(places), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (devices_fd >= 0)
                pmu->dir_fd = openat(devices_fd, pmu->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        io_close(&devices_fd);
        if (pmu->dir_fd >= 0)
                r = read_line(pmu->dir_fd, "type", line);
        if (r < 0)
                goto fail;
        if (!parse_number(line, strlen(line), &type) || type > UINT32_MAX) {
                r = error_set(err, -EBADMSG, "the type of the PMU %s is not a number", pmu->name);
                goto fail;
        }
        pmu->type = (uint32_t)type;
        pmu->is_core = is_core(pmu);
        return 0;

fail:
        event_pmu_close(pmu);
        return r;
}

void event_pmu_close(struct event_pmu *pmu)
{
        io_close(&pmu->dir_fd);
}

/* Files such as energy-pkg.unit describe an event and are not events themselves. */
static bool is_event_name(const char *name)
{
        return name[0] != '.' && !strchr(name, '.') && strlen(name) < EVENT_PMU_NAME_BYTES;
}

bool event_pmu_has_event(const struct event_pmu *pmu, const char *name, size_t n_bytes)
{
        char line[LINE_BYTES] = "";

        return !memchr(name, '.', n_bytes) && read_file_of(pmu, "events", name, n_bytes, line) == 0;
}

/*
 * Hands each name in a folder, in sorted order, to @take as an event of @pmu; @pmu NULL = each name is a
 * PMU.
 */
static int visit_folder(int dir_fd, const char *path, const struct event_places *places,
                        const struct event_pmu *pmu, event_pmu_taker *take, void *context)
{
        struct dirent **entries = NULL;
        int n = scandirat(dir_fd, path, &entries, NULL, alphasort), r = 0;

        for (int i = 0; i < n; i++) {
                const char *name = entries[i]->d_name;
                struct event_pmu one;

                if (r == 0 && pmu && is_event_name(name)) {
                        r = take(context, pmu, name);
                } else if (r == 0 && !pmu && event_pmu_open(&one, places, name, strlen(name), NULL) == 0) {
                        r = take(context, &one, NULL);
                        event_pmu_close(&one);
                }
                free(entries[i]);
        }
        free(entries);
        return r;
}

int event_pmu_visit(const struct event_places *places, event_pmu_taker *take, void *context)
{
        return visit_folder(AT_FDCWD, devices_of(places), places, NULL, take, context);
}

int event_pmu_visit_events(const struct event_pmu *pmu, event_pmu_taker *take, void *context)
{
        return visit_folder(pmu->dir_fd, "events", NULL, pmu, take, context);
}
