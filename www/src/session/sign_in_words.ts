/** The strings of the sign-in route. */
export const SIGN_IN_WORDS = {
  lead: "Turn a prompt into a documentation pull request, and see which pages people and AI read.",
  access: "Continue with Cloudflare Access",
  orToken: "or with a token",
  with: (issuer: string) => `Sign in with ${issuer}`,
  token: "Access token",
  once: "You only need this once. We’ll keep you signed in with a secure cookie.",
  submit: "Sign in",
  signingIn: "Signing in",
  issuerUnavailable: "The sign-in service didn’t respond. Try again in a moment.",
  signInFailed: "The sign-in wasn’t completed. Start again, or use a token.",
  misconfigured:
    "The gateway can’t complete this sign-in. Ask your gateway admin to check its log.",
  gatewayUnavailable: "The gateway’s storage didn’t respond. Try again in a moment.",
  tooMany: "You signed in too often. Try again later.",
  notAllowed: "Your account can’t sign in here. Ask your gateway admin for access.",
  noCookie: "Your browser didn’t keep the session",
  noCookieHint: "Open this page over https and allow cookies.",
  rejected: "The gateway didn’t accept this token",
  rejectedHint:
    "Check that you copied all of it and that it’s for this gateway, or ask for a new one.",
  empty: "Paste your access token.",
  adminKey:
    "This is a Mintlify API key, not an access token. It belongs on the server: don’t paste it into any web page.",
  malformed: "This isn’t an access token. Tokens have three parts, separated by dots.",
  howTo: "How do I get a token?",
  ask: "Ask your gateway admin. Tell them your project and which of these you need:",
  scopes: [
    ["jobs:create", "start jobs and send follow-ups"],
    ["jobs:read", "see the project’s jobs"],
    ["analytics:read", "see page views, visitors, searches and feedback"],
    ["analytics:conversations", "see what readers ask the assistant"],
  ],
  admin:
    "If you’re the admin, set the gateway’s secret in the environment and create a token for 30 days:",
  local: ["Trying it out with ", "? Open the sign-in link that the terminal prints."],
  offer: "What you can do",
  offers: [
    [
      "Update your docs with a prompt",
      "An agent works on it in the background. Watch it, send follow-ups and open its pull request.",
    ],
    [
      "See who reads your docs",
      "Pick a period to see page views by people and AI. Compare, filter and export them.",
    ],
    [
      "Your admin key stays private",
      "Each token is limited to certain projects and permissions, and expires. The admin key never leaves the server.",
    ],
  ],
} as const;
