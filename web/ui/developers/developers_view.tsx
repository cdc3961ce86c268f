/** Requests of any kind, and what is sent, for whoever builds upon this. @module */

import { useRef, useState } from "preact/hooks";
import type { Site } from "../site/site.ts";
import type { Exchange, Wanted } from "../server/api.ts";
import { SignInCard } from "../sign_in/sign_in_card.tsx";
import { useLogin } from "../sign_in/use_login.ts";
import { Log } from "./log.tsx";

/** A form, the card that comes of it, and the log. */
export function DevelopersView({ site, exchanges }: {
  readonly site: Site;
  readonly exchanges: readonly Exchange[];
}) {
  const [wanted, setWanted] = useState<Wanted | undefined>();
  /** Each request is a card of its own. */
  const made = useRef(0);
  return (
    <>
      <header class="page-head">
        <h1 tabIndex={-1}>For developers</h1>
        <p class="lede">
          Make a request of your own, answer it, and see every byte that is
          exchanged.
        </p>
      </header>
      <div class="columns">
        <RequestForm
          site={site}
          onWanted={(made_) => {
            made.current++;
            setWanted(made_);
          }}
        />
        <div>
          {wanted && <Request key={made.current} site={site} wanted={wanted} />}
        </div>
      </div>
      <Log exchanges={exchanges} />
    </>
  );
}

function Request({ site, wanted }: {
  readonly site: Site;
  readonly wanted: Wanted;
}) {
  const flow = useLogin(site, { wanted });
  return <SignInCard site={site} flow={flow} takesFocus />;
}

function RequestForm({ site: { config, keys }, onWanted }: {
  readonly site: Site;
  readonly onWanted: (wanted: Wanted) => void;
}) {
  const [scopes, setScopes] = useState("profile");
  const [audience, setAudience] = useState(config.audiences[0] ?? "");
  const [ttl, setTtl] = useState(String(config.ttl_seconds));
  const [pinned, setPinned] = useState(false);
  const { current } = keys;
  return (
    <form
      class="card"
      id="request-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onWanted({
          audience,
          scopes: [...new Set(scopes.split(/\s+/).filter(Boolean))],
          ttl_seconds: Number(ttl),
          ...(pinned && current ? { subject: current.did } : {}),
        });
      }}
    >
      <h2>The request</h2>
      <div class="field">
        <label for="scopes">Scopes to ask for</label>
        <input
          id="scopes"
          type="text"
          value={scopes}
          onInput={(event) => setScopes(event.currentTarget.value)}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="scopes-hint"
        />
        <p id="scopes-hint" class="hint">
          Words with spaces between them. May be empty.
        </p>
      </div>
      {config.audiences.length > 1 && (
        <div class="field">
          <label for="audience">Site that asks</label>
          <select
            id="audience"
            value={audience}
            onChange={(event) => setAudience(event.currentTarget.value)}
          >
            {config.audiences.map((each) => (
              <option key={each} value={each}>{each}</option>
            ))}
          </select>
        </div>
      )}
      <div class="field">
        <label for="ttl">Seconds to answer</label>
        <input
          id="ttl"
          type="number"
          min="30"
          max="900"
          step="1"
          inputMode="numeric"
          value={ttl}
          onInput={(event) => setTtl(event.currentTarget.value)}
          aria-describedby="ttl-hint"
        />
        <p id="ttl-hint" class="hint">From 30 to 900.</p>
      </div>
      <label class="check" for="pin-subject">
        <input
          id="pin-subject"
          type="checkbox"
          checked={pinned && current !== undefined}
          disabled={current === undefined}
          onChange={(event) => setPinned(event.currentTarget.checked)}
        />
        Only my key may answer
      </label>
      <div class="actions">
        <button id="start" class="primary" type="submit">
          Make the request
        </button>
      </div>
    </form>
  );
}
