/** Derives flags and arguments from the declared operations. */

import type { Argument, Option } from "./command.js";
import { type DeclaredOperation, OPERATIONS, type Parameter } from "./generated/operations.js";

export function findOperation(name: string): DeclaredOperation {
  const found = OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`${name} is not declared`);
  return found;
}

/** Returns the maximum of the parameter `limit`. */
export function readMaxLimit({ parameters }: DeclaredOperation): number {
  return parameters.find(({ name }) => name === "limit")?.max ?? Number.POSITIVE_INFINITY;
}

/** Converts a parameter of an operation to a flag. */
export function toOption(operation: DeclaredOperation, parameter: string): Option {
  const found = operation.parameters.find(({ name }) => name === parameter);
  if (found === undefined) throw new Error(`${operation.name} has no parameter ${parameter}`);
  const { choices } = found;
  const [, listed] = /separated by commas: (.*)/.exec(found.summary) ?? [];
  const suggestions = listed?.match(/(?<=`)\w+(?=`)/g);
  return {
    type: "text",
    value: toWords(parameter).join("_").toUpperCase(),
    ...(choices === null ? {} : { choices }),
    ...(suggestions == null ? {} : { suggestions }),
    summary: toPlainText(found.summary),
  };
}

/** Converts a parameter of an operation to a positional argument. */
export function toArgument({ name, summary }: Parameter): Argument {
  return {
    name: toWords(name).join("_").toUpperCase(),
    required: true,
    summary: toPlainText(summary),
  };
}

/** Converts a name such as `dateFrom` to `date-from`. */
export function toKebabCase(name: string): string {
  return toWords(name).join("-");
}

/** Splits a name such as `dateFrom` into its words, in lower case. */
export function toWords(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Returns an operation's summary in the imperative: "Lists the views." → "List the views." */
export function toImperative(summary: string): string {
  return toPlainText(summary).replace(/^([A-Z]\w+)s(?= )/, "$1");
}

function toPlainText(text: string): string {
  return text.replaceAll("`", "");
}
