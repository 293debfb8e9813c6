/* SPDX-License-Identifier: MIT */
/*
 * view/answers/debian_package.h - the Debian package that a file of this machine was installed by
 *
 * Way of the data:  /var/lib/dpkg/info -> [debian_package] -> gap_advice
 */
#ifndef VIEW_ANSWERS_DEBIAN_PACKAGE_H
#define VIEW_ANSWERS_DEBIAN_PACKAGE_H

#include "base/text_view.h"

#include <stdbool.h>

#define DEBIAN_PACKAGE_LISTS      "/var/lib/dpkg/info" /* of installed files, one a package */
#define DEBIAN_PACKAGE_NAME_BYTES 128

/*
 * debian_package_find() - the name of the package that has a file
 * @lists:     a folder as DEBIAN_PACKAGE_LISTS
 * @path:      of the file, absolute; with /usr and without it are the same file, as Debian has merged them
 * @ret_name:  without the architecture
 * Reads all lists until one has the path, which takes some 40 ms.  False if there is none, the file is not
 * here, or there is no such folder.
 */
bool debian_package_find(const char *lists, struct text_view path, char ret_name[DEBIAN_PACKAGE_NAME_BYTES]);

#endif /* VIEW_ANSWERS_DEBIAN_PACKAGE_H */
