/** Selects a key of this browser, with the buttons to approve and decline. @module */

import type { ComponentChildren } from "preact";
import type { BrowserKey } from "../../browser/key_store.ts";
import { usePage, useWork } from "../api.ts";
import { Alert, Button, Fold } from "../elements.tsx";
import { visibleText } from "../text.ts";
import { UNSUPPORTED_TEXTS } from "./use_keys.ts";

/** The value for a key that does not exist yet. */
export const NEW_KEY = "new";

/** A list of the keys of this browser. */
export function KeyChoice({ among, value, offersNew = false, onChoose }: {
  readonly among: readonly BrowserKey[];
  readonly value: string | undefined;
  /** Whether a new key can be selected too. */
  readonly offersNew?: boolean;
  readonly onChoose: (did: string) => void;
}) {
  return (
    <select
      aria-label="The key that you answer with"
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {among.map((key) => (
        <option key={key.did} value={key.did}>
          {keyLabel(among, key)}, …{key.did.slice(-8)}
        </option>
      ))}
      {offersNew && <option value={NEW_KEY}>A new key</option>}
    </select>
  );
}

/** Returns the number and the name of a key: "2. Work laptop, passkey". */
export function keyLabel(all: readonly BrowserKey[], key: BrowserKey): string {
  const { name, place, isPasskey } = key;
  const number = all.length - all.findIndex(({ did }) => did === key.did);
  const text = visibleText(name || place || "A key of this browser");
  return `${number}. ${text}${isPasskey ? ", passkey" : ""}`;
}

/** Explains why this browser can't hold keys, and the alternatives. */
export function NoKeys({ next }: { next: string }) {
  const { missing } = usePage().keys;
  return missing && (
    <Alert kind="warning">
      <p>
        <strong>This browser can’t store a key.</strong>{" "}
        {UNSUPPORTED_TEXTS[missing]}
      </p>
      <p>{next}</p>
    </Alert>
  );
}

/** Adds the key of a passkey, if the browser may support passkeys. */
export function Passkeys({ isOnlyExisting = false }: {
  /** Whether no passkey is created. */
  readonly isOnlyExisting?: boolean;
}) {
  const { keys } = usePage();
  const { busy, error, run } = useWork(
    "This browser did not store the key. Try again.",
  );
  if (!keys.passkeys) return null;
  const button = (text: string, isNew: boolean) => (
    <Button
      disabled={busy}
      onClick={() => void run(() => keys.addPasskey(isNew))}
    >
      {text}
    </Button>
  );
  return (
    <div class="stack">
      {!isOnlyExisting && (
        <p class="quiet">
          A passkey gives the same key on each device that shares it, also after
          this browser was cleared.
        </p>
      )}
      <div class="actions">
        {button("Use my passkey", false)}
        {!isOnlyExisting && button("Create a passkey", true)}
      </div>
      <p class="error" role="alert">{error}</p>
    </div>
  );
}

/**
 * The buttons to approve and decline a request, or the alternative if no key
 * can be stored.
 */
export function ApproveOrDecline({
  createsKey,
  asksFirst = false,
  isBusy,
  commandLine,
  onApprove,
  onDecline,
  children,
}: {
  /** Whether approving creates a new key. */
  readonly createsKey: boolean;
  /**
   * Whether the person may be known by a key on another device, so that a new
   * key would be a second identity.
   */
  readonly asksFirst?: boolean;
  readonly isBusy: boolean;
  /** The alternative on the command line. */
  readonly commandLine: ComponentChildren;
  readonly onApprove: () => Promise<void>;
  readonly onDecline: () => void;
  readonly children?: ComponentChildren;
}) {
  const { keys } = usePage();
  if (keys.missing !== undefined) {
    return (
      <>
        <NoKeys next="You can still answer on the command line:" />
        {commandLine}
      </>
    );
  }
  const isFirst = keys.ready && createsKey;
  return (
    <>
      {isFirst && asksFirst && (
        <Alert kind="info" title="This browser has no key of yours yet">
          <p>
            A key identifies you. If you signed in on another device before, use
            that key: a new one would be a second identity.
          </p>
          <Passkeys isOnlyExisting />
          <Fold title="I have a key on another device">
            <p>
              On that device open this page, then <strong>Keys</strong> and{" "}
              <strong>Add a device</strong>. It leads to a link that gives this
              browser a key of its own, which counts as you.
            </p>
          </Fold>
        </Alert>
      )}
      {isFirst && !asksFirst && (
        <p class="quiet">
          Approving creates your key. It stays in this browser, nobody can read
          it, and it identifies you from then on.
        </p>
      )}
      <div class="actions answer">
        <Button
          id="approve"
          class="primary"
          disabled={isBusy || !keys.ready}
          onClick={() => void onApprove()}
        >
          {isFirst && asksFirst ? "Make a new key and approve" : "Approve"}
        </Button>
        <Button id="decline" disabled={isBusy} onClick={onDecline}>
          Decline
        </Button>
        {children}
      </div>
      {keys.passkeys && !keys.current?.isPasskey && !(isFirst && asksFirst) && (
        <Fold title="Use a passkey">
          <Passkeys />
        </Fold>
      )}
    </>
  );
}
