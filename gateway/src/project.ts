/** Generates the files of the folder from which a gateway is deployed. */

/** The values that the files depend on. */
export interface Project {
  /** The Worker's name, which is part of its URL. */
  worker: string;
  /** The project's id. */
  id: string;
  /** Whether every day's views are archived. */
  archive: boolean;
}

/** The properties used from this package's `package.json`. */
interface Manifest {
  name: string;
  version: string;
  peerDependencies: { wrangler: string };
}

/** The lines of `.gitignore`. */
export const IGNORED = [
  "node_modules/",
  ".wrangler/",
  ".dev.vars*",
  "!.dev.vars.example",
  ".env*",
  "",
];

/** The maximum length of a Worker's name on workers.dev. */
const MAX_NAME = 63;

/** Returns the values for a folder. The Worker is named after the folder. */
export function describeProject(options: {
  folder: string;
  project: string;
  archive: boolean;
}): Project {
  const dashed = options.folder.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const worker = dashed.slice(0, MAX_NAME).replace(/^-+|-+$/g, "") || "quillgate";
  return { worker, id: options.project, archive: options.archive };
}

/** Returns `wrangler.toml`, derived from the configuration that this version is tested with. */
export function composeConfig({ worker, id, archive }: Project, template: string): string {
  const named = replaceLine(template, /^name = .*$/m, `name = "${worker}"`);
  if (!archive) return named;
  const withDatabase = named.replace(/^# \[\[d1_databases\]\]\n(?:#.*\n)*/m, (block) => {
    return block.replace(/^# ?/gm, "");
  });
  if (withDatabase === named) throw new Error("the template has no [[d1_databases]]");
  return replaceLine(withDatabase, /^\[vars\]$/m, `[vars]\nARCHIVE_PROJECTS = "${id}"`);
}

function replaceLine(text: string, line: RegExp, replacement: string): string {
  if (!line.test(text)) throw new Error(`the template has no ${line.source}`);
  return text.replace(line, () => replacement);
}

/** Returns the version of wrangler that this version of the gateway is tested with. */
function testedVersion({ peerDependencies }: Manifest): string {
  return peerDependencies.wrangler.replace(/^\^/, "");
}

/** Returns `package.json`. It pins this version of the gateway and the matching tools. */
export function composeManifest({ worker, archive }: Project, own: Manifest): string {
  // Use the binding, because the database may have another name when a template is deployed.
  const migrate = archive ? ["wrangler d1 migrations apply ARCHIVE --remote"] : [];
  const manifest = {
    name: worker,
    private: true,
    scripts: {
      check: "quillgate config check",
      deploy: ["quillgate config check", ...migrate, "wrangler deploy"].join(" && "),
      dev: "wrangler dev",
    },
    dependencies: { [own.name]: own.version },
    devDependencies: { quillgate: own.version, wrangler: testedVersion(own) },
    // The page of a "Deploy to Cloudflare" button shows these descriptions beside its fields.
    cloudflare: {
      bindings: {
        ADMIN_API_KEY: {
          description: "The platform's admin key, from its dashboard. It begins with `mint_`.",
        },
        ACCESS_TOKEN_SECRET: {
          description:
            "At least 32 random bytes that sign your access tokens, such as `openssl rand -base64 32` prints. Keep a copy.",
        },
      },
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Returns `README.md`, which describes the deployment in five steps and later tasks. */
export function composeReadme({ worker, id, archive }: Project): string {
  return `# ${worker}

A [Quillgate](https://www.npmjs.com/package/quillgate-gateway) gateway for the project \`${id}\`: it holds the platform's admin
key, and lets in those who have an access token. You need Node 20.19 or later and a Cloudflare account, and no Rust.

## Deploy in five steps

1. **Install.** \`npm install\`, then \`npx wrangler login\`.
2. **Set the two secrets.** The first is the key from the *API keys* page of the platform's dashboard; it begins with \`mint_\`.

   \`\`\`sh
   npx wrangler secret put ADMIN_API_KEY
   npx quillgate token mint --new-secret   # keep what it prints: it signs your access tokens
   npx wrangler secret put ACCESS_TOKEN_SECRET
   \`\`\`

   wrangler asks whether to create a Worker of the name \`${worker}\`: answer yes.

3. **Deploy.** ${archive ? ARCHIVE_STEP : ""}\`npm run deploy\` checks \`wrangler.toml\` first, and says in the end where the gateway is.
4. **Let people in.** An access token for each. The first line waits for the secret of step 2, which it does not show:

   \`\`\`sh
   read -rs ACCESS_TOKEN_SECRET && export ACCESS_TOKEN_SECRET
   npx quillgate token mint --sub alice --project ${id} --scope "jobs:create jobs:read analytics:read" --ttl 30d
   \`\`\`

   Beside the token it prints the token's id, which revoking it takes: keep it.
5. **Look.** Open the address of step 3, and paste the project and the token. \`/healthz\` answers when the gateway is up,
   and \`/openapi.json\` describes its API.

## Try it here

Copy \`.dev.vars.example\` to \`.dev.vars\` and fill it in, then${archive ? " make the archive's tables and start it" : " start it"}:

\`\`\`sh
${archive ? "npx wrangler d1 migrations apply ARCHIVE --local\n" : ""}npm run dev
\`\`\`

**It calls the real platform with your key**: a job that you create here is a real one. To call something else, put
\`UPSTREAM_BASE_URL=http://127.0.0.1:8080\` into \`.dev.vars\`, or another address with \`https\`. Whatever you change in
\`.dev.vars\` takes effect when you have stopped \`npm run dev\` and started it again.

## Later

Sections in quotes are those of \`node_modules/quillgate-gateway/dist/deploy.md\`.

- **Variables** are in \`[vars]\` of \`wrangler.toml\`; "Variables" lists all of them. \`npm run check\` finds a typo in one before it
  is deployed. Secrets are never there: \`npx wrangler secret put\`.
- **Upgrade** both packages, read what is new, and deploy:

  \`\`\`sh
  npm install --save-exact quillgate-gateway@latest
  npm install --save-dev --save-exact quillgate@latest
  less node_modules/quillgate-gateway/CHANGELOG.md
  npm run deploy
  \`\`\`

  When the new version needs something of \`wrangler.toml\` that is not there, it says what, and deploys nothing.
- **Rotate the admin key**: \`npx wrangler secret put ADMIN_API_KEY\` with \`new,old\`, and later with the new one alone.
- **Rotate the token secret**: \`npx wrangler secret put ACCESS_TOKEN_SECRET\` with \`new,old\`. The first signs, both verify; the
  old one can go when its tokens have expired, after 90 days at most.
- **Revoke a token**: \`npx wrangler secret put REVOKED_TOKENS\` with a JSON list of ids, such as \`["Zk3vW9yQ1bT0aXcD"]\`
  ("Revoking tokens").
- **When something does not work**, \`npx quillgate doctor\` looks for the reason. \`QUILLGATE_BASE_URL\`, \`QUILLGATE_PROJECT_ID\`
  and \`QUILLGATE_TOKEN_FILE\`, the name of a file with a token, tell it where to look.
- **A token for yourself**, with which \`/healthz?deep\` shows the gateway's state:
  \`npx quillgate token mint --sub operator --project ${id} --scope gateway:operate\`.
- **Webhooks** at the end of a job: \`WEBHOOK_SECRET\` and \`WEBHOOK_URL\` ("Webhooks").
- **People** need no token where they can sign in: with Cloudflare Access, or at an issuer of \`SIGN_IN_ISSUERS\`.
- **Others' identities**, such as those of GitHub workflows, need no stored token: \`TRUSTED_ISSUERS\` ("Issuers").
- **Every day's views**: "The daily archive"${archive ? "" : ", which takes a database and another `deploy` script"}.
`;
}

const ARCHIVE_STEP = `\`npx wrangler d1 create quillgate-archive\` prints a \`database_id\`: put it into \`wrangler.toml\`.
   `;
