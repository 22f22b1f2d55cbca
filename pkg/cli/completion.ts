/** `quillgate completion`: generates completion scripts from the declarations of the commands. */

import type { Command, Context, Option } from "./command.js";
import { UsageError } from "./errors.js";
import { COMMON_OPTIONS, listOptions } from "./shared_options.js";

export async function run({ arguments: [shell], commands, output }: Context): Promise<undefined> {
  if (output.json) throw new UsageError("completion prints a script: omit --json and --jq");
  await output.write(writeCompletion(shell ?? "", commands));
}

function writeCompletion(shell: string, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return writeBash(commands);
    case "zsh":
      return writeZsh(commands);
    case "fish":
      return writeFish(commands);
    case "powershell":
      return writePowerShell(commands);
    default:
      throw new UsageError("SHELL must be one of bash, zsh, fish, powershell");
  }
}

/**
 * Maps the start of a command line, such as `job`, to the words that can follow. If an argument has
 * fixed choices, they follow the command's name.
 */
function listNextWords(commands: readonly Command[]): Map<string, string[]> {
  const next = new Map<string, string[]>([["", []]]);
  for (const { name, arguments: args } of commands) {
    const words = name.split(" ");
    words.forEach((word, at) => {
      const before = words.slice(0, at).join(" ");
      const known = next.get(before) ?? [];
      if (!known.includes(word)) known.push(word);
      next.set(before, known);
    });
    const choices = args.flatMap(({ choices = [] }) => choices);
    if (choices.length > 0) next.set(name, [...choices]);
  }
  return next;
}

function takesFile({ value }: Option): boolean {
  return value === "FILE";
}

/** Lists every flag whose value is the path of a file. */
function listFileFlags(commands: readonly Command[]): string[] {
  const names = commands.flatMap((command) =>
    Object.entries(listOptions(command))
      .filter(([, option]) => takesFile(option))
      .map(([name]) => `--${name}`),
  );
  return [...new Set([...names, "-o"])];
}

/** Lists the flags of a command with known values, and these values. */
function listChoiceFlags(command: Command): [string, readonly string[]][] {
  return Object.entries(listOptions(command)).flatMap(([name, { choices, suggestions }]) =>
    (choices ?? suggestions) === undefined
      ? []
      : [[`--${name}`, choices ?? suggestions] as [string, readonly string[]]],
  );
}

/** Lists the commands and their groups. */
function listKnownWords(commands: readonly Command[]): string[] {
  const names = [...listNextWords(commands).keys(), ...commands.map(({ name }) => name)];
  return [...new Set(names)].filter((name) => name !== "");
}

/**
 * Returns a loop for bash and zsh that finds the command on the line. It mistakes a flag's value
 * for part of a command only if the value is spelled like one.
 */
function writeFinder(commands: readonly Command[]): string {
  const known = listKnownWords(commands).map((name) => `"${name}"`);
  return [
    '  local command="" word candidate',
    '  for word in "$' + '{before[@]}"; do',
    '    candidate="$' + '{command:+$command }$word"',
    '    case "$candidate" in',
    `      ${known.join(" | ")}) command="$candidate" ;;`,
    "    esac",
    "  done",
  ].join("\n");
}

function writeCases(commands: readonly Command[]): { words: string; values: string } {
  const write = (name: string, words: readonly string[]) =>
    `    "${name}") candidates="${words.join(" ")}" ;;`;
  const words = [...listCandidates(commands)].map(([name, candidates]) =>
    write(
      name,
      candidates.map(([word]) => word),
    ),
  );
  const values = commands.flatMap((command) =>
    listChoiceFlags(command).map(([flag, choices]) => write(`${command.name} ${flag}`, choices)),
  );
  return { words: words.join("\n"), values: values.join("\n") };
}

/** For bash and zsh: sets `folder`, like `findConfigFolder`. Git Bash has paths such as `C:/`. */
const FIND_FOLDER = `      local folder appdata=""
      [ "\${OS-}" != Windows_NT ] || appdata="\${APPDATA-}"
      for folder in "\${XDG_CONFIG_HOME-}" "$appdata" "$HOME/.config"; do
        case "$folder" in [/\\\\]* | [A-Za-z]:[/\\\\]*) break ;; esac
      done`;

function writeBash(commands: readonly Command[]): string {
  const { words, values } = writeCases(commands);
  // macOS has bash 3.2, which lacks `mapfile` and `compopt`.
  return `# Completion of quillgate for bash.
_quillgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" candidates=""
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") assigned="" prefix=""
  # bash 4 splits --flag=value into three words, unless COMP_WORDBREAKS has no equals sign.
  case "$current" in
    =) current="" assigned=1 ;;
    --*=*)
      previous="\${current%%=*}" current="\${current#*=}" assigned=1
      prefix="\${2%"$current"}" ;;
    *) [ "$previous" != "=" ] || previous="\${COMP_WORDS[COMP_CWORD - 2]}" assigned=1 ;;
  esac
${writeFinder(commands)}
  COMPREPLY=()
  case "$previous" in
    ${listFileFlags(commands).join(" | ")})
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -P "$prefix" -f -- "$current")
      return ;;
    --profile)
${FIND_FOLDER}
      for word in "$folder"/quillgate/profiles/*.json; do
        word="\${word##*/}"
        [ "$word" = "*.json" ] || candidates="$candidates \${word%.json}"
      done
      [ -n "$candidates" ] || return ;;
  esac
  case "$command $previous" in
${values}
  esac
  [ -n "$candidates$assigned" ] || case "$command" in
${words}
  esac
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -P "$prefix" -W "$candidates" -- "$current")
}
complete -F _quillgate quillgate
`;
}

function writeZsh(commands: readonly Command[]): string {
  const { words, values } = writeCases(commands);
  return `#compdef quillgate
# Completion of quillgate for zsh.
_quillgate() {
  local previous="\${words[CURRENT - 1]}" candidates="" assigned=""
  case "\${words[CURRENT]}" in
    --*=*)
      previous="\${words[CURRENT]%%=*}" assigned=1
      compset -P 1 '*=' ;;
  esac
  local -a before
  before=("\${(@)words[2,CURRENT - 1]}")
${writeFinder(commands)}
  case "$previous" in
    ${listFileFlags(commands).join(" | ")}) _files; return ;;
    --profile)
${FIND_FOLDER}
      before=("$folder"/quillgate/profiles/*.json(N:t:r))
      candidates="$before" ;;
  esac
  case "$command $previous" in
${values}
  esac
  [ -n "$candidates$assigned" ] || case "$command" in
${words}
  esac
  compadd -- \${=candidates}
}
if [ "$funcstack[1]" = "_quillgate" ]; then _quillgate "$@"; else compdef _quillgate quillgate; fi
`;
}

/** The functions of the script for fish. Its own cannot tell `archive views` from `views`. */
function writeFishFunctions(commands: readonly Command[]): string {
  const known = listKnownWords(commands).map((name) => quote(name));
  return `# Completion of quillgate for fish.
function __quillgate_at
  set -l tokens (commandline -opc)
  set -l command ''
  for word in $tokens
    set -l candidate (string trim -- "$command $word")
    contains -- "$candidate" ${known.join(" ")}; and set command $candidate
  end
  test "$command" = "$argv[1]"
end
function __quillgate_profiles
  set -l appdata
  test "$OS" = Windows_NT; and set appdata "$APPDATA"
  set -l parents "$XDG_CONFIG_HOME" $appdata "$HOME/.config"
  set -l folder (string match -r '^(?:[A-Za-z]:)?[/\\x5c].*' -- $parents)[1]
  for file in $folder/quillgate/profiles/*.json
    string replace -r '.*/(.*)\\.json$' '$1' -- $file
  end
end
complete -c quillgate -f`;
}

function writeFish(commands: readonly Command[]): string {
  const lines = [writeFishFunctions(commands)];
  const at = (name: string) => `complete -c quillgate -n ${quote(`__quillgate_at ${quote(name)}`)}`;
  for (const [before, words] of listNextWords(commands)) {
    for (const word of words) {
      const name = before === "" ? word : `${before} ${word}`;
      const summary = commands.find((command) => command.name === name)?.summary;
      const text = summary === undefined ? "" : ` -d ${quote(summary)}`;
      lines.push(`${at(before)} -a ${word}${text}`);
    }
  }
  for (const command of commands) {
    for (const [name, option] of Object.entries(listOptions(command))) {
      const short = name === "output" ? " -s o" : "";
      const known = option.choices ?? option.suggestions ?? [];
      const values = name === "profile" ? ["(__quillgate_profiles)"] : known;
      const choices = values.length === 0 ? "" : ` -a ${quote(values.join(" "))}`;
      const files = takesFile(option) ? " -r -F" : " -x";
      const value = option.value === undefined ? "" : `${files}${choices}`;
      lines.push(`${at(command.name)} -l ${name}${short}${value} -d ${quote(option.summary)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Returns {@link listNextWords} and the flags of every command, each with a description. */
function listCandidates(commands: readonly Command[]): Map<string, [string, string][]> {
  const candidates = new Map<string, [string, string][]>();
  for (const [before, words] of listNextWords(commands)) {
    const summaries = words.map((word): [string, string] => {
      const name = before === "" ? word : `${before} ${word}`;
      return [word, commands.find((command) => command.name === name)?.summary ?? word];
    });
    candidates.set(before, [...summaries, ["--help", COMMON_OPTIONS.help?.summary ?? ""]]);
  }
  for (const command of commands) {
    const flags = Object.entries(listOptions(command)).map(
      ([name, { summary }]): [string, string] => [`--${name}`, summary],
    );
    // The choices of an argument. The flags have another `--help`.
    const choices = candidates.get(command.name)?.slice(0, -1) ?? [];
    candidates.set(command.name, [...choices, ...flags]);
  }
  return candidates;
}

function writePowerShell(commands: readonly Command[]): string {
  const write = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([word, text]) => `@(${quotePowerShell(word)}, ${quotePowerShell(text)})`);
  const tables = [...listCandidates(commands)].map(
    ([before, entries]) => `    ${quotePowerShell(before)} = @(${write(entries).join(", ")})`,
  );
  const values = commands.flatMap((command) =>
    listChoiceFlags(command).map(([flag, choices]) => {
      const entries = choices.map((choice) => [choice, choice] as const);
      return `    ${quotePowerShell(`${command.name} ${flag}`)} = @(${write(entries).join(", ")})`;
    }),
  );
  const files = listFileFlags(commands).map(quotePowerShell).join(", ");
  return `# Completion of quillgate for PowerShell.
Register-ArgumentCompleter -Native -CommandName quillgate -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $candidates = @{
${tables.join("\n")}
  }
  $values = @{
${values.join("\n")}
  }
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($wordToComplete -ne '') { $words = @($words | Select-Object -SkipLast 1) }
  $command = ''
  foreach ($word in $words) {
    $candidate = "$command $word".Trim()
    if ($candidates.ContainsKey($candidate)) { $command = $candidate }
  }
  $previous = if ($words.Count -gt 0) { $words[-1] } else { '' }
  $prefix = ''
  if ($wordToComplete -match '^(--[^=]+)=(.*)$') {
    $previous = $Matches[1]
    $prefix = "$previous="
    $wordToComplete = $Matches[2]
  }
  if (@(${files}) -contains $previous) { return }
  $found = $values["$command $previous"]
  if ($previous -eq '--profile') {
    $config = @($env:XDG_CONFIG_HOME, $env:APPDATA, "$HOME/.config") -match '^([A-Za-z]:)?[\\\\/]' | Select-Object -First 1
    $found = @(Get-ChildItem "$config/quillgate/profiles/*.json" -ErrorAction Ignore | ForEach-Object { , @($_.BaseName, $_.BaseName) })
  }
  if ($null -eq $found -and $prefix -eq '') { $found = $candidates[$command] }
  $found | Where-Object { $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new("$prefix$($_[0])", $_[0], 'ParameterValue', $_[1])
  }
}
`;
}

function quotePowerShell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
