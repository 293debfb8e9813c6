// SPDX-License-Identifier: MIT
// Two traces side by side, served from one address: both timelines move together, with one axis or with instances of a zone or
// chosen items at one place; the histograms of a zone over each other; a link shows the same; hostile names stay text.
'use strict';

const fs = require('fs');
const path = require('path');
const { execFileSync, spawn } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { Firefox } = require('./firefox.js');

const folder = process.env.TMPDIR;
const hyprof = process.env.HYPROF;
const HOSTILE = '<img src=x onerror="globalThis.ran = 1">';
const MS = 1e6;
const isFirefox = process.env.HYPROF_BROWSER === 'firefox';
let browser, viewer, page, address;

/** A trace with instances of the zone "work" at these times and of these lengths, in ms, in a frame that lasts as long as all. */
function makeTrace(name, length_ms, works) {
        const json = path.join(folder, name + '.json');
        const zone = (title, at, ms, tid) => ({ ph: 'X', name: title, ts: at * 1000, dur: ms * 1000, pid: 7, tid });

        const named = (tid, title) => ({ ph: 'M', name: 'thread_name', pid: 7, tid, args: { name: title } });

        fs.writeFileSync(json, JSON.stringify({ traceEvents: [named(1, 'main'), named(2, 'worker'), zone('w*', 0, length_ms, 1),
                zone(HOSTILE, 1, 1, 1),
                ...works.map(([at, ms]) => zone('work', at, ms, 2)), zone(`only ${name}`, 2, 1, 2)] }));
        execFileSync(hyprof, ['import', json, '-o', path.join(folder, name + '.hyp')], { stdio: 'ignore' });
        return path.join(folder, name + '.hyp');
}

test.before(async () => {
        const before = makeTrace('before', 100, [[10, 2], [30, 2], [50, 2]]);
        const after = makeTrace('after', 200, [[25, 4], [75, 4]]);
        let text = '';

        viewer = spawn(hyprof, ['view', '--no-open', before, after], { stdio: ['ignore', 'pipe', 'inherit'] });
        address = await new Promise((resolve, reject) => {
                viewer.stdout.on('data', (bytes) => {
                        const found = /http:\/\/[0-9a-f]+\.localhost:\d+\/[0-9a-f]+\//.exec(text += bytes);

                        if (found)
                                resolve(found[0]);
                });
                viewer.on('exit', () => reject(new Error('hyprof view ended: ' + text)));
        });
        browser = await (isFirefox ? Firefox : Chromium).start();
        page = await browser.open(address + '#screen=compare');
        await page.until(sides, 'both timelines');
        await page.until(`${side('before')}.viewer.model.progress === 1 && ${side('after')}.viewer.model.progress === 1`, 'both indexes');
});

test.after(async () => {
        await browser.close();
        viewer.removeAllListeners('exit');
        await new Promise((resolve) => {
                viewer.on('exit', resolve);
                viewer.kill('SIGINT');
        });
});

/** Those before are enough to see that another browser has both timelines. */
const testInChromium = isFirefox ? () => {} : test;

const screen = 'hyprofShell.made.get("compare")';
const sides = `globalThis.hyprofShell && ${screen} && ${screen}.sides`;
const side = (name) => `${screen}.sides.${name}.timeline`;
const viewOf = async (name) => page.value(`[${side(name)}.from, ${side(name)}.to]`);

/** Where a time is in a timeline, as a share of its width. */
async function placeOf(name, ms) {
        const [from, to] = await viewOf(name);

        return (ms * MS - from) / (to - from);
}

function isNear(a, b, slack = 1e-3) {
        assert.ok(Math.abs(a - b) < slack, `${a} and ${b}`);
}

test('both show all of the longer one, and move together', async () => {
        await page.until(`${side('before')}.to > 150e6`, 'room for the longer one');
        assert.deepStrictEqual(await viewOf('before'), await viewOf('after'));
        await page.value(`${side('before')}.canvas.focus()`);
        await page.press('w');
        await page.press('d');
        const moved = await viewOf('before');
        assert.ok(moved[1] - moved[0] < 190e6);
        assert.deepStrictEqual(moved, await viewOf('after'));
        const { x, y } = await page.place('.compare-side[aria-label=after] .timeline-canvas');
        await page.drag({ x, y }, { x: x + 60, y });
        assert.notDeepStrictEqual(await viewOf('after'), moved);
        assert.deepStrictEqual(await viewOf('before'), await viewOf('after'));
        await page.until('/both_from=/.test(location.hash)', 'the view in the address');
});

test('both timelines are as wide as each other, also beside the panel of one', async () => {
        const widths = `[...document.querySelectorAll('.compare .timeline-canvas')].map((one) => one.clientWidth)`;
        const [one, other] = await page.value(widths);
        assert.strictEqual(one, other);
        await page.value(`(async () => { const t = ${side('before')};
                const { lane } = t.viewer.model.lanesOfKind('zones').find((one) => one.track.title.startsWith('worker'));
                t.chooseFound(lane.id, await t.viewer.source.find([lane.id], 9e6, 'next', null)); })()`);
        await page.until(`${side('before')}.chosen`, 'a chosen item');
        const [narrow, same] = await page.value(widths);
        assert.ok(narrow < one);
        assert.strictEqual(narrow, same);
});

test('an instance of a zone is at one place in both, and the next one', async () => {
        await page.value(`(${screen}.zone.value = 'work', ${screen}.zone.dispatchEvent(new Event('change')))`);
        await page.until(`${screen}.shift === 15e6`, 'the first instances at one place');
        isNear(await placeOf('before', 10), await placeOf('after', 25));
        await page.click('.compare button', '›');
        await page.until(`${screen}.shift === 45e6`, 'the second ones');
        isNear(await placeOf('before', 30), await placeOf('after', 75));
        await page.click('.compare button', '›');
        await page.untilText('.compare [role=status]', /no instance 3 of work after/);
});

test('its histograms are over each other, in shares, and the numbers beside each other', async () => {
        await page.untilText('.zone-histograms', /before[\s\S]*3[\s\S]*after[\s\S]*2/);
        assert.match(await page.text('.zone-histograms table'), /2\.00 ms/);
        assert.match(await page.text('.zone-histograms table'), /4\.00 ms/);
        assert.strictEqual(await page.value(`[...document.querySelectorAll('.zone-histograms label')].some((one) =>
                one.innerText.trim() === 'shares' && one.querySelector('input').checked)`), true);
});

test('names that only one of them has are not offered, and hostile ones are text', async () => {
        const names = await page.value(`[...${screen}.zone.options].map((one) => one.textContent)`);

        assert.deepStrictEqual(names.slice(1), [HOSTILE, 'w*', 'work']);
        await page.value(`(${screen}.zone.value = ${JSON.stringify(HOSTILE)}, ${screen}.zone.dispatchEvent(new Event('change')))`);
        await page.untilText('.zone-histograms h3', /<img/);
        assert.strictEqual(await page.value('globalThis.ran === undefined && document.querySelectorAll(".compare img").length'), 0);
});

test('a name that looks like a pattern means the zone of that name', async () => {
        await page.value(`(${screen}.zone.value = 'w*', ${screen}.zone.dispatchEvent(new Event('change')))`);
        await page.untilText('.zone-histograms h3', /^w\*/);
        assert.deepStrictEqual(await page.value(`[...document.querySelectorAll('.zone-histograms tbody tr')]
                .map((row) => row.cells[1].innerText)`), ['1', '1']);
});

test('chosen items are at one place', async () => {
        for (const [name, at] of [['before', 50], ['after', 25]]) {
                await page.value(`(async () => { const t = ${side(name)};
                        const { lane } = t.viewer.model.lanesOfKind('zones').find((one) => one.track.title.startsWith('worker'));
                        t.chooseFound(lane.id, await t.viewer.source.find([lane.id], ${at * MS - 1}, 'next', null)); })()`);
                await page.until(`${side(name)}.chosen && ${side(name)}.chosen.begin === ${at * MS}`, 'the item at ' + at);
        }
        await page.click('.compare button', 'Align the chosen items');
        await page.until(`${screen}.shift === -25e6`, 'the chosen items at one place');
        isNear(await placeOf('before', 50), await placeOf('after', 25));
});

testInChromium('the address shows the same to another', async () => {
        await page.until('/both_from=/.test(location.hash) && /shift=-25000000/.test(location.hash)', 'the address');
        const seen = await viewOf('before');
        const other = await browser.open(address + await page.value('location.hash'));
        const own = page;

        try {
                await other.until(sides + ` && ${screen}.shift === -25e6`, 'the same shift');
                page = other;
                const [from, to] = await viewOf('before');
                isNear(from / MS, seen[0] / MS);
                isNear(to / MS, seen[1] / MS);
        } finally {
                page = own;
                await other.close();
        }
});

testInChromium('they have one axis also while an instance is looked for', async () => {
        const other = await browser.open('about:blank');

        try {
                await other.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
                        const { fetch } = globalThis;
                        globalThis.fetch = (place, ...more) => /search/.test(place) ? new Promise(() => {}) : fetch(place, ...more);
                }` });
                await other.go(address + '#screen=compare&align=work&nth=2');
                await other.until(sides, 'both timelines');
                assert.deepStrictEqual(await other.value(`[${side('before')}.from, ${side('before')}.to]`),
                        await other.value(`[${side('after')}.from, ${side('after')}.to]`));
        } finally {
                await other.close();
        }
});

testInChromium('notes belong to the trace on which they are written', async () => {
        await page.value(`(${side('before')}.notes.notes = [{ from: 1, to: 1, text: 'here' }], ${side('before')}.notes.changed(true))`);
        await page.until(`fetch('before/kept').then((reply) => reply.json()).then((kept) => /here/.test(kept.notes))`, 'the note is kept');
        assert.strictEqual(await page.value(`fetch('kept').then((reply) => reply.json()).then((kept) => kept.notes ?? '')`), '');
});

testInChromium('a flame graph of differences is dark where the page is, and its words can be read', async () => {
        const found = await page.value(`(() => {
                const { FlameGraph } = pageModules['flame_graph.js'];
                const { contrastOfRgb } = pageModules['colors.js'];
                const node = (name, value, before) => ({ name, value, before, self: value, module: '', row: {}, children: [],
                        parent: null });
                const root = node('all', 100, 100);
                const brush = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
                const rgb = (css) => {
                        brush.fillStyle = css;
                        brush.fillRect(0, 0, 1, 1);
                        return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
                };
                const seen = [];
                for (const theme of ['dark', 'light']) {
                        const ground = theme === 'dark' ? [0, 0, 0] : [255, 255, 255];
                        const see = (what, { fill, ink }) => seen.push([theme, what, contrastOfRgb(rgb(ink), rgb(fill)),
                                contrastOfRgb(rgb(fill), ground)]);
                        hyprofShell.setTheme(theme);
                        const graph = new FlameGraph({ name: 'x', root, format: String });
                        for (const growth of [-90, -20, -1, 0, 1, 20, 90])
                                see(growth, graph.colorsOf(node('n', 100 + growth, 100), false));
                        see('ratio', graph.colorsOf({ ...node('n', 100, null), row: { ratio: 1.5 } }, false));
                        graph.stop();
                }
                hyprofShell.setTheme('system');
                return seen;
        })()`);

        for (const [theme, growth, ink, ground] of found) {
                assert.ok(ink >= 4.5, `${theme} ${growth}: words have a contrast of ${ink}`);
                assert.ok(ground < 4.6, `${theme} ${growth}: a contrast of ${ground} to the page`);
        }
});

/** A viewer of one trace, in a folder of its own, and its page. */
async function withViewerOf(file, action) {
        const own = spawn(hyprof, ['view', '--no-open', file], { stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        const place = await new Promise((resolve, reject) => {
                own.stdout.on('data', (bytes) => {
                        const found = /http:\/\/[0-9a-f]+\.localhost:\d+\/[0-9a-f]+\//.exec(text += bytes);

                        if (found)
                                resolve(found[0]);
                });
                own.on('exit', () => reject(new Error('hyprof view ended: ' + text)));
        });
        const one = await browser.open(place);

        try {
                await one.until('globalThis.hyprofShell && hyprofViewer.model.progress === 1', 'the page');
                await action(one);
        } finally {
                await one.close();
                own.removeAllListeners('exit');
                await new Promise((resolve) => {
                        own.on('exit', resolve);
                        own.kill('SIGINT');
                });
        }
}

testInChromium('a recording of the folder is chosen on the page; one that cannot be read is named, and the page stays', async () => {
        const place = fs.mkdtempSync(path.join(folder, 'nearby-'));

        for (const name of ['before.hyp', 'after.hyp'])
                fs.copyFileSync(path.join(folder, name), path.join(place, name));
        fs.writeFileSync(path.join(place, 'broken.hyp'), Buffer.concat([Buffer.from('HYPC'), Buffer.alloc(200)]));
        fs.writeFileSync(path.join(place, 'other.hyp'), 'no trace');
        fs.symlinkSync('/etc/passwd', path.join(place, 'link.hyp'));
        await withViewerOf(path.join(place, 'after.hyp'), async (one) => {
                await one.click('button', 'Compare with…');
                await one.untilText('.compare-list', /before\.hyp/);
                const offered = await one.value(`[...document.querySelectorAll('.compare-list button')].map((b) => b.textContent)`);
                assert.deepStrictEqual(offered.sort(), ['before.hyp', 'broken.hyp']);
                await one.click('.compare-list button', 'broken.hyp');
                await one.untilText('.compare-list', /broken\.hyp cannot be shown: .*broken\.hyp/);
                await one.click('dialog button', 'Close');
                assert.strictEqual(await one.value(`fetch('model').then((reply) => reply.json())
                        .then((model) => model.has_before)`), false);
                for (const name of ['other.hyp', 'link.hyp', '../compare/before.hyp', '/etc/passwd', ''])
                        assert.strictEqual(await one.value(`fetch('compare', { method: 'POST', body: ${JSON.stringify(name)} })
                                .then((reply) => reply.status)`), 400, name);
                one.complaints.length = 0; // of those requests
                await one.click('button', 'Compare with…');
                await one.click('.compare-list button', 'before.hyp');
                // The page begins anew, and what is asked of it meanwhile is lost.
                for (const end = Date.now() + 20000; !await one.value(`Boolean(${sides})`).catch(() => false);)
                        assert.ok(Date.now() < end, 'waited in vain for both timelines');
                assert.strictEqual(await one.value('hyprofViewer.model.document.has_before'), true);
                assert.strictEqual(await one.value(`fetch('answer?question=overview&side=before').then((reply) => reply.json())
                        .then((answer) => Math.round(answer.duration_ns / 1e6))`), 100);
                assert.strictEqual(await one.value(`${side('before')}.viewer.model.duration_ns`), 100e6);
        });
});

test('nothing was asked of others, and nothing complained', () => page.noComplaints((url) => url.startsWith(address)));
