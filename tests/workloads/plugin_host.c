/* SPDX-License-Identifier: MIT */
/*
 * A program and two plugins, each with a copy of the client library.  Arguments: the shared objects A and B
 *
 * Truth: 300 zones of A and 400 of B, 100 each in a forked child and 100 of B in a second thread; one
 * zone "host" around all of them, which the fork and the closing of A do not end, and one "child" in
 * the child.  Built with
 * -DHYPROF_DISABLE: the same without the last two.  Exit status 0 if there was never more than one region.
 */
#include <dlfcn.h>
#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ZONES 100

struct plugin {
        void *object;
        void (*work)(int n);
};

static struct plugin open_plugin(const char *path)
{
        struct plugin p = { .object = dlopen(path, RTLD_NOW | RTLD_LOCAL) };
        void *work = p.object ? dlsym(p.object, "plugin_work") : NULL;

        if (!work) {
                (void)fprintf(stderr, "plugin_host: %s\n", dlerror());
                exit(EXIT_FAILURE);
        }
        memcpy(&p.work, &work, sizeof(work)); /* POSIX says that this is a function */
        return p;
}

static void close_plugin(const struct plugin *p)
{
        if (dlclose(p->object) != 0)
                exit(EXIT_FAILURE);
}

static void *work_in_thread(void *plugin)
{
        ((const struct plugin *)plugin)->work(N_ZONES);
        return NULL;
}

/* True if all mappings of regions are of the same one. */
static bool is_one_region(void)
{
        char line[4096];
        unsigned long inode = 0;
        bool one = true;
        FILE *maps = fopen("/proc/self/maps", "r");

        while (maps && fgets(line, sizeof(line), maps)) {
                char *space = strstr(line, "/memfd:hyprof-client");
                unsigned long found;

                if (!space)
                        continue;
                do
                        *space-- = '\0';
                while (*space == ' ');
                found = strtoul(strrchr(line, ' '), NULL, 10);
                one = one && (inode == 0 || found == inode);
                inode = found;
        }
        if (maps)
                (void)fclose(maps);
        return one && inode != 0;
}

static int run_child(const struct plugin *a, const struct plugin *b)
{
        HYPROF_ZONE("child");
        a->work(N_ZONES);
        b->work(N_ZONES);
        return is_one_region() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
        struct plugin a, b;
        pthread_t thread;
        int status = -1;
        pid_t child;

        HYPROF_ZONE("host");
        if (argc != 3)
                return EXIT_FAILURE;
        a = open_plugin(argv[1]);
        a.work(N_ZONES);
        b = open_plugin(argv[2]);
        b.work(N_ZONES);
        close_plugin(&a);
        b.work(N_ZONES);
        if (pthread_create(&thread, NULL, work_in_thread, &b) != 0 || pthread_join(thread, NULL) != 0)
                return EXIT_FAILURE;
        a = open_plugin(argv[1]);
        a.work(N_ZONES);

        child = fork();
        if (child == 0)
                return run_child(&a, &b);
        if (waitpid(child, &status, 0) != child || status != 0 || !is_one_region())
                return EXIT_FAILURE;
        close_plugin(&a);
        close_plugin(&b);
        return EXIT_SUCCESS;
}
