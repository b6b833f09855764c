// Allow and deny lists: which labels of a model may be predicted. The same for the edge, the server and the full model.

import { ArgumentError } from "../core/errors.ts";

/**
 * Lists of labels by name. A name that the model does not know is passed over: lists are often longer than models. A list
 * that is given again is not read again.
 */
export interface LabelLists {
  /** Only these labels. */
  readonly allow?: readonly string[] | undefined;
  /** None of these labels. */
  readonly deny?: readonly string[] | undefined;
}

/** 1 for each label that may come and 0 for the others; undefined where all may. */
export function allowedLabels(
  names: ArrayLike<string | number>,
  { allow, deny }: LabelLists,
): Uint8Array | undefined {
  if (allow === undefined && deny === undefined) return undefined;
  const [allowed, denied] = [setOf("allow", allow), setOf("deny", deny)];
  return Uint8Array.from(names, (name) => {
    const label = String(name);
    return (allowed?.has(label) ?? true) && !denied?.has(label) ? 1 : 0;
  });
}

function setOf(argument: string, list: readonly string[] | undefined): Set<string> | undefined {
  if (list !== undefined && !Array.isArray(list))
    throw new ArgumentError(argument, `found ${typeof list}, expected a list of labels`);
  return list && new Set(list);
}
