/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/kernel_image.h"

#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One for the source, one for the library; freed by the caller. */
static char *path_of(const struct kernel_image *image, const char *folder, const char *suffix)
{
        char *path = NULL;

        return asprintf(&path, "%s/%s%s", folder, image->plan.name, suffix) < 0 ? NULL : path;
}

static int write_source(const struct kernel_image *image, const char *path)
{
        FILE *f = fopen(path, "we");
        int result;

        if (!f)
                return -1;
        result = kernel_plan_write_source(&image->plan, f);
        return fclose(f) != 0 ? -1 : result;
}

static int compile(const char *source, const char *library)
{
        const char *compiler = getenv("CC");
        pid_t pid;
        int status = 0;

        HYPROF_ZONE("compile");
        if (!compiler)
                compiler = "cc";
        pid = fork();
        if (pid == 0) {
                (void)execlp(compiler, compiler, "-O2", "-g", "-shared", "-fPIC", "-fno-omit-frame-pointer",
                             "-o", library, source, "-lm", (char *)NULL);
                perror(compiler);
                _exit(127);
        }
        while (pid > 0 && waitpid(pid, &status, 0) < 0) {
                if (errno != EINTR)
                        return -1;
        }
        return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int load(struct kernel_image *image, const char *library)
{
        HYPROF_ZONE("load");
        image->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!image->library) {
                (void)fprintf(stderr, "kernel_pool: %s\n", dlerror());
                return -1;
        }
        /* ISO C has no cast from an object pointer to a function pointer; POSIX wants the copy to work. */
        void *symbol = dlsym(image->library, image->plan.name);

        memcpy(&image->run, &symbol, sizeof(symbol));
        return symbol ? 0 : -1;
}

int kernel_image_load(struct kernel_image *image, const char *folder)
{
        char *source = path_of(image, folder, ".c");
        char *library = path_of(image, folder, ".so");
        int result = -1;

        if (source && library && write_source(image, source) == 0 && compile(source, library) == 0)
                result = load(image, library);
        if (source)
                (void)unlink(source);
        if (library)
                (void)unlink(library);
        if (result != 0) {
                (void)fprintf(stderr, "kernel_pool: %s could not be compiled and loaded\n", image->plan.name);
                kernel_image_unload(image);
        }
        free(source);
        free(library);
        return result;
}

void kernel_image_unload(struct kernel_image *image)
{
        if (image->library)
                (void)dlclose(image->library);
        image->library = NULL;
        image->run = NULL;
}
