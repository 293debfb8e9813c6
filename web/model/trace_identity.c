/* SPDX-License-Identifier: MIT */
#include "web/model/trace_identity.h"

#include <errno.h>
#include <sys/stat.h>

static struct trace_identity identity_of(const struct stat *status)
{
        return (struct trace_identity){ .device = status->st_dev,
                                        .inode = status->st_ino,
                                        .size_bytes = (uint64_t)status->st_size,
                                        .modified_s = status->st_mtim.tv_sec,
                                        .modified_ns = status->st_mtim.tv_nsec };
}

static bool is_same(const struct trace_identity *now, const struct trace_identity *before)
{
        if (before->is_replaced)
                return true;
        if (now->device != before->device || now->inode != before->inode)
                return false;
        if (before->grows)
                return now->size_bytes >= before->size_bytes;
        return now->size_bytes == before->size_bytes && now->modified_s == before->modified_s &&
               now->modified_ns == before->modified_ns;
}

int trace_identity_read(struct trace_identity *ret, int fd)
{
        struct stat status;

        if (fstat(fd, &status) < 0)
                return -errno;
        *ret = identity_of(&status);
        return 0;
}

bool trace_identity_is_at(const struct trace_identity *identity, const char *path)
{
        struct trace_identity now;
        struct stat status;

        if (stat(path, &status) < 0)
                return false;
        now = identity_of(&status);
        return is_same(&now, identity);
}

bool trace_identity_is_open(const struct trace_identity *identity, int fd)
{
        struct trace_identity now;
        struct stat status;

        if (fstat(fd, &status) < 0)
                return false;
        now = identity_of(&status);
        return (status.st_nlink > 0 || identity->is_replaced) && is_same(&now, identity);
}
