/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_request.c, event_lookup.c, event_pmu.c: any text is a list of events or is refused,
 * and so is any file of sysfs
 */
#include "base/error.h"
#include "sampler/events/event_places.h"
#include "sampler/events/event_request.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char devices
        [PATH_BYTES]; /* of a machine with one PMU, "p", whose terms and events the input has as well */

static void put_file(const char *path, const void *bytes, size_t n_bytes)
{
        char whole[2 * PATH_BYTES];
        int fd;

        (void)snprintf(whole, sizeof(whole), "%s/p/%s", devices, path);
        fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, bytes, n_bytes) != (ssize_t)n_bytes || close(fd) < 0)
                abort();
}

static void make_folder(const char *path)
{
        char whole[2 * PATH_BYTES];

        (void)snprintf(whole, sizeof(whole), "%s/%s", devices, path);
        if (mkdir(whole, 0700) < 0)
                abort();
}

static void remove_all(void)
{
        static const char *const paths[] = { "p/format/a", "p/format/event", "p/format", "p/events/e",
                                             "p/events",   "p/cpus",         "p/type",   "p" };
        char whole[2 * PATH_BYTES];

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                (void)snprintf(whole, sizeof(whole), "%s/%s", devices, paths[i]);
                (void)remove(whole);
        }
        (void)rmdir(devices);
}

static void make_machine(void)
{
        const char *folder = getenv("TMPDIR");

        (void)snprintf(devices, sizeof(devices), "%.200s/fuzz_XXXXXX", folder ? folder : "/tmp");
        if (!mkdtemp(devices) || atexit(remove_all) != 0)
                abort();
        make_folder("p");
        make_folder("p/format");
        make_folder("p/events");
        put_file("type", "9\n", 2);
        put_file("format/event", "config:0-7,32-35\n", 17);
}

/* Four parts, each ended by a newline: the list, a term's format, an event's terms, the CPUs. */
static const uint8_t *next_part(const uint8_t **at, size_t *left, size_t *ret_bytes)
{
        const uint8_t *part = *at, *end = memchr(part, '\n', *left);
        size_t n_bytes = end ? (size_t)(end - part) : *left;

        *ret_bytes = n_bytes;
        *at += n_bytes + (end != NULL);
        *left -= n_bytes + (end != NULL);
        return part;
}

static void check(const struct event_request *request)
{
        if (request->n_specs > EVENT_REQUEST_SPECS_MAX)
                abort();
        for (size_t i = 0; i < request->n_specs; i++) {
                const struct event_spec *spec = &request->specs[i];

                if (spec->leader > i || !memchr(spec->name, '\0', sizeof(spec->name)) || !spec->unit ||
                    spec->precise > 3 || (spec->only_counts && spec->leader == i))
                        abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const files[] = { "format/a", "events/e", "cpus" };
        struct event_places places = { .devices = devices, .tracing = devices, .without_library = true };
        static struct event_request request;
        struct error err = ERROR_NONE;
        size_t left = size, n_bytes;
        const uint8_t *part;
        char *list;

        if (devices[0] == '\0')
                make_machine();
        part = next_part(&data, &left, &n_bytes);
        list = strndup((const char *)part, n_bytes);
        if (!list)
                abort();
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                part = next_part(&data, &left, &n_bytes);
                put_file(files[i], part, n_bytes);
        }
        memset(&request, 0, sizeof(request));
        request.places = &places;
        if (event_request_add(&request, list, &err) == 0)
                check(&request);
        else if (err.text[0] == '\0' || request.n_specs != 0)
                abort();
        free(list);
        return 0;
}
