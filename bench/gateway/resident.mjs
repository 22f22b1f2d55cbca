/** The memory of a process, as Linux tells it. */
import { readFileSync } from "node:fs";

/** The resident memory of a process, in bytes. */
export function readResident(pid) {
  return readStatus(pid, /^VmRSS:\s+(\d+) kB$/m);
}

/** The largest resident memory that a process has had, in bytes. */
export function readPeak(pid) {
  return readStatus(pid, /^VmHWM:\s+(\d+) kB$/m);
}

function readStatus(pid, line) {
  const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) * 1024;
}
