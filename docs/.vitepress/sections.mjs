/** The sidebar of the site: every page of `docs/`, in reading order. A folder has all its pages. */
export const SECTIONS = [
  { text: "Start", pages: ["start/try.md", "start/cloudflare.md", "start/github.md"] },
  {
    text: "Guides",
    pages: [
      ...["access", "identity-providers", "page", "command-line", "scripts", "rust"],
      ...["workflows", "workflow-examples", "deployments", "export", "archive", "webhooks"],
      ...["testing", "proxies", "upgrade"],
    ].map((name) => `guides/${name}.md`),
  },
  { text: "Recipes", pages: ["recipes"] },
  {
    text: "Operate",
    pages: [
      ...["troubleshooting", "configure", "keys", "environments", "logs", "data", "capacity"],
      "cost",
    ].map((name) => `operate/${name}.md`),
  },
  {
    text: "Reference",
    pages: [
      ...["configuration", "scopes-and-limits", "operations", "cli", "action", "page"],
      ...["runtimes", "bundlers", "behaviour"],
    ].map((name) => `reference/${name}.md`),
  },
  { text: "Problems", pages: ["problems"], collapsed: true },
  {
    text: "Explanation",
    pages: [
      ...["why", "comparison", "gateway", "budgets", "no-duplicates", "threat-model"],
      ...["threat-checks", "architecture", "page"],
    ].map((name) => `explanation/${name}.md`),
  },
  { text: "Mintlify's API", pages: ["mintlify"], collapsed: true },
  { text: "Internals", pages: ["internals"], collapsed: true },
  { text: "Glossary", pages: ["glossary.md"] },
];
