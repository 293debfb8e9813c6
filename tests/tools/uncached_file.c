/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/uncached_file.c - mounts a folder with one file that the kernel keeps no
 * pages of until it is mapped
 *
 * uncached_file FOLDER FILE: until it is killed, FOLDER/program has the bytes of FILE.  As 9p without a cache
 * does, it hides the file's build-id from the kernel's mapping records.  Speaks FUSE by itself; as root.
 * Prints a line when the folder is mounted; exit status 77 if that is not possible here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define REQUEST_BYTES (1 << 20)
#define FILE_ID       2
#define NAME          "program"

static int device_fd, file_fd;
static struct stat status;

static void answer(const struct fuse_in_header *to, int error, const void *bytes, size_t n_bytes)
{
        static uint8_t out[REQUEST_BYTES];
        const struct fuse_out_header header = { .len = (uint32_t)(sizeof(header) + n_bytes),
                                                .error = -error,
                                                .unique = to->unique };

        memcpy(out, &header, sizeof(header));
        if (n_bytes > 0)
                memcpy(out + sizeof(header), bytes, n_bytes);
        if (write(device_fd, out, header.len) < 0 && errno != ENOENT) /* ENOENT: it was interrupted */
                exit(EXIT_FAILURE);
}

static struct fuse_attr attributes_of(uint64_t id)
{
        return id == FILE_ID ? (struct fuse_attr){ .ino = FILE_ID,
                                                   .size = (uint64_t)status.st_size,
                                                   .mtime = (uint64_t)status.st_mtime,
                                                   .mode = S_IFREG | 0755,
                                                   .nlink = 1 }
                             : (struct fuse_attr){ .ino = id, .mode = S_IFDIR | 0755, .nlink = 2 };
}

static void look_up(const struct fuse_in_header *to, const char *name)
{
        const struct fuse_entry_out entry = { .nodeid = FILE_ID, .attr = attributes_of(FILE_ID) };

        if (strcmp(name, NAME) == 0)
                answer(to, 0, &entry, sizeof(entry));
        else
                answer(to, ENOENT, NULL, 0);
}

static void read_file(const struct fuse_in_header *to, const struct fuse_read_in *in)
{
        static uint8_t bytes[REQUEST_BYTES / 2];
        ssize_t n = pread(file_fd, bytes, in->size < sizeof(bytes) ? in->size : sizeof(bytes),
                          (off_t)in->offset);

        answer(to, n < 0 ? errno : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void serve(const struct fuse_in_header *to, const void *body)
{
        const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
                                            .minor = 31,
                                            .flags = FUSE_INIT_EXT,
                                            .flags2 = 0,
                                            .max_readahead = 4096,
                                            .max_write = 4096 };
        const struct fuse_attr_out attributes = { .attr = attributes_of(to->nodeid) };
        const struct fuse_open_out opened = { .open_flags = FOPEN_DIRECT_IO };

        switch (to->opcode) {
        case FUSE_INIT:
                answer(to, 0, &init, sizeof(init));
                return;
        case FUSE_LOOKUP:
                look_up(to, body);
                return;
        case FUSE_GETATTR:
                answer(to, 0, &attributes, sizeof(attributes));
                return;
        case FUSE_OPEN:
                answer(to, 0, &opened, sizeof(opened));
                return;
        case FUSE_READ:
                read_file(to, body);
                return;
        case FUSE_RELEASE:
        case FUSE_FLUSH:
                answer(to, 0, NULL, 0);
                return;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
                return;
        default:
                answer(to, ENOSYS, NULL, 0);
        }
}

int main(int argc, char **argv)
{
        static _Alignas(8) uint8_t request[REQUEST_BYTES];
        char options[128];
        ssize_t n;

        if (argc != 3)
                return EXIT_FAILURE;
        file_fd = open(argv[2], O_RDONLY | O_CLOEXEC);
        device_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        if (file_fd < 0 || fstat(file_fd, &status) < 0)
                return EXIT_FAILURE;
        (void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
                       device_fd);
        if (device_fd < 0 || mount(NAME, argv[1], "fuse", MS_NODEV, options) < 0) {
                printf("FUSE: %s\n", strerror(errno));
                return 77;
        }
        puts("mounted");
        (void)fflush(stdout);
        while ((n = read(device_fd, request, sizeof(request))) > 0 || (n < 0 && errno == EINTR))
                if (n > 0)
                        serve((const void *)request, request + sizeof(struct fuse_in_header));
        return EXIT_SUCCESS;
}
