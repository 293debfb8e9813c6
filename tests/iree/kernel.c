/* SPDX-License-Identifier: MIT */
/*
 * kernel
 *
 * A dispatch as IREE's compiler makes it: an ELF image with a table of functions, which IREE's loader puts
 * into memory.  build.sh compiles it against IREE's header, without a library.
 */
#include "iree/hal/local/executable_library.h"

#define N_ROUNDS 5000

/* binding 2 = binding 0 * binding 1, of 4 floats; workgroups do the same.  Long enough to be sampled. */
static int multiply(const iree_hal_executable_environment_v0_t *environment,
                    const iree_hal_executable_dispatch_state_v0_t *dispatch,
                    const iree_hal_executable_workgroup_state_v0_t *workgroup)
{
        const float *a = (const float *)dispatch->binding_ptrs[0];
        const float *b = (const float *)dispatch->binding_ptrs[1];
        float *product = (float *)dispatch->binding_ptrs[2];
        int round;

        (void)environment;
        (void)workgroup;
        for (round = 0; round < N_ROUNDS; round++) {
                const float value = a[round % 4] * b[round % 4];

                __asm__ volatile("" ::: "memory"); /* each time anew */
                product[round % 4] = value;
        }
        return 0;
}

static const iree_hal_executable_library_header_t header = {
        .version = IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST,
        .name = "hyprof_kernel",
        .features = IREE_HAL_EXECUTABLE_LIBRARY_FEATURE_NONE,
        .sanitizer = IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_NONE,
};
static const iree_hal_executable_dispatch_v0_t functions[] = { multiply };
static const iree_hal_executable_dispatch_attrs_v0_t attributes[] = { { .binding_count = 3 } };
static const char *const names[] = { "multiply" };
static const char *const tags[] = { "4xf32" };
static const iree_hal_executable_source_location_v0_t locations[] = {
        { .line = 1, .path_length = 13, .path = "multiply.mlir" },
};
static const char text[] = "func.func @multiply() // a text\n";
static const iree_hal_executable_source_file_v0_t files[] = {
        { .path_length = 13,
          .path = "multiply.mlir",
          .content_length = sizeof(text) - 1,
          .content = (const uint8_t *)text },
};
static const iree_hal_executable_library_v0_t library = {
        .header = &header,
        .exports = { .count = 1,
                     .ptrs = functions,
                     .attrs = attributes,
                     .names = names,
                     .tags = tags,
                     .source_locations = locations },
        .sources = { .count = 1, .files = files },
};

__attribute__((visibility("default"))) const iree_hal_executable_library_header_t *const *
iree_hal_executable_library_query(iree_hal_executable_library_version_t max_version,
                                  const iree_hal_executable_environment_v0_t *environment)
{
        (void)environment;
        return max_version == IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST
                       ? (const iree_hal_executable_library_header_t *const *)&library
                       : 0;
}
