/** The Worker's entry, with stubs instead of the wasm module and the runtime. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { build } from "esbuild";
import { ROOT } from "../../../scripts/versions.mjs";
import { makeFolder } from "../../harness/folder.mjs";

const STUBS = {
  "cloudflare:workers": `export class DurableObject {
    constructor(ctx, env) { Object.assign(this, { ctx, env }); }
  }`,
  "../build/core/gateway.js": `
    class Inner {
      constructor({ onAlarm }) { this.alarm = onAlarm; }
      alarm() {}
    }
    export { Inner as ProjectObject, Inner as Session };
    export class OrganizationObject {}
    const ignore = () => {};
    export { ignore as initSync, ignore as attach, ignore as __wbg_reset_state };
    export { ignore as handle, ignore as fail, ignore as runArchive };`,
  "../build/core/gateway_bg.wasm": "export default undefined;",
  "../build/core/openapi.txt": "export default '';",
};

const WITH_RESOLVERS = `Promise.withResolvers ??= () => {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};`;

const entry = await loadEntry();

async function loadEntry() {
  const stubs = {
    name: "stubs",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path }) =>
        path in STUBS ? { path, namespace: "stub" } : null,
      );
      onLoad({ filter: /./, namespace: "stub" }, ({ path }) => ({ contents: STUBS[path] }));
    },
  };
  const outfile = join(makeFolder({ after }, "alarms"), "entry.mjs");
  await build({
    entryPoints: [join(ROOT, "worker", "entry", "index.js")],
    // Node.js 20 has neither of these.
    banner: { js: `globalThis.addEventListener ??= () => {};\n${WITH_RESOLVERS}` },
    outfile,
    bundle: true,
    format: "esm",
    plugins: [stubs],
  });
  return await import(outfile);
}

function fail(error) {
  throw error;
}

const trap = new WebAssembly.RuntimeError("unreachable");
for (const [what, onAlarm, message] of [
  ["throws", () => fail(new Error("no storage")), "Error: no storage"],
  ["rejects", async () => fail(new Error("no storage")), "Error: no storage"],
  ["traps", () => fail(trap), "RuntimeError: unreachable"],
]) {
  for (const Class of [entry.ProjectGate, entry.Session]) {
    test(`logs an alarm of ${Class.name} that ${what}, and repeats it after a minute`, async (t) => {
      t.mock.timers.enable({ apis: ["Date"] });
      const log = t.mock.method(console, "error", () => {});
      const setAlarm = t.mock.fn(async () => {});
      await new Class({ onAlarm, storage: { setAlarm } }, {}).alarm();
      const [alarms, lines] = [setAlarm, log].map(({ mock }) =>
        mock.calls.flatMap((call) => call.arguments),
      );
      assert.deepEqual(alarms, [60_000]);
      assert.deepEqual(lines.map(JSON.parse), [{ operator: `an alarm failed: ${message}` }]);
    });
  }
}

test("leaves a failed alarm to the runtime if no alarm can be set", async (t) => {
  t.mock.method(console, "error", () => {});
  const setAlarm = async () => fail(new Error("no storage"));
  const object = new entry.ProjectGate({ onAlarm: setAlarm, storage: { setAlarm } }, {});
  await assert.rejects(object.alarm(), /no storage/);
});

test("sets no alarm after one that succeeds, and has none for the organization", async () => {
  await new entry.ProjectGate({ onAlarm: async () => {} }, {}).alarm();
  assert.equal(entry.OrgGate.prototype.alarm, undefined);
});
