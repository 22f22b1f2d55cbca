/** Reads the Worker's exports in a separate process, controlled over IPC. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { serveTasks } from "./tasks.mjs";

/** A tick of `/proc`: a hundredth of a second on every Linux. */
const TICK_MICROSECONDS = 10_000;
/** Start of the last record of an incomplete export, in either format. */
const INCOMPLETE = /(^|\n)(#incomplete,|\{"incomplete")/;

async function readExport({ port, pid, token, projectId, ...query }) {
  const target = `/v1/analytics/${projectId}/views/export?${new URLSearchParams(query)}`;
  const cpu = readProcessorTime(pid);
  const started = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  const sent = request({ host: "127.0.0.1", port, path: target, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  let bytes = 0;
  let tail = Buffer.alloc(0);
  for await (const part of response) {
    bytes += part.length;
    tail = part.length < 200 ? Buffer.concat([tail.subarray(-200), part]) : part.subarray(-200);
  }
  const text = tail.toString();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`);
  if (INCOMPLETE.test(text)) throw new Error(`the export is incomplete: ${text}`);
  const milliseconds = performance.now() - started;
  return { milliseconds, cpu: readProcessorTime(pid) - cpu, bytes };
}

/** Returns the processor time that a process has used, in microseconds. */
function readProcessorTime(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program's name, in parentheses, may contain any character.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
}

serveTasks(readExport);
