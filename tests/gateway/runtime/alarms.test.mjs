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

class Storage {
  constructor(alarm) {
    this.alarm = alarm;
  }

  async getAlarm() {
    return this.alarm;
  }

  async setAlarm(time) {
    this.alarm = time;
  }
}

const trap = new WebAssembly.RuntimeError("unreachable");
for (const [what, onAlarm, message] of [
  ["throws", () => fail(new Error("no storage")), "Error: no storage"],
  ["rejects", async () => fail(new Error("no storage")), "Error: no storage"],
  ["traps", () => fail(trap), "RuntimeError: unreachable"],
]) {
  for (const Class of [entry.ProjectGate, entry.Session]) {
    for (const [next, at] of [
      [null, 60_000],
      [60_001, 60_000],
      [1000, 1000],
    ]) {
      test(`logs an alarm of ${Class.name} that ${what}, and repeats it within a minute, given ${next}`, async (t) => {
        t.mock.timers.enable({ apis: ["Date"] });
        const log = t.mock.method(console, "error", () => {});
        const storage = new Storage(next);
        await new Class({ onAlarm, storage }, {}).alarm({ retryCount: 3 });
        const lines = log.mock.calls.flatMap((call) => call.arguments);
        assert.equal(storage.alarm, at);
        assert.deepEqual(lines.map(JSON.parse), [{ operator: `an alarm failed: ${message}` }]);
      });
    }
  }
}

test("leaves the first three retries of an alarm to the runtime", async (t) => {
  t.mock.method(console, "error", () => {});
  const storage = new Storage(null);
  const onAlarm = () => fail(new Error("no host"));
  const object = new entry.ProjectGate({ onAlarm, storage }, {});
  for (const retryCount of [0, 1, 2]) await assert.rejects(object.alarm({ retryCount }), /no host/);
  assert.equal(storage.alarm, null);
});

test("leaves a failed alarm to the runtime if no alarm can be set", async (t) => {
  t.mock.method(console, "error", () => {});
  const setAlarm = async () => fail(new Error("no storage"));
  const storage = { getAlarm: async () => null, setAlarm };
  const object = new entry.ProjectGate({ onAlarm: setAlarm, storage }, {});
  await assert.rejects(object.alarm({ retryCount: 3 }), /no storage/);
});

test("sets no alarm after one that succeeds, and has none for the organization", async () => {
  await new entry.ProjectGate({ onAlarm: async () => {} }, {}).alarm();
  assert.equal(entry.OrgGate.prototype.alarm, undefined);
});
