/** Rows of reports that count people and AI. */
import { importSource } from "./source.mjs";

const { toCountRow } = await importSource("analytics/rows/report.ts");

export const row = (path, human, ai) => toCountRow({ path, human, ai, total: human + ai });
