/** Audits of dependencies, whose databases are elsewhere: what they said, or that they said nothing. */
import { capture } from "../../scripts/child.mjs";

/** `AUDIT=required` makes an audit that is not available a failure, as where releases are made. */
const IS_REQUIRED = process.env.AUDIT === "required";
/** What is out of reach stays so: npm's own retries take a minute. */
const NO_RETRIES = ["--fetch-retries=0", "--fetch-timeout=60000"];

/**
 * @typedef {object} Verdict
 * @property {boolean} isAvailable whether the database answered at all
 * @property {string[]} findings what it found
 * @property {string} [reason] why it is not available
 */

/**
 * Passes when an audit has found nothing, and fails when it has found something. One that is not
 * available says so as a skipped test, unless `AUDIT=required`.
 *
 * @param {import("node:test").TestContext} context
 * @param {Verdict} verdict
 */
export function judge(context, { isAvailable, findings, reason }) {
  if (isAvailable) {
    if (findings.length > 0) throw new Error(`found:\n${findings.join("\n")}`);
    return;
  }
  const message = `not available here, so nothing is known: ${reason}`;
  if (IS_REQUIRED) throw new Error(message);
  console.log(`supply: ${context.name}: ${message}`);
  context.skip(message);
}

/**
 * Asks npm's registry for known vulnerabilities of what a lock file names.
 *
 * @param {{ cwd: string, omitDev?: string[], registry?: string }} options `omitDev`: the arguments
 *   that leave development dependencies out
 * @returns {Promise<Verdict>}
 */
export async function auditPackages({ cwd, omitDev = [], registry }) {
  const source = registry === undefined ? [] : ["--registry", registry];
  const report = ["--json", "--audit=true", "--audit-level=low", ...NO_RETRIES];
  const args = ["audit", ...report, ...omitDev, ...source];
  const { code, stdout, stderr } = await capture("npm", args, { cwd });
  return readAudit({ code, stdout, stderr });
}

/** Reads what `npm audit --json` said: only a report counts as an answer. */
export function readAudit({ code, stdout, stderr }) {
  const report = parse(stdout);
  const vulnerabilities = report?.vulnerabilities;
  if (report?.auditReportVersion === undefined || typeof vulnerabilities !== "object") {
    const reason = report?.message ?? report?.error?.summary ?? firstLine(stderr);
    return { isAvailable: false, findings: [], reason: reason || `npm exited with ${code}` };
  }
  const findings = Object.values(vulnerabilities).map(({ name, severity, via, range }) => {
    const titles = via.map((cause) => cause.title ?? cause).join("; ");
    return `${name} ${range} (${severity}): ${titles}`;
  });
  // Whatever the report's form: npm's own verdict counts.
  if (code !== 0 && findings.length === 0) findings.push(`npm audit exited with code ${code}`);
  return { isAvailable: true, findings };
}

/**
 * Asks npm to verify the registry's signatures of everything that is installed.
 *
 * @param {string} cwd
 * @returns {Promise<Verdict>}
 */
export async function auditSignatures(cwd) {
  const args = ["audit", "signatures", "--json", ...NO_RETRIES];
  const { code, stdout, stderr } = await capture("npm", args, { cwd });
  return readSignatures({ code, stdout, stderr });
}

/** Reads what `npm audit signatures --json` said. */
export function readSignatures({ code, stdout, stderr }) {
  const report = parse(stdout);
  if (!Array.isArray(report?.invalid) || !Array.isArray(report.missing)) {
    const reason = report?.error?.summary || firstLine(stderr) || `npm exited with ${code}`;
    return { isAvailable: false, findings: [], reason };
  }
  const describe = (what) => (entry) => `${entry.name}@${entry.version}: ${what} signature`;
  return {
    isAvailable: true,
    findings: [
      ...report.invalid.map(describe("invalid")),
      ...report.missing.map(describe("missing")),
    ],
  };
}

/**
 * Asks RustSec's database for what is known of the crates of Cargo.lock.
 *
 * @returns {Promise<Verdict>}
 */
export async function auditCrates() {
  const fetched = await capture("cargo", ["deny", "fetch", "db"]);
  if (fetched.code !== 0) {
    return { isAvailable: false, findings: [], reason: firstLine(fetched.stderr) };
  }
  const check = ["check", "--disable-fetch", "advisories"];
  const { code, stderr } = await capture("cargo", ["deny", "--locked", "--workspace", ...check]);
  return { isAvailable: true, findings: code === 0 ? [] : [stderr] };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstLine(text) {
  const lines = text.split("\n").filter((line) => line !== "" && !/^npm warn/.test(line));
  return lines[0] ?? "";
}
