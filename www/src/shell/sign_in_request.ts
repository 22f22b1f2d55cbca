let handle: (reason: string) => void = () => {};

/** Sets what happens when a part of the page needs a new session. */
export function onSignInRequest(handler: (reason: string) => void): void {
  handle = handler;
}

/** Leads to the sign-in form, which shows the reason. */
export function requestSignIn(reason: string): void {
  handle(reason);
}
