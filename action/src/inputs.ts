/** Reads and validates the action's inputs. */

import { isLoopback } from "../../pkg/dist/base_url.js";
import { type Guard, readGuard } from "./guard.js";
import { InputError } from "./input_error.js";
import { readPrompt } from "./prompt.js";
import type { Runner } from "./runner.js";

/** The inputs that all commands have. */
export interface Place {
  gateway: string;
  project: string;
  audience: string;
  /** One of the gateway's access tokens; `undefined` to use the workflow's own identity. */
  token: string | undefined;
  /** In milliseconds, from one second to five days. */
  timeout: number;
  /** The timeout as written in the workflow. */
  after: string;
  idempotencyKey: string | undefined;
  githubToken: string | undefined;
  /** The matrix values of the workflow's job, as JSON. `null` in a job without a matrix. */
  matrix: string;
  /** When to run; `undefined` to run always. */
  guard: Guard | undefined;
}

export interface JobInputs extends Place {
  command: "job";
  prompt: string;
  wait: boolean;
  comment: boolean;
  /** Whether to start a preview of the branch of the job's pull request. */
  preview: boolean;
}

export interface DeployInputs extends Place {
  command: "deploy";
  wait: boolean;
}

export interface PreviewInputs extends Place {
  command: "preview";
  /** `undefined` for the branch of the event. */
  branch: string | undefined;
  wait: boolean;
  comment: boolean;
}

export interface AutomationInputs extends Place {
  command: "automation";
  /** The automation's id. */
  automation: string;
}

/** The validated inputs of `action.yml`. */
export type Inputs = JobInputs | DeployInputs | PreviewInputs | AutomationInputs;

/** The inputs that only some commands have, with their defaults in `action.yml`. */
const OWN_INPUTS: Readonly<Record<string, string>> = {
  prompt: "",
  "prompt-file": "",
  preview: "false",
  branch: "",
  automation: "",
  wait: "true",
  comment: "",
};
const COMMANDS: Readonly<Record<Inputs["command"], readonly string[]>> = {
  job: ["prompt", "prompt-file", "preview", "wait", "comment"],
  deploy: ["wait"],
  preview: ["branch", "wait", "comment"],
  automation: ["automation"],
};

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** In milliseconds. GitHub cancels a job on a self-hosted runner after five days. */
const MAX_TIMEOUT = 5 * 24 * 3_600_000;

/**
 * Reads and validates every input.
 *
 * @throws {InputError} if an input is missing or invalid
 */
export function readInputs(runner: Runner): Inputs {
  // Mask both secrets before another input can throw.
  const token = readSecret(runner, "token");
  const githubToken = readSecret(runner, "github-token");
  const place: Place = {
    gateway: readGateway(readRequired(runner, "gateway")),
    project: readRequired(runner, "project"),
    audience: readRequired(runner, "audience"),
    token,
    timeout: readDuration(runner, "timeout"),
    after: runner.input("timeout").trim(),
    idempotencyKey: runner.input("idempotency-key").trim() || undefined,
    githubToken,
    matrix: runner.input("matrix"),
    guard: readGuard(runner.input("if-changed")),
  };
  const command = readCommand(runner);
  switch (command) {
    case "job":
      return readJob(runner, place);
    case "deploy":
      return { ...place, command, wait: readBoolean(runner, "wait") };
    case "preview": {
      const branch = runner.input("branch").trim() || undefined;
      const comment = readBoolean(runner, "comment", "true");
      return { ...place, command, branch, wait: readBoolean(runner, "wait"), comment };
    }
    case "automation":
      return { ...place, command, automation: readRequired(runner, "automation") };
  }
}

function readJob(runner: Runner, place: Place): JobInputs {
  const wait = readBoolean(runner, "wait");
  const preview = readBoolean(runner, "preview");
  if (preview && !wait) {
    throw new InputError(
      "the input preview needs wait: true, because the job's branch is known only at its end",
    );
  }
  const comment = readBoolean(runner, "comment", "false");
  return { ...place, command: "job", prompt: readPrompt(runner), wait, comment, preview };
}

/** Reads the command, and rejects inputs that belong to other commands. */
function readCommand(runner: Runner): Inputs["command"] {
  const text = runner.input("command").trim();
  const names = Object.keys(COMMANDS);
  if (!Object.hasOwn(COMMANDS, text)) {
    throw new InputError(
      `the input command must be ${names.slice(0, -1).join(", ")} or automation`,
    );
  }
  const command = text as Inputs["command"];
  for (const [name, fallback] of Object.entries(OWN_INPUTS)) {
    // An input with its default value looks like one that the workflow does not set.
    const isSet = ![fallback, ""].includes(runner.input(name).trim());
    if (!isSet || COMMANDS[command].includes(name)) continue;
    const others = Object.entries(COMMANDS).flatMap(([other, inputs]) => {
      return inputs.includes(name) ? [other] : [];
    });
    throw new InputError(
      `the input ${name} is not for the command ${command}, but for ${others.join(", ")}`,
    );
  }
  return command;
}

function readSecret(runner: Runner, name: string): string | undefined {
  const secret = runner.input(name).trim();
  runner.mask(secret);
  return secret || undefined;
}

function readRequired(runner: Runner, name: string): string {
  const value = runner.input(name).trim();
  if (value === "") throw new InputError(`the input ${name} is missing`);
  return value;
}

/**
 * Returns the gateway's origin. Requests carry a credential, so only loopback addresses may use
 * `http:`.
 */
function readGateway(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === "https:";
  const isLocal = url?.protocol === "http:" && isLoopback(text);
  if (!isSecure && !isLocal) {
    throw new InputError("the input gateway must be an https address, as in https://gate.example");
  }
  // Don't quote the URL: the log would show its password.
  if (url.username !== "" || url.password !== "") {
    throw new InputError("the input gateway must have no user and no password");
  }
  if (url.pathname !== "/" || /[?#]/.test(text)) {
    throw new InputError(
      `the input gateway must be an address without path, query and fragment: ${url.origin}`,
    );
  }
  return url.origin;
}

function readBoolean(runner: Runner, name: string, fallback = ""): boolean {
  const text = runner.input(name).trim() || fallback;
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  throw new InputError(`the input ${name} must be true or false`);
}

function readDuration(runner: Runner, name: string): number {
  const text = runner.input(name).trim();
  const [, digits, unit] = /^(\d{1,9})\s*([smh])$/.exec(text) ?? [];
  const milliseconds = Number(digits) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1_000 && milliseconds <= MAX_TIMEOUT) return milliseconds;
  const found = text === "" ? "it is empty" : `found ${JSON.stringify(text.slice(0, 40))}`;
  throw new InputError(`the input ${name} must be 1s to 120h, as in 90s, 30m or 2h: ${found}`);
}
