/** Which key answers. @module */

import { shortened, shown } from "../parts/text.ts";
import type { Keys } from "./use_keys.ts";

/** The value that stands for a key that is yet to be made. */
export const NEW_KEY = "new";

/** A list of the keys of this browser, and of a new one where that is meant. */
export function KeyChoice({ keys, value, offersNew = false, onChoose }: {
  readonly keys: Keys;
  readonly value: string | undefined;
  readonly offersNew?: boolean;
  readonly onChoose: (did: string) => void;
}) {
  return (
    <select
      aria-label="The key that you answer with"
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {keys.all.map(({ did, name, place }) => (
        <option key={did} value={did}>
          {shown(name ?? place ?? "A key")}, {shortened(did)}
        </option>
      ))}
      {offersNew && <option value={NEW_KEY}>A new key</option>}
    </select>
  );
}
