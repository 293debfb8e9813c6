// SPDX-License-Identifier: MIT
// Writes the one-file page of a made-up trace: node tests/browser/make_page.js FILE [FOLDER]
//
// FOLDER holds documents, as `hyprof ... --json` prints them, that stand for the page's answers: the file's name without
// .json is the question with its parameters, such as `functions.json` or `zone&zone=Frame.json`.
'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { FakeTrace } = require('./fake_trace.js');

const PAGES = path.join(__dirname, '../../web/pages');

/** The script that the build joins from the modules; without the one that begins the page, if `isStarted` is false. */
function pageScript(isStarted = true) {
        const names = fs.readdirSync(PAGES).filter((name) => name.endsWith('.js') && (isStarted || name !== 'start.js'));
        return execFileSync('awk', ['-f', path.join(PAGES, 'join_pages.awk'), ...names.sort().map((name) => path.join(PAGES, name))],
                { encoding: 'utf8', maxBuffer: 1 << 26 });
}

/** The whole page, with data elements in it. */
function makePage(dataElements) {
        const page = fs.readFileSync(path.join(PAGES, 'page.html'), 'utf8');
        const css = fs.readFileSync(path.join(PAGES, 'page.css'), 'utf8');
        const policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src \'unsafe-inline\'; ' +
                'style-src \'unsafe-inline\'; img-src data: blob:">';
        return page.replace('<!-- style -->', () => policy + '\n<style>\n' + css + '</style>')
                .replace('<!-- script -->', () => dataElements + '<script>\n' + pageScript() + '</script>');
}

function readAnswers(folder) {
        const answers = {};
        for (const name of folder ? fs.readdirSync(folder) : []) {
                if (name.endsWith('.json')) {
                        answers[name.slice(0, -5)] = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
                }
        }
        return answers;
}

if (require.main === module) {
        const [file, folder] = process.argv.slice(2);
        fs.writeFileSync(file, makePage(new FakeTrace().dataElements(readAnswers(folder))));
}

module.exports = { makePage, pageScript, readAnswers, PAGES };
