// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyLua.hpp - Tracy's functions for scripts in Lua, recorded by hyprof
 *
 * Way of the data:  script -> [TracyLua.hpp] -> hyprof_tracy.hpp -> hyprof.h -> libhyprof -> hyprof record
 * Specification:    docs/use/tracy-compat.md
 *
 * To be included after Lua's own headers: 5.1 to 5.4, LuaJIT.  A script gets the table `tracy`:
 *
 *      tracy::LuaRegister(L);                   // once for each state
 *      tracy::LuaRemove(source);                // without TRACY_ENABLE: blanks the calls of a script
 *      lua_sethook(L, tracy::LuaHook, LUA_MASKCALL | LUA_MASKRET, 0); // each function of Lua is a zone
 *
 * A script can do no harm by wrong arguments, by an end without a begin or by a begin without an end: such a
 * call is ignored, and the first one of a thread becomes a message in the recording.
 */
#ifndef HYPROF_COMPAT_TRACY_LUA_HPP
#define HYPROF_COMPAT_TRACY_LUA_HPP

#include "Tracy.hpp"

#include <string.h>

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE
#include "hyprof_tracy_lua.hpp"
#else

namespace tracy
{

namespace detail
{

inline int lua_nothing(lua_State *)
{
        return 0;
}

inline int lua_no_section(lua_State *L)
{
        lua_pushinteger(L, 0);
        return 1;
}

/* Behind a string that begins at @at, in quotes or in long brackets; @at itself if none does. */
inline char *lua_string_end(char *at)
{
        if (*at == '"' || *at == '\'') {
                const char quote = *at++;

                while (*at && *at != quote)
                        at += *at == '\\' && at[1] ? 2 : 1;
                return *at ? at + 1 : at;
        }
        if (*at != '[')
                return at;
        const size_t n = 1 + strspn(at + 1, "=");
        if (at[n] != '[')
                return at;
        char *end = at + n + 1;
        while ((end = strchr(end, ']')) != nullptr) {
                if (strncmp(end + 1, at + 1, n - 1) == 0 && end[n] == ']')
                        return end + n + 1;
                end++;
        }
        return at + strlen(at);
}

/* Behind the bracket that closes a call, from its first argument; the end of the script if none does. */
inline char *lua_call_end(char *at)
{
        for (unsigned n_open = 1; *at;) {
                char *end = lua_string_end(at);

                if (end != at) {
                        at = end;
                        continue;
                }
                if (*at == '(')
                        n_open++;
                else if (*at == ')' && --n_open == 0)
                        return at + 1;
                at++;
        }
        return at;
}

/* How long the name of a function of ours is that @at begins with, with its bracket; 0 = none. */
inline size_t lua_name_bytes(const char *at)
{
        static const char *const names[] = { "ZoneBegin(",    "ZoneBeginN(",  "ZoneBeginS(", "ZoneBeginNS(",
                                             "ZoneEnd(",      "ZoneText(",    "ZoneName(",   "Message(",
                                             "SectionEnter(", "SectionLeave(" };

        for (const char *name : names)
                if (strncmp(at, name, strlen(name)) == 0)
                        return strlen(name);
        return 0;
}

} // namespace detail

inline void LuaRegister(lua_State *L)
{
        static const char *const names[] = { "ZoneBegin",   "ZoneBeginN", "ZoneBeginS",
                                             "ZoneBeginNS", "ZoneEnd",    "ZoneText",
                                             "ZoneName",    "Message",    "SectionLeave" };

        lua_newtable(L);
        for (const char *name : names) {
                lua_pushcfunction(L, detail::lua_nothing);
                lua_setfield(L, -2, name);
        }
        lua_pushcfunction(L, detail::lua_no_section);
        lua_setfield(L, -2, "SectionEnter");
        lua_setglobal(L, "tracy");
}

/* Blanks for each call; the number 0 for a section. */
inline void LuaRemove(char *script)
{
        while ((script = strstr(script, "tracy.")) != nullptr) {
                const size_t n = detail::lua_name_bytes(script + 6);
                const bool is_section = strncmp(script + 6, "SectionEnter", 12) == 0;

                if (n == 0) {
                        script += 6;
                        continue;
                }
                char *end = detail::lua_call_end(script + 6 + n);
                for (char *at = script; at < end; at++)
                        if (*at != '\n')
                                *at = ' ';
                if (is_section)
                        *script = '0';
                script = end;
        }
}

inline void LuaHook(lua_State *, lua_Debug *)
{
}

} // namespace tracy

#endif

#endif // HYPROF_COMPAT_TRACY_LUA_HPP
