/** The keys of this browser: create, name, select and delete them. @module */

import { useRef, useState } from "preact/hooks";
import type { BrowserKey } from "../../browser/key_store.ts";
import type { PageContext } from "../api.ts";
import { Did } from "../copy.tsx";
import { Badge, Button, Dialog, Icon } from "../elements.tsx";
import { shortened, visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import { ConsentsView } from "./consents.tsx";
import { AddDevice } from "./add_device.tsx";
import { keyLabel, NoKeys, Passkeys } from "./key_choice.tsx";
import type { Keys } from "./use_keys.ts";

/** One card for each key, and the approved applications. */
export function KeysView({ page: { config, keys }, addsDevice }: {
  readonly page: PageContext;
  /** Whether the way to another device is open. */
  readonly addsDevice: boolean;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [leaving, setLeaving] = useState<BrowserKey | undefined>();
  const [error, setError] = useState("");
  const act = (work: () => Promise<unknown>) => {
    setError("");
    work().catch(() =>
      setError("This browser did not store the change. Try again.")
    );
  };
  const isFirst = keys.all.length === 0;
  return (
    <div class="narrow">
      <header class="page-head">
        <h1 tabIndex={-1} ref={heading}>Your keys</h1>
        <p class="lede">
          Each key identifies you, and nobody can read or copy it. A key of this
          browser stays here; that of a passkey is on each device that shares
          the passkey.
        </p>
      </header>
      <p class="error" role="alert">{error}</p>
      <NoKeys
        keys={keys}
        next="You can sign in with a key of the command line: sig key generate --out alice.jwk"
      />
      {keys.missing === undefined && keys.ready && (
        <>
          <ul class="plain">
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
          {isFirst && (
            <p class="empty">
              <Icon name="key" />
              No key here yet. Your first sign-in creates one, or create it now:
            </p>
          )}
          <div class="actions">
            <Button
              class={isFirst ? "primary" : ""}
              onClick={() => act(keys.create)}
            >
              {isFirst ? "Create my key" : "Create another key"}
            </Button>
          </div>
          <Passkeys keys={keys} />
          {keys.current && (
            <AddDevice
              keys={keys}
              stored={keys.current}
              issuer={config.issuer}
              isOpen={addsDevice}
            />
          )}
        </>
      )}
      {config.consents && <ConsentsView />}
      {leaving && (
        <Dialog
          title="Forget this key?"
          close="Keep it"
          onClose={() => setLeaving(undefined)}
        >
          <p>
            <strong>{visibleText(leaving.name ?? leaving.place ?? "")}</strong>
            {" "}
            <code>{shortened(leaving.did)}</code>
          </p>
          <p>
            {leaving.isPasskey
              ? "Your passkey brings the key back. Without the passkey it can’t be restored."
              : "The key exists in this browser only and can’t be restored. Sites that know you by it will no longer recognize you."}
          </p>
          <div class="actions">
            <Button
              class="danger"
              onClick={() => {
                setLeaving(undefined);
                act(() => keys.forget(leaving.did));
                heading.current?.focus();
              }}
            >
              Forget the key
            </Button>
          </div>
        </Dialog>
      )}
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
  const id = `name-${did}`;
  const signs = keys.current?.did === did;
  const label = keyLabel(keys, stored);
  return (
    <li class="card key" data-current={signs ? "true" : undefined}>
      <div class="row spread wrap">
        <h2>{label}</h2>
        {signs && keys.all.length > 1 && (
          <Badge kind="success">signs your answers</Badge>
        )}
      </div>
      <div class="field">
        <label for={id}>Name</label>
        <input
          id={id}
          type="text"
          maxLength={100}
          value={stored.name ?? place ?? "A key of this browser"}
          autocomplete="off"
          onChange={(event) => {
            const name = event.currentTarget.value.trim();
            act(() => keys.rename(stored, name));
          }}
        />
      </div>
      <Did did={did} what="your did:key" />
      <p class="quiet">
        {stored.isPasskey ? "Added" : "Created"}{" "}
        <Time instant={`${createdAt.slice(0, 19)}Z`} />
        {place === undefined ? "" : ` in ${visibleText(place)}`}.
        {stored.isPasskey
          ? " From a passkey: the same key on each device that shares it."
          : " In this browser only."}
      </p>
      <div class="actions">
        {!signs && (
          <Button onClick={() => act(() => keys.choose(did))}>
            Sign with this key
            <span class="visually-hidden">: {label}</span>
          </Button>
        )}
        <Button class="danger" onClick={onForget}>
          Forget this key
          <span class="visually-hidden">: {label}</span>
        </Button>
      </div>
    </li>
  );
}
