# SPDX-License-Identifier: MIT
# Joins the modules of the pages into one script: each becomes a function with a scope of its own, after the modules that
# it imports from.  Usage: awk -f join_pages.awk MODULE.js...
#
# Imports are `import { a, b } from './x.js';`, exports are functions, classes and constants that begin a line.  A ring of
# imports, a module or a name that is not there, and any other kind of import or export are errors.

function fail(words) {
        print words >"/dev/stderr"
        exit (has_failed = 1)
}

function take_import(statement,    parts, names, n, i) {
        if (statement !~ /^import \{[A-Za-z0-9_$, ]+\} from '\.\/[a-z0-9_]+\.js';$/)
                fail(FILENAME ":" FNR ": only import { names } from './module.js'; can be joined")
        split(statement, parts, /[{}']/)
        sources[module, ++n_sources[module]] = substr(parts[4], 3)
        n = split(parts[2], names, /[, ]+/)
        for (i = 1; i <= n; i++)
                if (names[i] != "")
                        wanted[module, substr(parts[4], 3)] = wanted[module, substr(parts[4], 3)] " " names[i]
        text[module] = text[module] "const {" parts[2] "} = pageModules['" substr(parts[4], 3) "'];\n"
}

# Puts a module, after the modules that it imports from; `path` is who imports it: "start.js -> shell.js -> ".
function put(module, path,    names, n, i, j, source) {
        if (state[module] == "begun")
                fail("a ring of imports: " substr(path, index(path, module " -> ")) module)
        if (state[module] == "put")
                return
        state[module] = "begun"
        for (i = 1; i <= n_sources[module]; i++) {
                source = sources[module, i]
                if (!(source in text))
                        fail(module ": imports from " source ", which is not there")
                n = split(wanted[module, source], names, " ")
                for (j = 1; j <= n; j++)
                        if (!((source, names[j]) in is_exported))
                                fail(module ": imports " names[j] ", which " source " does not export")
                put(source, path module " -> ")
        }
        state[module] = "put"
        print "\npageModules['" module "'] = (() => {\n" text[module] "return {" exports[module] "};\n})();"
}

FNR == 1 {
        module = FILENAME
        sub(/.*\//, "", module)
        modules[++n_modules] = module
        text[module] = exports[module] = ""
}

is_in_import || /^import/ {
        statement = is_in_import ? statement $0 : $0
        is_in_import = !/;$/
        if (!is_in_import)
                take_import(statement)
        next
}

/^export/ {
        if (!match($0, /^export (async function|function|class|const) [A-Za-z0-9_$]+/))
                fail(FILENAME ":" FNR ": only a function, a class or a const can be exported, where it is defined")
        name = substr($0, 1, RLENGTH)
        sub(/.* /, "", name)
        is_exported[module, name]
        exports[module] = exports[module] (exports[module] == "" ? " " : ", ") name
        sub(/^export /, "")
}

{ text[module] = text[module] $0 "\n" }

END {
        if (has_failed)
                exit 1
        print "// SPDX-License-Identifier: MIT\n// The viewer's script, joined from the modules of web/pages.\n'use strict';\n\nconst pageModules = {};"
        for (m = 1; m <= n_modules; m++)
                put(modules[m], "")
}
