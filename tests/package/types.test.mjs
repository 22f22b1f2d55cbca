/** The packed package's types, and its manifest. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { HERE, install, link, packed, toolPath, versionOf, write } from "./installed.mjs";

const COMPILERS = {
  [versionOf("typescript")]: join(ROOT, "node_modules", "typescript", "bin", "tsc"),
  [versionOf("typescript-5.4")]: toolPath("typescript-5.4", "bin", "tsc"),
};

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

const PROJECTS = {
  "for a bundler": { module: "ESNext", moduleResolution: "Bundler", ...WEB },
  "for Node": { module: "NodeNext", moduleResolution: "NodeNext", ...WEB },
  "for Node, without the web's types": {
    module: "NodeNext",
    moduleResolution: "NodeNext",
    ...SERVER,
  },
};

const ENTRIES = ["quillgate", "quillgate/inline"];

let folder;

before(async () => {
  folder = await install("types");
  const usage = readFileSync(join(HERE, "types", "usage.ts"), "utf8");
  write(folder, {
    "usage.ts": usage,
    "inline_usage.ts": usage.replaceAll('"quillgate"', '"quillgate/inline"'),
  });
  link(folder, "@types/node");
  link(folder, "undici-types");
});

async function compile(compiler, options, files = ["usage.ts", "inline_usage.ts"]) {
  const project = { compilerOptions: { ...STRICT, ...options }, files };
  write(folder, { "tsconfig.json": JSON.stringify(project) });
  const { code, stdout, stderr } = await capture(process.execPath, [compiler, "-p", "."], {
    cwd: folder,
  });
  return { code, output: stdout + stderr };
}

for (const [version, compiler] of Object.entries(COMPILERS)) {
  describe(`TypeScript ${version}`, () => {
    for (const [name, options] of Object.entries(PROJECTS)) {
      test(`the types compile ${name}`, async () => {
        const { code, output } = await compile(compiler, options);
        assert.equal(output, "");
        assert.equal(code, 0);
      });
    }

    test("a wrong use does not compile", async () => {
      for (const entry of ENTRIES) {
        write(folder, {
          "wrong.ts": `import { Client } from "${entry}";\nnew Client({ token: 5 });\n`,
        });
        const { code, output } = await compile(compiler, PROJECTS["for Node"], ["wrong.ts"]);
        assert.notEqual(code, 0);
        assert.match(output, /^wrong\.ts[(:]2\b.*error TS2322/m);
        assert.equal(output.match(/error TS/g).length, 1, output);
      }
    });
  });
}

test("a CommonJS module may require the package, by TypeScript", async () => {
  const [compiler] = Object.values(COMPILERS);
  for (const entry of ENTRIES) {
    write(folder, {
      "required.cts": `import quillgate = require("${entry}");\nnew quillgate.Client({ token: "t" });\n`,
    });
    const { output } = await compile(compiler, PROJECTS["for Node"], ["required.cts"]);
    assert.equal(output, "");
  }
});

test("a client of one entry is one of the other, by TypeScript", async () => {
  write(folder, {
    "both.ts": `import { Client } from "quillgate";
import type { Client as InlineClient } from "quillgate/inline";
export const client: InlineClient = new Client({ token: "t" });
`,
  });
  const [compiler] = Object.values(COMPILERS);
  const { output } = await compile(compiler, PROJECTS["for a bundler"], ["both.ts"]);
  assert.equal(output, "");
});

test("publint has nothing to say", async () => {
  const publint = toolPath("publint", "src", "cli.js");
  const args = [publint, "run", await packed(), "--strict"];
  const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  assert.match(stdout, /All good!/, stdout + stderr);
  assert.equal(code, 0);
});

test("arethetypeswrong has nothing to say", async () => {
  // In every Node that the package supports, `require` gives ES modules, too: that it did
  // not once is all that this rule is about. The runtimes' tests do it.
  const attw = toolPath("@arethetypeswrong", "cli", "dist", "index.js");
  const args = [attw, await packed(), "--ignore-rules", "cjs-resolves-to-esm", "--format", "ascii"];
  const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  assert.match(stdout, /No problems found/, stdout + stderr);
  assert.equal(code, 0);
});

test("the tarball holds what is used, and nothing else", async () => {
  const { stdout } = await capture("tar", ["-tzf", await packed()]);
  const files = stdout
    .trim()
    .split("\n")
    .map((path) => path.replace("package/", ""))
    .sort();
  const odd = files.filter(
    (path) => !/^(package\.json|README\.md|LICENSE|dist\/[\w./-]+\.(js|d\.ts|wasm))$/.test(path),
  );
  assert.deepEqual(odd, []);
  for (const name of [
    "package.json",
    "LICENSE",
    "dist/core_bg.wasm",
    "dist/core_text.js",
    "dist/index.d.ts",
  ]) {
    assert.ok(files.includes(name), name);
  }
  assert.ok(!files.some((path) => path.endsWith(".wasm.d.ts")));
});
