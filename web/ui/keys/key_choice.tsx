/** Which key answers. @module */

import { useState } from "preact/hooks";
import { PasskeyError } from "../../browser/passkey.ts";
import { Alert, Button } from "../elements.tsx";
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
      {keys.all.map(({ did, name, place, isPasskey }) => (
        <option key={did} value={did}>
          {visibleText(name ?? place ?? "A key")}
          {isPasskey ? ", passkey" : ""}, {shortened(did)}
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

const PASSKEY_TEXTS = {
  cancelled: "No passkey was used. Try again, or create one.",
  no_prf:
    "This passkey can’t hold your key: its device or password manager lacks PRF. Delete it there, and use a key of this browser.",
} as const;

/** Adds the key of a passkey, where the browser may have them. */
export function Passkeys({ keys }: { readonly keys: Keys }) {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  if (!keys.passkeys) return null;
  const add = async (isNew: boolean) => {
    setError("");
    setBusy(true);
    try {
      await keys.addPasskey(isNew);
    } catch (error) {
      setError(
        error instanceof PasskeyError
          ? PASSKEY_TEXTS[error.why]
          : "This browser did not store the key. Try again.",
      );
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="stack">
      <p class="quiet">
        A passkey gives the same key on each device that shares it, also after
        this browser was cleared.
      </p>
      <div class="actions">
        <Button disabled={busy} onClick={() => void add(false)}>
          Use my passkey
        </Button>
        <Button disabled={busy} onClick={() => void add(true)}>
          Create a passkey
        </Button>
      </div>
      <p class="error" role="alert">{error}</p>
    </div>
  );
}
