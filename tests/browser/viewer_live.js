// SPDX-License-Identifier: MIT
// The served page of a trace that grows: it follows, pauses, shows all that has arrived, and begins anew at the end.
'use strict';

const fs = require('fs');
const path = require('path');
const { execFileSync, spawn } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');

const folder = process.env.TMPDIR;
const hyprof = process.env.HYPROF;
let browser, recorder, viewer, page, address;

/** Starts a program, and resolves when its standard output matches. */
function started(program, args, pattern) {
        return new Promise((resolve, reject) => {
                const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
                let text = '';
                child.stdout.on('data', (bytes) => {
                        const found = pattern.exec(text += bytes);
                        if (found) {
                                resolve({ child, found });
                        }
                });
                child.on('exit', () => reject(new Error(program + ' ended: ' + text)));
        });
}

function ended(child) {
        return child.exitCode !== null || child.signalCode !== null ? Promise.resolve()
                : new Promise((resolve) => child.on('exit', resolve));
}

const duration = 'hyprofViewer.model.duration_ns';

test.before(async () => {
        const trace = path.join(folder, 'live.hyp');
        browser = await Chromium.start();
        recorder = spawn(hyprof, ['record', '-q', '--off-cpu', '-o', trace, '--', process.env.WORKLOADS + '/w_life', 'serve'],
                { stdio: ['pipe', 'ignore', 'inherit'] });
        while (!fs.existsSync(trace) || fs.statSync(trace).size === 0) {
                await new Promise((resolve) => setTimeout(resolve, 50));
        }
        const start = await started(hyprof, ['view', '--follow', '--no-open', trace], /http:\/\/[0-9a-f]+\.localhost:\d+\/[0-9a-f]+\//);
        viewer = start.child;
        address = start.found[0];
        recorder.stdin.write('emit\n');
        page = await browser.open(address);
        await page.until('document.querySelector("[role=tab]") && hyprofViewer.model.progress === 1', 'the page');
});

test.after(async () => {
        await page.close();
        recorder.kill('SIGKILL');
        viewer.kill('SIGINT');
        await Promise.all([ended(recorder), ended(viewer)]);
        await browser.close();
});

const zones = 'hyprofViewer.model.lanesOfKind("zones").reduce((sum, one) => sum + one.lane.items, 0)';
const pressed = 'document.querySelector(".live-buttons [aria-pressed=true]").textContent';

test('a trace that grows is followed', async () => {
        assert.equal(await page.value('hyprofViewer.model.isLive'), true);
        assert.equal(await page.value(pressed), 'Last 10 s');
        await page.until(zones + ' > 0', 'the first zones');
        const before = await page.value(zones);
        recorder.stdin.write('emit\n');
        await page.until(zones + ' > ' + before, 'zones that came later');
        assert.equal(await page.value('hyprofShell.shown.to === ' + duration), true);
});

test('its strip of CPUs says why they did not run it, and is asked for again', async () => {
        const screen = 'hyprofShell.made.get("timeline")';
        await page.until(screen + '.layout.rows[0].title === "CPUs in use" && ' + screen + '.causes.near !== null', 'the causes');
        const before = await page.value(screen + '.causes.near.to');
        recorder.stdin.write('emit\n');
        await page.until(screen + '.causes.near.to > ' + before, 'those of what came later');
        /* The last step in view: the causes may reach beyond it, and the lanes do not. */
        const hit = `(() => {
                const screen = ${screen};
                const row = screen.layout.rows[0];
                const { begin, n } = screen.causes.near;
                const at = Array.from(begin.slice(0, n)).filter((ns) => ns + 1 < screen.to).pop();
                return at === undefined ? null : screen.hitOf(row, row.lanes[0], at + 1);
        })()`;
        await page.until(hit + ' !== null', 'the last step in view');
        const words = await page.value(`pageModules['timeline_words.js'].wordsOfHit(${screen}.viewer, ${hit}).join('; ')`);
        assert.match(words, new RegExp('^[\\d.]+ of \\d+ CPUs ran threads of the program; ([\\d.]+ threads? could run and did not; )?' +
                '([\\d.]+% of the CPUs: [a-z-]+; )*mean of'));
});

test('the tables of its other screens are asked for again', async () => {
        await page.click('[role=tab]', 'Zones');
        await page.untilText('[role=tabpanel]:not([hidden])', /emitted/);
        recorder.stdin.write('open\n');
        recorder.stdin.write('close\n');
        const cells = '[...document.querySelectorAll("[role=tabpanel]:not([hidden]) td")]';
        await page.until(cells + '.some((cell) => cell.innerText.trim() === "open")', 'a zone that came later');
        await page.click('[role=tab]', 'Timeline');
});

test('a button that is pressed while the page is updated is clicked when it is released', async () => {
        const { x, y } = await page.place('.live-buttons button', 'All');
        await page.mouse('mouseMoved', x, y);
        await page.mouse('mousePressed', x, y, { button: 'left', buttons: 1, clickCount: 1 });
        const before = await page.value(duration);
        recorder.stdin.write('emit\n');
        await page.until(duration + ' > ' + before, 'an update');
        const after = await page.place('.live-buttons button', 'All');
        await page.mouse('mouseReleased', after.x, after.y, { button: 'left', clickCount: 1 });
        await page.until(pressed + ' === "All"', 'the click');
        await page.click('.live-buttons button', 'Last 10 s');
        await page.until(pressed + ' === "Last 10 s"');
});

test('paused, the picture stays', async () => {
        await page.click('.live-buttons button', 'Pause');
        await page.until(pressed + ' === "Pause"');
        const before = await page.value(duration);
        recorder.stdin.write('emit\n');
        await new Promise((resolve) => setTimeout(resolve, 2500)); // more than two steps of the page
        assert.equal(await page.value(duration), before);
        await page.click('.live-buttons button', 'All');
        await page.until(duration + ' > ' + before, 'the rest');
        assert.equal(await page.value('hyprofShell.shown.from'), 0);
});

test('a zoom pauses', async () => {
        await page.value('hyprofShell.shown.zoom(0.5, 1e8)');
        assert.equal(await page.value(pressed), 'Pause');
});

test('who delayed an instance that is over is answered while the trace grows', async () => {
        const timeline = 'hyprofShell.made.get("timeline")';
        await page.value(`(async () => {
                const { model, source } = hyprofViewer;
                const open = model.locations.find((one) => one.name === 'open').id;
                const lanes = model.lanesOfKind('zones').map((one) => one.lane.id);
                const found = await source.find(lanes, 0, 'next', open);
                ${timeline}.chooseFound(found.lane, found);
        })()`);
        await page.press('p');
        await page.untilText('.panel .headline', /'open' \([\d.]+ .?s\)/);
        assert.equal(await page.value(pressed), 'Pause');
        await page.press('Escape');
        await page.untilText('.panel h2', /^open: /);
});

test('what a thread waited for is answered while the trace grows', async () => {
        const timeline = 'hyprofShell.made.get("timeline")';
        const wait = await page.value(`(async () => {
                const { model, source } = hyprofViewer;
                const { lane, track } = model.lanesOfKind('states').find((one) => one.track.title.startsWith('w_life'));
                let found = null;
                for (let at = 0; !found || found.what >>> 28 !== 2; at = found.begin_ns)
                        found = await source.find([lane.id], at, 'next', null);
                ${timeline}.chooseFound(lane.id, found);
                return { ...found, thread: model.thread(track.thread).handle };
        })()`);
        const asked = ['report', '--off-cpu', '--json', '--whole', '--thread', wait.thread, '--from', wait.begin_ns + 'ns',
                '--to', wait.end_ns + 1 + 'ns', path.join(folder, 'live.hyp')];
        const truth = JSON.parse(execFileSync(hyprof, asked, { stdio: ['ignore', 'pipe', 'ignore'] }));
        assert.equal(truth.n_waits, 1);
        await page.untilText('.panel-wait', /waited in\s+\S+.*\s+(in the kernel\s+\S+\s+)?ended by\s+\S+/);
        // The viewer has names before the trace has: with them come functions that are inlined into these.
        await page.until(`document.querySelectorAll(".call-stack li").length >= ${truth.places.rows[0].callstack.length}`, 'the stack');
        assert.equal(await page.value('hyprofShell.made.get("timeline").waits.kept.size'), 0, 'more may come, so nothing is kept');
});

test('when the recording is over the page has the whole trace', async () => {
        recorder.stdin.end();
        await page.until('globalThis.hyprofViewer && !hyprofViewer.model.isLive && hyprofViewer.model.progress === 1', 'the whole trace');
        assert.equal(await page.value('document.querySelector(".live-buttons") === null'), true);
        assert.ok(await page.value('hyprofViewer.model.functions.length > 0'));
});
