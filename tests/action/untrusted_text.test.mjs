/** Text of servers in the log and in comments. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadModule } from "./modules.mjs";

/** The spaces of `Char.IsWhiteSpace` in .NET. The runner trims them at the start of a line. */
const SPACE =
  "\t\v\f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";

test("no line of the log is a workflow command", async () => {
  const { Runner } = await loadModule("runner.ts");
  const lines = [];
  const runner = new Runner({}, (line) => lines.push(line));
  const command = "::add-path::/tmp";
  // The runner ignores invisible characters when it compares strings.
  for (const start of ["", ...SPACE, SPACE, "\0", "\u00ad\ufeff\u200b", "\r", "\n", "\r\n"]) {
    runner.info(start + command);
  }
  for (const text of [":\u200b:add-path::/tmp", "a ##[add-path]/tmp", "a\r##[add-path]/tmp"])
    runner.info(text);
  for (const line of lines) {
    const visible = line.replace(/^[\s\p{C}]+/u, "").replace(/\p{C}/gu, "");
    assert.ok(!visible.startsWith("::") && !line.includes("##["), JSON.stringify(line));
    assert.doesNotMatch(line, /[\r\n]/);
  }
});

test("logs other text than workflow commands unchanged", async () => {
  const { Runner } = await loadModule("runner.ts");
  const lines = [];
  const runner = new Runner({}, (line) => lines.push(line));
  const texts = ["a::b", " : :x", "# [x]", "## [x]", "\u0085x"];
  for (const text of texts) runner.info(text);
  assert.deepEqual(lines, texts);
});

test("escapes character references, which could mention people", async () => {
  const { escapeComment, escapeMarkdown } = await loadModule("markdown.ts");
  for (const text of ["&#64;team", "&commat;team", "&lt;b&gt;"]) {
    for (const format of [escapeComment, escapeMarkdown]) {
      assert.equal(format(text), text.replaceAll("&", "\\&"));
    }
  }
});

test("a comment shortens a long reason, and stays below GitHub's limit with ten entries", async () => {
  const { composeComment } = await loadModule("deployment_report.ts");
  const context = { noun: "deployment", project: "acme", run: "https://github.example/run" };
  for (const reason of ["@", "😀", "x"].map((text) => text.repeat(70_000))) {
    const logs = ["Verified", reason];
    const followed = { statusId: "s", previewUrl: null, deployment: { status: "failure", logs } };
    for (const outcome of [
      { kind: "ended", followed },
      { kind: "failed", followed, reason },
      { kind: "failed", followed: undefined, reason },
    ]) {
      const comment = composeComment(outcome, context);
      assert.ok(comment.length < 6_500, `${comment.length}`);
      assert.match(comment, new RegExp(`… \\(${reason.length} characters in all\\)`));
      assert.ok(comment.includes("[this run](https://github.example/run)"));
      assert.ok(comment.isWellFormed());
    }
  }
});
