// SPDX-License-Identifier: MIT
// Writes the one-file page of a made-up trace: node tests/browser/make_page.js FILE [FOLDER]
//
// FOLDER holds documents, as `hyprof ... --json` prints them, that stand for the page's answers: the file's name without
// .json is the question with its parameters, such as `functions.json` or `zone&zone=Frame.json`.
'use strict';

const fs = require('fs');
const path = require('path');
const { FakeTrace } = require('./fake_trace.js');

const PAGES = path.join(__dirname, '../../web/pages');

function pageScripts() {
        const names = fs.readFileSync(path.join(PAGES, 'order'), 'utf8').split('\n').filter(Boolean);
        return names.map((name) => fs.readFileSync(path.join(PAGES, name), 'utf8')).join('\n');
}

/** The whole page, with data elements in it. */
function makePage(dataElements) {
        const page = fs.readFileSync(path.join(PAGES, 'page.html'), 'utf8');
        const css = fs.readFileSync(path.join(PAGES, 'page.css'), 'utf8');
        const policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src \'unsafe-inline\'; ' +
                'style-src \'unsafe-inline\'; img-src data: blob:">';
        return page.replace('<!-- style -->', () => policy + '\n<style>\n' + css + '</style>')
                .replace('<!-- scripts -->', () => dataElements + '<script>\n' + pageScripts() + '</script>');
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

module.exports = { makePage, pageScripts, readAnswers, PAGES };
