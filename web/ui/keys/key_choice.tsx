/** Which key answers. @module */

import { Alert } from "../elements.tsx";
import { shortened, visibleText } from "../text.ts";
import { type Keys, UNSUPPORTED_TEXTS } from "./use_keys.ts";

/** The value for a key that does not exist yet. */
export const NEW_KEY = "new";

/** A list of the keys of this browser. */
export function KeyChoice({ keys, value, offersNew = false, onChoose }: {
  readonly keys: Keys;
  readonly value: string | undefined;
  /** Whether a new key can be chosen too. */
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
          {visibleText(name ?? place ?? "A key")}, {shortened(did)}
        </option>
      ))}
      {offersNew && <option value={NEW_KEY}>A new key</option>}
    </select>
  );
}

/** Says why this browser can't hold keys, and what else is possible. */
export function NoKeys({ keys, next }: {
  readonly keys: Keys;
  readonly next: string;
}) {
  return keys.missing && (
    <Alert kind="warning">
      <p>
        <strong>This browser can’t store a key.</strong>{" "}
        {UNSUPPORTED_TEXTS[keys.missing]}
      </p>
      <p>{next}</p>
    </Alert>
  );
}
