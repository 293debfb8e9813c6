/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/module_images.h - whether a trace keeps the code of a module, and if not, why
 *
 * Way of the data:  trace_dictionary (MODULE_IMAGES) -> [module_images] -> image_finder, `hyprof
 *                   modules`, `hyprof extract`
 *
 * It is made when the dictionary has all its rows, and keeps no pointer to them.
 */
#ifndef SYMBOLIZE_IMAGES_MODULE_IMAGES_H
#define SYMBOLIZE_IMAGES_MODULE_IMAGES_H

#include <stdint.h>

struct error;
struct trace_dictionary;
struct trace_module_image;

struct module_images {
        uint32_t *rows; /* heap; by module: the last row of it, 0 = it has none */
        uint32_t n_modules;
};

/* Returns 0 or -ENOMEM. */
int module_images_init(struct module_images *m, const struct trace_dictionary *dictionary, struct error *err);
void module_images_deinit(struct module_images *m);

/* The row that counts for @module, or NULL; its attachment is 0 unless the code was kept. */
const struct trace_module_image *module_images_find(const struct module_images *m,
                                                    const struct trace_dictionary *dictionary,
                                                    uint32_t module);

#endif /* SYMBOLIZE_IMAGES_MODULE_IMAGES_H */
