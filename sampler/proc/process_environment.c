/* SPDX-License-Identifier: MIT */
#include "sampler/proc/process_environment.h"

#include "base/byte_buffer.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 64

/* docs/use/recording.md lists them. */
static const char *const names[] = {
        "CUDA_VISIBLE_DEVICES",
        "GLIBC_TUNABLES",
        "GODEBUG",
        "GOGC",
        "GOMAXPROCS",
        "GOMEMLIMIT",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "LANG",
        "LANGUAGE",
        "LD_AUDIT",
        "LD_BIND_NOW",
        "LD_DEBUG",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "NODE_OPTIONS",
        "RAYON_NUM_THREADS",
        "TOKIO_WORKER_THREADS",
        "UV_THREADPOOL_SIZE",
        "_JAVA_OPTIONS",
        "_RJEM_MALLOC_CONF",
};
static const char *const prefixes[] = {
        "BLIS_", "DOTNET_",  "GOMP_", "KMP_",      "LC_",    "MALLOC_",  "MIMALLOC_",
        "MKL_",  "NUMEXPR_", "OMP_",  "OPENBLAS_", "PYTHON", "RUBY_GC_", "TCMALLOC_",
};

/* A variable with such a word in its name may be a secret. */
static const char *const secrets[] = { "AUTH", "CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN" };

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

struct variable {
        const char *name, *value; /* borrowed */
        size_t name_bytes, value_bytes;
};

struct variables {
        struct variable of[PROCESS_ENVIRONMENT_VARIABLES_MAX];
        size_t n;
        bool has_more;
};

static bool is_variable_name(const char *name, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                char c = name[i];

                if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
                        return false;
        }
        return n > 0 && n <= NAME_BYTES_MAX;
}

static bool is_listed_variable(const char *name, size_t n)
{
        for (size_t i = 0; i < COUNT_OF(names); i++)
                if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
                        return true;
        for (size_t i = 0; i < COUNT_OF(prefixes); i++)
                if (n > strlen(prefixes[i]) && memcmp(prefixes[i], name, strlen(prefixes[i])) == 0)
                        return true;
        return false;
}

static bool is_secret(const struct variable *v)
{
        for (size_t i = 0; i < COUNT_OF(secrets); i++)
                if (memmem(v->name, v->name_bytes, secrets[i], strlen(secrets[i])))
                        return true;
        /* Variables with JAVA_ in their name pass properties of Java programs as well. */
        return memmem(v->name, v->name_bytes, "JAVA_", strlen("JAVA_")) != NULL;
}

/* Neither a path nor a sentence. */
static bool is_short_word(const char *value, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                char c = value[i];

                if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
                    (c == '\0' || !strchr("_.,:+-=@%{}", c)))
                        return false;
        }
        return n <= PROCESS_ENVIRONMENT_VALUE_MAX;
}

/* True if a variable of this name is already known: programs see the first of several. */
static bool was_taken(const struct variables *known, const struct variable *v)
{
        for (size_t i = 0; i < known->n; i++)
                if (known->of[i].name_bytes == v->name_bytes &&
                    memcmp(known->of[i].name, v->name, v->name_bytes) == 0)
                        return true;
        return false;
}

static void take_variable(struct variables *known, const char *text, size_t n)
{
        const char *equals = memchr(text, '=', n);
        struct variable v = { .name = text };

        if (!equals)
                return;
        v.name_bytes = (size_t)(equals - text);
        v.value = equals + 1;
        v.value_bytes = n - v.name_bytes - 1;
        if (!is_variable_name(v.name, v.name_bytes) || !is_listed_variable(v.name, v.name_bytes) ||
            was_taken(known, &v))
                return;
        if (known->n < COUNT_OF(known->of))
                known->of[known->n++] = v;
        else
                known->has_more = true;
}

static int compare_variables(const void *a, const void *b)
{
        const struct variable *x = a, *y = b;
        size_t n = x->name_bytes < y->name_bytes ? x->name_bytes : y->name_bytes;
        int order = memcmp(x->name, y->name, n);

        return order != 0 ? order : (x->name_bytes > y->name_bytes) - (x->name_bytes < y->name_bytes);
}

static void put_environment_value(const char *value, size_t n, struct byte_buffer *text)
{
        if (is_short_word(value, n))
                byte_buffer_add(text, value, n);
        else
                byte_buffer_add_format(text, "(%zu_bytes)", n);
}

/* "/opt/lib/libjemalloc.so.2 libm.so" becomes "libjemalloc.so.2:libm.so". */
static void put_libraries(const struct variable *v, struct byte_buffer *text)
{
        size_t at = 0, n = 0, begin = text->used_bytes;

        while (at < v->value_bytes) {
                size_t start = at, end;

                while (at < v->value_bytes && v->value[at] != ' ' && v->value[at] != ':') {
                        at++;
                        if (v->value[at - 1] == '/')
                                start = at;
                }
                end = at++;
                if (end == start)
                        continue;
                if (text->used_bytes - begin >= (size_t)4 * PROCESS_ENVIRONMENT_VALUE_MAX) {
                        byte_buffer_add(text, ":...", 4);
                        return;
                }
                byte_buffer_add(text, ":", n++ > 0);
                put_environment_value(v->value + start, end - start, text);
        }
}

static bool is_named(const struct variable *v, const char *name)
{
        return v->name_bytes == strlen(name) && memcmp(v->name, name, v->name_bytes) == 0;
}

static void put_variables(struct variables *known, struct byte_buffer *text)
{
        if (known->n > 1)
                qsort(known->of, known->n, sizeof(known->of[0]), compare_variables);
        for (size_t i = 0; i < known->n; i++) {
                const struct variable *v = &known->of[i];

                byte_buffer_add(text, " ", i > 0);
                byte_buffer_add(text, v->name, v->name_bytes);
                byte_buffer_add_u8(text, '=');
                if (is_secret(v))
                        byte_buffer_add_format(text, "(%zu_bytes)", v->value_bytes);
                else if (is_named(v, "LD_PRELOAD") || is_named(v, "LD_AUDIT"))
                        put_libraries(v, text);
                else
                        put_environment_value(v->value, v->value_bytes, text);
        }
        if (known->n == 0)
                byte_buffer_add(text, PROCESS_ENVIRONMENT_NONE, strlen(PROCESS_ENVIRONMENT_NONE));
        if (known->has_more)
                byte_buffer_add(text, " (more)", strlen(" (more)"));
}

void process_environment_add(const char *block, size_t n, struct byte_buffer *text)
{
        struct variables known = { .n = 0 };
        size_t at = 0;

        while (at < n) {
                size_t n_bytes = strnlen(block + at, n - at);

                take_variable(&known, block + at, n_bytes);
                at += n_bytes + 1;
        }
        put_variables(&known, text);
}

void process_environment_add_own(char *const *variables, struct byte_buffer *text)
{
        struct variables known = { .n = 0 };

        for (size_t i = 0; variables && variables[i]; i++)
                take_variable(&known, variables[i], strlen(variables[i]));
        put_variables(&known, text);
}

int process_environment_add_of(uint32_t pid, struct byte_buffer *text)
{
        struct byte_buffer block = { .data = NULL };
        char path[64];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%u/environ", pid);
        r = io_read_file(AT_FDCWD, path, PROCESS_ENVIRONMENT_BYTES_MAX, &block, NULL);
        if (r == 0)
                process_environment_add((const char *)block.data, block.used_bytes, text);
        byte_buffer_deinit(&block);
        return r;
}
