// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/hyprof_tracy_lua.hpp - the ten functions that scripts in Lua call, and the hook
 *
 * Way of the data:  script -> TracyLua.hpp -> [hyprof_tracy_lua.hpp] -> libhyprof
 *
 * Lua leaves a function by longjmp() when memory is short, so no object with a destructor is on the stack
 * while Lua is called.  Included by TracyLua.hpp where TRACY_ENABLE is defined; not for callers.
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_LUA_HPP
#define HYPROF_COMPAT_HYPROF_TRACY_LUA_HPP

namespace tracy
{

namespace detail
{

/*
 * The zones that scripts began on this thread and have not ended.  Those that are not recorded are only
 * counted, so that a script that never ends any takes no memory.
 */
class lua_zones
{
      public:
        ~lua_zones()
        {
                free(open_);
        }
        /* Returns false if so many are open that the program needs the room for its own: this one ends. */
        bool push(hyprof_zone zone)
        {
                while (zone != 0 && n_ > 0 && is_over(open_[n_ - 1].zone, zone))
                        n_--;
                if (zone != 0 && has_room()) {
                        open_[n_].zone = zone;
                        open_[n_++].n_unrecorded = 0;
                        return true;
                }
                hyprof_zone_end(zone);
                count()++;
                return zone == 0;
        }
        /* The innermost zone; 0 = it is not recorded. */
        hyprof_zone top()
        {
                return n_ > 0 && count() == 0 ? open_[n_ - 1].zone : 0;
        }
        bool is_empty()
        {
                return n_ == 0 && count() == 0;
        }
        hyprof_zone pop()
        {
                if (n_ == 0 || count() > 0) {
                        count() -= count() > 0;
                        return 0;
                }
                return open_[--n_].zone;
        }
        /* Is this the first of its kind on this thread? */
        bool is_first(unsigned kind)
        {
                const unsigned bit = 1U << kind;
                const bool is_new = !(complained_ & bit);

                complained_ |= bit;
                return is_new;
        }

      private:
        struct entry {
                hyprof_zone zone;
                uint32_t n_unrecorded; /* that were begun inside of it */
        };
        static const uint32_t n_max = 2048; /* half of what may be open on a thread */

        /*
         * An inner zone of a track has a greater number than an outer one.  So where a new one has no greater
         * number, the one before it was ended by that of the program around it.
         */
        static bool is_over(hyprof_zone before, hyprof_zone zone)
        {
                return before >= zone && before - zone < 4096;
        }
        uint32_t &count()
        {
                return n_ > 0 ? open_[n_ - 1].n_unrecorded : n_unrecorded_;
        }
        bool has_room()
        {
                if (n_ < capacity_)
                        return true;
                if (capacity_ >= n_max)
                        return false;
                const uint32_t more = capacity_ ? capacity_ * 2 : 64;
                entry *grown = static_cast<entry *>(realloc(open_, more * sizeof(entry)));
                if (!grown)
                        return false;
                open_ = grown;
                capacity_ = more;
                return true;
        }

        entry *open_ = nullptr;
        uint32_t n_ = 0;
        uint32_t capacity_ = 0;
        uint32_t n_unrecorded_ = 0; /* outside of all that are recorded */
        unsigned complained_ = 0;
};

inline lua_zones &lua_zones_here()
{
        static thread_local lua_zones zones;

        return zones;
}

enum lua_complaint { lua_no_zone, lua_no_text, lua_too_deep };

inline const char *lua_words(lua_complaint kind)
{
        return kind == lua_no_zone   ? "no zone of Lua is open"
               : kind == lua_no_text ? "the text is not a string"
                                     : "more than 2048 zones of Lua are open";
}

/* Says in the recording, once on each thread, that a script made a call that means nothing. */
inline void lua_complain(lua_State *L, lua_complaint kind, const char *function)
{
        char line[256];
        lua_Debug caller;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_) || !lua_zones_here().is_first(kind))
                return;
        if (!lua_getstack(L, 1, &caller) || !lua_getinfo(L, "Sl", &caller))
                caller.short_src[0] = '\0', caller.currentline = 0;
        const int n = snprintf(line, sizeof(line),
                               "%s: %s (%.60s:%d): ignored, as all further ones of this thread", function,
                               lua_words(kind), caller.short_src, caller.currentline);
        hyprof_tracy_message_(line, static_cast<size_t>(n), HYPROF_SEVERITY_WARNING, 0, 0);
}

/* The string at @index, up to its first NUL, as Tracy reads it; NULL, with a complaint, if there is none. */
inline const char *lua_text(lua_State *L, int index, const char *function)
{
        const char *text = lua_type(L, index) == LUA_TSTRING || lua_type(L, index) == LUA_TNUMBER
                                   ? lua_tolstring(L, index, nullptr)
                                   : nullptr;

        if (!text)
                lua_complain(L, lua_no_text, function);
        return text;
}

/* A chunk's file has an @ before it, another name a =, and else the chunk is named by its text. */
inline size_t lua_file_of(const char **source, char *line, size_t line_bytes)
{
        const char *text = *source;

        if (*text == '@' || *text == '=') {
                *source = text + 1;
                return strnlen(text + 1, line_bytes);
        }
        const size_t n = strnlen(text, line_bytes);
        for (size_t i = 0; i < n; i++)
                line[i] = text[i] == '\n' ? ' ' : text[i];
        *source = line;
        return n;
}

/* A place that Lua described by "Snl". */
inline struct hyprof_location *lua_location(const lua_Debug *where, const char *source, const char *name)
{
        char line[255];
        const char *file = source;
        const size_t file_bytes = lua_file_of(&file, line, sizeof(line));
        const char *function = where->name ? where->name : where->short_src;
        const uint32_t number = where->currentline > 0 ? static_cast<uint32_t>(where->currentline) : 0;

        return hyprof_emit_location_of(name, name ? __builtin_strlen(name) : 0, function,
                                       __builtin_strlen(function), file, file_bytes, number, 0);
}

/* The functions of Lua that called, as a text of the zone: a call stack has those of C alone. */
inline void lua_stack(lua_State *L, hyprof_zone zone, int32_t depth)
{
        char line[1024] = "Lua: ";
        size_t n = 5;
        lua_Debug frame;

        for (int level = 1; level <= depth && n < sizeof(line) && lua_getstack(L, level, &frame); level++) {
                lua_getinfo(L, "Snl", &frame);
                const int more = snprintf(line + n, sizeof(line) - n, "%s%s (%s:%d)", level > 1 ? " < " : "",
                                          frame.name ? frame.name : frame.what, frame.short_src,
                                          frame.currentline);
                n += more > 0 ? static_cast<size_t>(more) : 0;
        }
        hyprof_zone_text(zone, line, n < sizeof(line) ? n : sizeof(line) - 1);
}

/* @depth: of the call stack; what the program chose for all zones wins, as in Tracy. */
inline int lua_begin(lua_State *L, const char *name, lua_Integer depth)
{
        hyprof_zone zone = 0;
        lua_Debug where;

        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)) && lua_getstack(L, 1, &where) &&
            lua_getinfo(L, "Snl", &where)) {
                const int32_t n_frames = TRACY_CALLSTACK > 0 ? TRACY_CALLSTACK
                                         : depth > 64        ? 64
                                                             : static_cast<int32_t>(depth);
                zone = hyprof_tracy_zone_begin_(lua_location(&where, where.source, name), n_frames, 1);
                if (zone != 0 && n_frames > 0)
                        lua_stack(L, zone, n_frames);
        }
        if (!lua_zones_here().push(zone))
                lua_complain(L, lua_too_deep, "tracy.ZoneBegin");
        return 0;
}

inline int lua_zone_begin(lua_State *L)
{
        return lua_begin(L, nullptr, 0);
}

inline int lua_zone_begin_n(lua_State *L)
{
        return lua_begin(L, lua_text(L, 1, "tracy.ZoneBeginN"), 0);
}

inline int lua_zone_begin_s(lua_State *L)
{
        return lua_begin(L, nullptr, lua_tointeger(L, 1));
}

inline int lua_zone_begin_ns(lua_State *L)
{
        return lua_begin(L, lua_text(L, 1, "tracy.ZoneBeginNS"), lua_tointeger(L, 2));
}

inline int lua_zone_end(lua_State *L)
{
        lua_zones &zones = lua_zones_here();

        if (zones.is_empty())
                lua_complain(L, lua_no_zone, "tracy.ZoneEnd");
        hyprof_zone_end(zones.pop());
        return 0;
}

inline int lua_zone_text(lua_State *L)
{
        const hyprof_zone zone = lua_zones_here().top();
        const char *text = lua_text(L, 1, "tracy.ZoneText");

        if (lua_zones_here().is_empty())
                lua_complain(L, lua_no_zone, "tracy.ZoneText");
        if (text)
                hyprof_zone_text(zone, text, __builtin_strlen(text));
        return 0;
}

inline int lua_zone_name(lua_State *L)
{
        const hyprof_zone zone = lua_zones_here().top();
        const char *text = lua_text(L, 1, "tracy.ZoneName");

        if (lua_zones_here().is_empty())
                lua_complain(L, lua_no_zone, "tracy.ZoneName");
        if (text)
                hyprof_zone_name(zone, text, __builtin_strlen(text));
        return 0;
}

inline int lua_message(lua_State *L)
{
        const char *text = lua_text(L, 1, "tracy.Message");

        if (text)
                log(MessageSeverity::Info, 0, 0, __builtin_strlen(text), text);
        return 0;
}

inline int lua_section_enter(lua_State *L)
{
        const char *text = lua_text(L, 1, "tracy.SectionEnter");
        const bool is_recorded = text && HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_);

        if (is_recorded && lua_tointeger(L, 2) != 0)
                hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_OTHER_);

        lua_pushinteger(L, is_recorded ? static_cast<lua_Integer>(section_open(text, __builtin_strlen(text)))
                                       : 0);
        return 1;
}

inline int lua_section_leave(lua_State *L)
{
        const lua_Integer id = lua_tointeger(L, 1);

        if (id > 0 && id <= static_cast<lua_Integer>(INT32_MAX))
                section_leave(static_cast<uint32_t>(id));
        return 0;
}

} // namespace detail

inline void LuaRegister(lua_State *L)
{
        static const struct {
                const char *name;
                lua_CFunction function;
        } functions[] = {
                { "ZoneBegin", detail::lua_zone_begin },       { "ZoneBeginN", detail::lua_zone_begin_n },
                { "ZoneBeginS", detail::lua_zone_begin_s },    { "ZoneBeginNS", detail::lua_zone_begin_ns },
                { "ZoneEnd", detail::lua_zone_end },           { "ZoneText", detail::lua_zone_text },
                { "ZoneName", detail::lua_zone_name },         { "Message", detail::lua_message },
                { "SectionEnter", detail::lua_section_enter }, { "SectionLeave", detail::lua_section_leave },
        };

        lua_newtable(L);
        for (const auto &one : functions) {
                lua_pushcfunction(L, one.function);
                lua_setfield(L, -2, one.name);
        }
        lua_setglobal(L, "tracy");
}

/* The calls of a script stay in it. */
inline void LuaRemove(char *)
{
}

/* A tail call takes the place of its caller, whose zone goes on; Lua 5.1 reports the end of each. */
inline void LuaHook(lua_State *L, lua_Debug *ar)
{
        hyprof_zone zone = 0;

        if (ar->event == LUA_HOOKCALL) {
                if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)) && lua_getinfo(L, "Snl", ar))
                        zone = hyprof_tracy_zone_begin_(detail::lua_location(ar, ar->source, nullptr), 0, 1);
                if (!detail::lua_zones_here().push(zone))
                        detail::lua_complain(L, detail::lua_too_deep, "tracy::LuaHook");
        }
#ifdef LUA_HOOKTAILRET
        else if (ar->event == LUA_HOOKRET || ar->event == LUA_HOOKTAILRET)
#else
        else if (ar->event == LUA_HOOKRET)
#endif
                hyprof_zone_end(detail::lua_zones_here().pop());
}

} // namespace tracy

#endif // HYPROF_COMPAT_HYPROF_TRACY_LUA_HPP
