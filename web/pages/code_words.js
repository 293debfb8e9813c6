// SPDX-License-Identifier: MIT
/*
 * code_words.js - a line of source or an instruction as words of a few kinds, so that it reads as in an editor
 *
 * Way of the data:  text of a line -> [code_words] -> listing_pane
 *
 * One line at a time, for C, C++, Rust, Go, Python and MLIR alike.  A comment that began on an earlier
 * line is recognized only by its leading star; a mistake merely gives a wrong color.
 */

/** @typedef {{ text: string, kind: ''|'comment'|'string'|'number'|'keyword' }} CodeWord */

const CODE_WORD_MAX = 2000;
const CODE_KEYWORDS = new Set(('alignas and as asm async auto await bool break case catch char class const constexpr continue ' +
        'crate def default defer delete del do double elif else enum except explicit export extern f16 f32 f64 false finally ' +
        'float fn for from func go goto i16 i32 i64 i8 if impl import in index inline int interface is lambda let long loop ' +
        'match mod mut namespace new None not null nullptr operator or package pass private protected pub public raise range ' +
        'ref register restrict return select self short signed sizeof static struct super switch template this throw trait ' +
        'True False true try type typedef typename union unsafe unsigned use using var virtual void volatile where while with ' +
        'yield').split(' '));
/* A comment, a text in quotes, a number, a word, a preprocessor's word. */
const CODE_PATTERN = new RegExp([
        '(//.*|/\\*.*?(?:\\*/|$)|^\\s*\\*(?:[ /].*)?$|' +
        '^\\s*#(?!\\s*(?:include|define|if|ifdef|ifndef|elif|else|endif|pragma|undef|error|line)\\b).*)',
        '("(?:[^"\\\\]|\\\\.)*"?|\'(?:[^\'\\\\]|\\\\.)*\'?)',
        '(\\b(?:0[xX][0-9a-fA-F]+|[0-9][0-9.eE]*)\\w*)',
        '([A-Za-z_]\\w*)'].join('|'), 'g');

/**
 * codeWords() - the parts of a line, in order; together they are the line
 * @param {string} text
 * @returns {CodeWord[]}
 */
export function codeWords(text) {
        /** @type {CodeWord[]} */
        const words = [];
        let at = 0;

        if (text.length > CODE_WORD_MAX)
                return [{ text, kind: '' }];
        for (const found of text.matchAll(CODE_PATTERN)) {
                const kind = found[1] !== undefined ? 'comment' : found[2] !== undefined ? 'string'
                        : found[3] !== undefined ? 'number' : CODE_KEYWORDS.has(found[4]) ? 'keyword' : '';

                const begin = found.index ?? 0;

                if (kind === '')
                        continue;
                if (begin > at)
                        words.push({ text: text.slice(at, begin), kind: '' });
                words.push({ text: found[0], kind });
                at = begin + found[0].length;
        }
        if (at < text.length)
                words.push({ text: text.slice(at), kind: '' });
        return words;
}
