// SPDX-License-Identifier: MIT
//
// node speedscope_totals.js CHROMIUM PAGE FILE... - opens each FILE in speedscope, in a browser without a window
//
// PAGE is speedscope's index.html.  FILE.totals is JSON then, in speedscope's own words for what it computed: the list of
// profiles (number, name, total), if there are several, and of the active one the functions (total, self, name).
// The browser is talked to through a pipe, with its debugging protocol: messages are JSON and end with a NUL.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const [chromium, page, ...files] = process.argv.slice(2);
const SECONDS = 120; // for each file, at most
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
// High enough for all rows: the table only has those that can be seen.
const browser = spawn(chromium, [
  '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--enable-unsafe-swiftshader', '--no-first-run',
  '--disable-extensions', '--disable-background-networking', '--allow-file-access-from-files',
  '--window-size=1400,16000', `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

let next = 1;
const waiting = new Map();
let rest = '';
browser.stdio[4].on('data', (data) => {
  const messages = (rest + data.toString()).split('\0');
  rest = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    const done = waiting.get(message.id);
    waiting.delete(message.id);
    if (done) message.error ? done.reject(new Error(message.error.message)) : done.resolve(message.result);
  }
});

function send(method, params = {}, sessionId = undefined) {
  const id = next++;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function end(status, words) {
  if (words) console.error(words);
  browser.kill('SIGKILL');
  browser.on('exit', () => {
    // Processes of the browser's own may still write there; what is left goes with the test's folder.
    try {
      fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    } catch (error) {
      console.error(String(error));
    }
    process.exit(status);
  });
}

// As speedscope's own command hands a file over: a script beside the page.
async function open(file) {
  const script = path.join(profile, 'load.js');
  fs.writeFileSync(script, `window.alert = (words) => { window.wordsSaid = words; };
speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, "${fs.readFileSync(file).toString('base64')}")`);
  const { targetId } = await send('Target.createTarget', { url: `file://${path.resolve(page)}#localProfilePath=${script}` });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  return { targetId, sessionId };
}

async function readTotals({ sessionId }) {
  const evaluate = async (expression) => {
    const answer = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId)
      // The empty page that a browser begins with is gone while it is asked: the next one is asked again.
      .catch((error) => /context was destroyed|Cannot find .*context/.test(error.message) ? null : Promise.reject(error));
    if (!answer) return evaluate(expression);
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception.description);
    return answer.result.value;
  };
  const until = async (expression) => {
    for (;;) {
      const value = await evaluate(expression);
      if (value) return value;
      await evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
    }
  };

  await until('location.protocol === "file:" && !["", "speedscope"].includes(document.title) || !!window.wordsSaid');
  const said = await evaluate('window.wordsSaid');
  if (said) throw new Error(`speedscope says: ${said}`);
  await until(`[...document.querySelectorAll('div')].some((tab) => {
        if (tab.children.length > 1 || !tab.innerText.endsWith('Sandwich')) return false;
        tab.click();
        return true;
      })`);
  // The list of profiles is the first table, if there are several; the head of the functions and they are the last two.
  // A file without functions has no rows ever.
  let tables = [];
  for (let empty = 0; empty < 60;) {
    tables = await evaluate(`[...document.querySelectorAll('table')].map((table) =>
          [...table.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.innerText)))`);
    const head = tables.findIndex((table) => table.length > 0 && table[0][0] === 'Total');
    if (head >= 0 && head + 1 < tables.length && tables[head + 1].length > 0) break;
    if (head >= 0) empty++;
    await evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
  }
  const profiles = tables.find((table) => table.length > 0 && table[0][1] === 'Name') || [];
  return { profiles: profiles.slice(1), functions: tables[tables.length - 1] };
}

async function main() {
  let status = 0;
  for (const file of files) {
    const late = setTimeout(() => end(1, `${file}: speedscope did not answer in time`), SECONDS * 1000);
    const target = await open(file);
    try {
      fs.writeFileSync(`${file}.totals`, JSON.stringify(await readTotals(target)));
    } catch (error) {
      console.error(`${file}: ${error.message}`);
      status = 1;
    }
    await send('Target.closeTarget', { targetId: target.targetId });
    clearTimeout(late);
  }
  return status;
}

main().then(end, (error) => end(1, String(error)));
