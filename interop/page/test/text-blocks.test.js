import assert from "node:assert/strict";
import { test } from "node:test";
import { TextBlocks } from "../../../examples/gateway/page/text-blocks.js";

/**
 * What a page would show: `P(…)` a paragraph, `H2(…)` a heading, `-0(…)` and `7.0(…)` items of depth 0,
 * `C:language(…)` a code block, `<…>` inline code, `_…_` bold text, `{…|…}` a link.
 *
 * @param {string[]} deltas
 */
function shown(deltas) {
  let text = "";
  let inlineAt = 0;
  let strongAt = 0;
  let ticks = "";
  const unmark = (/** @type {number} */ at, /** @type {string} */ mark) => text.slice(0, at) + mark + text.slice(at + 1);
  const blocks = new TextBlocks({
    openParagraph: () => (text += "P("),
    openCode: (language) => (text += `C:${language}(`),
    text: (delta) => (text += delta),
    openInline(opening) {
      inlineAt = text.length;
      ticks = opening;
      text += "<";
    },
    closeInline(matched) {
      text = matched ? `${text}>` : unmark(inlineAt, ticks);
    },
    openStrong() {
      strongAt = text.length;
      text += "_";
    },
    closeStrong(matched) {
      text = matched ? `${text}_` : unmark(strongAt, "**");
    },
    openHeading: (level) => (text += `H${level}(`),
    openItem: (depth, number) => (text += `${number === null ? "-" : `${number}.`}${depth}(`),
    link: (words, href) => (text += `{${words}|${href}}`),
    closeBlock: () => (text += ")"),
  });
  for (const delta of deltas) blocks.push(delta);
  blocks.end();
  return text;
}

const TEXTS = [
  ["a line", "hello", "P(hello)"],
  ["two lines", "a\nb", "P(a\nb)"],
  ["a trailing line break", "a\n", "P(a)"],
  ["two paragraphs", "a\n\n \nb", "P(a)P(b)"],
  ["carriage returns", "a\r\n\r\nb\r\nc", "P(a)P(b\nc)"],
  ["a lone carriage return", "a\rb\r", "P(a\rb\r)"],
  ["blank lines alone", "\n\n  \n", ""],
  ["an indented line", "a\n  b\n", "P(a\n  b)"],
  ["a code block", "a\n```rust\nfn a() {}\n\n  b\n```\nc", "P(a)C:rust(fn a() {}\n\n  b)P(c)"],
  ["a code block without a language", "```\na\n```", "C:(a)"],
  ["an empty code block", "```\n```\n", "C:()"],
  ["a code block that begins blank", "```\n\na\n```\n", "C:(\na)"],
  ["a code block that never ends", "```js\na\nb", "C:js(a\nb)"],
  ["words behind the language", "``` js {1}\na\n```", "C:js(a)"],
  ["a longer fence", "````\n```\n````", "C:(```)"],
  ["a fence with words inside code", "```\n``` no\n```", "C:(``` no)"],
  ["an indented fence", "   ```\na\n   ```", "C:(a)"],
  ["a fence indented too far", "```\n    ```\n```", "C:(    ```)"],
  ["inline code", "a `b` c", "P(a <b> c)"],
  ["inline code with ticks inside", "``a`b``", "P(<a`b>)"],
  ["inline code at the end", "`a`", "P(<a>)"],
  ["inline code that never ends", "a `b\nc", "P(a `b\nc)"],
  ["ticks alone", "a ` b", "P(a ` b)"],
  ["ticks at the end of a line", "a `\nb`", "P(a `\nb`)"],
  ["ticks of two lengths", "`a``b` c", "P(<a``b> c)"],
  ["three ticks within a line", "a ```b``` c", "P(a <b> c)"],
  ["three ticks that close on the line", "```a``` b\n", "P(<a> b)"],
  ["two ticks at the start of a line", "``\na", "P(``\na)"],
  ["a link", "see [the docs](https://a.b/c?d=1#e) now", "P(see {the docs|https://a.b/c?d=1#e} now)"],
  ["two links", "[a](http://a)[b](http://b)", "P({a|http://a}{b|http://b})"],
  ["a link that runs code", "[a](javascript:alert(1)) [b](data:text/html,x)", "P([a](javascript:alert(1)) [b](data:text/html,x))"],
  ["brackets that are no link", "a[1] [b] [c](d) [](https://x) [", "P(a[1] [b] [c](d) [](https://x) [)"],
  ["a link that never ends", "[a](https://x\ny)", "P([a](https://x\ny))"],
  ["a link in inline code", "`[a](https://b)`", "P(<[a](https://b)>)"],
  ["inline code behind a bracket", "[`a`](https://b)", "P([<a>](https://b))"],
  ["a link behind a bracket", "[[a](https://b)", "P([{a|https://b})"],
  ["headings", "# a\n## b\nc\n###### d", "H1(a)H2(b)P(c)H6(d)"],
  ["no headings", "#a\n####### b\n#", "P(#a\n####### b\n#)"],
  ["a list", "a:\n- b\n* c\n+ d", "P(a:)-0(b)-0(c)-0(d)"],
  ["a list with numbers", "1. a\n2) b\n\n10. c", "1.0(a)2.0(b)10.0(c)"],
  ["a nested list", "- a\n  - b\n    1. c", "-0(a)-1(b)1.2(c)"],
  ["an item of two lines", "- a\n  b\n\nc", "-0(a\nb)P(c)"],
  ["no items", "-a\n1.5 b\n- \n-", "P(-a\n1.5 b\n- \n-)"],
  ["a list in code", "```\n- a\n# b\n```", "C:(- a\n# b)"],
  ["bold text", "a **b c** d", "P(a _b c_ d)"],
  ["bold text at the start", "**b**: c", "P(_b_: c)"],
  ["bold text that never ends", "a **b\nc** d", "P(a **b\nc** d)"],
  ["stars between spaces", "a ** b ** c", "P(a ** b ** c)"],
  ["code in bold text", "**a `b` c**", "P(_a <b> c_)"],
  ["stars in code", "`a ** b` **", "P(<a ** b> **)"],
  ["stars that are not bold", "2 * 3 ** 4 *** 5* a*b", "P(2 * 3 ** 4 *** 5* a*b)"],
  ["an open code in an open bold", "**a `b", "P(**a `b)"],
  ["marks in a heading and an item", "# **a** `b`\n- **c** [d](https://e)", "H1(_a_ <b>)-0(_c_ {d|https://e})"],
  ["markup", "<b>&amp;</b>", "P(<b>&amp;</b>)"],
];

for (const [name, text, expected] of TEXTS) {
  test(`finds ${name}, split at any character`, () => {
    assert.equal(shown([text]), expected);
    assert.equal(shown([...text]), expected, "letter by letter");
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const deltas = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        assert.equal(shown(deltas), expected, JSON.stringify(deltas));
      }
    }
  });
}

test("treats an endless fence line as text", () => {
  const line = "```" + "x".repeat(300);
  assert.equal(shown([line]), `P(${line})`);
  assert.equal(shown([...line, "\n"]), `P(${line})`);
});

test("delays no text of a decided line, and little of an undecided line", () => {
  /** @type {string[]} */
  const texts = [];
  const nothing = () => {};
  const blocks = new TextBlocks({
    openParagraph: nothing,
    openCode: nothing,
    openInline: nothing,
    closeInline: nothing,
    closeBlock: nothing,
    link: nothing,
    openStrong: nothing,
    closeStrong: nothing,
    openHeading: nothing,
    openItem: nothing,
    text: (delta) => texts.push(delta),
  });
  blocks.push("Hel");
  blocks.push("lo");
  assert.deepEqual(texts, ["Hel", "lo"]);
  blocks.push(`\n\n\`\`\`${"x".repeat(300)}`);
  assert.equal(texts.join("").length, "Hello".length + 300);
});
