/**
 * Declares every command of `quillgate`. The help, `docs/cli.md` and the completion scripts are
 * generated from these declarations.
 */

import type { Command, Option } from "./command.js";

const FORMATS = ["table", "csv", "ndjson", "json"] as const;

const FORMAT: Option = {
  type: "text",
  value: "FORMAT",
  choices: FORMATS,
  summary: "How rows are written: by the file's name, else table on a terminal, ndjson elsewhere.",
};
const OUTPUT: Option = {
  type: "text",
  value: "FILE",
  summary: "Write to this file instead of standard output. -o is short for it.",
};
const RANGE: Readonly<Record<string, Option>> = {
  from: { type: "text", value: "DATE", summary: "The first day or instant that counts." },
  to: {
    type: "text",
    value: "DATE",
    summary: "The first day or instant that does not count any more.",
  },
  last: {
    type: "text",
    value: "DAYS",
    summary: "The last finished days in UTC instead, such as 28d or 4w.",
  },
};
const ROWS: Option = {
  type: "text",
  value: "N",
  summary: "Maximum number of rows. Default: 50 in a table, otherwise every row.",
};
const EXPORT: Readonly<Record<string, Option>> = {
  ...RANGE,
  format: FORMAT,
  output: OUTPUT,
  resume: {
    type: "switch",
    summary:
      "Complete the file's export if it was interrupted; otherwise begin one, over a finished file too.",
  },
  wait: {
    type: "text",
    value: "TIME",
    default: "0s",
    summary: "How long to wait, in all, when the hour's requests are spent, such as 1h.",
  },
  rows: ROWS,
};
const WATCH: Readonly<Record<string, Option>> = {
  timeout: {
    type: "text",
    value: "TIME",
    default: "30m",
    summary: "How long to wait for the job's end. The job goes on after it.",
  },
};
const WRITE: Readonly<Record<string, Option>> = {
  "prompt-file": { type: "text", value: "FILE", summary: "Read the prompt from this file." },
  "idempotency-key": {
    type: "text",
    value: "KEY",
    summary: "The same key does it once, however often it is said. Made unless told.",
  },
  force: {
    type: "switch",
    summary: "With a key whose outcome is unknown: do it again, which may do it twice.",
  },
};
const PROMPT = "The prompt, or - for standard input.";
const JOB = "The job's identifier.";

const EXPORT_NOTES = [
  "Without --rows, csv, ndjson and json have every row, and a table has the first 50. The platform allows the whole " +
    "organisation 100 requests an hour, each for at most 250 rows.",
  "While it writes a file, FILE.quillgate-cursor beside it says how far the export has come. If the " +
    "command is interrupted, run it again with --resume to complete the file, byte for byte. A finished " +
    "file is overwritten, with --resume or without.",
];

/**
 * Declares a report command. Reports differ in their name, their summary and additional `options`.
 */
function report(
  name: string,
  summary: string,
  options: Readonly<Record<string, Option>> = {},
): Command {
  return {
    name,
    summary,
    description: EXPORT_NOTES,
    connects: true,
    arguments: [],
    options: { ...EXPORT, ...options },
    examples: [
      { text: "The first rows of four weeks", line: `quillgate ${name} --last 28d` },
      {
        text: "Everything, as a file for a spreadsheet",
        line: `quillgate ${name} --last 28d -o ${name}.csv`,
      },
      { text: "Complete it", line: `quillgate ${name} --last 28d -o ${name}.csv --resume` },
    ],
    load: () => import("./report.js"),
  };
}

export const COMMANDS: readonly Command[] = [
  {
    name: "job create",
    summary: "Create an agent job.",
    description: [
      "Prints the job's identifier. With --wait it waits for the job's end, and then prints the pull " +
        "request's address as well, if there is one.",
    ],
    connects: true,
    arguments: [{ name: "PROMPT", required: false, summary: PROMPT }],
    options: {
      wait: { type: "switch", summary: "Wait for the job's end." },
      ...WATCH,
      ...WRITE,
    },
    examples: [
      {
        text: "Create a job and wait for its pull request",
        line: 'quillgate job create --wait "Document the new endpoint"',
      },
      {
        text: "Take the prompt from another program",
        line: "git log -1 --format=%B | quillgate job create -",
      },
    ],
    load: () => import("./job_create.js"),
  },
  {
    name: "job list",
    summary: "List the jobs that were created through the gateway, newest first.",
    connects: true,
    arguments: [],
    options: {
      rows: { type: "text", value: "N", default: "25", summary: "How many jobs at most." },
    },
    examples: [{ text: "The last five jobs", line: "quillgate job list --rows 5" }],
    load: () => import("./job_list.js"),
  },
  {
    name: "job watch",
    summary: "Wait for a job's end, and print every change until then.",
    connects: true,
    arguments: [{ name: "ID", required: true, summary: JOB }],
    options: WATCH,
    examples: [
      { text: "Wait up to ten minutes", line: "quillgate job watch job_123 --timeout 10m" },
    ],
    load: () => import("./job_watch.js"),
  },
  {
    name: "job message",
    summary: "Send a job a follow-up, which sets it to work again.",
    connects: true,
    arguments: [
      { name: "ID", required: true, summary: JOB },
      { name: "PROMPT", required: false, summary: PROMPT },
    ],
    options: {
      wait: { type: "switch", summary: "Wait for the job's end." },
      ...WATCH,
      ...WRITE,
    },
    examples: [
      { text: "Ask for more", line: 'quillgate job message job_123 "Add an example" --wait' },
    ],
    load: () => import("./job_message.js"),
  },
  report("views", "How often each page was viewed, by people and by AI."),
  report("visitors", "How many people and AI agents visited each page."),
  report("feedback", "What readers said of the pages.", {
    source: {
      type: "text",
      value: "SOURCE",
      choices: ["code_snippet", "contextual", "agent", "thumbs_only"],
      summary: "Only feedback of this source.",
    },
    status: {
      type: "text",
      value: "STATUS",
      summary:
        "Only feedback with one of these, separated by commas: pending, in_progress, resolved, dismissed.",
    },
  }),
  report("searches", "What readers searched for, the most frequent first."),
  {
    name: "daily",
    summary: "The views of each day, week or month, from the gateway's archive.",
    description: [
      "It costs none of the hour's requests. Days that the archive lacks are in no count; it says how many they are.",
    ],
    connects: true,
    arguments: [],
    options: {
      ...RANGE,
      path: { type: "text", value: "PATH", summary: "Only this page, such as /guides/start." },
      prefix: { type: "text", value: "PATH", summary: "Only this path and all below it." },
      group: {
        type: "text",
        value: "UNIT",
        choices: ["day", "week", "month"],
        default: "day",
        summary: "What is counted together.",
      },
      format: FORMAT,
      output: OUTPUT,
    },
    examples: [
      { text: "The last four weeks, day by day", line: "quillgate daily --last 28d" },
      {
        text: "The guides, month by month",
        line: "quillgate daily --last 365d --prefix /guides --group month",
      },
    ],
    load: () => import("./daily.js"),
  },
  {
    name: "archive plan",
    summary: "How many requests and hours a backfill of the archive takes. It begins none.",
    description: [
      "The token needs the scope gateway:operate.",
      "The gateway keeps so many days and no more: 730, unless its ARCHIVE_RETENTION_DAYS says otherwise. Of an " +
        "earlier --from it plans what it would keep, and the first day says where that begins.",
    ],
    connects: true,
    arguments: [],
    options: {
      from: { type: "text", value: "DATE", summary: "The first day that is wanted: YYYY-MM-DD." },
    },
    examples: [{ text: "All of this year", line: "quillgate archive plan --from 2026-01-01" }],
    load: async () => ({ run: (await import("./archive_backfill.js")).plan }),
  },
  {
    name: "archive backfill",
    summary: "Make the archive fetch every missing day from a day on.",
    description: [
      "It prints the same estimate as archive plan. The token needs the scope gateway:operate.",
    ],
    connects: true,
    arguments: [],
    options: {
      from: { type: "text", value: "DATE", summary: "The first day: YYYY-MM-DD." },
    },
    examples: [{ text: "All of this year", line: "quillgate archive backfill --from 2026-01-01" }],
    load: async () => ({ run: (await import("./archive_backfill.js")).backfill }),
  },
  {
    name: "archive status",
    summary: "What the archive holds, what it lacks, and when it will be complete.",
    connects: true,
    arguments: [],
    options: {},
    examples: [{ text: "How complete it is", line: "quillgate archive status" }],
    load: () => import("./archive_status.js"),
  },
  {
    name: "token mint",
    summary: "Print an access token of a gateway, for those who run it.",
    description: [
      "The secret comes from ACCESS_TOKEN_SECRET or from standard input, never from a flag, which other " +
        "users of the machine could read. Nothing is sent.",
      "Standard output has the token alone. Its id (jti), subject, projects, scope and expiry go to standard " +
        "error: keep the id, since REVOKED_TOKENS of the gateway takes it, and nothing stores it.",
    ],
    connects: false,
    arguments: [],
    options: {
      sub: { type: "text", value: "NAME", summary: "Whom the token is for." },
      project: {
        type: "list",
        value: "ID",
        summary: "A project that it is for; may be given several times.",
      },
      scope: {
        type: "list",
        value: "SCOPES",
        summary:
          "What it allows, separated by spaces: jobs:create, jobs:read, analytics:read, " +
          "analytics:conversations, gateway:operate.",
      },
      ttl: {
        type: "text",
        value: "TIME",
        default: "30d",
        summary: "How long it lives, at most 90d.",
      },
      jti: {
        type: "text",
        value: "ID",
        summary: "The id by which it can be revoked. Made unless told.",
      },
      quota: {
        type: "list",
        value: "N",
        summary:
          "The most it may use of every policy, or POLICY=N of one: create-job, send-message, " +
          "analytics, read-jobs.",
      },
      "new-secret": {
        type: "switch",
        summary: "Print a new secret for ACCESS_TOKEN_SECRET instead.",
      },
    },
    examples: [
      { text: "A new secret", line: "quillgate token mint --new-secret" },
      {
        text: "A token for Alice",
        line: 'quillgate token mint --sub alice --project acme --scope "jobs:create jobs:read"',
      },
    ],
    load: () => import("./token_mint.js"),
  },
  {
    name: "config check",
    summary: "Find what is wrong with the gateway's variables before it is deployed.",
    description: [
      "It needs the npm package quillgate-gateway, installed in the current folder. It prints names and " +
        "rules, never a value.",
    ],
    connects: false,
    arguments: [],
    options: {
      config: {
        type: "text",
        value: "FILE",
        summary: "The wrangler configuration: that of the current folder unless told.",
      },
      env: { type: "text", value: "NAME", summary: "An environment of the configuration." },
      secrets: {
        type: "text",
        value: "FILE",
        summary: "A file of secrets to check as well: NAME=value lines, or JSON.",
      },
    },
    examples: [{ text: "Before a deployment", line: "quillgate config check --secrets .dev.vars" }],
    load: () => import("./config_check.js"),
  },
  {
    name: "init",
    summary: "Make a folder from which a gateway is deployed.",
    description: [
      "It asks for what no flag says. The npm package quillgate-gateway does it: that of the current folder, else " +
        "npm fetches it.",
    ],
    connects: false,
    arguments: [{ name: "DIR", required: true, summary: "The folder, which is made." }],
    options: {
      project: { type: "text", value: "ID", summary: "The project's identifier." },
      archive: { type: "switch", summary: "With the daily archive; --no-archive is without." },
    },
    examples: [{ text: "A gateway for acme", line: "quillgate init my-gateway --project acme" }],
    load: () => import("./init.js"),
  },
  {
    name: "doctor",
    summary: "Check address, credential, clock, budget, archive and versions; say what to do.",
    description: ["It uses at most one of the hour's requests."],
    connects: true,
    arguments: [],
    options: {},
    examples: [{ text: "When something does not work", line: "quillgate doctor" }],
    load: () => import("./doctor.js"),
  },
  {
    name: "completion",
    summary: "Print what makes a shell complete commands and flags.",
    description: [
      "Shells complete quillgate, and not npx quillgate: npm install --global quillgate comes first.",
    ],
    connects: false,
    arguments: [
      {
        name: "SHELL",
        required: true,
        choices: ["bash", "zsh", "fish"],
        summary: "The shell: bash, zsh or fish.",
      },
    ],
    options: {},
    examples: [
      { text: "For bash, in ~/.bashrc", line: "source <(quillgate completion bash)" },
      {
        text: "For zsh, in a folder of $fpath",
        line: "quillgate completion zsh > ~/.zfunc/_quillgate",
      },
      {
        text: "For fish",
        line: "quillgate completion fish > ~/.config/fish/completions/quillgate.fish",
      },
    ],
    load: () => import("./completion.js"),
  },
];
