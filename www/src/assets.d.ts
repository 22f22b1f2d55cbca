/** The address of a file among those of the page. */
declare module "*?url" {
  const url: string;
  export default url;
}
