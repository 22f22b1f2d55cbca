/** Durable storage of a Worker, with the layout of `wrangler dev --persist-to`. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";

/** An `import` of this large CommonJS file would take a second to find its exports. */
export const loadMiniflare = () => createRequire(import.meta.url)("miniflare");

const MIGRATIONS = join(ROOT, "worker", "migrations");
const ARCHIVE = { ARCHIVE: "quillgate-archive" };

export function storageOptions(state) {
  return { defaultPersistRoot: join(state, "v3"), durableObjectsPersist: true, d1Persist: true };
}

export async function createTables(miniflare) {
  const database = await miniflare.getD1Database("ARCHIVE");
  await database.prepare("CREATE TABLE IF NOT EXISTS d1_migrations (name TEXT PRIMARY KEY)").run();
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all();
  const applied = new Set(results.map(({ name }) => name));
  for (const name of readdirSync(MIGRATIONS).sort()) {
    if (applied.has(name)) continue;
    const sql = readFileSync(join(MIGRATIONS, name), "utf8").replaceAll(/--.*$/gm, "");
    const statements = statementsOf(sql).map((statement) => database.prepare(statement));
    const record = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    await database.batch([...statements, record]);
  }
}

export async function queryArchive(state, sql) {
  const { Miniflare, NoOpLog } = loadMiniflare();
  const miniflare = new Miniflare({
    ...storageOptions(state),
    cf: false,
    log: new NoOpLog(),
    modules: true,
    script: "export default {};",
    d1Databases: ARCHIVE,
  });
  try {
    const database = await miniflare.getD1Database("ARCHIVE");
    let rows = [];
    for (const statement of statementsOf(sql)) {
      rows = (await database.prepare(statement).all()).results;
    }
    return rows;
  } finally {
    await miniflare.dispose();
  }
}

function statementsOf(sql) {
  return sql
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
