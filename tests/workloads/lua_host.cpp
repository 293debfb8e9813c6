// SPDX-License-Identifier: MIT
//
// lua_host SCRIPT [hook]
//
// Runs a script of Lua that has Tracy's functions, and `native(f)`, which calls `f` inside of the zone
// "native".  With "hook" each function of the script is a zone.  tests/integration/tracy_lua.sh compiles it,
// with Lua's headers.
#include <lua.hpp>
#include <tracy/Tracy.hpp>
#include <tracy/TracyLua.hpp>

#include <stdio.h>
#include <string.h>
#include <string>

static int native(lua_State *L)
{
        ZoneScopedN("native");
        lua_pushvalue(L, 1);
        return lua_pcall(L, 0, 0, 0) == 0 ? 0 : 1;
}

static std::string file_text(const char *path)
{
        std::string text;
        char part[4096];
        FILE *file = fopen(path, "r");

        for (size_t n; file && (n = fread(part, 1, sizeof(part), file)) > 0;)
                text.append(part, n);
        if (file)
                fclose(file);
        return text;
}

int main(int argc, char **argv)
{
        if (argc < 2)
                return 2;
        std::string text = file_text(argv[1]);
        lua_State *L = luaL_newstate();

        luaL_openlibs(L);
        tracy::LuaRegister(L);
        lua_pushcfunction(L, native);
        lua_setglobal(L, "native");
        tracy::LuaRemove(&text[0]);
        const bool is_loaded = luaL_loadbuffer(L, text.c_str(), text.size(), "@script.lua") == 0;
        if (argc > 2)
                lua_sethook(L, tracy::LuaHook, LUA_MASKCALL | LUA_MASKRET, 0);
        if (!is_loaded || lua_pcall(L, 0, 0, 0) != 0) {
                fprintf(stderr, "%s\n", lua_tostring(L, -1));
                return 1;
        }
        lua_sethook(L, nullptr, 0, 0);
        {
                ZoneScopedN("after");
        }
        lua_close(L);
        return 0;
}
