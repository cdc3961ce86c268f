/** The keys of this browser, and the applications that a person approved. @module */

import { useEffect, useRef, useState } from "preact/hooks";
import type { BrowserKey } from "../../browser/key_store.ts";
import { request, usePage, useWork } from "../api.ts";
import { Did } from "../copy.tsx";
import { Badge, Button, Dialog, Icon } from "../elements.tsx";
import { permissionLabel, scopeLabel } from "../sign_in/error_texts.ts";
import { shortened, visibleText } from "../text.ts";
import { spokenTime, Time } from "../time.tsx";
import { AddDevice } from "./add_device.tsx";
import { keyLabel, NoKeys, Passkeys } from "./key_choice.tsx";

/** One card for each key, and the approved applications. */
export function KeysView({ addsDevice }: {
  /** Whether the way to another device is open. */
  readonly addsDevice: boolean;
}) {
  const { config, keys } = usePage();
  const heading = useRef<HTMLHeadingElement>(null);
  const [leaving, setLeaving] = useState<BrowserKey | undefined>();
  const { error, run } = useWork(
    "This browser did not store the change. Try again.",
  );
  const act = (work: () => Promise<unknown>) => void run(work);
  const isFirst = keys.all.length === 0;

  /** A key, with its name and buttons. */
  function card(stored: BrowserKey) {
    const { did, place, createdAt } = stored;
    const id = `name-${did}`;
    const signs = keys.current?.did === did;
    const label = keyLabel(keys.all, stored);
    return (
      <li key={did} class="card key" data-current={signs ? "true" : undefined}>
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
              act(() =>
                keys.rename(stored, name)
              );
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
            <Button
              onClick={() =>
                act(() => keys.choose(did))}
            >
              Sign with this key
              <span class="visually-hidden">: {label}</span>
            </Button>
          )}
          <Button class="danger" onClick={() => setLeaving(stored)}>
            Forget this key
            <span class="visually-hidden">: {label}</span>
          </Button>
        </div>
      </li>
    );
  }

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
      <NoKeys next="You can sign in with a key of the command line: sig key generate --out alice.jwk" />
      {keys.missing === undefined && keys.ready && (
        <>
          <ul class="plain">
            {keys.all.map(card)}
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
          <Passkeys />
          {keys.current && (
            <AddDevice did={keys.current.did} isOpen={addsDevice} />
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

/** The response of `/oidc/consents` (docs/openid.md). */
interface Consents {
  /** The subject that is signed in, or null. */
  readonly subject: string | null;
  readonly consents: readonly {
    readonly client_id: string;
    readonly client_name: string;
    readonly scopes: readonly string[];
    readonly since: string;
  }[];
}

/** One card for each application. */
function ConsentsView() {
  const [answer, setAnswer] = useState<Consents | undefined>();
  const { error, run } = useWork("");
  const show = (path: string, sent?: unknown) =>
    void run(async () => setAnswer(await request(path, sent)));
  useEffect(() => show("/oidc/consents"), []);
  const { subject, consents = [] } = answer ?? {};
  return (
    <section class="stack" id="consents">
      <h2>Applications</h2>
      <p class="error" role="alert">{visibleText(error)}</p>
      {subject && (
        <p>
          You are signed in here.{" "}
          <a class="button" href="/oidc/logout">Sign out</a>
        </p>
      )}
      {answer !== undefined && consents.length === 0 && (
        <p class="quiet">
          {subject === null
            ? "You are not signed in here. Sign in from an application, and it will be listed."
            : "You have not approved any application."}
        </p>
      )}
      <ul class="plain">
        {consents.map(({ client_id, client_name, scopes, since }) => (
          <li key={client_id} class="card">
            <h3>{visibleText(client_name || client_id)}</h3>
            <p class="quiet">
              Approved{" "}
              {spokenTime(since, new Date())}. It learns your key’s name
              {scopes.filter((each) =>
                each !== "openid" && !permissionLabel(each)
              ).map((scope) =>
                `, ${scopeLabel(scope)}`
              )}.
              {scopes.map(permissionLabel).filter(Boolean).map((text) =>
                ` It may ${text}.`
              )}
            </p>
            <div class="actions">
              <Button
                class="danger"
                onClick={() => show("/oidc/consents/revoke", { client_id })}
              >
                Take the approval back
                <span class="visually-hidden">
                  : {visibleText(client_name || client_id)}
                </span>
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
