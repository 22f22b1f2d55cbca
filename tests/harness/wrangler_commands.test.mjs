/** Checks that wrangler has every command and flag in the documentation. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { findCode, listMarkdown } from "./markdown.mjs";

const LINE = /(?:^|[\s&])wrangler ([a-z0-9][^\n|;&`#]*)/gm;
const ENV = { ...process.env, WRANGLER_SEND_METRICS: "false" };

/** Returns the flags of each command in a text. Names of databases and secrets are not commands. */
function findCommands(text) {
  const shell = findCode(text).filter(({ language }) => ["sh", "inline"].includes(language));
  return shell.flatMap(({ code }) =>
    [...code.replace(/\\\n\s*/g, " ").matchAll(LINE)].map(([, line]) => {
      const words = line.split(/\s+/);
      const end = words.findIndex((word) => !/^[a-z0-9]+(-[a-z]+)?$/.test(word));
      const flags = [...line.matchAll(/(?:^|\s)(--[a-z][\w-]*)/g)].map(([, flag]) => flag);
      return { command: words.slice(0, end < 0 ? 3 : end).join(" "), flags };
    }),
  );
}

async function findFault(command, flags) {
  const { code, stdout } = await capture("npx", ["wrangler", ...command.split(" "), "--help"], {
    cwd: ROOT,
    env: ENV,
  });
  if (code !== 0 || /^COMMANDS$/m.test(stdout)) return `wrangler has no command ${command}`;
  const flag = flags.find((name) => !stdout.includes(`${name} `));
  return flag && `wrangler ${command} has no flag ${flag}`;
}

const commands = new Map();
for (const name of listMarkdown()) {
  for (const { command, flags } of findCommands(readFileSync(join(ROOT, name), "utf8"))) {
    commands.set(command, new Set([...(commands.get(command) ?? []), ...flags]));
  }
}

test("the documentation names commands of wrangler", () => assert.ok(commands.size > 5));

describe("the documentation's commands of wrangler", { concurrency: 2 }, () => {
  for (const [command, flags] of commands) {
    test(`wrangler ${command} exists, with its flags`, async () => {
      assert.equal(await findFault(command, [...flags]), undefined);
    });
  }
});
