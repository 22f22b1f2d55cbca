export { accessClaims, mintToken, newSecret, SCOPES } from "../../pkg/cli/access_token.js";
