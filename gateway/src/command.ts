#!/usr/bin/env node
/** The program `quillgate-gateway`, with the commands `init`, `check` and `webhook-key`. */
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";

const USAGE = `usage: quillgate-gateway init DIRECTORY [--project ID] [--archive | --no-archive]
       quillgate-gateway check [--config FILE] [--env NAME] [--secrets FILE]
       quillgate-gateway webhook-key --project ID --url ADDRESS

init         writes a folder from which a gateway is deployed with wrangler
check        finds what is wrong with the configuration before it is deployed
webhook-key  prints the keys of a webhook's receiver; WEBHOOK_SECRET or standard input has the secret

quillgate-gateway COMMAND --help  says more

exit codes: 0 done, 1 something is wrong, 2 used wrongly, 130 interrupted`;

/** The help of each command. */
const HELP: Record<string, string> = {
  init: `usage: quillgate-gateway init DIRECTORY [--project ID] [--archive | --no-archive]

Writes a folder from which a gateway is deployed with wrangler, and asks for what no flag says.

--project ID   the project's id, from the dashboard's API keys page
--archive      keep every day's views, in a D1 database; --no-archive does not`,
  check: `usage: quillgate-gateway check [--config FILE] [--env NAME] [--secrets FILE]

Finds what is wrong with the configuration before it is deployed. Prints names and rules, never a value.

--config FILE   the wrangler configuration: the one that wrangler finds unless told
--env NAME      an environment of the configuration, as in wrangler deploy --env
--secrets FILE  a file of secrets to check as well: NAME=value lines, or JSON`,
  "webhook-key": `usage: quillgate-gateway webhook-key --project ID --url ADDRESS

Prints the keys of a webhook's receiver, one for each secret. WEBHOOK_SECRET or standard input has the secrets.

--project ID   the project whose webhooks it receives
--url ADDRESS  its address, as Webhook-Url or WEBHOOK_URL says it`,
};

/** The exit code that a shell uses for SIGINT. */
const INTERRUPTED = 130;

/** An incorrect command line. */
class UsageError extends Error {}

/** Runs a command and returns its exit code. */
async function main([command, ...args]: string[]): Promise<number> {
  if (command === undefined) {
    console.log(USAGE);
    return 2;
  }
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  const isHelp = /^(help|--help|-h)$/.test(command);
  if (isHelp || flags.includes("--help") || flags.includes("-h")) {
    console.log(HELP[(isHelp ? args[0] : command) ?? ""] ?? USAGE);
    return 0;
  }
  if (command === "init") return await runInit(args);
  if (command === "check") return await runCheck(args);
  if (command === "webhook-key") return await runWebhookKey(args);
  throw new UsageError(`there is no command ${command}`);
}

/** The repository's script, which the build copies into the package. */
const WEBHOOK_KEY = new URL("../webhook_key.mjs", import.meta.url);

async function runWebhookKey(args: string[]): Promise<number> {
  const script = await import(WEBHOOK_KEY.href);
  return script.runWebhookKey(args, "quillgate-gateway webhook-key");
}

async function runInit(args: string[]): Promise<number> {
  const { values, positionals } = parse(() =>
    parseArgs({
      args,
      allowPositionals: true,
      allowNegative: true,
      options: { project: { type: "string" }, archive: { type: "boolean" } },
    }),
  );
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  if (flags.includes("--archive") && flags.includes("--no-archive")) {
    throw new UsageError("--archive and --no-archive contradict each other");
  }
  const [directory, ...others] = positionals;
  if (directory === undefined || others.length > 0) throw new UsageError("init takes one folder");
  const { init } = await import("./init.js");
  const reader = process.stdin.isTTY
    ? createInterface({ input: process.stdin, output: process.stderr })
    : undefined;
  try {
    const prompt = reader && ((question: string, answer?: string) => ask(reader, question, answer));
    const { files } = await init({ ...values, directory, prompt });
    const next = `next: cd ${quote(directory)}, and go on with its README.md`;
    console.log(`wrote ${files.join(", ")}\n${next}`);
    return 0;
  } finally {
    reader?.close();
  }
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
function quote(word: string): string {
  return /^[\w./+@:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

type Reader = ReturnType<typeof createInterface>;

async function ask(reader: Reader, question: string, defaultAnswer = ""): Promise<string> {
  const shown = defaultAnswer ? ` [${defaultAnswer}]` : "";
  return (await reader.question(`${question}${shown} `)) || defaultAnswer;
}

async function runCheck(args: string[]): Promise<number> {
  const { values } = parse(() =>
    parseArgs({
      args,
      options: {
        config: { type: "string" },
        env: { type: "string" },
        secrets: { type: "string" },
      },
    }),
  );
  const { checkConfig } = await import("./check.js");
  const { config: configFile, env, secrets: secretsFile } = values;
  const { problems, count, unchecked } = await checkConfig({ configFile, env, secretsFile });
  for (const { name, message } of problems) console.error(`${name} ${message}`);
  if (problems.length > 0) return 1;
  const note =
    unchecked.length > 0 ? ` (not checked, for want of a value: ${unchecked.join(", ")})` : "";
  const variables = count === 1 ? "variable" : "variables";
  console.log(`the configuration and its ${count} ${variables} are right${note}`);
  return 0;
}

/**
 * Parses flags. The error names the flag but quotes no value, which could be a misplaced secret.
 */
function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const flag = /'(-[^'\s=]*)/.exec((error as Error).message)?.[1];
    throw new UsageError(flag === undefined ? "an argument is not expected" : `${flag} is wrong`);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`quillgate-gateway: ${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else if (error instanceof Error && /^(Check|Init)Error$/.test(error.name)) {
    console.error(`quillgate-gateway: ${error.message}`);
    process.exitCode = 1;
  } else if (error instanceof Error && error.name === "AbortError") {
    // The user pressed Ctrl-C or Ctrl-D at a question, before anything was written.
    console.error("\nquillgate-gateway: nothing was written");
    process.exitCode = INTERRUPTED;
  } else {
    throw error;
  }
}
