/** The flags that several commands share. */

import type { Command, Option } from "./command.js";

/** The flags of every command that connects to a gateway or to Mintlify. */
export const CONNECTION_OPTIONS: Readonly<Record<string, Option>> = {
  "base-url": {
    type: "text",
    value: "URL",
    variable: "QUILLGATE_BASE_URL",
    summary: "The gateway's address.",
  },
  project: {
    type: "text",
    value: "ID",
    variable: "QUILLGATE_PROJECT_ID",
    summary: "The project's identifier.",
  },
  "token-file": {
    type: "text",
    value: "FILE",
    variable: "QUILLGATE_TOKEN_FILE",
    summary: "A file that holds the gateway's access token, or - for standard input.",
  },
  "admin-key-file": {
    type: "text",
    value: "FILE",
    variable: "QUILLGATE_ADMIN_KEY_FILE",
    summary:
      "A file that holds the platform's admin key, or - for standard input: no gateway then.",
  },
  config: {
    type: "text",
    value: "FILE",
    variable: "QUILLGATE_CONFIG",
    summary: "The settings file, in place of quillgate.json and of that in the user's folder.",
  },
};

/** The flags of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  json: { type: "switch", summary: "Print JSON, and errors as one line of JSON." },
  quiet: { type: "switch", summary: "Print the result and errors only: no progress, no hints." },
  help: { type: "switch", summary: "Print the help of the command." },
};

/** Every flag that may precede the command's name. */
export const SHARED_OPTIONS: Readonly<Record<string, Option>> = {
  ...CONNECTION_OPTIONS,
  ...COMMON_OPTIONS,
};

/** Returns every flag of a command, starting with its own. */
export function listOptions(command: Command): Readonly<Record<string, Option>> {
  return {
    ...command.options,
    ...(command.connects ? leaveOut(CONNECTION_OPTIONS, command.options) : {}),
    ...leaveOut(COMMON_OPTIONS, command.options),
  };
}

/** Returns the shared flags that the command does not redefine. */
function leaveOut(
  shared: Readonly<Record<string, Option>>,
  own: Readonly<Record<string, Option>>,
): Record<string, Option> {
  return Object.fromEntries(Object.entries(shared).filter(([name]) => !(name in own)));
}
