/** Audits of dependencies against remote databases, which may be unreachable. */
import { capture } from "../../scripts/child.mjs";

/** `AUDIT=required`, which releases set, makes an unavailable audit fail. */
const IS_REQUIRED = process.env.AUDIT === "required";
/** npm's retries would take a minute when the registry is unreachable. */
const NO_RETRIES = ["--fetch-retries=0", "--fetch-timeout=60000"];

/** Skips the test if the audit is unavailable, or fails it with `AUDIT=required`. */
export function judge(context, { isAvailable, findings, reason }) {
  if (isAvailable) {
    if (findings.length > 0) throw new Error(`found:\n${findings.join("\n")}`);
    return;
  }
  const message = `the audit is unavailable: ${reason}`;
  if (IS_REQUIRED) throw new Error(message);
  console.log(`supply: ${context.name}: ${message}`);
  context.skip(message);
}

export async function auditPackages({ cwd, omitDev = [], registry }) {
  const source = registry === undefined ? [] : ["--registry", registry];
  const report = ["--json", "--audit=true", "--audit-level=low", ...NO_RETRIES];
  const args = ["audit", ...report, ...omitDev, ...source];
  return readAudit(await capture("npm", args, { cwd }));
}

/** Reads the output of `npm audit --json`. Only a report counts as an available audit. */
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
  // npm's exit code counts even if the report has an unknown format.
  if (code !== 0 && findings.length === 0) findings.push(`npm audit exited with code ${code}`);
  return { isAvailable: true, findings };
}

export async function auditSignatures(cwd) {
  const args = ["audit", "signatures", "--json", ...NO_RETRIES];
  return readSignatures(await capture("npm", args, { cwd }));
}

/** Reads the output of `npm audit signatures --json`. */
export function readSignatures({ code, stdout, stderr }) {
  const report = parse(stdout);
  if (!Array.isArray(report?.invalid) || !Array.isArray(report.missing)) {
    const reason = report?.error?.summary || firstLine(stderr) || `npm exited with ${code}`;
    return { isAvailable: false, findings: [], reason };
  }
  const describe = (fault) => (entry) => `${entry.name}@${entry.version}: ${fault} signature`;
  return {
    isAvailable: true,
    findings: [
      ...report.invalid.map(describe("invalid")),
      ...report.missing.map(describe("missing")),
    ],
  };
}

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
