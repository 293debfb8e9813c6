// SPDX-License-Identifier: MIT
// The timeline before anything is clicked: the first sentence of the report is above it; in each lane of zones a name can be
// read, with how many it stands for; and the picture is never of another height than the names beside it.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-first-'));
const timeline = 'hyprofShell.made.get("timeline")';
const SENTENCE = 'zone <img src=x onerror="globalThis.ran = 1"> took 3.98 s in all';
const trace = new FakeTrace();
let browser;

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withPage(answers, action) {
        const file = path.join(folder, 'page.html');
        fs.writeFileSync(file, makePage(trace.dataElements(answers)));
        const page = await browser.open('file://' + file, { height: 2400 });
        try {
                await page.until('window.hyprofShell && ' + timeline, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.value('localStorage.clear()');
                await page.close();
        }
}

test('the first sentence of the report is above the lanes, as text', async () => {
        await withPage({ overview: { schema: 'hyprof.overview/2', answer: SENTENCE } }, async (page) => {
                await page.untilText('.timeline-answer', /took 3\.98 s in all/);
                assert.strictEqual(await page.text('.timeline-answer'), SENTENCE);
                assert.strictEqual(await page.value('globalThis.ran === undefined && document.querySelectorAll("img").length'), 0);
        });
});

test('without an answer there is no line', async () => {
        await withPage({}, async (page) => {
                await page.until(timeline + '.cache.windows.size > 0', 'the first lanes');
                assert.strictEqual(await page.value('document.querySelector(".timeline-answer").hidden'), true);
        });
});

/** Texts of the picture with their places; those of boxes side by side, and of the widest box, are among them. */
const texts = `(() => {
        const { SvgPen } = pageModules['svg_pen.js'];
        const pen = new SvgPen(2000, 2000);
        ${timeline}.save.paint(pen);
        return [...new DOMParser().parseFromString(pen.text('x'), 'image/svg+xml').querySelectorAll('text')].map((one) => one.textContent);
})()`;

test('each lane of zones has a name before a zoom, and it says how many it stands for', async () => {
        await withPage({}, async (page) => {
                const lanes = `${timeline}.layout.rows.flatMap((row) => row.lanes).filter((one) => one.lane.kind === 'zones')`;

                await page.until(`${lanes}.every((one) => ${timeline}.cache.has(one.lane.id, 0, hyprofViewer.model.duration_ns,
                        ${timeline}.frame().bucketLog2))`, 'all lanes');
                const names = (await page.value(texts)).filter((text) => / ×[\d,]+$|, longest of [\d,]+$/.test(text));
                const counts = await page.value(`${lanes}.map((one) => one.lane.items)`);
                const total = counts.reduce((sum, n) => sum + n, 0);
                const said = names.map((text) => Number(/([\d,]+)$/.exec(text)[1].replaceAll(',', '')));

                assert.ok(names.length >= counts.length, `${names.length} names in ${counts.length} lanes: ${names.join('; ')}`);
                assert.ok(names.some((text) => text.startsWith('Frame')), names.join('; '));
                assert.ok(said.reduce((sum, n) => sum + n, 0) <= total, 'no item is counted twice');
        });
});

test('nothing is named so while one name is searched for', async () => {
        await withPage({}, async (page) => {
                await page.until(`${timeline}.cache.windows.size > 0`, 'the first lanes');
                await page.press('/');
                await page.type('physics');
                await page.until(`${timeline}.search.matches`, 'the search');
                assert.deepStrictEqual((await page.value(texts)).filter((text) => / ×[\d,]+$|, longest of/.test(text)), []);
        });
});

test('when the room for the lanes changes, they are drawn for it before it is shown', async () => {
        await withPage({}, async (page) => {
                const sizes = await page.value(`new Promise((resolve) => {
                        const { canvas, scroll } = ${timeline};
                        const hint = document.querySelector('.timeline-hint');
                        const seen = [];
                        const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                        // Observers are called in the order in which they were made, all before the picture is shown.
                        new ResizeObserver(() => seen.push([canvas.width, canvas.clientWidth, canvas.height, canvas.clientHeight]))
                                .observe(scroll);
                        frame().then(() => { hint.hidden = true; return frame(); }).then(frame)
                                .then(() => { hint.hidden = false; return frame(); })
                                .then(frame).then(() => resolve(seen));
                })`);

                assert.ok(sizes.length >= 3, 'the room has changed twice: ' + JSON.stringify(sizes));
                for (const [width, shownWidth, height, shownHeight] of sizes)
                        assert.deepStrictEqual([width, height], [shownWidth, shownHeight]);
        });
});
