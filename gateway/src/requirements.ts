/** Compares a wrangler configuration with the template of this version. Ignores most variables. */
import type { Problem } from "./check.js";

/** The name of the daily archive's D1 binding. */
const ARCHIVE = "ARCHIVE";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The part of wrangler's normalized configuration that the checks read. */
export interface WranglerConfig {
  configPath?: string | undefined;
  definedEnvironments?: string[] | undefined;
  vars: Record<string, unknown>;
  compatibility_date?: string | undefined;
  compatibility_flags: string[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: { tag: string; new_sqlite_classes?: string[] }[];
  assets?: { binding?: string; run_worker_first?: string[] | boolean } | undefined;
  d1_databases: { binding: string; database_id?: string }[];
  triggers: { crons: string[] | undefined };
}

/**
 * Lists what `config` lacks compared with `needed`.
 *
 * Operators usually upgrade by changing only a version number. They would otherwise notice after
 * the deployment that a version needs a new binding or migration.
 */
export function findGaps(config: WranglerConfig, needed: WranglerConfig): Problem[] {
  return [
    ...findDateGap(config, needed),
    ...findMissing("compatibility_flags", config.compatibility_flags, needed.compatibility_flags),
    ...findMissing("durable_objects", describeObjects(config), describeObjects(needed)),
    ...findMissing("migrations", describeMigrations(config), describeMigrations(needed)),
    ...findAssetGaps(config.assets, needed.assets),
    ...findArchiveGaps(config),
  ];
}

function findDateGap(config: WranglerConfig, needed: WranglerConfig): Problem[] {
  const date = needed.compatibility_date ?? "";
  if ((config.compatibility_date ?? "") >= date) return [];
  return [{ name: "compatibility_date", message: `must be ${date} or later` }];
}

function findMissing(name: string, present: string[], needed: string[]): Problem[] {
  const missing = needed.filter((item) => !present.includes(item));
  return missing.map((item) => ({ name, message: `lacks ${item}` }));
}

function describeObjects({ durable_objects: { bindings } }: WranglerConfig): string[] {
  return bindings.map(({ name, class_name }) => `the binding ${name} of the class ${class_name}`);
}

function describeMigrations({ migrations }: WranglerConfig): string[] {
  return migrations.map(({ tag, new_sqlite_classes: classes = [] }) => {
    return `the tag ${tag} with new_sqlite_classes ${classes.join(", ")}`;
  });
}

function findAssetGaps(
  assets: WranglerConfig["assets"],
  needed: WranglerConfig["assets"],
): Problem[] {
  if (assets?.binding !== needed?.binding) {
    return [{ name: "assets", message: `must have the binding ${needed?.binding}` }];
  }
  const name = "assets.run_worker_first";
  const [routes, neededRoutes] = [assets, needed].map((one) => one?.run_worker_first || []);
  if (!Array.isArray(routes) || routes.includes("/*")) {
    return [{ name, message: "must not have every path: the Worker does not serve the page" }];
  }
  return findMissing(name, routes, neededRoutes as string[]);
}

/**
 * Checks the id of the archive's database. If `ARCHIVE_PROJECTS` is set, also checks that the
 * database and a cron trigger exist.
 *
 * Without the database or the trigger, the gateway archives nothing. At run time, it reports a
 * missing database only in the log and in responses about the archive. It cannot report a missing
 * trigger.
 */
function findArchiveGaps({ vars, d1_databases, triggers }: WranglerConfig): Problem[] {
  const problems: Problem[] = [];
  const database = d1_databases.find(({ binding }) => binding === ARCHIVE);
  if (database && !UUID.test(database.database_id ?? "")) {
    const message = "must have the database_id that `wrangler d1 create quillgate-archive` prints";
    problems.push({ name: "d1_databases", message });
  }
  if (!String(vars.ARCHIVE_PROJECTS ?? "").trim()) return problems;
  if (!database) {
    const message = `lacks the binding ${ARCHIVE}, which ARCHIVE_PROJECTS needs`;
    problems.push({ name: "d1_databases", message });
  }
  if (!triggers.crons?.length) {
    const message = 'lacks crons = ["*/10 * * * *"], which ARCHIVE_PROJECTS needs';
    problems.push({ name: "triggers", message });
  }
  return problems;
}
