/** Reads exports with the npm package in a separate process, controlled over IPC. */
import { Client } from "../../pkg/dist/node.js";
import { serveTasks } from "./tasks.mjs";

async function readExport({ port, token, projectId, format, dateFrom, dateTo }) {
  const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, projectId, auth: { token } });
  let bytes = 0;
  const stream = client.analytics.views({ dateFrom, dateTo }).export({ format });
  for await (const part of stream) bytes += part.length;
  return { bytes };
}

serveTasks(readExport);
