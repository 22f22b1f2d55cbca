/** Writes the report of `quillgate doctor --live`. It contains no values of responses. */

import { type Identifiers, type JudgedFact, judgeFacts } from "./live_facts.js";
import type { RequestName, Seen } from "./live_requests.js";
import { describeShape } from "./live_shape.js";
import { readVersion } from "./version.js";

/** The report, in the form that `--json` prints. */
export interface LiveReport {
  version: string;
  facts: JudgedFact[];
  responses: DescribedResponse[];
}

export interface DescribedResponse {
  name: RequestName;
  /** `null` without a response. */
  status: number | null;
  /** Why there was no response; `null` with one. */
  cause: string | null;
  /** The body's type: `JSON`, `HTML`, `plain text`, or `another type`. */
  media: string;
  /** Rounded up to 100 ms. */
  milliseconds: number;
  /** The names of the header fields, sorted. */
  headers: string[];
  /** The types at each path of the body. */
  shape: Record<string, string[]>;
}

const MEDIA_TYPES: readonly (readonly [RegExp, string])[] = [
  [/\bjson\b/i, "JSON"],
  [/\bhtml\b/i, "HTML"],
  [/^text\/plain\b/i, "plain text"],
];

export function makeReport(seen: readonly Seen[], identifiers: Identifiers): LiveReport {
  const facts = judgeFacts(seen, identifiers);
  return { version: readVersion(), facts, responses: seen.map(describe) };
}

function describe({ name, status, cause, headers, duration, body }: Seen): DescribedResponse {
  const type = headers.get("content-type") ?? "";
  const shape = [...describeShape(body ?? {})].map(([path, types]) => [path, [...types].sort()]);
  return {
    name,
    status,
    cause,
    media: MEDIA_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? "another type",
    milliseconds: Math.ceil(duration / 100) * 100,
    headers: [...headers.keys()].sort(),
    shape: body === undefined || body === null ? {} : Object.fromEntries(shape),
  };
}

/** Writes a report for people, as Markdown. */
export function writeReport({ version, facts, responses }: LiveReport): string {
  const lines = [
    ...[
      "# Shapes of Mintlify's API",
      "",
      `By quillgate ${version}. The sections are those of docs/mintlify/README.md.`,
    ],
    ...["", "## Facts", "", "| verdict | section | fact | found |", "| --- | --- | --- | --- |"],
    ...facts.map(({ verdict, section, text, found }) => writeRow([verdict, section, text, found])),
    ...responses.flatMap(writeResponse),
  ];
  return `${lines.join("\n")}\n`;
}

function writeResponse(response: DescribedResponse): string[] {
  const { name, status, cause, media, milliseconds, headers, shape } = response;
  const outcome =
    status === null
      ? `No response (${cause}), after ${milliseconds} ms.`
      : `Status ${status}, ${media}, within ${milliseconds} ms. Header fields: ${headers.join(", ")}.`;
  const paths = Object.entries(shape);
  const table = ["", "| property | types |", "| --- | --- |"];
  return [
    ...["", `## ${name[0]?.toUpperCase()}${name.slice(1)}`, "", outcome],
    ...(paths.length === 0 ? [] : table),
    ...paths.map(([path, types]) => writeRow([`\`${path || "(body)"}\``, types.join(", ")])),
  ];
}

function writeRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
