/** The error of an invalid input. */

/** Thrown for an invalid input. The message names the input or its file. */
export class InputError extends Error {}
