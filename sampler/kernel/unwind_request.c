/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/unwind_request.h"

#include "unwind/unwind_machine.h"

#include <linux/perf_event.h>

struct unwind_request unwind_request_complete(const struct unwind_request *wanted, bool has_copies)
{
        struct unwind_request options = *wanted;

        if (!has_copies || !unwind_machine_own())
                options.mode = UNWIND_FP;
        if (options.mode == UNWIND_FP)
                options.copy_bytes = 0;
        else if (options.copy_bytes == 0)
                options.copy_bytes = UNWIND_COPY_DEFAULT;
        return options;
}

void unwind_request_fill_attr(const struct unwind_request *request, struct perf_event_attr *attr)
{
        struct unwind_request o = unwind_request_complete(request, true);

        attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
        /* Debian 13's Linux 6.12 refuses an ordinary user call chains that could include kernel frames. */
        attr->exclude_callchain_kernel = attr->exclude_kernel;
        if (o.mode == UNWIND_FP) {
                attr->sample_max_stack = o.innermost_only ? 1 : 0; /* 0 = up to the kernel's own limit */
                return;
        }
        /* Following the user's frame pointers as well would cost more than the copy. */
        attr->exclude_callchain_user = 1;
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr->sample_regs_user = unwind_machine_own()->perf_registers;
        attr->sample_stack_user = o.copy_bytes;
}
