/* SPDX-License-Identifier: MIT */
#include "sampler/probes/probe_plan.h"

#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/bpf/probe_layout.h"
#include "sampler/probes/function_arguments.h"
#include "sampler/probes/static_probes.h"
#include "symbolize/elf/demangle.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/function_bounds.h"
#include "symbolize/index/code_index.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/index/symbol_table.h"
#include "symbolize/listing/branch_target.h"
#include "symbolize/listing/disassembler.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUNCTION_BYTES_MAX (UINT64_C(1) << PROBE_OFFSET_BITS)
#define INSTRUCTION_MAX    15
#define COLD_SUFFIX        ".cold" /* of the symbol of the part of a function that rarely runs */
#define NOTRACK_PREFIX     0x3e    /* of an indirect jump: one of a switch statement */
#define REFUSALS_MAX       4       /* functions without a wanted argument that are named */
#define SHOWN_LENGTH       80      /* of their names: the reason comes after them */
#define NAME_LENGTH        128     /* of a static probe and of its provider */

struct finder {
        const struct probe_finder_task *task;
        struct elf_image *image;
        struct debug_files *files;
        struct function_bounds bounds;
        struct symbol_table symbols;
        struct code_index *index; /* NULL = there is no debug information */
        struct disassembler *disassembler;
        uint8_t *code; /* heap: of one function */
        struct byte_buffer out, points;
        uint32_t n_functions, n_left_out;
        const char *pattern;                /* of functions, without arguments */
        char *base, *words[PROBE_ARGS_MAX]; /* heap: the pattern before arguments, and these */
        size_t n_words;
        struct function_arguments arguments;
        struct byte_buffer refusals; /* functions that lack an argument, and why */
        uint32_t n_refused;
};

/* A part of a function: all of it, or its rarely executed part. */
struct part {
        uint64_t svma, end_svma;
};

/* ---- names --------------------------------------------------------------------------------------------- */

/* The place of the parameters in a readable C++ name, or its length: "ns::run(int) const" -> 7. */
static size_t find_parameters(const char *name)
{
        size_t n = strlen(name), at;
        const char *close = strrchr(name, ')');
        int depth = 0;

        if (!close)
                return n;
        for (at = (size_t)(close - name) + 1; at > 0; at--) {
                depth += name[at - 1] == ')';
                depth -= name[at - 1] == '(';
                if (depth == 0)
                        break;
        }
        return at > 1 ? at - 1 : n;
}

static bool matches(const char *pattern, const char *symbol, const char *shown)
{
        char *bare;
        bool does;

        if (fnmatch(pattern, symbol, 0) == 0 || fnmatch(pattern, shown, 0) == 0)
                return true;
        bare = strndup(shown, find_parameters(shown));
        does = bare && fnmatch(pattern, bare, 0) == 0;
        free(bare);
        return does;
}

static char *show(const char *symbol)
{
        char *shown = demangle_symbol(symbol, demangle_rules_mangling(symbol));

        return shown ? shown : strdup(symbol);
}

static bool is_stub(const char *name)
{
        const char *at = strrchr(name, '@');

        return at && strcmp(at, "@plt") == 0;
}

/* A name is what the file says: no field of our lines may end in it. */
static void add_text(struct byte_buffer *out, const char *text)
{
        for (; *text; text++)
                byte_buffer_add_u8(out, (uint8_t)*text < ' ' ? '?' : (uint8_t)*text);
}

/* ---- instructions -------------------------------------------------------------------------------------- */

static void add_point(struct finder *f, enum probe_kind kind, uint64_t svma, uint32_t reg,
                      const struct part *function)
{
        for (size_t i = 0; i < f->image->n_segments; i++) {
                const struct elf_image_segment *s = &f->image->segments[i];

                if (s->executable && svma - s->svma < s->file_bytes)
                        byte_buffer_add_format(
                                &f->points, "P\t%d\t%" PRIu64 "\t%u\t%" PRIu64 "\t%" PRIu64 "\n", (int)kind,
                                svma - s->svma + s->file_off, reg, svma - function->svma,
                                kind == PROBE_JUMP ? function->end_svma - function->svma : 0);
        }
}

static bool is_prefix(uint8_t byte)
{
        return byte == 0xf2 || byte == 0xf3 || byte == 0x66 || byte == NOTRACK_PREFIX ||
               (byte & 0xf0) == 0x40;
}

static bool is_within(const struct part *part, uint64_t svma)
{
        return svma >= part->svma && svma < part->end_svma;
}

/*
 * Says whether an instruction leaves its function: -1 no, else a kind of probe.  A jump through memory with
 * an index is that of a switch statement; one without is a call of a virtual function or through the PLT.
 */
static int judge(const struct part parts[2], uint64_t svma, const uint8_t *bytes, size_t n, uint32_t *ret_reg)
{
        struct branch_target branch = branch_target_decode(EM_X86_64, svma, bytes, n);
        uint32_t rex = 0;
        size_t i = 0;

        if (branch.kind == BRANCH_JUMP)
                return is_within(&parts[0], branch.svma) || is_within(&parts[1], branch.svma) ? -1
                                                                                              : PROBE_END;
        for (; i < n && is_prefix(bytes[i]); i++) {
                if (bytes[i] == NOTRACK_PREFIX)
                        return -1;
                rex = (bytes[i] & 0xf0) == 0x40 ? bytes[i] : 0;
        }
        if (i < n && (bytes[i] == 0xc3 || bytes[i] == 0xc2))
                return PROBE_END;
        if (i + 1 >= n || bytes[i] != 0xff || (bytes[i + 1] >> 3 & 7) != 4)
                return -1;
        *ret_reg = (bytes[i + 1] & 7) | (rex & 1) << 3;
        if (bytes[i + 1] >> 6 == 3)
                return PROBE_JUMP;
        if ((bytes[i + 1] & 7) == 4 && i + 2 < n && ((bytes[i + 2] >> 3 & 7) != 4 || rex & 2))
                return -1;
        return PROBE_END;
}

/* Adds the ends of the function in @part, one of @parts.  Returns false if its code makes no sense. */
static bool find_ends(struct finder *f, const struct part parts[2], const struct part *part)
{
        uint64_t n_bytes = part->end_svma - part->svma, at = 0, file_off = 0;
        char text[DISASSEMBLER_TEXT_BYTES];
        bool after_notrack = false;
        size_t got = 0;

        for (size_t i = 0; i < f->image->n_segments; i++) {
                const struct elf_image_segment *s = &f->image->segments[i];

                if (s->executable && part->svma - s->svma < s->file_bytes &&
                    n_bytes <= s->file_bytes - (part->svma - s->svma))
                        file_off = part->svma - s->svma + s->file_off;
        }
        if (file_off == 0 || n_bytes == 0 || n_bytes >= FUNCTION_BYTES_MAX ||
            io_pread_full(f->task->file->fd, f->code, n_bytes, file_off, &got, NULL) < 0 || got != n_bytes)
                return false;
        while (at < n_bytes) {
                uint64_t left = n_bytes - at;
                size_t n = disassembler_decode(f->disassembler, part->svma + at, f->code + at,
                                               left < INSTRUCTION_MAX ? left : INSTRUCTION_MAX, text);
                uint32_t reg = 0;
                int kind;

                if (strncmp(text, ".byte", 5) == 0)
                        return false;
                kind = judge(parts, part->svma + at, f->code + at, n, &reg);
                if (kind >= 0 && !after_notrack)
                        add_point(f, (enum probe_kind)kind, part->svma + at, reg, &parts[0]);
                after_notrack = n == 1 && f->code[at] == NOTRACK_PREFIX;
                at += n;
        }
        return true;
}

/* The other part of a function: its symbol is the function's with ".cold" or ".cold.N". */
static struct part find_cold(const struct finder *f, const char *symbol)
{
        size_t n = strlen(symbol);

        for (size_t i = 0; i < f->symbols.n_entries; i++) {
                const struct symbol_table_entry *e = &f->symbols.entries[i];

                if (strncmp(e->name, symbol, n) == 0 &&
                    strncmp(e->name + n, COLD_SUFFIX, sizeof(COLD_SUFFIX) - 1) == 0)
                        return (struct part){ e->svma, e->end_svma };
        }
        return (struct part){ 0, 0 };
}

/* ---- functions ----------------------------------------------------------------------------------------- */

/* Or "-", if they are not wanted or not known. */
static void add_parameters(struct finder *f, uint64_t svma)
{
        struct byte_buffer words = { .data = NULL };
        struct dwarf_entry function = { .tag = 0 };

        if (f->task->request->wants_parameters &&
            function_arguments_find(&f->arguments, svma, &function) == 1)
                function_arguments_describe(&f->arguments, &function, &words);
        byte_buffer_add_u8(&words, '\0');
        add_text(&f->out, words.failed || words.data[0] == '\0' ? "-" : (const char *)words.data);
        byte_buffer_deinit(&words);
}

static void add_function(struct finder *f, uint64_t svma, const char *shown)
{
        struct code_place places[16];
        uint32_t n = f->index ? code_index_find(f->index, svma, places, 16) : 0;
        const struct code_names *names = f->index ? code_index_names(f->index) : NULL;
        struct code_declaration at = { .path = 0 };
        const char *path = NULL;

        if (n > 0 && n <= 16) {
                at = code_names_declaration(names, places[n - 1].name);
                path = at.path ? code_names_path(names, at.path) : NULL;
        }
        byte_buffer_add_format(&f->out, "F\t%" PRIu32 "\t", path ? at.line : 0);
        add_text(&f->out, path ? path : "-");
        byte_buffer_add_u8(&f->out, '\t');
        add_text(&f->out, shown);
        byte_buffer_add_u8(&f->out, '\t');
        add_parameters(f, svma);
        byte_buffer_add_u8(&f->out, '\n');
}

static void leave_out(struct finder *f, const char *shown, const char *why)
{
        f->n_left_out++;
        byte_buffer_add_format(&f->out, "N\t");
        add_text(&f->out, shown);
        byte_buffer_add_format(&f->out, " has no zones: %s\n", why);
}

static void add_argument(struct finder *f, const char *words, const struct probe_arg *a,
                         struct byte_buffer *enumerators)
{
        byte_buffer_add_format(&f->points, "A\t");
        add_text(&f->points, words);
        byte_buffer_add_format(&f->points, "\t%d %d %" PRId64 " %d %d %d %d %d %d %d %" PRIu32 "\t", a->kind,
                               a->reg, (int64_t)a->offset, a->size, a->is_signed, a->style, a->n_hops,
                               a->hops[0], a->hops[1], (int)a->is_address, a->text_max);
        byte_buffer_add_u8(enumerators, '\0');
        add_text(&f->points,
                 enumerators->failed || enumerators->data[0] == '\0' ? "-" : (const char *)enumerators->data);
        byte_buffer_add_u8(&f->points, '\n');
}

/* Adds the wanted arguments of a function.  Returns false, with a note, if one cannot be had. */
static bool find_arguments(struct finder *f, uint64_t svma, const char *shown)
{
        struct byte_buffer enumerators = { .data = NULL };
        struct error err = ERROR_NONE;
        struct dwarf_entry function = { .tag = 0 };
        int r = 0;

        if (f->n_words > 0 && function_arguments_find(&f->arguments, svma, &function) != 1)
                r = error_set(&err, -ENOENT, "%s",
                              function_arguments_are_split(&f->arguments, svma)
                                      ? FUNCTION_ARGUMENTS_SPLIT
                                      : "no debug information describes it");
        for (size_t i = 0; r == 0 && i < f->n_words; i++) {
                struct probe_arg arg;

                byte_buffer_clear(&enumerators);
                r = function_arguments_resolve(&f->arguments, &function, f->words[i], &arg, &enumerators,
                                               &err);
                if (r == 0)
                        add_argument(f, f->words[i], &arg, &enumerators);
        }
        byte_buffer_deinit(&enumerators);
        if (r == 0)
                return true;
        if (f->n_refused++ < REFUSALS_MAX)
                byte_buffer_add_format(&f->refusals, "%s%.*s%s: %s", f->n_refused > 1 ? "; " : "",
                                       SHOWN_LENGTH, shown, strlen(shown) > SHOWN_LENGTH ? "..." : "",
                                       err.text);
        return false;
}

/* Adds a function with its probes, or a note why it has none. */
static void probe(struct finder *f, const struct symbol_table_entry *e, const char *shown)
{
        const struct part parts[2] = { { e->svma, e->end_svma }, find_cold(f, e->name) };

        byte_buffer_clear(&f->points);
        if (e->is_open_ended || e->end_svma <= e->svma) {
                leave_out(f, shown, "the file does not say where it ends");
                return;
        }
        if (!find_arguments(f, e->svma, shown))
                return;
        add_point(f, PROBE_BEGIN, e->svma, 0, &parts[0]);
        if (!find_ends(f, parts, &parts[0]) ||
            (parts[1].end_svma > parts[1].svma && !find_ends(f, parts, &parts[1]))) {
                leave_out(f, shown, "its code has bytes that are no instructions");
                return;
        }
        add_function(f, e->svma, shown);
        byte_buffer_add(&f->out, f->points.data, f->points.used_bytes);
        f->n_functions++;
}

/* The first of the names at @e that matches, readable: heap.  Returns 1, 0 if none does, -ENOMEM. */
static int find_match(const struct finder *f, const struct symbol_table_entry *e, size_t *next_alias,
                      char **ret_name)
{
        const struct symbol_table *t = &f->symbols;
        const struct symbol_table_entry *name = e;

        while (*next_alias < t->n_aliases && t->aliases[*next_alias].svma < e->svma)
                ++*next_alias;
        for (size_t i = *next_alias;; i++) {
                char *shown = show(name->name);

                if (!shown)
                        return -ENOMEM;
                if (matches(f->pattern, name->name, shown)) {
                        *ret_name = shown;
                        return 1;
                }
                free(shown);
                if (i >= t->n_aliases || t->aliases[i].svma != e->svma)
                        return 0;
                name = &t->aliases[i];
        }
}

static bool is_function(const struct symbol_table_entry *e)
{
        return !e->is_object && !e->is_label && !is_stub(e->name) && !strstr(e->name, COLD_SUFFIX);
}

/* Goes over the functions of the file that match; only counts without @does_probe. */
static int each_match(struct finder *f, bool does_probe, uint32_t *ret_n)
{
        size_t next_alias = 0;
        uint32_t n = 0;

        for (size_t i = 0; i < f->symbols.n_entries; i++) {
                const struct symbol_table_entry *e = &f->symbols.entries[i];
                char *shown;
                int r = is_function(e) ? find_match(f, e, &next_alias, &shown) : 0;

                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                n++;
                if (does_probe)
                        probe(f, e, shown);
                free(shown);
        }
        *ret_n = n;
        return f->out.failed ? -ENOMEM : 0;
}

/* True if debug information has a function of such a name, which has no code of its own then. */
static bool is_inlined(struct finder *f)
{
        struct code_names *names;

        if (!f->index || code_index_complete(f->index, NULL) < 0)
                return false;
        names = code_index_names(f->index);
        for (uint32_t id = 1; id < names->n_names; id++) {
                const char *linkage = code_names_linkage(names, id), *shown = code_names_show(names, id);

                if (linkage && shown && matches(f->pattern, linkage, shown))
                        return true;
        }
        return false;
}

static int find_split(void *context, const char *name, const char *directory, uint64_t dwo_id,
                      const struct debug_sections **ret_sections)
{
        return debug_files_find_split(context, name, directory, dwo_id, ret_sections);
}

/*
 * Every program may run a file of root's or of another user's, and a probe in the midst of an instruction
 * would end it.  A user's link or mount could have false names beside such a file.  NULL = names come from
 * root's folders alone, by the build-id.
 */
static const char *folder_of_names(const struct probe_file *file)
{
        struct stat status;
        bool is_own = fstat(file->fd, &status) == 0 && status.st_uid != 0 &&
                      (geteuid() == 0 || status.st_uid == geteuid());

        return is_own ? file->path : NULL;
}

static int open_file(struct finder *f, struct error *err)
{
        const struct disassembler_options options = { .machine = EM_X86_64, .is_64_bit = true };
        struct code_index_source source = { .find_split = find_split };
        GElf_Ehdr header;
        int r = elf_image_open(f->task->file->fd, &f->image, err);

        if (r < 0)
                return r;
        if (!gelf_getehdr(f->image->elf, &header) || header.e_machine != EM_X86_64)
                return error_set(err, -ENOTSUP, "zones of functions need a program for x86-64");
        if (f->task->request->kind != PROBE_WISH_FUNCTION)
                return 0;
        r = debug_files_open(f->image, folder_of_names(f->task->file), NULL, &f->files, err);
        if (r == 0)
                r = symbol_table_load(&f->symbols, f->files, &f->bounds, err);
        if (r < 0)
                return r;
        source.context = f->files;
        if (debug_files_find_sections(f->files, &source.sections, &source.bias, NULL) > 0) {
                source.supplement = debug_files_find_supplement(f->files);
                source.first_svma = elf_image_first_code(f->image);
                r = code_index_new(&source, &f->index, err);
        }
        if (r < 0)
                return r;
        f->code = malloc(FUNCTION_BYTES_MAX);
        return f->code ? disassembler_open(&options, &f->disassembler, err)
                       : error_set(err, -ENOMEM, "no memory for code");
}

/* ---- static probes ------------------------------------------------------------------------------------- */

/* Is it named so?  @pattern: a glob, with "provider:" before it or not. */
static bool is_named(const struct static_probe *p, const char *pattern, size_t n)
{
        char whole[2 * NAME_LENGTH], wanted[NAME_LENGTH];

        if (n >= sizeof(wanted) || strlen(p->provider) + strlen(p->name) + 2 > sizeof(whole))
                return false;
        (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)n, pattern);
        (void)snprintf(whole, sizeof(whole), "%s:%s", p->provider, p->name);
        return fnmatch(wanted, strchr(wanted, ':') ? whole : p->name, 0) == 0;
}

static bool find_file_off(const struct finder *f, uint64_t svma, uint64_t *ret_off)
{
        for (size_t i = 0; i < f->image->n_segments; i++) {
                const struct elf_image_segment *s = &f->image->segments[i];

                if (svma - s->svma >= s->file_bytes)
                        continue;
                *ret_off = svma - s->svma + s->file_off;
                return true;
        }
        return false;
}

static void add_static(struct finder *f, enum probe_kind kind, const struct static_probe *p)
{
        uint64_t at, semaphore = 0;

        if (!find_file_off(f, p->svma, &at) ||
            (p->semaphore_svma != 0 && !find_file_off(f, p->semaphore_svma, &semaphore)))
                return;
        byte_buffer_add_format(&f->out, "S\t%d\t%" PRIu64 "\t%" PRIu64 "\t", (int)kind, at, semaphore);
        add_text(&f->out, p->arguments);
        byte_buffer_add_u8(&f->out, '\n');
}

static void add_title(struct finder *f, const char *words, size_t n)
{
        char title[2 * NAME_LENGTH];

        (void)snprintf(title, sizeof(title), "%.*s", (int)n, words);
        byte_buffer_add_format(&f->out, "F\t0\t-\t");
        add_text(&f->out, title);
        byte_buffer_add_format(&f->out, "\t-\n");
}

/* Adds all places of a probe.  Returns how many there are. */
static uint32_t add_places(struct finder *f, enum probe_kind kind, const char *pattern, size_t n)
{
        struct static_probe p;
        uint32_t n_found = 0;
        size_t at = 0;

        while (static_probes_next(f->image, &at, &p) == 1) {
                if (!is_named(&p, pattern, n))
                        continue;
                n_found++;
                add_static(f, kind, &p);
        }
        return n_found;
}

static const char *without_provider(const char *name, size_t n)
{
        const char *colon = memchr(name, ':', n);

        return colon ? colon + 1 : name;
}

static int find_static_zone(struct finder *f, struct error *err)
{
        const char *begin = f->task->pattern, *comma = strchr(begin, ',');
        const char *title;
        size_t n_title, n = comma ? (size_t)(comma - begin) : 0;

        if (n == 0 || comma[1] == '\0')
                return error_set(err, -EINVAL, "not two names with a comma between them");
        title = without_provider(begin, n);
        n_title = n - (size_t)(title - begin);
        add_title(f, title,
                  probe_plan_common_part(title, n_title, without_provider(comma + 1, strlen(comma + 1))));
        if (add_places(f, PROBE_BEGIN, begin, n) == 0)
                return error_set(err, -ENOENT, "the file has no static probe (SDT) %.*s", (int)n, begin);
        if (add_places(f, PROBE_END, comma + 1, strlen(comma + 1)) == 0)
                return error_set(err, -ENOENT, "the file has no static probe (SDT) %s", comma + 1);
        return 0;
}

/* True for the first place of a probe. */
static bool is_first(const struct finder *f, const struct static_probe *p)
{
        struct static_probe other;
        size_t at = 0;

        while (static_probes_next(f->image, &at, &other) == 1)
                if (strcmp(other.name, p->name) == 0 && strcmp(other.provider, p->provider) == 0)
                        return other.svma == p->svma;
        return false;
}

static int find_messages(struct finder *f, struct error *err)
{
        struct static_probe p;
        uint32_t n_found = 0;
        size_t at = 0;

        while (static_probes_next(f->image, &at, &p) == 1) {
                char name[2 * NAME_LENGTH];

                if (!is_named(&p, f->task->pattern, strlen(f->task->pattern)) || !is_first(f, &p))
                        continue;
                (void)snprintf(name, sizeof(name), "%s:%s", p.provider, p.name);
                add_title(f, name, strlen(name));
                n_found++;
                (void)add_places(f, PROBE_MARK, name, strlen(name));
        }
        return n_found > 0 ? 0 : error_set(err, -ENOENT, "the file has no such static probe (SDT)");
}

/*
 * "run(n, p->size)" are a pattern and arguments, unless the whole names functions: readable C++ names have
 * parentheses too.  Returns 1, 0 if there are no arguments, -errno.
 */
static int split_arguments(struct finder *f, struct error *err)
{
        size_t n = find_parameters(f->pattern), length = strlen(f->pattern);
        char *words, *at, *word;

        if (n == 0 || n == length || f->pattern[length - 1] != ')')
                return 0;
        f->base = strndup(f->pattern, n);
        words = strndup(f->pattern + n + 1, length - n - 2); /* the process ends, and it with it */
        if (!f->base || !words)
                return error_set(err, -ENOMEM, "no memory for a pattern");
        for (word = strtok_r(words, ", ", &at); word; word = strtok_r(NULL, ", ", &at)) {
                if (f->n_words == PROBE_ARGS_MAX)
                        return error_set(err, -EINVAL, "at most %d arguments of a function are recorded",
                                         PROBE_ARGS_MAX);
                f->words[f->n_words++] = word;
        }
        if (f->n_words > 0)
                f->pattern = f->base;
        return f->n_words > 0;
}

/* Whatever was wanted of the arguments must be there, in all functions. */
static int check_arguments(const struct finder *f, struct error *err)
{
        const char *words = (const char *)f->refusals.data;

        if (f->n_refused > REFUSALS_MAX)
                return error_set(err, -ENOENT, "%.*s; and %u more", (int)f->refusals.used_bytes, words,
                                 f->n_refused - REFUSALS_MAX);
        return f->n_refused == 0 ? 0 : error_set(err, -ENOENT, "%.*s", (int)f->refusals.used_bytes, words);
}

static int open_arguments(struct finder *f, struct error *err)
{
        const char *slash = strrchr(f->task->file->path, '/');
        int r = function_arguments_open(&f->arguments, f->files, err);

        if (r == 0 && !function_arguments_exist(&f->arguments) && f->n_words > 0)
                return error_set(err, -ENOENT,
                                 "no debug information in %s, so no arguments: try -g or its -dbgsym package",
                                 slash ? slash + 1 : f->task->file->path);
        return r;
}

/* Counts the functions that match the pattern, or what is before its arguments. */
static int count_matches(struct finder *f, uint32_t *ret_n, struct error *err)
{
        int r = each_match(f, false, ret_n);

        if (r < 0 || *ret_n > 0)
                return r;
        r = split_arguments(f, err);
        return r == 1 ? each_match(f, false, ret_n) : r;
}

static int find(struct finder *f, struct error *err)
{
        uint32_t n = 0;
        int r = open_file(f, err);

        if (r == 0 && f->task->request->kind == PROBE_WISH_STATIC_ZONE)
                return find_static_zone(f, err);
        if (r == 0 && f->task->request->kind == PROBE_WISH_MESSAGE)
                return find_messages(f, err);
        f->pattern = f->task->pattern;
        if (r == 0)
                r = count_matches(f, &n, err);
        if (r < 0)
                return r;
        if (n > PROBE_PLAN_FUNCTIONS_MAX)
                return error_set(err, -EOVERFLOW,
                                 "%" PRIu32 " functions match, and at most %" PRIu32 " can be zones", n,
                                 (uint32_t)PROBE_PLAN_FUNCTIONS_MAX);
        if (n == 0 && f->symbols.n_entries == 0)
                return error_set(err, -ENOENT, "the file has no names of functions (stripped)");
        if (n == 0)
                return error_set(err, -ENOENT,
                                 is_inlined(f) ? "inlined everywhere, so it has no code of its own to probe; "
                                                 "__attribute__((noinline)) keeps it"
                                               : "no function has such a name");
        if (f->n_words > 0 || f->task->request->wants_parameters)
                r = open_arguments(f, err);
        if (r == 0)
                r = each_match(f, true, &n);
        return r < 0 ? r : check_arguments(f, err);
}

int probe_finder_run(void *context, int pipe_fd)
{
        const struct probe_finder_task *task = context;
        struct confinement_user user = { task->request->uid, task->request->gid };
        struct finder f = { .task = task };
        struct probe_file file = *task->file;
        int fds[2] = { pipe_fd, file.fd };
        struct error err = ERROR_NONE;
        struct probe_finder_task own = { task->request, &file, task->pattern };
        int r = confinement_enter(user, fds, 2, &err);

        file.fd = fds[1];
        f.task = &own;
        if (r == 0)
                r = find(&f, &err);
        if (r < 0) {
                byte_buffer_clear(&f.out);
                byte_buffer_add_format(&f.out, "E\t%d\t", -r);
                add_text(&f.out, err.text);
                byte_buffer_add_u8(&f.out, '\n');
        }
        /* the process ends: what else it has is freed with it */
        return io_write_all(fds[0], f.out.data, f.out.used_bytes, NULL) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
