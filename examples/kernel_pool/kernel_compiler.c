/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/kernel_compiler.h"

#include "examples/kernel_pool/kernel_plan.h"
#include "examples/kernel_pool/kernel_source.h"

#include <hyprof/hyprof.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 64 /* of the command line */

char *kernel_compiler_path(const struct kernel_compiler *compiler, const struct kernel_plan *plan,
                           const char *suffix)
{
        char *path = NULL;

        return asprintf(&path, "%s/%s.%s", compiler->folder, plan->name, suffix) < 0 ? NULL : path;
}

/* The MLIR is never a file: the recorder is given its text under the name that the debug information has. */
static int hand_over_ir(const struct kernel_plan *plan, const char *ir_file)
{
        char *text = NULL;
        size_t n_bytes = 0;
        FILE *f = open_memstream(&text, &n_bytes);
        int result;

        if (!f)
                return -1;
        result = kernel_source_write_ir(plan, f);
        if (fclose(f) != 0)
                result = -1;
        if (result == 0)
                hyprof_source_text(ir_file, strlen(ir_file), text, n_bytes);
        free(text);
        return result;
}

static int write_source(const struct kernel_plan *plan, const char *ir_file, const char *path)
{
        FILE *f = fopen(path, "we");
        int result;

        if (!f)
                return -1;
        result = kernel_source_write(plan, ir_file, f);
        return fclose(f) != 0 ? -1 : result;
}

/* Does not return. */
static void become_compiler(const char *cflags, const char *source, const char *library)
{
        const char *name = getenv("CC") ? getenv("CC") : "cc";
        char *flags = strdup(cflags ? cflags : "");
        const char *words[WORDS_MAX] = { name, "-O2",   "-g",   "-shared", "-fPIC", "-fno-omit-frame-pointer",
                                         "-o", library, source, "-lm" };
        char *rest = NULL;
        size_t n = 10;

        for (char *word = strtok_r(flags, " ", &rest); word && n < WORDS_MAX - 1;
             word = strtok_r(NULL, " ", &rest))
                words[n++] = word;
        /* execvp(3) does not change what it is given. */
        (void)execvp(name, (char *const *)(uintptr_t)words);
        perror(name);
        _exit(127);
}

static int compile(const char *cflags, const char *source, const char *library)
{
        pid_t pid;
        int status = 0;

        HYPROF_ZONE("compile");
        pid = fork();
        if (pid == 0)
                become_compiler(cflags, source, library);
        while (pid > 0 && waitpid(pid, &status, 0) < 0) {
                if (errno != EINTR)
                        return -1;
        }
        return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int read_binary(const char *path, struct kernel_binary *ret_binary)
{
        FILE *f = fopen(path, "re");
        struct kernel_binary binary = { NULL, 0 };
        long n_bytes = -1;

        if (f && fseek(f, 0, SEEK_END) == 0)
                n_bytes = ftell(f);
        if (n_bytes > 0 && fseek(f, 0, SEEK_SET) == 0)
                binary.bytes = malloc((size_t)n_bytes);
        if (binary.bytes)
                binary.n_bytes = fread(binary.bytes, 1, (size_t)n_bytes, f);
        if (f)
                (void)fclose(f);
        if (!binary.bytes || binary.n_bytes != (size_t)n_bytes) {
                free(binary.bytes);
                return -1;
        }
        *ret_binary = binary;
        return 0;
}

int kernel_compiler_run(const struct kernel_compiler *compiler, const struct kernel_plan *plan,
                        struct kernel_binary *ret_binary)
{
        char *source = kernel_compiler_path(compiler, plan, "c");
        char *library = kernel_compiler_path(compiler, plan, "so");
        char *ir_file = kernel_compiler_path(compiler, plan, "mlir");
        int result = -1;

        if (source && library && ir_file &&
            write_source(plan, compiler->from_mlir ? ir_file : NULL, source) == 0 &&
            compile(compiler->cflags, source, library) == 0)
                result = read_binary(library, ret_binary);
        if (result == 0 && compiler->from_mlir)
                (void)hand_over_ir(plan, ir_file);
        if (source)
                (void)unlink(source);
        if (library)
                (void)unlink(library);
        if (result != 0)
                (void)fprintf(stderr, "kernel_pool: %s could not be compiled\n", plan->name);
        free(source);
        free(library);
        free(ir_file);
        return result;
}
