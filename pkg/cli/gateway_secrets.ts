/** The gateway's variables that must be secrets. */
export const GATEWAY_SECRETS = [
  ...["ADMIN_API_KEY", "ADMIN_READ_KEY", "ACCESS_TOKEN_SECRET", "WEBHOOK_SECRET"],
  ...["SIGN_IN_CLIENT_SECRET", "GITHUB_TOKEN"],
];
