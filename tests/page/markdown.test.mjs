/** Readers can influence the assistant's answers, so the page does not trust their Markdown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { renderMarkdown } = await importSource("analytics/entries/markdown.tsx");
const { safeLink } = await importSource("analytics/entries/outside_link.tsx");

/** Returns the elements of a tree, with those that its components return. */
function elementsIn(tree) {
  if (Array.isArray(tree)) return tree.flatMap(elementsIn);
  if (tree === null || typeof tree !== "object") return [];
  if (typeof tree.type === "function") return elementsIn(tree.type(tree.props));
  return [tree, ...elementsIn(tree.props.children)];
}

function textOf(tree) {
  if (Array.isArray(tree)) return tree.map(textOf).join("");
  if (tree === null || typeof tree !== "object") return String(tree ?? "");
  return typeof tree.type === "function"
    ? textOf(tree.type(tree.props))
    : textOf(tree.props.children);
}

const typesIn = (source) => elementsIn(renderMarkdown(source)).map(({ type }) => type);
const propsIn = (source) => elementsIn(renderMarkdown(source)).map(({ props }) => props);

test("Markdown becomes headings, lists, code, tables and emphasis", () => {
  const source =
    "# Rotate\n\nOpen **Settings**, *then*:\n\n1. `npm ci`\n2. Done\n\n```sh\nls <a>\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |";
  const types = [...new Set(typesIn(source))].join(" ");
  assert.equal(types, "h4 p strong em ol li code pre table thead tr th tbody td");
  assert.equal(textOf(renderMarkdown("```\nls <a> && b\n```")), "ls <a> && b");
  assert.equal(textOf(renderMarkdown("a &lt;b&gt; &amp;amp; \\*c\\*")), "a <b> &amp; *c*");
});

test("emphasis needs no spaces in East Asian text", () => {
  for (const source of [
    "**「重要」**です",
    "これは**「重要」**です",
    "**重要。**次",
    "**API（旧）**を使う",
    "한국어**‘강조’**입니다",
  ]) {
    assert.deepEqual(typesIn(source), ["p", "strong"], source);
  }
  assert.deepEqual(typesIn("*「斜体」*です"), ["p", "em"]);
  assert.equal(textOf(renderMarkdown("これは**「`a`」**です")), "これは「a」です");
  for (const source of ["2 * 3 * 4", "2 ** 3** 4", "a**'b'**c", "重 ** 要 ** 次"]) {
    assert.deepEqual(typesIn(source), ["p"], source);
  }
});

test("a list keeps its first number, and task boxes become characters", () => {
  const [list] = elementsIn(renderMarkdown("3. c\n4. d"));
  assert.equal(list.props.start, 3);
  assert.equal(textOf(renderMarkdown("- [x] done\n- [ ] open")), "☑ done☐ open");
});

const HOSTILE_HTML = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "before <svg onload=alert(1)> after",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<a href='javascript:alert(1)'>x</a>",
  "<style>body{display:none}</style>",
  "<!-- x --><form action=//evil.example><input name=token></form>",
  "- <details open ontoggle=alert(1)>",
  "| <b onclick=alert(1)>a</b> |\n| - |\n| <object data=x> |",
  "&lt;img src=x onerror=alert(1)&gt;",
];
const ALLOWED = ["p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "bdi"];

test("raw HTML stays text and adds no element", () => {
  for (const source of HOSTILE_HTML) {
    const types = typesIn(source).filter((type) => !ALLOWED.includes(type));
    assert.deepEqual(types, [], source);
    const names = new Set(propsIn(source).flatMap(Object.keys));
    for (const name of ["children", "scope"]) names.delete(name);
    assert.deepEqual([...names], [], source);
  }
  assert.equal(textOf(renderMarkdown(HOSTILE_HTML[0])), HOSTILE_HTML[0]);
});

test("only HTTP links become links, and they do not pass on the opener or the referrer", () => {
  const links = (source) => elementsIn(renderMarkdown(source)).filter(({ type }) => type === "a");
  for (const source of [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](&#0;javascript:alert(1))",
    "<javascript&#58;alert(1)>",
    "![x](javascript&#58;alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "[x](blob:https://a.example/1)",
    "[x](/relative)",
    "[x](//evil.example)",
    "[x][r]\n\n[r]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
  ]) {
    assert.deepEqual(links(source), [], source);
  }
  const [link] = links('[x](https://docs.example.com/a?b "title")');
  const { href, target, rel } = link.props;
  assert.equal(href, "https://docs.example.com/a?b");
  assert.deepEqual([target, rel], ["_blank", "noopener noreferrer"]);
  assert.equal(links('[x](https://a.example/"onmouseover="alert)')[0].props.onmouseover, undefined);
});

test("addresses of links decode character references once", () => {
  const wanted = "https://a.example/?a=1&b=2";
  for (const source of [
    "[x](https://a.example/?a=1&amp;b=2)",
    "[x](<https://a.example/?a=1&amp;b=2>)",
    "[x](https://a.example/?a=1&#38;b=2)",
    "[x](https://a.example/?a=1&#x26;b=2)",
    "[x](https&#58;//a.example/?a=1&b=2)",
    "[x][r]\n\n[r]: https://a.example/?a=1&amp;b=2",
    "<https://a.example/?a=1&amp;b=2>",
    "https://a.example/?a=1&amp;b=2",
    "![x](https://a.example/?a=1&amp;b=2)",
    "![](https://a.example/?a=1&amp;b=2)",
  ]) {
    const [{ href } = {}] = propsIn(source).filter((props) => "href" in props);
    assert.equal(href, wanted, source);
  }
  const twice = propsIn("[x](https://a.example/?a=1&amp;amp;b=2)");
  assert.equal(twice.find(({ href }) => href).href, "https://a.example/?a=1&amp;b=2");
  assert.equal(textOf(renderMarkdown("![](https://a.example/?a&amp;b)")), "https://a.example/?a&b");
  const text = "it&#x27;s &#8217; &#0; &#xD800; &#9999999; &constructor; &copy=1";
  assert.equal(textOf(renderMarkdown(text)), "it's ’ � � � &constructor; &copy=1");
});

test("an image becomes a link, so that opening an answer loads nothing", () => {
  const source = "![Diagram](https://tracker.example/a.png)";
  assert.deepEqual(typesIn(source), ["p", "a", "bdi"]);
  assert.equal(textOf(renderMarkdown(source)), "Diagram");
});

test("costly sources stay text and take little time", () => {
  for (const source of [
    "> ".repeat(9000),
    "- ".repeat(9000),
    "1. ".repeat(6000),
    "*a_".repeat(6000),
    "[".repeat(20_000),
    "a".repeat(20_001),
  ]) {
    const before = process.cpuUsage();
    const rendered = renderMarkdown(source);
    const { user } = process.cpuUsage(before);
    assert.ok(user < 1_000_000, `${source.slice(0, 9)}: ${user} µs`);
    assert.ok(textOf(rendered).length > 0);
  }
  assert.deepEqual(typesIn("> ".repeat(9000)), ["p"]);
});

test("deeply nested lists stay text below the limit", () => {
  const source = Array.from({ length: 60 }, (_, level) => `${"  ".repeat(level)}- ${level}`).join(
    "\n",
  );
  const lists = typesIn(source).filter((type) => type === "ul").length;
  assert.ok(lists > 3 && lists <= 12, String(lists));
  assert.match(textOf(renderMarkdown(source)), /- 59$/);
});

test("an ordinary rule or table line is not mistaken for nesting", () => {
  assert.ok(typesIn("a\n\n---------------------\n\nb").includes("hr"));
  assert.ok(typesIn("a\n\n********************\n\nb").includes("hr"));
});

test("only HTTP URLs are safe to link to", () => {
  assert.equal(safeLink("https://docs.example.com/a"), "https://docs.example.com/a");
  for (const url of ["javascript:alert(1)", "data:text/html,x", "/relative", null]) {
    assert.equal(safeLink(url), null);
  }
});
