/** Memory of a process, as reported by Linux. */
import { readFileSync } from "node:fs";

/** Returns the resident memory of a process, in bytes. */
export function readResident(pid) {
  return readStatus(pid, /^VmRSS:\s+(\d+) kB$/m);
}

/** Returns the largest resident memory that a process has had, in bytes. */
export function readPeak(pid) {
  return readStatus(pid, /^VmHWM:\s+(\d+) kB$/m);
}

function readStatus(pid, line) {
  const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) * 1024;
}
