// SPDX-License-Identifier: MIT
// The pages' modules without a browser: what needs no document runs here, for unit tests.
'use strict';

const vm = require('vm');
const { pageScript } = require('./make_page.js');

/** Loads all modules but start.js; returns a function that evaluates an expression in the scope of their page, as vm does. */
function pageScope() {
        const scope = vm.createContext({ console, URLSearchParams, TextDecoder, URL, matchMedia: () => ({ matches: false }),
                location: { hash: '' }, addEventListener: () => {}, history: { pushState() {}, replaceState() {} },
                document: { hidden: true, documentElement: { dataset: {} }, getElementById: () => null } });
        vm.runInContext(pageScript(false), scope, { filename: 'page.js' });
        return (expression, options) => vm.runInContext(expression, scope, options);
}

/** The same, with all that modules export as names. */
function loadPages() {
        const inScope = pageScope();
        inScope('Object.assign(globalThis, ...Object.values(pageModules))');
        return inScope;
}

module.exports = { loadPages, pageScope };
