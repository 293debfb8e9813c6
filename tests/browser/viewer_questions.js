// SPDX-License-Identifier: MIT
// Questions of a person about recordings with known answers, asked of the served viewer in a browser: each is answered in
// at most five actions (a click, a typed text, a key), and no page complains.
//
// Usage: node viewer_questions.js FOLDER, which has the traces that browser_questions.sh records; HYPROF is the program.
'use strict';

const path = require('path');
const { execFileSync } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { serveTrace } = require('./served_trace.js');

const ACTIONS_MAX = 5;
const folder = process.env.TRACES;
const hyprof = process.env.HYPROF;
let browser;

/** The actions of a person, counted. */
class Person {
        constructor(page) {
                this.page = page;
                this.nActions = 0;
        }

        async click(selector, text) {
                this.nActions++;
                await this.page.click(selector, text);
        }

        tab(title) {
                return this.click('[role=tab]', title);
        }

        /** A row of a table, by the text of one of its cells. */
        row(name, cell) {
                const place = '.data-table:has([aria-label="' + name + '"]) td';

                return this.click('[role=tabpanel]:not([hidden]) ' + place, cell);
        }

        async typeInto(selector, text) {
                this.nActions++;
                await this.page.click(selector);
                await this.page.type(text);
        }

        async reads(selector, pattern) {
                await this.page.untilText('[role=tabpanel]:not([hidden]) ' + selector, pattern);
        }

        /** The cells of the first row of a table that is shown. */
        async firstRow(name) {
                const row = '[role=tabpanel]:not([hidden]) [role=grid][aria-label="' + name + '"] tbody tr:not(.gap)';

                await this.page.until('document.querySelector(' + JSON.stringify(row) + ')', 'a row of ' + name);
                return this.page.value('[...document.querySelector(' + JSON.stringify(row) + ').cells].map((c) => c.innerText.trim())');
        }
}

/** The answer of the command line. */
function command(name, trace, ...options) {
        const words = [name, '--json', '--whole', ...options, path.join(folder, trace)];

        return JSON.parse(execFileSync(hyprof, words, { maxBuffer: 1 << 28 }));
}

function report(trace, ...options) {
        return command('report', trace, ...options);
}

function question(words, trace, ask) {
        test(words, async () => {
                const { viewer, address } = await serveTrace(path.join(folder, trace));
                const page = await browser.open(address);

                try {
                        const person = new Person(page);

                        await page.until('document.querySelector("[role=tab]")', 'the page');
                        await ask(person, page);
                        assert.ok(person.nActions <= ACTIONS_MAX, `${person.nActions} actions`);
                        page.noComplaints((url) => url.startsWith(address));
                } finally {
                        await page.close();
                        const ended = new Promise((resolve) => viewer.on('exit', resolve));

                        viewer.removeAllListeners('exit');
                        viewer.on('exit', () => {});
                        viewer.kill('SIGINT');
                        await Promise.race([ended, new Promise((resolve) => viewer.on('close', resolve))]);
                }
        });
}

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
});

question('which zone took the most time?', 'split.hyp', async (person) => {
        await person.tab('Zones');
        const row = await person.firstRow('Zones');
        const truth = report('split.hyp', '--zones').zones.rows[0];

        assert.strictEqual(row[1], 'seventy');
        assert.strictEqual(row[2], truth.count.toLocaleString('en'));
});

question('which function burns the time inside of the zone "thirty"?', 'split.hyp', async (person) => {
        await person.tab('Zones');
        await person.row('Zones', 'thirty');
        await person.reads('h2', /Zone thirty/);
        await person.tab('Functions');
        assert.strictEqual((await person.firstRow('Functions'))[1], 'thirty');
});

question('why are some requests slow?', 'why.hyp', async (person, page) => {
        await person.tab('Zones');
        await person.row('Zones', 'request');
        await person.click('button', 'why are some slow?');
        const truth = command('why', 'why.hyp', '--zone', 'request');
        const cause = await person.firstRow('Causes');

        assert.strictEqual(cause[0], truth.causes.rows[0].cause);
        await page.until(`[...document.querySelectorAll('.headline')].some((e) => e.innerText === ${JSON.stringify(truth.answer)})`);
});

question('which thread held the queue while another waited for it?', 'locks.hyp', async (person) => {
        await person.tab('Waits');
        const row = await person.firstRow('Held by, while others waited');

        assert.ok(row.includes('the queue') && row.includes('locks helper'), row.join());
});

question('where is the time within forty()?', 'shares.hyp', async (person) => {
        await person.tab('Functions');
        await person.row('Functions', 'forty');
        await person.click('button', 'source and instructions');
        await person.reads('.headline', /^forty in .*w_shares: [\d,]+ samples/);
        await person.reads('.listing-share', /%/);
});

question('when did the program warn?', 'messages.hyp', async (person, page) => {
        await person.tab('Messages');
        await person.typeInto('[role=tabpanel]:not([hidden]) input[type=search]', 'a warning');
        await person.row('Messages', 'a warning');
        const truth = report('messages.hyp', '--messages').messages.rows.find((row) => row.text === 'a warning');

        await page.until(`location.hash.includes("at=${truth.at_ns}")`);
        await person.reads('.panel', /a warning/);
});

question('how much memory was in use at most?', 'every.hyp', async (person) => {
        await person.tab('Memory');
        const truth = report('every.hyp', '--memory').pools.rows[0];

        await person.reads('[aria-label="Pools"]', new RegExp(`${truth.peak_bytes} B`));
});

question('how long is the slowest frame, and what is in it?', 'pool.hyp', async (person, page) => {
        const truth = report('pool.hyp', '--frames').slowest.rows[0];

        await person.tab('Frames');
        await person.firstRow('Slowest frames');
        await person.click('[role=tabpanel]:not([hidden]) [role=grid][aria-label="Slowest frames"] tbody td');
        await page.until(`location.hash.includes("from=${truth.at_ns}")`);
        await person.tab('Zones');
        await person.firstRow('Zones');
        assert.ok(report('pool.hyp', '--zones', '--from', `${truth.at_ns}ns`, '--to', `${truth.at_ns + truth.duration_ns}ns`)
                .zones.rows.some((row) => row.name === 'task'));
        await person.reads('[aria-label="Zones"]', /task/);
});

question('which share of all samples has seventy() on its stack?', 'split.hyp', async (person, page) => {
        await person.tab('Flame graph');
        await person.typeInto('[role=tabpanel]:not([hidden]) .flame input', 'seventy');
        await person.reads('.flame .data-tools', /matched/);
        const share = Number(/matched ([\d.]+)%/.exec(await page.text('[role=tabpanel]:not([hidden]) .flame .data-tools'))[1]);

        assert.ok(share > 60 && share < 80, `${share}%`);
});

question('what did the slowest request wait for, and who ended it?', 'why.hyp', async (person) => {
        await person.tab('Zones');
        await person.row('Zones', 'request');
        await person.firstRow('Slowest instances of request');
        await person.click('[role=tabpanel]:not([hidden]) [role=grid][aria-label="Slowest instances of request"] tbody td');
        await person.reads('.panel h2', /request: /);
        await person.reads('.panel [aria-label="Waits"]', /woken by loader/);
});

question('where did the slowest request wait, and in which function did which thread end that?', 'why.hyp', async (person) => {
        await person.tab('Zones');
        await person.row('Zones', 'request');
        await person.firstRow('Slowest instances of request');
        await person.click('[role=tabpanel]:not([hidden]) [role=grid][aria-label="Slowest instances of request"] tbody td');
        const [slowest] = report('why.hyp', '--zone', 'request').slowest.rows;
        const truth = report('why.hyp', '--off-cpu', '--thread', slowest.thread, '--from', `${slowest.at_ns}ns`, '--to',
                             `${slowest.at_ns + slowest.duration_ns}ns`);

        await person.reads('.panel-wait', new RegExp(`take_queue[^]*${truth.places.rows[0].callstack.join('\\s+')}`));
        const waker = await person.firstRow('Who ended these waits');
        assert.deepStrictEqual(waker.slice(2), ['loader', truth.wakers.rows[0].function]);
        assert.strictEqual(waker[3], 'hold_lock');
});

question('who delayed the slowest request?', 'why.hyp', async (person, page) => {
        const timeline = 'hyprofShell.made.get("timeline")';

        await person.tab('Zones');
        await person.row('Zones', 'request');
        await person.firstRow('Slowest instances of request');
        await person.click('[role=tabpanel]:not([hidden]) [role=grid][aria-label="Slowest instances of request"] tbody td');
        await person.click('.panel button', 'who delayed this?');
        const [slowest] = report('why.hyp', '--zone', 'request').slowest.rows;
        const truth = command('path', 'why.hyp', '--zone', 'request', '--thread', slowest.thread, '--at', `${slowest.at_ns}ns`);

        assert.match(truth.answer, /'loader'.* ran flush\(\)/);
        await page.until(`[...document.querySelectorAll('.panel .headline')].some((e) => e.innerText === ${JSON.stringify(truth.answer)})`);
        assert.strictEqual(await page.value(timeline + '.path.segments.length'), truth.slowest.rows.length);
        assert.strictEqual(await page.value(timeline + '.path.segments.reduce((sum, one) => sum + one.end - one.begin, 0)'),
                slowest.duration_ns, 'the parts are the whole');
        await page.reload();
        await page.until(`window.hyprofShell && ${timeline} && ${timeline}.path.isShown()`, 'the same by its address');
});
