/** Declares the commands for deployments, previews and automations. */

import type { Command, Option } from "./command.js";
import { LISTING, YES } from "./row_options.js";
import { timeoutOption, WRITE } from "./write_options.js";

const TIMEOUT = timeoutOption("deployment");
const WAIT: Option = { type: "switch", summary: "Wait for the deployment to finish." };
const DEPLOYMENT = { name: "ID", required: true, summary: "The deployment's id." };

export const DEPLOYMENT_COMMANDS: readonly Command[] = [
  {
    name: "deploy",
    operations: ["deployments.create"],
    summary: "Publish the documentation from the deployment branch.",
    description: [
      "Prints the deployment's id. With --wait, the exit code is 0 if the content is live. After a failure, the last lines of the log are printed.",
      "A deployment can fail although its content is live, because a domain could not be revalidated. Then a warning is printed.",
    ],
    connects: true,
    arguments: [],
    options: { wait: WAIT, ...TIMEOUT, ...WRITE },
    examples: [
      { text: "Deploy and wait until the content is live", line: "quillgate deploy --wait" },
      {
        text: "Start one deployment, however often a workflow is repeated",
        line: 'quillgate deploy --idempotency-key "release-$GITHUB_RUN_ID"',
      },
    ],
    load: () => import("./deploy.js"),
  },
  {
    name: "preview",
    operations: ["previews.create"],
    summary: "Create or update the preview of a branch.",
    description: [
      "Prints the id of its deployment and the preview's URL. With --wait, prints the URL when the preview is live.",
      "For minutes after that, the URL can respond with 404.",
    ],
    connects: true,
    arguments: [{ name: "BRANCH", required: true, summary: "The name of the Git branch." }],
    options: {
      wait: WAIT,
      open: { type: "switch", summary: "Open the preview in the browser. Implies --wait." },
      ...TIMEOUT,
      ...WRITE,
    },
    examples: [
      { text: "Preview a branch and open it", line: "quillgate preview docs/new-endpoint --open" },
      {
        text: "Preview the current branch",
        line: 'quillgate preview "$(git branch --show-current)" --wait',
      },
    ],
    load: () => import("./preview.js"),
  },
  {
    name: "automation run",
    operations: ["automations.run"],
    summary: "Run a scheduled automation now. The run costs credits.",
    description: ["Prints the id of the run, which Mintlify's dashboard shows."],
    connects: true,
    arguments: [
      {
        name: "ID",
        required: true,
        summary: "The automation's id, from its settings in Mintlify's dashboard.",
      },
    ],
    options: WRITE,
    examples: [
      {
        text: "Run an automation once per release",
        line: 'quillgate automation run 6650f0c2 --idempotency-key "release-$VERSION"',
      },
    ],
    load: () => import("./automation_run.js"),
  },
  {
    name: "deployment list",
    operations: ["deployments.list"],
    summary: "List the deployments and previews started through the gateway, newest first.",
    connects: true,
    arguments: [],
    options: LISTING,
    examples: [{ text: "The last five", line: "quillgate deployment list --rows 5" }],
    load: () => import("./deployment_list.js"),
  },
  {
    name: "deployment show",
    operations: ["deployments.get"],
    summary: "Show a deployment or a preview, and its log.",
    connects: true,
    arguments: [DEPLOYMENT],
    options: {},
    examples: [{ text: "Show a deployment", line: "quillgate deployment show 6650f0c2" }],
    load: () => import("./deployment_show.js"),
  },
  {
    name: "deployment watch",
    operations: ["deployments.get"],
    summary: "Wait for a deployment or a preview to finish, and print every change.",
    connects: true,
    arguments: [DEPLOYMENT],
    options: TIMEOUT,
    examples: [
      {
        text: "Wait up to ten minutes",
        line: "quillgate deployment watch 6650f0c2 --timeout 10m",
      },
    ],
    load: () => import("./deployment_watch.js"),
  },
  {
    name: "deployment delete-record",
    operations: ["deployments.deleteRecord"],
    summary: "Delete the gateway's record of a deployment.",
    description: [
      "The deployment itself continues. The token needs the scope gateway:operate. On a terminal, the command asks first.",
    ],
    connects: true,
    arguments: [DEPLOYMENT],
    options: { yes: YES },
    examples: [
      { text: "Delete a record", line: "quillgate deployment delete-record 6650f0c2 --yes" },
    ],
    load: () => import("./deployment_delete_record.js"),
  },
];
