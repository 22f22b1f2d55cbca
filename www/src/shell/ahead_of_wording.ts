/**
 * Has the browser read what wording.ts writes numbers and dates with. That takes it tens of
 * milliseconds, once.
 */
export function warmUpFormats(): void {
  new Intl.NumberFormat();
  new Intl.DateTimeFormat();
}
