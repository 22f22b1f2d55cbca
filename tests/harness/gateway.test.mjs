import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startGateway } from "./gateway.mjs";

/** A small Worker, so that this test needs no build. */
const WORKER = `
  import { DurableObject } from "cloudflare:workers";

  export class Counter extends DurableObject {
    add() {
      this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS n (n INTEGER)");
      this.ctx.storage.sql.exec("INSERT INTO n VALUES (1)");
      return this.ctx.storage.sql.exec("SELECT COUNT(*) AS n FROM n").one().n;
    }
  }

  export default {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (pathname === "/healthz") return new Response("ok");
      if (pathname === "/openapi.json") return new Response(null, { status: 404 });
      const counter = env.COUNTER.get(env.COUNTER.idFromName("one"));
      return Response.json({ count: await counter.add(), readKey: env.ADMIN_READ_KEY ?? null });
    },
  };
`;

const CONFIG = `
name = "harness"
main = "worker.js"
compatibility_date = "2026-04-01"
durable_objects.bindings = [{ name = "COUNTER", class_name = "Counter" }]
migrations = [{ tag = "v1", new_sqlite_classes = ["Counter"] }]
`;

const folder = mkdtempSync(join(tmpdir(), "quillgate-harness-"));
const config = join(folder, "wrangler.toml");
writeFileSync(join(folder, "worker.js"), WORKER);
writeFileSync(config, CONFIG);
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const state = join(folder, "state");
const start = (options) => startGateway({ config, ...options });
const ask = async ({ url }) => (await fetch(url)).json();

/** Lists the processes whose arguments or environment contain a string. */
function processesWith(text) {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return ["cmdline", "environ"].some((file) =>
        readFileSync(`/proc/${pid}/${file}`, "latin1").includes(text),
      );
    } catch {
      return false;
    }
  });
}

for (const how of ["stop", "kill"]) {
  test(`after ${how}, the storage is kept and no process is left`, async () => {
    const env = { ...process.env, HARNESS_MARK: `mark-of-${how}` };
    const own = join(state, how);
    const first = await start({ state: own, env });
    assert.equal((await ask(first)).count, 1);
    assert.equal((await ask(first)).count, 2);
    if (process.platform === "linux") assert.ok(processesWith(env.HARNESS_MARK).length >= 2);
    await first[how]();
    if (process.platform === "linux") assert.deepEqual(processesWith(env.HARNESS_MARK), []);
    await assert.rejects(fetch(first.url));

    const second = await start({ state: own, port: first.port });
    assert.equal((await ask(second)).count, 3);
    await second.stop();
  });
}

test("the option main runs another script than the configured one", async () => {
  const main = join(folder, "other.js");
  writeFileSync(main, WORKER.replace("env.ADMIN_READ_KEY", '"other"'));
  const gateway = await start({ main });
  assert.deepEqual(await ask(gateway), { count: 1, readKey: "other" });
  await gateway.stop();
});

test("the storage is empty when no state folder is given", async () => {
  const gateway = await start({ readKey: "mint_reader" });
  assert.deepEqual(await ask(gateway), { count: 1, readKey: "mint_reader" });
  await gateway.kill();
  await gateway.stop();
});
