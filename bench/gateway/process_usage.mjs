/** Memory and processor time of a process, as reported by Linux. */
import { readdirSync, readFileSync } from "node:fs";

/** In microseconds. The scheduler counts nanoseconds, `stat` only hundredths of a second. */
export function readProcessorTime(pid) {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((task) => {
    const [nanoseconds] = readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1000;
  });
  return times.reduce((sum, time) => sum + time, 0);
}

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
