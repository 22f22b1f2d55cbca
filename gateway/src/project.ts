/** Generates the files that `init` creates. */

/** The choices that the generated files depend on. */
export interface Project {
  /** The Worker's name, which is part of its URL. */
  worker: string;
  /** The id of the documentation project. */
  id: string;
  /** Whether to archive each day's views. */
  archive: boolean;
}

/** The part of this package's `package.json` that {@link composeManifest} reads. */
interface Manifest {
  name: string;
  version: string;
  peerDependencies: { wrangler: string };
}

/** The lines of `.gitignore`. They exclude secrets and generated files. */
export const IGNORED = [
  "node_modules/",
  ".wrangler/",
  ".dev.vars*",
  "!.dev.vars.example",
  ".env*",
  "",
];

/** On workers.dev, a Worker's name is a DNS label, which has at most 63 characters. */
const MAX_NAME = 63;

/** Names the Worker after its folder. */
export function describeProject(options: {
  folder: string;
  project: string;
  archive: boolean;
}): Project {
  const dashed = options.folder.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const worker = dashed.slice(0, MAX_NAME).replace(/^-+|-+$/g, "") || "quillgate";
  return { worker, id: options.project, archive: options.archive };
}

/** Returns `wrangler.toml`: the template with the Worker's name and, if enabled, the archive. */
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

function readTestedWrangler({ peerDependencies }: Manifest): string {
  return peerDependencies.wrangler.replace(/^\^/, "");
}

/** Returns `package.json`. It pins the versions of the gateway, the command line and wrangler. */
export function composeManifest(
  { worker, archive }: Project,
  own: Manifest,
  tarballs: Readonly<Record<string, string>>,
): string {
  const find = (name: string) => {
    const path = tarballs[name];
    return path === undefined ? own.version : `file:${path}`;
  };
  // Name the binding, not the database: operators can choose another name for the database.
  const migrate = archive ? ["wrangler d1 migrations apply ARCHIVE --remote"] : [];
  const manifest = {
    name: worker,
    private: true,
    scripts: {
      check: "quillgate config check",
      deploy: ["quillgate config check", ...migrate, "wrangler deploy"].join(" && "),
      dev: "wrangler dev",
    },
    dependencies: { [own.name]: find(own.name) },
    devDependencies: { quillgate: find("quillgate"), wrangler: readTestedWrangler(own) },
    // Cloudflare's page behind a "Deploy to Cloudflare" button shows these descriptions.
    cloudflare: {
      bindings: {
        ADMIN_API_KEY: {
          description: "Your admin key from Mintlify's dashboard. It begins with `mint_`.",
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

/** Returns `README.md`: the steps of the deployment, and tasks for later. */
export function composeReadme({ worker, id, archive }: Project): string {
  return `# ${worker}

A [Quillgate](https://www.npmjs.com/package/quillgate-gateway) gateway for the project \`${id}\`. It holds Mintlify's admin
key, and accepts requests with an access token. You need Node 20.19 or later and a Cloudflare account, and no Rust.

## Deploy in five steps

1. **Install.** \`npm install\`, then \`npx wrangler login\`.
2. **Set the two secrets.** The first is the key from the *API keys* page of Mintlify's dashboard; it begins with \`mint_\`. The second
   signs access tokens: the command in the middle prints it, and you need it again in step 4.

   \`\`\`sh
   npx wrangler secret put ADMIN_API_KEY
   npx quillgate token mint --new-secret
   npx wrangler secret put ACCESS_TOKEN_SECRET
   \`\`\`

   wrangler asks whether to create a Worker with the name \`${worker}\`: answer yes.

3. **Deploy.** ${archive ? ARCHIVE_STEP : ""}\`npm run deploy\` checks \`wrangler.toml\`, deploys, and prints the gateway's address.
4. **Mint an access token** for each person. The first line waits until you paste the secret of step 2, and does not show it:

   \`\`\`sh
   read -rs ACCESS_TOKEN_SECRET && export ACCESS_TOKEN_SECRET
   npx quillgate token mint --sub alice --project ${id} --scope "jobs:create jobs:read analytics:read" --ttl 30d
   \`\`\`

   It also prints the token's id. Keep the id: you need it to revoke the token.
5. **Sign in.** Open the address of step 3, and paste the token. \`/healthz\` responds when the gateway is up,
   and \`/openapi.json\` describes its API.

## Try it here

Copy \`.dev.vars.example\` to \`.dev.vars\` and fill it in, then${archive ? " make the archive's tables and start it" : " start it"}:

\`\`\`sh
${archive ? "npx wrangler d1 migrations apply ARCHIVE --local\n" : ""}npm run dev
\`\`\`

**It calls Mintlify with your key**: a job that you create here is real. To call another server, put
\`UPSTREAM_BASE_URL=http://127.0.0.1:8080\` or an \`https\` address into \`.dev.vars\`. Restart \`npm run dev\` after you change
\`.dev.vars\`.

## Later

The pages that this list names are in \`node_modules/quillgate-gateway/docs/\`.

- **Variables** are in \`[vars]\` of \`wrangler.toml\`; \`reference/configuration.md\` lists all of them. \`npm run check\` finds
  typos before you deploy. Never put a secret there: use \`npx wrangler secret put\`.
- **Upgrade** both packages, read what is new, and deploy:

  \`\`\`sh
  npm install --save-exact quillgate-gateway@latest
  npm install --save-dev --save-exact quillgate@latest
  less node_modules/quillgate-gateway/CHANGELOG.md
  npm run deploy
  \`\`\`

  If \`wrangler.toml\` lacks something that the new version needs, the last command names it and deploys nothing. To return to
  the previous version, see \`guides/upgrade.md\`.
- **Rotate the admin key**: \`npx wrangler secret put ADMIN_API_KEY\` with \`new,old\`, and later with only the new one.
- **Rotate the token secret**: \`npx wrangler secret put ACCESS_TOKEN_SECRET\` with \`new,old\`. The first signs, both verify.
  Remove the old one when its tokens have expired, after at most 90 days (\`operate/keys.md\`).
- **Revoke a token**: \`npx wrangler secret put REVOKED_TOKENS\` with a JSON list of ids, such as \`["Zk3vW9yQ1bT0aXcD"]\`
  (\`guides/access.md\`).
- **If something does not work**, see \`operate/troubleshooting.md\`, and run \`npx quillgate doctor\`. Set
  \`QUILLGATE_BASE_URL\`, \`QUILLGATE_PROJECT_ID\` and \`QUILLGATE_TOKEN_FILE\`, the path of a file with a token.
- **A token for operators**, to see the gateway's state at \`/healthz?deep\`:
  \`npx quillgate token mint --sub operator --project ${id} --scope gateway:operate\`.
- **Webhooks** when a job ends: \`WEBHOOK_SECRET\` and \`WEBHOOK_URL\` (\`guides/webhooks.md\`).
- **Sign-in without a token**: with Cloudflare Access, or with an issuer of \`SIGN_IN_ISSUERS\`
  (\`guides/identity-providers.md\`).
- **GitHub workflows without a stored token**, and other identities: \`TRUSTED_ISSUERS\` (\`guides/workflows.md\`).
- **The archive of each day's views**: \`guides/archive.md\`${archive ? "" : ", which needs a database and another `deploy` script"}.
`;
}

const ARCHIVE_STEP = `\`npx wrangler d1 create quillgate-archive\` prints a \`database_id\`: put it into \`wrangler.toml\`.
   `;
