// SPDX-License-Identifier: MIT
//
// node devtools_flows.js FILE - the arrows that the engine of Chromium's DevTools finds in a file of trace events:
// "NAME OF THE FIRST EVENT -> NAME OF THE LAST EVENT COUNT", a line each, sorted
'use strict';
const fs = require('fs');

async function main() {
  const engine = `${process.env.CONSUMERS}/node_modules/@paulirish/trace_engine/models/trace`;
  const flows = await import(`${engine}/handlers/FlowsHandler.js`);
  const counts = new Map();

  flows.reset();
  for (const event of JSON.parse(fs.readFileSync(process.argv[2], 'utf8')).traceEvents) flows.handleEvent(event);
  await flows.finalize();
  for (const flow of flows.data().flows) {
    const names = `${flow[0].name} -> ${flow[flow.length - 1].name}`;
    counts.set(names, (counts.get(names) || 0) + 1);
  }
  for (const names of [...counts.keys()].sort()) console.log(`${names} ${counts.get(names)}`);
}

main();
