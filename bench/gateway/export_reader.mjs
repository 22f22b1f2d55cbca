/** Reads the Worker's exports in a separate process, controlled over IPC. */
import { once } from "node:events";
import { request } from "node:http";
import { readProcessorTime } from "./process_usage.mjs";
import { serveTasks } from "./tasks.mjs";

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

serveTasks(readExport);
