// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyOpenGL.hpp - Tracy's macros for OpenGL: zones of the GPU by timer queries
 *
 * Way of the data:  program -> [TracyOpenGL.hpp] -> hyprof_tracy_device.hpp -> device.h -> libhyprof
 *
 * To be included after the headers or the loader that declare OpenGL's functions; where these know no timer
 * queries (GL_TIMESTAMP), zones are only counted.  Each thread has one context, which it makes while its
 * context of OpenGL is current.
 */
#ifndef HYPROF_COMPAT_TRACY_OPENGL_HPP
#define HYPROF_COMPAT_TRACY_OPENGL_HPP

#include "hyprof_tracy_no_device.h"

#if !defined GL_TIMESTAMP && defined GL_TIMESTAMP_EXT
#define GL_TIMESTAMP              GL_TIMESTAMP_EXT
#define GL_QUERY_COUNTER_BITS     GL_QUERY_COUNTER_BITS_EXT
#define GL_QUERY_RESULT           GL_QUERY_RESULT_EXT
#define GL_QUERY_RESULT_AVAILABLE GL_QUERY_RESULT_AVAILABLE_EXT
#define glGenQueries              glGenQueriesEXT
#define glGetQueryiv              glGetQueryivEXT
#define glGetQueryObjectiv        glGetQueryObjectivEXT
#define glGetQueryObjectui64v     glGetQueryObjectui64vEXT
#define glGetInteger64v           glGetInteger64vEXT
#define glQueryCounter            glQueryCounterEXT
#endif

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE && defined GL_TIMESTAMP

#include "Tracy.hpp"
#include "hyprof_tracy_device.hpp"

namespace tracy
{

class GpuCtx
{
      public:
        GpuCtx() : ring_("OpenGL", 1.0, 1)
        {
                GLint n_bits = 0;

                glGetQueryiv(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, &n_bits);
                if (n_bits == 0)
                        return;
                glGenQueries(static_cast<GLsizei>(detail::query_ring::n_places), queries_);
                calibrate();
        }
        void Name(const char *name, uint16_t name_bytes)
        {
                ring_.set_name(name, name_bytes);
        }
        /* Takes the results that are there; it waits for none. */
        void Collect()
        {
#ifdef TRACY_OPENGL_AUTO_CALIBRATION
                if (ring_.is_calibration_due())
                        calibrate();
#endif
                for (uint32_t n = ring_.waiting(); n > 0; n = ring_.waiting()) {
                        for (; n > 0; n--) {
                                GLint is_there = 0;
                                GLuint64 ticks = 0;

                                glGetQueryObjectiv(queries_[ring_.oldest()], GL_QUERY_RESULT_AVAILABLE,
                                                   &is_there);
                                if (!is_there)
                                        return;
                                glGetQueryObjectui64v(queries_[ring_.oldest()], GL_QUERY_RESULT, &ticks);
                                ring_.tell_result(0, ticks);
                                ring_.free_places(1);
                        }
                }
        }
        /* Returns false if the zone is not recorded. */
        bool begin(struct hyprof_location *location, int32_t depth)
        {
                const uint64_t number = location ? ring_.take_begin() : detail::query_ring::none;

                if (number == detail::query_ring::none)
                        return false;
                glQueryCounter(queries_[detail::query_ring::place(number)], GL_TIMESTAMP);
                ring_.begin(location, number, depth);
                return true;
        }
        void end()
        {
                const uint64_t number = ring_.take_end();

                glQueryCounter(queries_[detail::query_ring::place(number)], GL_TIMESTAMP);
                ring_.end(number);
        }

        /* The context of this thread; NULL before TracyGpuContext.  Never freed: events name its device. */
        static GpuCtx *&here()
        {
                static thread_local GpuCtx *context = nullptr;

                return context;
        }

      private:
        void calibrate()
        {
                const uint64_t before = detail::device_now_ns();
                GLint64 ticks = 0;

                glGetInteger64v(GL_TIMESTAMP, &ticks);
                ring_.calibrate(static_cast<uint64_t>(ticks), before, detail::device_now_ns());
        }

        detail::query_ring ring_;
        GLuint queries_[detail::query_ring::n_places];
};

class GpuCtxScope
{
      public:
        GpuCtxScope(const SourceLocationData *srcloc, bool is_active)
            : GpuCtxScope(srcloc, TRACY_CALLSTACK, is_active)
        {
        }
        GpuCtxScope(const SourceLocationData *srcloc, int32_t depth, bool is_active)
            : GpuCtxScope(detail::location_of(srcloc), depth, is_active)
        {
        }
        GpuCtxScope(struct hyprof_location *location, int32_t depth, bool is_active)
            : context_(is_active ? GpuCtx::here() : nullptr)
        {
                if (context_ && !context_->begin(location, depth))
                        context_ = nullptr;
        }
        ~GpuCtxScope()
        {
                if (context_)
                        context_->end();
        }
        GpuCtxScope(const GpuCtxScope &) = delete;
        GpuCtxScope &operator=(const GpuCtxScope &) = delete;

      private:
        GpuCtx *context_;
};

} // namespace tracy

#define TracyGpuContext tracy::GpuCtx::here() = new tracy::GpuCtx
#define TracyGpuContextName(name, size) \
        (tracy::GpuCtx::here() ? tracy::GpuCtx::here()->Name(name, size) : (void)0)
#define TracyGpuCollect                          (tracy::GpuCtx::here() ? tracy::GpuCtx::here()->Collect() : (void)0)
#define TracyGpuNamedZone(varname, name, active) TracyGpuNamedZoneS(varname, name, TRACY_CALLSTACK, active)
#define TracyGpuNamedZoneC(varname, name, color, active) \
        TracyGpuNamedZoneCS(varname, name, color, TRACY_CALLSTACK, active)
#define TracyGpuZone(name)         TracyGpuZoneS(name, TRACY_CALLSTACK)
#define TracyGpuZoneC(name, color) TracyGpuZoneCS(name, color, TRACY_CALLSTACK)
#define TracyGpuZoneTransient(varname, name, active) \
        TracyGpuZoneTransientS(varname, name, TRACY_CALLSTACK, active)
#define TracyGpuNamedZoneS(varname, name, depth, active) TracyGpuNamedZoneCS(varname, name, 0, depth, active)
#define TracyGpuNamedZoneCS(varname, name, color, depth, active) \
        HYPROF_TRACY_PLACE_(name, color);                        \
        tracy::GpuCtxScope varname(HYPROF_TRACY_PLACE_HERE_, (depth), (active))
#define TracyGpuZoneS(name, depth)         TracyGpuNamedZoneS(___tracy_gpu_zone, name, depth, true)
#define TracyGpuZoneCS(name, color, depth) TracyGpuNamedZoneCS(___tracy_gpu_zone, name, color, depth, true)
#define TracyGpuZoneTransientS(varname, name, depth, active) \
        tracy::GpuCtxScope varname(HYPROF_TRACY_MADE_PLACE_(name), (depth), (active))

#else

#define TracyGpuContext
#define TracyGpuContextName(...)
#define TracyGpuCollect
#define TracyGpuNamedZone(...)      HYPROF_TRACY_NO_ZONE_
#define TracyGpuNamedZoneC(...)     HYPROF_TRACY_NO_ZONE_
#define TracyGpuZone(...)           HYPROF_TRACY_NO_ZONE_
#define TracyGpuZoneC(...)          HYPROF_TRACY_NO_ZONE_
#define TracyGpuZoneTransient(...)  HYPROF_TRACY_NO_ZONE_
#define TracyGpuNamedZoneS(...)     HYPROF_TRACY_NO_ZONE_
#define TracyGpuNamedZoneCS(...)    HYPROF_TRACY_NO_ZONE_
#define TracyGpuZoneS(...)          HYPROF_TRACY_NO_ZONE_
#define TracyGpuZoneCS(...)         HYPROF_TRACY_NO_ZONE_
#define TracyGpuZoneTransientS(...) HYPROF_TRACY_NO_ZONE_

#endif

#endif // HYPROF_COMPAT_TRACY_OPENGL_HPP
