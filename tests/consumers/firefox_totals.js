// SPDX-License-Identifier: MIT
//
// node firefox_totals.js CLI FILE - opens FILE in profiler-cli, the Firefox profiler without a window
//
// CLI is profiler-cli.js.  Prints a line for each thread and each kind of zone: "samples N" of those on a CPU, "waits N" of the
// others, "zone N NAME".
//
// Its own client gives the process that loads the file half a second to start, which it needs on an idle machine, and is a process
// for each question.  So that process is started here, as its messages say, and asked through its socket, as its client does: a
// line of JSON each way, on a connection of its own.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');

const [cli, file] = process.argv.slice(2);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'firefox-'));
const daemon = spawn(process.execPath, [cli, '--daemon', file, '--session', 'totals'],
  { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PROFILER_CLI_SESSION_DIR: folder } });
let hasEnded = false;
daemon.on('exit', () => { hasEnded = true; });

function ask(message) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path.join(folder, 'totals.sock'), () => socket.write(JSON.stringify(message) + '\n'));
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
      if (!answer.endsWith('\n')) return;
      socket.end();
      resolve(JSON.parse(answer));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection ended without an answer')));
  });
}

async function question(subcommand, words) {
  const answer = await ask({ type: 'command', command: { command: 'thread', subcommand, ...words } });
  if (answer.type !== 'success') throw new Error(`thread ${subcommand}: ${answer.error}`);
  return answer.result;
}

async function load() {
  for (;;) {
    if (hasEnded) throw new Error('profiler-cli has ended');
    const answer = await ask({ type: 'status' }).catch(() => ({ type: 'loading' })); // no socket yet
    if (answer.type === 'error') throw new Error(answer.error);
    if (answer.type === 'ready') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function main() {
  await load();
  for (const { threadHandle: thread } of (await question('list')).threads) {
    const { categoryBreakdown } = await question('samples', { thread, includeIdle: true });
    const sum = (isWait) => (categoryBreakdown?.categories ?? []).filter((row) => ['Off-CPU', 'Idle'].includes(row.name) === isWait)
      .reduce((n, row) => n + row.samples, 0);
    console.log(`samples ${sum(false)}\nwaits ${sum(true)}`);
    const { byType } = await question('markers', { thread, markerFilters: { category: 'Zone' } });
    for (const row of byType ?? []) console.log(`zone ${row.count} ${row.markerName}`);
  }
}

function end(status, words) {
  if (words) console.error(words);
  daemon.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
  process.exitCode = status;
}

main().then(() => end(0), (error) => end(1, String(error)));
