/** The keys of this browser: what they are called, and how they go. @module */

import { useRef, useState } from "preact/hooks";
import { Did } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { ForgetDialog } from "./forget_dialog.tsx";
import type { BrowserKey } from "../libraries/login.ts";
import { MISSING } from "./missing.ts";
import type { Keys } from "./use_keys.ts";

/** A card a key. */
export function KeysView({ keys }: { readonly keys: Keys }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [leaving, setLeaving] = useState<BrowserKey | undefined>();
  const [trouble, setTrouble] = useState("");
  const act = (work: () => Promise<unknown>) => {
    setTrouble("");
    work().catch(() =>
      setTrouble("This browser did not keep the change. Try again.")
    );
  };
  return (
    <div class="narrow">
      <header class="page-head">
        <h1 tabIndex={-1} ref={heading}>Your keys</h1>
        <p class="lede">
          Each key is a name of yours, and lives in the browser that made it.
          Nobody can read or copy it, so every device has a key of its own.
        </p>
      </header>
      <p class="error" role="alert">{trouble}</p>
      {keys.missing !== undefined && (
        <Notice kind="warning">
          <p>
            <strong>No key can live here.</strong> {MISSING[keys.missing]}
          </p>
          <p>
            You can still sign in with a key of the command line:{" "}
            <code>sig key generate --out alice.jwk</code>
          </p>
        </Notice>
      )}
      {keys.missing === undefined && keys.ready && (
        <>
          <ul class="keys">
            {keys.all.map((key) => (
              <KeyCard
                key={key.did}
                stored={key}
                keys={keys}
                act={act}
                onForget={() => setLeaving(key)}
              />
            ))}
          </ul>
          {keys.all.length === 0 && (
            <p class="empty">
              <Icon name="key" />
              No key here yet. One is made when you first approve a sign-in, or
              now:
            </p>
          )}
          <div class="actions">
            <button
              type="button"
              class={keys.all.length === 0 ? "primary" : ""}
              onClick={() => act(() => keys.create())}
            >
              {keys.all.length === 0 ? "Create my key" : "Create another key"}
            </button>
          </div>
        </>
      )}
      <ForgetDialog
        leaving={leaving}
        onClose={() => setLeaving(undefined)}
        onForget={(did) => {
          setLeaving(undefined);
          act(() => keys.forget(did));
          heading.current?.focus();
        }}
      />
    </div>
  );
}

function KeyCard({ stored, keys, act, onForget }: {
  readonly stored: BrowserKey;
  readonly keys: Keys;
  readonly act: (work: () => Promise<unknown>) => void;
  readonly onForget: () => void;
}) {
  const { did, place, createdAt } = stored;
  const name = stored.name ?? place ?? "A key of this browser";
  const id = `name-${did}`;
  const signs = keys.current?.did === did;
  return (
    <li class="card key">
      <div class="field">
        <label for={id}>Name</label>
        <input
          id={id}
          type="text"
          maxLength={100}
          value={name}
          autocomplete="off"
          onChange={(event) => {
            const wanted = event.currentTarget.value.trim();
            act(() => keys.rename(stored, wanted));
          }}
        />
      </div>
      <p>
        <Did did={did} what="your did:key" />
      </p>
      <p class="quiet">
        Made <Time instant={`${createdAt.slice(0, 19)}Z`} />
        {place === undefined ? "" : ` in ${shown(place)}`}.
        {signs && keys.all.length > 1 ? " It signs." : ""}
      </p>
      <div class="actions">
        {!signs && (
          <button type="button" onClick={() => keys.choose(did)}>
            Sign with this key
          </button>
        )}
        <button type="button" class="quiet-danger" onClick={onForget}>
          Forget this key
        </button>
      </div>
    </li>
  );
}
