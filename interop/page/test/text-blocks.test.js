import assert from "node:assert/strict";
import { test } from "node:test";
import { TextBlocks } from "../../../examples/gateway/page/text-blocks.js";

/**
 * What a page would show: `P(…)` a paragraph, `C:language(…)` a code block, `<…>` inline code, `{…|…}` a link.
 *
 * @param {string[]} deltas
 */
function shown(deltas) {
  let text = "";
  let inlineAt = 0;
  let ticks = "";
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
      text = matched ? `${text}>` : `${text.slice(0, inlineAt)}${ticks}${text.slice(inlineAt + 1)}`;
    },
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
  ["an indented line", "a\n  - b\n", "P(a\n  - b)"],
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
  ["markup", "<b>&amp;</b>", "P(<b>&amp;</b>)"],
];

for (const [name, text, expected] of TEXTS) {
  test(`finds ${name}, wherever the text is cut`, () => {
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

test("takes an endless fence line for text", () => {
  const line = "```" + "x".repeat(300);
  assert.equal(shown([line]), `P(${line})`);
  assert.equal(shown([...line, "\n"]), `P(${line})`);
});

test("holds back nothing of a line that is decided", () => {
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
    text: (delta) => texts.push(delta),
  });
  blocks.push("Hel");
  blocks.push("lo");
  assert.deepEqual(texts, ["Hel", "lo"]);
});
