/** Reads the Worker's exports and counts their bytes, in a process of its own. Tasks and results go over IPC. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { carryOut } from "./tasks.mjs";

/** A tick of `/proc`: a hundredth of a second on every Linux. */
const TICK_MICROSECONDS = 10_000;
/** What the last record of an export that could not go on begins with, in either format. */
const INCOMPLETE = /(^|\n)(#incomplete,|\{"incomplete")/;

async function readExport({ port, pid, token, projectId, ...query }) {
  const target = `/v1/analytics/${projectId}/views/export?${new URLSearchParams(query)}`;
  const cpu = readProcessorTime(pid);
  const began = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  const asked = request({ host: "127.0.0.1", port, path: target, headers, agent: false }).end();
  const [answer] = await once(asked, "response");
  let bytes = 0;
  let tail = Buffer.alloc(0);
  for await (const part of answer) {
    bytes += part.length;
    tail = part.length < 200 ? Buffer.concat([tail.subarray(-200), part]) : part.subarray(-200);
  }
  const text = tail.toString();
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text}`);
  if (INCOMPLETE.test(text)) throw new Error(`not whole: ${text}`);
  const milliseconds = performance.now() - began;
  return { milliseconds, cpu: readProcessorTime(pid) - cpu, bytes };
}

/** The processor time that a process has used, in microseconds. */
function readProcessorTime(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program's name, in parentheses, may contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
}

carryOut(readExport);
