// SPDX-License-Identifier: MIT
// The pages' scripts without a browser: what needs no document runs here, for unit tests.
'use strict';

const fs = require('fs');
const path = require('path');
const vm = require('vm');

const PAGES = path.join(__dirname, '../../web/pages');

/**
 * Loads scripts in their order into a scope of their own; returns a function that evaluates an expression in it.
 * @param {string[]} names such as ['format.js', 'lanes.js']
 */
function loadPages(names) {
        const scope = vm.createContext({ console, URLSearchParams, TextDecoder, URL, matchMedia: () => ({ matches: false }),
                location: { hash: '' }, addEventListener: () => {}, history: { pushState() {}, replaceState() {} },
                document: { documentElement: { dataset: {} }, getElementById: () => null } });
        for (const name of names) {
                vm.runInContext(fs.readFileSync(path.join(PAGES, name), 'utf8'), scope, { filename: name });
        }
        return (expression) => vm.runInContext(expression, scope);
}

module.exports = { loadPages };
