/** Declares the commands for settings and for the program itself. */

import type { Command } from "./command.js";

export const PROGRAM_COMMANDS: readonly Command[] = [
  {
    name: "login",
    summary: "Store a gateway's address, a project and an access token as a profile.",
    description: [
      "Reads the token from stdin. A terminal does not echo it. The gateway must accept the token before it is stored.",
      "The file profiles/NAME.json in the user's configuration folder has mode 0600. Without --profile, the profile is named default.",
    ],
    connects: true,
    arguments: [],
    options: {},
    examples: [
      {
        text: "Type the token",
        line: "quillgate login --base-url https://gate.example --project acme",
      },
      {
        text: "A second profile, with a token from a file",
        line: "quillgate login --profile staging --base-url https://staging.example --project acme < token",
      },
    ],
    load: () => import("./login.js"),
  },
  {
    name: "logout",
    summary: "Delete a profile.",
    description: ["The token remains valid until it expires or the gateway's operator revokes it."],
    connects: true,
    arguments: [],
    options: {},
    examples: [{ text: "Delete the profile staging", line: "quillgate logout --profile staging" }],
    load: () => import("./logout.js"),
  },
  {
    name: "doctor",
    summary: "Check settings, credential, gateway, budget and archive, and suggest fixes.",
    description: [
      "It uses at most one of the hour's requests.",
      "--live compares Mintlify's responses with docs/mintlify/README.md instead. It sends about eight GET requests to Mintlify with the admin key. First it lists them and asks. The report has names of properties, types and formats, but no paths, terms, comments, ids or keys. Each fact is confirmed, contradicted or not seen.",
    ],
    connects: true,
    arguments: [],
    options: {
      live: { type: "switch", summary: "Report the shapes of Mintlify's responses." },
      yes: { type: "switch", summary: "With --live: do not ask before the requests." },
      job: {
        type: "text",
        value: "ID",
        summary: "With --live: a job to read. Default: an id that no job has.",
      },
      output: {
        type: "text",
        value: "FILE",
        summary: "With --live: write the report to this file instead of stdout.",
      },
    },
    examples: [
      { text: "When something does not work", line: "quillgate doctor" },
      {
        text: "Compare Mintlify's responses with the documentation",
        line: "quillgate doctor --live --admin-key-file key.txt -o shapes.md",
      },
    ],
    load: () => import("./doctor.js"),
  },
  {
    name: "completion",
    summary: "Print a completion script for your shell.",
    description: [
      "Shells complete quillgate but not npx quillgate, so first run npm install --global quillgate.",
    ],
    connects: false,
    arguments: [
      {
        name: "SHELL",
        required: true,
        choices: ["bash", "zsh", "fish", "powershell"],
        summary: "The shell: bash, zsh, fish or powershell.",
      },
    ],
    options: {},
    examples: [
      { text: "For bash, in ~/.bashrc", line: 'eval "$(quillgate completion bash)"' },
      {
        text: "For zsh, in a folder of $fpath",
        line: "quillgate completion zsh > ~/.zfunc/_quillgate",
      },
      {
        text: "For fish",
        line: "quillgate completion fish > ~/.config/fish/completions/quillgate.fish",
      },
      {
        text: "For PowerShell, in $PROFILE",
        line: "quillgate completion powershell | Out-String | Invoke-Expression",
      },
    ],
    load: () => import("./completion.js"),
  },
  {
    name: "version",
    summary: "Print the version.",
    connects: false,
    arguments: [],
    options: {},
    examples: [{ text: "The version as JSON", line: "quillgate version --json" }],
    load: () => import("./version.js"),
  },
];
