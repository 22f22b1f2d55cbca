/** Compiles programs that use the packed package's types. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { capture } from "../../../scripts/child.mjs";
import { HERE, install, link, write } from "../installed.mjs";

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
  target: "ES2022",
  noEmit: true,
};
const WEB = { lib: ["ES2022", "DOM"], types: [] };
const SERVER = { lib: ["ES2022"], types: ["node"] };

const NODE = { module: "NodeNext", moduleResolution: "NodeNext" };

export const PROJECTS = {
  "for a bundler": { module: "ESNext", moduleResolution: "Bundler", ...WEB },
  "for Node": { ...NODE, ...WEB },
  "for Node, without the DOM's types": { ...NODE, ...SERVER },
};

export const ENTRIES = ["quillgate", "quillgate/inline"];

export let folder;

before(async () => {
  folder = await install("types");
  const usage = readFileSync(join(HERE, "types", "usage.ts"), "utf8");
  write(folder, {
    "usage.ts": usage,
    "entries.ts": readFileSync(join(HERE, "types", "entries.ts"), "utf8"),
    "inline_usage.ts": usage.replaceAll('"quillgate"', '"quillgate/inline"'),
  });
  link(folder, "@types/node");
  link(folder, "undici-types");
});

export async function compile(compiler, options, files) {
  const project = { compilerOptions: { ...STRICT, ...options }, files };
  write(folder, { "tsconfig.json": JSON.stringify(project) });
  const args = [compiler, "-p", "."];
  const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  return { code, output: stdout + stderr };
}

/** Writes a program and compiles it. */
export function compileText(compiler, options, name, text) {
  write(folder, { [name]: text });
  return compile(compiler, options, [name]);
}

export function checkCompiler(version, compiler) {
  for (const [name, options] of Object.entries(PROJECTS)) {
    test(`TypeScript ${version} compiles the types ${name}`, async () => {
      const files = ["usage.ts", "inline_usage.ts", "entries.ts"];
      const { code, output } = await compile(compiler, options, files);
      assert.equal(output, "");
      assert.equal(code, 0);
    });
  }

  test(`TypeScript ${version} reports an option of the wrong type`, async () => {
    for (const entry of ENTRIES) {
      const text = `import { Client } from "${entry}";\nnew Client({ auth: { token: 5 } });\n`;
      const options = PROJECTS["for Node"];
      const { code, output } = await compileText(compiler, options, "wrong.ts", text);
      assert.notEqual(code, 0);
      assert.match(output, /^wrong\.ts[(:]2\b.*error TS2322/m);
      assert.equal(output.match(/error TS/g).length, 1, output);
    }
  });
}
