/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/kernel_image.h"

#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ISO C has no cast from an object pointer to a function pointer; POSIX wants the copy to work. */
static int take_function(struct kernel_image *image, void *symbol)
{
        memcpy(&image->run, &symbol, sizeof(symbol));
        if (!symbol)
                (void)fprintf(stderr, "kernel_pool: %s is not in its library\n", image->plan.name);
        return symbol ? 0 : -1;
}

static int write_binary(const struct kernel_binary *binary, const char *path)
{
        FILE *f = fopen(path, "we");
        size_t n_bytes;

        if (!f)
                return -1;
        n_bytes = fwrite(binary->bytes, 1, binary->n_bytes, f);
        return fclose(f) != 0 || n_bytes != binary->n_bytes ? -1 : 0;
}

int kernel_image_load_file(struct kernel_image *image, const struct kernel_compiler *compiler)
{
        char *path = kernel_compiler_path(compiler, &image->plan, "so");
        int result = -1;

        HYPROF_ZONE("load");
        if (path && write_binary(&image->binary, path) == 0)
                image->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (path)
                (void)unlink(path);
        if (image->library)
                result = take_function(image, dlsym(image->library, image->plan.name));
        else
                (void)fprintf(stderr, "kernel_pool: %s cannot be loaded: %s\n", image->plan.name, dlerror());
        free(path);
        if (result != 0)
                kernel_image_unload(image);
        return result;
}

int kernel_image_load_memory(struct kernel_image *image)
{
        int result;

        HYPROF_ZONE("load");
        result = image_mapper_map(image->binary.bytes, image->binary.n_bytes, &image->mapping);
        if (result == 0)
                result = take_function(image, image_mapper_find(&image->mapping, image->plan.name));
        else
                (void)fprintf(stderr, "kernel_pool: %s cannot be mapped\n", image->plan.name);
        if (result != 0)
                kernel_image_unload(image);
        return result;
}

void kernel_image_unload(struct kernel_image *image)
{
        if (image->library)
                (void)dlclose(image->library);
        image_mapper_unmap(&image->mapping);
        image->library = NULL;
        image->run = NULL;
}
