// SPDX-License-Identifier: MIT
//
// node valid_json.js SCHEMA FILE... - checks FILE against a JSON schema, with ajv; says what is wrong
'use strict';
const fs = require('fs');
const Ajv = require(`${process.env.CONSUMERS}/node_modules/ajv`);

const [schema, ...files] = process.argv.slice(2);
const validate = new Ajv({ strict: false, allErrors: false })
    .compile(JSON.parse(fs.readFileSync(schema, 'utf8').replace(/"\$schema":\s*"[^"]*schema#"\s*,?/, '')));
for (const file of files) {
  if (validate(JSON.parse(fs.readFileSync(file, 'utf8')))) continue;
  console.error(`${file}: ${JSON.stringify(validate.errors)}`);
  process.exitCode = 1;
}
