// SPDX-License-Identifier: MIT
// The timeline as a file, from the served page: a PNG and an SVG of what is in sight, and the trace and the viewer as one page with
// the notes and pins; notes and pins of the command line; hostile names stay text in all of them.
'use strict';

const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { serveTrace } = require('./served_trace.js');

const folder = process.env.TMPDIR;
const hyprof = process.env.HYPROF;
const HOSTILE = '</script><img src=x onerror="globalThis.ran = 1">\u0001]]>&';
const trace = path.join(folder, 'shots.hyp');
const timeline = 'hyprofShell.made.get("timeline")';
let browser, viewer, page, address;

test.before(async () => {
        const json = path.join(folder, 'shots.json');
        const zone = (name, at, ms, tid) => ({ ph: 'X', name, ts: at * 1000, dur: ms * 1000, pid: 7, tid });
        const named = (tid, title) => ({ ph: 'M', name: 'thread_name', pid: 7, tid, args: { name: title } });

        fs.writeFileSync(json, JSON.stringify({ traceEvents: [named(1, HOSTILE), named(2, 'worker'), zone('whole', 0, 100, 1),
                zone(HOSTILE, 10, 60, 1), zone('early', 0, 4, 2), zone('late', 60, 30, 2)] }));
        execFileSync(hyprof, ['import', json, '-o', trace], { stdio: 'ignore' });
        ({ viewer, address } = await serveTrace(trace));
        browser = await Chromium.start();
        await browser.call('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
        page = await browser.open(address);
        await page.until(`window.hyprofShell && ${timeline} && hyprofViewer.model.progress === 1`, 'the timeline');
        await page.value(`hyprofViewer.set({ view_from: 50e6, view_to: 100e6 })`);
        await page.until(`${timeline}.cache.has(${timeline}.layout.rows.at(-1).lanes.at(-1).lane.id, 50e6, 100e6,
                ${timeline}.frame().bucketLog2)`, 'what is in sight');
});

test.after(async () => {
        await browser.close();
        viewer.removeAllListeners('exit');
        await new Promise((resolve) => {
                viewer.on('exit', resolve);
                viewer.kill('SIGINT');
        });
});

/** Chooses an entry of the menu Save; resolves to the path of the whole file. */
async function save(words, ending) {
        const file = () => fs.readdirSync(folder).find((name) => name.endsWith(ending) && name !== 'made.html');

        await page.click('.timeline-tools button', 'Save');
        await page.click('[role=menuitem]', words);
        for (const end = Date.now() + 30000; !file(); await new Promise((resolve) => setTimeout(resolve, 50)))
                assert.ok(Date.now() < end, 'waited in vain for ' + ending);
        return path.join(folder, file());
}

test('a PNG of the view, twice as fine', async () => {
        const bytes = fs.readFileSync(await save('this view as a picture (PNG)', '.png'));
        const { width, height } = await page.value(`${timeline}.save.size()`);

        assert.strictEqual(bytes.subarray(1, 4).toString(), 'PNG');
        assert.deepStrictEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [Math.ceil(2 * width), Math.ceil(2 * height)]);
});

test('an SVG of the view: names of rows, zones in sight and no others, as text', async () => {
        const text = fs.readFileSync(await save('this view as a drawing (SVG)', '.svg'), 'utf8');
        const seen = await page.value(`(() => {
                const root = new DOMParser().parseFromString(${JSON.stringify(text)}, 'image/svg+xml').documentElement;
                return { name: root.nodeName, kinds: [...new Set([...root.querySelectorAll('*')].map((one) => one.nodeName))].sort(),
                         texts: [...root.querySelectorAll('text')].map((one) => one.textContent) }; })()`);

        assert.strictEqual(seen.name, 'svg');
        assert.deepStrictEqual(seen.kinds, ['clipPath', 'g', 'path', 'text', 'title']);
        for (const wanted of ['worker', 'late', 'whole'])
                assert.ok(seen.texts.some((one) => one.startsWith(wanted)), wanted);
        assert.ok(seen.texts.some((one) => one.startsWith('</script><img')), 'the hostile name');
        assert.ok(!seen.texts.includes('early'), 'what is not in sight');
        assert.match(seen.texts[0], /0\.05000 s to 0\.10000 s/);
});

test('the trace and the viewer as one file, with the notes and pins of this visit', async () => {
        await page.value(`(${timeline}.notes.notes = [{ from: 60e6, to: 70e6, text: ${JSON.stringify(HOSTILE)} }],
                ${timeline}.notes.changed(true))`);
        await page.click('.timeline-pin[aria-label="pin worker 2"]');
        await page.until(`fetch('kept').then((reply) => reply.json()).then((kept) => kept.notes && /thread:/.test(kept.tracks))`,
                'both are kept');
        await opens(await save('the trace and this viewer as one file (HTML)', '.html'), [HOSTILE], ['worker 2']);
});

/** A page of one file has these notes and pins, and asks for nothing. */
async function opens(file, notes, pins) {
        const one = await browser.open('file://' + file);

        try {
                await one.until(`window.hyprofShell && ${timeline} && ${timeline}.notes.notes.length === ${notes.length}`, 'the notes');
                assert.deepStrictEqual(await one.value(`${timeline}.notes.notes.map((note) => note.text)`), notes);
                assert.deepStrictEqual(await one.value(`${timeline}.layout.rows.filter((row) => row.isPinned)
                        .map((row) => row.title)`), pins);
                assert.strictEqual(await one.value('globalThis.ran === undefined && document.querySelectorAll("img").length'), 0);
                one.noComplaints();
        } finally {
                await one.value('localStorage.clear()');
                await one.close();
        }
}

test('hyprof html takes notes and pins from its command line, beside those that are kept', async () => {
        const made = path.join(folder, 'made.html');

        execFileSync(hyprof, ['html', trace, '-o', made, '-q', '--notes', '--note', '20ms=first', '--note', `30ms..40ms=${HOSTILE}`,
                '--pin', '*script*']);
        const hostile = await page.value(`${timeline}.layout.rows.find((row) => row.track?.title.includes('script')).title`);

        await opens(made, ['first', HOSTILE, HOSTILE], ['worker 2', hostile]);
});

test('nothing was asked of others, and nothing complained', () => page.noComplaints((url) => url.startsWith(address)));
