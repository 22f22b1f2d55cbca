export { accessClaims, mintToken, newSecret, SCOPES } from "../../scripts/token.mjs";
