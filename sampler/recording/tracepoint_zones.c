/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorded_probes.h"

#include "base/error.h"
#include "sampler/bpf/probe_layout.h"
#include "sampler/events/tracepoint.h"
#include "sampler/kernel/syscall_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_BYTES 512
#define NAME_BYTES  128
#define LIST_BYTES  256

/* Collects the fields of one tracepoint. */
struct filling {
        struct probe_spec *spec;
        const char *keys[PROBE_KEYS_MAX];
        size_t n_keys;
        bool has_arguments;                        /* the fields are arguments too */
        size_t n_arguments;                        /* of the spec */
        char (*names)[PROBE_ARGS_MAX][NAME_BYTES]; /* of the arguments; NULL = they are not wanted */
        char list[LIST_BYTES];                     /* of the fields, for people */
};

static bool is_number(const struct tracepoint_field *field)
{
        uint32_t n = field->size_bytes;

        return !field->is_array && (n == 1 || n == 2 || n == 4 || n == 8);
}

static int take_field(void *context, const struct tracepoint_field *field)
{
        struct filling *f = context;
        size_t used = strlen(f->list);
        struct probe_arg arg = { .offset = field->offset_bytes,
                                 .size = (uint8_t)(is_number(field) ? field->size_bytes : 4),
                                 .is_signed = is_number(field) && field->is_signed,
                                 .kind = (uint8_t)(is_number(field)    ? PROBE_ARG_FIELD
                                                   : field->is_located ? PROBE_ARG_LOCATED
                                                                       : PROBE_ARG_CHARS) };

        if (strncmp(field->name, "common_", 7) == 0 || (!is_number(field) && !field->is_text))
                return 0;
        (void)snprintf(f->list + used, sizeof(f->list) - used, "%s%.*s", used > 0 ? ", " : "",
                       (int)field->name_bytes, field->name);
        for (size_t i = 0; i < f->n_keys; i++)
                if (strlen(f->keys[i]) == field->name_bytes &&
                    memcmp(f->keys[i], field->name, field->name_bytes) == 0)
                        f->spec->keys[i] = arg;
        /* A begin with keys waits in a table that has no room for texts. */
        if (!f->has_arguments || f->n_arguments == PROBE_ARGS_MAX || (f->n_keys > 0 && !is_number(field)))
                return 0;
        f->spec->has_texts = f->spec->has_texts || !is_number(field);
        if (f->names)
                (void)snprintf((*f->names)[f->n_arguments], NAME_BYTES, "%.*s", (int)field->name_bytes,
                               field->name);
        f->spec->args[f->n_arguments++] = arg;
        return 0;
}

static int fill(struct filling *f, const char *tracepoint, struct error *err)
{
        int r = tracepoint_visit_fields(NULL, tracepoint, take_field, f, err);

        for (size_t i = 0; r == 0 && i < f->n_keys; i++) {
                if (f->spec->keys[i].kind == PROBE_ARG_NONE)
                        r = error_set(err, -EINVAL, "%s has no field '%s', but: %s", tracepoint, f->keys[i],
                                      f->list[0] ? f->list : "none");
                else if (f->spec->keys[i].kind != PROBE_ARG_FIELD)
                        r = error_set(err, -EINVAL, "the field '%s' of %s is a text; a key is a number",
                                      f->keys[i], tracepoint);
        }
        return r;
}

/* Takes what comes before the next @mark off *at. */
static char *take_word(char **at, char mark)
{
        char *word = *at, *end = word ? strchr(word, mark) : NULL;

        *at = end ? end + 1 : NULL;
        if (end)
                *end = '\0';
        return word;
}

static const char *without_group(const char *tracepoint)
{
        const char *colon = strchr(tracepoint, ':');

        return colon ? colon + 1 : tracepoint;
}

static int add_pair(struct probe_plan *plan, const char *begin, const char *end, char *keys,
                    struct error *err)
{
        char names[PROBE_ARGS_MAX][NAME_BYTES] = { "" }, name[NAME_BYTES];
        struct probe_spec specs[2] = { { .is_syscall = 0 }, { .is_syscall = 0 } };
        struct filling at_begin = { .spec = &specs[0], .has_arguments = true, .names = &names }, at_end;
        struct probe_pair pair = {
                .kind = PROBE_WISH_TRACEPOINT, .begin = begin, .end = end, .name = name, .specs = specs
        };
        const char *title = without_group(begin);
        int r;

        while (keys && at_begin.n_keys < PROBE_KEYS_MAX)
                at_begin.keys[at_begin.n_keys++] = take_word(&keys, '+');
        if (keys)
                return error_set(err, -EINVAL, "more than %d keys", PROBE_KEYS_MAX);
        at_end = at_begin;
        at_end.spec = &specs[1];
        at_end.has_arguments = false;
        r = fill(&at_begin, begin, err);
        if (r == 0)
                r = fill(&at_end, end, err);
        if (r < 0)
                return r;
        (void)snprintf(name, sizeof(name), "%.*s",
                       (int)probe_plan_common_part(title, strlen(title), without_group(end)), title);
        for (size_t i = 0; i < at_begin.n_arguments; i++)
                pair.fields[i] = names[i];
        return probe_plan_add_pair(plan, &pair, err);
}

int tracepoint_zones_add(struct probe_plan *plan, const char *words, struct error *err)
{
        char copy[WORDS_BYTES], *at = copy, *begin, *end;

        if (snprintf(copy, sizeof(copy), "%s", words) >= (int)sizeof(copy))
                return error_set(err, -EINVAL, "more than %d bytes", WORDS_BYTES - 1);
        begin = take_word(&at, ',');
        end = take_word(&at, ',');
        if (!end || (at && (at[0] == '\0' || strchr(at, ','))))
                return error_set(err, -EINVAL, "not two tracepoints and a field with commas between them");
        if (strcmp(begin, end) == 0)
                return error_set(err, -EINVAL, "a zone cannot begin and end at the same tracepoint");
        return add_pair(plan, begin, end, at, err);
}

/* ---- system calls -------------------------------------------------------------------------------------- */

/* False if programs of that kind have no call of that name. */
static bool choose_syscall(struct probe_plan *plan, const char *name, bool is_32_bit)
{
        uint32_t number = syscall_names_number(name, is_32_bit);

        if (number >= SYSCALL_NUMBER_MAX)
                return false;
        plan->syscalls[is_32_bit][number / 64] |= UINT64_C(1) << (number & 63);
        return true;
}

static int choose_syscalls(struct probe_plan *plan, const char *words, struct error *err)
{
        char copy[8 * WORDS_BYTES], *at = copy, *name;

        if (words[0] == '\0') {
                memset(plan->syscalls, 0xff, sizeof(plan->syscalls));
                return 0;
        }
        if (snprintf(copy, sizeof(copy), "%s", words) >= (int)sizeof(copy))
                return error_set(err, -EINVAL, "more than %zu bytes", sizeof(copy) - 1);
        while ((name = take_word(&at, ','))) {
                bool has_64_bit = choose_syscall(plan, name, false);

                if (!choose_syscall(plan, name, true) && !has_64_bit)
                        return error_set(err, -EINVAL, "this machine has no system call '%s'", name);
        }
        return 0;
}

int syscall_zones_add(struct probe_plan *plan, const char *words, struct error *err)
{
        struct probe_spec specs[2] = { { .is_syscall = 1 }, { .is_syscall = 1 } };
        struct filling at_begin = { .spec = &specs[0], .has_arguments = true },
                       at_end = { .spec = &specs[1], .has_arguments = true };
        const struct probe_pair pair = { .kind = PROBE_WISH_SYSCALLS,
                                         .begin = "raw_syscalls:sys_enter",
                                         .end = "raw_syscalls:sys_exit",
                                         .name = "system calls",
                                         .specs = specs };
        int r = choose_syscalls(plan, words, err);

        for (size_t i = 0; i < plan->n_functions; i++) /* given twice: these calls too */
                if (plan->functions[i].kind == PROBE_WISH_SYSCALLS)
                        return r;
        if (r == 0)
                r = fill(&at_begin, pair.begin, err);
        if (r == 0)
                r = fill(&at_end, pair.end, err);
        if (r == 0 && (at_begin.n_arguments < 1 || at_end.n_arguments < 2))
                r = error_set(err, -ENOTSUP, "this kernel describes its system calls in another way");
        return r < 0 ? r : probe_plan_add_pair(plan, &pair, err);
}
