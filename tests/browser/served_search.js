// SPDX-License-Identifier: MIT
// The server's answers to a search are those that a file gives by itself: each hit, forwards and backwards, and the counts.
// Usage: served_search.js, with HYPROF, TRACE and TMPDIR in the environment.
'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { loadPages } = require('./loaded_pages.js');
const { serveTrace } = require('./served_trace.js');

const inPages = loadPages();
const { HYPROF, TRACE, TMPDIR } = process.env;
const plain = (value) => JSON.parse(JSON.stringify(value));

/** The search of a one-file page. */
function fileSearch() {
        const file = path.join(TMPDIR, 'searched.html');
        const { status, stderr } = spawnSync(HYPROF, ['html', '-q', '--force', '-o', file, TRACE]);
        assert.strictEqual(status, 0, String(stderr));
        const page = fs.readFileSync(file, 'utf8');
        const part = (name) => {
                const bytes = zlib.gunzipSync(Buffer.from(page.match('id="data-' + name + '">([^<]*)<')[1], 'base64'));
                return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
        };
        const json = (name) => JSON.parse(Buffer.from(part(name)).toString());
        const source = inPages('new FileSource()');
        source.builtModel = Promise.resolve(inPages('(document) => new TraceModel(document)')(json('model')));
        source.wholeLanes = Promise.resolve(inPages('decodeFileLanes')(part('lanes')));
        const texts = page.includes('id="data-texts"') ? json('texts') : [];
        source.values.set('strings', Promise.resolve(json('strings')));
        source.values.set('texts', Promise.resolve(texts));
        return { names: json('model'), strings: json('strings').concat(texts), texts,
                search: async (request) => plain(await source.search(request)) };
}

/** The served trace: its process, and what it answers. */
async function serve() {
        const { viewer, address } = await serveTrace(TRACE);
        const local = address.replace(/\/\/[0-9a-f]+\.localhost/, '//127.0.0.1');

        return { viewer, ask: async (what) => (await fetch(local + what)).json() };
}

/** As ServerSource asks. */
function queryOf({ text, at, rank, direction, wantsCounts, only }) {
        return 'search?' + new URLSearchParams({ text, at, rank: rank ?? 0, direction, ...(wantsCounts ? { count: 1 } : {}), ...only });
}

test('a server and a file find the same', async () => {
        const file = fileSearch();
        const { viewer, ask } = await serve();
        try {
                while ((await ask('model')).progress < 1) {
                        await new Promise((resolve) => setTimeout(resolve, 20));
                }
                const names = [...file.names.locations, ...file.names.functions].map((one) => one.name || '').concat(
                        file.strings.map(([, text]) => text)).map((name) => name.split('\ufffd')[0].slice(0, 60))
                        .filter((name) => name !== '');
                const texts = new Set(['a', 'E', 'frame 2', '3', '.c', 'libc.so', '/', '[', 'unresolved', 'no such name', ...names]);
                const kinds = new Set();
                let nHits = 0;
                for (const text of texts) {
                        for (const direction of ['next', 'previous']) {
                                let from = { at: direction === 'next' ? 0 : 1e15, rank: 0 };
                                for (let wantsCounts = true; from; wantsCounts = false) {
                                        const request = { text, ...from, direction, wantsCounts };
                                        const reply = await file.search(request);
                                        const served = await ask(queryOf(request));
                                        delete reply.is_least;
                                        delete served.is_least;
                                        assert.deepStrictEqual(served, reply, JSON.stringify(request));
                                        from = reply.found && nHits++ < 20000 ? { at: reply.found.begin_ns, rank: reply.found.rank } : null;
                                        (reply.names ?? []).forEach((name) => kinds.add(name.kind));
                                        if (wantsCounts && reply.names[0]) {
                                                const only = { kind: reply.names[0].kind, what: reply.names[0].what };
                                                const one = { ...request, only, at: 0, direction: 'next', wantsCounts: false };
                                                assert.deepStrictEqual(await ask(queryOf(one)), await file.search(one));
                                        }
                                }
                        }
                }
                assert.ok(file.texts.length > 0 && kinds.has('texts'), 'texts of zones among the hits');
                assert.deepStrictEqual(await ask('strings?kind=texts&ids=' + file.texts.map(([id]) => id)),
                        file.texts.map(([, text]) => text));
                assert.ok(nHits > 2 * texts.size, nHits + ' hits of ' + texts.size + ' texts');
        } finally {
                viewer.removeAllListeners('exit');
                const ended = new Promise((resolve) => viewer.on('exit', resolve));
                viewer.kill('SIGINT');
                await ended;
        }
});
