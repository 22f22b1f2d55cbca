/** The completion scripts for shells, and the words that they offer. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { listOptions } from "../../pkg/dist/cli/shared_options.js";
import { makeFolder } from "../harness/folder.mjs";
import { runCommand } from "./command_line.mjs";

const execute = promisify(execFile);
const configFolder = makeFolder({ after }, "completion");
before(() => {
  const folder = join(configFolder, "quillgate", "profiles");
  mkdirSync(folder, { recursive: true });
  for (const name of ["default", "staging"]) writeFileSync(join(folder, `${name}.json`), "{}");
});
const writeScript = async (shell) => (await runCommand(["completion", shell])).stdout;

const options = { env: { ...process.env, XDG_CONFIG_HOME: configFolder } };

const completeInBash = (...words) => completeWordInBash(words.at(-1), ...words);

/** @param word the word that bash would replace */
async function completeWordInBash(word, ...words) {
  const script = await writeScript("bash");
  const complete = `_quillgate quillgate '${word}'`;
  const line = [`COMP_WORDS=("$@")`, "COMP_CWORD=$(($# - 1))", complete].join("\n");
  // bash 3.2, the one of macOS, lacks these builtins.
  const old = "enable -n mapfile readarray compopt";
  const program = `${old}\n${script}\n${line}\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ["-c", program, "bash", "quillgate", ...words];
  const { stdout, stderr } = await execute("bash", args, options);
  assert.equal(stderr, "");
  return stdout.split("\n").filter(Boolean).sort();
}

test("bash completes commands, subcommands and flags", async () => {
  const first = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]))];
  assert.deepEqual(await completeInBash(""), [...first, "--help"].sort());
  assert.deepEqual(await completeInBash("vi"), ["views", "visitors"]);
  assert.deepEqual(await completeInBash("job", "m"), ["message"]);
  assert.deepEqual(await completeInBash("completion", "z"), ["zsh"]);
  for (const command of COMMANDS) {
    const flags = Object.keys(listOptions(command)).map((name) => `--${name}`);
    assert.deepEqual(await completeInBash(...command.name.split(" "), "--"), flags.sort());
  }
});

test("bash completes the value after --flag=", async () => {
  assert.deepEqual(await completeInBash("daily", "--group", "="), ["day", "month", "week"]);
  assert.deepEqual(await completeInBash("daily", "--group", "=", "w"), ["week"]);
  assert.deepEqual(await completeInBash("views", "--profile", "=", "s"), ["staging"]);
  assert.deepEqual(await completeInBash("views", "--output", "=", "/etc/host"), hostFiles());
  assert.deepEqual(await completeInBash("views", "--rows", "="), []);
  assert.deepEqual(await completeInBash("views", "--rows", "=", "5", "--res"), ["--resume"]);
  assert.deepEqual(await completeInBash("--project", "=", "acme", "job", "m"), ["message"]);
  // bash 3.2, and bash whose COMP_WORDBREAKS has no equals sign.
  assert.deepEqual(await completeWordInBash("w", "daily", "--group=w"), ["week"]);
  assert.deepEqual(await completeInBash("daily", "--group=w"), ["--group=week"]);
  const files = hostFiles().map((path) => `--output=${path}`);
  assert.deepEqual(await completeInBash("views", "--output=/etc/host"), files);
});

for (const shell of ["zsh", "fish"]) {
  test(`the completion script for ${shell} has every command and flag`, async () => {
    const script = await writeScript(shell);
    for (const command of COMMANDS) {
      for (const word of command.name.split(" ")) assert.ok(script.includes(word));
      for (const name of Object.keys(listOptions(command))) {
        assert.ok(script.includes(shell === "fish" ? ` -l ${name}` : `--${name}`), name);
      }
    }
  });
}

function hostFiles() {
  const names = readdirSync("/etc").filter((name) => name.startsWith("host"));
  return names.map((name) => `/etc/${name}`).sort();
}

function isInstalled(shell) {
  return spawnSync(shell, ["-c", "exit"]).status === 0;
}

async function completeInZsh(...words) {
  const program = [
    "compdef() { }",
    `compadd() { print -l -- "\${@:#--}" }`,
    // The shell offers this builtin only while it completes.
    "compset() { print -r -- compset $* }",
    "_files() { print FILES }",
    await writeScript("zsh"),
    'words=(quillgate "$@"); CURRENT=$#words',
    "_quillgate",
  ].join("\n");
  const { stdout } = await execute("zsh", ["-fc", program, "zsh", ...words], options);
  return stdout.split("\n").filter(Boolean).sort();
}

/** The words that follow `job`, in alphabetical order. */
const JOB_WORDS = ["create", "delete-record", "list", "message", "open", "show", "watch"];

test("zsh completes commands, flags and values", { skip: !isInstalled("zsh") }, async () => {
  assert.deepEqual(await completeInZsh("job", ""), ["--help", ...JOB_WORDS]);
  assert.deepEqual(await completeInZsh("daily", "--group", ""), ["day", "month", "week"]);
  assert.deepEqual(await completeInZsh("views", "-o", ""), ["FILES"]);
  assert.deepEqual(await completeInZsh("views", "--profile", ""), ["default", "staging"]);
  assert.ok((await completeInZsh("--project", "acme", "views", "")).includes("--resume"));
});

test("zsh completes the value after --flag=", { skip: !isInstalled("zsh") }, async () => {
  const words = await completeInZsh("daily", "--group=w");
  assert.deepEqual(words, ["compset -P 1 *=", "day", "month", "week"]);
  assert.deepEqual(await completeInZsh("views", "--output="), ["FILES", "compset -P 1 *="]);
  assert.deepEqual(await completeInZsh("views", "--rows="), ["compset -P 1 *="]);
  assert.ok((await completeInZsh("--project=acme", "views", "")).includes("--resume"));
});

async function completeInFish(input) {
  const script = await writeScript("fish");
  const program = `function quillgate; end\n${script}\ncomplete -C ${JSON.stringify(input)}`;
  const { stdout } = await execute("fish", ["--no-config", "-c", program], options);
  const lines = stdout.split("\n").filter(Boolean);
  return lines.map((line) => line.split("\t")[0]).sort();
}

test("fish completes commands, flags and values", { skip: !isInstalled("fish") }, async () => {
  assert.deepEqual(await completeInFish("quillgate job "), JOB_WORDS);
  assert.deepEqual(await completeInFish("quillgate daily --group "), ["day", "month", "week"]);
  assert.deepEqual(await completeInFish("quillgate views --ro"), ["--rows"]);
  assert.deepEqual(await completeInFish("quillgate views --profile "), ["default", "staging"]);
  for (const command of COMMANDS) {
    const flags = Object.keys(listOptions(command)).map((name) => `--${name}`);
    const found = await completeInFish(`quillgate --project acme ${command.name} --`);
    assert.deepEqual(found, flags.sort(), command.name);
  }
  assert.deepEqual(await completeInFish("quillgate views --rows "), []);
  assert.deepEqual(await completeInFish("quillgate views -o /etc/hosts"), ["/etc/hosts"]);
});

test("fish completes the value after --flag=", { skip: !isInstalled("fish") }, async () => {
  const groups = ["--group=day", "--group=month", "--group=week"];
  assert.deepEqual(await completeInFish("quillgate daily --group="), groups);
  assert.deepEqual(await completeInFish("quillgate daily --group=w"), ["--group=week"]);
  assert.deepEqual(await completeInFish("quillgate views --profile=s"), ["--profile=staging"]);
  assert.deepEqual(await completeInFish("quillgate views --rows="), []);
});

for (const [shell, complete, missing] of [
  ["bash", () => completeInBash("views", "--profile", ""), false],
  ["zsh", () => completeInZsh("views", "--profile", ""), !isInstalled("zsh")],
  ["fish", () => completeInFish("quillgate views --profile "), !isInstalled("fish")],
]) {
  test(`${shell} finds profiles in the folder of the command`, { skip: missing }, async (t) => {
    const { env } = options;
    t.after(() => Object.assign(options, { env, cwd: undefined }));
    const store = (folder, name) => {
      const profiles = join(folder, "quillgate", "profiles");
      mkdirSync(profiles, { recursive: true });
      writeFileSync(join(profiles, `${name}.json`), "{}");
    };
    const APPDATA = join(configFolder, "Application Data");
    // On this platform, these are names of folders in the current one.
    const [drive, share] = ["C:\\Users", "\\\\server\\x"];
    store(APPDATA, "of-windows");
    store(join(configFolder, drive), "of-a-drive");
    store(join(configFolder, share), "of-a-share");
    store(join(configFolder, ".config"), "of-the-user");
    const OS = "Windows_NT";
    for (const [variables, ...expected] of [
      [{ XDG_CONFIG_HOME: "" }, "of-the-user"],
      [{ XDG_CONFIG_HOME: "." }, "of-the-user"],
      [{ XDG_CONFIG_HOME: "~/.config" }, "of-the-user"],
      [{ XDG_CONFIG_HOME: "", APPDATA }, "of-the-user"],
      [{ XDG_CONFIG_HOME: undefined, APPDATA, OS }, "of-windows"],
      [{ XDG_CONFIG_HOME: ".", APPDATA, OS }, "of-windows"],
      [{ XDG_CONFIG_HOME: configFolder, APPDATA, OS }, "default", "staging"],
      [{ XDG_CONFIG_HOME: "", APPDATA: drive, OS }, "of-a-drive"],
      [{ XDG_CONFIG_HOME: "", APPDATA: share, OS }, "of-a-share"],
      [{ XDG_CONFIG_HOME: "", APPDATA: "Application Data", OS }, "of-the-user"],
      [{ XDG_CONFIG_HOME: "", OS }, "of-the-user"],
    ]) {
      const own = { ...env, HOME: configFolder, ...variables };
      Object.assign(options, { env: own, cwd: configFolder });
      assert.deepEqual(await complete(), expected, JSON.stringify(variables));
    }
  });
}

test("PowerShell separates a flag from its value", async () => {
  const [, pattern] = /\$wordToComplete -match '(.+?)'/.exec(await writeScript("powershell"));
  const match = (word) => new RegExp(pattern).exec(word)?.slice(1);
  assert.deepEqual(match("--group=w"), ["--group", "w"]);
  assert.deepEqual(match("--group="), ["--group", ""]);
  assert.deepEqual(match("--output=a=b"), ["--output", "a=b"]);
  for (const word of ["--group", "a=b", "-o", ""]) assert.equal(match(word), undefined);
});

test("PowerShell finds profiles in absolute folders", async () => {
  const [, pattern] = /config" *\) -match '(.+?)'/.exec(await writeScript("powershell"));
  for (const path of ["C:\\Users\\x", "C:/Users/x", "\\\\server\\x", "/home/x"]) {
    assert.match(path, new RegExp(pattern));
  }
  for (const path of ["relative", "C:relative", "~/.config", ""]) {
    assert.doesNotMatch(path, new RegExp(pattern));
  }
});
