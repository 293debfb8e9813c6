/* SPDX-License-Identifier: MIT */
/*
 * w_kernel_turns TEMPLATE [KERNELS=2000 [MILLISECONDS=2 [FILES=1]]]
 *
 * TEMPLATE is a shared library that was made from tests/workloads/kernel_template.c, without a build-id.  One
 * kernel after the other is made of it by writing its number over "kernel_0000" in all the places where that
 * stands, symbols and debug information; it is written to $TMPDIR, loaded, deleted, run, and unloaded.  With
 * FILES = 0 all are written into one file, which stays.
 *
 * Truth: a zone is named as the kernel that runs in it: all samples of the zone "kernel_0042" that lie in the
 * kernel lie in the function kernel_0042, from kernel_0042.mlir, whatever was at that address before.  Prints
 * "addresses N": how many different ones the kernels had.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES    12 /* "kernel_0000" and its end */
#define ADDRESSES_MAX 10000

static const char template_name[] = "kernel_0000";

struct template
{
        char *bytes; /* never freed */
        size_t n_bytes;
};

static void read_template(const char *path, struct template *ret_template)
{
        static char bytes[1 << 20];
        FILE *f = path ? fopen(path, "re") : NULL;

        if (!f) {
                perror("w_kernel_turns: template");
                exit(2);
        }
        *ret_template = (struct template){ bytes, fread(bytes, 1, sizeof(bytes), f) };
        (void)fclose(f);
}

/* @old and @new have the same length. */
static void rename_all(const struct template *template, const char *old, const char *new)
{
        size_t n_name = strlen(old);

        for (size_t i = 0; i + n_name <= template->n_bytes; i++) {
                if (memcmp(template->bytes + i, old, n_name) == 0)
                        memcpy(template->bytes + i, new, n_name);
        }
}

static void *load(const struct template *template, const char *path, bool stays)
{
        FILE *f = fopen(path, "we");
        void *library = NULL;

        if (f && fwrite(template->bytes, 1, template->n_bytes, f) == template->n_bytes && fclose(f) == 0)
                library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!stays)
                (void)unlink(path);
        if (!library) {
                (void)fprintf(stderr, "w_kernel_turns: %s\n", dlerror());
                exit(2);
        }
        return library;
}

static void *run(void *library, const char *name, uint64_t n_rounds)
{
        void *symbol = dlsym(library, "entry");
        void (*entry)(uint64_t n_rounds) = NULL;
        hyprof_zone zone = hyprof_zone_begin(hyprof_name_of(name));

        memcpy(&entry, &symbol, sizeof(entry));
        if (entry)
                entry(n_rounds);
        hyprof_zone_end(zone);
        return symbol;
}

int main(int argc, char **argv)
{
        static void *addresses[ADDRESSES_MAX];
        int n_kernels = (int)burn_argument(argc, argv, 2, 2000);
        uint64_t n_rounds = burn_rounds_of((int64_t)(burn_argument(argc, argv, 3, 2) * 1e6));
        bool stays = burn_argument(argc, argv, 4, 1) == 0;
        const char *folder = getenv("TMPDIR");
        struct template template;
        int n_addresses = 0;
        char old[NAME_BYTES] = "kernel_0000";

        read_template(argc > 1 ? argv[1] : NULL, &template);
        for (int i = 0; i < n_kernels && i < ADDRESSES_MAX; i++) {
                char name[NAME_BYTES + 8], path[4096]; /* room for any int */
                void *library, *address;
                int known = 0;

                (void)snprintf(name, sizeof(name), "%.7s%04d", template_name, i % 10000);
                (void)snprintf(path, sizeof(path), "%s/%s.so", folder ? folder : "/tmp",
                               stays ? "kernel" : name);
                rename_all(&template, old, name);
                memcpy(old, name, sizeof(old));
                library = load(&template, path, stays);
                address = run(library, name, n_rounds);
                (void)dlclose(library);
                while (known < n_addresses && addresses[known] != address)
                        known++;
                if (known == n_addresses)
                        addresses[n_addresses++] = address;
        }
        (void)printf("addresses %d\n", n_addresses);
        return EXIT_SUCCESS;
}
