/** Declares the commands for the daily archive and for operators of a gateway. */

import type { Command, Option } from "./command.js";
import { ARCHIVED_RANGE, FORMAT, GRAPH, OUTPUT, WIDE, YES } from "./row_options.js";

const FROM: Option = { type: "text", value: "DATE", summary: "The first day: YYYY-MM-DD." };

export const ARCHIVE_COMMANDS: readonly Command[] = [
  {
    name: "daily",
    operations: ["analytics.dailyViews"],
    summary: "Show views per day, week or month from the gateway's archive.",
    description: [
      "It uses none of the hour's requests. Counts leave out days that the archive lacks; a warning states how many.",
    ],
    connects: true,
    arguments: [],
    options: {
      ...ARCHIVED_RANGE,
      path: { type: "text", value: "PATH", summary: "Only this page, such as /guides/start." },
      prefix: { type: "text", value: "PATH", summary: "Only this path and all pages below it." },
      group: {
        type: "text",
        value: "UNIT",
        choices: ["day", "week", "month"],
        default: "day",
        summary: "The unit of time per row.",
      },
      format: FORMAT,
      output: OUTPUT,
      wide: WIDE,
      graph: GRAPH,
    },
    examples: [
      { text: "The last four weeks, day by day", line: "quillgate daily --last 28d" },
      {
        text: "The guides, month by month",
        line: "quillgate daily --last 365d --prefix /guides --group month",
      },
    ],
    load: () => import("./archive_report.js"),
  },
  {
    name: "archive views",
    operations: ["analytics.archivedViews"],
    summary: "Show the views of each page from the gateway's archive.",
    description: [
      "It uses none of the hour's requests. Counts leave out days that the archive lacks; a warning states how many.",
    ],
    connects: true,
    arguments: [],
    options: {
      ...ARCHIVED_RANGE,
      format: FORMAT,
      output: OUTPUT,
      wide: WIDE,
      graph: GRAPH,
      rows: {
        type: "text",
        value: "N",
        default: "50",
        summary: "Maximum number of rows in a table. Other formats have every row.",
      },
    },
    examples: [
      {
        text: "The most viewed pages of the last four weeks",
        line: "quillgate archive views --last 28d",
      },
      {
        text: "Every page of last year, as a file for a spreadsheet",
        line: "quillgate archive views --from 2025-01-01 --to 2026-01-01 -o views.csv",
      },
    ],
    load: () => import("./archive_report.js"),
  },
  {
    name: "archive status",
    operations: ["analytics.archiveStatus"],
    summary: "Show which days the archive holds and lacks.",
    connects: true,
    arguments: [],
    options: {},
    examples: [{ text: "How complete it is", line: "quillgate archive status" }],
    load: () => import("./archive_status.js"),
  },
  {
    name: "archive plan",
    operations: ["analytics.estimateBackfill"],
    summary: "Estimate the requests and hours that a backfill takes, without starting it.",
    description: [
      "The token needs the scope gateway:operate.",
      "The gateway stores at most 730 days, or ARCHIVE_RETENTION_DAYS. If --from is earlier, the estimate starts at the first day that it can store.",
    ],
    connects: true,
    arguments: [],
    options: { from: FROM },
    examples: [{ text: "All of this year", line: "quillgate archive plan --from 2026-01-01" }],
    load: async () => ({ run: (await import("./archive_backfill.js")).plan }),
  },
  {
    name: "archive backfill",
    operations: ["analytics.beginBackfill"],
    summary: "Start fetching every missing day from a day on.",
    description: [
      "Prints the estimate of archive plan. The token needs the scope gateway:operate.",
      "A backfill uses the organization's requests for hours. On a terminal, the command asks first.",
    ],
    connects: true,
    arguments: [],
    options: { from: FROM, yes: YES },
    examples: [
      { text: "All of this year", line: "quillgate archive backfill --from 2026-01-01 --yes" },
    ],
    load: async () => ({ run: (await import("./archive_backfill.js")).backfill }),
  },
];

export const GATEWAY_COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "Create a folder from which you deploy a gateway.",
    description: [
      "Asks for missing values. Uses the npm package quillgate-gateway of the current folder, or downloads it with npx.",
    ],
    connects: false,
    arguments: [{ name: "DIR", required: true, summary: "The folder to create." }],
    options: {
      project: { type: "text", value: "ID", summary: "The project's id." },
      archive: { type: "switch", summary: "Archive every day's views. --no-archive does not." },
      from: {
        type: "text",
        value: "FOLDER",
        summary: "Use the tarballs of both packages in FOLDER, not the npm registry.",
      },
    },
    examples: [{ text: "A gateway for acme", line: "quillgate init my-gateway --project acme" }],
    load: () => import("./init.js"),
  },
  {
    name: "config check",
    summary: "Check a gateway's configuration before you deploy it.",
    description: [
      "Needs the npm package quillgate-gateway in the current folder. Prints names and rules, never a value.",
    ],
    connects: false,
    arguments: [],
    options: {
      config: {
        type: "text",
        value: "FILE",
        summary: "The wrangler configuration. Default: the one of the current folder.",
      },
      env: {
        type: "text",
        value: "NAME",
        summary: "An environment of the configuration. Default: CLOUDFLARE_ENV, or the top level.",
      },
      secrets: {
        type: "text",
        value: "FILE",
        summary: "Also check this file of secrets: NAME=value lines, or JSON.",
      },
    },
    examples: [{ text: "Before a deployment", line: "quillgate config check --secrets .dev.vars" }],
    load: () => import("./config_check.js"),
  },
  {
    name: "token mint",
    summary: "Create an access token for your gateway.",
    description: [
      "The secret comes from ACCESS_TOKEN_SECRET or stdin, never from a flag, which other users of the machine could " +
        "read. Nothing is sent.",
      "Stdout has only the token. Its id (jti), subject, projects, scope and expiry go to stderr. Keep the id: you " +
        "need it to revoke the token with REVOKED_TOKENS.",
    ],
    connects: false,
    arguments: [],
    options: {
      sub: { type: "text", value: "NAME", summary: "The token's subject, such as a person." },
      project: {
        type: "list",
        value: "ID",
        summary: "A project that the token allows. May be given several times.",
      },
      scope: {
        type: "list",
        value: "SCOPES",
        summary:
          "Scopes, separated by spaces: jobs:create, jobs:read, analytics:read, " +
          "analytics:conversations, deployments:create, deployments:read, automations:run, " +
          "gateway:operate.",
      },
      ttl: { type: "text", value: "TIME", default: "30d", summary: "The lifetime, at most 90d." },
      jti: { type: "text", value: "ID", summary: "The token's id. Default: a random one." },
      quota: {
        type: "list",
        value: "N",
        summary:
          "Maximum requests per policy, or POLICY=N for one of create-job, send-message, " +
          "analytics, read-jobs, create-deployment, create-preview, read-deployments.",
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
    name: "webhook key",
    summary: "Print the keys that verify a project's webhooks.",
    description: [
      "The secrets come from WEBHOOK_SECRET or stdin. Each secret yields one line. Needs the npm package " +
        "quillgate-gateway in the current folder.",
    ],
    connects: false,
    arguments: [],
    options: {
      project: { type: "text", value: "ID", summary: "The project's id." },
      url: { type: "text", value: "URL", summary: "The receiver's URL." },
    },
    examples: [
      {
        text: "For one receiver",
        line: "quillgate webhook key --project acme --url https://hooks.example/quillgate",
      },
    ],
    load: () => import("./webhook_key.js"),
  },
];
