/** Resolves to the URL of a bundled file. */
declare module "*?url" {
  const url: string;
  export default url;
}
