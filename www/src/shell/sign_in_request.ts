let handle: (reason: string) => void = () => {};

/** Sets the handler for parts of the page that need a new session. */
export function onSignInRequest(handler: (reason: string) => void): void {
  handle = handler;
}

/** Shows the sign-in form with a reason. */
export function requestSignIn(reason: string): void {
  handle(reason);
}
