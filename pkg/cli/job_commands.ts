/** Declares the commands for agent jobs. */

import type { Command, Option } from "./command.js";
import { findOperation, toOption } from "./operations.js";
import { LISTING, YES } from "./row_options.js";
import { timeoutOption, WRITE } from "./write_options.js";

const WATCH = timeoutOption("job");
const PROMPT_FILE: Option = {
  type: "text",
  value: "FILE",
  summary: "Read the prompt from this file.",
};
const WAIT: Option = { type: "switch", summary: "Wait for the job to finish." };
const PROMPT = {
  name: "PROMPT",
  required: false,
  summary: "The prompt, or - for stdin. Without it, a terminal opens $EDITOR.",
};
const JOB = {
  name: "ID",
  required: true,
  summary: "The job's id, or its first 8 to 19 characters.",
};
const LIST = findOperation("agentJobs.list");

const WEBHOOK_URL: Option = {
  type: "text",
  value: "URL",
  summary:
    "Where the gateway sends a webhook when the job ends. Default: the operator's URL, if set.",
};

export const JOB_COMMANDS: readonly Command[] = [
  {
    name: "job create",
    operations: ["agentJobs.create"],
    summary: "Create an agent job.",
    description: [
      "Prints the job's id. With --wait, waits for the job to finish and also prints the URL of its pull request.",
    ],
    connects: true,
    arguments: [PROMPT],
    options: {
      wait: WAIT,
      ...WATCH,
      "prompt-file": PROMPT_FILE,
      ...WRITE,
      "webhook-url": WEBHOOK_URL,
    },
    examples: [
      {
        text: "Create a job and wait for its pull request",
        line: 'quillgate job create --wait "Document the new endpoint"',
      },
      {
        text: "Read the prompt from another program",
        line: "git log -1 --format=%B | quillgate job create -",
      },
    ],
    load: () => import("./job_create.js"),
  },
  {
    name: "job list",
    operations: ["agentJobs.list"],
    summary: "List the jobs created through the gateway, newest first.",
    description: [
      "A terminal shows the start of each id, which every job command accepts. --wide and other formats show the whole id and the URL of the pull request.",
    ],
    connects: true,
    arguments: [],
    options: {
      state: toOption(LIST, "state"),
      author: toOption(LIST, "author"),
      text: toOption(LIST, "text"),
      ...LISTING,
    },
    examples: [
      { text: "The last five jobs", line: "quillgate job list --rows 5" },
      {
        text: "Failed jobs about a page",
        line: "quillgate job list --state failed --text quickstart",
      },
    ],
    load: () => import("./job_list.js"),
  },
  {
    name: "job show",
    operations: ["agentJobs.get", "agentJobs.record"],
    summary: "Show a job, its prompts and its status changes.",
    description: [
      "Prompts and status changes come from the gateway's record. Jobs created elsewhere have no record, so only the job is shown.",
    ],
    connects: true,
    arguments: [JOB],
    options: {},
    examples: [{ text: "Show a job", line: "quillgate job show job_123" }],
    load: () => import("./job_show.js"),
  },
  {
    name: "job open",
    operations: ["agentJobs.get"],
    summary: "Open a job's pull request in the browser, or else its page.",
    description: [
      "Prints the URL. BROWSER names the program that opens it. Without a pull request, it opens the job on the gateway's page.",
    ],
    connects: true,
    arguments: [JOB],
    options: {},
    examples: [{ text: "Open the pull request", line: "quillgate job open job_123" }],
    load: () => import("./job_open.js"),
  },
  {
    name: "job watch",
    operations: ["agentJobs.get"],
    summary: "Wait for a job to finish, and print every change.",
    connects: true,
    arguments: [JOB],
    options: WATCH,
    examples: [
      { text: "Wait up to ten minutes", line: "quillgate job watch job_123 --timeout 10m" },
    ],
    load: () => import("./job_watch.js"),
  },
  {
    name: "job message",
    operations: ["agentJobs.sendMessage"],
    summary: "Send a follow-up to a job, which starts working again.",
    connects: true,
    arguments: [JOB, PROMPT],
    options: { wait: WAIT, ...WATCH, "prompt-file": PROMPT_FILE, ...WRITE },
    examples: [
      { text: "Ask for more", line: 'quillgate job message job_123 "Add an example" --wait' },
    ],
    load: () => import("./job_message.js"),
  },
  {
    name: "job delete-record",
    operations: ["agentJobs.deleteRecord"],
    summary: "Delete the gateway's record of a job.",
    description: [
      "The job itself continues. The token needs the scope gateway:operate. On a terminal, the command asks first.",
    ],
    connects: true,
    arguments: [JOB],
    options: { yes: YES },
    examples: [{ text: "Delete a record", line: "quillgate job delete-record job_123 --yes" }],
    load: () => import("./job_delete_record.js"),
  },
];
