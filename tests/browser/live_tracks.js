// SPDX-License-Identifier: MIT
// The served page of a trace that grows: all kinds of tracks are there while it records, and nothing looks selected.
'use strict';

const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');

const hyprof = process.env.HYPROF;
const folder = process.env.TMPDIR;
const workloads = process.env.WORKLOADS;
let browser, recorder, viewer, page;

function until(condition) {
        return new Promise((resolve) => {
                const look = () => condition() ? resolve() : setTimeout(look, 50);
                look();
        });
}

function ended(child) {
        return child.exitCode !== null || child.signalCode !== null ? Promise.resolve()
                : new Promise((resolve) => child.on('exit', resolve));
}

const kinds = '[...new Set(hyprofViewer.model.tracks.filter((one) => one.lanes.some((lane) => lane.items > 0))' +
        '.map((one) => one.kind))].sort().join(" ")';
const isLive = 'globalThis.hyprofViewer && hyprofViewer.model.isLive';

test.before(async () => {
        const trace = path.join(folder, 'tracks.hyp');
        browser = await Chromium.start();
        recorder = spawn(hyprof, ['record', '-q', '--off-cpu', '-o', trace, '--', 'sh', '-c',
                `${workloads}/w_every_event >&2; ${workloads}/w_life serve`], { stdio: ['pipe', 'ignore', 'ignore'] });
        await until(() => fs.existsSync(trace) && fs.statSync(trace).size > 0);
        viewer = spawn(hyprof, ['view', '--follow', '--no-open', trace], { stdio: ['ignore', 'pipe', 'inherit'] });
        let words = '';
        viewer.stdout.on('data', (bytes) => { words += bytes; });
        await until(() => /http:\S+\n/.test(words));
        page = await browser.open(/http:\S+/.exec(words)[0]);
        await page.until(isLive + ' && hyprofViewer.model.progress === 1', 'the page');
});

test.after(async () => {
        await page.close();
        recorder.kill('SIGKILL');
        viewer.kill('SIGINT');
        await Promise.all([ended(recorder), ended(viewer)]);
        await browser.close();
});

test('all kinds of tracks are there while it records', async () => {
        const all = /^(counter )?cpu device frames load lock memory plot thread$/;
        await page.until(`${isLive} && ${all}.test(${kinds})`, 'cpu, device, frames, load, lock, memory, plot, thread');
        const cpu = 'hyprofViewer.model.lanesOfKind("cpu").reduce((last, one) => Math.max(last, one.lane.last_ns), 0)';
        const before = await page.value(cpu);
        recorder.stdin.write('emit\n');
        await page.until(`${isLive} && ${cpu} > ${before}`, 'what runs on a CPU later');
});

test('while it is followed nothing looks like a selected range', async () => {
        await page.click('.live-buttons button', 'Pause');
        // As after 20 s of a recording whose last 10 s are shown.
        const seen = await page.value(`(async () => {
                const { model } = hyprofViewer;
                const kept = model.duration_ns;
                model.duration_ns = 20e9;
                hyprofViewer.followedBefore = 'last';
                hyprofShell.updateRange();
                hyprofShell.shown.drawNow();
                const pixels = hyprofShell.shown.canvas.getContext('2d').getImageData(0, 1, 400, 1).data;
                const words = document.querySelector('.range-box').innerText;
                const colors = new Set();
                for (let i = 0; i < pixels.length; i += 4)
                        colors.add(pixels.slice(i, i + 3).join());
                model.duration_ns = kept;
                hyprofShell.updateRange();
                return { words, isRange: hyprofViewer.range().isSelected, colors: [...colors], surface:
                        pageModules['colors.js'].themeColors().surface };
        })()`);
        assert.match(seen.words, /all screens: 10\.0 s until 20\.0 s/);
        assert.doesNotMatch(seen.words, /Show|Clear/);
        assert.equal(seen.isRange, false);
        const [r, g, b] = seen.surface.match(/[0-9a-f]{2}/g).map((byte) => parseInt(byte, 16));
        assert.deepEqual(seen.colors, [`${r},${g},${b}`]);
        const back = 'getComputedStyle(document.querySelector(".live-buttons [aria-pressed=%]")).backgroundColor';
        assert.notEqual(await page.value(back.replace('%', 'true')), await page.value(back.replace('%', 'false')));
});

test('the part of a row that has not arrived says so', async () => {
        const words = await page.value(`(() => {
                const { model } = hyprofViewer;
                const written = [];
                const timeline = hyprofShell.shown;
                const context = timeline.canvas.getContext('2d');
                const fillText = context.fillText;
                context.fillText = function (text, ...place) { written.push(text); fillText.call(this, text, ...place); };
                timeline.from = 0;
                timeline.to = model.duration_ns;
                model.tracks.forEach((track) => { track.known_ns = track.kind === 'cpu' ? model.duration_ns / 2 : model.duration_ns; });
                timeline.drawNow();
                delete context.fillText;
                return written.filter((text) => text === 'still to come').length;
        })()`);
        assert.equal(words, await page.value('hyprofShell.shown.layout.rows.filter((row) => row.track?.kind === "cpu" && ' +
                'row.y - hyprofShell.shown.scroll.scrollTop < hyprofShell.shown.canvas.clientHeight - 26).length'));
        assert.ok(words > 0);
});

test('the finished trace has the same kinds', async () => {
        const before = await page.value(kinds);
        recorder.stdin.end();
        await page.until('globalThis.hyprofViewer && !hyprofViewer.model.isLive && hyprofViewer.model.progress === 1', 'the whole trace');
        assert.equal(await page.value(kinds), before);
        page.noComplaints((url) => url.startsWith(page.address.replace(/#.*/, '')));
});
