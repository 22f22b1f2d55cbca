/** The flags that several commands share. */

import type { Command, Option } from "./command.js";
import type { Host } from "./host.js";

/** The variable that allows sending the credential unencrypted to another machine. */
export const ALLOW_PLAIN_HTTP = "QUILLGATE_ALLOW_PLAIN_HTTP";

export function allowsPlainHttp({ env }: Host): boolean {
  return env[ALLOW_PLAIN_HTTP] === "1";
}

/** The flags of every command with `connects`. */
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
    summary: "The project's id.",
  },
  "token-file": {
    type: "text",
    value: "FILE",
    variable: "QUILLGATE_TOKEN_FILE",
    summary: "The file of the gateway's access token, or - for stdin.",
  },
  "admin-key-file": {
    type: "text",
    value: "FILE",
    variable: "QUILLGATE_ADMIN_KEY_FILE",
    summary:
      "The file of Mintlify's admin key, or - for stdin. Requests then go to Mintlify directly.",
  },
  config: {
    type: "text",
    value: "FILE",
    variable: "QUILLGATE_CONFIG",
    summary: "The settings file to read instead of quillgate.json and the user's file.",
  },
  profile: {
    type: "text",
    value: "NAME",
    variable: "QUILLGATE_PROFILE",
    summary: "A profile that quillgate login has stored.",
  },
};

/** The flags of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  json: { type: "switch", summary: "Print JSON, and errors as one line of JSON." },
  jq: {
    type: "text",
    value: "FILTER",
    summary: "Filter the JSON with the program jq. Implies --json.",
  },
  quiet: { type: "switch", summary: "Print only the result and errors: no progress and no hints." },
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
    ...(command.connects ? omitRedefined(CONNECTION_OPTIONS, command.options) : {}),
    ...omitRedefined(COMMON_OPTIONS, command.options),
  };
}

/** Returns the shared flags that the command does not redefine. */
function omitRedefined(
  shared: Readonly<Record<string, Option>>,
  own: Readonly<Record<string, Option>>,
): Record<string, Option> {
  return Object.fromEntries(Object.entries(shared).filter(([name]) => !(name in own)));
}
